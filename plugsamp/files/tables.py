"""A small table: columns by name, as text, HTML, CSV or a data frame."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np

from plugsamp.brief import clipped, one_line
from plugsamp.files import csv_files
from plugsamp.files.whole import complete

#: Rows of a repr, of the HTML in a notebook; characters of a line of text, and of a cell.
REPR_ROWS, HTML_ROWS, WIDTH, CELL = 8, 40, 100, 60

#: Rows that are made of the columns at once to be written.
CHUNK = 4096


class Table:
    """Columns of equal length, by name. Immutable.

    Parameters
    ----------
    columns : mapping of str to sequence
        NumPy arrays or lists. A cell is a number, a text, None (nothing), or a sequence of texts, which is
        shown and written with blanks between them.
    title : str, optional
        Shown above the table, not written to files.
    formats : mapping of str to str, optional
        How numbers of a column are shown, as `format` takes it, such as ``{"share": ".1%"}``. By default
        real numbers have three digits after the point.
    once : sequence of str, optional
        Leading columns that are shown where their value, or that of a column before, differs from the row
        above; files and data frames have all values.

    Raises
    ------
    ValueError
        Columns of different lengths.

    Examples
    --------
    >>> from plugsamp.files.tables import Table
    >>> table = Table({"topic": [0, 1], "share": [0.75, 0.25], "words": [["ball", "goal"], ["vote"]]})
    >>> print(table)
    topic  share  words
        0  0.750  ball goal
        1  0.250  vote
    >>> table["share"], len(table), table.row(1)
    ([0.75, 0.25], 2, {'topic': 1, 'share': 0.25, 'words': ['vote']})
    """

    def __init__(
        self,
        columns: Mapping,
        title: str = "",
        formats: Mapping[str, str] | None = None,
        once: Sequence[str] = (),
    ):
        self._columns = {str(name): values for name, values in columns.items()}
        sizes = {name: len(values) for name, values in self._columns.items()}
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{name} has {size}" for name, size in sizes.items())
            raise ValueError(f"the columns of a table must have the same length: {shown}")
        self._size = next(iter(sizes.values()), 0)
        self.title, self._formats, self._once = title, dict(formats or {}), tuple(once)

    @classmethod
    def from_rows(cls, columns: Sequence[str], rows, title: str = "", formats=None) -> Table:
        """A table of rows, each a sequence with a cell for every column."""
        cells = [list(row) for row in rows]
        return cls({name: [row[j] for row in cells] for j, name in enumerate(columns)}, title, formats)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str):
        """A column, as it was given."""
        if name not in self._columns:
            raise KeyError(f"there is no column {name!r}; the columns are {', '.join(self._columns)}")
        return self._columns[name]

    def items(self):
        """Names and columns."""
        return self._columns.items()

    def __contains__(self, name) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[dict]:
        """The rows, each a dict."""
        return (self.row(i) for i in range(self._size))

    def row(self, i: int) -> dict:
        """One row by the names of the columns, as plain Python values."""
        return {name: _plain(values[i]) for name, values in self._columns.items()}

    @property
    def rows(self) -> list[list]:
        """All rows as lists of plain Python values, in the order of `columns`."""
        return [list(row) for row in zip(*map(_plain_column, self._columns.values()), strict=True)]

    def take(self, rows) -> Table:
        """The table of some rows, in the order given."""
        taken = {
            name: values[np.asarray(rows, dtype=int)] if isinstance(values, np.ndarray)
            else [values[i] for i in rows]
            for name, values in self._columns.items()
        }  # fmt: skip
        return type(self)(taken, self.title, self._formats, self._once)

    def to_frame(self):
        """The table as a pandas.DataFrame.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame() needs pandas: pip install pandas") from None
        return pandas.DataFrame(
            {
                name: values if isinstance(values, np.ndarray) and values.ndim == 1 else list(values)
                for name, values in self._columns.items()
            }
        )

    # -- as a file -----------------------------------------------------------------------------------

    def to_csv(self, path=None) -> str | None:
        """Write the table as CSV, complete or not at all; without a path, return it as text.

        Real numbers are written with all their digits, None as an empty cell.
        """
        if path is None:
            file = io.StringIO(newline="")
            self.write(file)
            return file.getvalue()
        with complete(path, errors="backslashreplace", newline="") as file:
            self.write(file)
        return None

    def write(self, file) -> None:
        """Write the table as CSV into a text file that was opened with ``newline=""``."""
        csv_files.write(file, self.columns, self._written_rows())

    def _written_rows(self) -> Iterator[list]:
        for first in range(0, self._size, CHUNK):
            piece = slice(first, first + CHUNK)
            columns = [_plain_column(values[piece]) for values in self._columns.values()]
            for row in zip(*columns, strict=True):
                yield [_written(cell) for cell in row]

    # -- as it is shown ------------------------------------------------------------------------------

    def text(self, rows: int | None = None, width: int = WIDTH) -> str:
        """The table as aligned text.

        Parameters
        ----------
        rows : int, optional
            Show so many rows and say how many there are besides; by default all.
        width : int
            Characters of the longest line; the last column is cut to fit.
        """
        n = self._size if rows is None or self._size <= rows else rows
        cells = self._cells(n)
        right = [_numeric(values) for values in self._columns.values()]
        widths, left = [], width
        for name, column in zip(self.columns, cells, strict=True):
            longest = max(map(len, (name, *column)))
            widths.append(max(min(longest, left if name == self.columns[-1] else CELL), 1))
            left = max(left - widths[-1] - 2, 12)
        lines = [self.title] if self.title else []
        for row in (self.columns, *zip(*cells, strict=True)):
            parts = [
                cell.rjust(size) if to_right else clipped(cell, size).ljust(size)
                for cell, size, to_right in zip(row, widths, right, strict=True)
            ]
            lines.append("  ".join(parts).rstrip()[:width])
        if n < self._size:
            lines.append(f"... {self._size - n:,} more rows")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text(REPR_ROWS - bool(self.title))

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, rows: int = HTML_ROWS) -> str:
        """The table for a notebook, at most so many rows; all text is escaped."""
        right = [_numeric(values) for values in self._columns.values()]
        side = ['style="text-align:right"' if r else 'style="text-align:left" dir="auto"' for r in right]
        head = "".join(
            f"<th {look}>{escape(name)}</th>" for name, look in zip(self.columns, side, strict=True)
        )
        body = []
        for cells in zip(*self._cells(min(self._size, rows)), strict=True):
            row = (f"<td {look}>{escape(cell)}</td>" for cell, look in zip(cells, side, strict=True))
            body.append(f"<tr>{''.join(row)}</tr>")
        caption = f'<caption style="text-align:left">{escape(self.title)}</caption>' if self.title else ""
        more = self._size - len(body)
        note = f"<p>{more:,} more rows</p>" if more else ""
        return (
            f'<table class="plugsamp">{caption}<thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table>{note}"
        )

    def _cells(self, n: int) -> list[list[str]]:
        """The first n cells of each column as they are shown."""
        columns = [[self._shown(name, v) for v in values[:n]] for name, values in self._columns.items()]
        names, before = self.columns, [""] * len(self.columns)
        for i in range(n if self._once else 0):
            row = [column[i] for column in columns]
            for j, (name, column) in enumerate(zip(names, columns, strict=True)):
                if name not in self._once or row[: j + 1] != before[: j + 1]:
                    break
                column[i] = ""
            before = row
        return columns

    def _shown(self, name: str, value) -> str:
        value = _plain(value)
        if value is None or value != value:
            return ""
        if isinstance(value, list | tuple | np.ndarray):
            return one_line(" ".join(map(str, value)))
        if isinstance(value, bool | str):
            return one_line(str(value))
        form = self._formats.get(name)
        if form is None and isinstance(value, float) and 1e4 <= abs(value) < 1e15:
            form = ",.0f"
        if form is None:
            form = ".3f" if isinstance(value, float) and (value == 0 or 1e-3 <= abs(value) < 1e5) else ""
            form = form or (".3g" if isinstance(value, float) else "d")
        return format(value, form)


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _plain_column(values):
    return values.tolist() if isinstance(values, np.ndarray) else map(_plain, values)


def _numeric(values) -> bool:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values.dtype.kind in "biuf"
    return all(v is None or isinstance(v, int | float | np.number) for v in values)


def _written(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return " ".join(value) if isinstance(value, list | tuple) else value
