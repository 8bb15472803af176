"""Topics without tokens under a prior so small that all their gamma draws may be beyond floating point.

A cell's draw is held above 1e-30 (`plugsamp.topics.dirichlet`). That is nothing beside a topic's sum, unless
the sum itself is as small: a topic without tokens has Gamma(sum of beta), below 1e-28 with a probability of
1e-28 to the power of that sum. Such topics are drawn with logarithms.
"""

from __future__ import annotations

import numpy as np

#: Below this sum of beta, where the probability is 1e-14.
LIMIT = 0.5

#: What a cell has at least, for the token kernels' single precision.
FLOOR = 1e-37


def redraw(state, totals: np.ndarray, rng) -> None:
    """Draw anew the columns of phi whose topics are so small; their `totals` (K,) become 1.

    Parameters
    ----------
    state : State
        With unscaled gamma draws in phi.
    totals : float64 (K,), changed
    rng : numpy.random.Generator
    """
    empty = state.topic_totals[: state.n_topics] == 0
    if not empty.any() or not (state.masked or state.beta_sum < LIMIT):
        return
    for k in np.flatnonzero(empty & (state.topic_masses() < LIMIT)):
        cells = np.flatnonzero(state.phi[:, k] > 0)
        beta = state.beta_prior[cells]
        # Gamma(a) = Gamma(a + 1) U^(1/a)
        logs = np.log(rng.standard_gamma(beta + 1.0)) - rng.standard_exponential(len(cells)) / beta
        p = np.exp(logs - logs.max())
        state.phi[cells, k] = np.maximum(p / p.sum(), FLOOR)
        totals[k] = 1.0
