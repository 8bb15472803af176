"""Thresholds of several labels, from documents that a fit has not seen."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

import numpy as np

from plugsamp.corpus import Corpus
from plugsamp.losses.coding import is_missing
from plugsamp.posterior.posterior import Posterior
from plugsamp.prediction import thresholds
from plugsamp.prediction.matching import responses_for
from plugsamp.random.draws import Purpose, stream

log = logging.getLogger(__name__)

#: A further fit leaves out a fifth of the training documents; there are as many as leave out enough of them.
FOLDS, ENOUGH = 5, 300

#: With fewer documents "auto" decides at zero: the thresholds would be noise.
FEWEST = 50


def decided(
    posterior: Posterior, decide, validation: Corpus | None, refit: Callable[[Corpus], Posterior]
) -> Posterior:
    """Return a posterior that decides about labels as `decide` says.

    Parameters
    ----------
    posterior : Posterior
        With its training documents.
    decide : str or float
        As `plugsamp.fit` takes it.
    validation : Corpus, optional
        Documents to choose thresholds by; by default folds of the training documents, scored by `refit` to
        the others.
    refit : callable
        Fits the same model to fewer documents.

    Raises
    ------
    ValueError
        There are no documents to choose thresholds by, or they have no labels.
    """
    if posterior.coding.task != "multilabel":
        return posterior
    corpus = posterior.corpus
    if decide == "auto":
        decide = "validated" if corpus.n_documents >= FEWEST or validation is not None else "zero"
    if decide == "zero":
        return posterior
    if not isinstance(decide, str):
        chosen = np.full(len(posterior.coding.classes), float(decide))
    else:
        chosen = _chosen(posterior, decide, validation, refit)
    return posterior.deciding(chosen)


def _chosen(posterior: Posterior, decide: str, validation: Corpus | None, refit) -> np.ndarray:
    """Thresholds from the scores of validation documents, or of folds of the training documents."""
    corpus = posterior.corpus
    if validation is not None:
        found = [_scored(posterior, validation)]
    else:
        held = [rows for rows in folds(corpus) if rows.any()]
        if not held:
            raise ValueError(
                f"decide={decide} needs held-out documents, and {corpus.n_documents} documents are too few "
                "for that: give validation documents, or decide=zero"
            )
        log.info("thresholds of labels: the model is fitted again without a fifth, %s", times(len(held)))
        found = [_scored(refit(corpus.take(~rows)), corpus.take(rows)) for rows in held]
    scores, truth = map(np.concatenate, zip(*found, strict=True))
    if np.isnan(truth).all():
        raise ValueError(f"decide={decide}: the validation documents have no labels")
    labels = _labels(corpus.responses)
    n_labels = np.nansum(labels) / max(np.count_nonzero(~np.isnan(labels).all(axis=1)), 1)
    return thresholds.found(decide, scores, truth, n_labels)


def times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _scored(posterior: Posterior, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    prediction = posterior.predict(corpus)
    truth = responses_for(posterior.coding, corpus)
    if truth is None:
        raise ValueError("the validation documents have no labels")
    return prediction.f if prediction.probabilities is None else prediction.probabilities, _labels(truth)


def _labels(responses) -> np.ndarray:
    """Labels as numbers, NaN where they are missing."""
    missing = is_missing(np.asarray(responses))
    return np.where(missing, np.nan, np.where(missing, 0, responses).astype(float))


def folds(corpus: Corpus) -> list[np.ndarray]:
    """Return the documents that each further fit leaves out: masks (D,), as many as bring enough documents.

    Of each label some document that has it stays, and some that lacks it, where there are any.
    """
    n = corpus.n_documents
    place = stream(0, Purpose.SPLIT).permutation(n) % FOLDS
    labels = _labels(corpus.responses)
    found = []
    for fold in range(min(FOLDS, math.ceil(ENOUGH * FOLDS / n))):
        out = place == fold
        for column in (*(labels == 1).T, *(labels == 0).T):
            if column.any() and not (column & ~out).any():
                out[np.argmax(column)] = False
        found.append(out)
    return found
