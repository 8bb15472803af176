"""How well predictions fit the true responses (model.md section 8)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from plugsamp.checks import listed
from plugsamp.lookalikes import advice, looks_missing, matched
from plugsamp.losses.coding import is_missing
from plugsamp.prediction.coverage import coverage, lowest
from plugsamp.prediction.table import LEVEL

#: The one number by which a task is judged.
MAIN = {
    "binary": "accuracy",
    "multiclass": "accuracy",
    "multilabel": "f1_micro",
    "real": "r2",
    "count": "r2",
}


def evaluate(prediction, responses) -> dict:
    """Measures of a prediction against the true responses.

    Parameters
    ----------
    prediction : Prediction
    responses : array (D,) or (D, C)
        As the corpus has them; None and NaN are missing.

    Returns
    -------
    dict
        ``main``, the name of the task's main measure; the measures: ``accuracy``, ``f1_micro`` and
        ``f1_macro`` for classes (macro over the classes that are true or predicted here), ``f1_micro``,
        ``f1_macro`` and ``accuracy`` (all labels of a document right) for several labels; ``r2``, ``rmse``
        and ``mae`` for real responses and counts (means over outputs of R², over all values of the
        others, and ``r2_<name>`` and so on where there are several).

        Where the loss is a likelihood also, for classes, ``log_loss`` (minus the mean log probability of
        the true label, of labels that the model knows) and ``calibration_error`` (the function of this
        name; of several labels that of all labels together); for real responses ``log_density`` (the mean
        log predictive density of a value), ``coverage_90`` (the share of values inside the central
        interval of 90 %) and ``coverage_90_lowest`` (that of the fifth of the documents, sorted by
        prediction, in which it is lowest; None with fewer than 50 values).

        ``n_scored`` and ``n_missing``, documents with and without a true response (values, for several
        labels or real responses).

        A label that the model never saw counts as wrong, with one warning naming such labels. Measures
        that the responses do not allow (none known; R² of constants) are None.

    Raises
    ------
    ValueError
        The responses' shape is not that of the predictions, or the model has no responses.
    """
    task = prediction.coding.task
    if task not in MAIN:
        raise ValueError("the model has no responses, so its predictions cannot be evaluated")
    responses = np.asarray(responses)
    n_documents = len(prediction.f)
    if responses.ndim == 0 or len(responses) != n_documents:
        raise ValueError(f"responses of shape {responses.shape} for {n_documents} predicted documents")
    if task in ("binary", "multiclass"):
        if responses.size != n_documents:
            raise ValueError(
                f"the model predicts one label a document, responses have shape {responses.shape}"
            )
        return {"main": MAIN[task]} | _classes(prediction, responses.reshape(n_documents))
    labels = prediction.labels.reshape(n_documents, -1)
    if responses.reshape(n_documents, -1).shape != labels.shape:
        raise ValueError(
            f"the model predicts {labels.shape[1]} responses a document, "
            f"responses have shape {responses.shape}"
        )
    responses = responses.reshape(labels.shape)
    missing = is_missing(responses)
    true = np.where(missing, 0, responses).astype(float)
    measure = _labels if task == "multilabel" else _real
    return {"main": MAIN[task]} | measure(prediction, labels, true, missing)


def calibration_error(probabilities, right) -> float:
    """Return the expected calibration error: how far probabilities are from the shares that were right.

    Of ten bins of equal width the mean of |mean probability - share right|, by predictions (Guo et al. 2017).

    Parameters
    ----------
    probabilities : float (n,)
        Of what was predicted, n of 1 or more.
    right : bool (n,)
    """
    bins = np.minimum((10 * probabilities).astype(int), 9)
    gaps = np.bincount(bins, weights=probabilities - right)
    return float(np.abs(gaps).sum() / len(probabilities))


def _counted(n_scored, n_missing) -> dict:
    return {"n_scored": int(n_scored), "n_missing": int(n_missing)}


@dataclass(frozen=True)
class Hits:
    """How often each of some classes was rightly predicted, was true, and was predicted.

    Attributes
    ----------
    right, true, predicted : int64 (classes,)

    Notes
    -----
    Scores are scikit-learn's, to the bit. They are computed here because importing scikit-learn takes longer
    than scoring.
    """

    right: np.ndarray
    true: np.ndarray
    predicted: np.ndarray

    @classmethod
    def of(cls, true, predicted, n_classes: int) -> Hits:
        """Count classes, given as places from 0."""
        true, predicted = np.asarray(true, np.int64), np.asarray(predicted, np.int64)
        chosen = (true[true == predicted], true, predicted)
        return cls(*(np.bincount(places, minlength=n_classes) for places in chosen))

    def precision(self) -> np.ndarray:
        """Float64 (classes,); NaN where the class was never predicted."""
        return _divide(self.right, self.predicted)

    def recall(self) -> np.ndarray:
        """Float64 (classes,); NaN where the class was never true."""
        return _divide(self.right, self.true)

    def f1(self) -> np.ndarray:
        """Float64 (classes,); NaN where the class was neither true nor predicted."""
        return _divide(2.0 * self.right, self.true + self.predicted)


def _divide(a, b) -> np.ndarray:
    return np.divide(a, b, out=np.full(len(b), np.nan), where=b > 0)


def _log_loss(p) -> float:
    """Minus the mean log of probabilities of what is true, which are at least the rounding error of 1."""
    tiny = np.finfo(float).eps
    return float(np.mean(-np.log(np.clip(p, tiny, 1.0 - tiny))))


def _classes(prediction, responses) -> dict:
    missing = is_missing(responses.astype(object))
    true = responses.astype(object)[~missing].tolist()
    predicted = prediction.labels[~missing].tolist()
    names = ("accuracy", "f1_micro", "f1_macro")
    if not true:
        return dict.fromkeys(names) | _counted(0, missing.sum())
    index = {label: i for i, label in enumerate(prediction.coding.classes.tolist())}
    same = matched(true, index)
    true = [same.get(label, label) for label in true]
    unseen = sorted({repr(label) for label in true if label not in index})
    if unseen:
        told = f"labels that the model was not fitted with count as wrong: {listed(unseen, 5)}"
        if (prediction.calibrated or prediction.likelihood) and prediction.probabilities is not None:
            told += f"; log_loss is of the other {sum(label in index for label in true)} documents"
        if absent := looks_missing(label for label in true if label not in index):
            told += (
                f"; {listed(list(map(repr, absent)), 5)} may be no label: {advice(absent)} "
                "missing_labels=true leaves such documents out; in Python it is None"
            )
        warnings.warn(told, stacklevel=3)
    for label in true:
        index.setdefault(label, len(index))
    t, p = [index[label] for label in true], [index[label] for label in predicted]
    hits = Hits.of(t, p, len(index))
    accuracy = float(hits.right.sum() / len(t))  # micro F1 is the same, with one class a document
    scores = dict(zip(names, (accuracy, accuracy, float(np.nanmean(hits.f1()))), strict=True))
    if (prediction.calibrated or prediction.likelihood) and prediction.probabilities is not None:
        n_classes = len(prediction.coding.classes)
        t = np.array(t)
        known = np.flatnonzero(t < n_classes)
        p = prediction.probabilities[~missing][known, t[known]]
        scores["log_loss"] = _log_loss(p) if len(known) else None
        right = np.equal(t, prediction.probabilities[~missing].argmax(axis=1))
        scores["calibration_error"] = calibration_error(prediction.probabilities[~missing].max(axis=1), right)
    return scores | _counted(len(true), missing.sum())


def _labels(prediction, labels, true, missing) -> dict:
    whole = ~missing.any(axis=1)
    counted = _counted((~missing).sum(), missing.sum())
    if missing.all():
        return dict.fromkeys(("f1_micro", "f1_macro", "accuracy")) | counted
    observed = ~missing
    hits = Hits(*(np.sum(cells & observed, axis=0) for cells in (true * labels > 0, true > 0, labels > 0)))
    whole_hits = Hits(*(one.sum(keepdims=True) for one in (hits.right, hits.true, hits.predicted)))
    scores = {
        "f1_micro": float(np.nan_to_num(whole_hits.f1())[0]),
        "f1_macro": float(np.nan_to_num(hits.f1())[observed.any(axis=0)].mean()),
        "accuracy": float((labels == true)[whole].all(axis=1).mean()) if whole.any() else None,
    }
    if prediction.calibrated and prediction.probabilities is not None:
        p = prediction.probabilities
        scores["log_loss"] = _log_loss(np.where(true > 0, p, 1.0 - p)[observed])
        error = calibration_error(prediction.probabilities[observed], true[observed] > 0)
        scores["calibration_error"] = error
    return scores | counted


def _real(prediction, labels, true, missing) -> dict:
    observed = ~missing
    by_output = [errors(true[rows, c], labels[rows, c]) for c, rows in enumerate(observed.T)]
    defined = [r2 for r2, _, _ in by_output if r2 is not None]
    _, rmse, mae = errors(true[observed], labels[observed])
    found = {"r2": float(np.mean(defined)) if defined else None, "rmse": rmse, "mae": mae}
    if len(by_output) > 1:
        names = prediction.coding.output_names
        for name, values in zip(names, by_output, strict=True):
            found |= {f"{what}_{name}": v for what, v in zip(("r2", "rmse", "mae"), values, strict=True)}
    if prediction.calibrated and observed.any():
        density = prediction.predictive.log_density(np.where(missing, np.nan, true))
        by_fifth = coverage(prediction, np.where(missing, np.nan, true))
        held = np.average(by_fifth["covered"], weights=by_fifth["documents"])
        name = f"coverage_{100 * LEVEL:g}"
        found |= {"log_density": float(density[observed].mean()), name: float(held)}
        found[f"{name}_lowest"] = lowest(by_fifth)
    return found | _counted(observed.sum(), missing.sum())


def errors(y, predicted) -> tuple[float | None, float | None, float | None]:
    """R², which needs responses that differ, root mean squared and mean absolute error."""
    if not len(y):
        return None, None, None
    error = y - predicted
    differ = len(y) > 1 and np.ptp(y) > 0
    r2 = float(1.0 - np.sum(error**2) / np.sum((y - np.mean(y)) ** 2)) if differ else None
    return r2, float(np.sqrt(np.mean(error**2))), float(np.mean(np.abs(error)))
