"""`plugsamp convert`: what it writes is read as it says."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from plugsamp import writers
from plugsamp.cli import main
from plugsamp.hydra_source import compose, object_of


@pytest.mark.parametrize("to", writers.FORMATS)
def test_every_format_is_read_as_it_is_said(to, at, write_documents, capsys):
    write_documents(at / "docs.jsonl", labels=("space", "food"))
    out = "my docs=1.npz" if to == "npz" else "my docs=1.txt"
    source = ["corpus=jsonl", "corpus.path=docs.jsonl", "corpus.min_df=1"]
    assert main(["convert", *source, f"to={to}", f"'out=\"{out}\"'".strip("'")]) == 0
    given = object_of("corpus", compose(source).corpus).read()
    said = re.findall(r"^read it with: (.*)$", capsys.readouterr().out, re.M)
    for part, line in zip(given, said, strict=True):
        found = object_of("corpus", compose(shlex.split(line)).corpus).read().train
        assert found.n_tokens == part.n_tokens and found.n_documents == part.n_documents
        assert found.responses.tolist() == part.responses.tolist()


def test_labels_may_be_absent(at, capsys):
    (at / "a.txt").write_text("orbit moon\nsoup soup\n")
    assert (
        main(["convert", "corpus=lines", "corpus.path=a.txt", "corpus.min_df=1", "to=jsonl", "out=b.jsonl"])
        == 0
    )
    rows = [json.loads(line) for line in (at / "b.jsonl").read_text().splitlines()]
    assert rows == [{"id": "1", "counts": {"moon": 1, "orbit": 1}}, {"id": "2", "counts": {"soup": 2}}]
    assert sorted(p.name for p in at.iterdir()) == ["a.txt", "b.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "to=... is needed; out=... is needed"),
        (["corpus=lines", "corpus.path=a.txt", "to=svmlit", "out=b"], "no format 'svmlit'"),
        (["corpus=lines", "corpus.path=a.txt", "to=svmlight", "out=a.txt"], "there already"),
        (["corpus=lines", "corpus.path=none.txt", "to=svmlight", "out=b"], "there is no such file"),
        (["corpus=lines", "corpus.path=a.txt", "to=uci", "out=no/b"], "there is no such folder"),
    ],
)
def test_mistakes(arguments, says, at, said):
    (at / "a.txt").write_text("orbit moon\norbit\n")
    assert main(["convert", *arguments]) == 2
    assert says in said()
    assert [p.name for p in at.iterdir()] == ["a.txt"]
