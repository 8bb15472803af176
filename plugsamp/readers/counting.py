"""Count the words of documents in one pass: words get numbers when they first occur."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp

#: Bytes of ASCII text with everything but letters replaced by blanks; in lower case, and as they are.
_LETTERS = {
    lowercase: bytes(
        (c + 32 * (lowercase and c < 97)) if chr(c).isascii() and chr(c).isalpha() else 32 for c in range(256)
    )
    for lowercase in (True, False)
}


class _Numbers(dict):
    """Words, as UTF-8, to numbers in the order in which they first occur."""

    def __missing__(self, word: bytes) -> int:
        self[word] = number = len(self)
        return number


class WordCounter:
    """Counts the words of documents that come one at a time; their texts are not kept.

    Parameters
    ----------
    find : callable
        Returns the words of a document, a list of str.
    is_left_out : callable, optional
        Whether a word is left out. It is called once for each different word.
    letters : bool, optional
        If given, documents are texts and `find` finds their words of two letters or more, in lower case
        if true. ASCII texts are then divided by a faster way with the same result.
    """

    def __init__(
        self,
        find: Callable[..., list[str]],
        is_left_out: Callable[[str], bool] | None = None,
        letters: bool | None = None,
    ):
        self._find, self._is_left_out = find, is_left_out
        self._table = None if letters is None else _LETTERS[letters]
        self._numbers = _Numbers()
        self._tokens = array("i")
        self._ends = array("q", [0])

    def add(self, document) -> None:
        """Count the words of a document."""
        if self._table is not None and document.isascii():
            words = document.encode().translate(self._table).split()
        else:
            words = [word.encode("utf-8", "surrogatepass") for word in self._find(document)]
        self._tokens.extend(map(self._numbers.__getitem__, words))
        self._ends.append(len(self._tokens))

    def extend(self, documents: Iterable) -> WordCounter:
        """Count the words of several documents, and return the counter."""
        for document in documents:
            self.add(document)
        return self

    def counts(self) -> tuple[sp.csr_array, list[str]]:
        """Return the counts, CSR (D, V) of int64 with sorted rows, and the V words, sorted."""
        words = [word.decode("utf-8", "surrogatepass") for word in self._numbers]
        left_out = self._is_left_out or (lambda word: False)
        short = self._table is not None  # the fast way also finds single letters
        kept = [
            number
            for number, word in enumerate(words)
            if not (short and len(word) == 1) and not left_out(word)
        ]
        kept.sort(key=words.__getitem__)
        places = np.full(len(words) + 1, -1, dtype=np.int32)
        places[kept] = np.arange(len(kept), dtype=np.int32)
        columns = places[np.frombuffer(self._tokens, dtype=np.int32)]
        ends = np.frombuffer(self._ends, dtype=np.int64)
        known = columns >= 0
        if not known.all():
            ends = np.concatenate([[0], np.cumsum(known)])[ends]
            columns = columns[known]
        shape = (len(ends) - 1, len(kept))
        X = sp.csr_array((np.ones(len(columns), np.int64), columns, ends), shape=shape)
        X.sum_duplicates()
        return X, [words[number] for number in kept]
