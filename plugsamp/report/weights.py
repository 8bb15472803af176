"""The weights: a map of outputs and topics, horseshoe plots, covariates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.posterior.parts import Part
from plugsamp.report import svg
from plugsamp.report.texts import number
from plugsamp.report.topics import Weight, spread

#: Cells of the heat map, outputs or models with a plot of their own, covariates in the table.
CELLS, PANELS, COVARIATES = 2400, 24, 40

#: A weight below this share of its output's largest is called shrunk away.
SHRUNK = 0.1


@dataclass(frozen=True)
class Strong:
    """A topic with a strong weight."""

    key: str
    number: int
    mean: float


@dataclass(frozen=True)
class Panel:
    """The weights of an output: the plot, and what stands out of it."""

    title: str
    plot: Markup
    strongest: list[Strong]  # two at each end
    shrunk: float


@dataclass(frozen=True)
class Weights:
    n_draws: int
    heat_map: Markup | None = None
    heat_note: str = ""
    all_weights: Markup | None = None
    panels: list[Panel] = field(default_factory=list)
    panel_note: str = ""
    covariates: list[tuple[str, Weight]] = field(default_factory=list)
    covariate_note: str = ""


def weights_of(members: list[Part]) -> Weights | None:
    """None of a model without responses."""
    if not members[0].outputs:
        return None
    alone = members[0].number is None
    middle, low, high, names, owners = _rows(members)
    chosen = set(_strongest(middle, PANELS).tolist())
    panels = [
        _panel(members[m], name, middle[i], low[i], high[i])
        for i, (m, name) in enumerate(zip(owners, names, strict=True))
        if i in chosen
    ]
    where = "those with the largest weights, all are in weights.csv"
    note = cut(len(panels), len(names), "outputs" if alone else "models", where)
    found = {"panels": panels, "panel_note": note}
    if len(names) > 1:
        flat = np.concatenate(middle), np.concatenate(low), np.concatenate(high)
        found["all_weights"] = svg.curves("All weights of topics, sorted, with 90 % intervals", *flat)
    if alone:
        found["heat_map"], found["heat_note"] = _heat_map(
            members[0], np.array(middle), np.array(low), np.array(high)
        )
        found["covariates"], found["covariate_note"] = _covariates(members[0])
    return Weights(n_draws=len(members[0].predictor.eta), **found)


def _rows(members: list[Part]):
    """Mean, low and high of the topics of every output of every model; names; whose they are."""
    rows: list[list] = [[], [], [], [], []]
    for m, member in enumerate(members):
        three = spread(member.eta[:, :, : member.n_topics])
        for c, name in enumerate(member.outputs):
            title = name if member.number is None else member.name
            for place, value in zip(rows, (*three[:, c], shown(title), m), strict=True):
                place.append(value)
    return rows


def _strongest(middle, n: int) -> np.ndarray:
    """The rows with the largest weights, in their order."""
    size = np.array([np.abs(row).max() for row in middle])
    return np.sort(np.argsort(-size, kind="stable")[:n])


def _panel(member: Part, name: str, middle, low, high) -> Panel:
    size = np.abs(middle)
    order = np.argsort(-middle, kind="stable").tolist()
    ends = [k for k in order[:2] if middle[k] > 0] + [k for k in order[:-3:-1] if middle[k] < 0]
    largest = float(size.max())
    return Panel(
        name,
        svg.intervals(f"Weights for {name}: means and 90 % intervals of topics", middle, low, high),
        [Strong(member.key(k), k, float(middle[k])) for k in ends],
        float((size < SHRUNK * largest).mean()) if largest else 1.0,
    )


def _heat_map(member: Part, middle, low, high) -> tuple[Markup, str]:
    """Topics side by side that speak for the same output."""
    n_outputs, n_topics = middle.shape
    topics = np.argsort(-np.abs(middle).max(axis=0), kind="stable")[: max(1, min(n_topics, 120, CELLS))]
    outputs = _strongest(middle[:, topics], max(1, CELLS // len(topics)))
    inside = middle[np.ix_(outputs, topics)]
    speaks = inside.argmax(axis=0)
    topics = topics[np.lexsort((-inside.max(axis=0), speaks))]
    names = [shown(member.outputs[c], 24) for c in outputs]
    tips = [
        [
            f"{name}, topic {k}: {number(middle[c, k])} [{number(low[c, k])}, {number(high[c, k])}]"
            for k in topics.tolist()
        ]
        for name, c in zip(names, outputs.tolist(), strict=True)
    ]
    chosen = middle[np.ix_(outputs, topics)]
    drawn = svg.heat_map(
        "Weights of topics (columns) in outputs (rows): blue speaks for, orange against", names,
        [str(k) for k in topics.tolist()], chosen, tips, float(np.quantile(np.abs(chosen), 0.995)),
    )  # fmt: skip
    notes = [
        cut(len(outputs), n_outputs, "outputs", "those with the largest weights"),
        cut(len(topics), n_topics, "topics", "those with the largest weights"),
    ]
    return drawn, " ".join(filter(None, notes))


def _covariates(member: Part) -> tuple[list[tuple[str, Weight]], str]:
    """(output, weight of a covariate), the strongest first, intercepts among them."""
    names = [*member.predictor.covariate_names, *["intercept"] * member.predictor.intercept]
    if not names:
        return [], ""
    # Of many sparse covariates only the strongest, by their means, have their quantiles taken.
    draws = member.eta[:, :, member.n_topics :]
    size = np.abs(draws.mean(axis=0))
    n_all = size.size
    best = np.argsort(-size, axis=None, kind="stable")[:COVARIATES]
    rows = []
    for c, j in zip(*np.unravel_index(best, size.shape), strict=True):
        three = spread(draws[:, c, j])
        rows.append((shown(member.outputs[c]), Weight(shown(names[j]), *map(float, three))))
    return rows, cut(len(rows), n_all, "weights of covariates", "the largest in size")
