"""The weights in full: a map of outputs and topics, horseshoe plots, covariates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.posterior.parts import Part
from plugsamp.posterior.tabulate import intervals
from plugsamp.report import svg
from plugsamp.report.texts import number
from plugsamp.report.topics import Weight

#: Cells of the map, outputs or models with a plot of their own, covariates in the table.
CELLS, PANELS, COVARIATES = 1500, 12, 40


@dataclass
class Weights:
    heat_map: Markup | None = None
    heat_note: str = ""
    panels: list[tuple[str, Markup]] = field(default_factory=list)
    panel_note: str = ""
    covariates: list[tuple[str, Weight]] = field(default_factory=list)
    covariate_note: str = ""


def weights_of(posterior, parts: list[Part]) -> Weights | None:
    """Return what is drawn of the weights; None of a model without responses."""
    if not parts[0].outputs:
        return None
    found = Weights()
    alone = parts[0].number is None
    rows = []  # title, mean, low, high of topics
    for part in parts:
        three = intervals(part.eta[:, :, : part.n_topics], 0.9)
        titles = [shown(name) for name in part.outputs] if alone else [shown(part.name)]
        rows += [(title, *three[:, c]) for c, title in enumerate(titles)]
    chosen = _strongest([row[1] for row in rows], PANELS)
    y = svg.extent(np.concatenate([row[i] for j in chosen for row in [rows[j]] for i in (2, 3)]))
    for title, *three in (rows[j] for j in chosen):
        found.panels.append((title, svg.intervals(f"Weights of topics for {title}", *three, y)))
    what = "outputs" if alone else "models"
    found.panel_note = cut(
        len(chosen), len(rows), what, "those with the largest weights, all are in weights.csv"
    )
    if alone:
        _add_heat_map(found, parts[0])
        _add_covariates(found, posterior, parts[0])
    return found


def _strongest(middle, n: int) -> list[int]:
    """The rows with the largest weights, in their order."""
    size = np.array([np.abs(row).max() for row in middle])
    return np.sort(np.argsort(-size, kind="stable")[:n]).tolist()


def _add_heat_map(found: Weights, part: Part) -> None:
    """Topics side by side that speak for the same output."""
    middle, low, high = intervals(part.eta[:, :, : part.n_topics], 0.9)
    n_outputs, n_topics = middle.shape
    topics = np.argsort(-np.abs(middle).max(axis=0), kind="stable")[:100]
    outputs = _strongest(middle[:, topics], max(1, CELLS // len(topics)))
    inside = middle[np.ix_(outputs, topics)]
    topics = topics[np.lexsort((-inside.max(axis=0), inside.argmax(axis=0)))].tolist()
    names = [shown(part.outputs[c], 40) for c in outputs]
    tips = [
        [
            f"{name}, topic {k}: {number(middle[c, k])} [{number(low[c, k])}, {number(high[c, k])}]"
            for k in topics
        ]
        for name, c in zip(names, outputs, strict=True)
    ]
    values = middle[np.ix_(outputs, topics)]
    title = "Weights of topics (columns) for outputs (rows)"
    largest = float(np.quantile(np.abs(values), 0.995))
    found.heat_map = svg.heat_map(title, names, [str(k) for k in topics], values, tips, largest)
    notes = [
        cut(len(outputs), n_outputs, "outputs", "those with the largest weights"),
        cut(len(topics), n_topics, "topics", "those with the largest weights"),
    ]
    found.heat_note = " ".join(filter(None, notes))


def _add_covariates(found: Weights, posterior, part: Part) -> None:
    """The strongest weights of covariates, the intercept among them, as in `Posterior.weights`."""
    if not part.predictor.covariate_names and not part.predictor.intercept:
        return
    table = posterior.weights()
    names = {posterior.called(part, k) for k in range(part.n_topics)}
    rows = [row for row in table if row["column"] not in names]
    n_all = len(rows)
    rows.sort(key=lambda row: -abs(row["mean"]))
    found.covariates = [
        (shown(row["output"]), Weight(shown(row["column"]), row["mean"], row["lower"], row["upper"]))
        for row in rows[:COVARIATES]
    ]
    found.covariate_note = cut(len(found.covariates), n_all, "weights of covariates", "the largest in size")
