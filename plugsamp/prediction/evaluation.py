"""How well a fitted model predicts documents whose responses are known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plugsamp.files.tables import Table
from plugsamp.losses.coding import is_missing
from plugsamp.prediction import metrics
from plugsamp.prediction.by_output import ByOutput, by_output
from plugsamp.prediction.coverage import coverage
from plugsamp.prediction.matching import responses_for
from plugsamp.prediction.perplexity import document_completion
from plugsamp.prediction.results import Prediction
from plugsamp.prediction.table import LEVEL, prediction_table

#: Ends of the ranges of probabilities in `Evaluation.calibration`.
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Predictions of a corpus and how good they are.

    Attributes
    ----------
    prediction : Prediction
    truth : ndarray or None
        The responses of the corpus, in the order of the model's (`plugsamp.prediction.matching`).
    measures : dict
        See `plugsamp.prediction.metrics.evaluate`; empty where there is nothing to compare.
    main_name : str or None
        The measure that stands for the task, where it could be computed.
    """

    prediction: Prediction
    truth: np.ndarray | None
    measures: dict
    main_name: str | None

    @property
    def main(self) -> float | None:
        return None if self.main_name is None else self.measures[self.main_name]

    def by_class(self) -> Table:
        """Return the scores of each class or label.

        Returns
        -------
        Table
            ``class``, ``true`` and ``predicted`` (documents), ``precision``, ``recall``, ``f1``; NaN of 0/0.

        Raises
        ------
        ValueError
            The responses are no classes, or there are none to compare with.
        """
        found = self._classes()
        columns = dict(zip(found.columns, zip(*found.rows, strict=True), strict=True))
        counts = {"true": columns["support"], "predicted": columns["predicted"]}
        scores = {name: columns[name] for name in ("precision", "recall", "f1")}
        return Table(
            {"class": list(columns[found.columns[0]])}
            | {name: np.array(values, dtype=np.int64) for name, values in counts.items()}
            | {name: np.array(values, dtype=float) for name, values in scores.items()}
        )

    def confusion(self) -> Table:
        """Return how often documents of each class (rows) were predicted as each class (columns).

        Raises
        ------
        ValueError
            Documents have no class, or several labels.
        """
        found = self._classes(one_each=True)
        first, *names = found.confusion_columns
        first = f"{first} class" if first in names else first
        cells = np.array([row[1:] for row in found.confusion], dtype=np.int64)
        return Table({first: names} | {name: cells[:, c] for c, name in enumerate(names)})

    def mistakes(self) -> Table:
        """Return the documents whose class was predicted wrongly, those of the largest probability first.

        Returns
        -------
        Table
            ``id``, ``true``, ``predicted``, ``probability`` (of the predicted class, where the loss has
            probabilities; otherwise documents are in their order), ``n_known``.

        Raises
        ------
        ValueError
            Documents have no class, or several labels.
        """
        self._classes(one_each=True)  # refuses what has no classes
        labels, p = self.prediction.labels, self.prediction.probabilities
        truth = np.asarray(self.truth).reshape(len(labels))
        pairs = zip(truth.tolist(), labels.tolist(), is_missing(truth), strict=True)
        rows = np.flatnonzero([not absent and str(t) != str(label) for t, label, absent in pairs])
        if p is not None:
            rows = rows[np.argsort(-p[rows].max(axis=1), kind="stable")]
        columns = {
            "id": [self.prediction.ids[d] for d in rows],
            "true": truth[rows],
            "predicted": labels[rows],
        }
        if p is not None:
            columns["probability"] = p[rows].max(axis=1)
        title = f"{len(rows):,} of {int((~is_missing(truth)).sum()):,} documents"
        return Table(columns | {"n_known": self.prediction.n_known[rows]}, title)

    def calibration(self) -> Table:
        """Return how often predictions of a probability were right, a row each range of probabilities.

        Of one class a document the probability of the predicted class counts; of several labels that of each
        label, and how often documents have it.

        Returns
        -------
        Table
            ``low``, ``high``, ``documents`` (or labels), ``predicted`` (mean probability) and ``right`` (the
            share); ranges without documents are left out.

        Raises
        ------
        ValueError
            The loss has no probabilities of classes, or there is nothing to compare with.
        """
        self._classes()  # refuses what has no classes
        p, labels, truth = self.prediction.probabilities, self.prediction.labels, np.asarray(self.truth)
        if p is None:
            raise ValueError("the loss has no probabilities; loss='logistic' and loss='multinomial' do")
        there = ~is_missing(truth)
        if self.prediction.coding.task == "multilabel":
            p, right = p[there], truth[there].astype(float) > 0
        else:
            truth, there = truth.reshape(len(p)), there.reshape(len(p))
            pairs = zip(truth[there].tolist(), np.asarray(labels)[there].tolist(), strict=True)
            p, right = p[there].max(axis=1), np.array([str(t) == str(label) for t, label in pairs], bool)
        rows = []
        for low, high in pairwise(BINS):
            inside = (p >= low) & ((p < high) | (high == 1))
            if inside.any():
                means = float(p[inside].mean()), float(right[inside].mean())
                rows.append((low, high, int(inside.sum()), *means))
        shares = {"low": ".0%", "high": ".0%", "predicted": ".1%", "right": ".1%"}
        return Table.from_rows(
            ("low", "high", "documents", "predicted", "right"), rows, "by probability", shares
        )

    def coverage(self, level: float = LEVEL) -> Table:
        """Return how often intervals hold the response, by fifths of the predictions.

        See `plugsamp.prediction.coverage.coverage` for the columns.

        Raises
        ------
        ValueError
            There are no intervals, or no responses to compare with.
        """
        if self.truth is None:
            raise ValueError("the documents have no responses to compare the predictions with")
        return coverage(self.prediction, self.truth, level)

    def standard_error(self) -> float | None:
        """Return the standard error of the main measure over documents, by the jackknife.

        None where the measure is no function of sums over documents (perplexity, R² of several responses).
        """
        found = _sums(self)
        if found is None or len(found[0]) < 2:
            return None
        parts, measure = found
        return float(np.std(measure(parts.sum(axis=0) - parts)) * np.sqrt(len(parts) - 1))

    def wrongness(self) -> np.ndarray:
        """Return how wrong each prediction is, float64 (D,): 0 where it is right, or nothing is known.

        Of one class a document the score of the predicted class above that of the true one; of several labels
        how many are wrong; of real responses the absolute error in standard deviations of the response.
        """
        prediction, coding, n = self.prediction, self.prediction.coding, len(self.prediction.ids)
        if self.truth is None:
            return np.zeros(n)
        truth = np.asarray(self.truth, dtype=object).reshape(n, -1)
        labels, missing = np.asarray(prediction.labels).reshape(n, -1), is_missing(truth)
        if coding.task in ("binary", "multiclass"):
            place = {str(c): i for i, c in enumerate(coding.classes)}
            scores = prediction.probabilities if coding.order is not None else prediction.f
            scores = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
            gaps = np.zeros(n)
            for d in np.flatnonzero(~missing[:, 0] & (truth.astype(str) != labels.astype(str))[:, 0]):
                t, p = str(truth[d, 0]), str(labels[d, 0])
                gap = scores[d, place[p]] - scores[d, place[t]] if t in place else 0.0
                gaps[d] = max(gap, 1e-12)
            return gaps
        errors = np.where(missing, 0, np.abs(np.where(missing, 0, truth).astype(float) - labels))
        scale = 1.0 if coding.scale is None or coding.task == "multilabel" else coding.scale
        return (errors / scale).sum(axis=1)

    def _classes(self, one_each: bool = False) -> ByOutput:
        """Scores of classes or labels; with `one_each`, of documents with one class each."""
        task = self.prediction.coding.task
        if task not in ("binary", "multiclass", "multilabel"):
            raise ValueError(f"the model predicts {'nothing' if task == 'none' else 'numbers'}, not classes")
        if one_each and task == "multilabel":
            raise ValueError(
                "documents have several labels, of which some may be right; by_class() scores each"
            )
        found = None if self.truth is None else by_output(self.prediction, self.truth)
        if found is None:
            raise ValueError("the documents have no responses to compare the predictions with")
        return found

    def __repr__(self) -> str:
        shown = [f"{k.replace('_', ' ')} {v:.3f}" for k, v in self.measures.items() if isinstance(v, float)]
        what = ", ".join(shown) or "without responses to compare with"
        return f"Evaluation({len(self.prediction.ids):,} documents, {what})"

    def _repr_html_(self) -> str:
        rows = {k.replace("_", " "): v for k, v in self.measures.items() if v is not None}
        table = Table({"measure": list(rows), "value": list(rows.values())})
        return f"<p>{len(self.prediction.ids):,} documents</p>{table._repr_html_()}"

    def table(self) -> Table:
        """Return predictions.csv: predictions beside the true responses."""
        return prediction_table(self.prediction, self.truth)


def _sums(found: Evaluation) -> tuple | None:
    """Return what each document adds (D, m) to the main measure, and the measure of sums (..., m)."""
    n, labels = len(found.prediction.ids), np.asarray(found.prediction.labels)
    truth = np.asarray(found.truth, dtype=object).reshape(n, -1)
    missing = is_missing(truth)
    if found.main_name == "accuracy":
        right = np.array([str(t) == str(p) for t, p in zip(truth[:, 0], labels.tolist(), strict=True)])
        return np.hstack([right[:, None] & ~missing, ~missing]).astype(float), lambda s: s[..., 0] / s[..., 1]
    if found.main_name not in ("f1_micro", "r2"):
        return None
    true = np.where(missing, 0, truth).astype(float)
    predicted = np.where(missing, 0, labels.reshape(n, -1)).astype(float)
    if found.main_name == "f1_micro":
        parts = [(true * predicted).sum(axis=1), true.sum(axis=1) + predicted.sum(axis=1)]
        return np.column_stack(parts), lambda s: 2 * s[..., 0] / np.maximum(s[..., 1], 1e-300)
    if true.shape[1] > 1:
        return None
    error, centred = true - predicted, np.where(missing, 0, true - true[~missing].mean())

    def r2(s):
        return 1 - s[..., 0] / np.maximum(s[..., 1] - s[..., 2] ** 2 / np.maximum(s[..., 3], 1), 1e-300)

    return np.hstack([error**2, centred**2, centred, ~missing]), r2


def evaluate(posterior, corpus, held_out: bool = False, prediction: Prediction | None = None) -> Evaluation:
    """Predict a corpus, and compare with its responses where it has them (`plugsamp.prediction.metrics`).

    Parameters
    ----------
    posterior : Posterior or Draws
    corpus : Corpus
    held_out : bool
        Whether the documents are new. Of a model without responses their words are scored then
        (`plugsamp.prediction.perplexity.document_completion`): ``log_likelihood``, of a token, and
        ``perplexity``.
    prediction : Prediction, optional
        Of the corpus, where it has been made already.
    """
    prediction = posterior.predict(corpus) if prediction is None else prediction
    truth = responses_for(prediction.coding, corpus)
    measured = {}
    if truth is not None and prediction.labels is not None:
        measured = metrics.evaluate(prediction, truth)
    elif held_out and prediction.labels is None:
        found = [document_completion(part, corpus) for part in posterior.parts]
        log_likelihood = float(np.mean([one.log_likelihood for one in found]))
        measured = {
            "main": "log_likelihood",
            "log_likelihood": log_likelihood,
            "perplexity": found[0].perplexity if len(found) == 1 else float(np.exp(-log_likelihood)),
            "n_scored": int(found[0].n_tokens.sum()),
        }
    main = measured.pop("main", None)
    if measured.get(main) is None:
        main = None
    return Evaluation(prediction, truth, measured, main)
