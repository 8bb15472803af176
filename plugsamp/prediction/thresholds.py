"""Decisions about several labels: the score above which a document has a label.

A score above 0, or a probability above one half, gives too few labels where labels are rare. F1 is largest at
a lower threshold (Lipton, Elkan and Naryanaswamy 2014), which is found on held-out documents (Yang 2001; Fan
and Lin 2007).
"""

from __future__ import annotations

import numpy as np

from plugsamp.checks import is_number
from plugsamp.losses.base import Loss

#: What `decide` may be, beside a number.
METHODS = ("auto", "zero", "prevalence", "validated")

#: Held-out documents with a label at which its own threshold counts as much as the common one.
SHRINKAGE = 10.0


def check_decide(decide) -> None:
    """Refuse a way to decide that does not exist (ValueError)."""
    if not (decide in METHODS if isinstance(decide, str) else is_number(decide) and np.isfinite(decide)):
        raise ValueError(f"decide must be {', '.join(METHODS)} or a number, not {decide!r}")


def check_decide_for(decide, loss: Loss, task: str) -> None:
    """Refuse to decide about other responses than labels, or above what is no probability (ValueError)."""
    if decide in ("auto", "zero"):
        return
    if task != "multilabel":
        raise ValueError(f"decide={decide} is for several labels a document, and these responses are not")
    scores = isinstance(decide, str) or type(loss).probabilities is Loss.probabilities
    if not scores and not 0 <= decide <= 1:
        raise ValueError(f"decide={decide} is a probability with {loss!r}: give a number from 0 to 1")


def found(decide: str, scores, truth, n_labels: float) -> np.ndarray:
    """Return thresholds (C,) from held-out documents.

    Parameters
    ----------
    decide : {"prevalence", "validated"}
        "prevalence": one threshold, above which held-out documents have as many labels as training documents.
        "validated": the threshold of the largest F1 of each label, shrunk to that of all labels together.
    scores : float (D, C)
        Probabilities where the loss has them, or linear predictors.
    truth : float (D, C)
        The labels, 0 and 1; NaN where they are not known.
    n_labels : float
        Labels of a training document on average.
    """
    scores, truth = np.asarray(scores, dtype=float), np.asarray(truth, dtype=float)
    if decide == "prevalence":
        flat = np.sort(scores, axis=None)[::-1]
        return np.full(scores.shape[1], _between(flat, round(n_labels * len(scores))))
    known = ~np.isnan(truth)
    common = best_threshold(scores[known], truth[known] > 0)
    thresholds = np.full(scores.shape[1], common)
    for c, rows in enumerate(known.T):
        n = np.count_nonzero(truth[rows, c] > 0)
        if n:
            own = best_threshold(scores[rows, c], truth[rows, c] > 0)
            thresholds[c] += n / (n + SHRINKAGE) * (own - common)
    return thresholds


def best_threshold(scores, truth) -> float:
    """Return the threshold of the largest F1, halfway between two scores; the largest score without a label.

    Parameters
    ----------
    scores : float (n,)
    truth : bool (n,)
    """
    order = np.argsort(-scores, kind="stable")
    ordered, right = scores[order], np.cumsum(truth[order])
    if not len(right) or right[-1] == 0:
        return float(ordered[0]) if len(right) else 0.0
    f1 = 2.0 * right / (np.arange(1, len(scores) + 1) + right[-1])
    f1[:-1][ordered[:-1] == ordered[1:]] = -1.0  # no threshold divides equal scores
    return _between(ordered, int(np.argmax(f1)) + 1)


def _between(ordered, n: int) -> float:
    """Return a threshold that the first `n` of descending scores are above."""
    if n <= 0:
        return float(ordered[0])
    if n >= len(ordered):
        return float(np.nextafter(ordered[-1], -np.inf))
    return float(0.5 * (ordered[n - 1] + ordered[n]))
