"""Names as mappings, sets and data frames: the right place each, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import plugsamp as ps
from plugsamp.errors import InputError
from plugsamp.naming import in_order
from plugsamp.prediction.evaluation import evaluate

X = np.array([[1, 2, 0], [0, 1, 3], [2, 0, 0], [0, 2, 1]])
#: From word to column, not in the order of the columns; and from column to word.
PLACES = {"moon": 2, "bread": 0, "goal": 1}
IDS = {2: "moon", 0: "bread", 1: "goal"}
WORDS = ("bread", "goal", "moon")


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.mark.parametrize("vocabulary", [WORDS, list(WORDS), np.array(WORDS), PLACES, IDS, iter(WORDS)])
def test_each_word_has_its_own_column(vocabulary):
    assert ps.Corpus.from_counts(X, vocabulary=vocabulary).vocabulary == WORDS


@pytest.mark.parametrize("names", [PLACES, IDS])
def test_mappings_are_read_wherever_there_are_words(names):
    corpus = ps.Corpus.from_counts(X, vocabulary=WORDS)
    assert ps.Corpus(corpus.words, corpus.offsets, vocabulary=names).digest() == corpus.digest()
    assert corpus.with_vocabulary(names) is corpus


def test_a_mapping_of_ids_gives_each_document_its_own():
    corpus = ps.Corpus.from_counts(X, ids={"c": 2, "a": 0, "d": 3, "b": 1})
    assert corpus.ids == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    "names, said",
    [
        ({"a", "b", "c"}, "a set has no order that says so; pass a list"),
        (frozenset("abc"), "a frozenset has no order"),
        (PLACES.keys(), "a dict_keys has no order"),
        ({"a": 0, "b": 1, "c": 1}, "the numbers from 0 to 2 each once"),
        ({"a": 0, "b": 1, "c": 3}, "the numbers from 0 to 2 each once"),
        ({"a": 1, "b": 2, "c": 3}, "the numbers from 0 to 2 each once"),
        ({"a": 0.5, "b": 1, "c": 2}, "must go from each name to its place"),
        ({0: "a", 1: "a", 2: "b"}, "each once"),
        ("abc", "must be a sequence of strings, not one string"),
    ],
)
@pytest.mark.parametrize("argument", ["vocabulary", "ids", "covariate_names"])
def test_names_without_places_are_refused(names, said, argument):
    with pytest.raises(InputError, match=said):
        ps.Corpus.from_counts(X[:3], covariates=np.ones((3, 3)), **{argument: names})


def test_a_fitted_vectorizer_names_the_words_of_a_model():
    texts = ["rocket orbit moon", "bread butter soup"] * 6
    labels = ["space", "food"] * 6
    vectorizer = CountVectorizer().fit(texts)
    # As a vectorizer is that has seen other documents first.
    vectorizer.vocabulary_ = dict(sorted(vectorizer.vocabulary_.items(), key=lambda item: -item[1]))
    names = list(vectorizer.get_feature_names_out())
    counts = vectorizer.transform(texts)
    fitted = ps.fit(ps.Corpus.from_counts(counts, responses=labels), ps.Model(2, loss="hinge"), sweeps=20)
    named = fitted.with_options(vocabulary=vectorizer.vocabulary_)
    assert named.vocabulary == tuple(names)
    assert named.predict(ps.Corpus.from_counts(counts, vocabulary=names)).labels.tolist() == labels


def test_columns_of_a_data_frame_are_the_words(pandas):
    frame = pandas.DataFrame(X, columns=WORDS)
    corpus = ps.Corpus.from_counts(frame)
    assert corpus.vocabulary == WORDS
    other = ps.Corpus.from_counts(frame[["moon", "bread", "goal"]]).with_vocabulary(WORDS)
    assert (other.counts() != corpus.counts()).nnz == 0
    assert ps.Corpus.from_counts(pandas.DataFrame(X)).vocabulary == ("w0", "w1", "w2")
    assert ps.Corpus.from_counts(frame, vocabulary=["a", "b", "c"]).vocabulary == ("a", "b", "c")
    assert ps.Corpus.from_counts(frame, vocabulary=PLACES).vocabulary == WORDS


def test_data_frames_that_are_refused(pandas):
    frame = pandas.DataFrame(X, columns=WORDS)
    with pytest.raises(InputError, match="the data frame's columns in another order"):
        ps.Corpus.from_counts(frame, vocabulary=["moon", "bread", "goal"])
    with pytest.raises(InputError, match="some are not, such as 3"):
        ps.Corpus.from_counts(pandas.DataFrame(X, columns=["a", "b", 3]))
    for argument in ("vocabulary", "ids"):
        with pytest.raises(InputError, match=rf"{argument} must be .* not a data frame; pass a list"):
            ps.Corpus.from_counts(X, **{argument: frame})


def test_fields_covariates_and_responses_of_a_data_frame(pandas):
    table = pandas.DataFrame({"year": [1, 2, 3, 4], "party": ["a", None, "b", "a"]})
    corpus = ps.Corpus.from_counts(
        X,
        fields=table,
        covariates=table[["year"]],
        responses=pandas.DataFrame({"sport": [0, 1, 1, 0], "law": 1}),
    )
    assert list(corpus.fields) == ["year", "party"]
    assert corpus.fields["party"].tolist() == ["a", None, "b", "a"]
    assert corpus.covariate_names == ("year",)
    assert corpus.response_names == ("sport", "law")
    assert corpus.with_responses(table[["year"]]).response_names == ("year",)
    encoded = (
        ps.covariates.Covariates(numeric="year", categorical="party")
        .fit(corpus)
        .transform(ps.Corpus.from_counts(X, fields=table))
    )
    assert encoded.covariate_names == ("year", "party=a", "party=b")


def test_covariates_by_name():
    corpus = ps.Corpus.from_counts(X, covariates={"year": [1, 2, 3, 4], "size": [0.5, 1, 2, 3]})
    assert corpus.covariate_names == ("year", "size")
    assert corpus.covariates[1].tolist() == [2, 1]
    with pytest.raises(InputError, match="covariates must be in order, and a set has none"):
        ps.Corpus.from_counts(X, covariates={1, 2, 3, 4})
    with pytest.raises(InputError, match="covariates: the columns cannot be put side by side"):
        ps.Corpus.from_counts(X, covariates={"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(InputError, match=r"counts must be .* not dict"):
        ps.Corpus.from_counts({"a": [1, 2]})


def test_counts_without_names_of_another_width_are_refused():
    train = ps.Corpus.from_counts(X, responses=["a", "b", "a", "b"])
    predictor = ps.fit(train, ps.Model(2, loss="hinge"), sweeps=5)
    assert len(predictor.predict(ps.Corpus.from_counts(X)).labels) == 4
    for width in (2, 5):
        other = ps.Corpus.from_counts(np.ones((2, width), int))
        with pytest.raises(InputError, match=f"{width} columns without names, and the model has 3"):
            predictor.predict(other)
        with pytest.raises(InputError, match="transform, not fit_transform"):
            evaluate(predictor, other.with_responses(["a", "b"]))
    named = ps.Corpus.from_counts(np.ones((2, 2), int), vocabulary=["w0", "w2"])
    assert len(predictor.predict(named).labels) == 2


def test_names_stay_in_their_order():
    assert in_order(("b", "a"), "ids") == ("b", "a")
    assert in_order({}, "ids") == ()


@pytest.mark.parametrize("columns", [[2, 0, 1], [("a", 1), ("a", 2), ("b", 1)], [1, 2, 3]])
@pytest.mark.parametrize("what", ["counts", "responses", "covariates"])
def test_columns_that_are_called_by_no_text(columns, what):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X).set_axis(pandas.Index(columns), axis=1)

    def corpus(values):
        return (
            ps.Corpus.from_counts(values) if what == "counts" else ps.Corpus.from_counts(X, **{what: values})
        )

    with pytest.raises(InputError, match="which are not text"):
        corpus(frame)
    corpus(frame.to_numpy())
    named = corpus(frame.set_axis(list(map(str, frame.columns)), axis=1))
    names = {"counts": "vocabulary", "responses": "response_names", "covariates": "covariate_names"}[what]
    assert getattr(named, names) == tuple(map(str, columns))
    corpus(pandas.DataFrame(X))
    corpus(frame.iloc[:, [0]]) if what == "responses" else None


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "object"])
def test_counts_of_nullable_types(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc")).astype(dtype)
    assert ps.Corpus.from_counts(frame).digest() == ps.Corpus.from_counts(X, vocabulary=list("abc")).digest()
    frame.loc[1, "b"] = pandas.NA
    with pytest.raises(InputError, match=r"row 1, column 1 is missing; fillna\(0\)"):
        ps.Corpus.from_counts(frame)
    assert ps.Corpus.from_counts(frame.fillna(0)).n_tokens == X.sum() - 1
