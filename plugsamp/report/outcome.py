"""How predictions and truth compare: confusion, scores a class or label, predicted against observed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.losses.coding import Coding
from plugsamp.report import svg
from plugsamp.report.folder import Table
from plugsamp.report.texts import percent

#: Classes of a confusion matrix, of the table of scores; mistakes listed; points and plots of real responses.
CONFUSED, SCORED, MISTAKES, POINTS, PLOTS = 30, 200, 12, 1500, 12

OTHERS = "(others)"


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1 of a class or label; None where they are 0/0."""

    name: str
    n_true: int
    n_predicted: int
    n_right: int

    @property
    def precision(self) -> float | None:
        return self.n_right / self.n_predicted if self.n_predicted else None

    @property
    def recall(self) -> float | None:
        return self.n_right / self.n_true if self.n_true else None

    @property
    def f1(self) -> float | None:
        total = self.n_true + self.n_predicted
        return 2 * self.n_right / total if total else None


@dataclass(frozen=True)
class Cell:
    n: int
    shade: str
    tip: str


@dataclass(frozen=True)
class Outcome:
    """
    Attributes
    ----------
    n_documents, n_missing : int
        Predicted, and without a true response.
    classes : list of str
        Of the confusion matrix, whose rows of cells are true classes.
    mistakes : list of (true, predicted, documents)
    """

    n_documents: int
    n_missing: int = 0
    classes: list[str] = field(default_factory=list)
    confusion: list[list[Cell]] = field(default_factory=list)
    confusion_note: str = ""
    mistakes: list[tuple[str, str, int]] = field(default_factory=list)
    mistakes_note: str = ""
    scores: list[Scores] = field(default_factory=list)
    scores_note: str = ""
    plots: list[tuple[str, Markup, str]] = field(default_factory=list)
    plots_note: str = ""


def outcome_of(table: Table, coding: Coding) -> Outcome | None:
    """None where there is no truth to compare with.

    Parameters
    ----------
    table : Table
        As predictions.csv.
    coding : Coding
        Task and classes.
    """
    if coding.task in ("binary", "multiclass"):
        if "true" not in table.columns:
            return None
        return _classes(table.column("true"), table.column("predicted"), [str(c) for c in coding.classes])
    names = coding.output_names
    several = len(names) > 1
    if not any(c == "true" or c.startswith("true_") for c in table.columns):
        return None
    if coding.task == "multilabel":
        return _labels(table, names, several)
    return _real(table, names, several)


def _classes(true: list[str], predicted: list[str], known: list[str]) -> Outcome:
    pairs = [(t, p) for t, p in zip(true, predicted, strict=True) if t != ""]
    if not pairs:
        return Outcome(len(true), len(true))
    both = Counter(pairs)
    n_true, n_predicted = Counter(t for t, _ in pairs), Counter(p for _, p in pairs)
    classes = [c for c in dict.fromkeys([*known, *n_true]) if n_true[c] or n_predicted[c]]
    scores = [Scores(shown(c), n_true[c], n_predicted[c], both[c, c]) for c in classes]
    wrong = sorted(((n, t, p) for (t, p), n in both.items() if t != p), key=lambda found: -found[0])
    found, note = _confusion(both, classes, n_true)
    return Outcome(
        n_documents=len(true),
        n_missing=len(true) - len(pairs),
        classes=[shown(c, 40) for c in found],
        confusion=_cells(both, found, classes),
        confusion_note=note,
        mistakes=[(shown(t), shown(p), n) for n, t, p in wrong[:MISTAKES]],
        mistakes_note=cut(min(MISTAKES, len(wrong)), len(wrong), "kinds of mistakes"),
        scores=scores[:SCORED],
        scores_note=cut(min(SCORED, len(scores)), len(scores), "classes", "all are in predictions.csv"),
    )


def _confusion(both, classes, n_true) -> tuple[list[str], str]:
    """The classes of the matrix: all, or the most frequent ones and the others as one."""
    if len(classes) <= CONFUSED:
        return classes, ""
    frequent = set(sorted(classes, key=lambda c: -n_true[c])[: CONFUSED - 1])
    note = f"The {CONFUSED - 1} most frequent of {len(classes)} classes; the others are taken together."
    return [*(c for c in classes if c in frequent), OTHERS], note


def _cells(both, found: list[str], classes: list[str]) -> list[list[Cell]]:
    place = {c: i for i, c in enumerate(found)}
    last = len(found) - 1
    table = np.zeros((len(found), len(found)), dtype=int)
    pooled_right = 0
    for (t, p), n in both.items():
        table[place.get(t, last), place.get(p, last)] += n
        pooled_right += n * (t == p and t not in place)
    totals = table.sum(axis=1)
    rows = []
    for i, true in enumerate(found):
        row = []
        for j, predicted in enumerate(found):
            n = int(table[i, j])
            share = n / max(int(totals[i]), 1)
            tip = f"true {shown(true)}, predicted {shown(predicted)}: {n} ({percent(share, 0)} of the row)"
            if i == j == last and true == OTHERS:
                tip += f", {pooled_right} of them right"
            shade = svg.shade(share if i == j else -share, 1.0) if n else "z"
            row.append(Cell(n, shade, tip))
        rows.append(row)
    return rows


def _columns(table: Table, what: str, name: str, several: bool) -> np.ndarray:
    return table.numbers(f"{what}_{name}" if several else what)


def _labels(table: Table, names: list[str], several: bool) -> Outcome:
    scores, missing = [], 0
    for name in names:
        true, predicted = (_columns(table, what, name, several) for what in ("true", "predicted"))
        there = ~np.isnan(true)
        missing += int((~there).sum())
        t, p = true[there] > 0, predicted[there] > 0
        scores.append(Scores(shown(name), int(t.sum()), int(p.sum()), int((t & p).sum())))
    scores.sort(key=lambda s: -s.n_true)
    note = cut(
        min(SCORED, len(scores)), len(scores), "labels", "the most frequent, all are in predictions.csv"
    )
    return Outcome(len(table.rows), missing, scores=scores[:SCORED], scores_note=note)


def _real(table: Table, names: list[str], several: bool) -> Outcome:
    plots, missing = [], 0
    for name in names:
        true, predicted = (_columns(table, what, name, several) for what in ("true", "predicted"))
        there = np.flatnonzero(~np.isnan(true))
        missing += len(true) - len(there)
        if len(plots) == PLOTS or not len(there):
            continue
        chosen = there[np.linspace(0, len(there) - 1, min(POINTS, len(there))).astype(int)]
        ends = []
        if (f"lower_{name}" if several else "lower") in table.columns:
            ends = [_columns(table, what, name, several)[chosen] for what in ("lower", "upper")]
        title = f"Predicted against observed {shown(name)}"
        drawn = svg.scatter(title, true[chosen], predicted[chosen], *ends)
        plots.append((shown(name), drawn, cut(len(chosen), len(there), "documents")))
    return Outcome(
        len(table.rows),
        missing,
        plots=plots,
        plots_note=cut(len(plots), len(names), "responses, those observed"),
    )
