"""Normal draws above zero."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

#: Below this mean the law is drawn by rejection from an exponential, accepted with probability .999.
_FAR = -30.0


def positive_normal(mean, rng) -> np.ndarray:
    """Draw N(mean, 1) given that it is above 0, for each element; any finite mean.

    Inversion of the distribution function from the side where it keeps its digits; far in the tail the
    density exp(mean x - x^2/2) on x > 0 is an exponential of rate -mean, thinned by exp(-x^2/2)
    (Robert 1995, with the rate -mean for his optimal one, which it tends to).
    """
    mean = np.asarray(mean, dtype=float)
    u = 1.0 - rng.random(mean.shape)  # never 0
    # From the upper tail for a negative mean, from the lower one for a positive mean.
    above = mean < 0.0
    tail = ndtr(-np.abs(mean))
    p = np.where(above, u * tail, tail + u * (1.0 - tail))
    # Of a mean of 38 or more the tail is 0, and u = 1 must not become infinite.
    x = np.abs(mean) + ndtri(np.minimum(p, 1.0 - 2.0**-53))
    x = np.where(above, -x, x)
    far = mean < _FAR
    if far.any():
        x[far] = _thinned_exponential(-mean[far], rng)
    # Rounding can give 0, or just less, where the density's share there is 1e-15.
    return np.maximum(x, np.finfo(float).tiny)


def _thinned_exponential(rate, rng):
    x = np.empty(rate.shape)
    todo = np.arange(rate.size)
    while len(todo):  # each round is the last for all but a thousandth
        x[todo] = rng.standard_exponential(len(todo)) / rate[todo]
        rejected = rng.random(len(todo)) > np.exp(-0.5 * x[todo] ** 2)
        todo = todo[rejected]
    return x
