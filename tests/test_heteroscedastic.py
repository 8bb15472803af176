"""The heteroscedastic loss: its density, mutants, and intervals of every fifth of the documents."""

import numpy as np
import pytest
from scipy import integrate, stats

import plugsamp as ps
from plugsamp.losses import Heteroscedastic
from plugsamp.testing import check_loss
from plugsamp.testing.losses import _update
from plugsamp.testing.statistics import CheckFailed

OPTIONS = Heteroscedastic.testing["options"]


def test_density_is_that_of_the_mixture():
    parameters = {"variance": np.array([[2.0, 0.1]]), "gate": np.array([[-0.5, -3.0]])}
    y = np.linspace(-4, 4, 9)[:, None]
    for f in (-2.0, -0.1, 1.5):
        p = 1 / (1 + np.exp(0.5 + 3.0 * f))
        both = [stats.norm(f, np.sqrt(v)) for v in (2.0, 0.1)]
        at, loss = np.full((9, 1), f), Heteroscedastic()
        known = p * both[0].pdf(y) + (1 - p) * both[1].pdf(y)
        np.testing.assert_allclose(np.exp(loss.log_psi(y, at, parameters)), known, rtol=1e-12)
        known = p * both[0].cdf(y) + (1 - p) * both[1].cdf(y)
        np.testing.assert_allclose(loss.cdf(y, at, parameters), known, rtol=1e-12)
    total = integrate.quad(lambda v: np.exp(loss.log_psi(v, 0.3, parameters)).item(), -20, 20)[0]
    assert total == pytest.approx(1.0, abs=1e-8)


class ForgottenOffset(Heteroscedastic):
    """kappa without the constant of the gate."""

    def augment(self, f, y, rng, weight=None, parameters=None):
        first, xi = self._latent(f, y, rng, parameters)
        (v1, v2), (_, b) = parameters["variance"].T, parameters["gate"].T
        precision = np.where(first, 1.0 / v1, 1.0 / v2)
        return precision * y + b * np.where(first, 0.5, -0.5), precision + b * b * xi


class LatentByTheGate(Heteroscedastic):
    """Which Gaussian a response is of does not depend on the response."""

    def _latent(self, f, y, rng, parameters):
        _, xi = super()._latent(f, y, rng, parameters)
        return rng.random(f.shape) < 1 / (1 + np.exp(-self._gate(f, parameters))), xi


class FlatGate(Heteroscedastic):
    """The prior of the gate is forgotten where it is drawn."""

    def update(self, parameters, total, rng):
        spread, self.spread = self.spread, 1e6
        super().update(parameters, total, rng)
        self.spread = spread


def test_mutants_are_seen():
    for mutant in (ForgottenOffset, LatentByTheGate):
        with pytest.raises(CheckFailed, match="log_psi says"):
            check_loss(mutant(**OPTIONS), chains=False)
    assert _update(FlatGate(**OPTIONS), np.random.default_rng(0), draws=300)


def test_intervals_are_right_in_every_fifth():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(1000)
    wide = rng.random(1000) < 1 / (1 + np.exp(3 * x))
    y = x + np.where(wide, 2.0, 0.2) * rng.standard_normal(1000)
    words = np.ones((1000, 1), dtype=int)  # which say nothing
    train, test = ps.Corpus.from_counts(words, responses=y, covariates=x[:, None]).split(0.4)
    lowest = {}
    for loss in ("gaussian", "heteroscedastic"):
        model = ps.Model(1, loss=loss, weights=ps.priors.Normal(10.0), standardise=True)
        lowest[loss] = ps.fit(train, model, sweeps=100).evaluate(test).coverage()["covered"]
    assert lowest["gaussian"][0] < 0.84 and lowest["gaussian"][-1] > 0.96
    assert min(lowest["heteroscedastic"]) > 0.8 and max(lowest["heteroscedastic"]) < 0.98


@pytest.mark.parametrize("option", ["shape", "rate", "spread"])
def test_options_out_of_range(option):
    with pytest.raises(ValueError, match=f"heteroscedastic: {option} must be a number from 1e-30"):
        Heteroscedastic(**{option: 0.0})
