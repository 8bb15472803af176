"""Rows of delimited tables, as programs write them: quotes, and what spreadsheets leave around the table."""

from __future__ import annotations

import contextlib
import csv
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from plugsamp.errors import InputError, InputWarning
from plugsamp.readers.files import check_returns

_LIMIT_LOCK = threading.Lock()

#: The line by which a table says what its delimiter is, for Excel.
_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?$", re.IGNORECASE)

#: How a list looks where a program has printed it into a cell.
PRINTED = re.compile(r"""[\[({]\s*(['"].*['"],?)?\s*[\])}]""", re.DOTALL)


@dataclass(frozen=True)
class Rows:
    """The rows of a table that are not blank.

    Attributes
    ----------
    rows : list of lists of str
    lines : list of int
        The line that each row begins on, from 1.
    delimiter : str
    """

    rows: list[list[str]]
    lines: list[int]
    delimiter: str


class _Record(Iterator[str]):
    """Lines, of which those of the row that is being read are remembered."""

    def __init__(self, lines: Iterable[str]):
        self._lines = iter(lines)
        self.lines: list[str] = []
        self.has_returns = False

    def __next__(self) -> str:
        line = next(self._lines)
        self.lines.append(line)
        self.has_returns |= "\r" in line
        return line

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def forget(self) -> None:
        self.lines.clear()
        self.has_returns = False


def read_rows(
    lines: Iterable[str], path, delimiter: str, quote: str | None, given: bool, size: int | None = None
) -> Iterator[Rows]:
    """Yield `size` rows of a table at a time, or all at once where it is None.

    Parameters
    ----------
    lines : iterable of str
        Each ends with LF; a CR may stand inside quotes, where it becomes an LF.
    path : path
        For messages.
    delimiter : str
        One character.
    quote : str or None
        The quotation mark, None where none has that meaning.
    given : bool
        Whether the user has named the delimiter; otherwise a first line ``sep=;`` names it.

    Raises
    ------
    InputError
        Quotes that do not fit, with the line; a first line that names another delimiter than the user.
    """
    lines = iter(lines)
    first, skipped = next(lines, ""), 0
    if found := _SEPARATOR.match(first):
        if given and found[1] != delimiter:
            raise InputError(
                f"the line {first.rstrip(chr(10))!r} names another delimiter than the option delimiter",
                file=path,
                line=1,
            )
        delimiter, skipped = found[1], 1
    record = _Record(lines if skipped else chain([first], lines))
    form = {"quoting": csv.QUOTE_NONE, "quotechar": None} if quote is None else {"quotechar": quote}
    reader = csv.reader(record, delimiter=delimiter, strict=True, **form)
    line = 1 + skipped
    while True:
        rows, numbers, ended = [], [], True
        with _long_cells():
            try:
                for row in islice(reader, size):
                    ended = False
                    if record.has_returns:
                        row = _without_returns(row, record.text, quote, path, line)
                    if row and (len(row) == 1 or any(cell and not cell.isspace() for cell in row)):
                        rows.append(row)
                        numbers.append(line)
                    record.forget()
                    line = reader.line_num + 1 + skipped
            except csv.Error as error:
                if record.has_returns:
                    _refuse_returns(record.text, quote, path, line)
                advice = delimiter_in(record.lines[0], delimiter) if line == 1 + skipped else ""
                raise _quoting_error(record.text, line, delimiter, quote, path, error, advice) from None
        if size is None or not ended:
            yield Rows(rows, numbers, delimiter)
        if size is None or ended:
            return


@contextlib.contextmanager
def _long_cells():
    """While inside, cells may have any length. The limit of the csv module is one for the process."""
    with _LIMIT_LOCK:
        limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        try:
            yield
        finally:
            csv.field_size_limit(limit)


def _without_returns(row: list[str], text: str, quote: str | None, path, line: int) -> list[str]:
    """The row with an LF for each CR inside quotes; a CR elsewhere is refused."""
    if sum(cell.count("\r") for cell in row) != text.count("\r") or quote is None:
        _refuse_returns(text, quote, path, line)
    return [cell.replace("\r", "\n") for cell in row]


def _refuse_returns(text: str, quote: str | None, path, line: int) -> None:
    """Refuse the first CR outside quotes of a row that begins on a line."""
    at, inside, seen = text.find("\r"), False, 0
    while at >= 0:
        if quote is not None:
            inside ^= text.count(quote, seen, at) % 2 == 1
        if not inside:
            check_returns(text + "\n", path, at, line - 1)
        seen, at = at, text.find("\r", at + 1)


def trimmed(names: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Without columns that have neither a name nor a value, and without blank cells beyond the last name."""
    width = len(names)
    rows = [row[:width] if len(row) > width and not any(map(str.strip, row[width:])) else row for row in rows]
    blank = {i for i, name in enumerate(names) if not name}
    for row in rows:
        if not blank:
            return names, rows
        blank -= {i for i in blank if i < len(row) and row[i].strip()}
    keep = [i for i in range(width) if i not in blank]
    rows = [[row[i] for i in keep] if len(row) == width else row for row in rows]
    return [names[i] for i in keep], rows


def warn_of_swallowed(table: Rows, n_columns: int, text_column: int, path) -> None:
    """Warn where a quoted cell holds lines that look like rows: the quotes may be none.

    A line of a cell looks like a row where it has as many columns and, as delimiters but tabs are usual
    in texts, one beside the text holds what this column holds in another row.
    """
    delimiter, tabs = table.delimiter, table.delimiter == "\t"
    held: list[set[str]] | None = None
    for line, row in zip(table.lines, table.rows, strict=True):
        for column, cell in enumerate(row):
            if "\n" not in cell:
                continue
            if held is None:
                single = [r for r in table.rows if not any("\n" in c for c in r)]
                held = [{r[i].strip() for r in single if i < len(r)} - {""} for i in range(n_columns)]
            first, *others = (piece.split(delimiter) for piece in cell.split("\n"))
            begun = [[*row[:column], *first]] if len(first) > 1 else []  # up to the end of its row
            alike = sum(
                len(parts) == n_columns
                and (tabs or any(p.strip() in held[i] for i, p in enumerate(parts) if i != text_column))
                for parts in (*begun, *others)
            )
            if alike:
                warnings.warn(
                    f"{path}, line {line}: the quoted cell that begins here holds {alike} "
                    f"line{'s' * (alike > 1)} that look{'s' * (alike == 1)} like rows of the table; "
                    "quote=none takes quotation marks as letters of the text",
                    InputWarning,
                    stacklevel=4,
                )
                return


def warn_of_printed(values: Sequence[str | None], name: str, delimiter: str, path) -> None:
    """Warn of cells that hold a list as a program prints it."""
    alike = [v for v in values if v is not None and PRINTED.fullmatch(v)]
    if alike:
        warnings.warn(
            f"{path}: cells of {name} look like printed lists, such as {alike[0]!r}, and are taken as text "
            f"({len(alike)} of {len(values)}); several are written a{delimiter}b, or listed in JSON lines",
            InputWarning,
            stacklevel=5,
        )


def delimiter_in(first: str, delimiter: str) -> str:
    """Advice on the delimiter of a table, from its first line; empty where there is none."""
    bare = re.sub(r'"[^"\n]*"', "", first)
    other = next((d for d in ";\t|," if d != delimiter and d in (bare or first)), None)
    if other is None or delimiter in bare:
        return ""
    return f"delimiter={'tab' if other == chr(9) else chr(34) + other + chr(34)}"


def _quoting_error(text, line, delimiter, quote, path, error, advice) -> InputError:
    """Where the quote was opened that the rest of the file is inside of; `text` begins with its row."""
    none = "quote=none takes quotation marks as letters of the text"
    if "end of data" not in str(error):
        advice = f"is another character the delimiter? {advice} says so" if advice else none
        rules = "a quote inside quotes is written twice, and every quote opened is closed"
        return InputError(f"not a table: {error}; {rules}; {advice}", file=path, line=line)
    opened, inside, before = 0, False, "\n"
    for at, char in enumerate(text):
        if char == quote and (inside or before in (delimiter, "\n")):
            opened, inside = at, not inside
        before = char
    return InputError(
        f"the quote opened here is never closed; {none}",
        file=path,
        line=line + text.count("\n", 0, opened),
        column=opened - text.rfind("\n", 0, opened),
    )
