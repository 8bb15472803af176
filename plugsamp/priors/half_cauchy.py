"""Draws of scales under half-Cauchy priors, and the range in which scales are held."""

from __future__ import annotations

import numpy as np

#: Scales are held in this range, so that their squares, products and reciprocals are finite.
SMALLEST_SCALE, LARGEST_SCALE = 1e-75, 1e75

#: As are ratios of a weight to a scale.
SMALLEST_RATIO, LARGEST_RATIO = 1e-70, 1e70


def held(scale):
    """Return scales, moved into the range in which they are held."""
    return np.clip(scale, SMALLEST_SCALE, LARGEST_SCALE)


def scale_of(g):
    """Return 1/sqrt(g), held."""
    with np.errstate(divide="ignore"):
        return held(1.0 / np.sqrt(g))


def half_square(ratio):
    """Return half the square of ratios of weights to a scale."""
    return 0.5 * np.clip(ratio, SMALLEST_RATIO, LARGEST_RATIO) ** 2


def log_half_cauchy(value, scale: float):
    """Return the log density of a half-Cauchy variable of this scale."""
    return np.log(2 / (np.pi * scale)) - np.logaddexp(0.0, 2 * np.log(value / scale))


def draw_local(rate, rng) -> np.ndarray:
    """Draw g > 0 with density proportional to exp(-rate g) / (1 + g), for each rate > 0 (n,).

    On x = log(1 + g) the log density is h(x) = -rate (e^x - 1), which is concave: h lies below 0, and
    below its tangent at any point. Rate of 1 and more: the tangent at 0, an exponential. Below: 0 up to
    x = log(1/rate), where the tangent has slope -1, and that tangent from there on. Between .5 and 1 of
    the proposals are accepted, and almost all as the rate goes to 0 or to infinity.
    """
    rate = np.asarray(rate, dtype=float)
    result = np.empty(rate.shape)
    left = np.arange(len(rate))
    while len(left):
        r = rate[left]
        u, e = rng.random(len(left)), rng.standard_exponential(len(left))
        flat = -np.log(np.minimum(r, 1.0))
        tail = np.exp(np.minimum(r, 1.0) - 1.0)
        place = u * (flat + tail)
        inside = place < flat
        beyond = e / np.maximum(r, 1.0)
        x = np.where(inside, place, flat + beyond)
        with np.errstate(over="ignore"):
            height = -r * np.expm1(x)
            # In terms of y = x - flat, where r e^flat = max(r, 1): no difference of large numbers.
            excess = -np.maximum(r, 1.0) * (np.expm1(beyond) - beyond)
            gamma = np.expm1(x)
        ratio = np.where(inside, height, excess)
        taken = rng.standard_exponential(len(left)) >= -ratio
        result[left[taken]] = gamma[taken]
        left = left[~taken]
    return result


def draw_global(n: int, rate: float, rng) -> float:
    """Draw g > 0 with density proportional to g^((n-1)/2) exp(-rate g) / (1 + g), n >= 1, rate > 0.

    A gamma variable of shape (n+1)/2, accepted with probability 1/(1 + g), serves where g is mostly below
    1, one of shape (n-1)/2, accepted with g/(1 + g), where it is mostly above.
    """
    if n == 1:
        return float(draw_local(np.array([rate]), rng)[0])
    shape = 0.5 * (n + 1)
    small = shape <= rate
    while True:
        gamma = rng.standard_gamma(shape if small else shape - 1.0) / rate
        odds = gamma if small else np.divide(1.0, gamma, where=gamma > 0, out=np.array(np.inf))
        if rng.random() * (1.0 + odds) < 1.0:
            return float(gamma)
