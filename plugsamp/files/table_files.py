"""Tables that grow row by row: CSV, JSON lines or Parquet, compressed where the name says so."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from plugsamp.errors import InputError
from plugsamp.files import csv_files, whole

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: What compresses a piece so that pieces one after the other are a file.
COMPRESS = {".gz": partial(gzip.compress, mtime=0), ".bz2": bz2.compress, ".xz": lzma.compress}

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def format_of(path: str) -> tuple[str, str]:
    """The format of a table and the suffix of its compression, by the file's name; CSV of other names."""
    suffixes = Path(path).suffixes
    packed = suffixes.pop() if suffixes and suffixes[-1] in COMPRESS else ""
    found = FORMATS.get(suffixes[-1] if suffixes else "", "csv")
    if found == "parquet" and packed:
        raise InputError(f"Parquet files are compressed inside; leave {packed} out of the name", file=path)
    return found, packed


def text_of(columns: Sequence[str], rows: Iterable[Sequence], form: str, header: bool) -> str:
    """Rows as CSV or JSON lines. Numbers of JSON that are not finite, and empty cells, are null."""
    out = io.StringIO(newline="")
    if form == "csv":
        writer = csv_files.writer(out)
        if header:
            writer.writerow(columns)
        writer.writerows(rows)
    else:
        for row in rows:
            cells = {name: _plain(cell) for name, cell in zip(columns, row, strict=True)}
            out.write(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")
    return out.getvalue()


def _plain(cell):
    if cell is None or cell == "" or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    return cell if isinstance(cell, str | int | float | bool) else str(cell)


class TableFile:
    """A file of a table, which is there once it is complete; what there is before is kept to go on with.

    Parameters
    ----------
    path : str or None
        None writes to standard output, as CSV.
    identity : str or None
        A digest of all that the table is made of. Where a file that was cut short was made of the same,
        `done` says how many rows it has, and the next rows are written behind them. None never goes on.
    bom : bool
        Begin a CSV file with a byte order mark, by which spreadsheets know UTF-8.
    """

    def __init__(self, path: str | None, identity: str | None = None, bom: bool = False):
        self.path = None if path is None else Path(path)
        self.form, self._packed = ("csv", "") if path is None else format_of(path)
        if self.form == "parquet":
            _pyarrow()
        if self.form == "parquet" or path is None:
            identity = None
        self._identity, self._bom = identity, bom
        self.columns: list[str] | None = None
        self.done = 0
        self._file = self._parquet = None
        if path is not None:
            self._part = self.path.with_name(f".{self.path.name}.part")
            self._state = self.path.with_name(f".{self.path.name}.state.json")

    def __enter__(self) -> TableFile:
        if self.path is None:
            return self
        try:
            self._file = open(os.open(self._part, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
            self._lock()
            at = self._found()
            self._file.truncate(at)
            self._file.seek(at)
        except OSError as error:
            error.filename = str(self.path)
            raise
        return self

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError("another process is writing this file", file=self.path) from None

    def _found(self) -> int:
        """Where to go on in the file that was cut short."""
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
            if self._identity is None or state["identity"] != self._identity:
                return 0
            if self._part.stat().st_size < state["bytes"]:
                return 0
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return 0
        self.columns, self.done = state["columns"], state["rows"]
        return state["bytes"]

    def write(self, columns: Sequence[str], rows: list[Sequence], texts: Sequence[str] = ()) -> None:
        """Write rows. The columns of the first call stay: cells of others are left out, or empty.

        Parameters
        ----------
        columns : sequence of str
        rows : list of sequences
        texts : sequence of str
            Columns whose cells are written as text into Parquet.
        """
        header = self.columns is None
        if header:
            self.columns = list(columns)
        elif list(columns) != self.columns:
            places = [columns.index(name) if name in columns else None for name in self.columns]
            rows = [[("" if p is None else row[p]) for p in places] for row in rows]
        if self.form == "parquet":
            self._write_parquet(rows, texts)
        else:
            mark = "\ufeff" if header and self._bom and self.form == "csv" else ""
            self._write_text(mark + text_of(self.columns, rows, self.form, header))
        self.done += len(rows)
        if self._identity is not None:
            content = {"identity": self._identity, "columns": self.columns, "rows": self.done}
            whole.write_json(self._state, content | {"bytes": self._file.tell()})

    def _write_text(self, text: str) -> None:
        if self.path is None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        data = text.encode("utf-8", "backslashreplace")
        if self._packed:
            data = COMPRESS[self._packed](data)
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            error.filename = str(self.path)
            raise

    def _write_parquet(self, rows, texts) -> None:
        pyarrow, parquet = _pyarrow()
        cells = list(zip(*rows, strict=True)) or [()] * len(self.columns)
        arrays = []
        for name, values in zip(self.columns, cells, strict=True):
            values = [None if v == "" else v for v in values]
            if name in texts:
                text = [None if v is None else str(v).encode("utf-8", "replace").decode() for v in values]
                arrays.append(pyarrow.array(text, pyarrow.string()))
            else:
                kind = pyarrow.int64() if name in ("n_known", "n_unknown") else pyarrow.float64()
                arrays.append(pyarrow.array(values, kind))
        table = pyarrow.table(arrays, names=self.columns)
        if self._parquet is None:
            self._parquet = parquet.ParquetWriter(self._file, table.schema)
        self._parquet.write_table(table)

    def __exit__(self, kind, error, trace) -> None:
        if self._file is None:
            return
        try:
            if self._parquet is not None:
                self._parquet.close()
        finally:
            self._file.close()
        if kind is None:
            os.replace(self._part, self.path)
            self._state.unlink(missing_ok=True)
        elif self._identity is None or issubclass(kind, Exception):  # what is wrong stays so
            self._part.unlink(missing_ok=True)
            self._state.unlink(missing_ok=True)


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet files need pyarrow, which is not installed: pip install 'plugsamp[parquet]'; .csv and "
            ".jsonl need nothing"
        ) from None
    return pyarrow, pyarrow.parquet
