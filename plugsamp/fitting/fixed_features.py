"""Regression on fixed features: the second step of a two-step model.

The features are topic proportions of documents whose topics were learnt without their responses, and
covariates. Either the loss and the prior of the joint model are sampled on them (model.md sections 2 and 4
with u held fixed), or a linear model of scikit-learn is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.fitting.keeping import Moments, whole_sweeps
from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding
from plugsamp.priors.base import WeightPrior
from plugsamp.priors.columns import Columns
from plugsamp.random.draws import Purpose, stream
from plugsamp.regression.design import Design
from plugsamp.regression.responses import Responses
from plugsamp.regression.scales import moments, rescale
from plugsamp.regression.weights import groups, update_outputs
from plugsamp.system.blas import single_thread


@dataclass(frozen=True)
class Features:
    """u of all documents.

    Attributes
    ----------
    topics : float64 (D, K)
        Topic proportions.
    covariates : float64 (D, P) or sparse, or None
    intercept : bool
    """

    topics: np.ndarray
    covariates: object = None
    intercept: bool = False

    @property
    def columns(self) -> Columns:
        n_covariates = 0 if self.covariates is None else self.covariates.shape[1]
        return Columns(self.topics.shape[1], n_covariates, self.intercept)

    def design(self) -> Design:
        n_documents, n_topics = self.topics.shape
        present = self.topics > 0
        rows, columns = np.nonzero(present)
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        # Proportions as counts of a document of length 1.
        return Design(
            indptr, columns, self.topics[rows, columns], np.ones(n_documents), n_topics,
            covariates=self.covariates, intercept=self.intercept,
        )  # fmt: skip


def sample(
    features: Features,
    coding: Coding,
    loss: Loss,
    prior: WeightPrior,
    weight=None,
    *,
    sweeps: int,
    kept: frozenset[int],
    most: int | None = None,
    seed: int = 0,
    method: str = "auto",
    passes: int = 1,
):
    """Gibbs draws of the weights given fixed features.

    Parameters
    ----------
    features : Features
    coding : Coding
    loss : Loss
    prior : WeightPrior
    weight : ndarray (D, C), optional
        As of `plugsamp.regression.response_weights.response_weights`.
    sweeps : int
    kept : frozenset of int
        The sweeps, from 1, whose draws are kept.
    most : int, optional
        Of how many the weights are returned at most, with the moments of all (`plugsamp.fitting.keeping`).
    seed : int
    method, passes
        As of `plugsamp.regression.weights.update_outputs`.

    Returns
    -------
    eta : ndarray (S, C, J)
    parameters, variances : dict of arrays (S, ...)
        The loss's own, and those of the weights that the prior draws.
    """
    design, columns = features.design(), features.columns
    n_outputs = coding.n_outputs
    responses = Responses(loss, coding.y, weight)
    state = prior.start(n_outputs, columns)
    eta = np.zeros((n_outputs, len(columns)))
    draws, parameters, variances, scaled = [], [], [], prior.groups(columns).values()
    whole = whole_sweeps(kept, most)
    following = Moments(eta.shape) if len(whole) < len(kept) else None
    with single_thread():
        for sweep in range(1, sweeps + 1):
            f = design.predictor(eta)
            if responses.parameters:
                total = responses.statistics(f, stream(seed, Purpose.LOSS_STATISTICS, sweep, 0))
                responses.update(total, stream(seed, Purpose.LOSS, sweep))
            kappa, omega = responses.augment(f, stream(seed, Purpose.AUGMENT, sweep, 0))
            update_outputs(
                design, kappa, omega, eta, range(n_outputs), prior, state, columns, seed, sweep,
                method=method, passes=passes,
            )  # fmt: skip
            for c in range(n_outputs):
                prior.update(state, c, columns, eta[c], stream(seed, Purpose.SHRINKAGE, sweep, c))
            if scaled:
                parts = [moments(design, kappa, omega, eta, some, scaled) for some in groups(n_outputs)]
                rescale(parts, prior, state, columns, eta, seed, sweep)
            if following is not None and sweep in kept:
                following.add(eta)
            if sweep in whole:
                draws.append(eta.copy())
                parameters.append({name: value.copy() for name, value in responses.parameters.items()})
                variances.append(prior.variances(state))
    draws = np.array(draws)
    if following is not None:
        draws = following.matched(draws)
    draws.flags.writeable = False
    return draws, stacked(parameters), stacked(variances)


def stacked(draws: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Named arrays of each draw as arrays of all draws, (S, ...)."""
    return {name: np.array([draw[name] for draw in draws]) for name in draws[0]}


def fit_linear(
    features: Features, coding: Coding, name: str, cost: float = 1.0, weight=None, seed: int = 0
) -> np.ndarray:
    """A linear model of scikit-learn for each output, as weights (1, C, J).

    Parameters
    ----------
    features : Features
        With an intercept, which the linear models have.
    coding : Coding
    name : {"linear_svc", "logistic_regression", "ridge"}
    cost : float
        C of scikit-learn (its inverse is the penalty of ridge).
    weight : ndarray (D, C), optional
    seed : int
        Of the solver.

    Raises
    ------
    ValueError
        A model for classes with real responses, or the other way round; an output with one class only.
    """
    check_linear(coding, name)
    real = name == "ridge"
    from scipy import sparse

    u = features.topics
    if features.covariates is not None:
        both = [sparse.csr_array(u), sparse.csr_array(features.covariates)]
        u = (
            sparse.hstack(both).tocsr()
            if sparse.issparse(features.covariates)
            else np.hstack([u, features.covariates])
        )
    eta = np.zeros((1, coding.n_outputs, len(features.columns)))
    for c in range(coding.n_outputs):
        observed = ~np.isnan(coding.y[:, c])
        if weight is not None:
            observed &= weight[:, c] > 0  # left aside, as missing ones are
        weights = None if weight is None else weight[observed, c]
        y = coding.y[observed, c]
        if not real and len(np.unique(y)) < 2:  # nothing to tell apart: the sign of the only class
            eta[0, c, -1] = y[0] if len(y) else 0.0
            continue
        if not len(y):
            continue
        model = _linear(name, cost, seed).fit(u[observed], y, sample_weight=weights)
        eta[0, c, :-1] = model.coef_.reshape(-1)
        eta[0, c, -1] = np.ravel(model.intercept_)[0]
    return eta


def check_linear(coding: Coding, name: str) -> None:
    """Refuse a model for classes with real responses, or the other way round (ValueError)."""
    real = coding.task in ("real", "count")
    if real != (name == "ridge"):
        wanted = "ridge" if real else "linear_svc, logistic_regression"
        raise ValueError(f"regression={name} does not fit {coding.task} responses; take {wanted} or same")


def _linear(name: str, cost: float, seed: int):
    if name == "ridge":
        from sklearn.linear_model import Ridge

        return Ridge(alpha=1.0 / cost)
    if name == "linear_svc":
        from sklearn.svm import LinearSVC

        return LinearSVC(C=cost, random_state=seed % 2**32)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=cost, max_iter=1000)
