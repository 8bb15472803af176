"""Predictions as tables: predictions.csv, the data frame, and the short table that notebooks show."""

from __future__ import annotations

from collections import Counter

import numpy as np

from plugsamp.files.tables import Table
from plugsamp.losses.coding import is_missing

#: Documents whose predictions a notebook shows.
ROWS = 12

#: The probability of the intervals of real responses.
LEVEL = 0.9


def prediction_table(prediction, truth=None, topics: bool = False) -> Table:
    """Return predictions with the columns of predictions.csv, a row each document in their order.

    Parameters
    ----------
    prediction : plugsamp.prediction.results.Prediction
    truth : ndarray (D,) or (D, C), optional
        The responses as the user gave them; missing ones are empty cells.
    topics : bool
        Whether there is a column for each topic's proportion (theta).

    Returns
    -------
    Table
        ``id``, ``true``, ``predicted`` (of several responses ``true_NAME``, ``predicted_NAME``); ``lower``
        and ``upper`` ends of 90 % intervals of real responses, where the loss is a likelihood;
        ``probability_CLASS`` where the loss has probabilities; ``score_OUTPUT``, the linear predictors f;
        ``topic_K``, or the topics' names; ``n_known`` and ``n_unknown``, tokens in the vocabulary and
        outside of it.
    """
    coding = prediction.coding
    real = coding.task in ("real", "count")
    outputs = coding.output_names if real or coding.task == "multilabel" else None
    columns: dict = {"id": list(prediction.ids)}
    columns |= _responses("true", truth, outputs) | _responses("predicted", prediction.labels, outputs)
    if real and prediction.calibrated:
        intervals = prediction.interval(LEVEL)
        for c in range(intervals.shape[1]):
            end = f"_{outputs[c]}" if intervals.shape[1] > 1 else ""
            columns |= {f"lower{end}": intervals[:, c, 0], f"upper{end}": intervals[:, c, 1]}
    if prediction.probabilities is not None:
        names = map(str, coding.classes)
        columns |= {f"probability_{n}": p for n, p in zip(names, prediction.probabilities.T, strict=True)}
    columns |= {f"score_{n}": f for n, f in zip(_scores(prediction), prediction.f.T, strict=True)}
    if topics:
        names = topic_columns(prediction, [*columns, "n_known", "n_unknown"])
        columns |= dict(zip(names, prediction.theta.T, strict=True))
    return Table(columns | {"n_known": prediction.n_known, "n_unknown": prediction.n_unknown})


def _scores(prediction) -> list[str]:
    """Return what the columns of f are called: binary models of two classes have a score for each class."""
    names, n_scores = prediction.coding.output_names, prediction.f.shape[1]
    return names if len(names) == n_scores else [str(c) for c in range(n_scores)]


def _responses(what: str, values, names) -> dict:
    """Return the columns of responses; missing ones are None."""
    if values is None:
        return {}
    values = np.asarray(values)
    columns = values.reshape(len(values), -1)
    if columns.shape[1] == 1:
        return {what: _known(columns[:, 0])}
    if names is None or len(names) != columns.shape[1]:
        names = range(columns.shape[1])
    return {f"{what}_{name}": _known(column) for name, column in zip(names, columns.T, strict=True)}


def _known(column) -> list:
    gone = is_missing(column)
    return [None if missing else value for value, missing in zip(column.tolist(), gone, strict=True)]


def topic_columns(prediction, taken) -> list[str]:
    """Return what the topics' columns are called: their names where they have some, or ``topic_3``.

    A name that is one of `taken`, or that two topics have, is followed by ``topic_3``.
    """
    plain = [f"topic_{k}" for k in range(prediction.theta.shape[1])]
    names = prediction.topic_names or [""] * len(plain)
    often = Counter([*taken, *plain, *filter(None, names)])
    return [
        column if not name else name if often[name] == 1 else f"{name} ({column})"
        for name, column in zip(names, plain, strict=True)
    ]


def short_prediction_table(prediction, rows: int = ROWS) -> Table:
    """Return what is shown of the first predictions: id, label, its probability, the main topics, tokens."""
    n = len(prediction.ids)
    m = min(n, rows)
    columns: dict = {"id": list(prediction.ids[:m])}
    if prediction.labels is not None:
        columns |= _labels(np.asarray(prediction.labels)[:m], prediction.coding)
    if prediction.probabilities is not None and prediction.coding.task != "multilabel":
        columns["probability"] = prediction.probabilities[:m].max(axis=1)
    theta = prediction.theta[:m]
    if theta.size and theta[0].sum() < 1.5:  # those of several chains have no common numbers
        columns["topics"] = [_first_topics(row, prediction.topic_names) for row in theta]
    columns |= {"n_known": prediction.n_known[:m], "n_unknown": prediction.n_unknown[:m]}
    title = f"Predictions of {n:,} document{'s' * (n != 1)}" + (f", the first {m}" if m < n else "")
    return Table(columns, title + "; probabilities are scores" * (prediction.calibrated is False))


def _first_topics(theta, names) -> str:
    first = np.argsort(-theta, kind="stable")[:3]
    return ", ".join(f"{(names and names[k]) or k} ({theta[k]:.0%})" for k in first)


def _labels(labels, coding) -> dict:
    if coding.task != "multilabel":
        return _responses("predicted", labels, coding.classes)
    names = [str(c) for c in coding.classes]
    return {"labels": [", ".join(n for n, one in zip(names, row, strict=True) if one) for row in labels]}
