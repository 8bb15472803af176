"""The estimators where people use them: pipelines, grids, data frames, new documents."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import plugsamp as ps
from plugsamp.errors import InputWarning
from plugsamp.estimators import SupervisedTopicClassifier, SupervisedTopicRegressor, TopicModel
from plugsamp.prediction.perplexity import document_completion

WORDS = {
    "space": ["orbit", "rocket", "launch", "moon", "shuttle", "planet"],
    "food": ["bread", "butter", "cheese", "soup", "pepper", "salt"],
    "music": ["guitar", "drum", "song", "chorus", "violin", "opera"],
}
FAST = {"n_topics": 3, "sweeps": 10, "random_state": 0}


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    labels = np.array(list(WORDS) * 14)
    return [" ".join(rng.choice(WORDS[label], 12)) for label in labels], labels


def classifier(**options):
    return make_pipeline(CountVectorizer(), SupervisedTopicClassifier(**{**FAST, **options}))


def test_a_pipeline_from_text_to_classes(documents):
    texts, labels = documents
    model = classifier().fit(texts[:30], labels[:30])
    assert model.score(texts[30:], labels[30:]) == 1.0
    last = model[-1]
    assert last.classes_.tolist() == ["food", "music", "space"]
    assert last.components_.shape == (3, 18) and last.coef_.shape == (3, 3)
    np.testing.assert_allclose(last.components_.sum(axis=1), 1, rtol=1e-5)
    assert model.decision_function(texts[30:]).argmax(axis=1).tolist() == [
        last.classes_.tolist().index(v) for v in model.predict(texts[30:])
    ]
    np.testing.assert_allclose(model.transform(texts).sum(axis=1), 1, rtol=1e-12)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        last.predict_proba  # noqa: B018
    assert 'loss="logistic"' in str(caught.value.__cause__)


def test_a_grid_search(documents):
    texts, labels = documents
    grid = {
        "supervisedtopicclassifier__n_topics": [2, 3],
        "supervisedtopicclassifier__loss": ["hinge", "logistic"],
    }
    search = GridSearchCV(classifier(sweeps=5), grid, cv=2).fit(texts, labels)
    assert set(search.best_params_) == set(grid) and search.best_score_ > 0.6
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


@pytest.mark.parametrize("loss", ["logistic", "probit"])
def test_probabilities(documents, loss):
    texts, labels = documents
    model = classifier(loss=loss).fit(texts, labels)
    probabilities = model.predict_proba(texts)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model[-1].classes_[probabilities.argmax(axis=1)] == model.predict(texts)).all()
    two = labels != "music"
    model.fit([t for t, keep in zip(texts, two, strict=True) if keep], labels[two])
    scores, p = model.decision_function(texts), model.predict_proba(texts)
    assert scores.ndim == 1 and p.shape == (len(texts), 2)
    assert ((scores > 0) == (p[:, 1] > p[:, 0])).all()


def test_results_do_not_depend_on_batch_or_order(documents):
    texts, labels = documents
    model = classifier().fit(texts, labels)
    together = model.transform(texts)
    assert (model.transform(texts[::-1])[::-1] == together).all()
    assert (np.vstack([model.transform([t]) for t in texts[:5]]) == together[:5]).all()


def test_seeds(documents):
    texts, labels = documents
    counts = CountVectorizer().fit_transform(texts)

    def coef(seed):
        return SupervisedTopicClassifier(**{**FAST, "random_state": seed}).fit(counts, labels).coef_

    assert (coef(0) == coef(0)).all() and (coef(0) != coef(1)).any()
    assert (coef(np.random.RandomState(3)) == coef(np.random.RandomState(3))).all()
    assert (coef(None) != coef(None)).any()
    with pytest.raises(ValueError, match=r"seed"):
        coef("seed")


def test_matrices_of_any_kind_are_one(documents):
    texts, labels = documents
    counts = CountVectorizer().fit_transform(texts)
    found = [
        SupervisedTopicClassifier(**FAST).fit(X, labels).decision_function(X)
        for X in (counts, counts.toarray(), counts.astype(float), sp.csc_matrix(counts), sp.csr_array(counts))
    ]
    for other in found[1:]:
        assert (other == found[0]).all()


@pytest.mark.parametrize("counts", ["strict", "ceil"])
def test_counts_that_are_not_whole(documents, counts):
    texts, labels = documents
    model = make_pipeline(TfidfVectorizer(), SupervisedTopicClassifier(counts=counts, **FAST))
    if counts == "strict":
        with pytest.raises(ValueError, match=r"is not a whole count.*CountVectorizer"):
            model.fit(texts, labels)
        return
    with pytest.warns(UserWarning, match="rounded up; TfidfVectorizer"):
        model.fit(texts, labels)
    with pytest.warns(UserWarning, match="rounded up"):
        rounded = model[-1].transform(model[0].transform(texts))
    assert (rounded == model[-1].transform(model[0].transform(texts).ceil())).all()


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (["some text", "more"], "X holds text; make_pipeline"),
        (np.array([[1, -1], [2, 0]]), "Negative values in data passed to"),
        (np.array([[1, np.nan], [2, 0]]), "NaN"),
        (np.zeros((2, 3)), "no document of X has a word"),
    ],
)
def test_what_are_no_counts(X, says):
    with pytest.raises(ValueError, match=says):
        SupervisedTopicClassifier(**FAST).fit(X, ["a", "b"])


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (["a", "a"], "2 classes or more, and y has one class, 'a'"),
        ([None, None], "all are missing"),
        ([0.1, 0.25], "Unknown label type"),
        (["a", "b", "a"], "inconsistent numbers of samples"),
    ],
)
def test_what_are_no_classes(y, says):
    with pytest.raises(ValueError, match=says):
        SupervisedTopicClassifier(**FAST).fit(np.eye(2), y)


def test_missing_labels_and_weights_of_zero_are_one(documents):
    texts, labels = documents
    counts = CountVectorizer().fit_transform(texts)
    some = labels.astype(object)
    some[::4] = None
    weight = np.ones(len(labels))
    weight[::4] = 0
    one = SupervisedTopicClassifier(**FAST).fit(counts, some)
    other = SupervisedTopicClassifier(**FAST).fit(counts, labels, sample_weight=weight)
    assert (one.coef_ == other.coef_).all() and (one.components_ == other.components_).all()
    assert one.predict(counts).dtype.kind == "U"


def test_missing_responses_are_left_out_of_scores(documents):
    texts, labels = documents
    counts = CountVectorizer().fit_transform(texts)
    some, rows = labels.astype(object), np.arange(len(labels)) % 4 > 0
    some[~rows] = None
    model = SupervisedTopicClassifier(**FAST).fit(counts, some)
    weight = np.arange(1.0, len(labels) + 1)
    whole = model.score(counts[rows], labels[rows], weight[rows])
    assert model.score(counts, some, weight) == whole
    assert model.score(counts, np.where(rows, labels.astype(object), np.nan)) > 0.9
    search = GridSearchCV(model, {"n_topics": [2, 3]}, cv=3).fit(counts, some)
    assert search.best_score_ > 0.5 and not np.isnan(search.cv_results_["mean_test_score"]).any()
    numbers = np.where(rows, labels == "food", np.nan)
    assert GridSearchCV(model, {"n_topics": [2, 3]}, cv=KFold(3)).fit(counts, numbers).best_score_ > 0.5
    with pytest.raises(ValueError, match="no document to score"):
        model.score(counts[:2], [None, None])

    table = np.stack([labels == "space", labels != "food"], axis=1).astype(float)
    table[::4, 1] = np.nan
    model = SupervisedTopicClassifier(**FAST).fit(counts, table)
    assert model.score(counts, table) == model.score(counts[rows], table[rows].astype(int))

    model = SupervisedTopicRegressor(**FAST).fit(counts, table)
    found = [model.score(counts, np.where(np.arange(2) == c, table, np.nan)) for c in (0, 1)]
    assert model.score(counts, table) == pytest.approx(np.mean(found))
    one = clone(model).fit(counts, table[:, 1])
    assert one.score(counts, table[:, 1]) == pytest.approx(one.score(counts[rows], table[rows, 1]))
    with pytest.raises(ValueError, match="all are missing"):
        one.score(counts, np.full(len(texts), np.nan))


def test_missing_as_pandas_has_it(documents):
    pandas = pytest.importorskip("pandas")
    texts, labels = documents
    counts = CountVectorizer().fit_transform(texts)
    some = labels.astype(object)
    some[::4] = None
    wanted = SupervisedTopicClassifier(**FAST).fit(counts, some)
    for dtype in ("string", "object", "category"):
        model = SupervisedTopicClassifier(**FAST).fit(counts, pandas.Series(some, dtype=dtype))
        assert (model.coef_ == wanted.coef_).all() and model.classes_.tolist() == wanted.classes_.tolist()
    numbers = pandas.Series(pandas.factorize(labels)[0], dtype="Int64")
    numbers[::4] = pandas.NA
    model = SupervisedTopicClassifier(**FAST).fit(counts, numbers)
    assert model.classes_.dtype.kind == "i" and model.score(counts, numbers) > 0.9
    SupervisedTopicRegressor(**FAST).fit(counts, numbers.astype("Float64").to_frame())
    table = pandas.DataFrame({"a": numbers.clip(upper=1), "b": 1 - numbers.clip(upper=1)})
    assert SupervisedTopicClassifier(**FAST).fit(counts, table).score(counts, table) > 0.5
    some_strings = pandas.Series(some, dtype="string")
    corpus = ps.Corpus.from_counts(counts, responses=some_strings, fields={"a": numbers})
    assert corpus.responses.tolist() == some.tolist() and corpus.fields["a"][0] is None


def test_words_of_an_estimator(documents, tmp_path):
    texts, labels = documents
    words = CountVectorizer().fit(texts)
    counts = words.transform(texts)
    strange = ps.Corpus.from_counts(counts, vocabulary=words.get_feature_names_out())
    for scheme in ("multitask", "ovr"):
        predictor = SupervisedTopicClassifier(multiclass=scheme, **FAST).fit(counts, labels).predictor_
        with pytest.warns(InputWarning, match=r"no document has a word of the model.*'w0'.*with_options"):
            predictor.predict(strange)
        named = predictor.with_options(vocabulary=words.get_feature_names_out())
        ps.save_model(tmp_path / scheme, named)
        assert (ps.load_model(tmp_path / scheme).predict(strange).labels == labels).mean() > 0.9
    with pytest.raises(ValueError, match="vocabulary has 1 entries for 18 words"):
        predictor.with_options(vocabulary=["a"])
    topics = TopicModel(**FAST).fit(counts).predictor_
    with pytest.warns(InputWarning, match="no document has a word"):
        document_completion(topics, strange)


def test_several_labels(documents):
    texts, labels = documents
    table = np.stack([labels == "space", labels != "food"], axis=1).astype(int)
    model = classifier().fit(texts, table)
    assert model.predict(texts).shape == table.shape and model.score(texts, table) > 0.9
    assert model.decision_function(texts).shape == table.shape
    assert model[-1].coef_.shape == (2, 3)


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_models_of_their_own(documents, scheme):
    texts, labels = documents
    model = classifier(multiclass=scheme, sweeps=6).fit(texts, labels)
    assert model.score(texts, labels) > 0.9
    assert model[-1].components_.shape == (3, 3, 18)
    assert not hasattr(model[-1], "coef_")
    model[-1].set_params(loss="logistic")
    assert hasattr(model[-1], "predict_proba") is (scheme == "ovr")


def test_types_of_classes_come_back(documents):
    texts, labels = documents
    for classes in (np.array([5, 7, -1]), np.array([0.0, 1.0, 2.0])):
        y = classes[np.searchsorted(["food", "music", "space"], labels)]
        found = classifier().fit(texts, y).predict(texts)
        assert found.dtype == y.dtype and (found == y).mean() > 0.9
    y = labels == "food"
    assert classifier().fit(texts, y).predict(texts).dtype == bool


def test_regression_with_covariates(documents):
    texts, labels = documents
    rng = np.random.default_rng(1)
    x = rng.normal(size=len(texts))
    y = 3 * x + 10 * (labels == "space") + 1000 + 0.1 * rng.normal(size=len(texts))
    X = sp.hstack([CountVectorizer().fit_transform(texts), x[:, None]]).tocsr()
    model = SupervisedTopicRegressor(covariate_columns=[-1], **{**FAST, "sweeps": 60}).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (1, 4) and model.components_.shape == (3, 18)
    interval = model.predict_interval(X, 0.95)
    inside = (interval[:, 0, 0] < y) & (y < interval[:, 0, 1])
    assert interval.shape == (len(texts), 1, 2) and inside.mean() > 0.8
    with pytest.raises(ValueError, match="of X, which has 19, not 19"):
        clone(model).set_params(covariate_columns=[19]).fit(X, y)
    with pytest.raises(ValueError, match="names 'year'"):
        clone(model).set_params(covariate_columns=["year"]).fit(X, y)


def test_several_real_responses(documents):
    texts, labels = documents
    y = np.stack([labels == "space", labels == "food"], axis=1).astype(float)
    model = make_pipeline(CountVectorizer(), SupervisedTopicRegressor(**{**FAST, "sweeps": 40})).fit(texts, y)
    assert model.predict(texts).shape == y.shape and model.score(texts, y) > 0.7


def test_topics_without_responses(documents):
    texts, _ = documents
    model = make_pipeline(CountVectorizer(), TopicModel(**{**FAST, "sweeps": 40}))
    assert model.fit_transform(texts).shape == (len(texts), 3)
    worse = make_pipeline(CountVectorizer(), TopicModel(**{**FAST, "n_topics": 1})).fit(texts)
    assert 0 > model.score(texts) > worse.score(texts)
    assert len(cross_val_score(model, texts, cv=2)) == 2
    names = model[-1].get_feature_names_out().tolist()
    assert names == ["topicmodel0", "topicmodel1", "topicmodel2"]


def test_data_frames(documents):
    pandas = pytest.importorskip("pandas")
    texts, labels = documents
    frame = pandas.DataFrame({"text": texts, "year": np.arange(len(texts)) % 7})
    words = CountVectorizer().fit(texts)
    counts = pandas.DataFrame(words.transform(texts).toarray(), columns=words.get_feature_names_out())
    frame = pandas.concat([counts, frame[["year"]]], axis=1)
    model = SupervisedTopicClassifier(covariate_columns=["year"], **FAST)
    model.fit(frame, pandas.Series(labels))
    assert model.score(frame, labels) > 0.9
    assert model.feature_names_in_.tolist()[-1] == "year"
    assert model.predictor_.covariate_names == ("year",) and model.predictor_.vocabulary[0] == "bread"
    topics = model.set_output(transform="pandas").transform(frame)
    assert topics.columns.tolist() == [f"supervisedtopicclassifier{k}" for k in range(3)]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"year": "age"}))


def test_pickling_cloning_and_saving(documents, tmp_path):
    texts, labels = documents
    model = classifier().fit(texts, labels)
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(texts) == model.decision_function(texts)).all()
    assert not hasattr(clone(model[-1]), "predictor_")
    ps.save_model(tmp_path / "model", model[-1].predictor_)
    corpus = ps.Corpus.from_counts(model[0].transform(texts), vocabulary=[f"w{i}" for i in range(18)])
    assert ps.load_model(tmp_path / "model").predict(corpus).labels.tolist() == model.predict(texts).tolist()
