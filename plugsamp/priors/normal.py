"""Independent normal prior on the weights."""

from __future__ import annotations

import numpy as np

from plugsamp.priors.base import LARGEST, SMALLEST, WeightPrior, check_variances  # noqa: F401
from plugsamp.priors.hierarchical import Hierarchical


class Normal(WeightPrior):
    """eta_cj ~ N(0, variance); the intercept has a variance of its own, and covariates may have one.

    Parameters
    ----------
    variance : float, optional
        Of the weights of topics; by default that of the loss, 0.01 of the hinge and 1 of others. Smaller
        keeps weights small (Zheng et al. (2015)'s nu is 1/variance). If neither this nor
        `covariate_variance` is given, models with the multinomial loss, or the logistic loss of cost 1, draw
        the variances: `plugsamp.priors.Hierarchical` takes the place of this prior.
    intercept_variance : float
        Of the weight of the intercept.
    covariate_variance : float, optional
        Of the weights of covariates; by default `variance`, and 0.02 where that is left to the hinge too.
    """

    def __init__(
        self,
        variance: float | None = None,
        intercept_variance: float = 100.0,
        covariate_variance: float | None = None,
    ):
        given = {"variance": variance, "covariate_variance": covariate_variance}
        given = {name: value for name, value in given.items() if value is not None}
        check_variances("normal", **given, intercept_variance=intercept_variance)
        self.variance = None if variance is None else float(variance)
        self.covariate_variance = None if covariate_variance is None else float(covariate_variance)
        self.intercept_variance = float(intercept_variance)

    def for_loss(self, loss) -> WeightPrior:
        if self.variance is not None:
            return self
        own = self.covariate_variance
        if own is None and loss.draws_variances:
            return Hierarchical(intercept_variance=self.intercept_variance)
        own = loss.covariate_variance if own is None else own
        return Normal(loss.weight_variance, self.intercept_variance, own)

    def precision(self, state, c, columns):
        variance = np.full(len(columns), 1.0 if self.variance is None else self.variance)
        if self.covariate_variance is not None:
            variance[columns.covariates] = self.covariate_variance
        variance[~columns.shrunk] = self.intercept_variance
        return 1.0 / variance

    def log_density(self, state, eta, columns):
        precision = self.precision(state, 0, columns)
        constants = eta.shape[0] * np.log(precision / (2 * np.pi)).sum()
        return float(0.5 * (constants - (eta**2 @ precision).sum()))
