"""The draws that libraries lack, against their exact distribution functions."""

import numpy as np
import pytest
from scipy import special, stats

from plugsamp.random.draws import inverse_gaussian, stream

from ..chance import of_mean, smallest

MEANS = [0.0, 1e-12, 1e-8, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e2, 1e3, 1e4, 1e6]


def log_space_cdf(x, m):
    """P(X <= x) of the inverse Gaussian with mean 1/m and shape 1, in a form safe for every m >= 0."""
    root = np.sqrt(x)
    first = special.ndtr(root * m - 1 / root)
    # exp(2 m) Phi(-(root m + 1/root)), the exponent joined with the tail's logarithm
    second = np.exp(2 * m + special.log_ndtr(-(root * m + 1 / root)))
    return first + second


def draw(m, n, seed):
    x = inverse_gaussian(np.full(n, m), np.random.default_rng([4, seed]))
    assert np.all(np.isfinite(x)) and np.all(x > 0)
    return x


@pytest.mark.parametrize("m", MEANS)
def test_inverse_gaussian_distribution(m, chance):
    def p_value(seed, scale):
        return stats.kstest(draw(m, 200_000 * scale, seed), lambda v: log_space_cdf(v, m)).pvalue

    chance.holds(p_value)


@pytest.mark.parametrize("m", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_against_scipy(m, chance):
    law = stats.invgauss(mu=1 / m).cdf
    chance.holds(lambda seed, scale: stats.kstest(draw(m, 100_000 * scale, seed), law).pvalue)


def test_limit_is_the_reciprocal_of_chi_square(chance):
    law = stats.chi2(1).cdf
    chance.holds(lambda seed, scale: stats.kstest(1 / draw(0.0, 100_000 * scale, seed), law).pvalue)


@pytest.mark.parametrize("m", [1e2, 1e4, 1e6])
def test_moments_at_small_means(m, chance):
    """Mean 1/m and variance 1/m^3: relative spread m^(-1/2)."""

    def p_value(seed, scale):
        x = draw(m, 400_000 * scale, seed) * m
        return smallest([of_mean(x, 1.0, np.sqrt(1 / m)), of_mean((x - 1.0) ** 2 * m, 1.0)])

    chance.holds(p_value)


def test_a_biased_draw_is_seen(chance):
    """The test's power: a mean off by one per cent fails it."""

    def p_value(seed, scale):
        return stats.kstest(draw(10.1, 200_000 * scale, seed), lambda v: log_space_cdf(v, 10.0)).pvalue

    chance.fails(p_value)


def test_mixed_and_extreme_arguments():
    m = np.array([[0.0, 1e-300, 1e-150, 1e-12], [1e6, 1e12, 1e100, 1e150]])
    for seed in range(50):
        x = inverse_gaussian(m, np.random.default_rng(seed))
        assert x.shape == m.shape
        assert np.all(np.isfinite(x)) and np.all(x > 0)


def test_streams_differ_by_every_part_of_the_key():
    keys = [(0, 1, 2, 3), (1, 1, 2, 3), (0, 2, 2, 3), (0, 1, 3, 3), (0, 1, 2, 4)]
    draws = [stream(*key).random(4) for key in keys]
    assert len({d.tobytes() for d in draws}) == len(keys)
    np.testing.assert_array_equal(draws[0], stream(*keys[0]).random(4))
