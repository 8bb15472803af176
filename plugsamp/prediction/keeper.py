"""What prediction needs of the sweeps of a chain."""

from __future__ import annotations

import numpy as np

from plugsamp.prediction.fold_in import BURN_IN, PASSES, RESTARTS
from plugsamp.prediction.inference import Predictor
from plugsamp.state import ROWS


class PosteriorKeeper:
    """Collects what prediction needs from the sweeps of a chain.

    Parameters
    ----------
    chain : Chain

    Examples
    --------
    ::

        keeper = PosteriorKeeper(chain)
        for info in chain.sweeps(100):
            if info.sweep > 50 and info.sweep % 5 == 0:
                keeper.keep()
        predictor = keeper.predictor()
    """

    def __init__(self, chain):
        self.chain = chain
        self.clear()

    def clear(self) -> None:
        """Forget what has been kept."""
        self.n_kept = 0
        self.phi_sum = None  # over kept sweeps, of the topics' means, word-major
        self.alpha_sum = None
        self.eta: list[np.ndarray] = []
        self.parameters: list[dict[str, np.ndarray]] = []

    def keep(self) -> None:
        """Keep the chain's present state: the mean of the topics given z, weights and loss parameters."""
        state = self.chain.state
        inverse = 1.0 / state.topic_masses()
        if self.phi_sum is None:
            self.phi_sum = np.zeros((state.n_words, state.n_topics))
            self.alpha_sum = np.zeros(state.n_topics)
        for first in range(0, state.n_words, ROWS):
            rows = slice(first, first + ROWS)
            self.phi_sum[rows] += state.word_masses(rows) * inverse
        self.alpha_sum += state.alpha_prior
        self.eta.append(state.eta.copy())
        self.parameters.append({name: v.copy() for name, v in self.chain.parameters.items()})
        self.n_kept += 1

    def phi(self) -> np.ndarray:
        """The mean over kept sweeps of (n_kw + beta_w) / (n_k + sum of beta), float64 (K, V)."""
        if not self.n_kept:
            raise ValueError("no draw has been kept: call keep() after at least one sweep")
        return (self.phi_sum / self.n_kept).T

    def predictor(
        self, passes: int = PASSES, burn_in: int = BURN_IN, restarts: int = RESTARTS, seed: int | None = None
    ) -> Predictor:
        """What has been kept, as a predictor that no longer needs the chain.

        Parameters
        ----------
        passes, burn_in : int
            Gibbs passes over a new document, and how many of them are left out.
        restarts : int
            Independent chains of so many passes over each document, averaged.
        seed : int, optional
            By default the chain's.

        Raises
        ------
        ValueError
            Where nothing has been kept.
        """
        chain = self.chain
        names = chain.corpus.covariate_names if chain.covariates is not None else None
        return Predictor(
            phi=self.phi(),
            eta=np.array(self.eta),
            alpha=self.alpha_sum / self.n_kept,
            loss=chain.model.loss,
            coding=chain.coding,
            parameters={k: np.array([p[k] for p in self.parameters]) for k in self.parameters[0]},
            vocabulary=chain.corpus.vocabulary,
            covariate_names=names or (),
            intercept=chain.intercept,
            passes=passes,
            burn_in=burn_in,
            restarts=restarts,
            seed=chain.seed if seed is None else seed,
            source="posterior" if chain.responses.weight is None else "weighted",
        )
