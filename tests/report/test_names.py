"""Names of topics: which files are refused, and where they are taken."""

from __future__ import annotations

import json
import re

import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.errors import InputError
from plugsamp.posterior import names
from plugsamp.posterior.parts import naming

from .pages import documents, fit


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", "no JSON"),
        ("a.json", '{"names": 3}', "names are written"),
        ("a.json", '{"names": {"0": 3}}', "must be text"),
        ("a.json", '{"names": {"0": "a", "0": "b"}}', "named twice"),
        ("a.json", '{"model": "other", "names": {"0": "a"}}', "another model"),
        ("a.json", json.dumps({"names": {"0": "x" * 81}}), "over the limit"),
        ("a.json", "[" * 100_000, "no"),
        ("a.csv", "number,name\n0,a\n", "columns topic and name"),
        ("a.csv", "topic,name\n0,a\n0,b\n", "named twice"),
        ("a.csv", "topic,name\n0\n", "line 2: 1 cells"),
        ("a.csv", "chain,topic,name\nchain 3,0,a\n", "line 2: the model has no chain 'chain 3'"),
        ("a.json", '{"names": {"0": "a\\u0000"}}', "no character to be written"),
        ("a.json", '{"names": {"0": "\\ud83d"}}', "no character to be written"),
        ("missing.json", None, "no such file"),
    ],
)
def test_files_of_names_that_are_refused(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        names.read(tmp_path / name, names.Naming("model", ("0", "1"), {"model": ""}))


def test_files_of_names_that_are_taken(tmp_path):
    for name, text in (
        ("a.json", '{"model": "m", "names": {"0": " the  first ", "1": ""}}'),
        ("a.csv", 'topic,name\n0,"the first"\n1,\n'),
    ):
        (tmp_path / name).write_text(text)
        assert names.read(tmp_path / name, names.Naming("m", ("0", "1"), {"m": ""})) == {"0": "the first"}


#: Files of names: as the page writes them, without a model, and as earlier versions or one chain wrote them.
KINDS = ("page", "plain", "no model", "earlier", "earlier page", "one chain")


@pytest.mark.parametrize("kinds", [KINDS[:1], pytest.param(KINDS[1:], marks=pytest.mark.slow)])
def test_names_are_taken_wherever_the_topics_are_the_same(at, capsys, kinds):
    documents("d.jsonl")
    assert fit("chains=2", "loss=logistic") == 0
    assert main(["export", "run=run", "to=model", "eta=mean", "out=mean.zip"]) == 0
    together, mean = ps.load_model("run/model"), ps.load_model("mean.zip")
    one = together.parts[0]
    assert together.digest != mean.digest and together.topics_digest == mean.topics_digest
    page = json.loads(re.search(r'id="data">(.*?)</script>', (at / "run" / "report.html").read_text())[1])
    assert page["topics"] == [f"{c}.{k}" for c in range(2) for k in range(3)]
    assert 'data-t="0.1"' in (at / "run" / "report.html").read_text()
    files = {
        "page": {"model": page["model"], "names": {"0.1": "salt", "1.2": "sea"}},
        "no model": {"names": {"0.1": "salt", "1.2": "sea"}},
        "earlier": {"model": together.digest, "names": {"0.1": "salt", "1.2": "sea"}},
        "earlier page": {"model": one.digest, "names": {"1": "salt"}},
        "one chain": {"model": one.topics_digest, "names": {"1": "salt"}},
        "plain": {"names": {"1": "salt"}},
    }
    assert sorted(files) == sorted(KINDS)
    for kind in kinds:
        written = files[kind]
        (at / "names.json").write_text(json.dumps(written))
        for model in ("run", *(["mean.zip"] if "earlier" not in kind else [])):
            options = ["corpus=jsonl", "corpus.path=d.jsonl", "proportions=true", "names=names.json", "out=-"]
            capsys.readouterr()
            assert main(["predict", f"model={model}", *options]) == 0, kind
            columns = capsys.readouterr().out.partition("\n")[0].split(",")
            second = "sea" if len(written["names"]) == 2 else "topic_5"
            assert columns[-8:-2] == ["topic_0", "salt", "topic_2", "topic_3", "topic_4", second], kind
        assert main(["report", "run=run", "names=names.json", "out=again.html", "overwrite=true"]) == 0
        text = (at / "again.html").read_text()
        found = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["names"]
        assert found == {"0.1": "salt", **({"1.2": "sea"} if second == "sea" else {})}, kind
        assert 'data-t="0.1" dir="auto">salt<' in text
    # Names for what the run was before are left out of the page of what it is now.
    (at / "run" / "topic_names.json").write_text(json.dumps({**files["page"], "model": "was"}))
    assert main(["resume", "run=run", "sweeps=24"]) == 0
    assert "topic_names.json: these names are for the topics of another model" in capsys.readouterr().err
    assert 'data-t="0.1" dir="auto"></span>' in (at / "run" / "report.html").read_text()
    # topics.csv with a column of names
    first, *rows = (at / "run" / "topics.csv").read_text().splitlines()
    table = [f"{first},name", *(f"{row},{'sea' if row.startswith('chain 2,1,') else ''}" for row in rows)]
    (at / "names.csv").write_text("\n".join(table))
    assert names.read(at / "names.csv", naming(together)) == {"1.1": "sea"}
