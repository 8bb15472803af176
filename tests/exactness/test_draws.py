"""The draws that libraries lack, against their exact distribution functions."""

import numpy as np
import pytest
from scipy import special, stats

from plugsamp.random.draws import inverse_gaussian, stream

MEANS = [0.0, 1e-12, 1e-8, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e2, 1e3, 1e4, 1e6]


def log_space_cdf(x, m):
    """P(X <= x) of the inverse Gaussian with mean 1/m and shape 1, in a form safe for every m >= 0."""
    root = np.sqrt(x)
    first = special.ndtr(root * m - 1 / root)
    # exp(2 m) Phi(-(root m + 1/root)), the exponent joined with the tail's logarithm
    second = np.exp(2 * m + special.log_ndtr(-(root * m + 1 / root)))
    return first + second


@pytest.mark.parametrize("m", MEANS)
def test_inverse_gaussian_distribution(m):
    x = inverse_gaussian(np.full(200_000, m), np.random.default_rng(4))
    assert np.all(np.isfinite(x)) and np.all(x > 0)
    assert stats.kstest(x, lambda v: log_space_cdf(v, m)).pvalue > 1e-3


@pytest.mark.parametrize("m", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_against_scipy(m):
    x = inverse_gaussian(np.full(100_000, m), np.random.default_rng(5))
    assert stats.kstest(x, stats.invgauss(mu=1 / m).cdf).pvalue > 1e-3


def test_limit_is_the_reciprocal_of_chi_square():
    x = inverse_gaussian(np.zeros(100_000), np.random.default_rng(6))
    assert stats.kstest(1 / x, stats.chi2(1).cdf).pvalue > 1e-3


@pytest.mark.parametrize("m", [1e2, 1e4, 1e6])
def test_moments_at_small_means(m):
    """Mean 1/m and variance 1/m^3: relative spread m^(-1/2)."""
    x = inverse_gaussian(np.full(400_000, m), np.random.default_rng(7)) * m
    assert abs(x.mean() - 1.0) < 5 * np.sqrt(1 / m / 400_000)
    assert abs(x.var() * m - 1.0) < 0.05


def test_a_biased_draw_is_seen():
    """The test's power: a mean off by one per cent fails it."""
    x = inverse_gaussian(np.full(200_000, 10.1), np.random.default_rng(4))
    assert stats.kstest(x, lambda v: log_space_cdf(v, 10.0)).pvalue < 1e-3


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
