"""The topics of every word in packed lists and rows (packed.h): their room, and when they are arranged."""

from __future__ import annotations

import numpy as np

from plugsamp.kernels import word_cells as _cells
from plugsamp.system.arena import aligned
from plugsamp.system.tally import tally

#: A row is made of a word that has more than a share of 1 / ROW of the topics.
ROW = 8

_FLAGS = ("wide", "row", "may_row", "must_row")
WORD = np.dtype([("at", "u4"), ("size", "i4"), ("beta", "f4"), *((flag, "u1") for flag in _FLAGS)])
assert WORD.itemsize == _cells.WORD_SIZE


class WordTopics:
    """n_kw by word, in as few bytes as its counts need.

    Parameters
    ----------
    words : int32 (N,)
        Every token that may be counted: how often a word occurs decides on its room.
    n_words, n_topics, stride : int
    narrow, wide : int
        Bits of the two classes of cells; smaller ones make tests of large counts small.
    array : callable, optional
        Makes arrays of zeros that begin at a cache line, of a name, a size and a type.

    Attributes
    ----------
    bits : int
        Of a list's cell, the bits that hold its topic.
    lists : ndarray (V,) of `WORD`
    cells : uint8 array
    """

    def __init__(self, words, n_words, n_topics, stride, narrow=16, wide=32, array=None):
        self.n_topics, self.stride = n_topics, stride
        self.bits = int(n_topics).bit_length()  # one value is left for the padding
        frequency = tally(words, n_words)
        array = array or (lambda name, size, dtype: aligned(size, dtype))
        self.lists = array("sparse.lists", max(n_words, 1) * WORD.itemsize, np.uint8).view(WORD)
        lists = self.lists[:n_words]
        lists["wide"] = frequency >= 1 << max(narrow - self.bits, 0)
        lists["must_row"] = frequency >= 1 << max(wide - self.bits, 0)
        lists["may_row"] = lists["must_row"] | ((frequency > 16) & (frequency * ROW > n_topics))
        cells = np.where(lists["may_row"], stride, -(-np.minimum(frequency, n_topics) // 16) * 16)
        units = cells // 16 * (1 + lists["wide"].astype(np.int64))
        ends = np.cumsum(units)
        if len(ends) and ends[-1] >= 1 << 32:
            raise MemoryError(f"the topics of {n_words} words would take {32 * int(ends[-1]):,} bytes")
        lists["at"] = ends - units
        self.units = int(ends[-1]) if len(ends) else 0
        self.cells = array("sparse.cells", 32 * self.units + 64, np.uint8)  # with some to read past

    def clear(self, beta, first: int = 0, last: int | None = None) -> None:
        """No topics for words first:last; `beta` is float32 (V,)."""
        last = len(beta) if last is None else last
        self.lists["beta"][first:last] = beta[first:last]
        _cells.clear(
            self.lists.view(np.uint8), self.cells, self.n_topics, self.stride, self.units, first, last,
            len(beta),
        )  # fmt: skip

    def count(self, words, z, beta) -> None:
        """Count tokens of words with topics z, and nothing else."""
        order = np.argsort(words, kind="stable").astype(np.int32)
        starts = np.searchsorted(words[order], np.arange(len(beta) + 1)).astype(np.int64)
        self.count_block(z, np.empty(0, np.int32), order, starts, beta, 0, len(beta))

    def count_block(self, z, pseudo, order, starts, beta, first: int, last: int) -> None:
        """Count the tokens of words first:last, and nothing else for them.

        Parameters
        ----------
        z : uint16 (N,); pseudo : int32 (S,)
            Topics of tokens, and of what follows them in `order`.
        order : int32; starts : int64 (V+1,)
            Tokens by word.
        """
        self.clear(beta, first, last)
        _cells.count(
            self.lists.view(np.uint8), self.cells, self.bits, self.n_topics, self.stride, ROW, z, pseudo,
            order, starts, first, last,
        )  # fmt: skip

    def arrange(self, beta, first: int = 0, last: int | None = None) -> None:
        """Give words the shape that pays, lists sorted: all is then a function of the counts alone."""
        last = len(beta) if last is None else last
        self.lists["beta"][first:last] = beta[first:last]
        _cells.arrange(
            self.lists.view(np.uint8), self.cells, self.bits, self.n_topics, self.stride, ROW, first, last
        )

    def table(self, n_words):
        """n_kw, int64 (V, stride), for tests."""
        table = np.zeros((n_words, self.stride), np.uint32)
        _cells.table(self.lists.view(np.uint8), self.cells, self.bits, table)
        return table.astype(np.int64)
