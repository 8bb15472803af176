"""Weight priors: conditionals of the horseshoe's scales against quadrature, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_simpson

from plugsamp.priors import horseshoe
from plugsamp.priors.columns import Columns
from plugsamp.priors.half_cauchy import LARGEST_SCALE, SMALLEST_SCALE, draw_global, draw_local
from plugsamp.priors.horseshoe import Horseshoe
from plugsamp.priors.normal import Normal
from plugsamp.random.draws import Purpose, stream
from plugsamp.registry import resolve
from plugsamp.regression.design import Design
from plugsamp.regression.weights import update_outputs
from plugsamp.testing.statistics import compare_means

from .chance import smallest


def local_cdf(rate):
    """The distribution function of log(1 + g), density exp(-rate g) / (1 + g), by quadrature."""
    end = 50 / rate if rate > 50 else np.log1p(50 / rate)
    x = np.linspace(0, end, 40_001)
    total = cumulative_simpson(np.exp(-rate * np.expm1(x)), x=x, initial=0)
    return lambda at: np.interp(at, x, total / total[-1])


GRID = np.linspace(-40, 40, 1_001)


def global_rank(g, n, rate, grid=GRID):
    """The distribution function at g of the density g^((n-1)/2) exp(-rate g) / (1 + g), by quadrature."""
    log_density = 0.5 * (n + 1) * grid - rate * np.exp(grid) - np.logaddexp(0, grid)
    total = cumulative_simpson(np.exp(log_density - log_density.max()), x=grid, initial=0)
    return np.interp(np.log(g), grid, total / total[-1])


RATES = (1e-300, 1e-24, 1e-6, 0.01, 0.3, 0.999, 1.0, 1.7, 12.0, 1e4, 1e12, 1e299)


@pytest.mark.parametrize("rate", RATES)
def test_local_draws_have_their_distribution(rate, chance):
    def p_value(seed, scale):
        drawn = draw_local(np.full(20_000 * scale, rate), np.random.default_rng([1, seed]))
        if rate < 1e10:
            return stats.kstest(np.log1p(drawn), local_cdf(rate)).pvalue
        return stats.kstest(drawn * rate, stats.expon.cdf).pvalue  # exponential, but for a share of 1/rate

    chance.holds(p_value)


@pytest.mark.parametrize("n", [2, 3, 10, 500, 50_000])
@pytest.mark.parametrize("ratio", [1e-12, 0.1, 0.9, 1.0, 1.1, 30.0, 1e12])
def test_global_draws_have_their_distribution(n, ratio, chance):
    rate = 0.5 * (n + 1) * ratio
    shape = 0.5 * (n + 1) - (ratio < 1)
    wide = np.log(stats.gamma.ppf([1e-9, 1 - 1e-9], max(shape, 0.5)) / rate)
    grid = np.linspace(wide[0] - 1, wide[1] + 1, 40_001)

    def p_value(seed, scale):
        rng = np.random.default_rng([n, int(10 * ratio), seed])
        drawn = np.array([draw_global(n, rate, rng) for _ in range(3_000 * scale)])
        return stats.kstest(global_rank(drawn, n, rate, grid), "uniform").pvalue

    chance.holds(p_value)


def update_ranks(eta, tau, n, seed, prior=None):
    """Ranks of updated scales in their exact conditionals: lambda (n, J), tau (n,), uniform if right."""
    prior = prior or Horseshoe()
    eta, columns = np.asarray(eta, dtype=float), Columns(len(eta))
    cdfs = [local_cdf(0.5 * (e / tau) ** 2) for e in np.maximum(np.abs(eta), 1e-70 * tau)]
    state = prior.start(1, columns)
    rng = np.random.default_rng(seed)
    local, whole = np.empty((n, len(eta))), np.empty(n)
    for i in range(n):
        state["tau"][0] = tau
        state["lambda"][0] = np.abs(rng.standard_cauchy(len(eta)))  # the first step forgets it
        prior.update(state, 0, columns, eta, rng)
        scales = state["lambda"][0]
        local[i] = np.log1p(scales**-2.0)
        s = prior.global_scale
        rate = 0.5 * ((eta / scales) ** 2).sum() / s**2
        whole[i] = global_rank((s / state["tau"][0]) ** 2, len(eta), rate)
    for j, cdf in enumerate(cdfs):
        local[:, j] = cdf(local[:, j])
    return local, whole


def uniform(ranks):
    return np.array([stats.kstest(column, "uniform").pvalue for column in ranks.T])


CASES = [
    ([1.3], 1.0),
    ([1e-3, 2.0, -0.4], 0.2),
    ([0.0, 1e-12, -0.7, 40.0, 1e6], 0.01),
    ([0.1, 0.2, -0.3] * 4, 3.0),
]


@pytest.mark.parametrize("eta, tau", CASES)
@pytest.mark.parametrize("scale", [1.0, 0.05])
def test_updates_are_the_exact_conditionals(eta, tau, scale, chance):
    def p_value(seed, n):
        local, whole = update_ranks(eta, tau, 1000 * n, seed, Horseshoe(global_scale=scale))
        return smallest([*uniform(local), *uniform(whole[:, None])])

    chance.holds(p_value)


def test_wrong_updates_are_found(monkeypatch, chance):
    eta, tau = CASES[1]

    def local_and_whole(seed, n):
        local, whole = update_ranks(eta, tau, 1000 * n, seed)
        return max(uniform(local).min(), uniform(whole[:, None])[0])

    def of_whole(seed, n):
        return uniform(update_ranks(eta, tau, 1000 * n, seed)[1][:, None])[0]

    right = horseshoe.half_square
    monkeypatch.setattr(horseshoe, "half_square", lambda ratio: 2 * right(ratio))  # without the 1/2
    chance.fails(local_and_whole)
    monkeypatch.undo()
    for shift in (-1, 1):  # shapes p/2 and (p+2)/2
        monkeypatch.setattr(horseshoe, "draw_global", lambda n, *rest, k=shift: draw_global(n + k, *rest))
        chance.fails(of_whole)


def joint(seed, scale):
    """p-value of bounded features of (eta, tau, lambda): exact draws, and the same after three updates."""
    prior, columns = Horseshoe(global_scale=0.5, intercept_variance=4.0), Columns(2, 1, intercept=True)
    n, rng = 2_000 * scale, np.random.default_rng([seed, 3])

    def weights(state, c):
        return rng.standard_normal(len(columns)) / np.sqrt(prior.precision(state, c, columns))

    def features(state, c, eta):
        logs = np.log([state["tau"][c], *state["lambda"][c], *np.abs(eta)])
        return np.concatenate([np.tanh(logs / 2), np.tanh(eta), [np.tanh(logs[0] + logs[1] - logs[4])]])

    state = prior.simulate(n, columns, rng)
    moved = []
    for c in range(n):
        eta = weights(state, c)
        before = features(state, c, eta)
        for _ in range(3):
            prior.update(state, c, columns, eta, rng)
            eta = weights(state, c)
        moved.append(features(state, c, eta) - before)
    moved = np.array(moved)
    return compare_means(moved, np.zeros(moved.shape[1]), [str(i) for i in range(moved.shape[1])]).p_value


def test_joint_distribution(chance):
    chance.holds(joint)


def test_joint_distribution_finds_a_wrong_shape(monkeypatch, chance):
    monkeypatch.setattr(horseshoe, "draw_global", lambda n, *rest: draw_global(n + 1, *rest))
    chance.fails(joint)


def test_simulated_scales_are_half_cauchy(chance):
    def p_value(seed, scale):
        n = 4_000 * scale
        rng = np.random.default_rng([0, seed])
        state = Horseshoe(global_scale=0.1).simulate(n, Columns(2, intercept=True), rng)
        assert state["tau"].shape == (n,) and state["lambda"].shape == (n, 2)
        of_tau = stats.kstest(state["tau"], stats.halfcauchy(scale=0.1).cdf).pvalue
        return smallest([of_tau, stats.kstest(state["lambda"].ravel(), stats.halfcauchy.cdf).pvalue])

    chance.holds(p_value)


def test_log_density():
    prior, columns = Horseshoe(global_scale=0.3, intercept_variance=9.0), Columns(2, 1, intercept=True)
    rng = np.random.default_rng(4)
    state, eta = prior.simulate(2, columns, rng), rng.normal(size=(2, 4))
    expected = stats.norm.logpdf(eta[:, 3], scale=3.0).sum()
    expected += stats.norm.logpdf(eta[:, :3], scale=state["tau"][:, None] * state["lambda"]).sum()
    expected += stats.halfcauchy.logpdf(state["tau"], scale=0.3).sum()
    expected += stats.halfcauchy.logpdf(state["lambda"]).sum()
    assert prior.log_density(state, eta, columns) == pytest.approx(expected, rel=1e-12)


def test_scales_and_precisions_stay_finite_at_the_extremes():
    prior, columns = Horseshoe(), Columns(6, intercept=True)
    rng = np.random.default_rng(5)
    spread = 10.0 ** np.array([-300, -40, -8, 0, 8, 37, 1])
    for eta in (np.zeros(7), np.full(7, 1e-300), np.full(7, 1e37), spread):
        state = prior.start(1, columns)
        for _ in range(200):
            with np.errstate(all="raise", under="ignore"):
                prior.update(state, 0, columns, eta, rng)
                precision = prior.precision(state, 0, columns)
            for values in state.values():
                assert (values >= SMALLEST_SCALE).all() and (values <= LARGEST_SCALE).all()
            assert (precision >= 1e-30).all() and (precision <= 1e30).all()
            assert precision[-1] == 0.01
            assert np.isfinite(prior.log_density(state, eta[None], columns))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"global_scale": 0.0}, "horseshoe: global_scale must be a number above 0, not 0.0"),
        ({"global_scale": float("nan")}, "global_scale must be a number above 0, not nan"),
        ({"intercept_variance": 1e31}, r"intercept_variance must be .* from 1e-30 to 1e\+30, not 1e\+31"),
    ],
)
def test_horseshoe_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Horseshoe(**options)


def test_horseshoe_is_registered():
    prior = resolve("priors", "horseshoe", global_scale=0.1)
    assert prior.options() == {"global_scale": 0.1, "intercept_variance": 100.0}


def fit(prior, design, y, sweeps):
    """Posterior mean of the weights of a regression with unit variance."""
    columns = Columns(design.n_topics, design.n_features - design.n_topics - 1, intercept=True)
    eta, state = np.zeros((1, len(columns))), prior.start(1, columns)
    total = np.zeros(len(columns))
    omega = np.ones((len(y), 1))
    for sweep in range(sweeps):
        update_outputs(design, y[:, None], omega, eta, [0], prior, state, columns, 0, sweep)
        prior.update(state, 0, columns, eta[0], stream(0, Purpose.SHRINKAGE, sweep, 0))
        if sweep >= sweeps // 4:
            total += eta[0]
    return total / (sweeps - sweeps // 4)


def test_horseshoe_finds_few_signals_among_many_where_normal_shrinks_all_alike():
    rng = np.random.default_rng(7)
    n, k, p = 300, 20, 80
    counts = rng.multinomial(60, rng.dirichlet(np.full(k, 0.2), size=n))
    rows, topics = np.nonzero(counts)
    x = rng.normal(size=(n, p))
    indptr = np.concatenate([[0], np.cumsum((counts > 0).sum(1))])
    design = Design(indptr, topics, counts[rows, topics], counts.sum(1), k, x, intercept=True)
    truth = np.zeros(k + p + 1)
    signals = [3, 11, k + 5, k + 40]
    truth[signals] = 6.0, -5.0, 1.0, -1.5
    y = design.predictor(truth[None])[:, 0] + rng.normal(size=n)
    rest = np.setdiff1d(np.arange(k + p), signals)
    found, plain = fit(Horseshoe(), design, y, 400), fit(Normal(variance=4.0), design, y, 400)
    error, plain_error = found - truth, plain - truth
    assert np.abs(error[signals]).max() < 1.0
    assert np.abs(found[rest]).max() < 0.5 * np.abs(found[signals]).min()
    assert (error[rest] ** 2).sum() < 0.15 * (plain_error[rest] ** 2).sum()
    assert np.abs(error).sum() < 0.3 * np.abs(plain_error).sum()
