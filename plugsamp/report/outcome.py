"""How predictions compare with responses: classes, confusions, probabilities, numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.losses.coding import is_missing
from plugsamp.report import svg
from plugsamp.report.topics import LABEL, Row, Topics

#: Classes of a confusion matrix, of the table of classes; mistakes listed; points and plots of numbers.
CONFUSED, SCORED, MISTAKES, POINTS, PLOTS = 30, 200, 10, 1500, 12

#: Column headings longer than this, or more of them, are numbers that the rows explain.
LONG, WIDE = 11, 8

#: Topics named beside a class.
NAMED = 3


@dataclass
class Class:
    """A class, label or response: its scores, and the topics for and against it."""

    name: str
    scores: dict = field(default_factory=dict)
    pro: list[tuple[Row, float]] = field(default_factory=list)
    contra: list[tuple[Row, float]] = field(default_factory=list)


@dataclass
class Outcome:
    """
    Attributes
    ----------
    n_documents, n_missing : int
        Predicted, and without a true response.
    classes : list of Class
    confused : list of str
        The classes of the confusion matrix, whose rows of documents are true classes.
    numbered : bool
        Whether its columns have numbers instead of names.
    mistakes : list of (true, predicted, documents)
    reliability : list of rows of `Evaluation.calibration`
    coverage : Table or None
        `Evaluation.coverage`.
    plots : list of (name, picture, note)
    """

    n_documents: int
    n_missing: int = 0
    classes: list[Class] = field(default_factory=list)
    classes_note: str = ""
    confused: list[str] = field(default_factory=list)
    confusion: list[list[int]] = field(default_factory=list)
    confusion_note: str = ""
    numbered: bool = False
    mistakes: list[tuple[str, str, int]] = field(default_factory=list)
    mistakes_note: str = ""
    reliability: list[tuple[float, float, int, float, float]] = field(default_factory=list)
    coverage: object = None
    plots: list[tuple[str, Markup, str]] = field(default_factory=list)
    plots_note: str = ""


def outcome_of(found, coding) -> Outcome | None:
    """Return what an `Evaluation` tells; None where there is no truth to compare with.

    Parameters
    ----------
    found : Evaluation or None
    coding : Coding
    """
    if found is None or found.truth is None or found.prediction.labels is None:
        return None
    missing = is_missing(np.asarray(found.truth))
    outcome = Outcome(len(found.prediction.ids), int(missing.sum()))
    if coding.task in ("real", "count"):
        _add_plots(outcome, found, coding)
        outcome.coverage = found.coverage() if "coverage_90" in found.measures else None
        return outcome
    if missing.all():
        return outcome
    table = found.by_class()
    rows = [row for row in table if row["true"] or row["predicted"] or coding.task == "multilabel"]
    if coding.task == "multilabel":
        if coding.thresholds is not None:
            at = dict(zip(map(str, coding.output_names), coding.thresholds.tolist(), strict=True))
            rows = [row | {"threshold": at.get(str(row["class"]))} for row in rows]
        rows.sort(key=lambda row: -row["true"])
    outcome.classes = [
        Class(shown(row["class"], LABEL), {name: _known(row[name]) for name in list(row)[1:]})
        for row in rows[:SCORED]
    ]
    what = "labels" if coding.task == "multilabel" else "classes"
    outcome.classes_note = cut(len(outcome.classes), len(rows), what, "all are in predictions.csv")
    outcome.reliability = reliability(found)
    if coding.task != "multilabel":
        _add_confusion(outcome, found.confusion(), {row["class"]: row["true"] for row in rows})
    return outcome


def _known(value):
    return None if value != value else value


def _add_confusion(outcome: Outcome, table, n_true: dict[str, int]) -> None:
    """The matrix of all classes, or of the most frequent ones and the others as one."""
    places = {name: i for i, name in enumerate(table[table.columns[0]]) if name in n_true}
    chosen = np.array(list(places.values()))
    counts = np.array([table[name] for name in table[table.columns[0]]]).T[np.ix_(chosen, chosen)]
    names = list(places)
    wrong = np.argwhere((counts > 0) & ~np.eye(len(names), dtype=bool)).tolist()
    wrong.sort(key=lambda pair: -counts[tuple(pair)])
    outcome.mistakes = [
        (shown(names[t], 40), shown(names[p], 40), int(counts[t, p])) for t, p in wrong[:MISTAKES]
    ]
    outcome.mistakes_note = cut(len(outcome.mistakes), len(wrong), "kinds of mistakes")
    if len(names) > CONFUSED:
        frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[: CONFUSED - 1])
        place = np.full(len(names), CONFUSED - 1)
        place[frequent] = np.arange(CONFUSED - 1)
        right = int(np.diagonal(counts)[place == CONFUSED - 1].sum())
        note = f"The {CONFUSED - 1} most frequent of {len(names)} classes; the others are taken together"
        outcome.confusion_note = f"{note}, and {right} in their cell are right."
        pooled = np.zeros((CONFUSED, CONFUSED), dtype=int)
        np.add.at(pooled, (place[:, None], place[None, :]), counts)
        counts, names = pooled, [*(names[i] for i in frequent), "(others)"]
    outcome.confused = [shown(name, LABEL) for name in names]
    outcome.numbered = len(names) > WIDE or max(map(len, outcome.confused)) > LONG
    outcome.confusion = counts.tolist()


def reliability(found) -> list[tuple[float, float, int, float, float]]:
    """Return the rows of `Evaluation.calibration`; none where there is nothing to compare."""
    task, truth = found.prediction.coding.task, found.truth
    classes = task in ("binary", "multiclass", "multilabel")
    if not classes or found.prediction.probabilities is None or truth is None:
        return []
    return [] if is_missing(np.asarray(truth)).all() else [tuple(row) for row in found.calibration().rows]


def _add_plots(outcome: Outcome, found, coding) -> None:
    n, names = len(found.prediction.ids), coding.output_names
    truth = np.asarray(found.truth, dtype=object).reshape(n, -1)
    truth = np.where(is_missing(truth), np.nan, truth).astype(float)
    labels = np.asarray(found.prediction.labels, dtype=float).reshape(n, -1)
    ends = found.prediction.interval() if found.prediction.calibrated else None
    for c, name in enumerate(names[:PLOTS]):
        there = np.flatnonzero(~np.isnan(truth[:, c]))
        if not len(there):
            continue
        chosen = there[np.linspace(0, len(there) - 1, min(POINTS, len(there))).astype(int)]
        bounds = [] if ends is None else list(ends[chosen, c].T)
        title = f"Predicted against observed {shown(name)}"
        drawn = svg.scatter(title, truth[chosen, c], labels[chosen, c], *bounds)
        outcome.plots.append((shown(name), drawn, cut(len(chosen), len(there), "documents")))
    outcome.plots_note = cut(len(outcome.plots), len(names), "responses")


def with_topics(outcome: Outcome | None, topics: Topics, outputs: list[str]) -> tuple[list[Class], str]:
    """Return classes, labels or responses with the topics for and against them, and what is left out."""
    classes = [] if outcome is None else list(outcome.classes)
    known = {one.name for one in classes}
    more = [Class(name) for name in (shown(one, LABEL) for one in outputs) if name not in known]
    note = outcome.classes_note if classes else cut(min(len(more), SCORED), len(more), "outputs")
    classes += more[: max(0, SCORED - len(classes))]
    weighed = [(row, weight) for row in topics.rows for weight in row.weights]
    weighed.sort(key=lambda found: -abs(found[1].mean))
    by_name = {one.name: one for one in classes}
    for row, weight in weighed:
        one = by_name.get(weight.output)
        side = None if one is None else one.contra if weight.mean < 0 else one.pro
        if side is not None and len(side) < NAMED:
            side.append((row, weight.mean))
    return classes, note
