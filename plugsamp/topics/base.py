"""The contract of a topic prior: a prior of the topics' words (model.md section 5)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plugsamp.options import Configured


class TopicPrior(Configured):
    """A prior of the topics Φ: Dirichlet, with pseudo-tokens or with cells that are left out.

    phi_k ~ Dir(beta + s_k), beta the model's and s_k whole numbers of pseudo-tokens (`pseudo_tokens`);
    where `needs_phi`, restricted to the words of which a draw says that they are in topic k
    (`draw_included`). This base class is the plain Dirichlet prior. A subclass is a plugin: its
    constructor's parameters are its configuration, and it is registered in ``plugsamp.topics``.
    """

    #: Whether the topics must be a variable of the chain: kernels with collapse="partial" alone.
    needs_phi: ClassVar[bool] = False

    def pseudo_tokens(self, vocabulary: tuple[str, ...], n_topics: int) -> tuple[np.ndarray, np.ndarray]:
        """Words and topics of the pseudo-tokens, two int arrays (S,); none by default.

        Raises
        ------
        ValueError
            Words or topics that there are not.
        """
        return np.empty(0, np.int32), np.empty(0, np.int32)

    def draw_included(self, included: np.ndarray, counts: np.ndarray, beta: np.ndarray, rng) -> None:
        """Update which words some topics have, given the words' counts in them.

        Parameters
        ----------
        included : uint8 (V, G)
            1 where a word is in a topic; the present state, changed in place by a kernel that leaves its
            conditional distribution as it is. 1 wherever there are counts, and somewhere in every topic.
        counts : int32 (V, G)
            n_kw of G topics.
        beta : float64 (V,)
        rng : numpy.random.Generator
        """
        raise NotImplementedError(f"{type(self).__name__} needs phi and has no draw_included")

    def log_included(self, included: np.ndarray) -> float:
        """log prior probability of a state (V, K) of bool, up to a constant."""
        return 0.0


class Dirichlet(TopicPrior):
    """phi_k ~ Dir(beta), the usual prior."""
