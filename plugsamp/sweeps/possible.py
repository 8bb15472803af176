"""Which measures a run can have at all, as far as its loss alone tells."""

from __future__ import annotations

import warnings

import numpy as np

from plugsamp.errors import InputWarning
from plugsamp.losses.base import Loss
from plugsamp.sweeps import metric as metrics_by_name

#: Measures by what they are of.
OF_WORDS = ("log_likelihood", "perplexity")
OF_CLASSES = ("accuracy", "f1_micro", "f1_macro", "log_loss", "calibration_error")

#: Those that only a loss that is a likelihood has.
OF_LIKELIHOODS = ("log_loss", "calibration_error", "log_density", "coverage_90", "coverage_90_lowest")
#: Of these, those that need probabilities of classes.
OF_PROBABILITIES = OF_LIKELIHOODS[:2]

_KINDS = {"real": "real", "count": "real", "binary": "classes", "multiclass": "classes"}


def responses_of(loss) -> str:
    """Whether a loss takes numbers as real responses or as classes: "real", "classes", or "any"."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            task = getattr(loss.code(np.array([1.0, 2.0, 3.0])), "task", None)
    except (ValueError, TypeError):
        return "any"
    return _KINDS.get(task, "any")


def impossible(name: str, loss) -> str | None:
    """Why no run with a loss can have a measure; None where one may.

    Parameters
    ----------
    name : str
        As `plugsamp.sweeps.metric.check` takes it.
    loss : Loss
    """
    measure = metrics_by_name.kind_of(name)
    if measure is None:
        return None
    if getattr(loss, "unsupervised", False):
        if measure not in OF_WORDS:
            return f"{_called(loss)} has no responses; words have {' and '.join(OF_WORDS)}"
        return f"{measure} is of test documents" if name.startswith("train_") else None
    if measure in OF_WORDS:
        return f"{measure} is of words, and {_called(loss)} has measures of responses"
    kind = responses_of(loss)
    if kind != "any" and (kind == "classes") != (measure in OF_CLASSES):
        other = "real responses" if kind == "classes" else "classes"
        return f"{measure} is of {other}, and {_called(loss)} is not for those"
    if measure in OF_LIKELIHOODS:
        calibrated = getattr(loss, "calibrated", False)
        none = type(loss).probabilities is Loss.probabilities
        if calibrated is False or (measure in OF_PROBABILITIES and none):
            return f"{_called(loss)} is no likelihood, so it has no {measure}"
    return None


def _called(loss) -> str:
    return f"the loss {type(loss).__name__}"
