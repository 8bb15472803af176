"""The few vectorised draws that libraries lack or get wrong at the extremes."""

from __future__ import annotations

import numpy as np


def inverse_gaussian(reciprocal_mean, rng) -> np.ndarray:
    """Draw IG(mean 1/m, shape 1) for each m >= 0 in `reciprocal_mean`.

    The transformation of Michael, Schucany and Haas (1976) with its smaller root written as a
    reciprocal, which loses no digits for large means and tends to 1/chi^2_1 at m = 0.
    """
    m = np.asarray(reciprocal_mean, dtype=float)
    y = rng.standard_normal(m.shape)
    y *= y
    half = 0.5 * y
    root = half + m
    root += np.sqrt(half * (half + 2.0 * m))  # 1 / (smaller root)
    accept = rng.random(m.shape)
    accept *= root + m
    # The smaller root x is taken with probability 1/(1 + m x), otherwise 1/(m^2 x).
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        x = np.where(accept <= root, 1.0 / root, root / (m * m))
    return x


def stream(seed: int, *key: int) -> np.random.Generator:
    """The NumPy generator of one piece of work, a function of `seed` and `key` alone.

    Parameters
    ----------
    seed : int
        The run's seed.
    key : ints
        What the draws are for: (purpose, sweep, block), see `Purpose`.
    """
    return np.random.Generator(np.random.Philox(_sequence(seed, *key)))


def _sequence(*key: int) -> np.random.SeedSequence:
    """Of the words of some integers, which NumPy is slower to split than an array takes to make."""
    return np.random.SeedSequence(np.array(key, np.uint32) if max(key) < 2**32 else key)


class Purpose:
    """What a stream is for; part of its key, so no two uses ever share one."""

    START, AUGMENT, TOPICS, PHI, WEIGHTS, SHRINKAGE, LOSS, PREDICT, SPLIT, LOSS_STATISTICS = range(10)
    INCLUSION, CONCENTRATION = range(10, 12)


def stream_key(seed: int, *key: int) -> int:
    """The 64-bit key of a compiled stream (`plugsamp.random.streams`), a function of the same things."""
    return int(_sequence(seed, *key).generate_state(1, np.uint64)[0])
