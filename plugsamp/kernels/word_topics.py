"""The topics of every word in packed lists and rows (packed.h): their room, and when they are arranged."""

from __future__ import annotations

import numpy as np

from plugsamp.kernels import word_cells as _cells

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

    Attributes
    ----------
    bits : int
        Of a list's cell, the bits that hold its topic.
    lists : ndarray (V,) of `WORD`
    cells : uint8 array
    """

    def __init__(self, words, n_words, n_topics, stride, narrow=16, wide=32):
        self.n_topics, self.stride = n_topics, stride
        self.bits = int(n_topics).bit_length()  # one value is left for the padding
        frequency = np.bincount(words, minlength=n_words)
        self.lists = np.zeros(max(n_words, 1), WORD)
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
        room = np.zeros(32 * self.units + 64 + 64, np.uint8)  # to begin at a cache line, and to read past
        self.cells = room[-room.ctypes.data % 64 :]

    def clear(self, beta) -> None:
        """No topics; `beta` is float32 (V,)."""
        self.lists["beta"][: len(beta)] = beta
        _cells.clear(self.lists.view(np.uint8), self.cells, self.n_topics, self.stride, self.units, len(beta))

    def count(self, words, z, beta) -> None:
        """Count tokens of words with topics z, and nothing else."""
        self.clear(beta)
        order = np.argsort(words, kind="stable")
        edges = np.searchsorted(words[order], np.arange(len(beta) + 1))
        _cells.count(
            self.lists.view(np.uint8), self.cells, self.bits, self.n_topics, self.stride, ROW, z, order,
            edges.astype(np.int64),
        )  # fmt: skip

    def arrange(self, beta) -> None:
        """Give each word the shape that pays, lists sorted: all is then a function of the counts alone."""
        self.lists["beta"][: len(beta)] = beta
        _cells.arrange(
            self.lists.view(np.uint8), self.cells, self.bits, self.n_topics, self.stride, ROW, len(beta)
        )

    def table(self, n_words):
        """n_kw, int64 (V, stride), for tests."""
        table = np.zeros((n_words, self.stride), np.uint32)
        _cells.table(self.lists.view(np.uint8), self.cells, self.bits, table)
        return table.astype(np.int64)
