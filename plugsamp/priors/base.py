"""The contract of a weight prior: Gaussian given its shrinkage, which it updates itself."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from plugsamp.options import Configured


class WeightPrior(Configured, ABC):
    """eta_cj ~ N(0, 1/precision_cj) given the prior's own state (MODEL section 4).

    As with losses, the constructor's parameters are the configuration.
    """

    def start(self, n_outputs: int, shrunk: np.ndarray) -> dict[str, np.ndarray]:
        """The state that a chain keeps, as named float64 arrays whose first axis is the output.

        Parameters
        ----------
        n_outputs : int
        shrunk : ndarray (J,) of bool
            False for the intercept.
        """
        return {}

    @abstractmethod
    def precision(self, state: dict[str, np.ndarray], c: int, shrunk: np.ndarray) -> np.ndarray:
        """Prior precisions (J,) of output `c`."""

    def update(self, state: dict[str, np.ndarray], c: int, shrunk: np.ndarray, eta: np.ndarray, rng) -> None:
        """Draw the shrinkage of output `c` given its weights (J,), in place."""
        return None

    @abstractmethod
    def log_density(self, state: dict[str, np.ndarray], eta: np.ndarray, shrunk: np.ndarray) -> float:
        """log p0(eta) given the state, eta (C, J)."""
