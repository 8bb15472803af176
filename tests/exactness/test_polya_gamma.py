"""Polya-gamma draws against the exact law: its characteristic function inverted, and sums of gammas."""

import time

import numpy as np
import pytest
from scipy import stats

from plugsamp.random import polya_gamma as module
from plugsamp.random.polya_gamma import polya_gamma

from ..chance import of_mean, of_means, smallest

SHAPES = [0.1, 0.3, 1.0, 2.56, 25.6, 256.0, 1000.0]
TILTS = [0.0, 1e-3, 1.0, 10.0, 19.9, 20.0, 100.0, 1000.0]


def log_cosh(q):
    return q + np.log1p(np.exp(-2 * q)) - np.log(2)


def log_characteristic(t, c, z):
    """log E exp(i t X): c log [cosh(z/2) / cosh(sqrt(z^2/4 - i t/2))]."""
    # sqrt(z^2/4 - i t/2) - z/2 without cancellation
    root = np.sqrt(0.25 * z * z - 0.5j * t)
    excess = -0.5j * t / (root + 0.5 * z)
    return c * (np.log1p(np.exp(-z)) - np.log1p(np.exp(-2 * root)) - excess)


def moments(c, z):
    """Mean and variance."""
    if z < 0.05:
        return c / 4 * (1 - z * z / 12), c / 24 * (1 - z * z / 5)
    e = np.exp(-z)
    return c / (2 * z) * np.tanh(z / 2), c / z**3 * (0.5 * (1 - e * e) - z * e) / (1 + e) ** 2


def exact_cdf(c, z):
    """The distribution function on a fine grid (Gil-Pelaez, as Davies 1973 sums it)."""
    n = 2**17 if c >= 1 else 2**19  # the characteristic function falls as exp(-c sqrt(t)/2)
    mean, variance = moments(c, z)
    length = 2 * (mean + 12 * np.sqrt(variance) + 30 / (np.pi**2 / 2 + z * z / 2))
    step = 2 * np.pi / length
    k = np.arange(n) + 0.5
    terms = np.exp(log_characteristic(k * step, c, z)) / k
    x = np.arange(n) * length / n
    # sum over k of terms exp(-i (k + 1/2) step x)
    total = np.fft.fft(terms) * np.exp(-0.5j * step * x)
    half = n // 2
    return x[1:half], (0.5 - total.imag / np.pi)[1:half]


def kolmogorov(draws, x, cdf):
    """p-value of the largest difference at the points x."""
    below = np.searchsorted(np.sort(draws), x, side="right") / len(draws)
    return stats.kstwobign.sf(np.abs(below - cdf).max() * np.sqrt(len(draws)))


def draw(c, z, n, seed=0):
    x = polya_gamma(np.full(n, c), np.full(n, z), np.random.default_rng([seed, int(100 * c), int(10 * z)]))
    assert x.shape == (n,) and np.all(np.isfinite(x)) and np.all(x >= 0)
    return x


def test_the_oracle_knows_a_closed_form():
    """PG(1, 0) is the first exit time of Zhu et al. (2013)'s series: its density is an alternating sum."""
    x, cdf = exact_cdf(1.0, 0.0)
    k = np.arange(60)[:, None]
    rate = 0.5 * ((2 * k + 1) * np.pi) ** 2
    at = np.searchsorted(x, [0.03, 0.1, 0.25, 0.6, 1.2])
    survival = (4 / np.pi * (-1.0) ** k / (2 * k + 1) * np.exp(-rate * x[at])).sum(axis=0)
    np.testing.assert_allclose(1 - cdf[at], survival, atol=1e-9)


@pytest.mark.parametrize("z", TILTS)
@pytest.mark.parametrize("c", SHAPES)
def test_distribution(c, z, chance):
    law = exact_cdf(c, z)
    mean, variance = moments(c, z)

    def p_value(seed, scale):
        draws = draw(c, z, 80_000 * scale, seed)
        for_law, for_moments = np.split(draws, 2)  # independent p-values, which `smallest` asks for
        of_moments = of_means([for_moments, (for_moments - mean) ** 2], [mean, variance])
        return smallest([kolmogorov(for_law, *law), of_moments])

    chance.holds(p_value)


@pytest.mark.parametrize("c, z", [(0.1, 0.0), (0.3, 5.0), (1.0, 2.0), (7.9, 15.0), (25.6, 1.0)])
def test_against_a_sum_of_thousands_of_gammas(c, z, chance):
    def p_value(seed, scale):
        rng, n = np.random.default_rng([5, seed]), 4000 * scale
        total = np.zeros(n)
        for k in range(3000):
            total += rng.standard_gamma(c, n) / (2 * np.pi**2 * ((k + 0.5) ** 2 + (z / 2 / np.pi) ** 2))
        return stats.ks_2samp(total, draw(c, z, 50_000 * scale, seed), method="asymp").pvalue

    chance.holds(p_value)


def approximation_error(c, z):
    """A bound on the difference of the distribution functions, exact law against the law drawn."""
    m = int(module._terms(np.array([c]))[0])
    _, variance = moments(c, z)
    t = np.geomspace(1e-5, 1e10, 6_000) / np.sqrt(variance)
    w2 = np.array([(z / 2 / np.pi) ** 2])
    if z >= module.TILTED:
        law = c * -(-0.5j * t / (np.sqrt(0.25 * z * z - 0.5j * t) + 0.5 * z))
    else:
        law = np.zeros(len(t), complex)
        scales = [(1.0 / ((k + 0.5) ** 2 + w2[0]), 1.0) for k in range(m)]
        scales += [(float(node[0]), float(mass[0] / node[0])) for node, mass in module._quadrature(m, w2)]
        for scale, shape in scales:
            law -= c * shape * np.log1p(-1j * t * scale / (2 * np.pi**2))
    difference = np.abs(np.exp(log_characteristic(t, c, z)) - np.exp(law))
    return np.trapezoid(difference, np.log(t)) / np.pi


@pytest.mark.parametrize(
    "c, bound",
    [(1 / 256, 2e-6), (0.1, 2e-6), (0.25, 2e-6), (0.9, 5e-7), (1.0, 5e-7), (4.0, 1e-7), (7.99, 1e-7),
     (8.0, 5e-7), (16.0, 1.1e-7), (1000.0, 2e-7), (9999.0, 6e-7)],
)  # fmt: skip
def test_the_stated_bound_holds(c, bound):
    for z in (0.0, 1.0, 6.0, 12.0, 19.99, 20.0, 25.0):
        assert approximation_error(c, z) < bound, z
    if c >= 2:
        assert max(approximation_error(c, z) for z in (0.0, 2.0, 5.0)) < 1e-9


def test_the_bound_would_see_fewer_terms(monkeypatch):
    monkeypatch.setattr(module, "LEVELS", ((1.0, 4), (0.25, 4)))
    assert approximation_error(1.0, 10.0) > 5e-6


@pytest.mark.parametrize("c, z", [(2.56, 1.0), (256.0, 3.0)])
def test_a_biased_draw_is_seen(c, z, chance):
    """The tests' power: a shape off by two per cent."""
    law = exact_cdf(c, z)
    chance.fails(lambda seed, scale: kolmogorov(draw(1.02 * c, z, 100_000 * scale, seed), *law))


def test_every_element_has_its_own_law(chance):
    """Shapes and tilts of all levels mixed in one array: each element as if it were alone."""
    chance.holds(elements_p_value)


def elements_p_value(seed, scale):
    rng, n, p = np.random.default_rng([6, seed]), 4000 * scale, []
    c = np.array([0.05, 0.3, 1.0, 5.0, 256.0, 2e4])[:, None]
    z = np.array([0.0, -2.0, 19.0, -25.0, 31.0, 710.0])
    shape = (6, 6)
    x = polya_gamma(c, np.tile(z, (n, 1, 1)), rng)
    assert x.shape == (n, *shape)
    for i, j in np.ndindex(shape):
        mean, variance = moments(c[i, 0], abs(z[j]))
        p.append(of_mean(x[:, i, j], mean, np.sqrt(variance)))
    return smallest(p)


@pytest.mark.parametrize("c", [1e-300, 1e-12, 1e-3, 0.1, 1.0, 256.0, 1e4, 1e8, 1e30])
def test_never_nan(c):
    z = np.array([0.0, 1e-300, 1e-8, 19.999, 20.0, 29.9, 30.0, 710.0, 1e3, 1e6, 1e37, 1e100])
    with np.errstate(all="raise", under="ignore"):
        x = polya_gamma(c, np.tile(z, (50, 1)), np.random.default_rng(7))
    assert np.all(np.isfinite(x)) and np.all(x >= 0)
    if c >= 256:
        means = [moments(c, v)[0] for v in z]
        np.testing.assert_allclose(x.mean(axis=0), means, rtol=0.1)


def test_same_stream_same_draws():
    c, z = np.full((3, 4), 2.0), np.linspace(-30, 30, 12).reshape(3, 4)
    a, b = (polya_gamma(c, z, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert polya_gamma(np.empty((0, 2)), np.empty((0, 2)), np.random.default_rng(8)).shape == (0, 2)


def test_draws_cost_some_gamma_draws():
    """A draw at cost 256 takes about 15 of NumPy's gamma draws, in the same minute on the same machine."""
    f = np.random.default_rng(9).normal(0, 3, (512, 20))
    rng = np.random.default_rng(10)

    def best(draw):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            draw()
            times.append(time.perf_counter() - start)
        return min(times)

    ours = best(lambda: polya_gamma(256.0, f, rng))
    gammas = best(lambda: rng.standard_gamma(1.5, f.shape))
    assert ours < 60 * gammas
