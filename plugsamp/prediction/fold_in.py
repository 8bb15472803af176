"""Topic proportions of new documents by Gibbs sampling with the topics held fixed (MODEL section 7)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plugsamp.naming import check_width
from plugsamp.state import padded
from plugsamp.system.arena import aligned
from plugsamp.system.dispatch import load

_compiled = load("plugsamp.kernels.fold_in")

#: Gibbs passes over a new document, how many of them are left out of the average, and independent chains of
#: so many passes. One chain stays in one mode of a document's posterior, the more so the more topics there
#: are: on 20ng at K = 400, 100 passes of one chain give an accuracy of .806, 96 passes in eight chains .821;
#: at K = 100, 12 passes give .818 and eight chains of three .832.
PASSES, BURN_IN, RESTARTS = 3, 1, 8

#: Steps of a compiled loop, each of them some nanoseconds, between two looks at the keyboard: Ctrl-C is heard
#: within a second, but for a document that takes longer by itself.
STEPS = 1 << 26

#: Counts of the compiled loop are float32, exact below this.
_LONGEST = 2**24 - 1


@dataclass(frozen=True)
class Tokens:
    """The tokens of documents that a model knows.

    Attributes
    ----------
    words : int32 (N,)
        Sorted within each document.
    offsets : int64 (D+1,)
    n_unknown : int64 (D,)
        Tokens left out.
    ids : tuple of str (D,)
        Of the documents, where they are known.
    """

    words: np.ndarray
    offsets: np.ndarray
    n_unknown: np.ndarray
    ids: tuple[str, ...] = ()

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def of(self, first: int, last: int) -> Tokens:
        """Those of documents first:last."""
        offsets = self.offsets[first : last + 1]
        words = self.words[offsets[0] : offsets[-1]]
        return Tokens(words, offsets - offsets[0], self.n_unknown[first:last])


class FoldIn:
    """Topics of new documents given the topics' words.

    Parameters
    ----------
    phi : float32 (K, V)
    alpha : float64 (K,)
    vocabulary : tuple of str (V,)
    passes, burn_in, restarts : int
        See `plugsamp.prediction.inference.Predictor`.
    secret : str
        What the streams of documents are keyed by, beside their words.
    """

    def __init__(self, phi, alpha, vocabulary, passes: int, burn_in: int, restarts: int, secret: str):
        self.vocabulary, self.n_topics = vocabulary, len(alpha)
        self.passes, self.burn_in, self.restarts = passes, burn_in, restarts
        self._secret = hashlib.blake2b(secret.encode(), digest_size=32).digest()
        self.prior_mean = alpha / alpha.sum()
        # A word's row is scaled to a largest value of 1: only ratios within it matter, and scaled they can
        # neither underflow nor lose digits.
        rows = phi.T
        self._table = aligned((rows.shape[0], padded(self.n_topics)), np.float32)
        top = rows.max(axis=1, initial=0.0)
        np.divide(rows, top[:, None], out=self._table[:, : self.n_topics], where=top[:, None] > 0)
        self._alpha = np.zeros(self._table.shape[1], np.float32)
        self._alpha[: self.n_topics] = alpha

    def tokens(self, corpus) -> Tokens:
        """The tokens of a corpus of any vocabulary that can be folded in.

        Raises
        ------
        ValueError
            A document longer than the counts can hold.
        """
        if tuple(corpus.vocabulary) != self.vocabulary:
            check_width(corpus.vocabulary, self.vocabulary)
            corpus = corpus.with_vocabulary(self.vocabulary)
        words, offsets = corpus.words, corpus.offsets
        n_unknown = np.array(corpus.n_unknown, dtype=np.int64)
        usable = self._table.any(axis=1)
        if not usable.all():
            keep = usable[words]
            running = np.concatenate([[0], np.cumsum(keep)])
            kept = running[offsets]
            n_unknown += np.diff(offsets) - np.diff(kept)
            words, offsets = words[keep], kept
        longest = np.diff(offsets).max(initial=0)
        if longest > _LONGEST:
            raise ValueError(
                f"document {int(np.argmax(np.diff(offsets)))} has {longest} tokens, over the limit {_LONGEST}"
            )
        words, offsets = np.ascontiguousarray(words, np.int32), np.ascontiguousarray(offsets, np.int64)
        return Tokens(words, offsets, n_unknown)

    def zbar(self, tokens: Tokens) -> np.ndarray:
        """Mean topic proportions, float64 (D, K); 0 where no word is known."""
        keys, n_documents = self.keys(tokens), len(tokens.lengths)
        zbar = np.empty((n_documents, self.n_topics))
        self._run(tokens, keys, 0, n_documents, zbar)
        # The compiled sums are in single precision.
        total = zbar.sum(axis=1, keepdims=True)
        return np.divide(zbar, total, out=zbar, where=total > 0)

    def draws(self, tokens: Tokens, first: int, last: int) -> np.ndarray:
        """The proportions at the end of each restart, float64 (R, last - first, K).

        Those behind `zbar`'s mean, made again; the prior's mean where no word is known.
        """
        tokens = tokens.of(first, last)
        n = last - first
        drawn = np.zeros((self.restarts, n, self.n_topics), np.float32)
        self._run(tokens, self.keys(tokens), 0, n, np.empty((n, self.n_topics)), drawn)
        drawn = drawn.astype(float)
        drawn[:, tokens.lengths == 0] = self.prior_mean
        return drawn

    def keys(self, tokens: Tokens) -> np.ndarray:
        """The streams of documents: of the secret and their sorted known words."""
        words = tokens.words
        data = memoryview(words.astype("<i4", copy=False)).cast("B") if len(words) else b""
        edges = (tokens.offsets * 4).tolist()
        blake2b = hashlib.blake2b
        digests = [blake2b(data[a:b], digest_size=8, key=self._secret).digest() for a, b in pairwise(edges)]
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def _run(self, tokens: Tokens, keys, first: int, last: int, zbar, drawn=None) -> None:
        longest = max(1, tokens.lengths.max(initial=0))
        scratch, z = aligned((4, len(self._alpha)), np.float32), np.empty(longest, np.int32)
        shares = np.empty((0, 0, self.n_topics), np.float32)
        steps = tokens.lengths[first:last] * ((self.passes * self.restarts + 4) * len(self._alpha) // 16)
        for start, stop in pieces(steps, STEPS):
            if drawn is not None:
                shares = np.zeros((self.restarts, stop - start, self.n_topics), np.float32)
            _compiled.fold_in(
                tokens.words, tokens.offsets, self._table, self._alpha, keys, self.burn_in, self.passes,
                self.restarts, first + start, first + stop, scratch, z, zbar,
                shares,
            )  # fmt: skip
            if drawn is not None:
                drawn[:, start:stop] = shares


def pieces(steps: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents that take about `most` steps together, and at least one document each.

    Parameters
    ----------
    steps : array (D,)
        What each document takes.
    most : int
    """
    total, first = np.cumsum(steps, dtype=float), 0
    while first < len(total):
        before = total[first - 1] if first else 0.0
        last = max(first + 1, int(np.searchsorted(total, before + most, side="right")))
        yield first, last
        first = last
