"""`plugsamp predict` and `plugsamp evaluate`: a saved model and other documents."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil

import numpy as np
import pytest

from plugsamp.cli import main


def _npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def predict(*arguments, command="predict"):
    return main([command, "model=run", "corpus=jsonl", "corpus.min_df=1", *arguments])


def test_the_run_s_own_predictions_come_again(fitted):
    assert predict("corpus.path=docs.jsonl", "part=test", "out=again.csv") == 0
    assert (fitted / "again.csv").read_bytes() == (fitted / "run" / "predictions.csv").read_bytes()


def test_new_documents_on_standard_output(fitted, capsys):
    (fitted / "new.txt").write_text("orbit rocket moon\n\nzebra\nsoup bread zebra")
    code = main(
        ["predict", "model=run/model", "corpus=lines", "corpus.path=new.txt", "out=-", "proportions=true"]
    )
    said = capsys.readouterr()
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [row["id"] for row in rows] == ["1", "2", "3", "4"]
    assert rows[0]["predicted"] == "space" and rows[3]["predicted"] == "food"
    assert [(row["n_known"], row["n_unknown"]) for row in rows] == [
        ("3", "0"),
        ("0", "0"),
        ("0", "1"),
        ("2", "1"),
    ]
    assert all(abs(sum(float(row[f"topic_{k}"]) for k in range(3)) - 1) < 1e-6 for row in rows)
    assert "2 documents have no word of the model" in said.err
    assert sorted(p.name for p in fitted.iterdir()) == ["docs.jsonl", "new.txt", "run"]  # and no log
    (fitted / "new.txt").write_text("\n \n")
    (fitted / "new.npy").write_bytes(_npy(np.zeros((2, 3), int)))
    for form in ("corpus=lines", "corpus.path=new.txt"), ("corpus=npz", "corpus.path=new.npy"):
        assert main(["predict", "model=run", *form, "out=-"]) == 0
        said = capsys.readouterr()
        assert len(said.out.splitlines()) == 3 and "2 documents have no word of the model" in said.err
    assert main(["fit", "corpus=npz", "corpus.path=new.npy", "loss=none", "hydra.run.dir=none"]) == 2
    said = capsys.readouterr().err  # no option of another world
    assert "new.npy: the corpus has no tokens: every one of its documents is empty\n" in said


def test_topics_are_called_by_their_names(fitted, said, read_csv):
    options = ["corpus.path=docs.jsonl", "part=test", "proportions=true"]
    assert predict(*options, "out=plain.csv") == 0
    named = {"names": {"0": "space travel", "1": "id", "2": "id"}}
    (fitted / "run" / "topic_names.json").write_text(json.dumps(named))
    assert predict(*options, "out=named.csv") == 0
    plain, found = read_csv("plain.csv"), read_csv("named.csv")
    expected = ("space travel", "id (topic_1)", "id (topic_2)")
    for before, after in zip(plain, found, strict=True):
        for k, name in enumerate(expected):
            assert after.pop(name) == before.pop(f"topic_{k}")
        assert before == after
    (fitted / "own.csv").write_text("topic,name\n1,food\n")
    assert predict(*options, "model=run/model", "names=own.csv", "out=own_names.csv") == 0
    columns = (fitted / "own_names.csv").read_text().partition("\n")[0].split(",")
    assert columns[-5:] == ["topic_0", "food", "topic_2", "n_known", "n_unknown"]
    named["model"] = "of another"
    (fitted / "run" / "topic_names.json").write_text(json.dumps(named))
    assert predict(*options, "out=x.csv") == 2
    assert "topic_names.json: these names are for the topics of another model" in said()


def test_a_sweep_of_commands_without_folders_leaves_nothing(fitted, capsys):
    before = sorted(fitted.rglob("*"))
    assert predict("-m", "corpus.path=docs.jsonl", "part=test,train", command="evaluate") == 0
    found = capsys.readouterr().out
    assert "test   accuracy" in found and "train  accuracy" in found
    assert sorted(fitted.rglob("*")) == before


def test_a_row_does_not_depend_on_the_others(fitted, capsys):
    texts = ["orbit rocket moon", "soup bread", "guitar drum soup"]
    rows = {}
    for order in ([0, 1, 2], [2, 0], [1]):
        with open(fitted / "new.jsonl", "w") as file:
            file.writelines(json.dumps({"id": f"d{i}", "text": texts[i]}) + "\n" for i in order)
        assert predict("corpus.path=new.jsonl", "out=-") == 0
        for row in csv.DictReader(io.StringIO(capsys.readouterr().out)):
            assert rows.setdefault(row["id"], row) == row


def test_evaluation(fitted, capsys):
    metrics = json.loads((fitted / "run" / "metrics.json").read_text())
    assert predict("corpus.path=docs.jsonl", "out=m.json", command="evaluate") == 0
    found = json.loads((fitted / "m.json").read_text())
    assert list(found) == ["test"] and found["test"]["accuracy"] == metrics["test"]["accuracy"]
    assert "accuracy" in capsys.readouterr().out
    assert predict("corpus.path=docs.jsonl", "part=all", command="evaluate") == 0
    said = capsys.readouterr().out
    assert said.count("accuracy") == 2
    assert predict("corpus.path=docs.jsonl", "part=all", "n_jobs=2", command="evaluate") == 0
    assert capsys.readouterr().out == said


def test_evaluation_class_by_class(fitted, capsys):
    assert predict("corpus.path=docs.jsonl", "part=all", "out=m.json", command="evaluate") == 0
    out = capsys.readouterr().out
    assert "precision" in out and "space" in out
    with open("run/predictions.csv", newline="") as file:
        pairs = [(row["true"], row["predicted"]) for row in csv.DictReader(file)]
    with open("m.scores.csv", newline="") as file:
        scores = {(row["part"], row["class"]): row for row in csv.DictReader(file)}
    with open("m.confusion.csv", newline="") as file:
        confusion = {(row["part"], row["true"]): row for row in csv.DictReader(file)}
    assert (
        set(scores)
        == set(confusion)
        == {(p, c) for p in ("train", "test") for c in ("food", "music", "space")}
    )
    for c in ("food", "music", "space"):
        right = sum(t == p == c for t, p in pairs)
        assert float(scores["test", c]["recall"]) == right / sum(t == c for t, _ in pairs)
        assert int(scores["train", c]["support"]) == 6
        for other in ("food", "music", "space"):
            assert int(confusion["test", c][f"predicted {other}"]) == pairs.count((c, other))
    assert predict("corpus.path=docs.jsonl", "out=m.json", command="evaluate") == 2
    (fitted / "m.json").unlink()  # the tables are kept as well
    assert predict("corpus.path=docs.jsonl", "out=m.json", command="evaluate") == 2
    assert "m.scores.csv: the file is there already" in capsys.readouterr().err
    assert predict("corpus.path=docs.jsonl", "out=m.json", "overwrite=true", command="evaluate") == 0
    assert (fitted / "m.scores.csv").read_text().count("\n") == 4


def test_classes_that_are_called_what_a_column_is(at, write_documents, run):
    called = {"space": "true", "food": "part", "music": "class"}
    write_documents(at / "docs.jsonl", label=called.get)
    assert run("corpus.path=docs.jsonl") == 0
    assert predict("corpus.path=docs.jsonl", "part=all", "out=m.json", command="evaluate") == 0
    with open("run/predictions.csv", newline="") as file:
        pairs = [(row["true"], row["predicted"]) for row in csv.DictReader(file)]
    with open("m.confusion.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["part", "true", "predicted class", "predicted part", "predicted true"]
    classes = [name.removeprefix("predicted ") for name in header[2:]]
    assert [row[:2] for row in rows] == [[part, c] for part in ("train", "test") for c in classes]
    for _, true, *counts in rows[3:]:
        assert counts == [str(pairs.count((true, c))) for c in classes]


def test_tables_of_the_measures_that_were_replaced_go_too(at, write_documents, run):
    write_documents(at / "docs.jsonl")
    assert run("corpus.path=docs.jsonl", "loss=none") == 0
    for name in ("m.scores.csv", "m.confusion.csv", "m.other.csv"):
        (at / name).write_text("of another run\n")
    assert predict("corpus.path=docs.jsonl", "out=m.json", command="evaluate") == 2
    assert (at / "m.scores.csv").exists()
    assert predict("corpus.path=docs.jsonl", "out=m.json", "overwrite=true", command="evaluate") == 0
    assert sorted(p.name for p in at.glob("m.*")) == ["m.json", "m.other.csv"]


def test_calibration_is_evaluated(at, write_documents, run, capsys):
    write_documents(at / "docs.jsonl")
    assert run("corpus.path=docs.jsonl", "loss=multinomial") == 0
    assert predict("corpus.path=docs.jsonl", "out=m.json", command="evaluate") == 0
    out = capsys.readouterr().out
    assert "test documents, by probability" in out and "calibration error" in out
    with open("m.calibration.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    measures = json.loads((at / "m.json").read_text())["test"]
    assert sum(int(row["documents"]) for row in rows) == measures["n_scored"]
    right = sum(float(row["right"]) * int(row["documents"]) for row in rows)
    assert right == pytest.approx(measures["accuracy"] * measures["n_scored"])


def test_a_measure_that_there_is_not_is_a_dash(at, write_documents, run, capsys):
    rng = iter(range(1000))
    write_documents(at / "docs.jsonl", label=lambda name: next(rng) % 5 + 0.5)
    assert run("corpus.path=docs.jsonl", "loss=gaussian") == 0
    assert predict("corpus.path=docs.jsonl", "part=all", "out=m.json", command="evaluate") == 0
    assert "train documents, 90% intervals by fifths of the predictions" in capsys.readouterr().out
    with open("m.coverage.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["part"] for row in rows] == ["train"] * 5 + ["test"] * 5
    measures = json.loads((at / "m.json").read_text())["test"]
    held = sum(float(row["covered"]) * int(row["documents"]) for row in rows[5:])
    assert measures["coverage_90"] == pytest.approx(held / measures["n_scored"])
    (at / "one.jsonl").write_text(json.dumps({"label": 1.5, "text": "orbit moon"}) + "\n")
    capsys.readouterr()
    assert predict("corpus.path=one.jsonl", command="evaluate") == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.split()[1:2] == ["r2"])
    assert line.split()[-1] == "-" and "None" not in out


def test_a_model_without_responses_is_scored_by_its_words(at, write_documents, run, capsys):
    write_documents(at / "docs.jsonl")
    assert run("corpus.path=docs.jsonl", "loss=none") == 0
    assert predict("corpus.path=docs.jsonl", command="evaluate") == 0
    assert "perplexity" in capsys.readouterr().out
    assert predict("corpus.path=docs.jsonl", "out=x.csv") == 0
    assert (at / "x.csv").read_text().startswith("id,n_known,n_unknown\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model=nowhere", "corpus=lines", "corpus.path=new.txt"], "nowhere: there is no such folder"),
        (["corpus=lines", "corpus.path=new.txt"], "model=... is needed"),
        (["model=run"], "corpus has no name; choose one"),
        (["model=run", "corpus=lines", "corpus.path=new.txt", "predict.pases=9"], "mean 'predict.passes'"),
        (["model=run", "corpus=lines", "corpus.path=new.txt", "part=test"], "the corpus is not divided"),
        (["model=run", "corpus=lines", "corpus.path=new.txt", "predict.passes=0"], "burn_in must be"),
        (["model=run", "corpus=lines", "corpus.path=new.txt", "out=new.txt"], "there already"),
    ],
)
def test_mistakes(fitted, arguments, says, said):
    (fitted / "new.txt").write_text("orbit\n")
    assert main(["predict", *arguments]) == 2
    assert says in said()
    assert (fitted / "new.txt").read_text() == "orbit\n"


def test_columns_are_called_as_in_the_run(at, write_documents, fast, read_csv, said):
    write_documents(at / "docs.jsonl", n=4)
    rows = [json.loads(line) for line in (at / "docs.jsonl").read_text().splitlines()]
    for name, *columns in (
        ("docs.csv", "nr", "body", "team"), ("new.csv", "nr", "body"), ("plain.csv", "id", "text", "label"),
    ):  # fmt: skip
        with open(name, "w", newline="") as file:
            cells = [[row["id"], row["text"] + " 77 a", row["label"]][: len(columns)] for row in rows]
            csv.writer(file, delimiter=";").writerows([columns, *cells])
    with open("new.jsonl", "w") as file:
        file.writelines(json.dumps({"nr": row["id"], "body": row["text"]}) + "\n" for row in rows)
    own = [
        "corpus.text=body",
        "corpus.label=team",
        "corpus.id=nr",
        "corpus.delimiter=';'",
        "corpus.pattern=blanks",
    ]
    fast = [a for a in fast if not a.startswith(("corpus=", "corpus.stop"))]
    (at / "stop.txt").write_text("orbit\n")
    fast.append("corpus.stop_words=stop.txt")
    assert main(["fit", *fast, "corpus=csv", "corpus.path=docs.csv", *own, "hydra.run.dir=run"]) == 0
    found = {}
    said()
    for name, *given in ("docs",), ("new",), ("plain",), ("docs", *own), ("docs", "corpus.pattern=letters"):
        arguments = [f"corpus.path={name}.csv", f"out={name}{len(given)}.out", *given]
        assert main(["predict", "model=run", "corpus=csv", *arguments]) == 0
        assert ("read as the run's own documents were: corpus.text=body" in said()) == (own != given)
        found[name, len(given)] = read_csv(f"{name}{len(given)}.out")
    assert found["docs", 0] == found["docs", len(own)] == found["plain", 0]
    assert found["docs", 0][0]["id"] == rows[0]["id"] and found["docs", 0][0]["true"] == rows[0]["label"]
    known, of_letters = (int(found["docs", n][0]["n_known"]) for n in (0, 1))
    assert known == of_letters + 2 < 14  # without 77 and a; and there are stop words
    assert found["new", 0] == [{k: v for k, v in row.items() if k != "true"} for row in found["docs", 0]]
    said()
    assert main(["predict", "model=run", "corpus=csv", "corpus.path=plain.csv", "out=x"]) == 0
    assert "no field 'body' as in the run (text); 'text' is read" in (err := said())
    assert "no field 'nr' as in the run (id); 'id' is read" in err
    (at / "none.csv").write_text("a;b\n1;2\n")
    assert main(["predict", "model=run", "corpus=csv", "corpus.path=none.csv", "out=y"]) == 2
    assert "there is no field 'body'" in said()
    assert main(["report", "run=run", "corpus=csv", "corpus.path=docs.csv", "out=why.html"]) == 0
    assert main(["predict", "model=.", "corpus=csv", "corpus.path=docs.csv", "out=y"]) == 2
    assert "this folder holds runs (1) and is none; one of them is run" in said()
    shutil.copytree("run/model", "saved")  # a model with a run below it is one
    shutil.copytree("run", "saved/run")
    assert main(["predict", "model=saved", "corpus=csv", "corpus.path=docs.csv", *own, "out=y"]) == 0
    (at / "x").unlink()
    assert main(["predict", "model=run/model", "corpus=jsonl", "corpus.path=new.jsonl", "out=x"]) == 2
    err = said()  # another format's fields have names of their own
    assert "documents were: corpus.pattern=blanks corpus.stop_words=stop.txt" in err
    assert "no field 'text'" in err
    config = (at / "run" / "config.yaml").read_text()
    (at / "run" / "config.yaml").unlink()
    assert main(["predict", "model=run", "corpus=csv", "corpus.path=docs.csv", *own, "out=x"]) == 0
    (at / "elsewhere").mkdir()
    os.chdir(at / "elsewhere")  # a file of stop words is where the run was started
    (at / "run" / "config.yaml").write_text(config)
    assert main(["predict", "model=../run", "corpus=csv", "corpus.path=../docs.csv", "out=x"]) == 0
    assert read_csv("x") == found["docs", 0]


def test_evaluation_needs_responses(fitted, said):
    (fitted / "new.txt").write_text("orbit\n")
    assert main(["evaluate", "model=run", "corpus=lines", "corpus.path=new.txt"]) == 2
    assert "no responses to compare with" in said()


@pytest.mark.parametrize("command", ["predict", "evaluate", "convert"])
def test_manual_pages(command, at, capsys):
    from plugsamp.commands.manual import documented

    assert main([command, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"plugsamp {command} ") and "corpus=(needed)" in page
    for key, comment in (entry for _, entries in documented(command) for entry in entries):
        assert comment, key
        assert f"\n  {key}=" in page
    assert main([command, "--help", "corpus=csv"]) == 0
    assert "corpus.delimiter" in capsys.readouterr().out
