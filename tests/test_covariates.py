"""Covariates of columns and words: what they are, and that new documents get the same ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

import plugsamp as ps
from plugsamp.covariates.encoder import DENSE_LIMIT, Encoder
from plugsamp.errors import InputError, InputWarning


def corpus(n=40, seed=0, **fields):
    """n documents of 12 words whose labels are those of the more frequent half of the words."""
    X = np.random.default_rng(seed).poisson(1.0, (n, 12))
    labels = ["a" if row[:6].sum() > row[6:].sum() else "b" for row in X]
    return ps.Corpus.from_counts(X, responses=labels, fields=fields, require_tokens=False)


def encoded(documents, **options):
    """The fitted encoder, and its covariates as a dense array."""
    encoder = ps.Covariates(**options).fit(documents)
    matrix = encoder.matrix(documents)
    return encoder, matrix.toarray() if sp.issparse(matrix) else matrix


# -- numbers ---------------------------------------------------------------------------------------------


def test_numbers_are_standardised_by_training_documents():
    documents = corpus(4, year=np.array([1990, 2000, 2010, 2020]))
    encoder, x = encoded(documents, numeric="year")
    assert encoder.names == ("year",)
    np.testing.assert_allclose(x[:, 0], (np.array([1990, 2000, 2010, 2020]) - 2005) / np.sqrt(125))
    new = corpus(1, year=["2005"])
    assert encoder.matrix(new).tolist() == [[0.0]]
    _, plain = encoded(documents, numeric="year", standardise=False)
    assert plain[:, 0].tolist() == [1990.0, 2000.0, 2010.0, 2020.0]


def test_a_missing_number_is_the_mean_and_says_so():
    documents = corpus(4, year=[1, None, 3, " "], whole=[1, 2, 3, 4])
    encoder, x = encoded(documents, numeric=["year", "whole"])
    assert encoder.names == ("year", "year (missing)", "whole")
    assert x[:, :2].tolist() == [[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    new = encoder.matrix(corpus(1, year=[np.nan], whole=[None]))
    assert new.tolist() == [[0.0, 1.0, 0.0]]
    _, plain = encoded(documents, numeric="year", standardise=False)
    assert plain[:, 0].tolist() == [1.0, 2.0, 3.0, 2.0]


def test_a_constant_number_is_zero():
    _, x = encoded(corpus(3, year=[7, 7, 7]), numeric="year")
    assert x.tolist() == [[0.0], [0.0], [0.0]]


@pytest.mark.parametrize("value", ["soon", "1_000", "nan", "inf", "１", ["1"]])
def test_what_is_no_number_is_named(value):
    documents = corpus(2, year=["1", value])
    with pytest.raises(InputError, match=r"column 'year' of document '1' holds .*not a finite number"):
        ps.Covariates(numeric="year").fit(documents)


def test_a_column_without_any_value():
    with pytest.raises(InputError, match="no training document has a number in the column 'year'"):
        ps.Covariates(numeric="year").fit(corpus(2, year=[None, ""]))
    with pytest.raises(InputError, match="no training document has a value in the column 'c'"):
        ps.Covariates(categorical="c").fit(corpus(2, c=[None, ""]))


# -- classes ---------------------------------------------------------------------------------------------


def test_classes_are_zeros_and_ones():
    documents = corpus(5, c=["x", ["x", "y", "x"], None, "", " y"])
    encoder, x = encoded(documents, categorical="c")
    assert encoder.names == ("c=x", "c=y")
    assert x.tolist() == [[1, 0], [1, 1], [0, 0], [0, 0], [0, 1]]


def test_an_unseen_class_is_nothing_or_rare():
    documents = corpus(5, c=["x", "x", "y", ["y", "z"], "q"])
    new = corpus(3, c=["new", "x", ["new", "z"]])
    encoder, _ = encoded(documents, categorical="c")
    assert encoder.matrix(new).tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]  # q, x, y, z
    encoder, x = encoded(documents, categorical="c", min_count=2)
    assert encoder.names == ("c=x", "c=y", "c=(other)")
    assert x.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]]
    assert encoder.matrix(new).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1]]


def test_classes_are_alike_however_they_were_read():
    encoder, _ = encoded(corpus(3, c=["2000", "2001", "true"]), categorical="c")
    new = corpus(4, c=[2000, 2001.0, True, "2000 "])
    assert encoder.matrix(new).argmax(axis=1).tolist() == [0, 1, 2, 0]
    assert encoder.matrix(corpus(1, c=np.array([2001]))).tolist() == [[0, 1, 0]]


def test_several_classes_in_one_text():
    documents = corpus(2, c=["France, Spain", "Spain"])
    encoder, x = encoded(documents, categorical="c", separator=",")
    assert encoder.names == ("c=France", "c=Spain") and x.tolist() == [[1, 1], [0, 1]]


# -- words -----------------------------------------------------------------------------------------------


def test_tfidf_is_that_of_scikit_learn():
    documents = corpus()
    encoder, x = encoded(documents, words="tfidf")
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(documents.counts())
    np.testing.assert_allclose(x, expected.toarray(), rtol=1e-14)
    assert encoder.names[:2] == ("word:w0", "word:w1")
    _, scaled = encoded(documents, words="tfidf", words_scale=3.0)
    np.testing.assert_allclose(scaled, 3 * x)
    _, plain = encoded(documents, words="tfidf", words_sublinear=False, words_norm="none")
    expected = TfidfTransformer(norm=None).fit_transform(documents.counts())
    np.testing.assert_allclose(plain, expected.toarray(), rtol=1e-14)


def test_counts_of_words_that_are_frequent_enough():
    documents = ps.Corpus.from_counts([[2, 1, 0], [1, 0, 1], [0, 0, 0]], vocabulary=["a", "b", "c"])
    encoder, x = encoded(documents, words="counts", words_min_df=2, words_norm="none", words_sublinear=False)
    assert encoder.names == ("word:a",) and x.tolist() == [[2], [1], [0]]
    with pytest.raises(InputError, match=r"words_min_df=3 training documents"):
        ps.Covariates(words="counts", words_min_df=3).fit(documents)


def test_words_are_matched_by_name_and_unknown_ones_left_out():
    train = ps.Corpus.from_counts([[2, 1], [1, 0]], vocabulary=["a", "b"])
    encoder, x = encoded(train, words="tfidf")
    new = ps.Corpus.from_counts([[5, 1, 2], [1, 0, 0]], vocabulary=["new", "b", "a"])
    assert encoder.matrix(new).toarray()[0].tolist() == x[0].tolist()
    assert encoder.matrix(new).toarray()[1].tolist() == [0, 0]


# -- the encoder -----------------------------------------------------------------------------------------

EVERYTHING = {
    "columns": {"numeric": ["year"], "categorical": ["c"], "min_count": 10},
    "words": {"numeric": ["year"], "categorical": ["c"], "words": "tfidf", "words_scale": 1.5},
}


def full_corpus(n=40, seed=0):
    rng = np.random.default_rng(seed)
    years = np.where(rng.random(n) < 0.2, np.nan, rng.normal(1950, 30, n))
    choices = ["x", "y", ["x", "y"], None, "rare"]
    classes = [choices[k] for k in rng.choice(5, n, p=[0.4, 0.35, 0.1, 0.1, 0.05])]
    return corpus(n, seed, year=years, c=classes)


@pytest.mark.parametrize("options", EVERYTHING.values(), ids=EVERYTHING)
def test_a_document_is_encoded_alone_as_with_others(options):
    encoder, _ = encoded(full_corpus(), **options)
    new = full_corpus(60, seed=5)
    together = sp.csr_array(encoder.matrix(new)).toarray()
    rows = np.random.default_rng(1).permutation(60)
    shuffled = sp.csr_array(encoder.matrix(new.take(rows))).toarray()
    assert shuffled.tobytes() == together[rows].tobytes()
    for row in range(60):
        assert sp.csr_array(encoder.matrix(new.take([row]))).toarray()[0].tobytes() == together[row].tobytes()


@pytest.mark.parametrize("options", EVERYTHING.values(), ids=EVERYTHING)
def test_an_encoder_is_data(options):
    documents = full_corpus()
    encoder, x = encoded(documents, **options)
    arrays, content = encoder.data()
    again = Encoder.of(arrays, json.loads(json.dumps(content)))
    assert again.digest == encoder.digest and again.names == encoder.names
    assert sp.csr_array(again.matrix(documents)).toarray().tobytes() == x.tobytes()
    other, _ = encoded(full_corpus(seed=3), **options)
    assert other.digest != encoder.digest


def test_what_is_sparse():
    values = [f"v{i}" for i in range(DENSE_LIMIT + 1)]
    many, few = corpus(len(values), c=values), corpus(DENSE_LIMIT, c=values[:-1])
    assert sp.issparse(ps.Covariates(categorical="c").fit(many).transform(many).covariates)
    dense = ps.Covariates(categorical="c").fit(few).transform(few).covariates
    assert isinstance(dense, np.ndarray) and dense.sum() == DENSE_LIMIT
    assert sp.issparse(ps.Covariates(words="counts").fit(few).transform(few).covariates)


def test_covariates_stand_after_those_given_directly():
    X = np.ones((3, 2), dtype=int)
    documents = ps.Corpus.from_counts(
        X, covariates=[[1.0], [2.0], [3.0]], covariate_names=["own"], fields={"c": ["x", "y", "x"]}
    )
    for options, names in (({}, ("c=x", "c=y")), ({"words": "counts"}, ("c=x", "c=y", "word:w0", "word:w1"))):
        encoder = ps.Covariates(categorical="c", **options).fit(documents)
        made = encoder.transform(documents)
        assert made.covariate_names == ("own", *names)
        assert sp.csr_array(made.covariates).toarray()[:, :3].tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
        assert encoder.transform(made) is made
        assert documents.covariate_names == ("own",)


def test_a_column_that_is_not_there():
    encoder = ps.Covariates(numeric="year").fit(corpus(3, year=[1, 2, 3], more=[1, 1, 1]))
    with pytest.raises(InputError, match=r"lack the column 'year', .* their columns are 'other'"):
        encoder.transform(corpus(2, other=["a", "b"]))
    with pytest.raises(InputError, match="their columns are none"):
        ps.Covariates(categorical="c").fit(corpus(2))


@pytest.mark.parametrize(
    "options, said",
    [
        ({"numeric": ["a"], "categorical": "a"}, "the column 'a' is given twice"),
        ({"words": "all"}, "words must be one of none, counts, tfidf, not 'all'"),
        ({"words_norm": "l1"}, "words_norm must be one of l2, none"),
        ({"min_count": 0}, "min_count must be a whole number, 1 or more"),
        ({"words_min_df": 1.5}, "words_min_df must be a whole number"),
        ({"words_scale": 0}, "words_scale must be a number from 1e-6"),
        ({"separator": ""}, "separator must be a text"),
    ],
)
def test_options_that_cannot_be(options, said):
    with pytest.raises(ValueError, match=said):
        ps.Covariates(**options)


# -- in a model ------------------------------------------------------------------------------------------


def fitted(documents, loss="hinge", **options):
    model = ps.Model(2, loss=loss, weights=ps.priors.Normal(1.0))
    return ps.fit(documents, model, sweeps=6, thin=1, seed=3, covariates=ps.Covariates(**options))


def test_a_model_makes_the_covariates_of_new_documents(tmp_path):
    documents = full_corpus()
    result = fitted(documents, **EVERYTHING["columns"])
    assert result.covariate_names == ("year", "year (missing)", "c=x", "c=y", "c=(other)")
    new = full_corpus(30, seed=9)
    prediction = result.predict(new)
    by_hand = result.predict(result.encoder.transform(new))
    assert by_hand.f.tobytes() == prediction.f.tobytes()
    loaded = ps.load_model(ps.save_model(tmp_path / "model", result))
    assert loaded.digest == result.digest
    assert loaded.predict(new).f.tobytes() == prediction.f.tobytes()
    for row in range(30):
        assert loaded.predict(new.take([row])).f[0].tobytes() == prediction.f[row].tobytes()
    with pytest.raises(InputError, match="lack the column 'year'"):
        loaded.predict(corpus(2))


def test_the_encoder_is_part_of_the_model():
    from dataclasses import replace

    documents = full_corpus()
    predictor = fitted(documents, **EVERYTHING["columns"]).parts[0]
    encoder = predictor.encoder
    moved = replace(encoder, numeric=(replace(encoder.numeric[0], center=0.0),))
    assert replace(predictor, encoder=moved).digest != predictor.digest
    assert replace(predictor, encoder=None).digest != predictor.digest


def test_a_model_without_responses_has_no_covariates():
    result = fitted(full_corpus(), loss="none", **EVERYTHING["words"])
    assert result.covariate_names == () and result.encoder is None
    result.predict(corpus(3))


def test_only_covariates_say_what_the_words_do_not():
    rng = np.random.default_rng(2)
    sides = rng.choice(["left", "right"], 60)
    documents = ps.Corpus.from_counts(
        rng.poisson(2.0, (60, 5)), responses=sides, fields={"side": sides, "noise": rng.normal(size=60)}
    )
    result = fitted(documents.take(np.arange(40)), categorical="side", numeric="noise")
    test = documents.take(np.arange(40, 60))
    assert result.predict(test).labels.tolist() == test.responses.tolist()


def test_covariates_must_be_covariates():
    with pytest.raises(TypeError, match="covariates must be a Covariates, not dict"):
        ps.fit(corpus(), ps.Model(2, loss="hinge"), sweeps=1, covariates={"words": "tfidf"})


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_separate_chains_share_the_encoder(scheme):
    rng = np.random.default_rng(4)
    labels = np.repeat(["a", "b", "c"], 10)
    kinds = [None if label == "a" else f"{label}-kind" for label in labels]
    documents = ps.Corpus.from_counts(rng.poisson(1.0, (30, 5)), responses=labels, fields={"kind": kinds})
    result = ps.fit(
        documents, ps.Model(2, loss="hinge"), sweeps=4, multiclass=scheme,
        covariates=ps.Covariates(categorical="kind"),
    )  # fmt: skip
    digests = {member.encoder.digest for member in result.parts}
    assert len(digests) == 1
    assert result.predict(documents).labels.tolist() == labels.tolist()


@pytest.mark.parametrize("method", ["block", "coordinate"])
def test_sparse_and_dense_covariates_make_the_same_chain(method):
    made = ps.Covariates(words="tfidf").fit(corpus()).transform(corpus())
    dense = ps.Corpus.from_counts(
        made.counts(), responses=made.responses, covariates=made.covariates.toarray(),
        covariate_names=made.covariate_names,
    )  # fmt: skip
    model = ps.Model(3, loss="hinge")
    chains = [ps.Chain(c, model, seed=1, weight_update=method).run(5) for c in (made, dense)]
    np.testing.assert_array_equal(chains[0].z, chains[1].z)
    np.testing.assert_allclose(chains[0].eta, chains[1].eta, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(chains[0].f(), chains[1].f(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "probit"])
def test_sparse_covariates_of_new_documents(tmp_path, loss):
    result = fitted(full_corpus(), loss=loss, **EVERYTHING["words"])
    new = full_corpus(30, seed=9)
    prediction = result.predict(new)
    loaded = ps.load_model(ps.save_model(tmp_path / "model", result))
    assert loaded.predict(new).f.tobytes() == prediction.f.tobytes()
    rows = np.random.default_rng(0).permutation(30)
    assert loaded.predict(new.take(rows)).f.tobytes() == prediction.f[rows].tobytes()
    for row in range(30):
        alone = loaded.predict(new.take([row]))
        assert alone.f[0].tobytes() == prediction.f[row].tobytes()
        if prediction.probabilities is not None:
            assert alone.probabilities[0].tobytes() == prediction.probabilities[row].tobytes()


def test_two_steps_with_sparse_covariates():
    result = ps.fit(
        full_corpus(), ps.Model(2, loss="hinge"), sweeps=4, supervised="two_step",
        covariates=ps.Covariates(words="tfidf"),
    )  # fmt: skip
    prediction = result.predict(full_corpus(30, seed=9))
    assert (prediction.labels == full_corpus(30, seed=9).responses).mean() > 0.7


def test_covariates_that_no_model_uses_are_said():
    corpus = ps.Corpus.from_counts(np.ones((4, 3), int), fields={"year": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(InputWarning, match="so they play no part: year$"):
        found = ps.fit(corpus, ps.Model(2), sweeps=2, covariates=ps.Covariates(numeric=["year"]))
    assert found.encoder is None
    with pytest.raises(InputError, match="'yaer'"):
        ps.fit(corpus, ps.Model(2), sweeps=2, covariates=ps.Covariates(numeric=["yaer"]))
    with pytest.warns(InputWarning, match="so they play no part: year$"):
        ps.fit(corpus.with_covariates(np.ones((4, 1)), ["year"]), ps.Model(2), sweeps=2, chains=2)
