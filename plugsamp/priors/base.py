"""The contract of a weight prior: Gaussian given its shrinkage, which it updates itself."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from plugsamp.options import Configured
from plugsamp.priors.columns import Columns


class WeightPrior(Configured, ABC):
    """eta_cj ~ N(0, 1/precision_cj) given the prior's own state (model.md section 4).

    As with losses, the constructor's parameters are the configuration.
    """

    def for_loss(self, loss) -> WeightPrior:
        """Return the prior with the options that were left to the loss."""
        return self

    def start(self, n_outputs: int, columns: Columns) -> dict[str, np.ndarray]:
        """The state that a chain keeps, as named float64 arrays whose first axis is the output.

        Parameters
        ----------
        n_outputs : int
        columns : Columns
            Which of the J weights belong to topics, covariates and the intercept.
        """
        return {}

    @abstractmethod
    def precision(self, state: dict[str, np.ndarray], c: int, columns: Columns) -> np.ndarray:
        """Prior precisions (J,) of output `c`, finite and above 0."""

    def update(self, state: dict[str, np.ndarray], c: int, columns: Columns, eta: np.ndarray, rng) -> None:
        """Draw the shrinkage of output `c` given its weights (J,), in place."""
        return None

    @abstractmethod
    def log_density(self, state: dict[str, np.ndarray], eta: np.ndarray, columns: Columns) -> float:
        """log p0(eta) given the state, eta (C, J), and log p of the state where the prior has one."""

    def simulate(self, n_outputs: int, columns: Columns, rng) -> dict[str, np.ndarray]:
        """A state drawn from the prior of the shrinkage, for the joint-distribution tests.

        A prior whose `start` holds nothing has nothing to draw.
        """
        return self.start(n_outputs, columns)
