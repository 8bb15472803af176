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

    def _call(self, first, last, key, **options):
        s = self.state
        word, totals = (s.topic_word, s.topic_totals) if s.phi is None else s.unread_counts
        try:
            return _loop.sample_documents(
                s.offsets, first, last, s.words, s.z, word, totals, s.phi, s.alpha, s.beta,
                s.beta_sum, s.eta_by_output, s.kappa[first:last], s.omega[first:last], s.offset[first:last],
                key, **options,
            )  # fmt: skip
        except MemoryError:
            if not s.n_outputs:
                raise
            wanted = PAIR * s.stride**2 / 1e9
            raise MemoryError(
                f"the dense kernel has no memory for the pairs of {s.n_topics:,} topics: with responses it "
                f"wants {wanted:,.1f} GB in each process; kernels that do without: {frugal_kernels()}"
            ) from None

    def sample(self, first: int, last: int, key: int, words=None) -> BlockReport:
        moved, sums, doubles = self._call(first, last, key, **only(words))
        return BlockReport(moved, forms={"sum": sums, "double": doubles})

    def transition(self, document: int, position: int) -> np.ndarray:
        n_topics = self.state.n_topics
        matrix = np.empty((n_topics, n_topics))
        for k in range(n_topics):
            with held_at(self.state, int(self.state.offsets[document]) + position, k):
                self._call(document, document + 1, 0, probe=position, out=matrix[k])
        return matrix
