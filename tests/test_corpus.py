import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from plugsamp.corpus import Corpus
from plugsamp.errors import InputError, InputWarning
from plugsamp.system import memory

X = np.array([[0, 2, 1], [0, 0, 0], [1, 0, 3]])


def broken(indptr=(0, 2, 2, 4), indices=(1, 2, 0, 2), data=(2, 1, 1, 3), shape=(3, 3)):
    """A CSR matrix with parts that SciPy's constructor would have refused or repaired."""
    matrix = sp.csr_array(np.zeros(shape, dtype=np.int64))
    matrix.indptr, matrix.indices, matrix.data = np.array(indptr), np.array(indices), np.array(data)
    return matrix


def test_tokens_are_expanded_document_after_document():
    corpus = Corpus.from_counts(X)
    assert corpus.words.tolist() == [1, 1, 2, 0, 2, 2, 2]
    assert corpus.words.dtype == np.int32
    assert corpus.offsets.tolist() == [0, 3, 3, 7]
    assert corpus.offsets.dtype == np.int64
    assert corpus.lengths.tolist() == [3, 0, 4]
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (3, 3, 7)
    assert corpus.vocabulary == ("w0", "w1", "w2")
    assert corpus.ids == ("0", "1", "2")
    assert corpus.responses is None and corpus.covariates is None


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "uint64", "float32", "float64"])
def test_every_format_and_type_gives_the_same_corpus(convert, dtype):
    expected = Corpus.from_counts(X).digest()
    assert Corpus.from_counts(convert(X.astype(dtype))).digest() == expected
    assert Corpus.from_counts(np.asfortranarray(X.astype(dtype))).digest() == expected


def test_counts_and_tokens_are_two_ways_to_one_corpus():
    corpus = Corpus.from_counts(X, vocabulary=["a", "b", "c"])
    assert (corpus.counts().toarray() == X).all()
    shuffled = corpus.words.copy()
    shuffled[3:] = shuffled[3:][::-1]
    assert Corpus(shuffled, corpus.offsets, vocabulary=["a", "b", "c"]).digest() == corpus.digest()


def test_many_random_corpora_against_a_plain_loop():
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.poisson(0.5, (rng.integers(1, 8), rng.integers(1, 8)))
        corpus = Corpus.from_counts(sp.csr_array(counts), require_tokens=False)
        tokens = [[w for w, n in enumerate(row) for _ in range(n)] for row in counts]
        assert corpus.words.tolist() == [w for document in tokens for w in document]
        assert corpus.lengths.tolist() == [len(t) for t in tokens]


def test_stored_zeros_are_no_tokens_and_the_given_matrix_stays():
    matrix = sp.csr_array(([0, 2, 1, 1], [2, 0, 1, 1], [0, 2, 4]), shape=(2, 3))
    before = [a.copy() for a in (matrix.data, matrix.indices, matrix.indptr)]
    with pytest.warns(InputWarning, match="row 1, column 1"):
        corpus = Corpus.from_counts(matrix)
    assert corpus.words.tolist() == [0, 0, 1, 1]
    for a, b in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        assert (a == b).all()


def test_duplicates_are_summed_in_64_bits():
    matrix = sp.coo_array((np.array([200, 100], dtype=np.uint8), ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.warns(InputWarning, match="1 entries repeat"):
        assert Corpus.from_counts(matrix).n_tokens == 300
    matrix = sp.coo_array((np.array([2**30, 2**30]), ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.warns(InputWarning), pytest.raises(InputError, match="2147483648 at row 0, column 1"):
        Corpus.from_counts(matrix)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (broken(indptr=(0, 2, 2, 9)), "indptr ends at 9, there are 4 entries"),
        (broken(indptr=(0, 3, 2, 4)), "indptr decreases at row 1"),
        (broken(indptr=(1, 2, 2, 4)), "indptr starts at 1"),
        (broken(indptr=(0, 2, 4)), "indptr has 3 entries, 4 are needed"),
        (broken(indices=(1, 2, 0, 40_000_000)), r"column 40000000 at row 2 is outside 0\.\.2"),
        (broken(indices=(1, -1, 0, 2)), r"column -1 at row 0 is outside 0\.\.2"),
        (broken(data=(2, 1, 1)), "4 indices for 3 values"),
        (broken(data=(2, 0.5, 1, 3)), "0.5 at row 0, column 2 is not a whole count"),
        (broken(data=(2, np.nan, 1, 3)), "NaN at row 0, column 2"),
        (broken(data=(2, np.inf, 1, 3)), "inf at row 0, column 2 is over the limit"),
        (broken(data=(2, -1, 1, 3)), "negative count -1 at row 0, column 2"),
        (broken(data=(2, 2**31, 1, 3)), "2147483648 at row 0, column 2 is over the limit 2147483647"),
        (broken(data=np.array([2, 2**63, 1, 3], dtype=np.uint64)), "row 0, column 2 is over the limit"),
        (sp.csr_array([[1j, 1]]), "type complex128"),
        (np.array([[1, None]], dtype=object), "row 0, column 1 is missing"),
        (np.array([1, 2]), "2 dimensions .*, 1 found"),
        ("corpus.svm", "not str"),
        (["a text", "another"], "found text; .* CountVectorizer"),
        ([["a"], [], ["b"]], "found text"),
        ([[1, 2], [3]], "document by word matrix, and rows have different lengths"),
        (np.zeros((0, 3)), "no documents"),
        (np.zeros((2, 0)), "no tokens"),
        (np.zeros((2, 3)), "no tokens"),
    ],
)
def test_what_is_no_matrix_of_counts_is_refused(matrix, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_counts(matrix)


def test_one_word_and_documents_without_tokens():
    corpus = Corpus.from_counts([[0], [3]])
    assert corpus.n_words == 1 and corpus.words.tolist() == [0, 0, 0]
    nothing = np.zeros((2, 3), dtype=int)
    with pytest.raises(InputError, match="documents to predict are taken with require_tokens=False"):
        Corpus.from_counts(nothing)
    empty = Corpus.from_counts(nothing, require_tokens=False)
    assert empty.offsets.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"responses": ["a", "b"]}, "2 responses for 3 documents"),
        ({"responses": np.zeros((4, 2))}, "4 responses for 3 documents"),
        ({"responses": "abc"}, "not str"),
        ({"responses": [1.0, np.inf, 2.0]}, "document 1 is infinite"),
        ({"responses": [[1, 0], [1], [0, 1]]}, "same number of columns"),
        ({"responses": [1, 2, 3], "response_names": ["a", "b"]}, "2 entries for 1 columns"),
        ({"response_names": ["a"]}, "without responses"),
        ({"vocabulary": ["a", "b"]}, "vocabulary has 2 entries for 3 columns"),
        ({"vocabulary": ["a", "b", "a"]}, "word 'a' occurs twice .* 0 and 2"),
        ({"vocabulary": ["a", "b", 3]}, "entry 2 is 3 of type int"),
        ({"vocabulary": ["a", "b", "\ud800"]}, "surrogate"),
        ({"ids": ["x", "y", "x"]}, "document id 'x' occurs twice .* 0 and 2"),
        ({"covariates": [1.0, 2.0, 3.0]}, "2 dimensions"),
        ({"covariates": [[1.0], [2.0]]}, "2 documents for 3"),
        ({"covariates": [[1.0], [np.nan], [2.0]]}, "nan at row 1, column 0"),
        ({"covariates": [["x"], ["y"], ["z"]]}, "must be numbers"),
    ],
)
def test_what_does_not_fit_the_documents_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Corpus.from_counts(X, **options)


def test_responses_stay_as_they_were_given():
    assert Corpus.from_counts(X, responses=["a", None, 1]).responses.tolist() == ["a", None, 1]
    assert Corpus.from_counts(X, responses=[True, False, True]).responses.dtype == bool
    assert Corpus.from_counts(X, responses=[3, 100, -7]).responses.tolist() == [3, 100, -7]
    given = np.array([1.0, 2.0, np.nan])
    corpus = Corpus.from_counts(X, responses=given)
    given[0] = 5
    assert corpus.responses[0] == 1.0
    assert Corpus.from_counts(
        X, responses=[[1, 0], [0, 1], [1, 1]], response_names=["p", "q"]
    ).responses.shape == (3, 2)


def test_nothing_can_be_changed():
    corpus = Corpus.from_counts(X, responses=[1, 2, 3], covariates=[[1.0], [2.0], [3.0]])
    again = pickle.loads(pickle.dumps(corpus))
    for one in (corpus, again, corpus.take([2, 0])):
        for name in ("words", "offsets", "responses", "covariates", "n_unknown"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 0
        with pytest.raises(AttributeError, match="immutable"):
            one.words = None
    assert again.digest() == corpus.digest()
    corpus.counts().data[:] = 9
    assert (corpus.counts().toarray() == X).all()


def test_take():
    corpus = Corpus.from_counts(
        X, responses=["a", "b", "c"], ids=["x", "y", "z"], covariates=[[1.0], [2.0], [3.0]]
    )
    part = corpus.take([2, 1])
    assert (part.counts().toarray() == X[[2, 1]]).all()
    assert part.ids == ("z", "y") and part.responses.tolist() == ["c", "b"]
    assert part.covariates.tolist() == [[3.0], [2.0]]
    assert part.vocabulary == corpus.vocabulary
    assert corpus.take(np.array([False, True, False])).n_tokens == 0
    assert corpus.take([2, 1, 0]).take([2, 1, 0]).digest() == corpus.digest()
    for rows, message in [
        ([3], "3 is outside"),
        ([-1], "-1 is outside"),
        ([0, 0], "twice"),
        ([], "no documents"),
    ]:
        with pytest.raises(InputError, match=message):
            corpus.take(rows)
    with pytest.raises(InputError, match="mask"):
        corpus.take([True])


def test_another_vocabulary_counts_what_it_does_not_have():
    corpus = Corpus.from_counts(X, vocabulary=["a", "b", "c"])
    other = corpus.with_vocabulary(["z", "c", "a"])
    assert other.counts().toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 3, 1]]
    assert other.n_unknown.tolist() == [2, 0, 0]
    none = other.with_vocabulary(["z"])
    assert none.n_unknown.tolist() == [3, 0, 4] and none.n_tokens == 0
    assert none.take([2]).n_unknown.tolist() == [4]
    assert corpus.n_unknown.tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="twice"):
        corpus.with_vocabulary(["a", "a"])


def test_digest_tells_content_apart():
    def digest(**options):
        return Corpus.from_counts(X, **options).digest()

    variants = [
        digest(),
        Corpus.from_counts(X.T).digest(),
        digest(vocabulary=["a", "b", "c"]),
        digest(vocabulary=["a", "bc", ""]),
        digest(ids=["a", "b", "c"]),
        digest(covariates=[[1.0], [2.0], [3.0]]),
        digest(responses=[1, 0, 1]),
        digest(responses=[True, False, True]),
        digest(responses=[1.0, 0.0, 1.0]),
        digest(responses=["1", "0", "1"]),
        digest(responses=["1", None, "1"]),
        digest(responses=[[1], [0], [1]]),
        digest(responses=[1, 0, 1], response_names=["y"]),
    ]
    assert len(set(variants)) == len(variants)
    assert digest(responses=np.array([1, 0, 1], dtype=np.int8)) == digest(responses=[1, 0, 1])


def test_digest_is_the_same_in_another_process():
    code = (
        "from plugsamp.corpus import Corpus;"
        "print(Corpus.from_counts([[0, 2], [1, 0]], responses=['a', None], vocabulary=['x', 'y']).digest())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert outputs == {
        Corpus.from_counts([[0, 2], [1, 0]], responses=["a", None], vocabulary=["x", "y"]).digest()
    }


def test_tokens_that_do_not_fit_are_refused_before_allocating(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    corpus = Corpus.from_counts(np.array([[2_000_000_000, 2_000_000_000], [5, 0]]))
    assert corpus.n_tokens == 4_000_000_005
    assert corpus.offsets.tolist() == [0, 4_000_000_000, 4_000_000_005]
    with pytest.raises(InputError, match=r"need 48000000060 bytes of memory .*, 1000000000 are free"):
        _ = corpus.words


def test_available_memory_is_known_here():
    free = memory.available_bytes()
    assert free is None or 0 <= free < 2**60


@pytest.mark.parametrize(
    ("words", "offsets", "message"),
    [
        ([0, 5], [0, 2], "word 5 of token 1 in document 0 is not below 2"),
        ([0, -1], [0, 1, 2], "word -1 of token 1 in document 1"),
        ([0, 1], [0, 1], "indptr ends at 1, there are 2"),
        ([0.5], [0, 1], "integers"),
        ([], [], "indptr must be|indptr has"),
    ],
)
def test_bad_tokens_are_refused(words, offsets, message):
    with pytest.raises(InputError, match=message):
        Corpus(words, offsets, n_words=2)
