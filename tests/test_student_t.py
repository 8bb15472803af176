"""The Student-t loss: its augmentation, its parameters, mutants, and responses of which some are far off."""

import numpy as np
import pytest
from scipy import integrate, stats

import plugsamp as ps
from plugsamp.losses import StudentT
from plugsamp.losses.student_t import FREEDOMS
from plugsamp.testing import check_loss
from plugsamp.testing.losses import _update
from plugsamp.testing.statistics import CheckFailed

SAMPLED = StudentT(**StudentT.testing["variants"][1])


def test_density_and_distribution_are_those_of_scipy():
    y, f = np.linspace(-8, 9, 7)[:, None], np.full((7, 2), 0.3)
    parameters = {"scale": np.array([0.7, 1.4]), "df": np.array([2.5, 30.0])}
    known = stats.t(parameters["df"], 0.3, parameters["scale"])
    np.testing.assert_allclose(SAMPLED.log_psi(y, f, parameters), known.logpdf(y), rtol=1e-12)
    np.testing.assert_allclose(SAMPLED.cdf(y, f, parameters), known.cdf(y), rtol=1e-9)


@pytest.mark.parametrize("weight", [0.4, 1.0, 3.0])
def test_what_the_degrees_of_freedom_are_drawn_by(weight):
    """Integrated over lambda, with the Gaussian factor, it is psi to the power of the weight."""
    y, s, nu = np.array([[1.7]]), 0.8, FREEDOMS

    def joint(lam):
        class Given(StudentT):
            _lambda = staticmethod(lambda *_: np.full((1, 1), lam))

        rows = Given().statistics(np.zeros((1, 1)), y, np.full((1, 1), weight), {"scale": s, "df": 5.0}, None)
        return np.exp(rows[2:, 0] - np.log(lam) - 0.5 * lam * (y[0, 0] / s) ** 2)

    found = integrate.quad_vec(joint, 0, 60, epsabs=1e-10)[0]
    np.testing.assert_allclose(found, (stats.t.pdf(y[0, 0], nu, 0, s) * s) ** weight, rtol=1e-6)


class HalfForgotten(StudentT):
    """lambda has the shape df/2, as if the response told nothing."""

    @staticmethod
    def _lambda(f, y, rng, weight, df, scale):
        return StudentT._lambda(f, y, rng, weight, df - 1.0, scale)


class UnweightedSquares(StudentT):
    """The squared scale is drawn as that of a Gaussian."""

    def statistics(self, f, y, weight, parameters, rng):
        found = super().statistics(f, y, weight, parameters, rng)
        found[1] = (weight * (y - f) ** 2).sum(axis=0)
        return found


class ForgottenConstant(StudentT):
    """The degrees of freedom are drawn without the constant of the density."""

    def statistics(self, f, y, weight, parameters, rng):
        found = super().statistics(f, y, weight, parameters, rng)
        found[2:] += found[0] * 0.1 * np.arange(len(FREEDOMS))[:, None]
        return found


def test_mutants_are_seen():
    options = StudentT.testing["variants"][1]
    with pytest.raises(CheckFailed, match="log_psi says"):
        check_loss(HalfForgotten(**options), chains=False)
    for mutant in (UnweightedSquares, ForgottenConstant):
        assert _update(mutant(**options), np.random.default_rng(0), draws=800)


def test_a_few_responses_far_off_change_little():
    rng = np.random.default_rng(0)
    kind = rng.random(300)
    counts = rng.poisson(np.column_stack([8 * kind, 8 * (1 - kind), np.ones(300)]))
    true = 10 * kind + rng.normal(0, 0.5, 300)
    far = rng.random(300) < 0.05
    corpus = ps.Corpus.from_counts(counts, responses=np.where(far, true + 60.0, true), require_tokens=False)
    error, heavy = {}, {}
    for loss in ("gaussian", "student_t"):
        model = ps.Model(2, loss=loss, weights=ps.priors.Normal(10.0), standardise=True)
        posterior = ps.fit(corpus, model, sweeps=60)
        prediction = posterior.predict(corpus)
        error[loss] = np.abs(prediction.labels[:, 0] - true)[~far].mean()
        heavy[loss] = posterior.parts[0].parameters.get("df")
        low, high = prediction.interval(0.9)[:, 0].T
        width = (high - low).mean()
        assert width > 20 if loss == "gaussian" else width < 12
    assert error["student_t"] < 0.6 * error["gaussian"] and heavy["student_t"].mean() < 4


@pytest.mark.parametrize(
    "options, says",
    [
        ({"df": 0}, r"df must be a number from 1e-15 to 1e\+15 or \"sample\", not 0"),
        ({"scale": "drawn"}, "scale must be a number"),
        ({"shape": "sample"}, r"shape must be a number from 1e-15 to 1e\+15, not 'sample'"),
    ],
)
def test_options_out_of_range(options, says):
    with pytest.raises(ValueError, match=f"student_t: {says}"):
        StudentT(**options)
