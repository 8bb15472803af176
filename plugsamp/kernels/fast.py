"""FastLDA: exact Gibbs sampling of unsupervised models that looks at few topics a token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.checks import whole
from plugsamp.kernels.base import BlockReport, Kernel, Sampler, held_at, only
from plugsamp.state import State
from plugsamp.system.dispatch import load

_loop = load("plugsamp.kernels.fast_loop")

#: Bounds by name: the power of the norms of a and b.
BOUNDS = {"2-2-inf": 2, "3-3-3": 3}


class FastLDA(Kernel):
    """Every token from its full conditional after a look at few topics (Porteous et al. 2008, alg. 4.1).

    For models without responses, topics integrated out. `SparseLDA` is faster; this one is here for the
    paper's comparison.

    Parameters
    ----------
    bound : {"2-2-inf", "3-3-3"}
        The norms (p, q, r) of Hölder's inequality that bound the masses not visited. The paper's 3-3-3, with
        the norm of all c, does not fall at every step; the smallest bound so far is used.
    batch : int
        Topics visited between two looks at the bound; 1 is the paper's. Any number is exact.
    """

    references = ("porteous2008",)

    responses = False

    def __init__(self, bound: str = "2-2-inf", batch: int = 16):
        super().__init__("full")
        if bound not in BOUNDS:
            raise ValueError(f"bound must be one of {', '.join(map(repr, BOUNDS))}, not {bound!r}")
        self.bound = bound
        self.batch = whole("batch", batch, 1)

    def sampler(self, state: State) -> Sampler:
        return _FastSampler(self, state)


@dataclass
class Visit:
    """What a draw of one token may look at, given all other tokens.

    Attributes
    ----------
    order : ndarray (K,)
        Topics as they are visited.
    masses : ndarray (K,)
        a b c of each.
    visited : ndarray (L,)
        Topics visited at each look at the bound.
    sums, bounds : ndarrays (L,)
        S_l and Z_l; the last bound is Z.
    """

    order: np.ndarray
    masses: np.ndarray
    visited: np.ndarray
    sums: np.ndarray
    bounds: np.ndarray

    @property
    def tightness(self) -> np.ndarray:
        """Z_l / Z, (L,) (Porteous et al. 2008, figure 10)."""
        return self.bounds / self.bounds[-1]

    @property
    def looks(self) -> np.ndarray:
        """The probability that the draw ends at each look, (L,): how many topics are visited."""
        reached = np.maximum.accumulate(self.sums / self.bounds)
        return np.diff(reached, prepend=0.0)

    def distribution(self) -> np.ndarray:
        """The distribution (K,) of the drawn topic that the steps of the draw have with these numbers.

        Not simply masses over Z: the intervals of u are followed, so that a bound which fails shows.
        """
        edges = np.concatenate([[0.0], np.cumsum(self.masses)])
        result = np.zeros(len(self.order))

        def share(low, high, weight):
            """Spread a weight evenly over the running sums from low to high."""
            if weight <= 0:
                return
            if not high > low:  # of no width but by rounding
                result[self.order[min(np.searchsorted(edges[1:], low), len(result) - 1)]] += weight
                return
            inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
            np.add.at(result, self.order, weight * np.maximum(inside, 0.0) / (high - low))

        reached, before, previous = 0.0, 0.0, None
        for here, bound in zip(self.sums, self.bounds, strict=True):
            until = here / bound
            if until > reached:
                split = max(reached, before / bound)
                if previous is not None and previous > bound:
                    low, high = (
                        (u * previous - before) * bound / (previous - bound) for u in (reached, split)
                    )
                    share(low, high, split - reached)
                share(split * bound, here, until - split)
                reached = until
            before, previous = here, bound
        return result


class _FastSampler(Sampler):
    def __init__(self, kernel: FastLDA, state: State):
        self.kernel, self.state = kernel, state
        arena, n = state.arena, state.n_words
        self.frequency = arena.array("fast.frequency", n, np.int64)
        self.squares, self.cubes = (arena.array(f"fast.{name}", n, float) for name in ("squares", "cubes"))

    divides = word_tables = True

    def refresh_words(self, first: int, last: int) -> None:
        words = slice(first, last)
        norms = self.frequency[words], self.squares[words], self.cubes[words]
        _loop.word_norms(self.state.topic_word[words], *norms)

    @property
    def _given(self) -> tuple:
        norms = self.frequency, self.squares, self.cubes
        return self.state, norms, BOUNDS[self.kernel.bound], self.kernel.batch

    def sample(self, first: int, last: int, key: int, words=None) -> BlockReport:
        moved, visited = _loop.sample_documents(*self._given, first, last, key, **only(words))
        return BlockReport(moved, forms={"visited": visited})

    def visit(self, document: int, position: int) -> Visit:
        """What the next draw of a token may look at, given the other tokens as they are."""
        return self.probe(document, position)[0]

    def probe(self, document: int, position: int, draws: int = 0, key: int = 0):
        """The `Visit` of a token, and how often each topic came in so many draws (K,)."""
        k, batch = self.state.n_topics, self.kernel.batch
        seen, order, drawn = np.empty((3, k)), np.empty(k, np.int32), np.zeros(k, np.int64)
        self.refresh_words(0, self.state.n_words)
        looks = _loop.probe(*self._given, document, position, key, seen, order, drawn, draws)
        visited = np.minimum(batch * np.arange(1, looks + 1), k)
        return Visit(order, seen[2], visited, seen[0, :looks], seen[1, :looks]), drawn

    def transition(self, document: int, position: int) -> np.ndarray:
        rows = []
        for k in range(self.state.n_topics):
            with held_at(self.state, int(self.state.offsets[document]) + position, k):
                rows.append(self.visit(document, position).distribution())
        return np.array(rows)
