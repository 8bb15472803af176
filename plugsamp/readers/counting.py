"""Count the words of documents in one pass: words get numbers when they first occur."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import scipy.sparse as sp

from plugsamp.readers.word_table import WordTable

#: What each byte of ASCII text counts as, a blank where it is no letter; in lower case, and as it is.
_LETTERS = {
    lowercase: bytes(
        (c + 32 * (lowercase and c < 97)) if chr(c).isascii() and chr(c).isalpha() else 32 for c in range(256)
    )
    for lowercase in (True, False)
}


@dataclass
class Bags:
    """The words of documents, counted: what is kept of their contents.

    Attributes
    ----------
    X : CSR (D, V) of int64
        Rows are sorted.
    words : list of V words, sorted
    filled : bool (D,)
        Whether a document has any content, whether or not a word is in it.
    """

    X: sp.csr_array
    words: list[str]
    filled: np.ndarray

    def __len__(self) -> int:
        return len(self.filled)

    def take(self, rows) -> Bags:
        """Return the bags of some documents, with the same words."""
        rows = np.asarray(rows, dtype=np.int64)
        return Bags(self.X[rows], self.words, self.filled[rows])


class WordCounter:
    """Counts the words of documents that come in lists; their texts are not kept.

    Parameters
    ----------
    find : callable
        Returns the words of a document, a list of str, or a dict of str to count.
    is_left_out : callable, optional
        Whether a word is left out. It is called once for each different word.
    letters : bool, optional
        If given, documents are texts and `find` finds their words of two letters or more, in lower case
        if true. ASCII texts are then divided in compiled code with the same result, without the GIL.
    """

    def __init__(
        self,
        find: Callable[..., list[str] | dict[str, int]],
        is_left_out: Callable[[str], bool] | None = None,
        letters: bool | None = None,
    ):
        self._find, self._is_left_out = find, is_left_out
        self._as_letter = None if letters is None else _LETTERS[letters]
        self._table = WordTable()

    def extend(self, documents: Iterable) -> WordCounter:
        """Count the words of documents, and return the counter."""
        if self._as_letter is None:
            for document in documents:
                self._add(document)
            return self
        for plain, texts in groupby(documents, str.isascii):
            if plain:
                self._table.add_letters(list(texts), self._as_letter)
            else:
                for text in texts:
                    self._add(text)
        return self

    def _add(self, document) -> None:
        words = self._find(document)
        counts = list(words.values()) if isinstance(words, dict) else None
        try:
            self._table.add_words(list(words), counts)
        except UnicodeEncodeError:  # a surrogate that stands alone, as JSON may have one
            self._table.add_words([word.encode("utf-8", "surrogatepass") for word in words], counts)

    @property
    def n_bytes(self) -> int:
        """The memory that the counts take so far."""
        return self._table.n_bytes

    def counts(self) -> tuple[sp.csr_array, list[str]]:
        """Return the counts, CSR (D, V) of int64 with sorted rows, and the V words, sorted."""
        words = [word.decode("utf-8", "surrogatepass") for word in self._table.words()]
        left_out = self._is_left_out or (lambda word: False)
        kept = [number for number, word in enumerate(words) if not left_out(word)]
        kept.sort(key=words.__getitem__)
        places = np.full(len(words) + 1, -1, dtype=np.int32)
        places[kept] = np.arange(len(kept), dtype=np.int32)
        indptr, columns, data = self._table.rows()
        columns = places[columns]
        known = columns >= 0
        if not known.all():
            indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
            columns, data = columns[known], data[known]
        X = sp.csr_array((data.astype(np.int64), columns, indptr), shape=(len(indptr) - 1, len(kept)))
        X.sort_indices()
        X.has_canonical_format = True
        return X, [words[number] for number in kept]
