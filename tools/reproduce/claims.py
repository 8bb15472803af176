"""What a paper says of a table or figure, beside what came out here."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, held against a study's rows.

    Attributes
    ----------
    source : str
        Paper, and table or figure.
    says : str
        What the paper says, in our words.
    here : str
        What the rows say.
    agrees : bool or None
        None where it can be neither confirmed nor denied by them.
    because : str
        Why it does not agree, where that was found out.
    judged : bool
        Rows of made-up documents say neither.
    """

    source: str
    says: str
    here: str
    agrees: bool | None
    because: str = ""
    judged: bool = True

    @property
    def verdict(self) -> str:
        """In a word or two, with the reason if it differs, or that none is known."""
        if not self.judged:
            return "not judged"
        if self.agrees:
            return "agrees"
        word = "open" if self.agrees is None else "differs"
        return f"{word}: {self.because or 'why was not found out'}"


def table(claims: Iterable[Claim]) -> str:
    """Claims as a Markdown table."""
    lines = ["| paper | says | here | |", "|---|---|---|---|"]
    lines += [f"| {c.source} | {c.says} | {c.here} | {c.verdict} |" for c in claims]
    return "\n".join(lines)


def read_rows(path: Path) -> list[dict]:
    """The rows that a study wrote, numbers as numbers."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{k: _value(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _value(text: str):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def pick(rows, **wanted) -> list[dict]:
    """The rows with these values."""
    return [row for row in rows if all(row[k] == v for k, v in wanted.items())]


def value(rows, column: str, **wanted):
    """The value of a column in the one row with these values."""
    (row,) = pick(rows, **wanted)
    return row[column]


def span(values, form: str = ".2f") -> str:
    """The smallest and the largest, "a to b"."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
