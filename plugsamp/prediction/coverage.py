"""How often intervals hold the true response, by the size of the prediction."""

from __future__ import annotations

import numpy as np

from plugsamp.files.tables import Table
from plugsamp.losses.coding import is_missing
from plugsamp.prediction.table import LEVEL

#: Groups of documents, and the number of responses from which the lowest coverage of a group is a measure.
GROUPS, ENOUGH = 5, 50


def coverage(prediction, responses, level: float = LEVEL) -> Table:
    """Return how often intervals hold the response, for the documents sorted by prediction in five groups.

    Intervals can be right on average and too narrow for, say, the documents with the smallest predictions.

    Parameters
    ----------
    prediction : Prediction
        Of real responses or counts, by a loss that gives intervals.
    responses : array (D,) or (D, C)
        As the corpus has them; None and NaN are missing.
    level : float
        The probability inside the intervals.

    Returns
    -------
    Table
        A row each fifth of the documents with a known response, the smallest predictions first: ``response``
        (where there are several), ``low`` and ``high`` (predictions), ``documents``, ``covered`` (share of
        responses inside their interval), ``below`` and ``above`` (shares outside), ``width`` (the mean).

    Raises
    ------
    ValueError
        The predictions have no intervals (`Prediction.interval`).
    """
    ends = prediction.interval(level)
    predicted = np.asarray(prediction.labels, dtype=float).reshape(ends.shape[:2])
    responses = np.asarray(responses).reshape(predicted.shape)
    known = ~is_missing(responses)
    true = np.where(known, responses, 0).astype(float)
    rows = []
    for c, name in enumerate(prediction.coding.output_names):
        there = np.flatnonzero(known[:, c])
        order = there[np.argsort(predicted[there, c], kind="stable")]
        for part in np.array_split(order, GROUPS):
            if len(part):
                p, y, (low, high) = predicted[part, c], true[part, c], ends[part, c].T
                below, above = (y < low).mean(), (y > high).mean()
                inside, width = ((low <= y) & (y <= high)).mean(), (high - low).mean()
                shares = (inside, below, above, width)
                rows.append((name, p.min(), p.max(), len(part), *map(float, shares)))
    columns = ("response", "low", "high", "documents", "covered", "below", "above", "width")
    table = Table.from_rows(columns, rows, f"{level:.0%} intervals by fifths of the predictions")
    if predicted.shape[1] == 1:
        return Table({name: table[name] for name in columns[1:]}, table.title)
    return table


def lowest(table: Table) -> float | None:
    """Return the lowest coverage of a group, or None where groups are too small to tell."""
    if sum(table["documents"]) < ENOUGH:
        return None
    return float(min(table["covered"]))
