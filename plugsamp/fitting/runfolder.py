"""The files of a run folder, and the trace as it grows."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path

from plugsamp.files import csv_files, storage
from plugsamp.files.whole import is_file

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
