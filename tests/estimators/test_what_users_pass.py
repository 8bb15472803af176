"""Responses and texts as users pass them, and what models of their own give back."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from plugsamp import SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel
from plugsamp.errors import InputWarning

pd = pytest.importorskip("pandas")

FAST = {"n_topics": 3, "sweeps": 6, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.poisson(1.0, (30, 12)) + np.eye(1, 12, dtype=int)
CLASSES = np.array(["a", "b", "c"])[np.arange(30) % 3]
LABELS = np.zeros((30, 3), int)
LABELS[:10, 0] = LABELS[10:20, 1] = LABELS[3:25, 2] = 1  # without shuffling, folds lack labels


@pytest.mark.parametrize(("multiclass", "models"), [("multitask", 1), ("ovr", 3), ("ovo", 3)])
def test_as_many_names_as_columns(multiclass, models):
    fitted = SupervisedTopicClassifier(**FAST, multiclass=multiclass).fit(X, CLASSES)
    names = fitted.get_feature_names_out()
    assert fitted.transform(X).shape == (30, 3 * models) == (30, len(names))
    frame = fitted.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == names.tolist()


def test_votes_have_no_probabilities():
    model = SupervisedTopicClassifier(**FAST, multiclass="ovo", loss="logistic")
    assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        cross_val_predict(model, X, CLASSES, method="predict_proba", cv=3)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_array, sp.lil_matrix])
def test_sparse_labels(kind):
    dense, sparse = (SupervisedTopicClassifier(**FAST).fit(X, y) for y in (LABELS, kind(LABELS)))
    assert np.array_equal(dense.predict(X), sparse.predict(X))
    assert dense.score(X, LABELS) == sparse.score(X, kind(LABELS))
    regressor = SupervisedTopicRegressor(**FAST).fit(X, kind(LABELS))
    assert regressor.score(X, kind(LABELS)) == regressor.score(X, LABELS)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "probit"])
def test_a_label_that_a_fold_lacks(loss):
    model = SupervisedTopicClassifier(**FAST, multiclass="ovr", loss=loss)
    with pytest.warns(InputWarning, match="labels that are the same in all documents are predicted so: 0"):
        scores = cross_val_score(model, X, LABELS, cv=KFold(3), error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("n_varying", [1, 2])
def test_labels_that_are_the_same_everywhere(loss, n_varying):
    y = np.column_stack([LABELS[:, :n_varying], np.ones(30, int), np.zeros(30, int)])
    model = SupervisedTopicClassifier(**FAST, multiclass="ovr", loss=loss)
    with pytest.warns(InputWarning, match=f": {n_varying}, {n_varying + 1}$"):
        model.fit(X, y)
    labels, scores = model.predict(X), model.decision_function(X)
    assert labels.shape == scores.shape == y.shape and model.classes_.tolist() == list(range(y.shape[1]))
    assert (labels[:, n_varying] == 1).all() and (labels[:, n_varying + 1] == 0).all()
    assert np.array_equal(labels, (scores > 0).astype(int))
    if loss == "logistic":
        p = model.predict_proba(X)
        assert np.array_equal(labels, (p > 0.5).astype(int)) and p.shape == y.shape
    with pytest.raises(ValueError, match="the same labels in all documents"):
        model.fit(X, y[:, n_varying:])


TEXTS = ["moon rocket"] * 30


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        [[text] for text in TEXTS],
        np.array(TEXTS),
        np.array(TEXTS, dtype=object)[:, None],
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pd.DataFrame({"text": TEXTS}),
        pd.DataFrame({"text": TEXTS, "year": range(30)}),
    ],
)
def test_texts_get_the_advice_that_a_list_gets(texts):
    for model, y in ((TopicModel(**FAST), None), (SupervisedTopicClassifier(**FAST), CLASSES)):
        with pytest.raises(ValueError, match=r"X holds text; make_pipeline\(CountVectorizer\(\)"):
            model.fit(texts, y)


def test_texts_of_pyarrow_get_it_too():
    pa = pytest.importorskip("pyarrow")
    for texts in (pa.array(TEXTS), pa.chunked_array([TEXTS]), pa.table({"text": TEXTS})):
        with pytest.raises(ValueError, match=r"X holds text; make_pipeline\(CountVectorizer\(\)"):
            TopicModel(**FAST).fit(texts)


def test_numbers_are_no_texts():
    for counts in (X.tolist(), pd.DataFrame(X), X.astype(object), pd.DataFrame(X.astype(object))):
        assert TopicModel(**FAST).fit(counts).n_features_in_ == 12


@pytest.mark.parametrize(
    "times",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"] * 15),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"] * 15, utc=True)),
        pd.period_range("2020", periods=30, freq="D"),
        np.array(["2020-01-01"] * 30, "M8[D]"),
        np.array([1, 2] * 15, "m8[h]"),
        [datetime.date(2020, 1, 1)] * 30,
        [None, *[datetime.timedelta(1)] * 29],
    ],
)
def test_times_are_no_real_responses(times):
    with pytest.raises(ValueError, match=r"are real numbers, and y holds .*; make numbers of dates"):
        SupervisedTopicRegressor(**FAST).fit(X, times)


def test_columns_called_by_numbers_out_of_order_are_refused():
    frame = pd.DataFrame(X)
    model = TopicModel(**FAST).fit(frame)
    other = frame.iloc[:, ::-1]
    for estimator in (model.transform, TopicModel(**FAST).fit):
        with pytest.raises(ValueError, match=r"called 11, 10, \.\.\., which are not text"):
            estimator(other)
    assert TopicModel(**FAST).fit(other.set_axis(list(map(str, other.columns)), axis=1)).n_features_in_ == 12
