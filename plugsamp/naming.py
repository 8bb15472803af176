"""Names as sequences, as mappings from name to place, and as the columns of data frames."""

from __future__ import annotations

import numbers
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence, Set

import numpy as np

from plugsamp.errors import InputError, InputWarning

#: Characters without a shape of their own: soft hyphens, marks of the direction of writing, variation
#: selectors, tags. Not zero-width spaces and joiners.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0001\U000e0020-\U000e007f]"
)

#: Next to these (Latin, Greek and Cyrillic letters, ASCII, punctuation, the ends of a text) joiners do
#: nothing, unless they follow a virama, whose shape they change.
_PLAIN = "\u0000-\u0588\u1e00-\u206f\u060c\u061b\u061f\u06d4\u0964\u0965"
_VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_JOINERS = re.compile(f"(?<![^{_PLAIN}])[\u200c\u200d]+|(?<![{_VIRAMA}])[\u200c\u200d]+(?![^{_PLAIN}])")


def normal(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which equal characters are equal."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def without_unseen(text: str) -> str:
    """The text without characters that have no shape and change none. Zero-width spaces stay."""
    return _JOINERS.sub("", _UNSEEN.sub("", text))


def tidy(text: str) -> str:
    """The text as it looks: composed (NFC), without unseen characters, and with single blanks inside."""
    if text.isascii() and text.isprintable():
        return text.strip() if "  " not in text else " ".join(text.split())
    return " ".join(normal(without_unseen(text).replace("\u200b", "")).split())


def joined(words: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray] | None:
    """Different words of which those that read the same (`tidy`) are one, and the place of each among these.

    None where no two read the same. A warning names those that do.
    """
    forms = [tidy(word) or word for word in words]
    times = Counter(forms)
    if len(times) == len(forms) or len(set(words)) < len(forms):
        return None
    names = [form if times[form] > 1 else word for word, form in zip(words, forms, strict=True)]
    alike = [ascii(word) for word, form in zip(words, forms, strict=True) if times[form] > 1]
    more = f" and {len(alike) - 4} more" if len(alike) > 4 else ""
    warnings.warn(
        "words that differ only in blanks at the ends, in Unicode form or in unseen characters are one word: "
        f"{', '.join(alike[:4])}{more}",
        InputWarning,
        stacklevel=4,
    )
    kept = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return tuple(kept), np.array([kept[name] for name in names], dtype=np.int64)


def places_in(vocabulary, words) -> np.ndarray:
    """The place of each word in a vocabulary, int64, -1 where it has none.

    A word with a place of its own has that one, others that of the word that reads the same (`tidy`).
    """
    index = {word: i for i, word in enumerate(vocabulary)}
    found = [index.get(word, -1) for word in words]
    if -1 in found:
        for i, word in enumerate(vocabulary):
            index.setdefault(tidy(str(word)), i)
        found = [index.get(tidy(word), -1) if i < 0 else i for i, word in zip(found, words, strict=True)]
    return np.array(found, dtype=np.int64)


def in_order(names, argument: str) -> tuple:
    """Names in the order of their places.

    Parameters
    ----------
    names : sequence, or mapping
        A mapping goes from each name to its place (``CountVectorizer.vocabulary_``), or from each place to
        its name (``gensim.corpora.Dictionary``); places are the whole numbers from 0.
    argument : str
        The name of the argument, for messages.

    Raises
    ------
    InputError
        A set, which has no order; a mapping that leaves places out or uses one twice; a data frame.
    """
    if isinstance(names, str | bytes):
        raise InputError(f"{argument} must be a sequence of strings, not one string")
    if isinstance(names, Mapping):
        return _of_mapping(dict(names), argument)
    if isinstance(names, Set):
        raise InputError(
            f"{argument} must be in the order of what it names, and a {type(names).__name__} has no order "
            "that says so; pass a list"
        )
    if (columns := frame_columns(names)) is not None:
        example = f", such as list(frame.columns) or frame[{columns[0]!r}]" if columns else ""
        raise InputError(f"{argument} must be a sequence of strings, not a data frame; pass a list{example}")
    return tuple(names)


def _of_mapping(names: dict, argument: str) -> tuple:
    """The names of a mapping from name to place, or from place to name."""
    places = list(names.values())
    if not all(map(_is_place, places)) and all(map(_is_place, names)):
        names, places = dict(zip(places, names, strict=True)), list(names)
    if len(names) < len(places) or sorted(filter(_is_place, places)) != list(range(len(places))):
        raise InputError(
            f"{argument} is a mapping, which must go from each name to its place, the numbers from 0 to "
            f"{len(places) - 1} each once; pass a list of names in order otherwise"
        )
    return tuple(sorted(names, key=names.__getitem__))


def _is_place(value) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def frame_columns(values) -> list | None:
    """The names of the columns of a data frame (pandas, polars, pyarrow), None of anything else."""
    if isinstance(values, np.ndarray | Mapping) or not hasattr(values, "__getitem__"):
        return None
    columns = getattr(values, "column_names", None)
    if columns is None:
        columns = getattr(values, "columns", None)
    shape = getattr(values, "shape", None)
    if columns is None or callable(columns) or not isinstance(shape, tuple) or len(shape) != 2:
        return None
    return list(columns)


def names_of_columns(values, given, argument: str):
    """Names for the columns of `values`: those given, or those of a data frame; None where there are none.

    Columns of a frame that are numbered from 0 in order, not named, have no names.

    Raises
    ------
    InputError
        Some columns have names and some have not, the names are not text (numbers out of order, tuples,
        dates), or the names given are the frame's in another order.
    """
    columns = frame_columns(values)
    if columns is None:
        return given
    named = [isinstance(name, str) for name in columns]
    if not any(named):
        if given is None and len(columns) > 1 and columns != list(range(len(columns))):
            raise InputError(
                f"the columns of the data frame are called {columns[0]!r}, {columns[1]!r}, ..., which are "
                f"not text; frame.set_axis(list(map(str, frame.columns)), axis=1) makes text of them, and "
                "frame.to_numpy() has no names"
            )
        return given
    if given is not None:
        given = in_order(given, argument)
        if list(given) != columns and set(given) == set(columns):
            raise InputError(
                f"{argument} has the names of the data frame's columns in another order; leave {argument} "
                "out to use the columns, or pass frame.to_numpy() for columns in the order of the names"
            )
        return given
    if not all(named):
        odd = columns[named.index(False)]
        raise InputError(
            f"some columns of the data frame are called by text and some are not, such as {odd!r}; "
            "frame.columns.astype(str) makes text of all"
        )
    return tuple(map(str, columns))


def columns_of(values) -> Mapping | None:
    """The columns of a data frame by name, None of anything else."""
    columns = frame_columns(values)
    return None if columns is None else {name: values[name] for name in columns}


def stacked(values, argument: str):
    """(values, names): a mapping of names to columns as a table with named columns, all else as it is."""
    if isinstance(values, Set):
        raise InputError(
            f"{argument} must be in order, and a {type(values).__name__} has none; pass an array"
        )
    if not isinstance(values, Mapping):
        return values, None
    names = in_order(list(values), argument)
    try:
        return np.column_stack([np.asarray(values[name]) for name in names]), names
    except ValueError as error:
        raise InputError(f"{argument}: the columns cannot be put side by side: {error}") from None


def check_rows(ids=None, /, **parts) -> None:
    """Refuse parts of a corpus whose rows have the same names in another order, or other names.

    Values are taken by position. The numbers that pandas gives to rows without names (``RangeIndex``)
    are names only where another index has just these.

    Parameters
    ----------
    ids : sequence of str, optional
        Names that the documents have, which need not be those of an index.
    parts : by the name of the argument
        A Series or data frame of pandas has an index, and so have the columns of a mapping; whatever has none
        is passed over.

    Raises
    ------
    InputError
    """
    indexed = {}
    for argument, values in parts.items():
        columns = values.items() if isinstance(values, Mapping) else [(None, values)]
        for name, column in columns:
            if hasattr(getattr(column, "index", None), "equals"):
                indexed[argument if name is None else f"{argument}[{name!r}]"] = column.index
    if indexed and ids is not None and not isinstance(ids, Mapping | Set | str | bytes):
        ids = list(ids)
        for what, index in indexed.items():
            own = list(map(str, index))
            if what != "ids" and own != ids and len(own) == len(ids) and set(own) == set(ids):
                raise _other_rows(what, "ids", True)
    (first, one), *others = list(indexed.items()) or [(None, None)]
    for what, index in others:
        if len(index) != len(one) or index.equals(one):
            continue
        same = set(index) == set(one)
        if same or not (_numbered(index) or _numbered(one)):
            raise _other_rows(what, first, same)


def _numbered(index) -> bool:
    """Whether an index only counts rows from 0."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _other_rows(what: str, first: str, same: bool) -> InputError:
    how = f"the rows of {first} in another order" if same else f"another index than {first}"
    align = f"put {what} in the order of ids" if first == "ids" else f"pass {what}.loc[{first}.index]"
    by_name = f"{align} to take values by name" if same else "give both the same index"
    by_position = f"pass {what}.reset_index(drop=True) to take them by position"
    return InputError(f"{what} has {how}", in_python=f"; {by_name}, or {by_position}")


def unnamed(vocabulary) -> bool:
    """Whether words are called w0, w1, ..., as those of counts without names are."""
    return len(vocabulary) > 0 and all(word == f"w{i}" for i, word in enumerate(vocabulary))


def check_width(found, own) -> None:
    """Refuse counts without names that have another number of words than the model.

    Parameters
    ----------
    found, own : sequences of str
        The vocabularies of the documents and of the model.

    Raises
    ------
    InputError
    """
    if len(found) != len(own) and unnamed(found) and unnamed(own):
        raise InputError(
            f"the documents have {len(found)} columns without names, and the model has {len(own)}: which "
            "is which cannot be known",
            in_python="; count them with the same vectorizer (transform, not fit_transform), pass "
            "vocabulary= when fitting and predicting, or n_words= of a Corpus of tokens",
        )
