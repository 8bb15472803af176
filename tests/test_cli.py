"""The command line: what it prints, what it writes, and what it says of mistakes."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plugsamp.cli import COMMANDS, main

WORDS = {
    "space": ["orbit", "rocket", "launch", "moon", "shuttle", "planet"],
    "food": ["bread", "butter", "cheese", "soup", "pepper", "salt"],
    "music": ["guitar", "drum", "song", "chorus", "violin", "opera"],
}


def write_documents(path, labels=("space", "food", "music"), n=8, label=lambda name: name, **more):
    """n documents a class, some with a split."""
    rng = np.random.default_rng(3)
    with open(path, "w") as out:
        for i in range(n):
            for name in labels:
                text = " ".join(rng.choice(WORDS[name], 12))
                split = "test" if i % 4 == 3 else "train"
                document = {"id": f"{name}-{i}", "label": label(name), "text": text, "split": split, **more}
                out.write(json.dumps(document) + "\n")
    return path


FAST = ["n_topics=3", "sweeps=8", "corpus=jsonl", "corpus.min_df=1", "corpus.stop_words=none"]


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A working folder of its own, and no settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in ("PLUGSAMP_TRACEBACK", "HYDRA_FULL_ERROR", "PLUGSAMP_DATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments):
    return main(["fit", *FAST, *arguments, "hydra.run.dir=run"])


def said(capsys) -> str:
    """Standard error without progress: what a user reads of a mistake."""
    return capsys.readouterr().err


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# -- what is there ---------------------------------------------------------------------------------------


def test_alone_it_prints_what_there_is(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    for name, (_, line) in COMMANDS.items():
        assert f"plugsamp {name}" in out and line in out
    assert "Examples" in out


def test_alone_and_import_are_quick_because_they_import_little():
    code = (
        "import sys, plugsamp, plugsamp.cli; plugsamp.cli.main([]);"
        "heavy = {'numpy', 'scipy', 'hydra', 'sklearn', 'rich'} & set(sys.modules); sys.exit(len(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("arguments", [[], ["--version"], ["plugins"], ["fit", "--help"]], ids=str)
def test_a_reader_that_has_had_enough_is_no_error(arguments, buffered):
    process = subprocess.Popen(
        [sys.executable, "-m", "plugsamp.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": buffered},
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_an_unknown_command(capsys):
    assert main(["fti"]) == 2
    assert "no command 'fti'; did you mean 'fit'?" in capsys.readouterr().err


def test_plugins_lists_origin_and_options(capsys):
    assert main(["plugins", "losses", "priors"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"hinge +plugsamp \S+, plugsamp\.losses\.hinge:Hinge", out)
    assert "cost=102.4, margin=1.0" in out and "variance=1.0" in out
    assert main(["plugins", "loss"]) == 2
    assert "did you mean 'losses'?" in capsys.readouterr().err


def test_help_is_a_manual_page(at, capsys):
    assert main(["fit", "--help"]) == 0
    page = capsys.readouterr().out
    for part in ("loss=hinge", "loss.cost=102.4", "n_topics=50", "burn_in=null", "experiment", "--multirun"):
        assert part in page
    assert "${" not in page and "_target_" not in page
    assert main(["fit", "--help", "kernel=composed"]) == 0
    assert "kernel.steps=6" in capsys.readouterr().out
    assert not list(at.iterdir())


def test_every_option_is_documented(at, capsys):
    from dataclasses import fields

    from plugsamp.commands.fit import Predict, Settings
    from plugsamp.commands.manual import _documented

    documented = {key: text for _, entries in _documented() for key, text in entries}
    wanted = {f.name for f in fields(Settings) if f.name != "predict"}
    wanted |= {f"predict.{f.name}" for f in fields(Predict)}
    assert set(documented) == wanted
    assert all(documented.values())


def test_the_configuration_can_be_shown(at, capsys):
    assert main(["fit", "--cfg", "job", "loss.cost=3"]) == 0
    out = capsys.readouterr().out
    assert "cost: 3" in out and "n_topics: 50" in out
    assert not list(at.iterdir())


# -- a run -----------------------------------------------------------------------------------------------


def test_a_run_leaves_what_it_promises(at, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "n_topics=6", "sweeps=30", "seed=0", "predict.passes=9") == 0
    out = capsys.readouterr().out
    folder = at / "run"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["main_name"] == "test_accuracy" and metrics["main"] == metrics["test"]["accuracy"] >= 0.8
    assert metrics["seed"] == 0 and len(metrics["corpus_digest"]) >= 32 and metrics["tokens_per_second"] > 0
    trace = read_csv(folder / "trace.csv")
    assert [int(r["sweep"]) for r in trace] == list(range(1, 31))
    for column in ("seconds", "log_joint", "log_joint_words", "loss", "moved"):
        assert all(np.isfinite(float(r[column])) for r in trace), column
    rows = read_csv(folder / "predictions.csv")
    assert len(rows) == 6 and {r["true"] for r in rows} == set(WORDS)
    assert np.mean([r["true"] == r["predicted"] for r in rows]) == metrics["main"]
    for row in rows:
        scores = {name: float(row[f"score_{name}"]) for name in WORDS}
        assert max(scores, key=scores.get) == row["predicted"]
    assert "accuracy" in out and "orbit" in out and "speaks for" in out
    assert "sweeps: 30" in (folder / "config.yaml").read_text()
    assert "rocket" in (folder / "topics.txt").read_text()


def test_the_model_of_a_run_predicts_what_the_run_predicted(at):
    from plugsamp import load_model
    from plugsamp.readers.jsonl import JsonLines

    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl") == 0
    predictor = load_model(at / "run" / "model")
    test = JsonLines(path="d.jsonl", min_df=1, stop_words="none").read().test
    rows = read_csv(at / "run" / "predictions.csv")
    assert predictor.predict(test).labels.tolist() == [r["predicted"] for r in rows]
    assert [float(r["score_food"]) for r in rows] == predictor.predict(test).f[:, 0].tolist()


def test_the_same_run_again_and_from_its_own_config(at):
    write_documents(at / "d.jsonl")
    arguments = ["fit", *FAST, "corpus.path=d.jsonl", "seed=null"]
    assert main([*arguments, "hydra.run.dir=one"]) == 0
    seed = json.loads((at / "one/metrics.json").read_text())["seed"]
    assert f"seed: {seed}" in (at / "one/config.yaml").read_text()
    assert main([*arguments, f"seed={seed}", "hydra.run.dir=two"]) == 0
    assert (at / "one/predictions.csv").read_bytes() == (at / "two/predictions.csv").read_bytes()
    assert main([*arguments, f"seed={seed + 1}", "hydra.run.dir=three"]) == 0
    assert (at / "one/predictions.csv").read_bytes() != (at / "three/predictions.csv").read_bytes()


def test_python_does_the_same_fit(at):
    import plugsamp as ps

    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "loss.cost=5") == 0
    split = ps.readers.JsonLines(path="d.jsonl", min_df=1, stop_words="none").read()
    result = ps.fit(split.train, ps.Model(3, loss=ps.losses.Hinge(cost=5)), sweeps=8)
    rows = read_csv(at / "run" / "predictions.csv")
    assert [float(r["score_food"]) for r in rows] == result.predictor.predict(split.test).f[:, 0].tolist()
    assert [float(r["log_joint"]) for r in read_csv(at / "run/trace.csv")] == [
        r["log_joint"] for r in result.trace
    ]


def test_multirun_runs_each(at):
    write_documents(at / "d.jsonl")
    choices = ["loss=hinge,none", "kernel=glob(*)"]
    arguments = ["fit", "-m", *FAST, "corpus.path=d.jsonl", *choices, "hydra.sweep.dir=sweep"]
    assert main(arguments) == 0
    found = {m.parent.name: json.loads(m.read_text()) for m in (at / "sweep").glob("*/metrics.json")}
    assert {m["main_name"] for m in found.values()} == {"test_accuracy", "log_joint_words_per_token"}


def test_a_failing_job_of_a_sweep_says_so_and_the_others_run(at, capsys):
    write_documents(at / "d.jsonl")
    code = main(["fit", "-m", *FAST, "corpus.path=d.jsonl", "n_topics=0,2", "hydra.sweep.dir=sweep"])
    assert code == 2
    assert "n_topics must be from 1" in said(capsys)
    assert "n_topics must be from 1" in (at / "sweep/0/fit.log").read_text()
    assert (at / "sweep/1/metrics.json").exists()


def test_paths_are_the_callers_even_with_chdir(at):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=./d.jsonl", "hydra.job.chdir=true") == 0
    assert (at / "run/metrics.json").exists()


def test_no_control_characters_without_a_terminal(at):
    write_documents(at / "d.jsonl")
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *FAST, "corpus.path=d.jsonl", "sweeps=25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=at)
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, done.stderr):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "sweep 10/25" in done.stderr and "sweep 25/25" in done.stderr
    assert "accuracy" in done.stdout


def test_an_interrupt_keeps_the_trace(at):
    write_documents(at / "d.jsonl", n=60)
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *FAST, "corpus.path=d.jsonl", "sweeps=1000000"]
    process = subprocess.Popen(
        [*command, "hydra.run.dir=run"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=at
    )
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


# -- right answers at the edges --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "label, expected",
    [
        (lambda name: name == "space", {"true", "false", "True", "False"}),
        (lambda name: {"space": 10, "food": 9, "music": 9}[name], {"9", "10"}),
        (lambda name: None if name == "music" else name, {"space", "food", ""}),
    ],
    ids=["bools", "numbers", "missing"],
)
def test_labels_of_all_kinds(at, label, expected):
    write_documents(at / "d.jsonl", label=label)
    assert run("corpus.path=d.jsonl", "corpus.missing_labels=true", "corpus.response=label") == 0
    rows = read_csv(at / "run/predictions.csv")
    assert {r["true"] for r in rows} <= expected
    assert {r["predicted"] for r in rows} <= expected - {""}


@pytest.mark.parametrize("arguments", [["n_topics=1"], ["n_topics=2000"], ["sweeps=1"], ["kernel=composed"]])
def test_extremes_that_have_a_right_answer(at, arguments):
    write_documents(at / "d.jsonl", n=4)
    assert run("corpus.path=d.jsonl", *arguments) == 0
    assert json.loads((at / "run/metrics.json").read_text())["test"]["n_scored"] == 3


def test_one_word_and_a_class_with_one_document(at):
    lines = [{"text": "word word", "label": "a", "split": "train"} for _ in range(4)]
    lines += [
        {"text": "word", "label": "b", "split": "train"},
        {"text": "word", "label": "a", "split": "test"},
    ]
    (at / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("corpus.path=d.jsonl") == 0
    assert read_csv(at / "run/predictions.csv")[0]["predicted"] in ("a", "b")


def test_without_test_documents(at):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "corpus.split=none") == 0
    assert json.loads((at / "run/metrics.json").read_text())["main_name"] == "train_accuracy"
    assert not (at / "run/predictions.csv").exists()


# -- mistakes: one message, exit code 2, no traceback -------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["loss.cots=5"], ["no option 'loss.cots'", "did you mean 'loss.cost'", "loss.margin"]),
        (["n_topcs=5"], ["no option 'n_topcs'", "did you mean 'n_topics'"]),
        (["missing_labels=true"], ["no option 'missing_labels'", "did you mean 'corpus.missing_labels'"]),
        (["corpus=svmlight", "path=d.svm"], ["no option 'path'", "did you mean 'corpus.path'"]),
        (["kernel.steps=4"], ["no option 'kernel.steps' of kernel=dense; it is one of kernel=composed"]),
        (["los=hinge"], ["no option 'los'", "did you mean 'loss'"]),
        (["loss=hing"], ["no loss named 'hing'", "did you mean 'hinge'", "none"]),
        (["loss.cost=much"], ["'cost' must be a number, not 'much'"]),
        (["loss.cost=-1"], ["cost must be a number above 0"]),
        (["sweeps=0"], ["sweeps must be a whole number, 1 or more, not 0"]),
        (["burn_in=8"], ["burn_in=8 leaves none of 8 sweeps"]),
        (["thin=0"], ["thin must be"]),
        (["n_topics=0"], ["n_topics must be from 1"]),
        (["alpha=0"], ["alpha must be"]),
        (["seed=-1"], ["seed must be"]),
        (["weight_update=best"], ["weight_update must be"]),
        (["predict.passes=1"], ["predict.burn_in"]),
        (["corpus.path=absent.jsonl"], ["absent.jsonl"]),
        (["corpus.path=."], ["."]),
        (["corpus.text=body"], ["body"]),
        (["corpus.path=a,b.jsonl"], ["a,b.jsonl"]),
        (["corpus.path='a"], ["cannot read the argument"]),
        (["corpus=svmlight"], ["corpus=svmlight needs corpus.path"]),
        (["experiment=absent"], ["no experiment named 'absent'", "20ng"]),
        (["kernel=composed", "kernel.proposals=[doc,wrd]"], ["wrd", "word"]),
        (["loss.cost=1e300"], ["cost must be a number above 0 (to 1e+30), not 1e+300"]),
        (["weights.variance=5e-324"], ["variance must be a number from 1e-30 to 1e+30"]),
        (["alpha=1e39"], ["alpha must be 1e+09 or less everywhere, found 1e+39"]),
        (["beta=1e39"], ["beta must be 1e+09 or less"]),
        (["weight_update=x", "corpus.path=absent"], ["weight_update must be one of auto, block"]),
        (["weight_passes=0", "corpus.path=absent"], ["weight_passes must be a whole number, 1 or more"]),
        (["seed=-1", "corpus.path=absent"], ["seed must be a whole number, 0 or more, not -1"]),
        (["loss=null"], ["loss=null: a choice is needed", "hinge, none"]),
        (["=3"], ["=3: a choice is needed"]),
        (["~loss"], ["loss has no name; choose one: loss=NAME"]),
        (["~n_topics"], ["the option n_topics is missing"]),
        (["n_topics=3,4"], ["n_topics=3,4 is several values; add --multirun", "n_topics=[3,4]"]),
        (["corpus.path=~/d.jsonl"], ["~ does not stand for the home folder", "$HOME"]),
        (["corpus.only=[]"], ["only= names no label"]),
        (["corpus.test_value=tset"], ["no document has 'tset' in the split field"]),
        (["corpus.split=label", "corpus.test_value=none"], ["no document has 'none' in the split field"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_mistakes_are_told_in_one_message(at, capsys, arguments, expected):
    write_documents(at / "d.jsonl")
    path = [] if any(a.startswith(("corpus.path", "corpus=")) for a in arguments) else ["corpus.path=d.jsonl"]
    fast = [a for a in FAST if not a.startswith("corpus")] if "corpus=svmlight" in arguments else FAST
    assert main(["fit", *fast, *path, *arguments, "hydra.run.dir=run"]) == 2
    err = said(capsys)
    assert "Traceback" not in err and "HYDRA_FULL_ERROR" not in err
    for part in expected:
        assert part in err
    assert not (at / "run/metrics.json").exists()


@pytest.mark.parametrize(
    "content, expected",
    [
        ("", "document"),
        ("\n\n", "document"),
        ('{"text": "", "label": "a"}\n{"text": "", "label": "b"}\n', "token"),
        ('{"text": "aa bb", "label": "a"}\n{"text": "aa cc", "label": "a"}\n', "only one class"),
        ('{"text": "aa bb"}\n{"text": "aa cc"}\n', "label"),
        ('{"text": "aa bb", "label"}\n', "line 1"),
    ],
    ids=["empty", "blank", "no tokens", "one class", "no labels", "not JSON"],
)
def test_corpora_that_cannot_be_fitted(at, capsys, content, expected):
    (at / "d.jsonl").write_text(content)
    assert run("corpus.path=d.jsonl") == 2
    err = said(capsys)
    assert expected in err and "Traceback" not in err


def test_hinge_without_labels(at, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl", "corpus.response=none") == 2
    assert "no labels; choose loss=none" in said(capsys)


def test_a_file_that_may_not_be_read(at, capsys):
    path = write_documents(at / "d.jsonl")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads everything")
    assert run("corpus.path=d.jsonl") == 2
    assert "d.jsonl" in said(capsys)


def test_a_used_run_folder_is_refused(at, capsys):
    write_documents(at / "d.jsonl")
    assert run("corpus.path=d.jsonl") == 0
    before = (at / "run/metrics.json").read_bytes()
    assert run("corpus.path=d.jsonl", "seed=5") == 2
    assert "holds a run already" in said(capsys)
    assert (at / "run/metrics.json").read_bytes() == before
    assert run("corpus.path=d.jsonl", "seed=5", "overwrite=true") == 0
    assert (at / "run/metrics.json").read_bytes() != before


def test_the_traceback_can_be_had(at, monkeypatch):
    monkeypatch.setenv("PLUGSAMP_TRACEBACK", "1")
    with pytest.raises(ValueError, match="sweeps must be"):
        run("corpus.path=d.jsonl", "sweeps=0")


def test_what_is_not_finite_stops_the_run_and_is_named(at, capsys, monkeypatch):
    from plugsamp.chain import Chain

    write_documents(at / "d.jsonl")
    real = Chain.log_joint
    monkeypatch.setattr(
        Chain, "log_joint", lambda c: {**real(c), "weights": np.nan} if c.sweep == 3 else real(c)
    )
    assert run("corpus.path=d.jsonl") == 2
    assert "sweep 3: the weights part of the log joint is nan" in said(capsys)
    assert len(read_csv(at / "run/trace.csv")) == 2


# -- where the output goes ---------------------------------------------------------------------------------


def shell(command, at, **environment):
    """`command` in a shell, where plugsamp is the function `p`; (exit code, standard error)."""
    text = f'p() {{ "{sys.executable}" -m plugsamp.cli "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", text],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=at,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["p fit ARGS", "p fit --help", "p fit --cfg job", "p plugins", "p"])
@pytest.mark.parametrize("reader", ["head -1 >/dev/null", "true"])
def test_a_reader_that_leaves_is_no_mistake(at, command, reader):
    write_documents(at / "d.jsonl")
    arguments = " ".join(f"'{a}'" for a in [*FAST, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"{command.replace('ARGS', arguments)} | {reader}; exit ${{PIPESTATUS[0]}}", at)
    assert code == 0 and "Broken pipe" not in err and "Traceback" not in err
    if "ARGS" in command:
        assert (at / "run/metrics.json").exists() and (at / "run/topics.txt").exists()


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >/dev/null"])
def test_closed_streams_do_not_stop_a_run(at, closed):
    write_documents(at / "d.jsonl")
    arguments = " ".join(f"'{a}'" for a in [*FAST, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"p fit {arguments} {closed}", at)
    assert code == 0 and "Traceback" not in err
    assert (at / "run/metrics.json").exists()


def test_a_full_disk_behind_the_output_is_told(at):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for command in ("p", "p plugins", "p fit --help"):
        code, err = shell(f"{command} >/dev/full", at)
        assert code == 2 and "No space left" in err and "Traceback" not in err


def test_letters_that_the_terminal_lacks_are_escaped(at):
    lines = [{"text": "gr\u00f6\u00dfe caf\u00e9", "label": "ab"[i % 2]} for i in range(6)]
    (at / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = " ".join(f"'{a}'" for a in [*FAST, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"p fit {arguments} >out.txt", at, PYTHONIOENCODING="ascii")
    assert code == 0, err
    assert "caf\\xe9" in (at / "out.txt").read_text()
    assert "caf\u00e9" in (at / "run/topics.txt").read_text(encoding="utf-8")


def test_an_interrupt_before_anything_is_imported(at, monkeypatch, capsys):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("plugsamp.cli.import_module", interrupted)
    assert main(["fit"]) == 130
    assert said(capsys) == "plugsamp: interrupted\n"


def test_numbers_that_leave_their_range_are_a_message(at, capsys, monkeypatch):
    from plugsamp import chain, weights

    write_documents(at / "d.jsonl")

    def fails(*arguments, **more):
        raise weights.WeightError("output 0: the precision matrix of its weights is not positive definite")

    monkeypatch.setattr("plugsamp.phases.update_outputs", fails)
    assert run("corpus.path=d.jsonl") == 2
    assert "plugsamp fit: output 0: the precision matrix" in said(capsys)
    monkeypatch.undo()
    os.chdir(at)
    monkeypatch.setattr(chain, "LARGEST_WEIGHT", 1e-3)
    assert run("corpus.path=d.jsonl", "overwrite=true") == 2
    assert "sweep 1: the weight of output 0, column 0 is" in said(capsys)


def test_a_sweep_without_runs_is_a_mistake(at, capsys):
    write_documents(at / "d.jsonl")
    assert main(["fit", "-m", *FAST, "corpus.path=d.jsonl", "loss=glob(x*)", "hydra.sweep.dir=sweep"]) == 2
    assert "the sweep has no run" in said(capsys)
