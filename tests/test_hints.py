"""Hints on data that can be read and are hardly what was meant."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import plugsamp as ps
from plugsamp import readers
from plugsamp.cli import main
from plugsamp.errors import InputError, InputWarning

X = np.array([[1, 2, 0], [0, 1, 3]])


def test_rows_and_columns_exchanged(tmp_path):
    with pytest.raises(
        InputError, match="3 responses for 2 documents, and 3 words: are rows and columns exchanged"
    ):
        ps.Corpus.from_counts(X, responses=["a", "b", "c"])
    with pytest.raises(InputError, match=r"there are 4 responses for 2 documents$"):
        ps.Corpus.from_counts(X, responses=["a", "b", "c", "d"])
    assert ps.Corpus.from_counts(X.T, responses=["a", "b", "c"]).n_documents == 3
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 1\n2 3 4\n")
    (tmp_path / "labels.txt").write_text("a\nb\nc\n")
    with pytest.raises(InputError, match="the matrix has 3 columns, so it looks transposed: "):
        readers.MatrixMarket(path=str(tmp_path / "x.mtx"), labels_path=str(tmp_path / "labels.txt")).read()


def test_more_topics_than_tokens():
    corpus = ps.Corpus.from_counts(X)
    with pytest.warns(InputWarning, match="there are 8 topics for 7 tokens, so that most have no word"):
        ps.fit(corpus, ps.Model(8, loss="none"), sweeps=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ps.fit(corpus, ps.Model(7, loss="none"), sweeps=1)


def test_weights_for_counts(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.25 2:1\n")
    with pytest.raises(
        InputError, match=r"line 1, column 3: 0\.25 is not a whole count; weights such as tf-idf"
    ):
        readers.SvmLight(path=str(tmp_path / "a.svm")).read()
    with pytest.raises(
        InputError, match=r"0\.25 at row 0, column 1 is not a whole count; .* tf-idf are none"
    ):
        ps.Corpus.from_counts([[1, 0.25]])


def test_tables_that_excel_opens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [
        "text,label",
        *(f"{text},{label}" for text, label in [("rocket moon", "Köln"), ("bread soup", "Bonn")] * 3),
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows), encoding="utf-8")
    corpus = ["corpus=csv", "corpus.path=a.csv"]
    assert main(["fit", *corpus, "n_topics=2", "sweeps=2", "report=false", "hydra.run.dir=run"]) == 0
    for out, bom in (("plain.csv", "false"), ("excel.csv", "true")):
        assert main(["predict", "model=run", *corpus, f"out={out}", f"bom={bom}"]) == 0
        assert main(["evaluate", "model=run", *corpus, f"out={out[:5]}.json", f"bom={bom}"]) == 0
    mark = b"\xef\xbb\xbf"
    for plain, excel in (("plain.csv", "excel.csv"), ("plain.scores.csv", "excel.scores.csv")):
        assert (tmp_path / excel).read_bytes() == mark + (tmp_path / plain).read_bytes()
    assert (
        readers.Table(path="excel.csv", text="id", id=None, min_df=1, pattern="blanks")
        .read()
        .train.n_documents
        == 6
    )
    capsys.readouterr()
    assert main(["predict", "model=run", *corpus, "out=-", "bom=true"]) == 0
    assert capsys.readouterr().out.startswith("\ufeffid,")


def test_real_responses_in_units_that_the_priors_are_not_meant_for():
    counts = np.eye(12, dtype=int) + 1
    years = ps.Corpus.from_counts(counts, np.arange(2000.0, 2012.0))
    with pytest.warns(InputWarning, match=r"mean 2006 .* standardise=True\) brings them there"):
        ps.Model(2, loss="gaussian").coding(years)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ps.Model(2, loss="gaussian", standardise=True).coding(years)
        ps.Model(2, loss="gaussian").coding(ps.Corpus.from_counts(counts, np.arange(12.0)))
