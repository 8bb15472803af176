"""Tables that know the state they are about to change, as AliasLDA and LightLDA were published.

Not registered: a proposal may not be made of them without a bias (model.md section 3). For comparison,
behind ``stale=True`` of the two kernels.
"""

from __future__ import annotations

import numpy as np

from plugsamp.proposals.table_adapter import TableAdapter


class StaleTables(TableAdapter):
    """Mass (n_kw + beta_w)/(n_k + beta_sum) by the counts of the sweep's start, an alias table a word.

    Parameters
    ----------
    alpha : bool
        Times alpha_k.
    """

    def __init__(self, alpha: bool = False):
        self.alpha = alpha

    def attach(self, state):
        self.hold(state.n_words, False, False)

    def refresh(self, state, seed, sweep):
        k = state.n_topics
        rows = state.topic_word[:, :k] + state.beta[:, None]
        rows /= (state.topic_totals[:k] + state.beta_sum).astype(np.float32)
        if self.alpha:
            rows *= state.alpha[:k]
        rows = np.ascontiguousarray(rows, np.float32)
        self.sums = rows.sum(axis=1)
        self.build(rows, np.arange(state.n_words), 0)
