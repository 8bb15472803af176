"""Read the files of a run folder: metrics, configuration, trace, predictions, topics."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError
from plugsamp.files.tables import Table
from plugsamp.files.whole import json_text, read_object
from plugsamp.posterior.trace import OWNERS, Trace
from plugsamp.prediction.evaluation import Evaluation
from plugsamp.prediction.results import Prediction


@dataclass(frozen=True)
class Run:
    """The files of a run folder that are there.

    Attributes
    ----------
    name : str
    metrics : dict
    config : dict
    config_text : str
    overrides : list of str
        The options of the command line.
    trace : Trace
    predictions, topics : Table or None
        With cells as text.
    """

    name: str
    metrics: dict
    config: dict = field(default_factory=dict)
    config_text: str = ""
    overrides: list[str] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    predictions: Table | None = None
    topics: Table | None = None

    def sweeps_kept(self, folder: Path) -> tuple[list[list[int]], int, float]:
        """Return by chain the sweeps whose draws are kept; the burn-in; the seconds of all chains.

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
    """Read the run in a folder; `metrics` are given where the run is just ending.

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


def refuse_runs(folder: Path) -> None:
    """Refuse a folder that holds runs and is none (InputError)."""
    runs = sorted(run.parent.name for run in folder.glob("*/model"))
    if runs and not (folder / "metrics.json").exists() and not (folder / "model").exists():
        told = f"this folder holds runs ({len(runs)}) and is none; one of them is {folder / runs[0]}"
        raise InputError(told, file=folder)


def _overrides(folder: Path) -> list[str]:
    """The options of the run; Hydra's file is that of the last call, which may have been refused."""
    found = read_object(folder / "status.json").get("overrides")
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
    return Table.from_rows(columns, rows)


def numbers(cells) -> np.ndarray:
    """Return cells of a file as numbers, float64 (rows,), NaN where nothing is written."""
    return np.array([float(v) if v != "" else np.nan for v in cells], dtype=float)


def _trace(path: Path) -> Trace:
    table = _table(path)
    if table is not None and "sweep" not in table:
        raise InputError("this is no trace of a run: it has no column 'sweep'", file=path)
    if table is None or not len(table):
        return Trace()
    owner = next((name for name in OWNERS if name in table), "")
    try:
        values = {name: numbers(cells) for name, cells in table.items() if name not in OWNERS}
    except ValueError as error:
        raise InputError(f"a number cannot be read ({error})", file=path) from None
    rows = Trace.of(values)
    return Trace(row | {owner: of} for row, of in zip(rows, table[owner], strict=True)) if owner else rows


def evaluation(run: Run, posterior) -> Evaluation | None:
    """Return the evaluation that predictions.csv holds; None without the file, or without responses."""
    table, coding = run.predictions, posterior.coding
    if table is None or coding.task == "none":
        return None
    several = coding.task in ("multilabel", "real", "count")
    n, names = len(table), coding.output_names

    def block(what: str, columns, convert=numbers):
        found = [f"{what}_{name}" if columns else what for name in columns or [""]]
        if any(name not in table for name in found):
            return None
        return np.stack([convert(table[name]) for name in found], axis=1)

    ends = names if several and len(names) > 1 else []
    try:
        if several:
            truth, labels = block("true", ends), block("predicted", ends)
        else:
            truth, labels = (block(what, [], _texts) for what in ("true", "predicted"))
            truth, labels = (None if one is None else one[:, 0] for one in (truth, labels))
        bounds = [block(what, ends) for what in ("lower", "upper")]
        f, probabilities = block("score", names), block("probability", list(map(str, coding.classes)))
        n_known, n_unknown = (
            numbers(table[name]).astype(int) if name in table else np.full(n, absent)
            for name, absent in (("n_known", 1), ("n_unknown", 0))
        )  # files of older versions lack them
    except ValueError as error:
        raise InputError(f"predictions.csv: a number cannot be read ({error})") from None
    if labels is None or f is None:
        return None
    none = np.empty((n, 0))
    prediction = Written(
        none, none, f, labels, probabilities, posterior.calibrated, n_known, n_unknown, tuple(table["id"]),
        coding, ends=None if bounds[0] is None else np.stack(bounds, axis=-1),
    )  # fmt: skip
    measures = dict(run.metrics.get("test") or {})
    main = run.metrics.get("main_name", "").removeprefix("test_")
    return Evaluation(prediction, truth, measures, main if measures.get(main) is not None else None)


def _texts(cells) -> np.ndarray:
    return np.array([None if cell == "" else cell for cell in cells], dtype=object)


@dataclass(frozen=True, eq=False, repr=False)
class Written(Prediction):
    """A prediction as predictions.csv has it: without topics, with intervals of one level."""

    ends: np.ndarray | None = None

    def interval(self, level: float = 0.9) -> np.ndarray:
        if self.ends is None:
            return super().interval(level)
        return self.ends


def trained_on(run: Run, corpus) -> bool:
    """Whether these are the documents that the run was fitted to, unless it does not say."""
    digest = run.metrics.get("corpus_digest")
    return digest is None or corpus.digest() == digest


def sweeps_of(found: dict | list[int]) -> list[int]:
    """The sweeps that `plugsamp.exchange.chains.shortened` wrote."""
    if isinstance(found, list):
        return found
    return list(range(found["first"], found["last"] + 1, found["every"]))
