"""The report of every kind of run: there is a page, it says what it must, and nothing in it runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import plugsamp as ps
from plugsamp import report
from plugsamp.cli import main
from plugsamp.posterior import names
from plugsamp.report import texts

from .pages import HOSTILE, data_of, documents, fit, read


def many(i, c):
    return f"kind {(3 * i + c) % 90:02d}"


RUNS = {
    "classes": ({}, [], ["Confusion matrix", "Why were they predicted so?", "Classes"]),
    "no responses": ({}, ["loss=none"], ["without responses", "perplexity"]),
    "two classes": ({"labels": ("food", "space")}, ["loss=logistic"],
                    ["Probabilities and intervals are those of a likelihood"]),
    "probit": ({}, ["loss=probit", "weights=horseshoe"], ["Probabilities of this run are approximate"]),
    "multinomial": ({}, ["loss=multinomial"],
                    ["Probabilities and intervals are those of a likelihood", "Why were they predicted so?"]),
    "one topic": ({}, ["n_topics=1"], ["Confusion matrix"]),
    "many topics": ({"n": 6}, ["n_topics=400", "sweeps=4"],
                    ["All weights, sorted"]),
    "90 classes": ({"n": 60, "label": many, "split": False}, ["corpus.test_size=0.5", "sweeps=6"],
                   ["29 most frequent of 90 classes", "12 of 90 outputs are shown"]),
    "several labels": ({"labels": ("food", "space"), "label": lambda i, c: None,
                        "tags": lambda i, c: ["odd"] * (i % 2) + ["space"] * c}, ["corpus.labels=tags"],
                       ["Labels", "Precision"]),
    "numbers": ({"y": lambda i, c: 3.0 * c + i % 2}, ["loss=gaussian"],
                ["Predicted against observed", "90 % predictive intervals"]),
    "numbers, estimated": ({"y": lambda i, c: 3.0 * c + i % 2},
                           ["loss=gaussian", "supervised=two_step", "second_step.regression=ridge"],
                           ["The weights are an estimate", "their intervals are empty"]),
    "covariates": ({}, ["covariates.numeric=[size]", "covariates.categorical=[place]"],
                   ["Covariates", "place=p1", "intercept"]),
    "words as covariates": ({}, ["covariates.words=tfidf"], ["word:soup"]),
    "one against the rest": ({}, ["multiclass=ovr", "loss=logistic"],
                             ["3 separate models (ovr)", "food"]),
    "one against one": ({}, ["multiclass=ovo"], ["3 separate models (ovo)", "food | music"]),
    "two steps": ({}, ["supervised=two_step"], ["Confusion matrix"]),
    "no test documents": ({"split": False}, [], ["No documents were kept out", "(training)"]),
    "empty documents": ({"empty": True}, [], ["Confusion matrix"]),
    "missing labels": ({"label": lambda i, c: None if i % 5 == 2 else "ab"[c % 2]},
                       ["corpus.missing_labels=true"], ["not known and left out"]),
    "no model kept": ({}, ["save_model=false"], ["Confusion matrix"]),
    "one sweep": ({}, ["sweeps=1", "thin=1"], ["or more are needed"]),
    "composed": ({}, ["kernel=composed", "learn_alpha.method=slice"],
                 ["share accepted", "sum of α"]),
}  # fmt: skip


#: Runs that the default suite has pages of; the others are slow together.
QUICK = ("classes", "no responses", "several labels", "numbers", "one against the rest", "no model kept")


@pytest.mark.parametrize(
    "kind", [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in RUNS]
)
def test_every_run_has_a_sensible_page(at, kind, capsys):
    written, options, wanted = RUNS[kind]
    documents("d.jsonl", **written)
    assert fit(*options) == 0, capsys.readouterr().err
    page = at / "run" / "report.html"
    found = read(page)
    text = " ".join(" ".join(found.text).split())
    for phrase in wanted:
        assert phrase in text
    assert "What is approximate" in text and "plugsamp fit" in text
    explained = data_of(page)["documents"]
    if kind == "empty documents":
        assert [row[4] for row in explained["full"]].count(0) == 1  # tokens that the model knows
    if kind.startswith("one against"):  # a table of the model of each of the two classes, or of their pair
        assert {len(row[7]) for row in explained["full"]} == {2 if kind.endswith("rest") else 1}
    if kind not in ("classes", "numbers"):
        return
    # The command makes the same page again of the folder and the corpus.
    before = page.read_text()
    assert main(["report", "run=run"]) == 0
    assert page.read_text() == before


def test_nothing_of_the_corpus_is_markup(at, capsys):
    documents(
        "d.jsonl", labels=(HOSTILE, "b\x00\u202ec"), word=HOSTILE, place=lambda i, c: HOSTILE + str(i % 2)
    )
    assert fit("covariates.categorical=[place]") == 0, capsys.readouterr().err
    keys = {f"{k}": HOSTILE for k in range(3)}
    (at / "run" / "topic_names.json").write_text(json.dumps({"names": keys}))
    assert main(["report", "run=run", "out=again.html"]) == 0
    for page in (at / "run" / "report.html", at / "again.html"):
        found = read(page)  # two scripts, no image, no handler
        text = "".join(found.text)
        assert HOSTILE in text and "\x00" not in text and "\u202e" not in text
        assert "b\\x00" in text
    data = re.search(r'id="data">(.*?)</script>', (at / "again.html").read_text())[1]
    assert "<" not in data and json.loads(data)["names"]["0"] == texts.shown(HOSTILE, names.LONGEST)


def test_a_run_without_its_corpus_keeps_what_it_has(at, capsys):
    documents("d.jsonl")
    assert fit() == 0
    (at / "d.jsonl").rename(at / "moved.jsonl")
    assert main(["report", "run=run", "out=less.html"]) == 0
    assert "its documents are left out" in capsys.readouterr().err
    text = "".join(read(at / "less.html").text)
    assert "Confusion matrix" in text and "documents were not at hand" in " ".join(text.split())
    assert main(["report", "run=run", "documents=[food-2]"]) == 2
    assert "corpus=FORMAT" in capsys.readouterr().err
    for out, says in (
        ("less.html", "less.html: the file is there already"),
        ("none/x", "none: there is no such"),
    ):
        assert main(["report", "run=run", f"out={out}"]) == 2
        assert says in capsys.readouterr().err
    assert main(["report", "run=run", "out=less.html", "overwrite=true"]) == 0
    assert main(["report", "run=run", "out=run/report.html"]) == 0  # its own
    options = ["corpus=jsonl", "corpus.path=moved.jsonl", "corpus.min_df=1"]
    assert main(["report", "run=run", *options, "documents=[food-2,space-0]"]) == 0
    text = "".join(read(at / "run" / "report.html").text)
    assert "food-2" in text and "space-0 (training)" in text
    assert "(new)" not in text
    new = [o.replace("moved.jsonl", "new.jsonl") for o in options]
    (at / "new.jsonl").write_text('{"id": "n1", "text": "bread soup butter"}\n')
    assert main(["report", "run=run", *new, "documents=[n1]", "out=why.html"]) == 0
    page = (at / "why.html").read_text()
    assert [row[0] for row in data_of(at / "why.html")["documents"]["full"]] == ["n1 (new)"]
    assert "not those that the run was fitted to" in page
    assert main(["report", "run=run", *options, "documents=[nobody]"]) == 2
    assert "no document 'nobody'" in capsys.readouterr().err


def test_the_text_of_documents_is_read_again(at):
    text = {
        "text": lambda i, c: f"An ORBIT, {HOSTILE} {'soup' if c else 'moon'} no. {i}",
        "tokens": lambda i, c: None,
    }
    documents("d.jsonl", **text)
    rows = [json.loads(line) for line in Path("d.jsonl").read_text().splitlines()]
    with open("d.jsonl", "w") as out:
        out.writelines(json.dumps({k: v for k, v in row.items() if k != "tokens"}) + "\n" for row in rows)
    assert fit() == 0
    before = (at / "run" / "report.html").read_text()
    read(at / "run" / "report.html")
    explained = data_of(at / "run" / "report.html")["documents"]["full"]
    written = ["".join(text for text, *_ in row[-1]) for row in explained]
    assert all(f"An ORBIT, {HOSTILE}" in text for text in written)
    assert main(["report", "run=run"]) == 0
    assert (at / "run" / "report.html").read_text() == before
    ps.load("run", corpus=True).report("again.html")
    assert data_of(at / "again.html")["documents"]["full"] == explained


def test_texts_that_cannot_be_read_again_are_left_out(at, caplog):
    import os
    import threading

    from plugsamp.readers.jsonl import JsonLines
    from plugsamp.readers.texts import texts_of

    (at / "d.jsonl").write_text('{"id": "a", "text": "bread soup", "label": "x"}\n')
    assert texts_of(JsonLines(path="d.jsonl"), ["a", "b"]) == {"a": "bread soup"}
    (at / "d.jsonl").write_text("[")
    assert texts_of(JsonLines(path="d.jsonl"), ["a"]) == {}
    assert texts_of(JsonLines(path="gone.jsonl"), ["a"]) == {}
    assert "d.jsonl" in caplog.text
    os.mkfifo(at / "pipe.jsonl")  # nobody writes into it
    asked = threading.Thread(target=texts_of, args=(JsonLines(path="pipe.jsonl"), ["a"]), daemon=True)
    asked.start()
    asked.join(20)
    assert not asked.is_alive()


def test_the_page_of_a_posterior_is_that_of_its_folder(at):
    """Loaded with its corpus, but for what the run folder says of itself."""
    documents("d.jsonl")
    assert fit("chains=2", "loss=logistic") == 0
    page = ps.load("run", corpus=True).report()
    assert page == ps.load("run", corpus=True).report()
    assert page._repr_html_().startswith("<iframe") and "<!DOCTYPE" not in page._repr_html_()
    written = (at / "run" / "report.html").read_text()
    for section in ("topics", "map", "classes", "chains"):
        found = [
            re.search(f'<section id="{section}".*?</section>', text, re.S)[0] for text in (page, written)
        ]
        assert found[0] == found[1], section


@pytest.mark.parametrize("name", ["folder-hinge", "folder-chains", "folder-covariates", "file-hinge.zip"])
def test_old_models_have_a_page(at, name):
    posterior = ps.load(Path(__file__).parent.parent / "golden" / name)
    posterior.report("page.html")
    text = "".join(read(at / "page.html").text)
    assert "Topics" in text and "documents were not at hand" in text


def test_mistakes_are_said(at, capsys):
    assert main(["report"]) == 2 and "run=... is needed" in capsys.readouterr().err
    assert main(["report", "run=none"]) == 2 and "there is no such folder" in capsys.readouterr().err
    (at / "empty").mkdir()
    assert main(["report", "run=empty"]) == 2 and "holds no finished run" in capsys.readouterr().err
    documents("d.jsonl")
    assert fit("report=false", "sweeps=2") == 0
    before = {p.name for p in (at / "run").iterdir()}
    assert "report.html" not in before
    assert report.write("run") == (at / "run" / "report.html").relative_to(at)
    assert {p.name for p in (at / "run").iterdir()} == {*before, "report.html"}  # written at once
    (at / "n.json").write_text('{"names": {"7": "x"}}')
    assert main(["report", "run=run", "names=n.json"]) == 2 and "no topic '7'" in capsys.readouterr().err
    (at / "run" / "metrics.json").write_text("[")
    assert main(["report", "run=run"]) == 2 and "no metrics.json" in capsys.readouterr().err
