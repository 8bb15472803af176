"""scikit-learn's own checks of the estimators, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from plugsamp.estimators import (
    SupervisedTopicClassifier,
    SupervisedTopicClassifierCV,
    SupervisedTopicRegressor,
    TopicModel,
)

#: What cannot hold, and why.
WEIGHTS = (
    "a weight counts a document's response, not its words: a document twice is two documents to the topics, "
    "and another chain"
)
NEGATIVE = "the check gives negative numbers, whatever the tag positive_only says; counts are 0 or more"
EXPECTED = {
    "check_class_weight_classifiers": NEGATIVE,
    "check_decision_proba_consistency": NEGATIVE,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
OPTIONS = {"n_topics": 3, "sweeps": 6, "thin": 1, "counts": "ceil", "random_state": 0}


def expected(estimator):
    both = hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba")
    left = () if both else ("check_decision_proba_consistency",)  # then it checks nothing, and passes
    return {name: why for name, why in EXPECTED.items() if name not in left}


@pytest.mark.filterwarnings("ignore:counts that are not whole")
@parametrize_with_checks(
    [
        TopicModel(**OPTIONS),
        SupervisedTopicClassifier(**OPTIONS),
        SupervisedTopicRegressor(**OPTIONS),
    ],
    expected_failed_checks=expected,
)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:counts that are not whole")
@parametrize_with_checks(
    [
        SupervisedTopicClassifier(loss="logistic", **OPTIONS),
        SupervisedTopicClassifierCV(grid={"cost": [1.0, 102.4]}, **OPTIONS),
    ],
    expected_failed_checks=expected,
)
def test_check_of_probabilities_and_of_a_search(estimator, check):
    check(estimator)
