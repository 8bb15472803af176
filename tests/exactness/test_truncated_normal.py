"""Normal draws above zero against their exact distribution function."""

import numpy as np
import pytest
from scipy import special, stats

from plugsamp.random.truncated_normal import positive_normal

from ..chance import of_mean

MEANS = [-1e6, -1e3, -40.0, -30.01, -29.99, -8.0, -2.0, -0.3, 0.0, 0.3, 2.0, 8.0, 29.0, 40.0, 1e3]


def cdf(x, mean):
    """P(X <= x) given X > 0, of N(mean, 1)."""
    if mean > 0:
        tail = special.ndtr(-mean)
        return (special.ndtr(x - mean) - tail) / special.ndtr(mean)
    # log of the ratio of the upper tails; exp(mean x - x^2/2) times a ratio of erfcx keeps its digits
    ratio = special.erfcx((x - mean) / np.sqrt(2)) / special.erfcx(-mean / np.sqrt(2))
    return 1 - np.exp(mean * x - 0.5 * x * x) * ratio


def draw(mean, seed, n):
    return positive_normal(np.full(n, mean), np.random.default_rng([3, seed]))


@pytest.mark.parametrize("mean", MEANS)
def test_distribution(mean, chance):
    def p_value(seed, scale):
        x = draw(mean, seed, 100_000 * scale)
        assert np.all(np.isfinite(x)) and np.all(x > 0)
        return stats.kstest(x, lambda v: cdf(v, mean)).pvalue

    chance.holds(p_value)


@pytest.mark.parametrize("mean", [-5.0, 0.0, 5.0])
def test_against_scipy(mean, chance):
    law = stats.truncnorm(-mean, np.inf, loc=mean).cdf
    chance.holds(lambda seed, scale: stats.kstest(draw(mean, seed, 100_000 * scale), law).pvalue)


@pytest.mark.parametrize("mean", [-40.0, -1.0, 1.0])
def test_a_biased_draw_is_seen(mean, chance):
    def p_value(seed, scale):
        return stats.kstest(draw(mean, seed, 400_000 * scale) * 1.02, lambda v: cdf(v, mean)).pvalue

    chance.fails(p_value)


@pytest.mark.parametrize("mean", [-1e3, -40.0, -10.0, 0.5, 40.0])
def test_means(mean, chance):
    expected = mean + np.sqrt(2 / np.pi) / special.erfcx(-mean / np.sqrt(2))
    chance.holds(lambda seed, scale: of_mean(draw(mean, seed, 400_000 * scale), expected))


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
