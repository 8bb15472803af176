"""The table of a folder, from made-up run folders."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import time

import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser

import plugsamp as ps
from plugsamp.cli import main as plugsamp
from plugsamp.errors import InputWarning
from plugsamp.files.lock import Lock
from plugsamp.sweeps import options
from plugsamp.sweeps.text import described
from plugsamp.testing.processes import until


def run_folder(path, overrides, status="done", main=None, name="test_accuracy", config=None, **record):
    path.mkdir(parents=True)
    if status is not None:
        content = {"status": status, "error": None, "overrides": overrides, "wall_seconds": 3.0, **record}
        (path / "status.json").write_text(json.dumps(content))
    (path / "config.yaml").write_text(yaml.safe_dump(config or {}))
    if main is not None:
        measures = {name.partition("_")[2]: main, "n_scored": 5}
        content = {"main": main, "main_name": name, "test": measures, "train": None, "seconds": 1.5}
        (path / "metrics.json").write_text(json.dumps(content))


@pytest.fixture
def sweep(tmp_path):
    folder = tmp_path / "sweep"
    run_folder(folder / "0", ["n_topics=20", "loss=hinge"], main=0.7)
    run_folder(folder / "1", ["n_topics=50", "loss=hinge"], main=0.8)
    run_folder(folder / "2", ["n_topics=0", "loss=hinge"], "failed", error="n_topics must be 1\nor more")
    run_folder(folder / "10", ["n_topics=20", "loss=none"], main=-7.5, name="test_log_likelihood")
    run_folder(folder / "11", ["n_topics=50", "loss=none"], "running")
    run_folder(
        folder / "12", ["n_topics=80", "loss=none"], "interrupted", error="interrupted after 3 of 9 sweeps"
    )
    jobs = [["n_topics=20", "loss=hinge"], ["n_topics=90", "loss=hinge"]]
    (folder / "sweep.json").write_text(json.dumps({"jobs": jobs}))
    return folder


def test_the_best_first_and_what_has_no_outcome_last(sweep):
    table = ps.sweep_table(sweep)
    assert [row["folder"] for row in table.rows] == ["1", "0", "10", "12", "11", "2", None]
    found = [row["status"] for row in table.rows]
    assert found == [*["done"] * 3, "interrupted", "killed", "failed", "not started"]
    measures = ["test_accuracy", "test_log_likelihood"]
    ends = ["log_joint", "tokens_per_second", "seconds", "wall_seconds", "status", "error", "folder"]
    assert table.columns == ["n_topics", "loss", *measures, *ends]
    assert table.rows[0] | {"wall_seconds": 3.0} == table.rows[0]
    assert (table.rows[0]["n_topics"], table.rows[0]["test_accuracy"]) == (50, 0.8)
    assert table.varied == ["n_topics", "loss"] and len(table) == 7 and len(table.failed) == 4


def test_what_a_run_has_whatever_its_task(sweep):
    path = sweep / "10/metrics.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log_joint": -9.5, "tokens_per_second": 2e6}))
    table = ps.sweep_table(sweep, "log_joint")
    assert [table.rows[0][name] for name in ("folder", "log_joint", "tokens_per_second")] == ["10", -9.5, 2e6]
    assert table.rows[1]["log_joint"] is None  # of an older plugsamp
    assert "log_joint" in described(table).splitlines()[0]
    assert "log_joint" not in described(ps.sweep_table(sweep)).splitlines()[0]


def test_less_is_better_of_some(sweep):
    table = ps.sweep_table(sweep, metric="seconds")
    assert {row["status"] for row in table.rows[:3]} == {"done"}
    run_folder(sweep / "13", ["n_topics=5", "loss=none"], main=-9.0, name="test_log_likelihood")
    assert ps.sweep_table(sweep, "log_likelihood").rows[0]["folder"] == "10"  # of the others there is none
    with pytest.raises(ValueError, match="no metric 'second'; did you mean 'seconds'"):
        ps.sweep_table(sweep, "second")


def test_a_measure_that_no_run_has_is_an_empty_column(sweep):
    table = ps.sweep_table(sweep, metric="log_loss")
    assert {row["log_loss"] for row in table.rows} == {None}


def test_a_run_that_goes_on_is_told_from_one_that_was_killed(sweep):
    with Lock(sweep / "11"):
        assert ps.sweep_table(sweep).rows[3]["status"] == "running"
    pid = os.fork()
    if pid == 0:  # another process
        try:
            Lock(sweep / "11").__enter__()
            (sweep / "held").touch()
            time.sleep(30)
        finally:
            os._exit(0)
    try:
        assert until(lambda: (sweep / "held").exists(), 10.0)
        assert ps.sweep_table(sweep).rows[3]["status"] == "running"
        assert ps.sweep_table(sweep).rows[3]["status"] == "running"  # looking takes no lock away
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    assert "running" not in {row["status"] for row in ps.sweep_table(sweep).rows}


def test_as_csv(sweep, tmp_path):
    table = ps.sweep_table(sweep)
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert [row["test_accuracy"] for row in rows] == ["0.8", "0.7", "", "", "", "", ""]
    assert rows[5]["error"] == "n_topics must be 1\nor more"
    table.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == table.csv()


def test_as_text(sweep):
    text = described(ps.sweep_table(sweep)).splitlines()
    assert text[0].split() == [
        "n_topics",
        "loss",
        "test_accuracy",
        "test_log_likelihood",
        "seconds",
        "status",
        "folder",
    ]
    assert text[1].split() == ["50", "hinge", "0.8", "1.5", "done", "1"]
    assert text[-2:] == ["12: interrupted after 3 of 9 sweeps", "2: n_topics must be 1"]


def test_measures_have_the_same_decimals(tmp_path):
    for number, (cost, main) in enumerate([(0.25, 0.64), (10.0, 0.6787), (2.0, 0.5)]):
        run_folder(tmp_path / "f" / str(number), [f"loss.cost={cost}", r"x=a\ b"], main=main)
    run_folder(tmp_path / "f/3", ["loss.cost=1.5", r"x=a\ b"], "failed", error="no")
    text = described(ps.sweep_table(tmp_path / "f")).splitlines()
    found = [line.split()[:2] for line in text[3:6]]
    assert found == [["10", "0.6787"], ["0.25", "0.6400"], ["2", "0.5000"]]
    for number, main in enumerate([-123456.7, -9.5]):
        run_folder(tmp_path / "g" / str(number), [f"seed={number}", r"x=a\ b"], main=main)
    text = described(ps.sweep_table(tmp_path / "g")).splitlines()
    assert text[0] == "all: x=a b"
    assert [line.split()[1] for line in text[3:]] == ["-9.500e+00", "-1.235e+05"]


def test_what_all_have_in_common_is_said_once(tmp_path):
    for number in range(2):
        given = ["corpus=csv", "corpus.path='my, texts\x1b.csv'", f"seed={number}"]
        run_folder(tmp_path / str(number), given, main=0.5)
    text = described(ps.sweep_table(tmp_path)).splitlines()
    assert text[0] == "all: corpus=csv corpus.path=my, texts\\x1b.csv"
    assert text[2].split() == ["seed", "test_accuracy", "seconds", "status", "folder"]


def test_a_folder_that_was_moved(sweep, tmp_path):
    before = ps.sweep_table(sweep).csv()
    shutil.move(sweep, tmp_path / "elsewhere")
    assert ps.sweep_table(tmp_path / "elsewhere").csv() == before


def test_runs_that_were_made_one_by_one(tmp_path):
    """An older plugsamp left no status, and an option that was not given has its value all the same."""
    run_folder(tmp_path / "a/b", [], None, 0.6, config={"n_topics": 50, "loss": {"name": "hinge", "cost": 1}})
    (tmp_path / "a/b/.hydra").mkdir()
    (tmp_path / "a/b/.hydra/overrides.yaml").write_text("- seed=3\n")
    run_folder(tmp_path / "c", ["loss=none", "n_topics=10"], main=0.5, config={"seed": 0})
    table = ps.sweep_table(tmp_path)
    assert [[row[o] for o in ("seed", "loss", "n_topics")] for row in table.rows] == [
        [3, "hinge", 50],
        [0, "none", 10],
    ]


#: A file, what is in it, the status of its run and what its row says; None is no row.
DAMAGED = [
    ("1/metrics.json", "{", "failed", "metrics.json is damaged"),
    ("1/metrics.json", f'{{"main": {"9" * 5000}}}', "failed", "metrics.json is damaged"),
    ("1/status.json", "", "done", "status.json is damaged"),
    ("1/status.json", '{"status": "flying"}', "done", "status.json is damaged"),
    ("2/status.json", "[]", "failed", "status.json is damaged"),
    ("11/status.json", "\xff", "failed", "status.json is damaged"),
    ("0/config.yaml", ":\n\t", "done", "config.yaml is damaged"),
    ("sweep.json", "", "not started", "sweep.json is damaged"),
]


@pytest.mark.parametrize(("file", "content", "status", "error"), DAMAGED)
def test_a_damaged_file_is_named(file, content, status, error, sweep, capsys):
    (sweep / file).write_text(content, encoding="latin-1")
    with pytest.warns(InputWarning, match="damaged, and not read") as told:
        table = ps.sweep_table(sweep)
    assert (
        len(told) == 1 and str(sweep / file) in str(told[0].message) and table.damaged == [str(sweep / file)]
    )
    (row,) = [row for row in table.rows if row["error"] == error]
    assert (row["status"], row["folder"]) == (status, file.rpartition("/")[0] or None)
    figure = ["overwrite=true", f"figure={sweep.parent / 'f.svg'}", "metric=test_accuracy", "x=n_topics"]
    for more in ([], ["out=-"], *([figure, ["out=-", *figure]] if file == "0/config.yaml" else [])):
        assert plugsamp(["sweep", f"folder={sweep}", *more]) == 2
        printed = capsys.readouterr()
        assert printed.err == f"plugsamp sweep: {sweep / file}: damaged, and not read\n"
        assert error in printed.out
    if "/" in file:
        assert plugsamp(["sweep", f"folder={(sweep / file).parent}"]) == 2


def test_what_is_no_sweep(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        ps.sweep_table(tmp_path / "x")
    with pytest.raises(ValueError, match="has no run in it"):
        ps.sweep_table(tmp_path)


@pytest.mark.parametrize(
    "override, value",
    [
        ("n_topics=20", 20), ("+x=-3", -3), ("++x=1e-3", 0.001), ("x=.5", 0.5), ("x=true", True),
        ("x=False", False), ("x=null", "null"), ("x=[a,b]", "[a,b]"), ("x='a \\' b'", "a ' b"),
        ('x="1"', "1"), ("x=12:30", "12:30"), ("x=", ""), ("x=1_0", "1_0"), ("x=a=b", "a=b"),
        ("x=nan", "nan"), (r"x=bill\ text", "bill text"), (r"x=\ a\ ", " a "), (r"x=a\,b\\c\d", r"a,b\c\d"),
        (r"x=\[a\]", "[a]"), (r"x=[a\,b,c]", r"[a\,b,c]"), (r"x='a\b\\'", "a\\b\\"), (r"x=1\ 2", "1 2"),
    ],
)  # fmt: skip
def test_options_as_they_were_given(override, value):
    name, found = options.split(override)
    if "\\" in override and not override.startswith("x=["):
        hydras = OverridesParser.create().parse_override(override).value()
        assert getattr(hydras, "text", hydras) == found
    assert name in ("x", "n_topics") and found == value and type(found) is type(value)
