"""Normal draws above zero against their exact distribution function."""

import numpy as np
import pytest
from scipy import special, stats

from plugsamp.random.truncated_normal import positive_normal

MEANS = [-1e6, -1e3, -40.0, -30.01, -29.99, -8.0, -2.0, -0.3, 0.0, 0.3, 2.0, 8.0, 29.0, 40.0, 1e3]


def cdf(x, mean):
    """P(X <= x) given X > 0, of N(mean, 1)."""
    if mean > 0:
        tail = special.ndtr(-mean)
        return (special.ndtr(x - mean) - tail) / special.ndtr(mean)
    # log of the ratio of the upper tails; exp(mean x - x^2/2) times a ratio of erfcx keeps its digits
    ratio = special.erfcx((x - mean) / np.sqrt(2)) / special.erfcx(-mean / np.sqrt(2))
    return 1 - np.exp(mean * x - 0.5 * x * x) * ratio


def draw(mean, n=100_000):
    return positive_normal(np.full(n, mean), np.random.default_rng(3))


@pytest.mark.parametrize("mean", MEANS)
def test_distribution(mean):
    x = draw(mean)
    assert np.all(np.isfinite(x)) and np.all(x > 0)
    assert stats.kstest(x, lambda v: cdf(v, mean)).pvalue > 1e-3


@pytest.mark.parametrize("mean", [-5.0, 0.0, 5.0])
def test_against_scipy(mean):
    assert stats.kstest(draw(mean), stats.truncnorm(-mean, np.inf, loc=mean).cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [-40.0, -1.0, 1.0])
def test_a_biased_draw_is_seen(mean):
    assert stats.kstest(draw(mean) * 1.02, lambda v: cdf(v, mean)).pvalue < 1e-3


@pytest.mark.parametrize("mean", [-1e3, -40.0, -10.0, 0.5, 40.0])
def test_means(mean):
    x = draw(mean, 400_000)
    expected = mean + np.sqrt(2 / np.pi) / special.erfcx(-mean / np.sqrt(2))
    assert abs(x.mean() - expected) < 4.5 * x.std() / np.sqrt(400_000)


def test_extremes_and_mixed_arguments():
    mean = np.array([[-1e300, -1e150, -1e37, -1e6, -40], [0.0, 40, 1e6, 1e37, 1e300]])
    for seed in range(50):
        with np.errstate(all="raise", under="ignore"):
            x = positive_normal(mean, np.random.default_rng(seed))
        assert x.shape == mean.shape
        assert np.all(np.isfinite(x)) and np.all(x > 0)
    # the largest uniform must not become infinity, nor the smallest a number below 0

    class Edge:
        def __init__(self, u):
            self.u = u

        def random(self, shape):
            return np.full(shape, self.u)

    for u in (0.0, 1 - 2.0**-53):
        x = positive_normal(np.array([-29.0, -1.0, 0.0, 1.0, 8.0, 40.0]), Edge(u))
        assert np.all(np.isfinite(x)) and np.all(x > 0)
