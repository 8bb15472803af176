"""What stands beside the counts of a corpus: raw columns, and sparse covariates."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError

X = [[1, 2], [0, 1], [2, 0]]


def test_columns_are_kept_as_they_are():
    fields = {"n": np.array([1, 2, 3]), "c": ["x", None, ["a", "b"]], "f": [1.5, float("nan"), True]}
    corpus = Corpus.from_counts(X, fields=fields)
    assert corpus.fields["n"].dtype == float and corpus.fields["n"].tolist() == [1, 2, 3]
    assert corpus.fields["c"].tolist() == ["x", None, ("a", "b")]
    assert corpus.fields["f"].tolist() == [1.5, None, True]
    again = Corpus(corpus.words, corpus.offsets, vocabulary=corpus.vocabulary, fields=fields)
    assert again.digest() == corpus.digest()
    with pytest.raises(TypeError):
        corpus.fields["n"] = 1
    with pytest.raises(ValueError, match="read-only"):
        corpus.fields["n"][0] = 1


@pytest.mark.parametrize(
    "fields, said",
    [
        ({"a": [1, 2]}, "field 'a' has 2 values for 3 documents"),
        ({"a": "xyz"}, "field 'a' must be a sequence of values, not str"),
        ({"a": [1, {"b": 1}, 2]}, "field 'a' of document 1 must be text, a number"),
        ({"a": [1, [2], 2]}, "field 'a' of document 1 must be text"),
        ({"a": np.array([1, np.inf, 0])}, "field 'a' of document 1 is infinite"),
        ({"a": [0, 1, float("inf")]}, "field 'a' of document 2 is infinite"),
        ({"a": ["x", "\ud800", "y"]}, "half of a surrogate pair"),
        ({3: [1, 2, 3]}, "fields must hold strings"),
        ([1, 2, 3], "fields must be a mapping of names to columns or a data frame, not list"),
    ],
)
def test_columns_that_are_refused(fields, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_counts(X, fields=fields)


def beside(**more) -> Corpus:
    covariates = sp.coo_array(([1.0, 2, 3, 0], ([0, 1, 1, 2], [5, 2, 2, 0])), shape=(3, 9))
    return Corpus.from_counts(X, covariates=covariates, fields={"c": ["x", None, "y"]}, **more)


def test_sparse_covariates_are_canonical():
    covariates = beside().covariates
    assert isinstance(covariates, sp.csr_array) and covariates.dtype == np.float64
    assert covariates.has_canonical_format and covariates.nnz == 2
    assert covariates.toarray()[1].tolist() == [0, 0, 5, 0, 0, 0, 0, 0, 0]
    for part in (covariates.data, covariates.indices, covariates.indptr):
        assert not part.flags.writeable
    assert len(beside().covariate_names) == 9


def test_the_matrix_given_is_not_changed():
    given = sp.csr_array(([2.0, 1.0], [1, 0], [0, 2, 2, 2]), shape=(3, 2))
    Corpus.from_counts(X, covariates=given)
    assert given.indices.tolist() == [1, 0] and given.data.flags.writeable


def test_taking_pickling_and_digests_with_columns():
    corpus = beside()
    part = corpus.take([2, 1])
    assert part.fields["c"].tolist() == ["y", None] and part.covariates.toarray()[1, 2] == 5
    renamed = corpus.with_vocabulary(["w1"])
    assert renamed.fields["c"].tolist() == ["x", None, "y"] and renamed.covariates.nnz == 2
    again = pickle.loads(pickle.dumps(corpus))
    assert again.digest() == corpus.digest()
    assert not again.covariates.data.flags.writeable and not again.fields["c"].flags.writeable
    digests = {
        corpus.digest(),
        Corpus.from_counts(X).digest(),
        Corpus.from_counts(X, fields={"c": ["x", None, "y"]}).digest(),
        Corpus.from_counts(X, fields={"d": ["x", None, "y"]}).digest(),
        Corpus.from_counts(X, fields={"c": ["x", None, "z"]}).digest(),
        Corpus.from_counts(X, covariates=corpus.covariates).digest(),
        Corpus.from_counts(X, covariates=corpus.covariates * 2).digest(),
    }
    assert len(digests) == 7


def test_sparse_covariates_that_are_refused():
    infinite = sp.csr_array(([1.0, np.inf], [1, 0], [0, 1, 2, 2]), shape=(3, 2))
    with pytest.raises(InputError, match="covariate inf at row 1, column 0 is not a finite number"):
        Corpus.from_counts(X, covariates=infinite)
    with pytest.raises(InputError, match="covariates of 2 documents for 3 documents"):
        Corpus.from_counts(X, covariates=sp.csr_array((2, 2)))
    outside = sp.csr_array(([1.0], [1], [0, 1, 1, 1]), shape=(3, 2))
    outside.indices[0] = 7
    with pytest.raises(InputError, match=r"7 at row 0 is outside 0\.\.1"):
        Corpus.from_counts(X, covariates=outside)


def test_further_covariates():
    corpus = beside(covariate_names=list("abcdefghi"))
    more = corpus.with_covariates([[1.0], [2.0], [3.0]], ["z"])
    assert more.covariate_names[-1] == "z" and more.covariates.toarray()[:, -1].tolist() == [1, 2, 3]
    assert corpus.covariates.shape == (3, 9)
    with pytest.raises(InputError, match="'a' occurs twice"):
        corpus.with_covariates([[1.0], [2.0], [3.0]], ["a"])
