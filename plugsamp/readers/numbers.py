"""Counts and ids as text files write them."""

from __future__ import annotations

import math
import re

from plugsamp.counts import LIMIT
from plugsamp.errors import InputError

ID = re.compile(r"[0-9]+")
COUNT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_A_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def count_of(text: str) -> int:
    """A count: a whole number from 0 to the limit, written in any way (``2``, ``2.0``, ``2e0``).

    Raises
    ------
    InputError
        Anything else; the message has no place yet.
    """
    if NOT_A_NUMBER.fullmatch(text):
        raise InputError(f"count {text} is not a whole number from 0 to {LIMIT}")
    if not COUNT.fullmatch(text):
        raise InputError(f"cannot read count {text!r} as a number: only the digits 0 to 9")
    value = float(text)
    if value < 0:
        raise InputError(f"negative count {text}")
    if value > LIMIT:
        raise InputError(f"count {text} is over the limit {LIMIT}")
    if value != math.floor(value):
        raise InputError(f"{text} is not a whole count; weights such as tf-idf are none")
    return int(value)


def id_of(text: str, what: str, first: int, last: int, last_of: str, advice: str = "") -> int:
    """An id from `first` to `last`, which `last_of` sets.

    Raises
    ------
    InputError
        Anything else; the message has no place yet.
    """
    if text.startswith("-") and ID.fullmatch(text[1:]):
        raise InputError(f"{what} {text} is negative; {_kind(what)}s start at {first}")
    if not ID.fullmatch(text):
        raise InputError(f"cannot read {text!r} as {_article(what)}: only the digits 0 to 9")
    number = int(text) if len(text) <= 4000 else LIMIT + 1  # int() itself refuses more digits
    if number < first:
        raise InputError(f"{what} {number}; {_kind(what)}s start at {first}{advice}")
    if number > LIMIT:
        raise InputError(f"{what} {text} is over the limit {LIMIT}")
    if number > last:
        raise InputError(f"{what} {text} is over {last_of}")
    return number


def _kind(what: str) -> str:
    return what.split()[-1]


def _article(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
