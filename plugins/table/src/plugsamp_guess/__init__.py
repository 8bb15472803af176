"""A topic proposal for plugsamp: each document's topics, guessed from its words and its responses."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from plugsamp.proposals.table import TableProposal


class Guess(TableProposal):
    """Topic k of document d with mass (alpha_k + m_dk) exp(s_dk).

    m_dk is how many tokens of d have topic k by their words alone, sum_i phi_kw / sum_k phi_kw, and s_dk the
    response's log-weight of the topic (plugsamp's MODEL section 3) at the f that these m_dk give. It is what
    MedLDA-MT draws from without a test; here the accept step makes it exact, since neither m nor s looks at
    the topics that are being updated.
    """

    by = "document"

    def tables(self, view):
        counts = csr_array((np.ones(len(view.words)), view.words, view.offsets), (len(view), view.n_words))
        present = np.unique(view.words)
        share = view.phi[:, present].T.astype(float)  # (words, K)
        share /= share.sum(axis=1, keepdims=True)
        m = counts[:, present] @ share
        length = np.maximum(view.lengths, 1)[:, None]
        f = (m / length) @ view.eta.T + view.offset
        linear = (view.kappa - view.omega * f) @ view.eta
        quadratic = 0.5 * view.omega @ view.eta**2
        s = linear / length - quadratic / length**2
        return (view.alpha + m) * np.exp(s - s.max(axis=1, keepdims=True))
