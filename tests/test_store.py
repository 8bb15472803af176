"""Stores: what was written is there again, and its tokens stay in the file."""

from __future__ import annotations

import copy
import os
import pickle
import tracemalloc
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import plugsamp as ps
from plugsamp import bags
from plugsamp.errors import InputError
from plugsamp.files.storage import StorageError
from plugsamp.readers.base import Wanted
from plugsamp.readers.store import Store
from plugsamp.store import open_store, write_store
from plugsamp.system.arena import file_of

N = 40


def corpus(seed=0, **more):
    counts = np.random.default_rng(seed).poisson(0.6, (N, 23))
    counts[[0, 7, 8, N - 1]] = 0  # empty documents, at both ends too
    more = {"responses": ["a", "b"] * (N // 2)} | more
    return ps.Corpus.from_counts(counts, vocabulary=[f"ü{i}\n" for i in range(23)], **more)


@pytest.fixture(params=[1 << 22, 50])
def piece(request, monkeypatch):
    """Tokens in one piece, and in many."""
    monkeypatch.setattr(bags, "PIECE", request.param)


COLUMNS = {
    "labels": {},
    "nothing": {"responses": None},
    "ids": {"ids": [f"document {i}, ☃" for i in range(N)]},
    "missing": {"responses": [None, "a", "b", "c"] * (N // 4)},
    "of several types": {"responses": [1, "1", True, None] * (N // 4)},
    "numbers that are missing": {"responses": np.where(np.arange(N) % 7, np.arange(N) / 7, np.nan)},
    "days": {"responses": [date(2020, 1, 1 + i % 5) for i in range(N)]},
    "two outputs": {"responses": np.arange(2.0 * N).reshape(N, 2), "response_names": ["x", "y"]},
    "two labels": {"responses": np.array([["a", None], ["b", "c"]] * (N // 2), dtype=object)},
    "covariates": {"covariates": np.arange(3.0 * N).reshape(N, 3), "covariate_names": ["p", "q", "r"]},
    "sparse covariates": {"covariates": sp.random_array((N, 9), density=0.2, rng=0)},
    "weights and fields": {
        "weights": np.arange(N) / 3,
        "fields": {
            "year": np.arange(1.0 * N),
            "f/1": ["x", None, 2, 2.5, True, ["a", "b"], [], "2"] * (N // 8),
        },
    },
}


@pytest.mark.parametrize("columns", COLUMNS)
def test_what_was_written_is_there_again(columns, piece, tmp_path):
    given = corpus(**COLUMNS[columns])
    found = open_store(write_store(tmp_path / "store", given))
    assert found.digest() == given.digest()
    assert found.ids == given.ids and found.fields.keys() == given.fields.keys()
    np.testing.assert_array_equal(found.words, given.words)
    np.testing.assert_array_equal(found.offsets, given.offsets)
    assert (found.counts() != given.counts()).nnz == 0
    assert os.listdir(tmp_path) == ["store"]


def test_the_tokens_stay_in_the_file(piece, tmp_path):
    found = open_store(write_store(tmp_path / "store", corpus()))
    for there in (found, copy.copy(found), pickle.loads(pickle.dumps(found)), found.with_responses(None)):
        assert os.path.samefile(file_of(there.words).filename, tmp_path / "store" / "words.npy")
        assert not there.words.flags.writeable and not there.offsets.flags.writeable
        np.testing.assert_array_equal(there.words, corpus().words)
    large = ps.Corpus(np.zeros(100_000, int), [0, 100_000])
    write_store(tmp_path / "large", large)
    assert len(pickle.dumps(open_store(tmp_path / "large"))) < 5_000


@pytest.mark.parametrize(
    "rows", [slice(0, N), slice(3, 20), slice(7, 9), slice(0, 1), [5, 2, 30], [], np.arange(N) % 3 == 0]
)
def test_taking_documents(rows, piece, tmp_path):
    given = corpus(fields={"year": np.arange(1.0 * N)})
    found = open_store(write_store(tmp_path / "store", given))
    rows = np.arange(N)[rows] if isinstance(rows, slice) else np.array(rows, bool if len(rows) == N else int)
    if len(rows) == 0:
        with pytest.raises(InputError, match="no documents"):
            found.take(rows)
        return
    assert found.take(rows).digest() == given.take(rows).digest()
    np.testing.assert_array_equal(found.take(rows).words, given.take(rows).words)


def test_neighbours_stay_in_the_file(tmp_path):
    found = open_store(write_store(tmp_path / "store", corpus())).take(np.arange(4, 30))
    assert file_of(found.words) is not None
    again = pickle.loads(pickle.dumps(found))
    assert again.digest() == corpus().take(np.arange(4, 30)).digest()
    assert file_of(again.words) is not None


def test_a_store_in_the_place_of_another_is_not_taken_for_it(tmp_path):
    """By a worker that starts later, or whoever else is sent the corpus."""
    found = open_store(write_store(tmp_path / "store", corpus()))
    sent = pickle.dumps(found)
    write_store(tmp_path / "store", corpus(1), overwrite=True)
    np.testing.assert_array_equal(found.words, corpus().words)
    with pytest.raises(OSError, match=r"words.npy is not the file any more .* replaced"):
        pickle.loads(sent)


def test_another_vocabulary(piece, tmp_path):
    words = [f"ü{i}\n" for i in (3, 50, 1)]
    found = open_store(write_store(tmp_path / "store", corpus())).with_vocabulary(words)
    assert found.digest() == corpus().with_vocabulary(words).digest()
    again = open_store(write_store(tmp_path / "other", found))
    np.testing.assert_array_equal(again.n_unknown, corpus().with_vocabulary(words).n_unknown)


def test_parts_are_one_corpus(piece, tmp_path):
    more = {
        "covariates": np.arange(2.0 * N).reshape(N, 2), "covariate_names": ["p", "q"],
        "weights": np.arange(N) / 3, "fields": {"maker": ["x", None] * (N // 2)},
    }  # fmt: skip
    whole = corpus(**more)
    cuts = [0, 1, 13, 30, N]
    parts = (whole.take(np.arange(a, b)) for a, b in pairwise(cuts))
    assert open_store(write_store(tmp_path / "store", parts)).digest() == whole.digest()
    numbered = open_store(write_store(tmp_path / "two", iter([corpus(1), corpus(2)])))
    assert numbered.ids == tuple(map(str, range(2 * N)))


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (lambda: [], "without any part"),
        (lambda: [corpus(), corpus(responses=None)], "differ in their columns"),
        (lambda: [corpus(), ps.Corpus.from_counts(np.ones((2, 2), int))], "differ in their vocabulary"),
    ],
)
def test_parts_that_do_not_fit_leave_nothing(parts, why, tmp_path):
    with pytest.raises(InputError, match=why):
        write_store(tmp_path / "store", iter(parts()))
    assert not os.listdir(tmp_path)


def test_a_part_that_cannot_be_made_leaves_nothing(tmp_path):
    def parts():
        yield corpus()
        raise KeyError("gone")

    with pytest.raises(KeyError):
        write_store(tmp_path / "store", parts())
    assert not os.listdir(tmp_path)


def test_nothing_is_written_over_unasked(tmp_path):
    write_store(tmp_path / "store", corpus(0))
    with pytest.raises(InputError, match="there already"):
        write_store(tmp_path / "store", corpus(1))
    mapped = open_store(tmp_path / "store")
    write_store(tmp_path / "store", corpus(1), overwrite=True)
    assert open_store(tmp_path / "store").digest() == corpus(1).digest()
    assert mapped.digest() == corpus(0).digest()  # who has it mapped keeps it
    (tmp_path / "mine").mkdir()
    with pytest.raises(StorageError, match="not a plugsamp folder"):
        write_store(tmp_path / "mine", corpus(1), overwrite=True)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        open_store(tmp_path / "store")
    store = write_store(tmp_path / "store", corpus())
    with open(store / "words.npy", "r+b") as file:
        file.seek(-3, os.SEEK_END)
        file.write(b"\1")
    with pytest.raises(InputError, match=r"words\.npy is damaged"):
        open_store(store)


@pytest.mark.parametrize(
    ("words", "offsets", "why"),
    [
        ([1, 0, 1], [0, 2, 3], "document 0 are not sorted"),
        ([0, 1, 1, 1, 0], [0, 0, 2, 2, 5], "document 3 are not sorted"),
        ([0, 1, 2], [0, 2, 3], "word 2 is not below 2"),
        ([-1, 1, 1], [0, 2, 3], "word -1 is not below 2"),
    ],
)
def test_tokens_that_break_the_rules_are_refused(words, offsets, why):
    with pytest.raises(InputError, match=why):
        bags.Mapped(np.array(words, np.int32), np.array(offsets), 2)


def test_sampling_from_a_file_is_sampling_from_memory(tmp_path):
    store = open_store(write_store(tmp_path / "store", corpus()))
    for kernel in ("sparse_pc", "sparse"):
        found = [
            ps.Chain(c, ps.Model(4, loss="hinge" if kernel == "sparse_pc" else "none"), kernel)
            for c in (store, corpus())
        ]
        one, two = (chain.run(3) for chain in found)
        np.testing.assert_array_equal(one.z, two.z)
        np.testing.assert_array_equal(one.eta, two.eta)
        assert file_of(one.state.words) is not None


def test_workers_map_the_file_themselves(tmp_path):
    store = open_store(write_store(tmp_path / "store", corpus()))
    backend = ps.backends.Processes(workers=2, folder=str(tmp_path))
    with ps.Chain(store, ps.Model(4, loss="hinge"), "sparse_pc", backend=backend) as chain:
        assert not {"words", "offsets"} & set(chain.state.arena.places)
        z = chain.run(3).z
    expected = ps.Chain(corpus(), ps.Model(4, loss="hinge"), "sparse_pc").run(3).z
    np.testing.assert_array_equal(z, expected)
    assert os.listdir(tmp_path) == ["store"]


def test_the_reader(tmp_path):
    given = corpus(fields={"year": np.arange(1.0 * N)})
    write_store(tmp_path / "train", given.take(np.arange(30)))
    write_store(tmp_path / "test", given.take(np.arange(30, N)))
    options = {"path": str(tmp_path / "train"), "test_path": str(tmp_path / "test")}
    train, test = Store(**options).read()
    assert train.digest() == given.take(np.arange(30)).digest()
    assert test.digest() == given.take(np.arange(30, N)).digest()
    assert file_of(train.words) is not None and file_of(test.words) is not None
    assert Store(**options, response="none").read().train.responses is None
    words = given.vocabulary[:5]
    assert Store(path=options["path"]).read(words).train.vocabulary == words
    split = Store(path=options["path"], only=["a"], test_size=0.5).read()
    assert split.train.n_documents + split.test.n_documents == 15
    Store(**options).for_model(Wanted(numeric=("year",))).read()
    with pytest.raises(InputError, match="no column 'land'"):
        Store(**options).for_model(Wanted(categorical=("land",))).read()
    with pytest.raises(InputError, match="response must be none"):
        Store(**options, response="label").read()


@pytest.mark.parametrize(("kernel", "by_token"), [("sparse", 8), ("sparse_pc", 12)])
def test_memory_is_what_the_arrays_need(kernel, by_token, tmp_path, monkeypatch):
    """z 2 bytes, counts by document 6, and tokens by word 4; nothing for the words, and no large copies."""
    monkeypatch.setattr(bags, "PIECE", 2_000)
    monkeypatch.setattr("plugsamp.system.tally.PIECE", 2_000)
    monkeypatch.setattr("plugsamp.files.storage.CHUNK", 10_000)
    n = 400_000
    words = np.sort(np.random.default_rng(0).integers(0, 50, n).reshape(-1, 200), axis=1).reshape(-1)
    store = write_store(tmp_path / "store", ps.Corpus(words, np.arange(0, n + 1, 200)))
    ps.Chain(corpus(responses=None), ps.Model(2), kernel).run(1)  # imports are no part of it
    tracemalloc.start()
    try:
        found = open_store(store)
        opened = tracemalloc.get_traced_memory()[1]
        ps.Chain(found, ps.Model(4), kernel).run(2)
        sampled = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert opened < 2 * n
    assert by_token * n < sampled < (by_token + 3) * n
