"""The contract of a weight prior: Gaussian given its shrinkage, which it updates itself."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from plugsamp.checks import is_number
from plugsamp.options import Configured
from plugsamp.priors.columns import Columns

#: Weights are kept in single precision for the token kernels, and precisions must be finite.
SMALLEST, LARGEST = 1e-30, 1e30


def check_variances(prior: str, **options) -> None:
    """Refuse variances, or scales, of a prior that are out of range (ValueError); the message names them."""
    for name, value in options.items():
        if not (is_number(value) and SMALLEST <= value <= LARGEST):
            low = is_number(value) and not value > 0
            limits = "above 0" if low else f"from {SMALLEST:g} to {LARGEST:g}"
            raise ValueError(f"{prior}: {name} must be a number {limits}, not {value!r}")


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

    # -- scales that are drawn for all outputs at once ---------------------------------------------------

    def groups(self, columns: Columns) -> dict[str, slice]:
        """Return the groups of weights, by name, whose scales `rescale` draws; by default none."""
        return {}

    def rescale(self, state, columns: Columns, eta, linear, quadratic, rng) -> None:
        """Draw the scales of the `groups` once all outputs have new weights; changes `state` and `eta`.

        It may multiply the weights of a group. Let f_g be the part of the linear predictor that group g
        contributes, and t_g its factor. The responses then contribute
        exp(sum_g linear_g t_g - 1/2 sum_gh quadratic_gh t_g t_h) to the posterior.

        Parameters
        ----------
        state : dict of float64 arrays
        columns : Columns
        eta : float64 (C, J)
        linear : float64 (C, G + 1)
            sum_d kappa_dc f_dg of each group, then of all other weights.
        quadratic : float64 (C, G + 1, G + 1)
            sum_d omega_dc f_dg f_dh.
        rng : numpy.random.Generator
        """
        raise NotImplementedError(f"{type(self).__name__} has groups and no rescale")

    def variances(self, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the variances that are kept with each draw, by group: (C,), or (1,) of all outputs."""
        return {}

    # -- densities -----------------------------------------------------------------------------------------

    @abstractmethod
    def log_density(self, state: dict[str, np.ndarray], eta: np.ndarray, columns: Columns) -> float:
        """log p0(eta) given the state, eta (C, J), and log p of the state where the prior has one."""

    def log_normal(self, state: dict[str, np.ndarray], eta: np.ndarray, columns: Columns) -> float:
        """log p0(eta) given the state alone."""
        precision = np.array([self.precision(state, c, columns) for c in range(len(eta))])
        return 0.5 * (np.log(precision / (2 * np.pi)) - precision * eta**2).sum()

    def simulate(self, n_outputs: int, columns: Columns, rng) -> dict[str, np.ndarray]:
        """A state drawn from the prior of the shrinkage, for the joint-distribution tests.

        A prior whose `start` holds nothing has nothing to draw.
        """
        return self.start(n_outputs, columns)
