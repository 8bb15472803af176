"""How well a fitted model predicts documents whose responses are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.inference import Prediction
from plugsamp.losses.coding import is_missing

#: The measure that stands for each task.
MAIN = {"binary": "accuracy", "multiclass": "accuracy", "multilabel": "f1_micro", "real": "r2"}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions of a corpus and how good they are.

    Attributes
    ----------
    prediction : Prediction
    truth : ndarray or None
        The responses of the corpus.
    metrics : dict
        ``accuracy``, ``f1_micro``, ``f1_macro`` of classes; the F1s and ``accuracy`` (whole label sets) of
        several labels; ``r2`` and ``rmse`` of real responses; ``n_documents`` that were scored. Empty
        where there is nothing to compare.
    """

    prediction: Prediction
    truth: np.ndarray | None
    metrics: dict

    @property
    def main_name(self) -> str | None:
        return MAIN.get(self.prediction.coding.task) if self.metrics else None

    @property
    def main(self) -> float | None:
        return self.metrics.get(self.main_name) if self.metrics else None

    def table(self) -> dict:
        """Arguments of `plugsamp.runfolder.write_predictions`."""
        coding = self.prediction.coding
        several = coding.task in ("multilabel", "real")
        return {
            "ids": self.prediction.ids,
            "truth": self.truth,
            "predicted": self.prediction.labels,
            "scores": self.prediction.f,
            "score_names": coding.output_names,
            "n_unknown": self.prediction.n_unknown,
            "names": coding.output_names if several else None,
        }


def evaluate(predictor, corpus) -> Evaluation:
    """Predict a corpus and compare with its responses where it has them.

    A document without a response is predicted and not scored. A class that the model never saw counts
    as wrong.
    """
    prediction = predictor.predict(corpus)
    return Evaluation(prediction, corpus.responses, measure(prediction, corpus.responses))


def measure(prediction: Prediction, truth) -> dict:
    """The measures of the task, over documents with a response; empty if there is none."""
    task = prediction.coding.task
    if truth is None or prediction.labels is None:
        return {}
    truth = np.asarray(truth)
    if truth.ndim == 2 and truth.shape[1] == 1:
        truth = truth[:, 0]
    observed = ~is_missing(truth)
    if not observed.any():
        return {}
    if task == "multilabel":
        return _several_labels(truth, prediction.labels, observed)
    if task == "real":
        return _real(truth, prediction.labels, observed)
    return _classes(truth[observed], prediction.labels[observed])


def _classes(truth, predicted) -> dict:
    # Plain values, so that 1 and np.int64(1) are one class; the codes are for scikit-learn, which
    # takes no objects of mixed kind.
    truth, predicted = np.asarray(truth).tolist(), np.asarray(predicted).tolist()
    from sklearn.metrics import f1_score

    code = {c: i for i, c in enumerate(dict.fromkeys([*truth, *predicted]))}
    t, p = np.array([code[c] for c in truth]), np.array([code[c] for c in predicted])
    # Of the classes that occur in the truth: a class with no documents has no F1 of its own.
    seen = np.unique(t)
    return {
        "accuracy": float(np.mean(t == p)),
        "f1_macro": float(f1_score(t, p, labels=seen, average="macro", zero_division=0)),
        "n_documents": len(t),
    }


def _several_labels(truth, predicted, observed) -> dict:
    values = np.where(observed, truth, 0).astype(float) > 0
    right = (values & (predicted > 0) & observed).sum(axis=0).astype(float)
    wrong = ((values != (predicted > 0)) & observed).sum(axis=0).astype(float)
    rows = observed.any(axis=1)
    exact = ((values == (predicted > 0)) | ~observed)[rows].all(axis=1)
    occurs = 2 * right + wrong > 0
    each = 2 * right[occurs] / (2 * right + wrong)[occurs]
    return {
        "f1_micro": float(2 * right.sum() / max((2 * right + wrong).sum(), 1.0)),
        "f1_macro": float(each.mean()) if len(each) else 0.0,
        "accuracy": float(exact.mean()),
        "n_documents": int(rows.sum()),
    }


def _real(truth, predicted, observed) -> dict:
    t = np.where(observed, truth, np.nan).astype(float).reshape(len(truth), -1)
    p = np.asarray(predicted, dtype=float).reshape(len(truth), -1)
    residual = np.nansum((t - p) ** 2, axis=0)
    spread = np.nansum((t - np.nanmean(t, axis=0)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(spread > 0, 1.0 - residual / spread, np.nan)
    return {
        "r2": float(np.mean(r2)),
        "rmse": float(np.sqrt(residual.sum() / observed.sum())),
        "n_documents": int(observed.reshape(len(truth), -1).any(axis=1).sum()),
    }
