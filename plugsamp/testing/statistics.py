"""Compare means of independent replicates with their expectations, by p-values uniform under the truth."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import stats

log = logging.getLogger(__name__)

#: A p-value below this is looked at again; in a second look, with more draws, it is a failure.
SUSPECT, CERTAIN = 1e-3, 1e-5

#: Random signs under which the largest score is seen, and how many must exceed it to be counted.
_SIGNS, _COUNTED = 4000, 20

#: Events that a 0/1 feature must have on average, for its mean to be nearly normal.
EVENTS = 50.0


@dataclass
class Comparison:
    """Scores of one comparison.

    Attributes
    ----------
    names : list of str
    difference, error : ndarray (F,)
        Of means, and its standard error.
    score : ndarray (F,)
        difference / error.
    p_value : float
        Of the largest |score|, given how the features correlate; uniform under the truth.
    unusable : str
        Why the draws say nothing, where they do not.
    """

    names: list
    difference: np.ndarray
    error: np.ndarray
    score: np.ndarray
    p_value: float
    unusable: str = ""

    def passes(self, level: float = 1e-6) -> bool:
        """True unless the draws are as far off as happens with probability `level`, or are unusable."""
        return not self.unusable and self.p_value > level

    def __str__(self) -> str:
        worst = np.argsort(-np.abs(self.score))[:6]
        lines = [
            f"  {self.names[j]}: off by {self.difference[j]:+.4g}, {self.score[j]:+.1f} standard errors"
            for j in worst
        ]
        head = f"p = {self.p_value:.2g} (largest of {len(self.names)})"
        return "\n".join([head, *([self.unusable] if self.unusable else []), *lines])


def compare_means(values, expected, names, *, share=None, worth: float = 1.0) -> Comparison:
    """Compare means of independent replicates with their expectations.

    Parameters
    ----------
    values : ndarray (n, F)
        Features of independent replicates. A replicate may be the mean of several draws.
    expected : ndarray (F,)
    share : ndarray (F,), optional
        Expectations of 0/1 features, NaN for others. Rare and nearly certain ones are left out:
        their means are not normal.
    worth : float
        Independent draws that a replicate is worth, at least.

    Returns
    -------
    Comparison
        Its p-value is that of the largest |t|: its place among those of the replicates' deviations with
        random signs, a sign for all features of a replicate (Fisher 1935, section 21; Romano 1990). That
        holds for any correlation and number of features, exactly where deviations are symmetric, and
        nearly for means of many draws. Where few signs reach it, Bonferroni's bound with Student's t is
        taken.
    """
    values = np.asarray(values, dtype=float)
    names, expected = list(names), np.asarray(expected, dtype=float)
    n = len(values)
    keep = np.ones(values.shape[1], dtype=bool)
    if share is not None:
        keep = np.isnan(share) | (n * worth * np.minimum(share, 1.0 - share) >= EVENTS)
    difference = values.mean(axis=0) - expected
    # What is constant and right says nothing; it is compared exactly.
    spread = values.std(axis=0, ddof=1)
    constant = spread <= 1e-12 * np.maximum(1.0, np.abs(expected))
    keep &= ~(constant & (np.abs(difference) <= 1e-9))
    values, difference, spread = values[:, keep], difference[keep], spread[keep]
    names = [name for name, kept in zip(names, keep, strict=True) if kept]
    error = spread / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = difference / error
    return Comparison(names, difference, error, score, _largest(score, values - expected[keep]))


def _largest(score, deviations) -> float:
    """p-value of the largest |score| of deviations (n, F)."""
    if not len(score):
        return 1.0
    if not np.isfinite(score).all():
        return 0.0
    n, largest = len(deviations), np.abs(score).max()
    bound = min(1.0, len(score) * 2.0 * stats.t.sf(largest, n - 1))
    if bound < 1e-4:
        return float(bound)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(_SIGNS, n))
    # Of deviations whose squares add up to 1, the sum s is enough: t = s sqrt((n - 1) / (n - s^2)).
    total = np.abs(signs @ (deviations / np.sqrt((deviations**2).sum(axis=0)))).max(axis=1)
    with np.errstate(divide="ignore"):
        reached = total * np.sqrt((n - 1.0) / np.maximum(n - total**2, 0.0))
    above = int((reached >= largest * (1.0 - 1e-9)).sum())
    if above >= _COUNTED:
        return (above + 1) / (_SIGNS + 1)
    return float(min(bound, (_COUNTED + 1) / (_SIGNS + 1)))


def batch_means(values: np.ndarray, batches: int) -> np.ndarray:
    """Means of `batches` equal consecutive pieces of values (n, F); a remainder at the start is left out."""
    values = np.asarray(values, dtype=float)
    size = len(values) // batches
    if size < 1:
        raise ValueError(f"{len(values)} draws are too few for {batches} batches")
    return values[len(values) - size * batches :].reshape(batches, size, -1).mean(axis=1)


def autocorrelation_time(values) -> np.ndarray:
    """Integrated autocorrelation times of each column of a chain's values (n, F), in draws, at least 1.

    Sums of adjacent pairs of autocorrelations, up to the first that is negative (Geyer 1992, section 3.3).
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    centred = values - values.mean(axis=0)
    spectrum = np.fft.rfft(centred, 2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.nan_to_num(covariance / covariance[0])
    pairs = rho[: n // 2 * 2].reshape(n // 2, 2, -1).sum(axis=1)
    pairs[np.cumsum(pairs <= 0, axis=0) > 0] = 0.0
    return np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0)


def holds(p_value, seed: int = 0, more: int = 4) -> bool:
    """Whether a hypothesis holds, by a second and longer look at what seems wrong.

    Parameters
    ----------
    p_value : callable (seed, scale) -> float
        The p-value of a test with `scale` times its draws.
    seed : int

    Returns
    -------
    bool
        False where the first p-value is below 1e-3, and that with another seed and `more` times the draws
        is below 1e-5. A true hypothesis fails with probability 1e-8.
    """
    return p_value(seed, 1) >= SUSPECT or p_value(seed + 7919, more) >= CERTAIN


def pooled(found, expected, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts and expected counts with cells below `least` as one, joined by the smallest other if it is."""
    often = expected >= least
    if not often.all() and expected[~often].sum() < least and often.any():
        often[np.flatnonzero(often)[np.argmin(expected[often])]] = False
    if often.all():
        return found, expected
    return np.append(found[often], found[~often].sum()), np.append(expected[often], expected[~often].sum())


class CheckFailed(AssertionError):
    """A plugin is not what it says; the message lists everything that was found."""


def require(subject: str, problems: list[str]) -> None:
    """Raise `CheckFailed` where there are problems."""
    if problems:
        raise CheckFailed(f"{subject}:\n" + "\n".join(f"  - {problem}" for problem in problems))


def confirmed(check, seed: int) -> None:
    """Run a check, and where it raises `CheckFailed` once more with another seed.

    Parameters
    ----------
    check : callable (seed)
    seed : int

    Raises
    ------
    CheckFailed
        What the first run found, where the second finds something, too. What only the first finds is
        logged, at level INFO.
    """
    try:
        check(seed)
    except CheckFailed as first:
        log.info("looked at again with another seed: %s", first)
        try:
            check(seed + 7919)
        except CheckFailed:
            raise first from None


def differing(first: dict, second: dict, level: float = 1e-4) -> list[str]:
    """Which quantities, named arrays of independent draws, differ in distribution (Kolmogorov-Smirnov).

    `level` is the probability of any false alarm. Being of ranks, it bears tails of any weight.
    """
    problems = []
    for name, values in first.items():
        if not (np.isfinite(values).all() and np.isfinite(second[name]).all()):
            problems.append(f"{name} is not finite")
            continue
        result = stats.ks_2samp(values, second[name], method="asymp")
        if result.pvalue < level / len(first):
            problems.append(
                f"{name} has another distribution (medians {np.median(values):.4g} and "
                f"{np.median(second[name]):.4g}, p = {result.pvalue:.1g})"
            )
    return problems
