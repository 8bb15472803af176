"""Sweeps: their table, jobs that fail, folders that are used again."""

from __future__ import annotations

import json
import os
import re

import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins

from plugsamp.cli import main
from plugsamp.commands import run_fit
from plugsamp.posterior.run_folder import read as read_run

from .swept import needs, status, table
from .test_resume import assert_same, stop


def stamps(folder) -> dict:
    """When what a run has written was written; what is refused goes into its log, and beside it."""
    files = (p for p in folder.iterdir() if p.is_file() and p.name not in ("fit.log", "refused.json"))
    return {p.name: p.stat().st_mtime_ns for p in files}


def test_a_sweep_ends_with_one_table(at, sweep, read_csv, capsys):
    assert sweep("n_topics=0,2,3", "metric=train_accuracy") == 2
    out, err = capsys.readouterr()
    rows = read_csv(at / "sweep/sweep.csv")
    done = [json.loads((at / "sweep" / row["folder"] / "metrics.json").read_text()) for row in rows[:2]]
    scores = [float(row["train_accuracy"]) for row in rows[:2]]
    assert scores == [metrics["train"]["accuracy"] for metrics in done] and scores == sorted(scores)[::-1]
    assert [float(row["seconds"]) for row in rows[:2]] == [metrics["seconds"] for metrics in done]
    assert [float(row["test_accuracy"]) for row in rows[:2]] == [metrics["main"] for metrics in done]
    assert {row["corpus"] for row in rows} == {"jsonl"} and rows[2]["n_topics"] == "0"
    assert (rows[2]["status"], rows[2]["error"]) == ("failed", "n_topics must be from 1 to 65,535, not 0")
    shown = out[out.index("all: ") :].splitlines()
    assert shown[2].split() == ["n_topics", "train_accuracy", "seconds", "status", "folder"]
    assert [line.split()[-1] for line in shown[3:6]] == [row["folder"] for row in rows]
    assert shown[6] == "0: n_topics must be from 1 to 65,535, not 0"
    assert "1 of 3 runs have no outcome\n" in err and "speaks for" not in out
    assert "#0 fit: n_topics must be" in err and re.search(r"^#1 test  accuracy", err, re.M)
    assert "#" not in (at / "sweep/1/fit.log").read_text()


def test_all_went_well(at, sweep, read_csv, said):
    assert sweep("loss=hinge,none") == 0
    assert table(at, read_csv) == [("0", "done"), ("1", "done")]
    assert "no outcome" not in said()


@pytest.mark.parametrize("batches", [[], ["hydra.sweeper.max_batch_size=1"]], ids=["at once", "batches"])
def test_what_a_plugin_does_wrong_ends_one_job(at, sweep, read_csv, said, monkeypatch, batches):
    works = run_fit.run

    def fails_once(settings, *arguments):
        if settings.n_topics == 2:
            raise KeyError("no such thing")
        return works(settings, *arguments)

    monkeypatch.setattr(run_fit, "run", fails_once)
    assert sweep("n_topics=2,3,4", *batches) == 1
    err = said()
    assert "Traceback" in err and "fails_once" in err  # which is no user's to put right
    assert dict(table(at, read_csv)) == {"0": "failed", "1": "done", "2": "done"}
    assert (
        status(at / "sweep/0")["error"] == "'no such thing'"
        and "fails_once" in (at / "sweep/0/fit.log").read_text()
    )


def test_a_metric_that_does_not_exist_is_refused_before_anything_runs(at, sweep, said, run):
    assert sweep("n_topics=2,3", "metric=acuracy") == 2
    assert "no metric 'acuracy'; did you mean 'accuracy'" in said()
    assert not (at / "sweep").exists()
    assert run("corpus.path=d.jsonl", "metric=acuracy") == 2


def test_a_run_without_the_metric_is_done_all_the_same(at, sweep, read_csv, said):
    assert sweep("loss=hinge,logistic", "metric=log_loss") == 0
    assert table(at, read_csv) == [("1", "done"), ("0", "done")]
    assert "this run has no log_loss; it has test_accuracy" in said()


def test_the_same_sweep_again_does_what_is_left(at, sweep, read_csv, said, monkeypatch):
    choices = ["seed=0,null", "report=false"]
    with monkeypatch.context() as patch:
        stop(patch, 4)
        assert sweep(*choices) == 130
    assert "2 of 2 runs have no outcome; the same command with hydra.sweep.dir=" in said()
    assert table(at, read_csv) == [("0", "interrupted"), ("", "not started")]
    assert "interrupted after" in read_csv(at / "sweep/sweep.csv")[0]["error"]
    assert sweep(*choices) == 0
    assert "#0 the run goes on after sweep 4" in said()
    before = [stamps(at / f"sweep/{n}") for n in range(2)]
    assert sweep(*choices, "metric=seconds") == 0
    assert said().count("done already: ") == 2 and len(table(at, read_csv)) == 2
    for number, stamp in enumerate(before):
        del stamp["status.json"]
        assert stamps(at / f"sweep/{number}").items() >= stamp.items()
    os.rename(at / "sweep", at / "moved")
    assert sweep("seed=0", "report=false") == 0
    assert_same(at / "sweep/0", at / "moved/0")  # to the bit, interrupted or not


def test_a_run_of_another_configuration_is_left_alone(at, sweep, read_csv, said):
    assert sweep("n_topics=2,3") == 0
    before = stamps(at / "sweep/1")
    said()
    assert sweep("n_topics=2,4", "report=false") == 2
    err = said()
    assert "n_topics is 3, here 4" in err and err.count("report is true, here false") == 2
    assert stamps(at / "sweep/1") == before
    found = table(at, read_csv)
    assert sorted(found) == [("0", "done"), ("0", "refused"), ("1", "done"), ("1", "refused")]
    assert "n_topics=3" in read_run(at / "sweep/1").overrides  # whatever Hydra has left beside it
    assert main(["sweep", "folder=sweep"]) == 0  # those are not the folder's own
    assert "refused" not in dict(table(at, read_csv)).values()
    assert sweep("n_topics=2,3") == 0  # and are forgotten once the folder's own come again
    assert not list((at / "sweep").rglob("refused.json"))
    assert sweep("n_topics=2,4", "overwrite=true") == 0
    assert [row["n_topics"] for row in read_csv(at / "sweep/sweep.csv")] != ["2", "3"]


def test_the_same_job_twice_in_a_folder_of_its_options(at, sweep, read_csv, capsys):
    assert sweep("seed=0,0,1", "hydra.sweep.subdir='s${seed}'") == 0
    out, err = capsys.readouterr()
    assert err.count("done already") == 1 == err.count("the sweep has seed=0 more than once")
    assert out.startswith("all: ")  # what Hydra says is on standard error too
    assert sorted(table(at, read_csv)) == [("s0", "done"), ("s1", "done")]
    assert sweep("seed=0,1,2", "hydra.sweep.subdir='s${seed}'") == 0  # and more of them
    assert sorted(table(at, read_csv)) == [("s0", "done"), ("s1", "done"), ("s2", "done")]


def test_mistakes_in_a_sweep_are_told_before_it_begins(at, sweep, said):
    assert sweep("loss=hinge,hing") == 2
    assert "no loss named 'hing'" in said()
    assert sweep("hydra/launcher=jobib", "seed=0,1") == 2
    assert "no hydra/launcher named 'jobib'; did you mean 'joblib'" in said()
    needs("hydra_joblib_launcher")
    assert sweep("hydra/launcher=joblib", "hydra.launcher.n_job=2", "seed=0,1") == 2
    assert "no option 'hydra.launcher.n_job'; did you mean 'hydra.launcher.n_jobs'" in said()
    assert not list(at.glob("sweep/*/status.json"))


@pytest.mark.parametrize(
    "choice, package",
    [
        ("hydra/launcher=joblib", "hydra-joblib-launcher"),
        ("hydra/launcher=submitit_slurm", "hydra-submitit-launcher"),
        ("hydra/sweeper=optuna", "hydra-optuna-sweeper"),
    ],
)
def test_a_preset_without_its_plugin_says_what_to_install(sweep, said, monkeypatch, choice, package):
    Plugins.instance()
    group, name = choice.split("=")
    folder = ConfigStore.instance().repo["hydra"].get(group.split("/")[1], {})
    monkeypatch.delitem(folder, f"{name}.yaml", raising=False)
    assert sweep("seed=0,1", choice) == 2
    assert said().endswith(f"{choice} needs {package}: pip install 'plugsamp[sweeps]'\n")


def test_a_plugin_keeps_its_name_for_others(sweep):
    needs("hydra_joblib_launcher")
    Plugins.instance()
    launchers = ConfigStore.instance().repo["hydra"]["launcher"]
    before = set(launchers)
    assert sweep("seed=0,1") == 0
    assert set(launchers) == before and "joblib.yaml" in before


@pytest.mark.parametrize("choice", ["quiet", "disabled", "none"])
def test_quiet(sweep, capsys, choice):
    logging = [] if choice == "quiet" else ["hydra/hydra_logging=disabled"]
    assert sweep("n_topics=2", f"hydra/job_logging={choice}", *logging) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith("all: ")


def test_every_run_says_how_it_ended(at, write_documents, run, monkeypatch):
    write_documents(at / "d.jsonl")
    (at / "run").mkdir()  # one that the run makes itself goes with it
    assert run("corpus.path=d.jsonl", "n_topics=0") == 2
    assert status(at / "run") | {"status": "failed", "mistake": True} == status(at / "run")
    with monkeypatch.context() as patch:
        stop(patch, 3)
        assert run("corpus.path=d.jsonl") == 130
    assert status(at / "run")["status"] == "interrupted"
    assert main(["resume", "run=run"]) == 0
    found = status(at / "run")
    assert (
        found["status"] == "done" and found["error"] is None and "corpus.path=d.jsonl" in found["overrides"]
    )
    assert run("corpus.path=d.jsonl", "n_topics=0") == 2  # refused: the folder is a run's
    assert status(at / "run") == found


def test_the_command(at, sweep, capsys, read_csv):
    assert sweep("n_topics=2,3") == 0
    written = (at / "sweep/sweep.csv").read_text()
    (at / "sweep/sweep.csv").unlink()
    capsys.readouterr()
    assert main(["sweep", "folder=sweep"]) == 0
    assert (at / "sweep/sweep.csv").read_text() == written
    shown = capsys.readouterr().out
    assert shown.startswith("all: ") and shown.endswith("table: sweep/sweep.csv\n")
    assert main(["sweep", "folder=sweep", "metric=train_f1_macro", "out=-"]) == 0
    assert capsys.readouterr().out.startswith("n_topics,sweeps,corpus,")
    for wrong, why in (
        (["folder=nowhere"], "there is no folder nowhere"),
        ([], "folder=... is needed"),
        (["folder=sweep", "metric=f1"], "no metric 'f1'"),
        (["folder=sweep", "figure=f.png", "x=topics"], "no run was given the option 'topics'"),
        (["folder=sweep", "figures=f.png"], "no option 'figures'"),
    ):
        assert main(["sweep", *wrong]) == 2
        assert why in capsys.readouterr().err


def test_files_that_are_not_theirs_are_left_alone(at, capsys):
    run = at / "mine" / "0"
    run.mkdir(parents=True)
    metrics = {"main": 0.5, "main_name": "test_accuracy", "test": {"accuracy": 0.5}, "seconds": 1.0}
    (run / "metrics.json").write_text(json.dumps(metrics))
    (run / "config.yaml").write_text("n_topics: 2\n")
    (run / "status.json").write_text(json.dumps({"status": "done", "overrides": ["n_topics=2"]}))
    (at / "mine" / "sweep.csv").write_text("its own\n")
    for name in ("t.csv", "f.png"):
        (at / name).write_text("the user's\n")
    (at / "folder").mkdir()
    capsys.readouterr()
    for wrong, why in (
        ("out=t.csv", "t.csv: the file is there already; overwrite=true replaces it"),
        ("out=folder", "folder: this is a folder"),
        ("out=none/t.csv", "none: there is no such folder"),
        ("out=''", "out is empty"),
        ("figure=f.png", "f.png: the file is there already"),
        ("figure=f", "f.png: the file is there already"),
        ("figure=-", "figure=- stands for standard output"),
    ):
        assert main(["sweep", "folder=mine", wrong]) == 2, wrong
        assert why in capsys.readouterr().err
    assert (at / "t.csv").read_text() == (at / "f.png").read_text() == "the user's\n"
    assert (at / "mine" / "sweep.csv").read_text() == "its own\n"
    assert main(["sweep", "folder=mine", "metric=r2"]) == 0
    assert "no run has r2; they have test_accuracy\n" in capsys.readouterr().out
    assert (at / "mine" / "sweep.csv").read_text().startswith("n_topics,")
    assert main(["sweep", "folder=mine", "metric=r2", "out=-"]) == 0
    assert "no run has r2" in capsys.readouterr().err
    assert main(["sweep", "folder=mine", "out=t.csv", "overwrite=true"]) == 0
    assert (at / "t.csv").read_text().startswith("n_topics,")
    pytest.importorskip("matplotlib")
    assert main(["sweep", "folder=mine", "figure=g", "x=n_topics"]) == 0
    assert "figure: g.png" in capsys.readouterr().out and (at / "g.png").exists()


def test_a_run_s_folder_is_no_sweep_s(at, sweep, run, said):
    (at / "run").mkdir()
    run("corpus.path=nowhere.jsonl")  # failed: its status is there
    before = sorted(p.name for p in (at / "run").iterdir())
    assert sweep("n_topics=2,3", "hydra.sweep.dir=run") == 2
    assert "run is the folder of one run" in said()
    assert sorted(p.name for p in (at / "run").iterdir()) == before


def test_a_figure(at, sweep, capsys):
    pytest.importorskip("matplotlib")
    assert sweep("n_topics=2,3", "seed=0,1", "report=false") == 0
    assert main(["sweep", "folder=sweep", "figure=f.png"]) == 0
    assert (at / "f.png").read_bytes().startswith(b"\x89PNG") and "figure: f.png" in capsys.readouterr().out
