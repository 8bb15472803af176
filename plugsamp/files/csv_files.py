"""Tables as CSV that every reader takes apart as they were put together.

Python quotes a cell for a carriage return only where rows end in one, while readers take a bare one for the
end of a row. So rows are written with both, and lose it on their way into the file.
"""

from __future__ import annotations

import csv


class _Rows:
    """Takes what `csv` writes, a row at a time."""

    def __init__(self, file):
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row[:-2] + "\n")


def writer(file):
    """A `csv.writer` into a text file that was opened with ``newline=""``."""
    return csv.writer(_Rows(file), lineterminator="\r\n")


def dict_writer(file, columns) -> csv.DictWriter:
    """The same for rows as mappings."""
    return csv.DictWriter(_Rows(file), columns, lineterminator="\r\n")


def write(file, columns, rows) -> None:
    """Write a table into a text file that was opened with ``newline=""``."""
    out = writer(file)
    out.writerow(columns)
    out.writerows(rows)
