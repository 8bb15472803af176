"""The hierarchical prior: its variances and weights against forward simulation, and exact posteriors."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from plugsamp.chain import Chain
from plugsamp.losses.gaussian import Gaussian
from plugsamp.priors import hierarchical
from plugsamp.priors.columns import Columns
from plugsamp.priors.hierarchical import Hierarchical
from plugsamp.regression.design import Design
from plugsamp.regression.scales import moments, rescale
from plugsamp.regression.weights import groups, update_outputs
from plugsamp.testing import Case, Enumeration
from plugsamp.testing.statistics import compare_means

pytestmark = pytest.mark.usefixtures("blas_limited")

N, K, P, VARIANCE = 12, 3, 8, 0.6
COLUMNS = Columns(K, P, intercept=True)


def regression() -> Design:
    """Twelve documents: three topics, eight covariates of which half are sparse, and an intercept."""
    rng = np.random.default_rng(5)
    counts = rng.multinomial(6, np.full(K, 1 / K), size=N)
    rows, topics = np.nonzero(counts)
    x = rng.standard_normal((N, P))
    x[:, ::2] *= rng.random((N, P // 2)) < 0.3
    indptr = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))])
    return Design(indptr, topics, counts[rows, topics], counts.sum(axis=1), K, sparse.csr_array(x), True)


DESIGN = regression()


def after_sweeps(prior, n_outputs, seed, rounds=3):
    """How features of scales, weights and responses differ from exact draws, after some sweeps: (C, F)."""
    rng = np.random.default_rng([seed, 11])
    state = prior.simulate(n_outputs, COLUMNS, rng)
    precision = np.array([prior.precision(state, c, COLUMNS) for c in range(n_outputs)])
    eta = rng.standard_normal(precision.shape) / np.sqrt(precision)
    y = DESIGN.predictor(eta) + np.sqrt(VARIANCE) * rng.standard_normal((N, n_outputs))
    y[1, ::2] = np.nan
    seen = ~np.isnan(y)
    kappa, omega = np.where(seen, y, 0.0) / VARIANCE, seen / VARIANCE

    def features():
        log_sd = np.log(np.stack(list(state.values()), axis=1))
        f = DESIGN.predictor(eta).T
        error = np.where(seen, y, f.T).T - f
        size = np.log(np.abs(eta[:, [0, K, -1]]))
        parts = [log_sd, log_sd[:, :1] - log_sd[:, 1:], size, eta[:, [0, K, -1]], (f * error)[:, :3]]
        return np.tanh(0.5 * np.hstack([*parts, size[:, :2] - log_sd]))

    before = features()
    for sweep in range(rounds):
        update_outputs(
            DESIGN, kappa, omega, eta, range(n_outputs), prior, state, COLUMNS, seed, sweep, method="mixed"
        )
        scaled = prior.groups(COLUMNS).values()
        parts = [moments(DESIGN, kappa, omega, eta, some, scaled) for some in groups(n_outputs)]
        rescale(parts, prior, state, COLUMNS, eta, seed, sweep)
    return features() - before


def regression_p_value(shared, seed, scale):
    prior = Hierarchical(scale=0.7, shared=shared, intercept_variance=2.0)
    if shared:
        moved = np.array([after_sweeps(prior, 2, 10_000 * seed + r).sum(axis=0) for r in range(200 * scale)])
    else:
        moved = after_sweeps(prior, 1000 * scale, seed)
    return compare_means(moved, np.zeros(moved.shape[1]), [str(i) for i in range(moved.shape[1])]).p_value


@pytest.mark.parametrize("shared", [False, True])
def test_regressions_keep_their_joint_distribution(shared, chance):
    chance.holds(partial(regression_p_value, shared))


def _without_cross_terms(design, kappa, omega, eta, outputs, scaled):
    linear, quadratic = _right(design, kappa, omega, eta, outputs, scaled)
    return linear, quadratic * np.eye(quadratic.shape[1])


def _without_responses(*arguments):
    return tuple(0.0 * values for values in _right(*arguments))


MISTAKES = {
    "a weight too few": (hierarchical, "draw_global", lambda n, *rest: hierarchical_draw(n - 1, *rest)),
    "a half forgotten": (hierarchical, "half_square", lambda ratio: ratio**2),
    "other weights forgotten": (None, "moments", _without_cross_terms),
    "responses forgotten": (None, "moments", _without_responses),
}
hierarchical_draw, _right = hierarchical.draw_global, moments


@pytest.mark.parametrize(
    "mistake", [pytest.param(name, marks=[pytest.mark.slow] * (i % 2)) for i, name in enumerate(MISTAKES)]
)
def test_mistakes_are_seen(mistake, chance, monkeypatch):
    where, name, wrong = MISTAKES[mistake]
    if where is None:
        monkeypatch.setitem(globals(), name, wrong)
    else:
        monkeypatch.setattr(where, name, wrong)
    chance.fails(partial(regression_p_value, False))


# -- the chain against an exact posterior ------------------------------------------------------------------

DOCUMENTS = ((0, 1, 2), (0, 1), (2,), ())
RESPONSES = np.array([[0.9, -1.4], [-1.1, 0.5], [0.2, np.nan], [0.7, -0.6]])


class Exact:
    """The posterior of z, standard deviations and weights: z enumerated, deviations on a grid.

    With a Gaussian loss of fixed variance the weights are integrated out in closed form.
    """

    def __init__(self, prior: Hierarchical, points: int = 50):
        covariates = np.array([[0.5], [-1.0], [1.2], [0.3]])
        words = {"n_words": 3, "n_topics": 2, "alpha": (0.5, 0.8), "beta": (0.4, 0.6, 0.3)}
        self.case = Case(
            "gaussian", DOCUMENTS, loss=Gaussian(VARIANCE), responses=RESPONSES, covariates=covariates,
            weights=prior, **words,
        )  # fmt: skip
        plain = Enumeration(Case("plain", DOCUMENTS, **words))
        self.z = plain.z
        counts, self.group = np.unique(plain.doc_topic.reshape(len(self.z), -1), axis=0, return_inverse=True)
        u = counts.reshape(-1, len(DOCUMENTS), 2) / np.maximum(self.case.lengths, 1)[:, None]
        fixed = np.broadcast_to(self.case.fixed, (len(u), *self.case.fixed.shape))
        self.u = np.concatenate([u, fixed], axis=2)
        sd = prior.scale * np.tan(0.5 * np.pi * (np.arange(points) + 0.5) / points)
        self.sd = np.stack(np.meshgrid(sd, sd, indexing="ij"), axis=-1).reshape(-1, 2)
        self.precision = np.array(
            [prior.precision({"topics": [t], "covariates": [x]}, 0, self.case.columns) for t, x in self.sd]
        )
        evidence = np.stack([self._log_evidence(c) for c in range(2)])  # outputs, groups, grid
        if prior.shared:
            joint = evidence.sum(axis=0)
            by_group, self.share = logsumexp(joint, axis=1), np.stack([joint, joint])
        else:
            by_group, self.share = logsumexp(evidence, axis=2).sum(axis=0), evidence
        self.share = np.exp(self.share - logsumexp(self.share, axis=2, keepdims=True))
        log_p = np.log(plain.probability) + by_group[self.group]
        self.probability = np.exp(log_p - logsumexp(log_p))
        self.prior = prior

    def _regression(self, c: int, group, node):
        """Precision (..., J, J) and linear term (..., J) of the weights of an output."""
        seen = ~np.isnan(RESPONSES[:, c])
        u = self.u[group][..., seen, :]
        gram = np.einsum("...di,...dj->...ij", u, u) / VARIANCE
        own = np.eye(u.shape[-1]) * self.precision[node][..., None, :]
        return gram + own, u.swapaxes(-1, -2) @ RESPONSES[seen, c] / VARIANCE

    def _log_evidence(self, c: int) -> np.ndarray:
        group = np.arange(len(self.u))[:, None]
        precision, linear = self._regression(c, group, np.arange(len(self.sd))[None, :])
        linear = np.broadcast_to(linear, precision.shape[:-1])
        mean = np.linalg.solve(precision, linear[..., None])[..., 0]
        value = np.log(self.precision).sum(axis=1) - np.linalg.slogdet(precision)[1]
        return 0.5 * (value + (linear * mean).sum(axis=-1))

    def draw(self, rng):
        """One draw: z, deviations by group (C,), weights (C, J)."""
        s = rng.choice(len(self.z), p=self.probability)
        group, eta, sd = self.group[s], [], []
        node = [rng.choice(len(self.sd), p=self.share[c, group]) for c in range(2)]
        if self.prior.shared:
            node[1] = node[0]
        for c in range(2):
            precision, linear = self._regression(c, group, node[c])
            eta.append(rng.multivariate_normal(np.linalg.solve(precision, linear), np.linalg.inv(precision)))
            sd.append(self.sd[node[c]])
        return self.z[s], np.transpose(sd), np.array(eta)

    def expected(self) -> np.ndarray:
        """Expectations of `features`."""
        same = self.z[:, :, None] == self.z[:, None, :]
        first, second = np.triu_indices(self.z.shape[1], 1)
        of_z = np.hstack([self.z, same[:, first, second]])
        of_group = np.bincount(self.group, self.probability)
        values = list(self.probability @ of_z)
        for c in range(2):
            values += list(of_group @ self.share[c] @ np.tanh(0.5 * np.log(self.sd)))
        return np.array(values)


def features(z, state) -> np.ndarray:
    first, second = np.triu_indices(len(z), 1)
    sd = np.stack([state["topics"], state["covariates"]], axis=1)
    return np.concatenate([z, z[first] == z[second], np.tanh(0.5 * np.log(sd)).ravel()])


@pytest.mark.parametrize("shared", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_chain_has_the_exact_posterior(shared, chance):
    exact = Exact(Hierarchical(scale=0.8, shared=shared, intercept_variance=1.5))
    expected = exact.expected()
    names = [f"feature {i}" for i in range(len(expected))]

    def p_value(seed, scale):
        chain = Chain(exact.case.corpus(), exact.case.model(), "dense", seed=seed)
        rng, means = np.random.default_rng([seed, 29]), []
        for _ in range(120 * scale):
            z, sd, eta = exact.draw(rng)
            for values, given in zip(chain.prior_state.values(), sd, strict=True):
                values[:] = given
            chain.set_state(z=z, eta=eta)
            means.append(
                np.mean([features(np.array(chain.z, int), chain.prior_state) for _ in chain.sweeps(8)], 0)
            )
        return compare_means(np.array(means), expected, names).p_value

    chance.holds(p_value)
