"""Columns, words and weights from the command line."""

from __future__ import annotations

import json

import pytest

import plugsamp as ps
from plugsamp.cli import main

KINDS = {"space": "star", "food": "plate", "music": "ear"}


@pytest.fixture
def documents(at, write_documents):
    """d.jsonl with columns, as the options of a fit."""

    def more(i, name):
        return {"year": 1990 + i, "kind": KINDS[name], "w": 1 + i % 2, "score": float(i)}

    write_documents(at / "d.jsonl", more=more)
    return ["corpus.path=d.jsonl"]


def test_covariates_from_columns_and_in_the_model(at, documents, run, read_csv):
    assert run(*documents, "covariates.numeric=year", "covariates.categorical=[kind]") == 0
    rows = read_csv(at / "run/predictions.csv")
    predictor = ps.load_model(at / "run/model")
    assert predictor.covariate_names == ("year", "kind=ear", "kind=plate", "kind=star")
    reader = ps.readers.JsonLines(path="d.jsonl", min_df=1, stop_words="none", fields=["year", "kind"])
    split = reader.read()
    assert predictor.predict(split.test).f[:, 0].tolist() == [float(r["score_food"]) for r in rows]
    model = ps.Model(3, loss="hinge", standardise=True)
    covariates = ps.Covariates(numeric="year", categorical="kind")
    same = ps.fit(split.train, model, sweeps=8, covariates=covariates)
    assert same.digest == predictor.digest


def test_a_table_with_columns(at, run):
    rows = [f"{'orbit moon' if i % 2 else 'bread salt'},{'ab'[i % 2]},{1900 + i}" for i in range(12)]
    (at / "d.csv").write_text("\n".join(["text,label,year", *rows]))
    fit = ["corpus=csv", "corpus.path=d.csv", "corpus.test_size=0.25", "covariates.numeric=[year]"]
    assert run(*fit) == 0
    assert ps.load_model(at / "run/model").covariate_names == ("year",)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["covariates.numeric=[yaer]"], ["no document has a field 'yaer'"]),
        (["covariates.numeric=[kind]"], ["line 1: kind must be a finite number, found 'star'"]),
        (["covariates.numeric=year", "covariates.categorical=year"], ["'year' is given twice"]),
        (["covariates.words=all"], ["words must be one of none, counts, tfidf"]),
        (["covariates.wrods=tfidf"], ["no option 'covariates.wrods'; did you mean 'covariates.words'"]),
        (["covariates.min_count=many"], ["covariates.min_count must be a whole number"]),
        (["corpus=lines", "covariates.numeric=year", "loss=hinge"], ["Lines reads no columns"]),
        (["class_weight={spcae:2}"], ["class_weight names 'spcae'", "space"]),
        (["class_weight=even"], ["class_weight must be a mapping"]),
        (["corpus.weight=v"], ["there is no field 'v'"]),
        (["loss.name=none"], ["another one is chosen by loss=none"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_mistakes(at, documents, said, fast, arguments, expected):
    if arguments[0] == "corpus=lines":
        fast = [a for a in fast if a != "corpus=jsonl"]
    assert main(["fit", arguments[0], *fast, *documents, *arguments[1:], "hydra.run.dir=run"]) == 2
    err = said()
    assert "Traceback" not in err
    for part in expected:
        assert part in err


def test_weights_of_classes_and_documents(at, documents, fast):
    def predictions(name, *arguments):
        assert main(["fit", *fast, *documents, *arguments, f"hydra.run.dir={name}"]) == 0
        return (at / name / "predictions.csv").read_bytes()

    plain = predictions("plain")
    assert predictions("again", "class_weight=null") == plain
    assert predictions("balanced", "class_weight=balanced") == plain  # the classes are of one size
    assert predictions("given", "class_weight={space:9}") != plain
    assert predictions("weighted", "corpus.weight=w") != plain


def test_a_real_response(at, documents, run, read_csv):
    options = ["loss=gaussian", "corpus.y=score", "covariates.numeric=year"]
    assert run(*documents, *options, "sweeps=40") == 0
    metrics = json.loads((at / "run/metrics.json").read_text())
    assert metrics["main_name"] == "test_r2"
    assert metrics["main"] > 0.5  # the score is the year, but for its units
    assert ps.load_model(at / "run/model").covariate_names == ("year",)


def test_a_number_as_a_text_option(at, documents, run, read_csv):
    assert run(*documents, "corpus.split=year", "corpus.test_value=1995") == 0
    assert {row["id"][-2:] for row in read_csv(at / "run/predictions.csv")} == {"-5"}


def test_what_is_said_without_test_documents(at, documents, run, said):
    assert run(*documents, "corpus.split=none") == 0
    assert "no test documents were kept out" in said() and not (at / "run/predictions.csv").exists()
    assert run(*documents, "overwrite=true") == 0
    assert "no test documents" not in said()


def test_no_labels_are_needed_where_none_are_used(at, run, said, documents, read_csv):
    lines = (at / "d.jsonl").read_text().splitlines()
    plain = [{k: v for k, v in json.loads(line).items() if k not in ("label", "split")} for line in lines]
    (at / "plain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    half = [p | ({"label": "a"} if i % 2 == 0 else {}) for i, p in enumerate(plain)]
    (at / "half.jsonl").write_text("".join(json.dumps(line) + "\n" for line in half))
    for name in ("plain", "half"):
        arguments = [f"corpus.path={name}.jsonl", "covariates.categorical=[kind]", "overwrite=true"]
        assert run(*arguments, "loss=none") == 0
        assert run(*arguments) == 2
        assert "label" in said()
    assert run(*documents, "corpus.test_path=plain.jsonl", "overwrite=true") == 0
    assert "the test documents have no 'label', so they are predicted and not scored" in said()
    assert len(read_csv(at / "run/predictions.csv")) == len(plain)


@pytest.mark.parametrize("empty", ["hydra.run.dir=", "hydra.run.dir=''", "hydra.run.dir=null"])
def test_an_empty_run_folder_is_refused(at, documents, fast, said, empty):
    before = sorted(at.iterdir())
    assert main(["fit", *fast, *documents, empty]) == 2
    assert "hydra.run.dir is empty; name the folder" in said()
    assert sorted(at.iterdir()) == before


def test_a_run_folder_that_a_file_leaves_empty(at, documents, fast, said):
    (at / "mine" / "experiment").mkdir(parents=True)
    text = "# @package _global_\nhydra:\n  run:\n    dir: ''\n"
    (at / "mine" / "experiment" / "here.yaml").write_text(text)
    assert main(["fit", "--config-dir", "mine", "experiment=here", *fast, *documents]) == 2
    assert "hydra.run.dir is empty" in said()
    assert not (at / "metrics.json").exists() and not (at / "trace.csv").exists()
