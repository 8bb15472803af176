"""`reference=`: NPMI on the documents of another file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import plugsamp as ps
from plugsamp.cli import main
from plugsamp.posterior.quality import npmi


@pytest.fixture
def documents(at, words):
    rng = np.random.default_rng(0)
    for name, size in (("train", 20), ("other", 31)):
        rows = [
            {"text": " ".join(rng.choice([*words[label], *words["food"][:3]], 12)), "label": label}
            for label in list(words) * size
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("other.txt").write_text("\n".join(row["text"] for row in rows))
    return at


def found(folder: str) -> list[float]:
    with open(Path(folder) / "topics.csv", newline="") as file:
        return [float(row["npmi"]) for row in csv.DictReader(file)]


def test_npmi_is_counted_on_the_reference(documents, fast, capsys):
    run = ["fit", *fast, "corpus.path=train.jsonl", "report=false"]
    for chains in (1, 2):
        more = [f"chains={chains}", f"hydra.run.dir=run{chains}", "reference=other.jsonl"]
        assert main([*run, *more]) == 0, capsys.readouterr().err
        model = ps.load_model(f"run{chains}/model")
        other, _ = ps.readers.JsonLines(path="other.jsonl", min_df=1, stop_words="none").read(
            model.vocabulary
        )
        members = getattr(model, "members", [model])
        expected = np.concatenate([npmi(member.phi, other.counts()) for member in members])
        np.testing.assert_allclose(found(f"run{chains}"), expected)
        metrics = json.loads(Path(f"run{chains}/metrics.json").read_text())
        assert metrics["topic_quality"]["npmi"] == pytest.approx(expected.mean())
    assert main([*run, "hydra.run.dir=own"]) == 0
    assert not np.allclose(found("own"), found("run1"))


def test_of_documents_without_a_file_the_reference_has_a_document_a_line(documents):
    from plugsamp.commands.reference import read_reference

    reader = ps.readers.Docstrings(stop_words="none")
    vocabulary = ("bread", "moon", "orbit")
    lines = read_reference(reader, "other.txt", vocabulary)
    labelled = ps.readers.JsonLines(path="x", stop_words="none", label="kind")
    table = read_reference(labelled, "other.jsonl", vocabulary)
    np.testing.assert_array_equal(lines.counts().toarray(), table.counts().toarray())
    assert table.responses is None


@pytest.mark.parametrize(
    "reference, message",
    [
        ("none.jsonl", "there is no such file; reference="),
        ("strange.jsonl", "no document of reference= has a word"),
    ],
)
def test_references_that_cannot_be_used(documents, fast, reference, message, capsys):
    Path("strange.jsonl").write_text('{"text": "quite other words"}\n')
    assert main(["fit", *fast, "corpus.path=train.jsonl", f"reference={reference}"]) == 2
    assert message in capsys.readouterr().err
