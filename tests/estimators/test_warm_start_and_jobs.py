"""Fits that go on, and fits with worker processes: the numbers are those of one fit in this process."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import plugsamp as ps
from plugsamp.errors import ApproximationWarning, InputWarning
from plugsamp.estimators import SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel

FAST = {"n_topics": 3, "thin": 1, "random_state": 4}


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    kind = np.arange(45) % 3
    X = rng.poisson(np.where(np.arange(12)[None] // 4 == kind[:, None], 2.0, 0.3))
    return X, np.array(["a", "b", "c"])[kind]


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: SupervisedTopicClassifier(loss="probit", **FAST, **more),
        lambda **more: SupervisedTopicClassifier(multiclass="ovr", learn_alpha="slice", **FAST, **more),
        lambda **more: SupervisedTopicRegressor(**FAST, **more),
        lambda **more: TopicModel(**FAST, **more),
    ],
    ids=["classes", "ovr", "numbers", "topics"],
)
def test_two_fits_are_one_of_as_many_sweeps(documents, make):
    X, y = documents
    y = X[:, 0] + 0.5 if isinstance(make(), SupervisedTopicRegressor) else y
    model = make(sweeps=8, burn_in=4, warm_start=True).fit(X, y)
    first = model.predictor_.digest
    model = pickle.loads(pickle.dumps(model)).set_params(sweeps=7).fit(X, y)  # wherever it has been meanwhile
    whole = make(sweeps=15, burn_in=4).fit(X, y)
    assert model.n_iter_ == model.n_sweeps_ == whole.n_iter_ == 15
    assert model.predictor_.digest == whole.predictor_.digest != first
    kept = [row["log_joint"] for row in model.trace_]
    assert kept == [row["log_joint"] for row in whole.trace_]
    assert (model.transform(X) == whole.transform(X)).all()


def test_without_a_number_as_seed_the_chain_keeps_its_own(documents):
    X, y = documents
    model = SupervisedTopicClassifier(
        n_topics=3, sweeps=4, warm_start=True, random_state=np.random.RandomState(1)
    )
    seeds = {model.fit(X, y).predictor_.seed for _ in range(3)}
    assert len(seeds) == 1 and model.n_iter_ == 12
    assert {clone(model).fit(X, y).predictor_.seed for _ in range(3)}.isdisjoint(seeds)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_topics": 4}, "n_topics was 3, and is 4"),
        ({"loss": "logistic"}, "loss was .*hinge.*, and is .*logistic"),
        ({"random_state": 5}, "seed was 4, and is 5"),
        ({"X": slice(30)}, "another corpus"),
        ({"y": "z"}, "another corpus"),
        ({"words": 11}, "X has 11 features"),
    ],
    ids=str,
)
def test_what_has_changed_is_refused_and_leaves_all_as_it_was(documents, change, says):
    X, y = documents
    model = SupervisedTopicClassifier(sweeps=4, warm_start=True, **FAST).fit(X, y)
    before, parameters = model.predictor_.digest, model.get_params()
    rows, words = change.pop("X", slice(None)), change.pop("words", 12)
    other = np.where(y == "a", change.pop("y", "a"), y)
    with pytest.raises(ValueError, match=says):
        model.set_params(**change).fit(X[rows, :words], other[rows])
    assert model.predictor_.digest == before
    assert model.classes_.tolist() == ["a", "b", "c"] and model.n_features_in_ == 12
    assert model.set_params(**parameters).fit(X, y).n_iter_ == 8
    assert model.set_params(warm_start=False).fit(X[:, :11], y).n_iter_ == 4


def test_a_chain_that_was_not_kept(documents):
    X, y = documents
    model = SupervisedTopicClassifier(sweeps=4, **FAST).fit(X, y)
    with pytest.warns(InputWarning, match="starts anew"):
        assert model.set_params(warm_start=True).fit(X, y).n_iter_ == 4


def test_processes_give_the_same_chain(documents):
    X, y = documents
    two = SupervisedTopicClassifier(sweeps=6, n_jobs=2, **FAST).fit(X, y)
    here = SupervisedTopicClassifier(sweeps=6, kernel=ps.kernels.Auto("partial"), **FAST).fit(X, y)
    assert two.predictor_.digest == here.predictor_.digest
    with joblib.parallel_config("loky", n_jobs=2):
        context = SupervisedTopicClassifier(sweeps=6, **FAST).fit(X, y)
    assert context.predictor_.digest == two.predictor_.digest
    topics = TopicModel(sweeps=4, n_jobs=2, **FAST).fit(X)
    assert np.isfinite(topics.score(X))
    ovr = [SupervisedTopicClassifier(sweeps=4, multiclass="ovr", n_jobs=n, **FAST) for n in (1, 2)]
    ovr[1].kernel = "dense"
    ovr[0].kernel = "dense"
    assert len({model.fit(X, y).predictor_.digest for model in ovr}) == 1


def test_an_approximation_is_announced(documents):
    X, y = np.tile(documents[0], (40, 1)), np.tile(documents[1], 40)  # several blocks of documents
    with pytest.warns(ApproximationWarning, match="AD-LDA"):
        SupervisedTopicClassifier(sweeps=2, kernel="dense", n_jobs=2, **FAST).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ApproximationWarning)
        SupervisedTopicClassifier(sweeps=2, kernel=ps.kernels.Dense("partial"), n_jobs=2, **FAST).fit(X, y)


@pytest.mark.slow
def test_jobs_inside_jobs_are_one_process_each(documents):
    X, y = documents
    model = SupervisedTopicClassifier(sweeps=4, n_jobs=2, **FAST)
    assert model._where()[1] == 2
    assert SupervisedTopicClassifier()._where() == ("auto", 1)
    for backend in ("loky", "threading"):
        found = Parallel(n_jobs=2, backend=backend)(delayed(model._where)() for _ in range(2))
        assert [jobs for _, jobs in found] == [1, 1]
    found = Parallel(n_jobs=1)(delayed(model._where)() for _ in range(2))
    assert [jobs for _, jobs in found] == [2, 2]  # jobs one after another
    scores = [
        GridSearchCV(model, {"n_topics": [3]}, cv=2, n_jobs=n, refit=False).fit(X, y).cv_results_
        for n in (1, 2)
    ]
    assert scores[0]["mean_test_score"] == scores[1]["mean_test_score"]


@pytest.mark.parametrize("estimator", [SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel])
def test_parameters_of_other_types(documents, estimator):
    X, y = documents
    y = np.arange(len(y), dtype=float) if estimator is SupervisedTopicRegressor else y
    wrong = {
        "n_jobs": ("2", 0, 2.5, True), "warm_start": ("no", 1, None), "verbose": ("no", -1, None),
        "counts": (None, np.array(["ceil"])), "covariate_columns": (2.5, True), "multiclass": (["ovr"], None),
        "n_topics": ("3", 2.5), "sweeps": ("3", None), "burn_in": ("1",), "thin": (None, 0.5),
        "alpha": ("1", None), "beta": ("1",), "random_state": ("1", 2.5), "topics": (3,), "kernel": (3,),
        "loss": (3,), "weights": (3,), "learn_alpha": (3,), "learn_beta": (3,), "standardise": ("no", 1),
        "class_weight": ("even", 3), "decide": ("often", None), "keep_draws": ("some", 1, None),
            "words": ("yes", 1, None),
    }  # fmt: skip
    for name in estimator().get_params():
        for value in wrong[name]:
            model = estimator(**{"n_topics": 2, "sweeps": 2, name: value})
            with pytest.raises((ValueError, TypeError), match="seed" if name == "random_state" else name):
                model.fit(X, y)
    with pytest.raises(ValueError, match="n_jobs must be a whole number"):
        ps.fit(ps.Corpus.from_counts(X), n_jobs="2")


def test_progress_without_a_terminal_is_plain_lines(documents, capsys, caplog):
    caplog.set_level("WARNING", "plugsamp")  # whatever the log shows
    for more, begin in ({}, ["sweep 10/12", "sweep 12/12"]), ({"multiclass": "ovr"}, ["a: ", "b: ", "c: "]):
        model = SupervisedTopicClassifier(sweeps=12, verbose=True, **FAST, **more)
        model.fit(*documents)
        out, err = capsys.readouterr()
        lines = err.splitlines()
        assert out == "" and len(lines) == len(begin) and all("log joint" in line for line in lines)
        assert all(line.startswith(b) and line.isprintable() for line, b in zip(lines, begin, strict=True))
        with pytest.raises(ValueError, match="sweeps must be a whole number"):
            model.set_params(sweeps="x").fit(*documents)
