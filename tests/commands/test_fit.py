"""`plugsamp fit`: what a run leaves, and right answers at the edges."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plugsamp.cli import main


def test_a_run_leaves_what_it_promises(at, capsys, write_documents, run, read_csv, words):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "n_topics=6", "sweeps=30", "seed=0", "predict.passes=9") == 0
    out = capsys.readouterr().out
    folder = at / "run"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["main_name"] == "test_accuracy" and metrics["main"] == metrics["test"]["accuracy"] >= 0.8
    assert metrics["seed"] == 0 and len(metrics["corpus_digest"]) >= 32 and metrics["tokens_per_second"] > 0
    trace = read_csv(folder / "trace.csv")
    assert [int(r["sweep"]) for r in trace] == list(range(1, 31))
    sweeps = sum(float(r["seconds"]) for r in trace)
    assert metrics["start_seconds"] == pytest.approx(metrics["seconds"] - sweeps, abs=1e-9)
    assert metrics["log_joint"] == float(trace[-1]["log_joint"])
    for column in ("seconds", "log_joint", "log_joint_words", "loss", "moved"):
        assert all(np.isfinite(float(r[column])) for r in trace), column
    rows = read_csv(folder / "predictions.csv")
    assert len(rows) == 6 and {r["true"] for r in rows} == set(words)
    assert np.mean([r["true"] == r["predicted"] for r in rows]) == metrics["main"]
    for row in rows:
        scores = {name: float(row[f"score_{name}"]) for name in words}
        assert max(scores, key=scores.get) == row["predicted"]
    assert "accuracy" in out and "orbit" in out and "speaks for" in out
    assert "sweeps: 30" in (folder / "config.yaml").read_text()
    assert "rocket" in (folder / "topics.txt").read_text()
    topics = read_csv(folder / "topics.csv")
    assert [int(r["topic"]) for r in topics] == list(range(6))
    assert sum(int(r["tokens"]) for r in topics) == metrics["n_tokens"]
    assert all(float(r["coherence"]) <= 0.0 < float(r["supervised_effect"]) for r in topics)
    weights = read_csv(folder / "weights.csv")
    assert len(weights) == 3 * 6 and {r["output"] for r in weights} == set(words)
    assert all(float(r["lower"]) <= float(r["mean"]) <= float(r["upper"]) for r in weights)
    assert weights[0]["column"] == "topic 0" and "Dense" in metrics["kernel"]
    assert 0 < metrics["sparsity"]["topic_word"] < 1 and metrics["acceptance"] == metrics["moves"] == {}


def test_without_responses_the_words_of_test_documents_are_scored(at, write_documents, run, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "loss=none", "sweeps=30") == 0
    metrics = json.loads((at / "run/metrics.json").read_text())
    assert metrics["main_name"] == "test_log_likelihood" and metrics["train"] == {}
    assert np.exp(-metrics["main"]) == pytest.approx(metrics["test"]["perplexity"])
    assert 1 < metrics["test"]["perplexity"] < metrics["n_words"]
    assert "perplexity" in capsys.readouterr().out


def test_approximations_are_in_the_metrics_and_said_once(at, write_documents, run, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "sweeps=3", "learn_alpha.method=fixed_point") == 0
    (clause,) = json.loads((at / "run/metrics.json").read_text())["approximations"]
    assert "empirical Bayes" in clause
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count(clause) == 1


def test_the_model_of_a_run_predicts_what_the_run_predicted(at, write_documents, run, read_csv):
    from plugsamp import load_model
    from plugsamp.readers.jsonl import JsonLines

    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl") == 0
    predictor = load_model(at / "run" / "model")
    test = JsonLines(path="d.jsonl", min_df=1, stop_words="none").read().test
    rows = read_csv(at / "run" / "predictions.csv")
    assert predictor.predict(test).labels.tolist() == [r["predicted"] for r in rows]
    assert [float(r["score_food"]) for r in rows] == predictor.predict(test).f[:, 0].tolist()


def test_the_same_run_again_and_from_its_own_config(at, write_documents, fast):
    write_documents(at / "d.jsonl")
    arguments = ["fit", *fast, "corpus.path=d.jsonl", "seed=null"]
    assert main([*arguments, "hydra.run.dir=one"]) == 0
    seed = json.loads((at / "one/metrics.json").read_text())["seed"]
    assert f"seed: {seed}" in (at / "one/config.yaml").read_text()
    assert main([*arguments, f"seed={seed}", "hydra.run.dir=two"]) == 0
    assert (at / "one/predictions.csv").read_bytes() == (at / "two/predictions.csv").read_bytes()
    assert main([*arguments, f"seed={seed + 1}", "hydra.run.dir=three"]) == 0
    assert (at / "one/predictions.csv").read_bytes() != (at / "three/predictions.csv").read_bytes()


def test_python_does_the_same_fit(at, write_documents, run, read_csv):
    import plugsamp as ps

    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "loss.cost=5") == 0
    split = ps.readers.JsonLines(path="d.jsonl", min_df=1, stop_words="none").read()
    result = ps.fit(split.train, ps.Model(3, loss=ps.losses.Hinge(cost=5)), sweeps=8)
    rows = read_csv(at / "run" / "predictions.csv")
    assert [float(r["score_food"]) for r in rows] == result.predict(split.test).f[:, 0].tolist()
    assert [float(r["log_joint"]) for r in read_csv(at / "run/trace.csv")] == [
        r["log_joint"] for r in result.trace
    ]


def test_multirun_runs_each(at, write_documents, fast):
    write_documents(at / "d.jsonl")
    for number, choices in enumerate(
        (["loss=hinge", "kernel=composed,dense"], ["loss=none", "kernel=glob(*)"])
    ):
        options = ["corpus.path=d.jsonl", "report=false", f"hydra.sweep.dir=sweep/{number}"]
        assert main(["fit", "-m", *fast, *options, *choices]) == 0
    found = {m.parent: json.loads(m.read_text()) for m in (at / "sweep").glob("*/*/metrics.json")}
    assert {m["main_name"] for m in found.values()} == {"test_accuracy", "test_log_likelihood"}


def test_paths_are_the_callers_even_with_chdir(at, write_documents, run):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=./d.jsonl", "hydra.job.chdir=true") == 0
    assert (at / "run/metrics.json").exists()


def test_an_interrupt_keeps_the_trace(at, write_documents, fast, run, read_csv):
    write_documents(at / "d.jsonl", n=60)
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *fast, "corpus.path=d.jsonl", "sweeps=1000000"]
    process = subprocess.Popen(
        [*command, "hydra.run.dir=run"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=at,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in a shell's background
    )  # fmt: skip
    try:
        trace = at / "run/trace.csv"
        end = time.monotonic() + 60
        while not (trace.exists() and trace.stat().st_size > 500) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "Traceback" not in err and re.search(r"interrupted after \d+ of 1000000 sweeps", err)
    assert len(read_csv(trace)) >= 1


@pytest.mark.parametrize(
    "label, expected",
    [
        (lambda name: name == "space", {"true", "false", "True", "False"}),
        (lambda name: {"space": 10, "food": 9, "music": 9}[name], {"9", "10"}),
        (lambda name: None if name == "music" else name, {"space", "food", ""}),
    ],
    ids=["bools", "numbers", "missing"],
)
def test_labels_of_all_kinds(at, label, expected, write_documents, run, read_csv):
    write_documents(at / "d.jsonl", label=label)
    assert run("corpus.path=d.jsonl", "corpus.missing_labels=true", "corpus.response=label") == 0
    rows = read_csv(at / "run/predictions.csv")
    assert {r["true"] for r in rows} <= expected
    assert {r["predicted"] for r in rows} <= expected - {""}


@pytest.mark.parametrize("arguments", [["n_topics=1"], ["n_topics=2000"], ["sweeps=1"], ["kernel=composed"]])
def test_extremes_that_have_a_right_answer(at, arguments, write_documents, run):
    write_documents(at / "d.jsonl", n=4)
    assert run("corpus.path=d.jsonl", *arguments) == 0
    assert json.loads((at / "run/metrics.json").read_text())["test"]["n_scored"] == 3


def test_one_word_and_a_class_with_one_document(at, run, read_csv):
    lines = [{"text": "word word", "label": "a", "split": "train"} for _ in range(4)]
    lines += [
        {"text": "word", "label": "b", "split": "train"},
        {"text": "word", "label": "a", "split": "test"},
    ]
    (at / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("corpus.path=d.jsonl") == 0
    assert read_csv(at / "run/predictions.csv")[0]["predicted"] in ("a", "b")


def test_without_test_documents(at, write_documents, run):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "corpus.split=none") == 0
    assert json.loads((at / "run/metrics.json").read_text())["main_name"] == "train_accuracy"
    assert not (at / "run/predictions.csv").exists()
