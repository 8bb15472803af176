"""Sizes that a file or a caller claims, compared with what is there and with the memory that is free."""

from __future__ import annotations

from fractions import Fraction

from plugsamp.errors import InputError
from plugsamp.system import memory

#: Bytes that a word or a document takes by its name and its places in tables.
BYTES_EACH = 200

#: Words and documents that may be claimed by whatever has few entries, and those beyond them for each entry:
#: room for ids with gaps, such as hashed features, and for documents without words.
PLENTY, FOR_EACH_ENTRY = 1 << 24, 64


def check_claim(
    claim: str,
    number: int,
    what: str,
    n_entries: int,
    *,
    file=None,
    line: int | None = None,
    column: int | None = None,
    advice: str = "",
) -> None:
    """Refuse a number of words or documents before anything is allocated for it.

    Parameters
    ----------
    claim : str
        What claims it, for the message: "feature id 2147483647".
    number : int
        So many words or documents are claimed.
    what : {"words", "documents"}
    n_entries : int
        So many entries (a word of a document with its count) there are.
    file, line, column : optional
        Where the claim stands.
    advice : str, optional
        What would be right, for the message.

    Raises
    ------
    InputError
        They are more than `PLENTY` and more than `FOR_EACH_ENTRY` times the entries, or would not fit in the
        memory that is free.
    """
    needed = number * BYTES_EACH
    if needed <= memory.LITTLE:
        return
    if number > PLENTY + FOR_EACH_ENTRY * n_entries:
        why = f"and there are {n_entries:,} entries in all"
    else:
        free = memory.available_bytes()
        if free is None or needed <= free:
            return
        why = f"and {memory.in_words(free)} are free"
    raise InputError(
        f"{claim} makes {number:,} {what}, which need {memory.in_words(needed)} of memory, {why}{advice}",
        file=file,
        line=line,
        column=column,
    )


def share_of(share: float, number: int) -> float:
    """Return a share of a whole number as it is written: .07 of 100 is 7, and not 7.000000000000001."""
    return float(Fraction(str(float(share))) * number)
