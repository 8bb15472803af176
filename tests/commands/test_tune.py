"""`plugsamp tune`: the table, the run folder with the best setting, and going on."""

from __future__ import annotations

import json

import pytest
from omegaconf import OmegaConf

from plugsamp.cli import main
from plugsamp.tuning import search as searching

SEARCH = ["tune.n_topics=[]", "tune.cost=[1e-9,50]", "tune.variance=[0.1]", "report=false"]


@pytest.fixture
def tune(at, write_documents, fast):
    write_documents(at / "d.jsonl", n=16)
    return lambda *more: main(["tune", *fast, "corpus.path=d.jsonl", *SEARCH, *more, "hydra.run.dir=run"])


def test_the_run_has_the_best_setting_and_the_table(at, tune, capsys, read_csv, monkeypatch):
    assert tune("n_topics=6", "sweeps=24") == 0
    out, err = capsys.readouterr()
    assert "best of 2 settings: cost=50 variance=0.1" in out and "rung 1 of 1: 2 settings, 24 sweeps" in err
    rows = read_csv("run/tune.csv")
    assert [float(row["cost"]) for row in rows] == [50, 1e-9]
    assert float(rows[0]["accuracy"]) > float(rows[1]["accuracy"]) and rows[0]["error"]
    config = OmegaConf.load("run/config.yaml")
    assert config.loss.cost == 50 and config.weights.variance == 0.1 and "tune" not in config
    metrics = json.loads((at / "run/metrics.json").read_text())
    assert (
        metrics["n_documents"] == 36 and metrics["main_name"] == "test_accuracy"
    )  # the validation part, too
    assert (at / "run/model").is_dir() and (at / "run/tune.png").exists()

    monkeypatch.setattr(searching, "fit", None)  # neither the search
    assert tune("n_topics=6", "sweeps=24") == 0  # nor the fit is done again
    out, err = capsys.readouterr()
    assert "best of 2 settings" in out and "done already: " in err
    assert tune("n_topics=6", "sweeps=24", "tune.cost=[1,50]") == 2
    assert "holds another search" in capsys.readouterr().err


def test_a_killed_fit_goes_on_with_the_search_done(at, tune, monkeypatch):
    from plugsamp.commands import run_fit

    calls, evaluate = [], run_fit.Posterior.evaluate

    def stop(*given, **options):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_fit.Posterior, "evaluate", stop)
    assert tune() == 130 and calls
    monkeypatch.setattr(run_fit.Posterior, "evaluate", evaluate)
    monkeypatch.setattr(searching, "fit", None)
    assert tune() == 0
    assert (at / "run/metrics.json").exists() and (at / "run/tune.csv").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["metric=test_accuracy"], "is no measure of held-out training documents"),
        (["tune.cost=[]", "tune.variance=[]"], "there is nothing to search for"),
        (["tune.cost=5"], "write 'tune.cost=[5]'"),
        (["tune.cots=[5]"], "did you mean 'tune.cost'"),
        (["tune.n_topics=[2,3]", "alpha_sum=1"], "give alpha, or tune.n_topics=[]"),
        (["corpus.validation_size=1.5"], "corpus.validation_size must be a share above 0 and below 1"),
        (["tune.validation_size=0"], "tune.validation_size must be a share above 0 and below 1"),
        (["tune.folds=1"], "tune.folds must be a whole number, 2 or more"),
        (["metric=log_loss"], "no log_loss; they have accuracy"),
    ],
)
def test_mistakes_are_told(tune, said, more, message):
    assert tune(*more) == 2
    assert message in said()


def test_another_run_is_not_written_over(fitted, fast, said):
    assert main(["tune", *fast, "corpus.path=docs.jsonl", *SEARCH, "hydra.run.dir=run"]) == 2
    assert "holds a run of plugsamp fit" in said()


def test_the_manual_has_the_options_of_both(capsys):
    assert main(["tune", "--help"]) == 0
    page = capsys.readouterr().out
    assert "tune.settings=9" in page and "n_topics=50" in page and "loss.cost=102.4" in page
