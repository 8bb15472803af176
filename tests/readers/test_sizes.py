"""Sizes that a file claims are compared with what it holds, before anything is allocated for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from plugsamp import sizes
from plugsamp.corpus import Corpus
from plugsamp.errors import InputError
from plugsamp.readers.csv import Table
from plugsamp.readers.jsonl import JsonLines
from plugsamp.readers.ldac import LdaC
from plugsamp.readers.lines import Lines
from plugsamp.readers.mallet_state import MalletState
from plugsamp.readers.matrix_market import MatrixMarket
from plugsamp.readers.npz import Matrix
from plugsamp.readers.svmlight import SvmLight
from plugsamp.readers.uci import BagOfWords
from plugsamp.sizes import share_of
from plugsamp.system import memory

pytestmark = pytest.mark.usefixtures("little")
MANY = 2147483647
HEAD = "%%MatrixMarket matrix coordinate integer general\n"
STATE = "#doc source pos typeindex type topic\n#alpha : 0.1 0.1\n#beta : 0.01\n"


@pytest.mark.parametrize(
    ("reader", "text", "says"),
    [
        (
            SvmLight,
            f"1 1:1\n0 3:1  {MANY}:1\n",
            f"line 2, column 8: feature id {MANY} makes 2,147,483,647 words",
        ),
        (LdaC, f"1 {MANY - 1}:2\n", f"line 1, column 3: feature id {MANY - 1} makes 2,147,483,647 words"),
        (BagOfWords, f"{MANY}\n5\n1\n1 1 1\n", "line 1, column 1: the header D=2147483647 makes"),
        (BagOfWords, f"2\n{MANY}\n1\n1 1 1\n", "line 2, column 1: the header W=2147483647 makes"),
        (
            MatrixMarket,
            f"{HEAD}% made\n3 {MANY} 1\n1 1 1\n",
            "line 3, column 3: the header's 2147483647 columns",
        ),
        (MatrixMarket, f"{HEAD}{MANY} 3 1\n1 1 1\n", "line 2, column 1: the header's 2147483647 rows"),
        (
            MalletState,
            f"{STATE}0 a 0 0 moon 1\n{MANY - 1} b 0 0 moon 0\n",
            "line 5, column 1: doc 2147483646",
        ),
    ],
)
def test_a_number_is_refused_where_it_stands(reader, text, says, tmp_path):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        reader(path=str(path)).read()
    assert f"{path}, {says}" in str(refused.value)
    assert "which need 400.0 GB of memory" in str(refused.value)


@pytest.mark.parametrize("shape", [(MANY, 3), (2, MANY)])
def test_shapes_of_matrices(shape, tmp_path):
    X = sp.coo_array((np.array([1]), (np.array([1]), np.array([2]))), shape=shape)
    sp.save_npz(tmp_path / "x.npz", X)
    says = r"makes 2,147,483,647 (words|documents), which need 400\.0 GB of memory, and there are 1 entries"
    with pytest.raises(InputError, match=rf"x\.npz: the shape's {MANY} .*{says}"):
        Matrix(path=str(tmp_path / "x.npz")).read()
    with pytest.raises(InputError, match=f"the matrix's {MANY} .*{says}"):
        Corpus.from_counts(X)


def test_tokens_of_python():
    with pytest.raises(InputError, match="n_words=2147483647 makes"):
        Corpus(np.array([MANY - 1]), np.array([0, 1]))


def test_what_is_free_counts_too(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    sizes.check_claim("n", 5_000_000, "words", 10)
    with pytest.raises(InputError, match=r"need 1\.9 GB of memory, and 1\.0 GB are free; fewer$"):
        sizes.check_claim("n", 10_000_000, "words", 10, advice="; fewer")
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    sizes.check_claim("n", 10_000_000, "words", 10)


def test_ids_with_gaps_are_read(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n0 20000:1\n")
    assert SvmLight(path=str(tmp_path / "a.svm")).read().train.n_words == 20_000


def test_shares_are_as_they_are_written():
    for number in range(1, 300):
        for hundredths in range(1, 100):
            exact, share = hundredths * number / 100, hundredths / 100
            assert share_of(share, number) == exact


def test_a_document_that_is_most_of_the_tokens_is_named(monkeypatch):
    corpus = Corpus.from_counts([[2_000_000_000, 0], [1, 1]], ids=["long", "short"])
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with pytest.raises(InputError, match=r"2000000002 tokens \(document 'long' alone has 2000000000\) need"):
        corpus.check_memory()


@pytest.mark.parametrize("reader", [SvmLight, LdaC, BagOfWords, MatrixMarket, Lines, JsonLines, Table])
@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="there is no /dev/zero")
def test_a_device_is_refused(reader):
    with pytest.raises(InputError, match="/dev/zero: this is a device"):
        reader(path="/dev/zero").read()
    if hasattr(reader, "batches"):
        with pytest.raises(InputError, match="/dev/zero: this is a device"):
            list(reader(path="/dev/zero").batches(("a",), 10))
