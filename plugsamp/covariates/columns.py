"""One column of a corpus as covariates: numbers, and classes. Fitted parts are plain data."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from plugsamp.checks import LARGEST, date_hint, listed, number_of, shortened
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import advice, looks_missing, matched, tidy, warn_of
from plugsamp.naming import normal
from plugsamp.units import mean_and_deviation

#: The pool of rare values.
OTHER = "(other)"


def column_of(corpus, name: str) -> np.ndarray:
    """The raw values of a column.

    Raises
    ------
    InputError
        Where the corpus does not have it.
    """
    name = next((field for field in (name, normal(name)) if field in corpus.fields), name)
    if name not in corpus.fields:
        have = ", ".join(map(repr, corpus.fields)) or "none"
        raise InputError(
            f"the documents lack the column {name!r}, which is a covariate; their columns are {have} "
            "(Corpus.fields; readers read the columns named in their option fields)"
        )
    return corpus.fields[name]


@dataclass(frozen=True)
class Numeric:
    """A number, (value - center) / scale, and whether it is missing where training lacked some.

    Attributes
    ----------
    column : str
    center, scale : float
        Mean and standard deviation of the training documents that have it; 0 and 1 where numbers stay
        as they are.
    fill : float
        What a missing one is taken for: the mean.
    indicator : bool
    """

    column: str
    center: float
    scale: float
    fill: float
    indicator: bool

    @classmethod
    def fitted(cls, corpus, column: str, standardise: bool) -> Numeric:
        values = numbers(corpus, column)
        missing = np.isnan(values)
        if missing.all():
            raise InputError(f"no training document has a number in the column {column!r}")
        mean, scale = mean_and_deviation(values[~missing])  # a constant column has scale 1
        if not standardise:
            return cls(column, 0.0, 1.0, mean, bool(missing.any()))
        return cls(column, mean, scale, mean, bool(missing.any()))

    @property
    def names(self) -> list[str]:
        return [self.column, f"{self.column} (missing)"] if self.indicator else [self.column]

    def transform(self, corpus) -> np.ndarray:
        values = numbers(corpus, self.column)
        missing = np.isnan(values)
        parts = [(np.where(missing, self.fill, values) - self.center) / self.scale]
        if self.indicator:
            parts.append(missing.astype(float))
        return np.column_stack(parts)


def numbers(corpus, column: str) -> np.ndarray:
    """A column as float64 (D,), NaN where missing; texts that are numbers are taken.

    Raises
    ------
    InputError
        Naming document and value that is no finite number.
    """
    values = column_of(corpus, column)
    result = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        result[row] = number_of(value)
        if math.isinf(result[row]):
            raise InputError(
                f"the column {column!r} of document {corpus.ids[row]!r} holds {value!r}, which is not a "
                f"finite number{date_hint(value) or '; a column of classes is named as categorical'}"
            )
        if abs(result[row]) > LARGEST:
            raise InputError(
                f"the column {column!r} of document {corpus.ids[row]!r} holds {shortened(value)}, which is "
                f"larger than {LARGEST:g}"
            )
    return result


@dataclass(frozen=True)
class Categories:
    """A covariate of 0 and 1 for each value of a column.

    Attributes
    ----------
    column : str
    values : tuple of str
        Sorted, without the pool.
    pooled : bool
        Whether there is a pool of rare values, after them.
    separator : str, optional
    """

    column: str
    values: tuple[str, ...]
    pooled: bool
    separator: str | None = None

    @classmethod
    def fitted(cls, corpus, column: str, min_count: int, separator: str | None) -> Categories:
        counts = Counter(value for row in classes(corpus, column, separator) for value in row)
        if not counts:
            raise InputError(f"no training document has a value in the column {column!r}")
        warn_of(counts, f"values of the column {column!r}", stacklevel=6)
        kept = sorted(v for v, n in counts.items() if n >= min_count and v != OTHER)
        return cls(column, tuple(kept), len(kept) < len(counts), separator)

    @property
    def names(self) -> list[str]:
        return [f"{self.column}={v}" for v in (*self.values, *([OTHER] * self.pooled))]

    def transform(self, corpus) -> sp.csr_array:
        from sklearn.feature_extraction.text import CountVectorizer

        known = frozenset(self.values)
        pool = [OTHER] if self.pooled else []
        found = classes(corpus, self.column, self.separator)
        values = {v for row in found for v in row}
        same = matched(values, known)
        if values and known and not pool and values.isdisjoint(known) and not same:
            warnings.warn(
                f"no document has a value of the column {self.column!r} that training documents had: "
                f"they have {_quoted(values)}, and training had {_quoted(known)}",
                InputWarning,
                stacklevel=5,
            )
        absent = looks_missing(values - known)
        if absent:
            warnings.warn(
                f"{listed(list(map(repr, absent)), 5)} in the column {self.column!r}, which training did not "
                f"have, may be no value: {advice(absent)} reads it as missing; in Python it is None",
                InputWarning,
                stacklevel=5,
            )
        rows = []
        for row in found:
            row = [same.get(v, v) for v in row]
            rows.append({v for v in row if v in known} | set(pool if not known.issuperset(row) else ()))
        encoder = CountVectorizer(analyzer=sorted, vocabulary=[*self.values, *pool], dtype=np.float64)
        return sp.csr_array(encoder.transform(rows))


def classes(corpus, column: str, separator: str | None) -> list[tuple[str, ...]]:
    """The values of each document as text, none where missing."""
    found = []
    for value in column_of(corpus, column).tolist():
        several = value if isinstance(value, tuple) else (value,)
        if separator is not None:
            several = [p for v in several for p in (v.split(separator) if isinstance(v, str) else [v])]
        texts = [_text(v) for v in several if v is not None and v == v]
        found.append(tuple({t for t in texts if t}))
    return found


def _text(value) -> str:
    """A class as text, alike whether it was read as text, as a whole number or as a float."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return tidy(str(value))


def _quoted(values) -> str:
    return listed([repr(v) for v in sorted(values)], 5)
