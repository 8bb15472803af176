"""The enumeration itself: against closed forms, finer grids and a brute-force integral."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

from plugsamp.losses.base import Loss
from plugsamp.losses.coding import Coding
from plugsamp.testing import Case, Enumeration, cases_for, variants


class Squared(Loss):
    """Gaussian with variance 1: the integral over the weights has a closed form."""

    def code(self, responses, names=None):
        return Coding(np.asarray(responses, dtype=float).reshape(len(responses), -1), "real", np.array(["y"]))

    def augment(self, f, y, rng, weight=None):
        return y, np.ones_like(f)

    def log_psi(self, y, f):
        return stats.norm.logpdf(y, f)


LOSSES = {name: loss for name, loss in variants("losses").items() if cases_for(loss)[0].fixed_parameters}
DOCUMENTS = ((0, 1, 1), (2, 2), (0,), ())


@pytest.mark.parametrize("covariates", [None, np.array([[0.5], [-0.7], [0.2], [0.6]])])
def test_gaussian_integral_matches_closed_form(covariates):
    y = np.array([0.7, -1.0, np.nan, 1.4])
    case = Case("g", DOCUMENTS, 3, 2, 0.5, (0.3, 0.6, 0.2), Squared(), y, covariates)
    exact = Enumeration(case)
    plain = Enumeration(Case("p", DOCUMENTS, 3, 2, 0.5, (0.3, 0.6, 0.2)))
    seen = ~np.isnan(y)
    log_p, means = [], []
    for z, p in zip(plain.z, plain.probability, strict=True):
        u = case.design(z)[seen]
        covariance = u @ np.diag(1 / case.prior_precision[0]) @ u.T + np.eye(seen.sum())
        log_p.append(np.log(p) + stats.multivariate_normal.logpdf(y[seen], cov=covariance))
        means.append(np.linalg.solve(np.diag(case.prior_precision[0]) + u.T @ u, u.T @ y[seen]))
    log_p = np.array(log_p)
    p = np.exp(log_p - logsumexp(log_p))
    np.testing.assert_allclose(exact.probability, p, rtol=1e-6)
    np.testing.assert_allclose(exact.eta_mean[0], p @ np.array(means), atol=1e-6)


def by_default(loss: str, index: int) -> bool:
    """Of the hinge, whose kinks are what a grid may miss, all cases; of the smooth losses one."""
    return (loss == "hinge" and index != 1) or (loss.startswith("logistic") and index == 0)


#: Three topics and two outputs (1), which take long, are in the long suite only.
GRIDS = [
    pytest.param(name, i, id=f"{name}-{case}", marks=() if by_default(name, i) else pytest.mark.slow)
    for name, loss in LOSSES.items()
    if not loss.unsupervised
    for i, case in enumerate(cases_for(loss))
]


@pytest.mark.parametrize("loss, index", GRIDS)
def test_grid_agrees_with_a_finer_one(loss, index):
    case = cases_for(LOSSES[loss])[index]
    coarse = Enumeration(case)
    finer = Enumeration(case, points={2: 601, 3: 97, 4: 41}[case.n_features])
    assert np.abs(coarse.probability - finer.probability).sum() < 1e-3
    np.testing.assert_allclose(coarse.eta_mean, finer.eta_mean, atol=2e-3)
    np.testing.assert_allclose(coarse.f_mean, finer.f_mean, atol=2e-3)


def test_hinge_integral_matches_adaptive_quadrature():
    case = cases_for("hinge")[0]
    exact = Enumeration(case)

    def integral(z):
        u = case.design(z)

        def density(b, a):
            eta = np.array([a, b])
            log_prior = -0.5 * (case.prior_precision[0] * eta**2).sum()
            return np.exp(log_prior + case.loss.log_psi(case.y[:, 0], u @ eta).sum())

        return integrate.dblquad(density, -11, 11, -11, 11, epsabs=1e-5, epsrel=1e-4)[0]

    plain = Enumeration(Case("p", case.documents, 3, 2, case.alpha, case.beta))
    chosen = [0, 9, 30, 63]
    expected = np.array([plain.probability[s] * integral(exact.z[s]) for s in chosen])
    got = exact.probability[chosen]
    np.testing.assert_allclose(got / got.sum(), expected / expected.sum(), rtol=3e-4)


def test_plain_posterior_is_the_product_of_polya_urns():
    """Sequential predictive probabilities, multiplied, give the same z posterior as the Beta functions."""
    case = cases_for("none")[1]
    exact = Enumeration(case)
    log_p = np.zeros(len(exact.z))
    for s, z in enumerate(exact.z):
        n_dk, n_kw = np.zeros((case.n_documents, 3)), np.zeros((3, 2))
        for i, t in enumerate(z):
            d, w = case.document_of[i], case.words[i]
            a, b = case.alpha_vector, case.beta_vector
            log_p[s] += np.log((n_dk[d, t] + a[t]) / (n_dk[d].sum() + a.sum()))
            log_p[s] += np.log((n_kw[t, w] + b[w]) / (n_kw[t].sum() + b.sum()))
            n_dk[d, t] += 1
            n_kw[t, w] += 1
    np.testing.assert_allclose(exact.probability, np.exp(log_p - logsumexp(log_p)), rtol=1e-10)
    assert exact.log_evidence == pytest.approx(logsumexp(log_p), abs=1e-10)
