"""The weights in full: horseshoe plots and covariates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.posterior.draws import Draws
from plugsamp.posterior.tabulate import intervals
from plugsamp.report import svg
from plugsamp.report.texts import number
from plugsamp.report.topics import Weight

#: Outputs or models with a plot of their own, covariates in the table.
PANELS, COVARIATES = 12, 40


@dataclass
class Weights:
    panels: list[tuple[str, Markup]] = field(default_factory=list)
    panel_note: str = ""
    covariates: list[tuple[str, Weight]] = field(default_factory=list)
    covariate_note: str = ""
    open: bool = False  # there are more than intercepts


def weights_of(posterior, parts: list[Draws]) -> Weights | None:
    """Return what is drawn of the weights; None of a model without responses."""
    if not parts[0].outputs:
        return None
    found, alone, rows = Weights(), parts[0].number is None, []
    for part in parts:
        three = intervals(part.weights[:, :, : part.n_topics], 0.9)
        titles = [shown(name) for name in part.outputs] if alone else [shown(part.name)]
        rows += [(title, three[:, c]) for c, title in enumerate(titles)]
    size = np.array([np.abs(three[0]).max() for _, three in rows])
    chosen = [rows[j] for j in np.sort(np.argsort(-size, kind="stable")[:PANELS])]
    y = svg.extent(np.concatenate([three[1:].ravel() for _, three in chosen]))
    for title, three in chosen:
        found.panels.append((title, svg.intervals(f"Weights of topics for {title}", *three, y)))
    what = "outputs" if alone else "models"
    where = "those with the largest weights, all are in weights.csv"
    found.panel_note = cut(len(chosen), len(rows), what, where)
    if alone and (parts[0].covariate_names or parts[0].intercept):
        _add_covariates(found, posterior, parts[0])
        found.open = bool(parts[0].covariate_names)
    return found


def variances_of(posterior, parts: list[Draws]) -> list[tuple[str, str]]:
    """Return each group of weights whose variance was drawn, and that variance in words."""
    found = []
    for group in parts[0].variances:
        rows = [row for row in posterior.variances() if row["group"] == group]
        text = f"{number(rows[0]['mean'])} ({number(rows[0]['lower'])} to {number(rows[0]['upper'])})"
        if len(rows) > 1:
            rows.sort(key=lambda row: row["mean"])
            low, high = (f"{number(row['mean'])} ({shown(row['output'])})" for row in (rows[0], rows[-1]))
            text = f"{number(float(np.mean([row['mean'] for row in rows])))} on average, from {low} to {high}"
        found.append((group, text))
    return found


def _add_covariates(found: Weights, posterior, part: Draws) -> None:
    """The strongest weights of covariates, the intercept among them, as in `Posterior.weights`."""
    names = {posterior.called(part, k) for k in range(part.n_topics)}
    rows = [row for row in posterior.weights() if row["column"] not in names]
    n_all = len(rows)
    rows.sort(key=lambda row: -abs(row["mean"]))
    found.covariates = [
        (shown(row["output"]), Weight(shown(row["column"]), row["mean"], row["lower"], row["upper"]))
        for row in rows[:COVARIATES]
    ]
    found.covariate_note = cut(len(found.covariates), n_all, "weights of covariates", "the largest in size")
