"""The words of documents in two forms: counts in memory, and tokens that stand in a file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from plugsamp.checks import frozen
from plugsamp.counts import canonical
from plugsamp.errors import InputError
from plugsamp.system.arena import map_again, place_in_file, seen

#: Tokens of a file that are looked at as one piece.
PIECE = 1 << 20


class Counted:
    """Counts in memory, as the arrays of a CSR matrix whose rows are sorted by word.

    Parameters
    ----------
    indptr, indices, data : arrays (D+1,), (entries,), (entries,)
    """

    #: Whether the tokens need memory of their own once they are asked for.
    in_memory = True

    def __init__(self, indptr, indices, data):
        self.indptr = frozen(np.array(indptr, np.int64))
        self.indices, self.data = (frozen(np.array(a, np.int32)) for a in (indices, data))
        offsets = np.zeros(len(indptr), np.int64)
        sums = np.add.reduceat(np.append(self.data, 0).astype(np.int64), self.indptr[:-1])
        np.cumsum(sums * (np.diff(self.indptr) > 0), out=offsets[1:])
        self.offsets = frozen(offsets)

    @classmethod
    def of_tokens(cls, words: np.ndarray, offsets: np.ndarray, n_words: int) -> Counted:
        """Counts of tokens in any order within a document, each below `n_words`."""
        documents = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
        width = max(n_words, 1)
        pairs, counts = np.unique(documents * width + words.astype(np.int64), return_counts=True)
        indptr = np.searchsorted(pairs, np.arange(len(offsets), dtype=np.int64) * width)
        return cls(indptr, pairs % width, counts)

    def __setstate__(self, state):
        for array in state.values():
            frozen(array)  # pickling forgets it
        self.__dict__.update(state)

    @property
    def n_entries(self) -> int:
        return len(self.data)

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(indptr, indices, data), not to be changed."""
        return self.indptr, self.indices, self.data

    def words(self) -> np.ndarray:
        """The word of each token, int32 (N,), new and read-only."""
        return frozen(np.repeat(self.indices, self.data))

    def pieces(self) -> Iterator[np.ndarray]:
        """`words` in pieces of whole documents."""
        for first, last in _pieces(self.offsets):
            entries = slice(self.indptr[first], self.indptr[last])
            yield np.repeat(self.indices[entries], self.data[entries])

    def hash(self, h) -> None:
        for array, kind in ((self.indptr, "<i8"), (self.indices, "<i4"), (self.data, "<i4")):
            h.update(array.astype(kind, copy=False))

    def take(self, rows: np.ndarray) -> Counted:
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        entries = np.repeat(self.indptr[rows] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return Counted(indptr, self.indices[entries], self.data[entries])


def translated(bag: Counted | Mapped, places: np.ndarray, n_words: int) -> tuple[Counted, np.ndarray]:
    """The same documents in other words, and how many tokens each has lost.

    Parameters
    ----------
    bag : Counted or Mapped
    places : int array (V,)
        The place of each word among the `n_words` new ones, which several may share; -1 of one that is none
        of them.
    n_words : int
    """
    indptr, indices, data = bag.parts()
    columns = places[indices]
    known = columns >= 0
    n_documents = len(indptr) - 1
    rows = np.repeat(np.arange(n_documents, dtype=np.int64), np.diff(indptr))
    lost = np.bincount(rows[~known], weights=data[~known], minlength=n_documents).astype(np.int64)
    kept = sp.coo_array((data[known], (rows[known], columns[known])), shape=(n_documents, n_words))
    if len(np.unique(places[places >= 0])) < np.count_nonzero(places >= 0):
        kept.sum_duplicates()
    *parts, _ = canonical(kept)
    return Counted(*parts), lost


class Mapped:
    """Tokens in a file that is mapped read-only; counts are made of them when they are asked for.

    Parameters
    ----------
    words : memory-mapped array (N,) of int32
        Sorted within each document.
    offsets : array (D+1,) of int64
    n_words : int

    Raises
    ------
    InputError
        A word that does not exist, or a document that is not sorted.
    """

    in_memory = False

    def __init__(self, words, offsets, n_words: int):
        self._words = np.asarray(seen(words))
        self.offsets = frozen(np.asarray(seen(offsets)))
        self._n_entries = 0
        for first, last in _pieces(self.offsets):
            sizes, indices, _ = self._counted(first, last)
            wrong = (indices < 0) | (indices >= n_words)
            if wrong.any():
                raise InputError(f"word {indices[np.argmax(wrong)]} is not below {n_words}")
            ends = np.cumsum(sizes)
            falls = np.diff(indices) <= 0
            falls[ends[:-1][(ends[:-1] > 0) & (ends[:-1] < len(indices))] - 1] = False
            if falls.any():
                document = first + int(np.searchsorted(ends, np.argmax(falls), side="right"))
                raise InputError(f"the words of document {document} are not sorted")
            self._n_entries += len(indices)

    def __getstate__(self):
        """The file is named, not copied."""
        return {
            "place": place_in_file(self._words),
            "offsets": np.array(self.offsets),
            "_n_entries": self._n_entries,
        }

    def __setstate__(self, state):
        self._words = np.asarray(map_again(state.pop("place")))
        self.__dict__.update(state)
        frozen(self.offsets)

    @property
    def n_entries(self) -> int:
        return self._n_entries

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [self._counted(first, last) for first, last in _pieces(self.offsets)]
        sizes, indices, data = (
            np.concatenate(a) if a else np.zeros(0, int) for a in zip(*found, strict=True)
        )
        return np.concatenate(([0], np.cumsum(sizes))), indices, data

    def words(self) -> np.ndarray:
        return self._words

    def pieces(self) -> Iterator[np.ndarray]:
        for first, last in _pieces(self.offsets):
            yield self._words[self.offsets[first] : self.offsets[last]]

    def hash(self, h) -> None:
        """As of the counts, which are never all there at once."""
        n = 0
        h.update(np.zeros(1, "<i8"))
        for first, last in _pieces(self.offsets):
            ends = n + np.cumsum(self._counted(first, last)[0])
            h.update(ends.astype("<i8"))
            n = int(ends[-1])
        for which in (1, 2):
            for first, last in _pieces(self.offsets):
                h.update(self._counted(first, last)[which].astype("<i4"))

    def take(self, rows: np.ndarray) -> Counted | Mapped:
        """Neighbours stay in the file; any others become counts in memory."""
        if len(rows) and (np.diff(rows) == 1).all():
            first, last = self.offsets[rows[0]], self.offsets[rows[-1] + 1]
            if first < last:
                new = Mapped.__new__(Mapped)
                new._words = self._words[first:last]
                new.offsets = frozen(self.offsets[rows[0] : rows[-1] + 2] - first)
                new._n_entries = sum(len(new._counted(a, b)[1]) for a, b in _pieces(new.offsets))
                return new
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        words = self._words[np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])]
        sizes, indices, data = counted(words, offsets)
        return Counted(np.concatenate(([0], np.cumsum(sizes))), indices, data)

    def _counted(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        offsets = self.offsets[first : last + 1]
        return counted(self._words[offsets[0] : offsets[-1]], offsets - offsets[0])


def counted(words: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many different words each document has, which, and how often; of documents that are sorted."""
    new = np.ones(len(words), bool)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    new[offsets[:-1][offsets[:-1] < len(words)]] = True
    starts = np.flatnonzero(new)
    sizes = np.diff(np.searchsorted(starts, offsets))
    return sizes, words[starts], np.diff(starts, append=len(words)).astype(np.int32)


def _pieces(offsets: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of documents of some `PIECE` tokens, or one document."""
    first, n_documents = 0, len(offsets) - 1
    while first < n_documents:
        last = int(np.searchsorted(offsets, offsets[first] + PIECE, side="right")) - 1
        last = min(max(last, first + 1), n_documents)
        yield first, last
        first = last
