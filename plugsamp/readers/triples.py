"""Lines of a few whole numbers each: the body of UCI bag-of-words and Matrix Market files."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from plugsamp.counts import LIMIT
from plugsamp.errors import InputError
from plugsamp.readers.files import check_format, decode
from plugsamp.readers.numbers import count_of, id_of

_FIELD = re.compile(r"[^ \t]+")
_DIGITS = 10  # of a number that the quick way takes


@dataclass(frozen=True)
class Field:
    """What a number of a line is.

    Attributes
    ----------
    what : str
        "document id", ...; "count" for a count.
    last : int
        The largest id, which `last_of` sets ("the header D=3").
    last_of : str
    """

    what: str
    last: int = LIMIT
    last_of: str = ""

    def read(self, text: str) -> int:
        if self.what == "count":
            return count_of(text)
        return id_of(text, self.what, 1, self.last, self.last_of)

    @property
    def first(self) -> int:
        return 0 if self.what == "count" else 1


def rows_of(lines: bytes, first_line: int, fields: list[Field], *, comment: str = ""):
    """The numbers of all lines, (n, fields) int64, and the line that each row is on, (n,).

    Parameters
    ----------
    lines : bytes
        ASCII, without carriage returns.
    first_line : int
        The number of the first of them, for messages.
    fields : list of Field
    comment : str
        What a line of words begins with; such lines, and blank ones, are then left out anywhere. Otherwise
        blank lines may stand at the end only.

    Raises
    ------
    InputError
        The first line that is not as it should be, with its column where one field is to blame.
    """
    lines = lines.rstrip(b" \t\n") + b"\n"
    if lines == b"\n":
        return np.empty((0, len(fields)), np.int64), np.empty(0, np.int64)
    numbers = _quick(lines, len(fields))
    if numbers is not None:
        places = np.arange(first_line, first_line + len(numbers))
        low, high = (np.array([getattr(f, name) for f in fields]) for name in ("first", "last"))
        bad = ((numbers < low) | (numbers > high)).any(axis=1)
        if not bad.any():
            return numbers, places
    found, places = [], []
    for line, text in enumerate(lines.decode().split("\n")[:-1], first_line):
        if comment and (not text.strip() or text.lstrip().startswith(comment)):
            continue
        found.append(_row(text, line, fields))
        places.append(line)
    return np.array(found, np.int64).reshape(-1, len(fields)), np.array(places, np.int64)


def _quick(lines: bytes, n_fields: int) -> np.ndarray | None:
    """The numbers of lines that hold nothing but digits, one blank between two numbers; None of others."""
    if lines.translate(None, b"0123456789 \n"):
        return None
    characters = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    blanks = np.flatnonzero(characters == ord(" "))
    if len(blanks) != (n_fields - 1) * len(ends):
        return None
    edges = np.empty((len(ends), n_fields + 1), np.int64)  # what stands before and after each number
    edges[:, 0] = np.concatenate([[-1], ends[:-1]])
    edges[:, 1:-1] = blanks.reshape(len(ends), n_fields - 1)
    edges[:, -1] = ends
    digits = np.diff(edges, axis=1) - 1
    if digits.min() < 1 or digits.max() > _DIGITS:
        return None
    return np.fromstring(lines, dtype=np.int64, sep=" ").reshape(-1, n_fields)


def _row(text: str, line: int, fields: list[Field]) -> list[int]:
    found = list(_FIELD.finditer(text))
    if len(found) != len(fields):
        raise InputError(f"{len(fields)} numbers expected, {len(found)} found", line=line)
    row = []
    for match, field in zip(found, fields, strict=True):
        try:
            row.append(field.read(match.group()))
        except InputError as error:
            raise InputError(error.what, line=line, column=match.start() + 1) from None
    return row


def text_of(raw: bytes, path) -> bytes:
    """A file's bytes with LF line ends; refuses what is not ASCII text, with its place."""
    check_format(raw, path)
    if raw.isascii() and b"\0" not in raw and b"\r" not in raw:
        return raw
    text = decode(raw, path)
    if not text.isascii():
        at = next(i for i, c in enumerate(text) if not c.isascii())
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise InputError(
            f"{text[at]!r} is not a digit: only 0 to 9 make numbers", file=path, line=line, column=column
        )
    return text.encode()


def header_number(text: str, what: str, line: int, column: int = 1) -> int:
    """A size in a header, checked before anything is allocated for it."""
    if not re.fullmatch(r"[0-9]{1,4000}", text):
        raise InputError(f"{what} must be a number, found {text[:40]}", line=line, column=column)
    if int(text) > LIMIT:
        raise InputError(f"{what}={text} is over the limit {LIMIT}", line=line, column=column)
    return int(text)
