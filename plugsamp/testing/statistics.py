"""Means of dependent draws against exact ones, or against other draws, by batch means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats


def batch_means(values: np.ndarray, batches: int) -> np.ndarray:
    """Means of `batches` equal consecutive pieces of values (n, F); a remainder at the start is left out."""
    values = np.asarray(values, dtype=float)
    size = len(values) // batches
    if size < 1:
        raise ValueError(f"{len(values)} draws are too few for {batches} batches")
    return values[len(values) - size * batches :].reshape(batches, size, -1).mean(axis=1)


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
        Of the largest |score|, times the number of features (Bonferroni), at most 1.
    joint_p_value : float
        Of Hotelling's T^2 over the features marked as bins; 1 without any.
    """

    names: list
    difference: np.ndarray
    error: np.ndarray
    score: np.ndarray
    p_value: float
    joint_p_value: float = 1.0

    def passes(self, level: float = 1e-4) -> bool:
        """True unless the draws are as far off as happens with probability `level`."""
        return min(self.p_value, self.joint_p_value) > level

    def __str__(self) -> str:
        worst = np.argsort(-np.abs(self.score))[:6]
        lines = [
            f"  {self.names[j]}: off by {self.difference[j]:+.4g}, {self.score[j]:+.1f} standard errors"
            for j in worst
        ]
        head = f"p = {self.p_value:.2g} (largest of {len(self.names)}), {self.joint_p_value:.2g} (bins)"
        return "\n".join([head, *lines])


def _largest(score: np.ndarray, degrees: float) -> float:
    if not np.isfinite(score).all():
        return 0.0
    return float(min(1.0, len(score) * 2.0 * stats.t.sf(np.abs(score).max(initial=0.0), degrees)))


def compare_means(values, expected, names, *, variance=None, batches: int = 50, bins=None) -> Comparison:
    """Means of draws of a stationary chain against exact expectations.

    Parameters
    ----------
    values : ndarray (n, F)
        Features of the draws, in order.
    expected : ndarray (F,)
    variance : ndarray (F,), optional
        Exact variances. The standard error is never taken below that of independent draws, so a
        feature that by chance hardly moved does not look certain.
    batches : int
        Batches should be many autocorrelation times long.
    bins : ndarray (n,) of int with ndarray (B,) of exact probabilities, optional
        A partition of the states for Hotelling's T^2 with the batch means' covariance.
    """
    means = batch_means(values, batches)
    centre = means.mean(axis=0)
    error = means.std(axis=0, ddof=1) / np.sqrt(batches)
    n = len(values) // batches * batches
    if variance is not None:
        error = np.maximum(error, np.sqrt(np.maximum(variance, 0.0) / n))
    difference = centre - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(np.abs(difference) <= 1e-9, 0.0, difference / error)
    joint = 1.0
    if bins is not None:
        label, probability = bins
        joint = _hotelling(batch_means(np.eye(len(probability))[label], batches), probability)
    return Comparison(list(names), difference, error, score, _largest(score, batches - 1), joint)


def _hotelling(means: np.ndarray, probability: np.ndarray) -> float:
    """p-value of batch means (batches, B) of bin indicators; the last bin is implied by the others."""
    batches, m = len(means), len(probability) - 1
    if m < 1:
        return 1.0
    deviation = means[:, :m].mean(axis=0) - probability[:m]
    covariance = np.cov(means[:, :m], rowvar=False).reshape(m, m) / batches
    t2 = deviation @ np.linalg.pinv(covariance, hermitian=True) @ deviation
    return float(stats.f.sf(t2 * (batches - m) / (m * (batches - 1)), m, batches - m))


def compare_two(first, second, names, *, batches: int = 50) -> Comparison:
    """Means of independent draws `first` (n, F) against those of a chain, `second` (m, F)."""
    first = np.asarray(first, dtype=float)
    means = batch_means(second, batches)
    variance = first.var(axis=0, ddof=1)
    chain = means.var(axis=0, ddof=1) / batches
    # As above: a chain's error is not taken below that of independent draws.
    chain = np.maximum(chain, variance / len(second))
    difference = means.mean(axis=0) - first.mean(axis=0)
    error = np.sqrt(variance / len(first) + chain)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(np.abs(difference) <= 1e-12, 0.0, difference / error)
    return Comparison(list(names), difference, error, score, _largest(score, batches - 1))


class CheckFailed(AssertionError):
    """A plugin is not what it says; the message lists everything that was found."""


def require(subject: str, problems: list[str]) -> None:
    """Raise `CheckFailed` where there are problems."""
    if problems:
        raise CheckFailed(f"{subject}:\n" + "\n".join(f"  - {problem}" for problem in problems))


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
