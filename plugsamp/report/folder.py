"""What a run folder says of its run, read as plain data."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError
from plugsamp.files.whole import json_text
from plugsamp.sweeps import status

#: Columns of trace.csv that name a chain.
CHAINS = ("chain", "task")


@dataclass(frozen=True)
class Trace:
    """trace.csv by chain.

    Attributes
    ----------
    chains : dict of str to dict of str to float arrays (sweeps,)
        Columns by name of each chain; one chain alone is called "".
    same_posterior : bool
        Whether chains sample the same posterior (and so may be compared), not models of their own.
    """

    chains: dict[str, dict[str, np.ndarray]]
    same_posterior: bool = False

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self.chains.values()))) if self.chains else []


@dataclass(frozen=True)
class Table:
    """A CSV file: columns, and rows of text."""

    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def numbers(self, name: str) -> np.ndarray:
        """Float64 (rows,), NaN where nothing is written."""
        return np.array([float(v) if v != "" else np.nan for v in self.column(name)], dtype=float)


@dataclass(frozen=True)
class Run:
    """A run folder's files, as far as they are there.

    Attributes
    ----------
    name : str
    metrics : dict
    config : dict
    config_text : str
    overrides : list of str
        What was written on the command line.
    trace : Trace
    predictions, topics : Table or None
    """

    name: str
    metrics: dict
    config: dict = field(default_factory=dict)
    config_text: str = ""
    overrides: list[str] = field(default_factory=list)
    trace: Trace = field(default_factory=lambda: Trace({}))
    predictions: Table | None = None
    topics: Table | None = None

    def sweeps_kept(self, folder: Path) -> tuple[list[list[int]], int, float]:
        """By chain the sweeps whose draws are kept; the burn-in; the seconds of all chains.

        Raises
        ------
        InputError
            metrics.json or config.yaml has something else in these places.
        """
        given = self.config.get("burn_in")
        try:
            kept = [sweeps_of(found) for found in self.metrics.get("kept_sweeps", [])]
            burn_in = int(self.metrics.get("sweeps", 0)) // 2 if given is None else int(given)
            return kept, burn_in, float(self.metrics.get("seconds", 0.0))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"metrics.json or config.yaml is damaged ({error})", file=folder) from None


def read(folder: Path, metrics=None) -> Run:
    """The run in a folder; its metrics are given where it is just ending, and otherwise read.

    Raises
    ------
    InputError
        A folder without a finished run, or a file that cannot be read, by name.
    """
    found = _metrics(folder) if metrics is None else json.loads(json_text(metrics))
    text, config = _yaml(folder / "config.yaml", dict)
    return Run(
        name=folder.resolve().name,
        metrics=found,
        config=config,
        config_text=text,
        overrides=_overrides(folder),
        trace=_trace(folder / "trace.csv"),
        predictions=_table(folder / "predictions.csv"),
        topics=_table(folder / "topics.csv"),
    )


def _overrides(folder: Path) -> list[str]:
    """What the run was given: what Hydra has beside it is of the last call, which may have been refused."""
    found = status.read(folder / status.STATUS).get("overrides")
    if not isinstance(found, list):  # a run of an older plugsamp
        _, found = _yaml(folder / ".hydra" / "overrides.yaml", list)
    return [str(one) for one in found]


def _metrics(folder: Path) -> dict:
    path = folder / "metrics.json"
    if not path.is_file():
        what = "this folder holds no finished run" if folder.is_dir() else "there is no such folder"
        if (folder / "config.yaml").is_file():
            what = f"the run in this folder is not finished; plugsamp resume run={folder} goes on with it"
        raise InputError(what, file=folder)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it holds no object")
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no metrics.json of a run ({error})", file=path) from None
    return found


def _yaml(path: Path, kind: type):
    """The text and content of a YAML file; empty where there is none."""
    import yaml

    if not path.is_file():
        return "", kind()
    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"this is no YAML ({' '.join(str(error).split())})", file=path) from None
    if content is not None and not isinstance(content, kind):
        raise InputError(f"this is not the {path.name} of a run", file=path)
    return text, content or kind()


def _table(path: Path) -> Table | None:
    if not path.is_file():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        try:
            columns, *rows = list(csv.reader(file)) or [[]]
        except (ValueError, csv.Error) as error:
            raise InputError(f"this table cannot be read ({error})", file=path) from None
    if not columns:
        raise InputError("this table is empty, without even the names of its columns", file=path)
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            raise InputError(
                f"{len(row)} cells, the first line has {len(columns)}", file=path, line=number + 2
            )
    return Table(columns, rows)


def _trace(path: Path) -> Trace:
    table = _table(path)
    if table is not None and "sweep" not in table.columns:
        raise InputError("this is no trace of a run: it has no column 'sweep'", file=path)
    if table is None or not table.rows:
        return Trace({})
    by = next((name for name in CHAINS if name in table.columns), None)
    owners = table.column(by) if by else [""] * len(table.rows)
    try:
        values = {name: table.numbers(name) for name in table.columns if name not in CHAINS}
    except ValueError as error:
        raise InputError(f"a number cannot be read ({error})", file=path) from None
    owners = np.array(owners, dtype=object)
    chains = {
        owner: {name: column[owners == owner] for name, column in values.items()}
        for owner in dict.fromkeys(owners.tolist())
    }
    return Trace(chains, by == "chain")


def trained_on(run: Run, corpus) -> bool:
    """Whether these are the documents that the run was fitted to, unless it does not say."""
    digest = run.metrics.get("corpus_digest")
    return digest is None or corpus.digest() == digest


def sweeps_of(found: dict | list[int]) -> list[int]:
    """The sweeps that `plugsamp.exchange.chains.shortened` wrote."""
    if isinstance(found, list):
        return found
    return list(range(found["first"], found["last"] + 1, found["every"]))
