"""`plugsamp resume`: runs that were interrupted or killed end as if they had not been."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from plugsamp.cli import main
from plugsamp.testing.processes import until

OUTCOME = ("predictions.csv", "weights.csv", "topics.csv", "topics.txt", "config.yaml")
SLOW = ["n_topics=9", "sweeps=200", "corpus.path=d.jsonl", "checkpoint.sweeps=15"]


@pytest.fixture
def documents(at, write_documents):
    write_documents(at / "d.jsonl", n=30)
    return at


@pytest.fixture
def whole(documents, run):
    """A run that was not stopped, beside the folder ``run`` of one that will be."""

    def fit(*arguments):
        assert run("corpus.path=d.jsonl", *arguments) == 0
        (documents / "run").rename(documents / "whole")
        return documents / "whole"

    return fit


def stop(monkeypatch, sweep, number=signal.SIGINT):
    """Make the next run send itself a signal when a sweep is traced."""
    from plugsamp.fitting.runfolder import TraceFile

    write = TraceFile.__call__

    def observed(self, row):
        write(self, row)
        if row["sweep"] == sweep:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(TraceFile, "__call__", observed)


def rows(path):
    with open(path, newline="") as file:
        return [{k: v for k, v in r.items() if k not in ("seconds", "elapsed")} for r in csv.DictReader(file)]


def untimed(path):
    found = json.loads(path.read_text())
    return {k: v for k, v in found.items() if k not in ("seconds", "start_seconds", "tokens_per_second")}


def assert_same(one, two) -> None:
    for name in OUTCOME:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert rows(one / "trace.csv") == rows(two / "trace.csv")
    assert untimed(one / "metrics.json") == untimed(two / "metrics.json")
    for path in (one / "model").iterdir():
        assert path.read_bytes() == (two / "model" / path.name).read_bytes(), path.name


CONFIGURATIONS = [
    ["kernel=light_pc", "loss=logistic", "weights=horseshoe"],
    ["kernel=dense", "learn_alpha.method=slice", "seed=null"],
    ["supervised=two_step", "second_step.sweeps=6", "covariates.words=counts"],
    ["loss=none", "kernel=sparse", "topics=seeded", "topics.words={0:[moon]}"],
]


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.mark.parametrize(
    "options, number, code",
    [
        pytest.param(options, *SIGNALS[j], marks=[pytest.mark.slow] * ((i + j) % 2), id=f"{options[0]}-{j}")
        for i, options in enumerate(CONFIGURATIONS)
        for j in range(2)
    ],
)
def test_an_interrupted_run_ends_as_one_that_was_not(
    documents, options, number, code, run, said, monkeypatch
):
    with monkeypatch.context() as patch:
        stop(patch, 3, number)
        assert run("corpus.path=d.jsonl", *options) == code
    err = said()
    assert "interrupted after 3 of 8 sweeps; the checkpoint in" in err and "Traceback" not in err
    assert f"plugsamp resume run={documents / 'run'} goes on from there" in err
    assert len(rows(documents / "run/trace.csv")) == 3
    assert main(["resume", "run=run"]) == 0
    config = (documents / "run/config.yaml").read_text()
    (documents / "run").rename(documents / "stopped")
    seed = next(line for line in config.splitlines() if line.startswith("seed")).replace(": ", "=")
    assert run("corpus.path=d.jsonl", *options[:-1] if "null" in options[-1] else options, seed) == 0
    assert_same(documents / "run", documents / "stopped")


@pytest.mark.parametrize("during", ["fitting.fit.Recording", "commands.run_fit.run"])
def test_an_interrupt_before_there_is_a_checkpoint_says_so(during, documents, run, said, monkeypatch):
    def interrupted(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(f"plugsamp.{during}", interrupted)
    assert run("corpus.path=d.jsonl") == 130
    err = said()
    assert "plugsamp fit: interrupted; there is no checkpoint yet\nplugsamp resume run=" in err
    assert "Traceback" not in err
    monkeypatch.undo()
    os.chdir(documents)
    assert main(["resume", "run=run"]) == 0
    again = (documents / "run/trace.csv").read_text()
    assert again.count("\n") == 9 and run("corpus.path=d.jsonl", "overwrite=true") == 0
    assert columns(again) == columns((documents / "run/trace.csv").read_text())


def columns(trace: str) -> list[dict]:
    """Rows of a trace without times."""
    rows = csv.DictReader(io.StringIO(trace))
    return [{k: v for k, v in row.items() if k not in ("seconds", "elapsed")} for row in rows]


@pytest.mark.parametrize("what", ["removed", "replaced"])
@pytest.mark.parametrize("when", ["sampling", "evaluating"])
def test_a_folder_that_is_taken_away_meanwhile(what, when, documents, run, said, monkeypatch):
    def taken(*arguments, **options):
        shutil.rmtree(documents / "run", ignore_errors=True)
        if what == "replaced":
            (documents / "run").mkdir()
        monkeypatch.undo()
        return original(*arguments, **options)

    from plugsamp.fitting import running
    from plugsamp.prediction import evaluation

    module, name = (running, "trace_row") if when == "sampling" else (evaluation, "evaluate")
    original = getattr(module, name)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, taken)
        os.chdir(documents)
        assert run("corpus.path=d.jsonl") == 2
    assert f"{documents / 'run'}: the run folder was removed, or replaced, while the run went on" in said()
    if when == "sampling":
        assert not list((documents / "run").glob("*.json")) or what == "replaced"


@pytest.mark.parametrize("text", ["hydra: [", "hydra: {runtime: {cwd: [1]}}", "a\0b", "- 1"])
def test_a_damaged_file_of_hydra_is_named(text, done, said):
    (done / ".hydra/hydra.yaml").write_text(text)
    assert main(["resume", "run=run", "sweeps=12"]) == 2
    err = said()
    assert f"{done / '.hydra/hydra.yaml'} is damaged: " in err and "Traceback" not in err
    (done / ".hydra/hydra.yaml").unlink()
    assert main(["resume", "run=run", "sweeps=12"]) == 0


@pytest.mark.parametrize("scheme", ["ovr", pytest.param("ovo", marks=pytest.mark.slow)])
def test_separate_models(documents, scheme, whole, run, monkeypatch):
    options = [f"multiclass={scheme}", "kernel=dense"]
    folder = whole(*options)
    from plugsamp.fitting import running

    trace_row, count = running.trace_row, []

    def counted(*arguments):
        count.append(1)
        if len(count) == 12:
            os.kill(os.getpid(), signal.SIGINT)
        return trace_row(*arguments)

    monkeypatch.setattr(running, "trace_row", counted)
    assert run("corpus.path=d.jsonl", *options) == 130
    assert main(["resume", "run=run", "n_jobs=1"]) == 0
    assert len(count) == 3 * 8  # none twice
    names = ("predictions.csv", "topics.txt")
    assert all((folder / name).read_bytes() == (documents / "run" / name).read_bytes() for name in names)
    assert rows(folder / "trace.csv") == rows(documents / "run/trace.csv")


def test_more_sweeps(documents, whole, run):
    folder = whole("sweeps=16")
    assert run("corpus.path=d.jsonl", "sweeps=8") == 0
    assert main(["resume", "run=run", "sweeps=16", "top_words=8", "backend=serial"]) == 0
    assert_same(folder, documents / "run")
    assert len(list((documents / "run/checkpoint").iterdir())) == 1


@pytest.mark.parametrize(
    "first, then",
    [("processes", "serial"), pytest.param("serial", "processes", marks=pytest.mark.slow)],
)
def test_where_a_run_goes_on_does_not_change_its_kernel(first, then, documents, run, capfd):
    """What kernel=auto stands for depends on the backend; that of the run's beginning is kept."""
    outcomes = []
    for backend in (first, then):
        assert run("corpus.path=d.jsonl", "sweeps=4", f"backend={first}") == 0
        assert main(["resume", "run=run", "sweeps=8", f"backend={backend}"]) == 0
        assert main(["resume", "run=run", "sweeps=10", "backend=serial"]) == 0
        metrics = json.loads((documents / "run/metrics.json").read_text())
        outcomes.append((metrics["kernel"], rows(documents / "run/trace.csv")))
        assert capfd.readouterr().err.count(f"kernel: {metrics['kernel']}, chosen by auto\n") == 3
        shutil.rmtree(documents / "run")
    assert outcomes[0] == outcomes[1]
    assert ("partial" in outcomes[0][0]) is (first == "processes")


@pytest.mark.parametrize(
    "during",
    [
        "prediction.evaluation.evaluate",
        "report.write",
        pytest.param("commands.run_fit.save_model", marks=pytest.mark.slow),
        pytest.param("commands.run_fit.rows_of", marks=pytest.mark.slow),
        pytest.param("commands.run_fit.write_json", marks=pytest.mark.slow),
    ],
)
def test_interrupted_after_its_last_sweep(during, documents, whole, run, said, monkeypatch):
    """Everything has been sampled: nothing is, again."""
    folder = whole()

    def killed(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"plugsamp.{during}", killed)
        assert run("corpus.path=d.jsonl") == 130
    assert "interrupted; the last checkpoint stands\nplugsamp resume run=" in said()
    monkeypatch.setattr("plugsamp.chain.Chain._one_sweep", killed)
    assert main(["resume", "run=run"]) == 0
    assert_same(folder, documents / "run")


def test_what_a_killed_run_left_half_written_is_taken_away(documents, run):
    assert run("corpus.path=d.jsonl") == 0
    for name in (".model-5rbn8b2n", ".model-old-ab_0123z"):
        (documents / "run" / name).mkdir()
        (documents / "run" / name / "phi.npy").write_bytes(b"half")
    (documents / "run/.topics.txt.part").write_text("half")
    (documents / "run/.mine").mkdir()
    assert main(["resume", "run=run", "sweeps=10"]) == 0
    assert {p.name for p in (documents / "run").glob(".*")} - {".lock"} == {".hydra", ".mine"}


def command(*arguments):
    return [sys.executable, "-m", "plugsamp.cli", *arguments]


def test_a_run_that_was_killed(documents, fast, said):
    (documents / "elsewhere").mkdir()
    run = command("fit", *fast, *SLOW, "hydra.run.dir=run")
    process = subprocess.Popen(run, cwd=documents, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(lambda: any((documents / "run/checkpoint").glob("0*")))
        live = main(["resume", f"run={documents / 'run'}"])
        alive = process.poll() is None
    finally:
        process.kill()
        process.wait()
    if alive:  # it was while the other looked
        assert live == 2 and f"is being written by process {process.pid}" in said()
    os.chdir(documents / "elsewhere")  # its paths are those of its start
    assert main(["resume", f"run={documents / 'run'}"]) == 0
    os.chdir(documents)
    assert main(["fit", *fast, *SLOW, "hydra.run.dir=whole"]) == 0
    assert_same(documents / "whole", documents / "run")
    assert not [p for p in (documents / "run").rglob(".*") if p.name != ".hydra"]  # nothing half written


# -- what is refused ----------------------------------------------------------------------------------


@pytest.fixture
def done(documents, run):
    assert run("corpus.path=d.jsonl") == 0
    return documents / "run"


REFUSED = [
    ([], "which run? plugsamp resume run=FOLDER"),
    (["run=nowhere"], "there is no folder nowhere"),
    (["run=."], ". is not a run folder: it has no config.yaml"),
    (["run=run"], "is done; with more sweeps than 8 it goes on (sweeps=...)"),
    (["run=run", "sweeps=8"], "is done; with more sweeps than 8"),
    (["run=run", "sweeps=7"], "has done 8 sweeps already; sweeps must be that or more, not 7"),
    (["run=run", "sweeps=no"], "sweeps must be a whole number"),
    (["run=run", "n_topics=4", "sweeps=9"], "n_topics cannot change when a run goes on; only sweeps, "),
    (["run=run", "loss.cost=4", "sweeps=9"], "loss.cost cannot change when a run goes on"),
    (["run=run", "+seed=4", "sweeps=9"], "cannot change when a run goes on"),
    (["run=run", "backend=no", "sweeps=9"], "no backend named 'no'"),
    (["run=run", "hydra.run.dir=x"], "hydra.run.dir cannot change"),
]


def test_what_cannot_be_is_said(done, said):
    (done.parent / "d.jsonl").unlink()  # and is said before the corpus is read
    for arguments, why in REFUSED:
        before = {path: path.stat().st_mtime_ns for path in done.rglob("*") if path.suffix != ".log"}
        assert main(["resume", *arguments]) == 2
        err = said()
        assert why in err and "Traceback" not in err
        after = {path: path.stat().st_mtime_ns for path in done.rglob("*") if path.suffix != ".log"}
        assert {k: v for k, v in after.items() if k.parent != done or k.is_file()} == {
            k: v for k, v in before.items() if k.parent != done or k.is_file()
        }
        assert not (done.parent / "nowhere").exists()


def test_no_checkpoint(documents, run, said):
    assert run("corpus.path=d.jsonl", "checkpoint.keep=false") == 0
    assert main(["resume", "run=run", "sweeps=9"]) == 2
    assert "has no checkpoint to go on from" in said()


def test_another_corpus(done, write_documents, said):
    write_documents(done.parent / "d.jsonl", n=31)
    trace = (done / "trace.csv").read_bytes()
    assert main(["resume", "run=run", "sweeps=12"]) == 2
    assert "belongs to another corpus: its digest was" in said()
    assert (done / "trace.csv").read_bytes() == trace and "sweeps: 8" in (done / "config.yaml").read_text()


def test_a_configuration_that_was_changed(done, said):
    text = (done / "config.yaml").read_text()
    (done / "config.yaml").write_text(text.replace("n_topics: 3", "n_topics: 4"))
    assert main(["resume", "run=run", "sweeps=12"]) == 2
    assert "n_topics was 3, and is 4" in said()
    (done / "config.yaml").write_text("n_topics: [3\n")
    assert main(["resume", "run=run", "sweeps=12"]) == 2
    assert "config.yaml is damaged" in said()


def test_a_damaged_checkpoint(done, said):
    checkpoint = next((done / "checkpoint").iterdir())
    os.truncate(checkpoint / "eta.npy", 100)
    assert main(["resume", "run=run", "sweeps=12"]) == 2
    assert "no checkpoint can be read" in said() and (done / "metrics.json").exists()


def test_a_plugin_that_is_gone(documents, run, site, install, said):
    source = "from plugsamp.losses.hinge import Hinge\nclass Soft(Hinge):\n    pass\n"
    install(site, "soft-losses", "soft_losses", source, {"losses": {"soft": "Soft"}})
    assert run("corpus.path=d.jsonl", "loss=soft") == 0
    assert main(["resume", "run=run", "sweeps=12"]) == 0
    for path in site.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    time.sleep(0.01)
    os.utime(site)  # the registry looks again where folders have changed
    said()
    assert main(["resume", "run=run", "sweeps=16"]) == 2
    err = said()
    assert "needs the loss 'soft' of package soft-losses 1.0, not installed here" in err


def test_several_runs_one_after_the_other(documents, run):
    for name in ("a", "b,c=1"):
        assert run("corpus.path=d.jsonl") == 0
        (documents / "run").rename(documents / name)
    assert main(["resume", "run=b,c=1", "sweeps=10"]) == 0  # as multirun names its folders
    assert main(["resume", "-m", "run=a,'b,c=1'", "sweeps=12"]) == 0
    for name in ("a", "b,c=1"):
        assert "sweeps: 12" in (documents / name / "config.yaml").read_text()
        assert json.loads((documents / name / "metrics.json").read_text())["sweeps"] == 12


def test_a_new_run_leaves_a_checkpoint_alone(done, run, said):
    assert run("corpus.path=d.jsonl") == 2
    assert f"go on from its checkpoint with plugsamp resume run={done}" in said()
    assert run("corpus.path=d.jsonl", "overwrite=true", "sweeps=5") == 0
    assert [p.name for p in (done / "checkpoint").iterdir()] == ["000001-sweep-5"]


def test_the_manual(capsys):
    assert main(["resume", "--help"]) == 0
    out = capsys.readouterr().out
    assert "run=(needed)" in out and "checkpoint.minutes=null" in out and "backend=NAME" in out
