"""Tables of text: comma, tab or otherwise separated."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from plugsamp.checks import number_of
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import MISSING, advice, several_in_one, tidy
from plugsamp.readers.base import TestFile
from plugsamp.readers.batches import StreamReader
from plugsamp.readers.fields import NAMES, FieldOptions
from plugsamp.readers.files import read_text, stream_lines
from plugsamp.readers.records import NO_ID, Records, unique_ids
from plugsamp.readers.rows import (
    Rows,
    delimiter_in,
    read_rows,
    trimmed,
    warn_of_printed,
    warn_of_swallowed,
)


@dataclass(kw_only=True)
class Table(FieldOptions, TestFile, StreamReader):
    """A table with a column of text, plain or .gz; quotes as in RFC 4180, blank rows and columns skipped.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
    delimiter : str
        ``"auto"`` (tab where the name ends in .tsv or .tsv.gz, otherwise comma), ``"tab"``, or one
        character.
    header : bool
        Whether the first row names the columns; otherwise they are called 1, 2, ...
    quote : str
        The quotation mark around cells with delimiters or line ends in them; ``"none"`` takes quotation
        marks as letters of the text.
    decimal : str
        What stands before the decimals of numbers, ``"."`` or ``","``.
    label_delimiter : str
        What separates the labels in a column of several.
    empty_labels : str, optional
        What an empty cell means in a column of several labels: ``"none"`` (the document has none of them) or
        ``"missing"`` (they are not known). Where it is not said, documents without labels are refused.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `FieldOptions`, `plugsamp.readers.text.TextOptions`, `plugsamp.readers.base`.
    """

    path: str
    delimiter: str = "auto"
    header: bool = True
    quote: str = '"'
    decimal: str = "."
    label_delimiter: str = ";"
    empty_labels: str | None = None
    encoding: str = "utf-8"

    of_layout: ClassVar[tuple[str, ...]] = (
        *NAMES, "missing_as", "delimiter", "header", "label_delimiter", "empty_labels", "quote", "decimal",
    )  # fmt: skip

    def __post_init__(self):
        super().__post_init__()
        if self.decimal not in (".", ","):
            raise InputError(f'decimal must be . or a comma in quotes (decimal=","), not {self.decimal!r}')
        if self.quote != "none" and (len(self.quote) != 1 or self.quote.isalnum() or self.quote.isspace()):
            raise InputError(f"quote must be none or one quotation mark, not {self.quote!r}")
        if self.empty_labels not in (None, "none", "missing"):
            raise InputError(f"empty_labels must be none or missing, not {self.empty_labels!r}")

    def records(self, path: str) -> Records:
        text = read_text(path, self.encoding, returns=True)
        (records,) = self._batches(io.StringIO(text, newline="\n"), path, None)
        return records

    def stream(self, path: str, size: int) -> Iterator[Records]:
        lines = stream_lines(path, self.encoding, returns=True)
        return self._batches((line + "\n" for line in lines), path, size)

    def _batches(self, lines: Iterable[str], path, size: int | None) -> Iterator[Records]:
        head, reader, n_batches = None, self, 0
        for table in read_rows(lines, path, *self._form(path), size):
            rows, numbers = table.rows, table.lines
            if head is None and rows:
                if not self.header:
                    head, line = [str(i) for i in range(1, len(rows[0]) + 1)], 1
                else:
                    head, line = [tidy(name) for name in rows[0]], numbers[0]
                    self._refuse_one_column(rows[0], table, path)
                    rows, numbers = rows[1:], numbers[1:]
            if not rows:
                continue
            names, rows = trimmed(head, rows) if self.header else (head, rows)
            twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
            if twice is not None:
                named = f"are called {twice!r}" if twice else "have values and no name"
                raise InputError(f"two columns {named}", file=path, line=line)
            if not n_batches:
                reader = self.settled(names, path)
            n_batches += 1
            yield reader._records(path, names, Rows(rows, numbers, table.delimiter))
        if not n_batches:
            raise InputError("there are no documents in this file", file=path)

    def _refuse_one_column(self, head: list[str], table: Rows, path) -> None:
        """Say which character may be the delimiter of a table with one column, where there is one."""
        if len(head) != 1 or head[0].strip() == self.text:
            return
        other = delimiter_in(head[0], table.delimiter)
        if other:
            raise InputError(
                f"there is no field {self.text!r}, but one called {head[0]!r}; is another character the "
                f"delimiter? {other} says so",
                file=path,
                line=table.lines[0],
            )

    def _records(self, path: str, names, table: Rows) -> Records:
        lines, rows = table.lines, table.rows
        for line, row in zip(lines, rows, strict=True):
            if len(row) != len(names):
                more = "; a delimiter in the text needs quotes" if len(row) > len(names) else ""
                raise InputError(
                    f"{len(names)} fields expected, {len(row)} found{more}", file=path, line=line
                )
        if self.text in names:
            warn_of_swallowed(table, len(names), names.index(self.text), path)
        column = dict(zip(names, zip(*rows, strict=True), strict=True))
        self.need(self.text, column, path, 1, "text")
        if self.id not in ("id", None):
            self.need(self.id, column, path, 1, "id")
        response, names_of_response = self.choose_response(column, path, 1)
        split = self.choose_split(column, path, 1)
        ids = [v.strip() for v in column[self.id]] if self.id in column else [str(n) for n in lines]
        return Records(
            str(path),
            "text",
            list(column[self.text]),
            unique_ids(ids, lines, path, NO_ID),
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
        return [self.weight_of(self._point(v, path, n), path, n) for v, n in zip(values, lines, strict=True)]

    def _column_of(self, name, column, lines, path) -> list:
        values = self._present(column[self.need(name, column, path, 1)])
        if name in self.wanted.numeric:
            values = [v and self._point(v, path, n) for v, n in zip(values, lines, strict=True)]
        return [self.column_value(name, v, path, n) for v, n in zip(values, lines, strict=True)]

    def _present(self, values) -> list[str | None]:
        missing = {"", *self.missing_values}
        return [None if v.strip() in missing else v.strip() for v in values]

    def _point(self, value: str, path, line) -> str:
        """A number with a point for the decimals, where the option `decimal` says that it has a comma."""
        if self.decimal == ".":
            return value
        if "." in value and math.isfinite(number_of(value)):
            raise InputError(
                f"found the number {value!r}, whose point is not clear: numbers have a decimal comma here "
                'and nothing else (decimal=",")',
                file=path,
                line=line,
            )
        return value.replace(",", ".", 1)

    def _form(self, path) -> tuple[str, str | None, bool]:
        """The delimiter, the quotation mark, and whether the user has named the delimiter."""
        delimiter = self.delimiter
        if delimiter == "auto":
            delimiter = "tab" if str(path).removesuffix(".gz").endswith(".tsv") else ","
        delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
        if len(delimiter) != 1 or delimiter in '"\n\r':
            raise InputError(f"delimiter must be auto, tab or one character, not {self.delimiter!r}")
        return delimiter, None if self.quote == "none" else self.quote, self.delimiter != "auto"

    def _responses(self, kind, names, column, lines, path) -> list:
        each = [self._response(kind, name, column[name], lines, path) for name in names]
        return each[0] if len(each) == 1 else list(map(list, zip(*each, strict=True)))

    def _response(self, kind, name, values, lines, path) -> list:
        if self.empty_labels == "none" and kind != "labels":
            raise InputError("empty_labels=none is for documents of several labels, and here they have one")
        said = [self.empty_labels is not None and not v.strip() for v in values]
        values = self._present(values)
        absent = [n for v, s, n in zip(values, said, lines, strict=True) if v is None and not s]
        if absent and not self.may_lack_responses:
            self._refuse_absent(kind, name, values, absent, path)
        if kind in ("label", "labels"):
            warn_of_printed(values, name, self.label_delimiter, path)
            self._warn_of_joined(kind, name, values, path)
        if kind == "label":
            return values
        if kind == "labels":
            parts = [None if v is None else _labels(v.split(self.label_delimiter)) for v in values]
            return [[] if s and self.empty_labels == "none" else p for p, s in zip(parts, said, strict=True)]
        return [
            None if v is None else self._number(v, name, path, n) for v, n in zip(values, lines, strict=True)
        ]

    def _warn_of_joined(self, kind, name, values, path) -> None:
        known = {v for v in values if v is not None}
        if kind == "labels":
            known = {label for v in known for label in _labels(v.split(self.label_delimiter))}
        if (found := several_in_one(known)) is not None:
            labels, delimiter = f"labels={name} " * (kind == "label"), found[1]
            told = f'{labels}label_delimiter="{delimiter}" reads several'
            warnings.warn(f"{path}: {found[0]}; {told}", InputWarning, stacklevel=5)

    def _refuse_absent(self, kind, name, values, absent, path):
        alike = [v for v in values if v is not None and tidy(v) in MISSING]
        n = len(absent) + len(alike)
        note = ""
        if alike:
            note = f", {len(alike)} of them {alike[0]!r}, which is missing only with {advice(set(alike))}"
        then = "pass missing_labels=true to keep them unlabelled, or response=none to use none"
        if kind == "labels" and self.empty_labels is None:
            then = (
                "pass empty_labels=none where an empty cell means none of the labels, or "
                "empty_labels=missing where it means that they are not known"
            )
        raise InputError(
            f"{n} document{'s' * (n != 1)} without a {name} (the first on this line{note}); {then}",
            file=path,
            line=absent[0],
        )

    def _number(self, value: str, name, path, line) -> float:
        number = number_of(self._point(value, path, line))
        if not math.isfinite(number):
            hint = self.hint_of_number(value, " missing_labels=true")
            raise InputError(f"{name} must be a finite number, found {value!r}{hint}", file=path, line=line)
        return number


def _labels(parts):
    return [p.strip() for p in parts if p.strip()]
