"""Scores of every class, label or response by itself, and who is taken for whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.lookalikes import matched
from plugsamp.losses.coding import is_missing
from plugsamp.prediction.metrics import errors


@dataclass(frozen=True)
class ByOutput:
    """Two tables.

    Attributes
    ----------
    columns : list of str
    rows : list of lists
        Of classes their name, precision, recall, F1, support (documents of the class) and how often it was
        predicted; of labels the same over documents whose label is known; of real responses R², RMSE, MAE
        and support. None where a score is 0/0.
    confusion_columns : list of str
    confusion : list of lists
        Of classes a row a true class, with how often each was predicted; of labels how often each was
        rightly and wrongly absent and present; empty for real responses.
    """

    columns: list[str]
    rows: list[list]
    confusion_columns: list[str]
    confusion: list[list]

    def mistakes(self) -> list[tuple[int, str, str]]:
        """How often, true and predicted class, the most frequent first; of classes alone."""
        if self.confusion_columns[:1] != ["true"]:
            return []
        predicted = self.confusion_columns[1:]
        found = [
            (n, true, other)
            for true, *counts in self.confusion
            for other, n in zip(predicted, counts, strict=True)
            if n and other != true
        ]
        return sorted(found, key=lambda mistake: -mistake[0])


def by_output(prediction, responses) -> ByOutput | None:
    """Compare predictions with responses, output by output (scikit-learn's scores).

    Parameters
    ----------
    prediction : Prediction
    responses : array (D,) or (D, C)
        As the corpus has them, in a form that `plugsamp.prediction.metrics.evaluate` takes; None and NaN are
        missing.

    Returns
    -------
    ByOutput, or None where no response is known
    """
    responses, task = np.asarray(responses), prediction.coding.task
    if is_missing(responses.astype(object)).all():
        return None
    if task in ("binary", "multiclass"):
        return _classes(prediction, responses.reshape(len(prediction.f)))
    labels = prediction.labels.reshape(len(prediction.f), -1)
    responses = responses.reshape(labels.shape)
    known = ~is_missing(responses)
    true = np.where(known, responses, 0).astype(float)
    names = prediction.coding.output_names
    return (_labels if task == "multilabel" else _real)(names, labels, true, known)


def _classes(prediction, responses) -> ByOutput:
    from sklearn import metrics as sk  # here, as it takes a second to import

    known = ~is_missing(responses.astype(object))
    true, predicted = ([str(v) for v in values[known]] for values in (responses, prediction.labels))
    place = {str(label): i for i, label in enumerate(prediction.coding.classes)}
    same = matched(true, place)
    true = [same.get(label, label) for label in true]
    for label in sorted(set(true) - set(place)):  # the model has never seen it
        place[label] = len(place)
    t, p = ([place[label] for label in labels] for labels in (true, predicted))
    numbers = range(len(place))
    scores = sk.precision_recall_fscore_support(t, p, labels=numbers, zero_division=np.nan)
    confusion = sk.confusion_matrix(t, p, labels=numbers)
    names = list(place)
    return ByOutput(
        ["class", "precision", "recall", "f1", "support", "predicted"],
        [
            [name, *map(_number, three), int(support), int(n)]
            for name, *three, support, n in zip(names, *scores, confusion.sum(axis=0), strict=True)
        ],
        ["true", *names],
        [[name, *row] for name, row in zip(names, confusion.tolist(), strict=True)],
    )


def _labels(names, labels, true, known) -> ByOutput:
    from sklearn import metrics as sk  # here, as it takes a second to import

    rows, confusion = [], []
    for c, name in enumerate(names):
        t, p = true[known[:, c], c].astype(int), labels[known[:, c], c].astype(int)
        three, four = [None] * 3, [0] * 4
        if len(t):
            three = sk.precision_recall_fscore_support(t, p, average="binary", zero_division=np.nan)[:3]
            four = sk.confusion_matrix(t, p, labels=[0, 1]).ravel().tolist()
        rows.append([name, *map(_number, three), int(t.sum()), int(p.sum())])
        confusion.append([name, *four])
    return ByOutput(
        ["label", "precision", "recall", "f1", "support", "predicted"], rows,
        ["label", "rightly_absent", "wrongly_present", "wrongly_absent", "rightly_present"], confusion,
    )  # fmt: skip


def _real(names, predicted, true, known) -> ByOutput:
    rows = [
        [name, *errors(true[there, c], predicted[there, c]), int(there.sum())]
        for c, (name, there) in enumerate(zip(names, known.T, strict=True))
    ]
    return ByOutput(["response", "r2", "rmse", "mae", "support"], rows, [], [])


def _number(value) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
