"""Checks of arguments: whole numbers, numbers, names; and how messages list what was found."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import re

import numpy as np
import scipy.sparse as sp

from plugsamp.errors import InputError
from plugsamp.naming import in_order

#: Of covariates and real responses: products of squares with costs and weights stay finite.
LARGEST = 1e30

#: Of whole numbers, where nothing else is said: compiled code holds them in 32 bits.
MOST = 2**31 - 1


#: What to do with lists of labels, in Python.
SEVERAL = (
    "several labels a document are columns of 0 and 1 (MultiLabelBinarizer of scikit-learn makes them), or a "
    "column of lists for Corpus.from_frame"
)

#: What to do with dates.
DATES = "; make numbers of dates and durations first, such as days since a day"

_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T].*)?\s*")


def date_hint(value) -> str:
    """What to do with a date where a number is needed; empty for all else."""
    date = hasattr(value, "year") or (isinstance(value, str) and _DATE.fullmatch(value) is not None)
    return DATES if date else ""


def whole(name: str, value, least: int = 0, most: int | None = MOST) -> int:
    """`value` as an int, where it is a whole number of any numeric type from `least` to `most`.

    Only what never is a C integer, such as a seed, has no largest value (None).
    """
    # int() would take "3" and True, and refuses NaN and infinity in words of its own.
    is_whole = isinstance(value, numbers.Integral) or (
        isinstance(value, numbers.Real) and float(value).is_integer()
    )
    if not is_whole or isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a whole number, {least} or more, not {value!r}")
    value = int(value)
    if value < least or (most is not None and value > most):
        plain = most is None or (most == MOST and value < least)  # a limit that nobody has come near
        limits = f"a whole number, {least} or more" if plain else f"from {least:,} to {most:,}"
        raise ValueError(f"{name} must be {limits}, not {shortened(value)}")
    return value


def flag(name: str, value) -> bool:
    """`value` where it is True or False: of anything else it is not clear which is meant."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def n_jobs_of(value):
    """A number of processes as joblib takes it: None, or a whole number that is not 0."""
    if value is None:
        return None
    try:
        number = whole("n_jobs", value, -(2**31))
    except ValueError:
        number = 0
    if not number:
        raise ValueError(
            f"n_jobs must be a whole number of processes, 1 or more, or -1 for one a core, not {value!r}"
        )
    return number


def is_number(value) -> bool:
    """Whether it is a real number of Python or NumPy: comparing anything else says nothing of an option."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def share(name: str, value) -> float:
    """Return a share of documents; refuse what is not above 0 and below 1 (ValueError)."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name} must be a share above 0 and below 1, such as 0.2, not {value!r}")
    return float(value)


def shortened(value, most: int = 40) -> str:
    """A value as in Python, the middle left out where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of many thousand digits
        return f"a number of {value.bit_length()} bits"
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 4 :]}"


def listed(found, most: int) -> str:
    """Strings as a list in a sentence, of which those beyond `most` are counted."""
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def number_of(value) -> float:
    """A raw value as a number: NaN where missing (None, blank), infinity where it is no finite number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            return math.inf  # float() would take them
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return math.inf if math.isnan(number) and isinstance(value, str) else number  # "nan" is no number


def names_of(names, size: int, argument: str, what: str, of: str) -> tuple[str, ...]:
    """`size` different strings that can be written as UTF-8; a mapping says the place of each."""
    names = in_order(names, argument)
    if len(names) != size:
        raise InputError(f"{argument} has {len(names)} entries for {size} {of}")
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(
                f"{argument} must hold strings; entry {i} is {name!r} of type {type(name).__name__}"
            )
    names = tuple(map(str, names))  # NumPy's own strings become plain ones
    if len(set(names)) != size:
        seen: dict[str, int] = {}
        for i, name in enumerate(names):
            if name in seen:
                raise InputError(
                    f"{what} {name!r} occurs twice in {argument}, as entries {seen[name]} and {i}"
                )
            seen[name] = i
    check_text(names, what)
    return names


def check_text(texts, what: str):
    try:
        "\n".join(texts).encode()
    except UnicodeEncodeError:
        bad = next(t for t in texts if any("\ud800" <= c <= "\udfff" for c in t))
        raise InputError(f"{what} {bad!r} holds half of a surrogate pair; it could not be saved") from None


def frozen(values):
    """The array, or the parts of the CSR matrix, made read-only."""
    parts = (values.indptr, values.indices, values.data) if sp.issparse(values) else (values,)
    for part in parts:
        part.flags.writeable = False
    return values


def near_names(function):
    """Make a function refuse a keyword that it does not have with the names that are near.

    Raises
    ------
    TypeError
        From the function, in place of Python's own.
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args, **kwargs):
        for name in (name for name in kwargs if name not in known):
            near = difflib.get_close_matches(name, known, 2, 0.7)
            told = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known)}"
            raise TypeError(f"{called} has no argument {name!r}: {told}")
        return function(*args, **kwargs)

    return call
