"""Measures that no run of a sweep can have are refused before the first run."""

from __future__ import annotations

import json

import pytest

from plugsamp.losses.epsilon_insensitive import EpsilonInsensitive
from plugsamp.losses.gaussian import Gaussian
from plugsamp.losses.hinge import Hinge
from plugsamp.losses.logistic import Logistic
from plugsamp.losses.none import NoLoss
from plugsamp.losses.probit import Probit
from plugsamp.sweeps import metric
from plugsamp.sweeps.possible import impossible

CLASSES, REAL = (
    {"accuracy", "f1_micro", "f1_macro", "log_loss", "calibration_error"},
    {"r2", "rmse", "mae", "log_density", "coverage_90", "coverage_90_lowest"},
)
WORDS = {"log_likelihood", "perplexity"}


@pytest.mark.parametrize(
    ("loss", "has"),
    [
        (Hinge(), CLASSES - {"log_loss", "calibration_error"}),
        (Logistic(), CLASSES),
        (Probit(), CLASSES),
        (Gaussian(), REAL),
        (NoLoss(), WORDS),
    ],
)
def test_what_a_loss_has(loss, has):
    found = {name for name in (*metric.HIGHER, *metric.TARGETS) if impossible(name, loss) is None}
    assert found == has
    assert all(impossible(name, loss) is None for name in (metric.MAIN, *metric.OTHERS))


def test_parts_and_outputs():
    assert impossible("test_r2_price", EpsilonInsensitive()) is None
    assert "perplexity is of test documents" in impossible("train_perplexity", NoLoss())
    assert "accuracy is of classes" in impossible("train_accuracy", Gaussian())


def write_experiment(at, key, values):
    (at / "conf/experiment").mkdir(parents=True)
    lines = ["# @package _global_", f"hydra: {{sweeper: {{params: {{{key}: '{values}'}}}}}}"]
    (at / "conf/experiment/own.yaml").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["n_topics=2,3", "metric=log_loss"],
        ["loss.cost=1,2", "metric=r2"],
        ["loss=hinge,gaussian", "metric=perplexity"],
        ["loss=none", "metric=accuracy", "n_topics=2,3"],
        ["hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "n_topics=choice(2,3)", "metric=log_loss"],
        ["hydra/sweeper=optuna", "loss=hinge", "n_topics=choice(2,3)", "metric=log_loss"],
        ["hydra/sweeper=optuna", "loss=hinge", "loss.cost=interval(1,2)", "metric=test_log_loss"],
        ["hydra/sweeper=optuna", "loss=choice(hinge,gaussian)", "metric=perplexity"],
        ["hydra/sweeper=optuna", "experiment=choice(netflix,netflix_topics)", "metric=r2"],
        ["experiment=netflix,netflix_topics", "metric=r2"],
        ["--config-dir=conf", "experiment=own", "hydra/sweeper=optuna", "metric=perplexity"],
        ["--config-dir=conf", "experiment=own", "metric=perplexity"],
    ],
)
def test_no_run_can_have_it(arguments, at, sweep, said):
    if "--config-dir=conf" in arguments:  # what is swept is in a file
        write_experiment(at, "loss", "hinge,gaussian")
    if "hydra/sweeper=optuna" in arguments:
        pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    assert sweep(*arguments) == 2
    error = said()
    assert error.startswith("plugsamp fit: no run of the sweep can have metric=") and error.count("\n") == 1
    assert not (at / "sweep").exists()


@pytest.fixture
def unlabelled(at, sweep):
    """A sweep whose test documents have no labels."""
    (at / "new.jsonl").write_text('{"text": "orbit moon rocket"}\n{"text": "soup bread"}\n')
    rows = [json.loads(line) for line in (at / "d.jsonl").read_text().splitlines()]
    (at / "d.jsonl").write_text("".join(json.dumps(r | {"split": "train"}) + "\n" for r in rows))
    options = ["corpus.test_path=new.jsonl", "corpus.split=none", "report=false", "n_topics=2,3"]
    return lambda *arguments: sweep(*options, *arguments)


def test_test_documents_without_labels(at, unlabelled, said, read_csv):
    assert unlabelled() == 0
    assert [row["status"] for row in read_csv(at / "sweep/sweep.csv")] == ["done", "done"]
    metrics = json.loads((at / "sweep/0/metrics.json").read_text())
    assert metrics["main_name"] == "train_accuracy" and metrics["main"] == metrics["train"]["accuracy"]


def test_a_measure_of_test_documents_without_labels(at, unlabelled, said):
    assert unlabelled("metric=test_accuracy") == 2
    error = said()
    assert "these have no responses; metric=train_accuracy is of the training documents" in error
    assert error.count("\n") == 1 and not (at / "sweep").exists()
    assert unlabelled("metric=train_accuracy") == 0


@pytest.mark.parametrize("more", [[], ["loss=hinge,probit"], ["corpus.min_df=1,2"], ["hydra/sweeper=optuna"]])
def test_a_measure_of_test_documents_that_are_not_there(at, sweep, said, more):
    if more == ["hydra/sweeper=optuna"]:
        pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    assert sweep("corpus.split=none", "n_topics=2,3", "metric=test_accuracy", *more) == 2
    error = said()
    assert "metric=test_accuracy is of test documents, and there are none" in error
    assert error.count("\n") == 1 and not (at / "sweep").exists()


def test_one_run_of_the_sweep_can_have_it(at, sweep, read_csv):
    assert sweep("loss=hinge,none", "metric=test_accuracy", "report=false") in (0, 1, 2)
    assert (at / "sweep/0/metrics.json").exists()


@pytest.mark.parametrize("argument", ["metric=npmi,diversity", "metric=choice(npmi,diversity)", "a file"])
def test_runs_are_compared_by_one_metric(argument, at, sweep, said):
    given = [argument]
    if argument == "a file":
        write_experiment(at, "metric", "npmi,diversity")
        given = ["--config-dir=conf", "experiment=own"]
    assert sweep("n_topics=2,3", *given) == 2
    error = said()
    assert "are compared by one metric, such as metric=npmi; sweep.csv has all measures" in error
    assert error.count("\n") == 1 and not (at / "sweep").exists()
