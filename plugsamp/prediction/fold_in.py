"""Topic proportions of new documents by Gibbs sampling with the topics held fixed (model.md section 7)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plugsamp.naming import check_width
from plugsamp.state import padded
from plugsamp.system import cores
from plugsamp.system.arena import aligned
from plugsamp.system.dispatch import load

_compiled = load("plugsamp.kernels.fold_in")

#: Gibbs passes over a new document at least, how many of them are left out of the average, and independent
#: chains, which run in groups of 16.
PASSES, BURN_IN, RESTARTS = 6, 2, 16

#: Passes go on until a document's proportions have this estimated standard error, as total variation, or
#: there are so many passes.
TOLERANCE, LONGEST = 0.019, 256

#: Chains that run together, and draws of the proportions that they give.
GROUP, DRAWS = 16, 256

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
        See `plugsamp.posterior.draws.Draws`.
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
        self._usable = top > 0
        self._alpha = np.zeros(self._table.shape[1], np.float32)
        self._alpha[: self.n_topics] = alpha

    def tokens(self, corpus) -> Tokens:
        """The tokens of a corpus of any vocabulary that can be folded in.

        Raises
        ------
        ValueError
            A document longer than the counts can hold.
        """
        if corpus.vocabulary is not self.vocabulary and tuple(corpus.vocabulary) != self.vocabulary:
            check_width(corpus.vocabulary, self.vocabulary)
            corpus = corpus.with_vocabulary(self.vocabulary)
        words, offsets = corpus.words, corpus.offsets
        n_unknown = np.array(corpus.n_unknown, dtype=np.int64)
        keep = self._usable[words]
        if not keep.all():
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
        zbar = np.zeros((n_documents, self.n_topics))
        self._run(tokens, keys, 0, n_documents, zbar)
        total = zbar.sum(axis=1, keepdims=True)
        return np.divide(zbar, total, out=zbar, where=total > 0)

    def draws(self, tokens: Tokens, first: int, last: int) -> np.ndarray:
        """Draws of the proportions, float64 (R, last - first, K): 256 of each group of 16 chains.

        They are the ends of the last sixteen passes of each chain. Chains have at least sixteen kept passes
        here, so they may be longer than those of `zbar`. Where no word is known, all draws are the prior's
        mean.
        """
        tokens = tokens.of(first, last)
        n = last - first
        drawn = np.zeros((self.n_groups * DRAWS, n, self.n_topics), np.float32)
        self._run(tokens, self.keys(tokens), 0, n, np.zeros((n, self.n_topics)), drawn)
        drawn = drawn.astype(float)
        drawn[:, tokens.lengths == 0] = self.prior_mean
        return drawn

    @property
    def n_groups(self) -> int:
        return -(-self.restarts // GROUP)

    def keys(self, tokens: Tokens) -> np.ndarray:
        """The streams of documents: of the secret and their sorted known words."""
        words = tokens.words
        data = memoryview(words.astype("<i4", copy=False)).cast("B") if len(words) else b""
        edges = (tokens.offsets * 4).tolist()
        blake2b = hashlib.blake2b
        digests = [blake2b(data[a:b], digest_size=8, key=self._secret).digest() for a, b in pairwise(edges)]
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def _run(self, tokens: Tokens, keys, first: int, last: int, zbar, drawn=None) -> None:
        """Add to rows first:last of `zbar` the proportions of every group of chains; fill `drawn`.

        Ranges of documents are shared among the threads that `plugsamp.system.cores.threads` allows.
        """
        tokens, keys = tokens.of(first, last), keys[first:last]
        steps = tokens.lengths * (LONGEST * len(self._alpha) // 16)

        def run(piece: tuple[int, int]) -> None:
            start, stop = piece
            of = tokens.of(start, stop)
            for group in range(self.n_groups):
                part = np.empty((0, 0, self.n_topics), np.float32)
                if drawn is not None:
                    part = np.zeros((DRAWS, stop - start, self.n_topics), np.float32)
                found = np.empty((stop - start, self.n_topics))
                _compiled.fold_in(
                    of.words, of.offsets, self._table, self._alpha,
                    keys[start:stop] + np.uint64(group << 32), self.burn_in, self.passes, LONGEST,
                    TOLERANCE, 0, stop - start, found, part,
                )  # fmt: skip
                zbar[first + start : first + stop] += found
                if drawn is not None:
                    drawn[group * DRAWS : (group + 1) * DRAWS, start:stop] = part

        for _ in cores.in_threads(run, pieces(steps, STEPS)):
            pass


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
