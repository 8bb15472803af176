"""Formats of text by their first lines: what a file looks like that another reader was asked to read."""

from __future__ import annotations

import csv
import functools
import gzip
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from plugsamp.errors import InputError, InputWarning

#: The corpus that reads a format, what the format is, and the reader's class.
FORMATS = {
    "jsonl": ("JSON lines", "JsonLines"),
    "mm": ("a matrix in Matrix Market's format", "MatrixMarket"),
    "uci": ("counts as UCI's bag of words", "BagOfWords"),
    "ldac": ("counts in LDA-C's format", "LdaC"),
    "svmlight": ("counts in SVMlight's format", "SvmLight"),
    "csv": ("a table", "Table"),
}

#: A word a line, which no corpus reads.
WORDS = "words"

#: Lines and bytes of a file that are looked at.
_LINES, _BYTES = 20, 1 << 16

_PAIRS = re.compile(r"\s*[^\s:]*(\s+qid:\d+)?(\s*\d+:[-+.\deE]+)+\s*(#.*)?")
_COUNTED = re.compile(r"\s*(\d{1,9})((?:\s+\d+:\d+)*)\s*")


def format_of(lines: Sequence[str]) -> str | None:
    """The format that the first lines of a file speak for: a key of `FORMATS`, or `WORDS`."""
    lines = [line for line in lines[:_LINES] if line.strip()]
    if not lines:
        return None
    if lines[0].startswith("%%MatrixMarket"):
        return "mm"
    if lines[0].lstrip().startswith("{") and _is_object(lines[0]):
        return "jsonl"
    numbers = [re.fullmatch(r"\s*\d+(\s+\d+\s+\d+)?\s*", line) for line in lines]
    if len(lines) > 3 and all(numbers) and [n[1] is None for n in numbers[:4]] == [True, True, True, False]:
        return "uci"
    counted = [_COUNTED.fullmatch(line) for line in lines]
    if all(counted) and all(int(c[1]) == len(c[2].split()) for c in counted) and any(c[2] for c in counted):
        return "ldac"
    if all(_PAIRS.fullmatch(line) for line in lines):
        return "svmlight"
    if all(len(line.split()) == 1 and not line.strip().isnumeric() and "," not in line for line in lines):
        return WORDS
    return "csv" if any(_is_table(lines, delimiter) for delimiter in ",;\t") else None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_table(lines: list[str], delimiter: str) -> bool:
    """Whether lines are rows of one length, the first of them names."""
    try:
        head, *rows = csv.reader(lines, delimiter=delimiter)
    except (csv.Error, ValueError):
        return False
    names = [name.strip() for name in head]
    named = len(set(names)) == len(names) > 1 and all(0 < len(name) < 60 for name in names)
    return named and bool(rows) and all(len(row) == len(head) for row in rows)


def explained(method: Callable, lazy: bool) -> Callable:
    """A reader's method whose errors say what the file looks like; `lazy` of one that returns an iterator."""
    if lazy:

        @functools.wraps(method)
        def stream(self, *arguments, **options) -> Iterator:
            try:
                yield from method(self, *arguments, **options)
            except InputError as error:
                raise _with_format(error, self) from None

        return stream

    @functools.wraps(method)
    def read(self, *arguments, **options):
        try:
            return method(self, *arguments, **options)
        except InputError as error:
            raise _with_format(error, self) from None

    return read


def _with_format(error: InputError, reader) -> InputError:
    """The error, with the format of its file where that is another one than the reader's."""
    kind = None
    paths = [getattr(reader, name, None) for name in ("path", "test_path")]
    if error.file is not None and error.file in paths:
        kind = format_of(_first_lines(error.file))
    if kind == WORDS and hasattr(reader, "vocabulary_path"):
        hint = "; this looks like a list of words: are the files of counts and of words exchanged?"
    elif kind in FORMATS and type(reader).__name__ != FORMATS[kind][1]:
        hint = f"; this looks like {FORMATS[kind][0]}, which corpus={kind} reads"
    else:
        return error
    if "this looks like" in error.what or f"corpus={kind}" in error.what:
        return error
    return InputError(
        error.what + hint, file=error.file, line=error.line, column=error.column, in_python=error.in_python
    )


def _first_lines(path) -> list[str]:
    if not Path(path).is_file():  # a pipe would be waited for
        return []
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
            head = file.read(_BYTES)
    except (OSError, EOFError, zlib.error):
        return []
    lines = head.decode("utf-8", "replace").split("\n")
    return lines[:-1] if len(head) == _BYTES else lines


def warn_of_format(lines: Sequence[str], path) -> None:
    """Warn of texts that look like another format than one text a line."""
    kind = format_of(lines)
    if kind in FORMATS and kind != "csv":
        warnings.warn(
            f"{path}: this looks like {FORMATS[kind][0]}, which corpus={kind} reads; each line is taken as a "
            "text",
            InputWarning,
            stacklevel=4,
        )


def check_names(lines: Sequence[str], what: str, path) -> None:
    """Refuse counts in place of a name a line (InputError)."""
    kind = format_of(lines)
    if kind in FORMATS and kind != "csv":
        raise InputError(
            f"this looks like {FORMATS[kind][0]}, and not like a list of {what}s; are the files exchanged?",
            file=path,
        )
