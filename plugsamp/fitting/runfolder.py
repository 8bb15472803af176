"""The files of a run: trace, metrics, predictions, topics."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from plugsamp.files import csv_files, storage
from plugsamp.files.whole import complete, is_file
from plugsamp.losses.coding import is_missing

#: The configuration of a run, in its folder.
CONFIG = "config.yaml"

#: How a run was called, as Hydra writes it, in its folder.
HYDRA = ".hydra"

#: Where a run folder has its checkpoints.
CHECKPOINT = "checkpoint"

#: A folder with one of these holds a run.
MARKS = ("trace.csv", "metrics.json", "model", CHECKPOINT)


def marks(folder: Path) -> list[str]:
    """What a folder has as a run has it: that one was about to write checkpoints is nothing yet."""
    checkpoints = folder / CHECKPOINT
    begun = not checkpoints.is_dir() or any(not p.name.startswith(".") for p in checkpoints.iterdir())
    return [mark for mark in MARKS if (begun or mark != CHECKPOINT) and (folder / mark).exists()]


def holds_run(folder: Path) -> bool:
    """Whether there is anything of a run."""
    return bool(marks(folder))


def clean_up(folder: Path) -> None:
    """Take away what a killed run has left half written. Only for who holds the folder's lock."""
    storage.clean_up(folder / "model")
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)


def removed(folder: Path) -> OSError:
    """The error of a run whose folder was taken away under it."""
    what = "the run folder was removed, or replaced, while the run went on; what is there now is incomplete"
    return OSError(errno.ENOENT, what, str(folder))


class TraceFile:
    """trace.csv, a row a sweep, each on disk before the next sweep begins.

    The columns are those of the first row. What there is of that name stays until there is one.
    """

    def __init__(self, path):
        self._path = Path(path)
        self._file = self._writer = None

    @property
    def begun(self) -> bool:
        """Whether there has been a row."""
        return self._writer is not None

    def __call__(self, row: Mapping) -> None:
        self._write([row])

    def resumed(self, rows: Sequence[Mapping]) -> None:
        """The rows before the checkpoint that a run goes on from."""
        self._write(rows)

    def _write(self, rows) -> None:
        try:
            if self._file is None:
                self._file = open(self._path, "w", newline="", encoding="utf-8")  # noqa: SIM115
            for row in rows:
                if self._writer is None:
                    self._writer = csv_files.dict_writer(self._file, list(row))
                    self._writer.writeheader()
                self._writer.writerow(
                    {k: repr(float(v)) if isinstance(v, float) else v for k, v in row.items()}
                )
            self._file.flush()
        except OSError as error:
            error.filename = str(self._path)
            raise
        if not is_file(self._file.fileno(), self._path):
            raise removed(self._path.parent)

    def __enter__(self) -> TraceFile:
        return self

    def __exit__(self, *error) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError:  # what could not be written was said when it was
            if error[0] is None:
                raise


def write_predictions(path, *table, **more) -> None:
    """predictions.csv: the table that `prediction_rows` makes of the other arguments."""
    with complete(path, errors="backslashreplace", newline="") as file:
        write_table(file, *prediction_rows(*table, **more))


def write_table(file, columns, rows) -> None:
    """A table as CSV."""
    writer = csv_files.writer(file)
    writer.writerow(columns)
    writer.writerows(rows)


def prediction_rows(
    ids,
    truth,
    predicted,
    scores,
    score_names,
    n_unknown,
    names=None,
    *,
    n_known=None,
    probabilities=None,
    class_names=None,
    intervals=None,
    theta=None,
    theta_names=None,
):
    """Column names, and a row a document, in the order of the corpus.

    Parameters
    ----------
    ids : sequence of str (D,)
    truth : ndarray (D,) or (D, C), or None
        As the user gave it; missing is an empty cell.
    predicted : ndarray (D,) or (D, C), or None
    scores : ndarray (D, S)
    score_names : sequence of str (S,)
    n_unknown : ndarray (D,) of int
        Tokens outside the model's vocabulary.
    names : sequence of str, optional
        Of the columns of `truth` and `predicted` where they have several.
    n_known : ndarray (D,) of int, optional
        Tokens used; of a document with 0 the prior is all that the prediction knows.
    probabilities : ndarray (D, classes), optional
    class_names : sequence of str (classes,)
    intervals : ndarray (D, C, 2), optional
        Lower and upper ends of the predicted values.
    theta : ndarray (D, K), optional
        Topic proportions.
    theta_names : sequence of K str, optional
        Their columns.

    Returns
    -------
    columns : list of str
    rows : iterator of lists
    """
    columns = ["id", *_columns("true", truth, names), *_columns("predicted", predicted, names)]
    numbers = []
    if intervals is not None:
        several = intervals.shape[1] > 1
        for c in range(intervals.shape[1]):
            end = f"_{names[c] if names is not None else c}" if several else ""
            columns += [f"lower{end}", f"upper{end}"]
        numbers.append(intervals.reshape(len(intervals), -1))
    if probabilities is not None:
        columns += [f"probability_{name}" for name in class_names]
        numbers.append(probabilities)
    columns += [f"score_{name}" for name in score_names]
    numbers.append(scores)
    if theta is not None:
        columns += theta_names or [f"topic_{k}" for k in range(theta.shape[1])]
        numbers.append(theta)
    counts = [("n_known", n_known), ("n_unknown", n_unknown)]
    counts = [(name, values) for name, values in counts if values is not None]
    columns += [name for name, _ in counts]
    numbers = np.hstack(numbers)
    rows = (
        [
            ids[d],
            *_cells(truth, d),
            *_cells(predicted, d),
            *numbers[d].tolist(),
            *(int(values[d]) for _, values in counts),
        ]
        for d in range(len(ids))
    )
    return columns, rows


def _columns(what: str, values, names) -> list[str]:
    if values is None:
        return []
    if np.ndim(values) == 1 or values.shape[1] == 1:
        return [what]
    return [f"{what}_{n}" for n in (names if names is not None else range(values.shape[1]))]


def _cells(values, d: int) -> list:
    if values is None:
        return []
    row = np.atleast_1d(values[d])
    return ["" if missing else plain for plain, missing in zip(row.tolist(), is_missing(row), strict=True)]
