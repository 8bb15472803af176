"""A topic proposal for plugsamp: each document's topics, guessed from its words and its responses."""

from __future__ import annotations

import numpy as np

from plugsamp.proposals.table import TableProposal

#: Documents are worked on together up to this many numbers, (tokens, K).
_AT_ONCE = 1 << 21


class Guess(TableProposal):
    """Topic k of document d with mass (alpha_k + m_dk) exp(s_dk).

    m_dk is how many tokens of d should have topic k by Phi alone: a few rounds of m_dk = sum_i p_ik,
    p_ik proportional to phi_kw (alpha_k + m_dk). s_dk is the response's log-weight of the topic (plugsamp's
    model.md section 3) at the f that these m_dk give. MedLDA-MT draws from such weights without a test; here
    the accept step makes it exact, since neither m nor s looks at the topics that are being updated.

    Parameters
    ----------
    rounds : int
        Of m.
    """

    by = "document"

    def __init__(self, rounds: int = 4):
        self.rounds = rounds

    def tables(self, view):
        m = self._expected(view)
        length = np.maximum(view.lengths, 1)[:, None]
        f = (m / length) @ view.eta.T + view.offset
        linear = (view.kappa - view.omega * f) @ view.eta
        quadratic = 0.5 * view.omega @ view.eta**2
        s = linear / length - quadratic / length**2
        return (view.alpha + m) * np.exp(s - s.max(axis=1, keepdims=True))

    def _expected(self, view):
        """m (documents, K)."""
        phi = np.ascontiguousarray(view.phi.T, dtype=np.float32)
        m = np.zeros((len(view), view.n_topics), np.float32)
        filled = np.flatnonzero(view.lengths)  # documents without tokens keep m = 0
        first = 0
        while first < len(filled):
            tokens = view.offsets[filled[first:] + 1] - view.offsets[filled[first]]
            n = max(int(np.searchsorted(tokens * view.n_topics, _AT_ONCE, side="right")), 1)
            documents = filled[first : first + n]
            start, stop = view.offsets[documents[0]], view.offsets[documents[-1] + 1]
            of_words = phi[view.words[start:stop]]
            for _ in range(self.rounds):
                p = of_words * np.repeat(view.alpha + m[documents], view.lengths[documents], axis=0)
                p /= np.maximum(p.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
                m[documents] = np.add.reduceat(p, view.offsets[documents] - start, axis=0)
            first += n
        return m
