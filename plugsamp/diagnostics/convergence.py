"""Whether chains have mixed: R-hat, effective draws and inefficiency, through ArviZ's array functions.

Topics have no common order over chains, and may change places within one, so what has a topic's number
(η, Φ, θ) is compared only once topics are aligned; f, the log joint and whether two tokens share a topic
have none.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: Names of quantities that have a topic's number.
BY_TOPIC = ("eta", "phi", "theta", "zbar", "alpha")

#: Draws of a chain, of which R-hat and effective ones can be told at the least.
LEAST = 4

#: Draws that differ by less than this part of the largest differ by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Mixing:
    """How well one quantity has mixed.

    Attributes
    ----------
    mean, sd : float
        Over all draws.
    ess : float
        Effective draws of its mean (bulk). This and the following are NaN of a constant (`constant`).
    inefficiency : float
        L/ESS: draws that are worth one independent one (Magnusson et al. 2018, section 4).
    r_hat : float
        Rank-normalised split R-hat; of one chain that of its two halves.
    """

    mean: float
    sd: float
    ess: float
    inefficiency: float
    r_hat: float

    @property
    def constant(self) -> str | None:
        """How the quantity is a constant, where it is one: within each chain, or as a whole."""
        if self.r_hat == self.r_hat:
            return None
        return "constant" if self.sd == 0 else "constant within chains"


def _statistics():
    try:
        from arviz_stats.base import array_stats
    except ImportError:
        raise ImportError(
            "R-hat and effective sample sizes come from ArviZ: pip install 'plugsamp[arviz]'"
        ) from None
    return array_stats


def mixing(draws) -> Mixing:
    """How well a scalar quantity has mixed.

    Parameters
    ----------
    draws : array (chains, draws), or (draws,) of one chain

    Raises
    ------
    ValueError
        Fewer than four draws, one that is not finite, or two chains with the same draws.
    ImportError
        Where ArviZ is not installed; the message says how to.
    """
    draws = np.atleast_2d(np.asarray(draws, dtype=float))
    if draws.ndim != 2 or draws.shape[1] < LEAST:
        raise ValueError(f"draws must be (chains, {LEAST} or more draws), not of shape {draws.shape}")
    if not np.isfinite(draws).all():
        raise ValueError("draws hold a number that is not finite")
    statistics = _statistics()
    mean, sd = float(draws.mean()), float(draws.std())
    least = ROUNDING * np.abs(draws).max()
    if np.ptp(draws) <= least:
        return Mixing(mean, 0.0, *[float("nan")] * 3)
    moving = draws[np.ptp(draws, axis=1) > least]
    if len(np.unique(moving, axis=0)) < len(moving):
        raise ValueError("two chains have the same draws: chains of one seed are one chain")
    half = draws.shape[1] // 2
    if all((np.ptp(part, axis=1) <= least).all() for part in (draws[:, :half], draws[:, -half:])):
        return Mixing(mean, sd, *[float("nan")] * 3)  # nothing within chains to compare their means with
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a chain that is constant beside others
        ess = float(statistics.ess(draws, chain_axis=0, draw_axis=1))
        compared = draws
        if len(draws) == 1:  # of which ArviZ has none
            compared = np.stack([draws[0, :half], draws[0, -half:]])
        r_hat = float(statistics.rhat(compared, chain_axis=0, draw_axis=1))
    return Mixing(mean, sd, ess, draws.size / ess, r_hat)


def summary(quantities: Mapping[str, np.ndarray], aligned: bool = False) -> dict[str, Mixing]:
    """`mixing` of named quantities.

    Parameters
    ----------
    quantities : mapping of str to array (chains, draws, ...)
        Of an array each element is a quantity of its own, called ``name[i, j]``.
    aligned : bool
        Whether topics have the same numbers in all draws (`align`).

    Raises
    ------
    ValueError
        A quantity with a topic's number while topics are not aligned.
    """
    found = {}
    for name, values in quantities.items():
        if name in BY_TOPIC and not aligned:
            raise ValueError(
                f"{name} has topics' numbers, which chains do not share and may exchange: its R-hat would "
                "say nothing. Align the topics first (plugsamp.diagnostics.convergence.align, then "
                "aligned=True), or take f, the log joint or same_topic"
            )
        values = np.asarray(values, dtype=float)
        values = values.reshape(1, -1) if values.ndim == 1 else values
        if values.ndim == 2:
            found[name] = mixing(values)
            continue
        for index in np.ndindex(values.shape[2:]):
            found[f"{name}[{', '.join(map(str, index))}]"] = mixing(values[(..., *index)])
    return found


def align(phi, reference) -> np.ndarray:
    """The order of `phi`'s topics that fits `reference` best: ``phi[align(phi, reference)]``.

    The assignment that makes the sum of topics' affinities, sum_w sqrt(phi_kw phi_lw), largest.

    Parameters
    ----------
    phi, reference : float (K, V)

    Returns
    -------
    int64 (K,)
    """
    from scipy.optimize import linear_sum_assignment  # here, as it takes a tenth of a second to import

    affinity = np.sqrt(np.asarray(reference, float)) @ np.sqrt(np.asarray(phi, float)).T
    _, order = linear_sum_assignment(-affinity)
    return order


def same_topic(chain, pairs) -> np.ndarray:
    """Whether pairs of tokens share a topic, bool (n,): a quantity that no numbering of topics changes.

    Parameters
    ----------
    chain : Chain
    pairs : int (n, 2)
        Numbers of tokens.
    """
    z = chain.state.z[np.asarray(pairs)]
    return z[:, 0] == z[:, 1]
