"""Dense Gibbs sampling of the topic indicators."""

from __future__ import annotations

import numpy as np

from plugsamp.kernels.base import BlockReport, Kernel, Sampler, frugal_kernels, held_at, only
from plugsamp.state import State
from plugsamp.system.dispatch import load

_loop = load("plugsamp.kernels.dense_loop")

#: Bytes of a pair of topics: its score and the exponential in single precision, and the score in double.
PAIR = 16


class Dense(Kernel):
    """Every token from its full conditional over all topics, O(K) a token.

    Zheng et al. (2015), eq. 15; Zhu et al. (2013), alg. 1.

    Vectorised over topics, and free of any loop over outputs once a document's rows are made; up to
    some hundred topics nothing mixes faster for its time.

    Parameters
    ----------
    collapse : {"full", "partial"}
        Integrate the topics out, or keep them as a variable.
    """

    references = ("griffiths2004",)

    pairs = True

    def sampler(self, state: State) -> Sampler:
        return _DenseSampler(state)


class _DenseSampler(Sampler):
    def __init__(self, state: State):
        self.state = state

    divides = True

    def sample(self, first: int, last: int, key: int, words=None) -> BlockReport:
        try:
            moved, sums, doubles = _loop.sample_documents(self.state, first, last, key, **only(words))
        except MemoryError:
            if not self.state.n_outputs:
                raise
            wanted = PAIR * self.state.stride**2 / 1e9
            raise MemoryError(
                f"the dense kernel has no memory for the pairs of {self.state.n_topics:,} topics: with "
                f"responses it wants {wanted:,.1f} GB in each process; kernels that do without: "
                f"{frugal_kernels()}"
            ) from None
        return BlockReport(moved, forms={"sum": sums, "double": doubles})

    def transition(self, document: int, position: int) -> np.ndarray:
        n_topics = self.state.n_topics
        matrix = np.empty((n_topics, n_topics))
        for k in range(n_topics):
            with held_at(self.state, int(self.state.offsets[document]) + position, k):
                _loop.conditional(self.state, document, position, matrix[k])
        return matrix
