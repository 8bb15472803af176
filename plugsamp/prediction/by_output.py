"""Scores of every class, label or response by itself, and who is taken for whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plugsamp.lookalikes import matched
from plugsamp.losses.coding import is_missing
from plugsamp.prediction.metrics import Hits, errors


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
    """Compare predictions with responses, output by output (scores are scikit-learn's).

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
    known = ~is_missing(responses.astype(object))
    true, predicted = ([str(v) for v in values[known]] for values in (responses, prediction.labels))
    place = {str(label): i for i, label in enumerate(prediction.coding.classes)}
    same = matched(true, place)
    true = [same.get(label, label) for label in true]
    for label in sorted(set(true) - set(place)):  # the model has never seen it
        place[label] = len(place)
    t, p = ([place[label] for label in labels] for labels in (true, predicted))
    n = len(place)
    confusion = np.bincount(np.array(t, np.int64) * n + np.array(p, np.int64), minlength=n * n).reshape(n, n)
    names = list(place)
    return ByOutput(
        ["class", "precision", "recall", "f1", "support", "predicted"],
        _scores(names, Hits.of(t, p, n)),
        ["true", *names],
        [[name, *row] for name, row in zip(names, confusion.tolist(), strict=True)],
    )


def _labels(names, labels, true, known) -> ByOutput:
    t, p = true > 0, labels > 0
    four = [np.sum(cells & known, axis=0) for cells in (~t & ~p, ~t & p, t & ~p, t & p)]
    _, wrongly_present, wrongly_absent, right = four
    confusion = [[name, *map(int, counts)] for name, *counts in zip(names, *four, strict=True)]
    hits = Hits(right, right + wrongly_absent, right + wrongly_present)
    return ByOutput(
        ["label", "precision", "recall", "f1", "support", "predicted"], _scores(names, hits),
        ["label", "rightly_absent", "wrongly_present", "wrongly_absent", "rightly_present"], confusion,
    )  # fmt: skip


def _real(names, predicted, true, known) -> ByOutput:
    rows = [
        [name, *errors(true[there, c], predicted[there, c]), int(there.sum())]
        for c, (name, there) in enumerate(zip(names, known.T, strict=True))
    ]
    return ByOutput(["response", "r2", "rmse", "mae", "support"], rows, [], [])


def _scores(names, hits: Hits) -> list[list]:
    """Rows of a table: name, precision, recall, F1, support and how often it was predicted."""
    three = [
        [None if np.isnan(v) else float(v) for v in of()] for of in (hits.precision, hits.recall, hits.f1)
    ]
    columns = zip(names, *three, hits.true.tolist(), hits.predicted.tolist(), strict=True)
    return [list(row) for row in columns]
