"""Tables of text: comma, tab or otherwise separated."""

from __future__ import annotations

import csv
import io
import math
import sys
import threading
from dataclasses import dataclass
from typing import ClassVar

from plugsamp.errors import InputError
from plugsamp.lookalikes import MISSING, advice, tidy
from plugsamp.readers.base import TestFile
from plugsamp.readers.fields import NAMES, FieldOptions
from plugsamp.readers.files import read_text
from plugsamp.readers.records import Records, TextReader, unique_ids

_LIMIT_LOCK = threading.Lock()


@dataclass(kw_only=True)
class Table(FieldOptions, TestFile, TextReader):
    """A table with a column of text, plain or .gz; quotes as in RFC 4180, blank rows skipped.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
    delimiter : str
        ``"auto"`` (tab where the name ends in .tsv or .tsv.gz, otherwise comma), ``"tab"``, or one
        character.
    header : bool
        Whether the first row names the columns; otherwise they are called 1, 2, ...
    label_delimiter : str
        What separates the labels in a column of several.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `FieldOptions`, `plugsamp.readers.text.TextOptions`, `plugsamp.readers.base`.
    """

    path: str
    delimiter: str = "auto"
    header: bool = True
    label_delimiter: str = ";"
    encoding: str = "utf-8"

    of_layout: ClassVar[tuple[str, ...]] = (*NAMES, "missing_as", "delimiter", "header", "label_delimiter")

    def records(self, path: str) -> Records:
        lines, rows = self._rows(path)
        if self.header and rows:
            names, rows, lines = [n.strip() for n in rows[0]], rows[1:], lines[1:]
            twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
            if twice is not None:
                raise InputError(f"two columns are called {twice!r}", file=path, line=1)
        else:
            names = [str(i) for i in range(1, (len(rows[0]) if rows else 0) + 1)]
        if not rows:
            raise InputError("there are no documents in this file", file=path)
        return self.settled(names, path)._records(path, names, lines, rows)

    def _records(self, path: str, names, lines, rows) -> Records:
        if len(names) == 1 and self.text not in names:
            other = next((d for d in ";\t|," if d in names[0]), None)
            if other is not None:
                raise InputError(
                    f"there is no field {self.text!r}, but one called {names[0]!r}; is another character the "
                    f"delimiter? delimiter={'tab' if other == chr(9) else chr(34) + other + chr(34)} says so",
                    file=path,
                    line=1,
                )
        for line, row in zip(lines, rows, strict=True):
            if len(row) != len(names):
                more = "; a delimiter in the text needs quotes" if len(row) > len(names) else ""
                raise InputError(
                    f"{len(names)} fields expected, {len(row)} found{more}", file=path, line=line
                )
        column = dict(zip(names, zip(*rows, strict=True), strict=True))
        self.need(self.text, column, path, 1, "text")
        if self.id != "id":
            self.need(self.id, column, path, 1, "id")
        response, names_of_response = self.choose_response(column, path, 1)
        split = self.choose_split(column, path, 1)
        ids = [v.strip() for v in column[self.id]] if self.id in column else [str(n) for n in lines]
        return Records(
            str(path),
            "text",
            list(column[self.text]),
            unique_ids(ids, lines, path),
            response,
            self._responses(response, names_of_response, column, lines, path) if response else [],
            [self.is_test(v.strip(), path, n) for v, n in zip(column[split], lines, strict=True)]
            if split
            else None,
            response_names=names_of_response,
            weights=self._weights(column, lines, path),
            fields={name: self._column_of(name, column, lines, path) for name in self.columns},
        )

    def _weights(self, column, lines, path) -> list[float]:
        if self.weight is None:
            return []
        values = column[self.need(self.weight, column, path, 1, "weight")]
        return [self.weight_of(v, path, n) for v, n in zip(values, lines, strict=True)]

    def _column_of(self, name, column, lines, path) -> list:
        values = self._present(column[self.need(name, column, path, 1)])
        return [self.column_value(name, v, path, n) for v, n in zip(values, lines, strict=True)]

    def _present(self, values) -> list[str | None]:
        missing = {"", *self.missing_values}
        return [None if v.strip() in missing else v.strip() for v in values]

    def _rows(self, path):
        """Rows, and the line each begins on."""
        text = read_text(path, self.encoding)
        delimiter = self.delimiter
        if delimiter == "auto":
            delimiter = "tab" if str(path).removesuffix(".gz").endswith(".tsv") else ","
        delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
        if len(delimiter) != 1 or delimiter in '"\n\r':
            raise InputError(f"delimiter must be auto, tab or one character, not {self.delimiter!r}")
        lines, rows = [], []
        with _LIMIT_LOCK:  # the limit of the csv module is one for the process
            limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
            try:
                reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
                line = 1
                for row in reader:
                    if row:
                        rows.append(row)
                        lines.append(line)
                    line = reader.line_num + 1
            except csv.Error as error:
                raise _quoting_error(text, line, delimiter, path, error) from None
            finally:
                csv.field_size_limit(limit)
        return lines, rows

    def _responses(self, kind, names, column, lines, path) -> list:
        each = [self._response(kind, name, column[name], lines, path) for name in names]
        return each[0] if len(each) == 1 else list(map(list, zip(*each, strict=True)))

    def _response(self, kind, name, values, lines, path) -> list:
        values = self._present(values)
        absent = [n for v, n in zip(values, lines, strict=True) if v is None]
        if absent and not self.may_lack_responses:
            alike = [v for v in values if v is not None and tidy(v) in MISSING]
            n = len(absent) + len(alike)
            note = (
                f", {len(alike)} of them {alike[0]!r}, which is missing only with {advice(set(alike))}"
                if alike
                else ""
            )
            raise InputError(
                f"{n} document{'s' * (n != 1)} without a {name} (the first on this line{note}); pass "
                "missing_labels=true to keep them unlabelled, or response=none to use none",
                file=path,
                line=absent[0],
            )
        if kind == "label":
            return values
        if kind == "labels":
            return [None if v is None else _labels(v.split(self.label_delimiter)) for v in values]
        return [None if v is None else _number(v, name, path, n) for v, n in zip(values, lines, strict=True)]


def _labels(parts):
    return [p.strip() for p in parts if p.strip()]


def _number(value: str, name, path, line) -> float:
    try:
        number = float(value) if value.isascii() and "_" not in value else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        hint = f"; {advice([value])} reads it as missing" if tidy(value) in MISSING else ""
        raise InputError(f"{name} must be a finite number, found {value!r}{hint}", file=path, line=line)
    return number


def _quoting_error(text, line, delimiter, path, error) -> InputError:
    """Where the quote was opened that the rest of the file is inside of."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    if "end of data" not in str(error):
        rules = "a quote inside quotes is written twice, and every quote opened is closed"
        return InputError(f"not a table: {error}; {rules}", file=path, line=line)
    opened, inside, before = start, False, "\n"
    for at in range(start, len(text)):
        char = text[at]
        if char == '"' and (inside or before in (delimiter, "\n")):
            opened, inside = at, not inside
        before = char
    return InputError(
        "the quote opened here is never closed",
        file=path,
        line=text.count("\n", 0, opened) + 1,
        column=opened - text.rfind("\n", 0, opened),
    )
