"""Two steps, and classes as models of their own, from the command line."""

import json

import pytest

from plugsamp import load_model


@pytest.mark.parametrize("regression", ["same", "linear_svc"])
def test_two_steps(at, write_documents, run, regression, capsys):
    write_documents(at / "d.jsonl")
    given = ["supervised=two_step", f"second_step.regression={regression}", "sweeps=40"]
    assert run("corpus.path=d.jsonl", *given) == 0
    assert json.loads((at / "run/metrics.json").read_text())["test"]["accuracy"] >= 0.8
    assert "speaks for" in capsys.readouterr().out  # the topics of the first, the weights of the second step
    assert load_model(at / "run/model").eta.shape[1] == 3


@pytest.mark.parametrize("scheme, n_models", [("ovr", 3), ("ovo", 3)])
def test_models_of_their_own(at, write_documents, run, read_csv, scheme, n_models, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", f"multiclass={scheme}", "sweeps=30", "n_topics=4") == 0
    metrics = json.loads((at / "run/metrics.json").read_text())
    assert metrics["test"]["accuracy"] >= 0.8 and metrics["sweeps"] == 30
    trace = read_csv(at / "run/trace.csv")
    assert len(trace) == 30 * n_models and len({row["task"] for row in trace}) == n_models
    text = (at / "run/topics.txt").read_text()
    assert ("not food" if scheme == "ovr" else "food | music") in text
    captured = capsys.readouterr()
    assert f"model {n_models}/{n_models}" in captured.err
    rows = read_csv(at / "run/predictions.csv")
    assert {row["predicted"] for row in rows} <= {"space", "food", "music"}
    assert len(load_model(at / "run/model").parts) == n_models


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["supervised=twostep"], "supervised must be joint or two_step, not 'twostep'"),
        (["multiclass=all"], "multiclass must be one of multitask, ovr, ovo, not 'all'"),
        (["second_step.regresion=same"], "did you mean 'second_step.regression'"),
        (["loss=none", "multiclass=ovr"], "multiclass=ovr needs a loss"),
    ],
)
def test_what_is_wrong_is_said_before_the_corpus_is_read(run, at, said, write_documents, arguments, message):
    if "loss=none" in arguments:
        write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", *arguments) == 2
    assert message in said()
