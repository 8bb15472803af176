"""Where the output goes: pipes, closed streams, full disks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys

import pytest

from ..crossed import crossed

#: Without responses a command of its own need not import scikit-learn, which takes as long as all else.
NO_SCORES = "loss=none"


def test_no_control_characters_without_a_terminal(at, write_documents, fast):
    write_documents(at / "d.jsonl")
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *fast, "corpus.path=d.jsonl", "sweeps=25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=at)
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, done.stderr):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "sweep 10/25" in done.stderr and "sweep 25/25" in done.stderr
    assert "accuracy" in done.stdout


def test_lines_and_the_bar_have_lines_of_their_own_on_a_terminal(at, write_documents, fast):
    write_documents(at / "d.jsonl")
    ours, theirs = os.openpty()
    more = ["corpus.path=d.jsonl", "sweeps=3", "hydra.verbose=plugsamp", "hydra.run.dir=run"]
    options = [*fast, NO_SCORES, *more]
    command = [sys.executable, "-m", "plugsamp.cli", "fit", *options]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=at, env=environment) as run:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 4096):
                written += part
        os.close(ours)
    assert run.returncode == 0
    # What is drawn is drawn over: the bar by the lines above it, and the rest of it at the end.
    shown = re.sub(r"\x1b\[2K", "\n", written.decode())
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()]
    said = [line for line in lines if line and "\u2501" not in line]
    assert [line.split("  ")[0] for line in said] == (at / "run" / "fit.log").read_text().split("\n")[:2] + [
        f"sweep {n}/3" for n in (1, 2, 3)
    ]


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


@pytest.mark.parametrize(
    "command, reader",
    crossed(
        ["p fit ARGS", "p fit --help", "p fit --cfg job", "p plugins", "p"], ["head -1 >/dev/null", "true"]
    ),
)
def test_a_reader_that_leaves_is_no_mistake(at, command, reader, write_documents, fast, run):
    write_documents(at / "d.jsonl")
    arguments = " ".join(f"'{a}'" for a in [*fast, NO_SCORES, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"{command.replace('ARGS', arguments)} | {reader}; exit ${{PIPESTATUS[0]}}", at)
    assert code == 0 and "Broken pipe" not in err and "Traceback" not in err
    if "ARGS" in command:
        assert (at / "run/metrics.json").exists() and (at / "run/topics.txt").exists()


def test_a_reader_that_leaves_in_the_middle_is_no_mistake(at):
    """More than is kept back, so that the command itself finds the pipe broken."""
    code, err = shell("p cite format=bibtex | true; exit ${PIPESTATUS[0]}", at)
    assert code == 0 and err == ""


@pytest.mark.parametrize(
    "closed",
    [
        ">&- 2>&-",
        pytest.param(">&-", marks=pytest.mark.slow),
        pytest.param("<&- >/dev/null", marks=pytest.mark.slow),
    ],
)
def test_closed_streams_do_not_stop_a_run(at, closed, write_documents, fast, run):
    write_documents(at / "d.jsonl")
    arguments = " ".join(f"'{a}'" for a in [*fast, NO_SCORES, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"p fit {arguments} {closed}", at)
    assert code == 0 and "Traceback" not in err
    assert (at / "run/metrics.json").exists()


def test_a_full_disk_behind_the_output_is_told(at):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for command in ("p", "p plugins", "p fit --help"):
        code, err = shell(f"{command} >/dev/full", at)
        assert code == 2 and "No space left" in err and "Traceback" not in err


def test_letters_that_the_terminal_lacks_are_escaped(at, fast, run):
    lines = [{"text": "gr\u00f6\u00dfe caf\u00e9", "label": "ab"[i % 2]} for i in range(6)]
    (at / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    arguments = " ".join(f"'{a}'" for a in [*fast, NO_SCORES, "corpus.path=d.jsonl", "hydra.run.dir=run"])
    code, err = shell(f"p fit {arguments} >out.txt", at, PYTHONIOENCODING="ascii")
    assert code == 0, err
    assert "caf\\xe9" in (at / "out.txt").read_text()
    assert "caf\u00e9" in (at / "run/topics.txt").read_text(encoding="utf-8")
