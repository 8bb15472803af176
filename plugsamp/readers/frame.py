"""Data frames: columns of texts (or lists of words, or counts), labels and further fields."""

from __future__ import annotations

import datetime
import math
import numbers
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from plugsamp.checks import listed, shortened
from plugsamp.corpus import Corpus
from plugsamp.counts import LIMIT
from plugsamp.errors import InputError, InputWarning
from plugsamp.lookalikes import several_in_one
from plugsamp.naming import check_rows, frame_columns
from plugsamp.readers.records import Records, TextReader
from plugsamp.readers.rows import PRINTED

#: How the source is called in messages.
FRAME = "the data frame"


@dataclass(kw_only=True)
class Frame(TextReader):
    """A data frame of pandas, polars or pyarrow, or a mapping of names to columns.

    No row is left out, so that row i of the frame is document i of the corpus (but for `only` and
    `test_size`).

    Parameters
    ----------
    frame : data frame, or mapping of str to sequence
    text : str
        The column with the documents. A cell is a text, a list of words (taken as they are), or a mapping
        from word to count; a missing one is an empty document.
    label : str or list of str, optional
        The column with the responses: labels (text, integers, booleans), real numbers, or lists of labels. Or
        several columns, which are 0/1 indicators of labels or real responses. Missing ones (None, NaN, NA)
        are missing responses.
    fields : str or list of str
        Columns to keep in `Corpus.fields`, of which covariates and effects are made.
    id : str, optional
        The column with the ids, all different; by default the index of the frame, else the rows' numbers
        from 0.
    weight : str, optional
        The column that says how much the response of each document counts, 0 or more.
    missing_as : list of str
        Labels and values of fields that mean "missing", such as NA.
    Others : see `plugsamp.readers.text.TextOptions` and `plugsamp.readers.base.SplitOptions`.
    """

    frame: Any
    text: str = "text"
    label: str | Sequence[str] | None = None
    fields: str | Sequence[str] = ()
    id: str | None = None
    weight: str | None = None
    missing_as: str | Sequence[str] = ()

    has_columns = True

    def __post_init__(self):
        for name in ("fields", "missing_as"):
            value = getattr(self, name)
            setattr(self, name, [value] if isinstance(value, str) else list(value or ()))
        if self.label is not None and not isinstance(self.label, str):
            self.label = list(self.label)
            if not self.label:
                raise InputError("label names no column; leave it out where there are no responses")
        columns = list(self.frame) if isinstance(self.frame, Mapping) else frame_columns(self.frame)
        if columns is None:
            raise InputError(
                f"a data frame is needed, found {type(self.frame).__name__}; a mapping of names to "
                "columns is taken too, such as {'text': texts, 'label': labels}"
            )
        self._names = columns

    def records(self, path=None) -> Records:
        cells = self._cells(self.text, "text")
        if not cells:
            raise InputError(f"{FRAME} has no rows")
        if isinstance(self.frame, Mapping):
            check_rows(frame={self.text: self.frame[self.text], **self.frame})
        ids = self._ids(len(cells))
        kind, contents = _contents(cells, self.text, ids)
        response, responses, names = self._response(ids)
        columns = list(dict.fromkeys([*self.fields, *self.wanted.columns]))
        return Records(
            FRAME,
            kind,
            contents,
            ids,
            response,
            responses,
            response_names=names,
            weights=self._weights(ids) if self.weight is not None else [],
            fields={name: self._field(name, ids) for name in columns},
        )

    def _cells(self, name: str, option: str) -> list:
        """The cells of a column, None where they are missing."""
        if name not in self._names:
            raise InputError(
                f"{FRAME} has no column {name!r}; its columns are {listed(list(map(str, self._names)), 20)}; "
                f"{option}= names the right one"
            )
        if self._names.count(name) > 1:
            raise InputError(f"{FRAME} has {self._names.count(name)} columns called {name!r}")
        column = self.frame[name]
        get = getattr(column, "to_pylist", None) or getattr(column, "to_list", None) or column.__iter__
        return [None if missing_cell(cell) else cell for cell in get()]

    def _ids(self, n: int) -> list[str]:
        if self.id is not None:
            found = self._cells(self.id, "id")
            if None in found:
                raise InputError(f"the column {self.id!r} has no value in row {found.index(None)}")
        else:
            index = getattr(self.frame, "index", None)
            found = list(range(n) if index is None or callable(index) else index)
        ids = list(map(str, found))
        name, times = Counter(ids).most_common(1)[0]
        if times == 1:
            return ids
        if self.id is not None:
            raise InputError(f"the column {self.id!r} has the id {name!r} {times} times")
        warnings.warn(
            f"the index of {FRAME} has {name!r} {times} times, so documents are called by their rows, from 0",
            InputWarning,
            stacklevel=7,
        )
        return list(map(str, range(n)))

    def _known(self, name: str, option: str) -> list:
        """The cells of a column without those that `missing_as` names."""
        missing = set(map(str.strip, self.missing_as))
        return [
            None if isinstance(c, str) and (not c.strip() or c.strip() in missing) else c
            for c in self._cells(name, option)
        ]

    def _response(self, ids: list[str]) -> tuple[str | None, list, list[str]]:
        """Return the kind of the responses (see `Records`), one a document, and the names of columns."""
        if self.label is None:
            return None, [], []
        if isinstance(self.label, list):
            columns = [self._known(name, "label") for name in self.label]
            for name, cells in zip(self.label, columns, strict=True):
                _check_numbers(cells, name, ids, "several columns of labels must be numbers or booleans")
            return "y", list(map(list, zip(*columns, strict=True))), list(self.label)
        cells = self._known(self.label, "label")
        if any(isinstance(c, list | tuple | Set | np.ndarray) for c in cells):
            labels = [_labels(c, self.label, of) for c, of in zip(cells, ids, strict=True)]
            return "labels", labels, [self.label]
        if not all(c is None or isinstance(c, float | np.floating) for c in cells):
            printed = [c for c in cells if isinstance(c, str) and PRINTED.fullmatch(c)]
            found = several_in_one({c for c in cells if isinstance(c, str)})
            if printed or found is not None:
                said = found[0] if found else f"labels such as {printed[0]!r} look like printed lists"
                warnings.warn(
                    f"the column {self.label!r}: {said}; a column of lists has several labels a document",
                    InputWarning,
                    stacklevel=8,
                )
            return "label", cells, [self.label]
        _check_numbers(cells, self.label, ids, "responses must be finite")
        if all(c is None or float(c).is_integer() for c in cells):  # such as pandas makes of whole numbers
            return "label", [None if c is None else int(c) for c in cells], [self.label]
        return "y", cells, [self.label]

    def _weights(self, ids: list[str]) -> list[float]:
        cells = self._cells(self.weight, "weight")
        _check_numbers(cells, self.weight, ids, "weights must be numbers", missing=False)
        return list(map(float, cells))

    def _field(self, name: str, ids: list[str]) -> list:
        cells = self._known(name, "fields")
        for cell, of in zip(cells, ids, strict=True):
            if isinstance(cell, datetime.date | np.datetime64):
                raise InputError(
                    f"the column {name!r} holds times, such as {cell} in row {of}; make numbers of them, "
                    f"such as frame[{name!r}].dt.year"
                )
        return cells


def missing_cell(cell) -> bool:
    """Whether a cell is None, NaN, NaT or NA of pandas."""
    if cell is None or isinstance(cell, str):
        return cell is None
    return type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, numbers.Real) and cell != cell)


def _check_numbers(cells, name: str, ids, rule: str, missing: bool = True) -> None:
    """Refuse what is no finite number, naming column and row."""
    for cell, of in zip(cells, ids, strict=True):
        if (cell is None and missing) or (isinstance(cell, numbers.Real) and math.isfinite(cell)):
            continue
        found = "nothing" if cell is None else shortened(cell)
        raise InputError(f"{rule}, and the column {name!r} of row {of} holds {found}")


def _contents(cells: list, name: str, ids: list[str]) -> tuple[str, list]:
    """Return the kind of the documents and their contents; a missing cell is an empty document."""
    first = next((c for c in cells if c is not None), None)
    if first is None:
        raise InputError(f"every cell of the column {name!r} is missing")
    kind = "text"
    if isinstance(first, Mapping | list | tuple | np.ndarray):
        kind = "counts" if isinstance(first, Mapping) else "tokens"
    read = {"text": _text, "tokens": _tokens, "counts": _counts}[kind]
    empty = {"text": "", "tokens": [], "counts": {}}[kind]
    contents = []
    for cell, of in zip(cells, ids, strict=True):
        found = empty if cell is None else read(cell)
        if found is None:
            what = {"text": "text", "tokens": "a list of words", "counts": "counts of words"}[kind]
            raise InputError(
                f"the column {name!r} of row {of} holds {shortened(cell)} of type {type(cell).__name__}, "
                f"where {what} is needed"
            )
        contents.append(found)
    absent = [i for i, cell in enumerate(cells) if cell is None]
    if absent:
        warnings.warn(
            f"the column {name!r} is missing in {len(absent)} rows (the first is {ids[absent[0]]}), which "
            "are empty documents",
            InputWarning,
            stacklevel=8,
        )
    return kind, contents


def _text(cell) -> str | None:
    return str(cell) if isinstance(cell, str) and _is_utf8([cell]) else None


def _tokens(cell) -> list[str] | None:
    if not isinstance(cell, list | tuple | np.ndarray):
        return None
    words = list(cell)
    good = all(isinstance(word, str) and word for word in words) and _is_utf8(words)
    return list(map(str, words)) if good else None


def _counts(cell) -> dict[str, int] | None:
    if not isinstance(cell, Mapping) or not all(isinstance(w, str) for w in cell) or not _is_utf8(cell):
        return None
    counts = {w: n for w, n in cell.items() if n is not None}  # what Arrow fills in for other documents
    whole = all(isinstance(n, numbers.Integral) and 0 <= n <= LIMIT for n in counts.values())
    return {str(w): int(n) for w, n in counts.items()} if whole else None


def _is_utf8(texts) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _labels(cell, name: str, of: str) -> list[str] | None:
    """Return the labels of one document of several; texts and whole numbers are labels."""
    if cell is None:
        return None
    if not isinstance(cell, list | tuple | Set | np.ndarray) or any(
        not isinstance(v, str | numbers.Integral) or isinstance(v, bool) for v in cell
    ):
        raise InputError(f"the column {name!r} of row {of} holds {shortened(cell)}, not a list of labels")
    return sorted(set(map(str, cell)))


def corpus_of_frame(frame, vocabulary=None, **options) -> Corpus:
    """Return the documents of a data frame; see `plugsamp.Corpus.from_frame`."""
    apart = ("frame", "test_size", "split_seed", "only")
    known = [f.name for f in dataclass_fields(Frame) if f.name not in apart]
    wrong = next((name for name in options if name not in known), None)
    if wrong is not None:
        raise TypeError(f"from_frame() has no option {wrong!r}; its options are {', '.join(known)}")
    return Frame(frame=frame, **options).read(vocabulary).train


def corpus_of_texts(texts) -> Corpus:
    """Return documents from their texts, with every word kept; see `TextOptions` for how they are divided.

    Parameters
    ----------
    texts : sequence of str
        A list, an array or a column of a data frame. None and NaN are empty documents.
    """
    return corpus_of_frame({"text": list(texts)}, min_df=1, stop_words="none")
