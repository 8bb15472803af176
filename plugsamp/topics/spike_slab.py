"""Spike and slab on the topics: each topic has words of its own and none of the others."""

from __future__ import annotations

import numpy as np

from plugsamp.checks import is_number
from plugsamp.topics import inclusion
from plugsamp.topics.base import TopicPrior


class SpikeSlab(TopicPrior):
    """I_kw ~ Bernoulli(probability), at least one in a topic; phi_k over {I_kw = 1} ~ Dir(beta), 0 elsewhere.

    Magnusson et al. 2018, appendix B (model.md section 5). Needs a partially collapsed kernel.

    Parameters
    ----------
    probability : float
        Of a word to be in a topic, above 0 and below 1.
    """

    references = ("magnusson2018",)

    needs_phi = True

    def __init__(self, probability: float = 0.1):
        if not (is_number(probability) and 1e-12 <= probability <= 1 - 1e-12):
            raise ValueError(
                f"spike_slab: probability must be a number above 0 and below 1, not {probability!r}"
            )
        self.probability = float(probability)

    def draw_included(self, included, counts, beta, rng):
        inclusion.draw_included(counts, beta, rng.random(counts.shape), self.probability, included)

    def log_included(self, included):
        n = int(np.count_nonzero(included))
        return n * np.log(self.probability) + (included.size - n) * np.log1p(-self.probability)
