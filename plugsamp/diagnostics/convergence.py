"""Whether chains have mixed: R-hat, effective draws and inefficiency (Vehtari et al. 2021).

The formulas are those of ArviZ, which the tests compare them with. Importing it takes .2 to .7 s, and it is
optional, whereas every run and report says whether its chains have converged.

Topics have no common order over chains, and may change places within one, so what has a topic's number
(η, Φ, θ) is compared only once topics are aligned; f, the log joint and whether two tokens share a topic
have none.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

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


def _split(draws: np.ndarray) -> np.ndarray:
    """Return the halves of each chain as chains, (2 chains, draws // 2)."""
    half = draws.shape[1] // 2
    return np.vstack((draws[:, :half], draws[:, -half:]))


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of all draws, ties at their mean rank (Blom 1958)."""
    _, place, times = np.unique(draws, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place].reshape(draws.shape)
    return ndtri((ranks - 3 / 8) / (draws.size + 1 / 4))


def _r_hat(draws: np.ndarray) -> float:
    """Return rank-normalised split R-hat: the larger one of draws and of their distances to the median."""
    if draws.shape[1] < LEAST:
        return float("nan")
    split, found = _split(draws), []
    for values in (split, np.abs(split - np.median(split))):
        z = _normal_scores(values)
        n = z.shape[1]
        between, within = n * z.mean(axis=1).var(ddof=1), z.var(axis=1, ddof=1).mean()
        found.append(float(np.sqrt((between / within + n - 1) / n)))
    return max(found)


def _autocorrelations(z: np.ndarray) -> np.ndarray:
    """Return the combined autocorrelations of chains by lag, (draws,); Vehtari et al. 2021, equation 10."""
    n = z.shape[1]
    spectrum = np.fft.rfft(z - z.mean(axis=1, keepdims=True), 1 << (2 * n - 1).bit_length(), axis=1)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), axis=1)[:, :n].mean(axis=0) / n
    within = covariances[0] * n / (n - 1)
    rho = 1 - (within - covariances) / (covariances[0] + z.mean(axis=1).var(ddof=1))
    rho[0] = 1.0
    return rho


def _effective(draws: np.ndarray) -> float:
    """Return the bulk effective sample size, by Geyer's initial monotone sequence (Geyer 1992)."""
    z = _normal_scores(_split(draws))
    n, rho = z.shape[1], _autocorrelations(z)
    kept = np.zeros(n)
    kept[:2] = rho[:2]
    t, even, odd = 1, 1.0, rho[1]
    while t < n - 3 and even + odd > 0:
        even, odd = rho[t + 1], rho[t + 2]
        if even + odd >= 0:
            kept[t + 1 : t + 3] = even, odd
        t += 2
    last = t - 2
    if even > 0:
        kept[last + 1] = even
    for t in range(1, last - 1, 2):
        if kept[t + 1] + kept[t + 2] > kept[t - 1] + kept[t]:
            kept[t + 1 : t + 3] = (kept[t - 1] + kept[t]) / 2
    time = -1 + 2 * kept[: last + 1].sum() + kept[last + 1 : last + 2].sum()
    return float("nan") if np.isnan(kept).any() else float(z.size / max(time, 1 / np.log10(z.size)))


def mixing(draws) -> Mixing:
    """How well a scalar quantity has mixed.

    Parameters
    ----------
    draws : array (chains, draws), or (draws,) of one chain

    Raises
    ------
    ValueError
        Fewer than four draws, one that is not finite, or two chains with the same draws.
    """
    draws = np.atleast_2d(np.asarray(draws, dtype=float))
    if draws.ndim != 2 or draws.shape[1] < LEAST:
        raise ValueError(f"draws must be (chains, {LEAST} or more draws), not of shape {draws.shape}")
    if not np.isfinite(draws).all():
        raise ValueError("draws hold a number that is not finite")
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
        ess = _effective(draws)
        compared = draws
        if len(draws) == 1:
            compared = np.stack([draws[0, :half], draws[0, -half:]])
        r_hat = _r_hat(compared)
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
