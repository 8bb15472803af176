"""What a search cannot do is refused before anything is sampled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.errors import InputWarning
from plugsamp.losses.base import Loss
from plugsamp.model import Model
from plugsamp.readers.split import class_labels
from plugsamp.sweeps import metric as metrics_by_name

#: Measures of held-out documents by the kind of response.
CLASSES = ("accuracy", "f1_micro", "f1_macro")
PROBABILITIES = ("log_loss", "calibration_error")
NUMBERS = ("r2", "rmse", "mae", "log_density", "coverage_90", "coverage_90_lowest")
WORDS = ("log_likelihood", "perplexity")


def checked_grid(grid, model: Model, covariates: bool) -> dict[str, Sequence]:
    """Return a grid whose arrays are lists; refuse settings that change nothing.

    Raises
    ------
    TypeError
        No mapping.
    ValueError
        A variance of weights that the model does not have.
    """
    if not isinstance(grid, Mapping):
        raise TypeError(
            f"grid must be a mapping of settings to values, such as {{'cost': [1, 10]}}, not {grid!r:.60}"
        )
    if "covariate_variance" in grid and not covariates:
        raise ValueError(
            "covariate_variance is of the weights of covariates, and there are none: leave it out of the "
            "search, or give covariates, such as words=true"
        )
    useless = [name for name in grid if model.loss.unsupervised and name in model.weights.options()]
    if useless:
        raise ValueError(
            f"{useless[0]} is of the weights, which loss=none has not: leave it out, or give a loss"
        )
    return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in grid.items()}


def check_metric(metric: str, corpus: Corpus, model: Model) -> None:
    """Refuse a measure that held-out documents of such a model do not have.

    Raises
    ------
    ValueError
        Such a measure, or a corpus whose responses are none for the model.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the fit says it
        task = model.coding(corpus).task
    metrics_by_name.check(metric)
    if metric == metrics_by_name.MAIN:
        return
    if model.loss.unsupervised:
        there = WORDS
    elif task in ("real", "count"):
        there = NUMBERS
    else:
        there = CLASSES if type(model.loss).probabilities is Loss.probabilities else CLASSES + PROBABILITIES
    if metric.partition("_")[0] in metrics_by_name.PARTS or metrics_by_name.kind_of(metric) not in there:
        raise ValueError(
            f"metric={metric}: held-out documents have no {metric}; they have {', '.join(there)}"
        )


def check_parts(corpus: Corpus, parts, model: Model, how: str) -> None:
    """Refuse held-out documents that leave one class to fit, or that have no response to score.

    Parameters
    ----------
    corpus : Corpus
    parts : list of (Corpus, Corpus)
    model : Model
    how : str
        The argument that chose them.

    Raises
    ------
    ValueError
    """
    if model.loss.unsupervised:
        return
    classes = class_labels(corpus.responses)
    for train, held in parts:
        if held.responses is None or held.responses.ndim != corpus.responses.ndim:
            raise ValueError(f"{how}: the held-out documents have no responses like those of the others")
        if classes is None:
            continue
        left, scored = set(class_labels(train.responses)), set(class_labels(held.responses) or ())
        if len(left) < 2 <= len(set(classes)):
            raise ValueError(
                f"{how} leaves {train.n_documents} of {corpus.n_documents} documents to fit, all of class "
                f"{min(left)!r}: hold out fewer"
            )
        if not scored & set(classes):
            raise ValueError(f"{how}: no held-out document has a class of the others, such as {min(left)!r}")
