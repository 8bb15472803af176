"""The chains: traces, how well they have mixed, where the time went."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.fitting.fit import kept_sweeps
from plugsamp.report import svg

#: Points of a line, lines of a chart, charts.
POINTS, LINES, CHARTS = 300, 12, 24

#: The first part of the sweeps, of which the scale of a chart takes no notice where they are so many times
#: as far apart as the others.
FIRST, FAR = 10, 1.5

#: Columns of the trace that have no chart of their own, and what the others are called.
ASIDE = ("sweep", "elapsed", "chain", "task")
BY_PROPOSAL = {"acceptance_": "share accepted", "moves_": "moves per token"}
TITLES = {
    "log_joint": "log joint",
    "loss": "loss per document",
    "moved": "share of tokens that moved",
    "alpha_sum": "sum of α",
    "beta": "β",
    "seconds": "seconds per sweep",
}

#: Styles of lines, told apart by colour and dashes.
STYLES = 6


@dataclass(frozen=True)
class Chart:
    title: str
    drawn: Markup
    drawn_from: int | None = None  # the scale is that of the sweeps from this one on
    legend: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Chains:
    names: list[tuple[str, str]]  # style and name of each line; empty of one chain
    same_posterior: bool
    n_sweeps: int
    burn_in: int
    n_kept: int
    charts: list[Chart]
    note: str
    times: list[tuple[str, float]]
    seconds: float


def chains_of(posterior, seconds: float | None) -> Chains | None:
    """Return what is shown of the trace of a posterior; None without one.

    Parameters
    ----------
    posterior : Posterior
    seconds : float or None
        Of starts and sampling.
    """
    trace = posterior.trace.by_chain()
    if not trace:
        return None
    n_sweeps = max(len(columns["sweep"]) for columns in trace.values())
    burn_in = min(posterior.burn_in, n_sweeps - 1)
    kept = posterior.parts[0].kept
    thin = posterior.options.get("thin")
    thin = int(thin) if str(thin).isdigit() and int(thin) > 0 else 5
    n_kept = len(kept) or len(kept_sweeps(n_sweeps, burn_in, thin))
    charts, note = _charts(trace, burn_in, n_sweeps)
    names = (
        [(f"s{i % STYLES}", shown(name)) for i, name in enumerate(list(trace)[:LINES])]
        if len(trace) > 1
        else []
    )
    times = _times(trace, seconds)
    total = sum(one for _, one in times)
    return Chains(names, posterior.owner == "chain", n_sweeps, burn_in, n_kept, charts, note, times, total)


def title_of(name: str) -> str:
    """Return what a column of the trace is called."""
    if name in TITLES:
        return TITLES[name]
    if name.startswith("log_joint_"):
        return f"log joint: {shown(name.removeprefix('log_joint_'))}"
    return shown(name.replace("_", " "))


def _charts(trace, burn_in: int, n_sweeps: int) -> tuple[list[Chart], str]:
    first = next(iter(trace.values()))
    names = [n for n in first if n not in ASIDE and not n.startswith((*BY_PROPOSAL, "seconds_"))]
    names.sort(key=lambda name: name == "seconds")
    charts = []
    for name in names:
        drawn = [
            (f"s{i % STYLES}", columns["sweep"], columns[name])
            for i, columns in enumerate(list(trace.values())[:LINES])
            if name in columns and np.isfinite(columns[name]).any()
        ]
        if drawn:
            charts.append(_chart(title_of(name), drawn, burn_in, n_sweeps))
    for prefix, title in BY_PROPOSAL.items():
        proposals = [n for n in first if n.startswith(prefix)]
        if proposals:
            drawn = [(f"s{i % STYLES}", first["sweep"], first[name]) for i, name in enumerate(proposals)]
            legend = [(f"s{i % STYLES}", shown(n.removeprefix(prefix))) for i, n in enumerate(proposals)]
            title += ", first chain" if len(trace) > 1 else ""
            charts.append(_chart(title, drawn, burn_in, n_sweeps, legend))
    notes = [
        cut(min(CHARTS, len(charts)), len(charts), "columns", "all are in trace.csv"),
        cut(min(LINES, len(trace)), len(trace), "chains", "all are in trace.csv"),
    ]
    return charts[:CHARTS], " ".join(filter(None, notes))


def _chart(title: str, drawn, burn_in: int, n_sweeps: int, legend=()) -> Chart:
    thinned = []
    for class_, xs, ys in drawn:
        chosen = np.linspace(0, len(xs) - 1, min(POINTS, len(xs))).astype(int)
        thinned.append((class_, xs[chosen], ys[chosen]))
    # The first sweeps may come from far away, and leave no room for the others.
    first, every = n_sweeps // FIRST, svg.extent(np.concatenate([ys for *_, ys in drawn]))
    seen = svg.extent(np.concatenate([ys[xs > first] for _, xs, ys in drawn]))
    far = every[1] - every[0] > FAR * (seen[1] - seen[0])
    seen, drawn_from = (seen, first + 1) if far else (every, None)
    picture = svg.lines(title, thinned, (burn_in + 0.5, n_sweeps), seen)
    return Chart(title, picture, drawn_from, list(legend))


def convergence(posterior):
    """Return `Posterior.convergence`, or None and why there is none."""
    try:
        return posterior.convergence(), ""
    except (ValueError, ImportError) as error:
        return None, str(error)


def _times(trace, total: float | None) -> list[tuple[str, float]]:
    """(what, seconds), by the parts that the trace has, or else by what is known of the sum."""
    chains = list(trace.values())
    sampling = sum(float(np.nansum(c["seconds"])) for c in chains if "seconds" in c)
    parts = [n for n in chains[0] if n.startswith("seconds_")]
    times = []
    for name in parts:
        seconds = sum(float(np.nansum(c[name])) for c in chains if name in c)
        times.append((shown(name.removeprefix("seconds_").replace("_", " ")), seconds))
    rest = sampling - sum(seconds for _, seconds in times)
    times.append(("the rest of the sweeps" if parts else "sweeps", max(rest, 0.0)))
    if total is not None and total - sampling > 0.005:
        times.append(("starting the chain", total - sampling))
    elapsed = sum(float(c["elapsed"][-1]) for c in chains if "elapsed" in c and len(c["elapsed"]))
    beside = elapsed - max(sampling, total or 0.0)
    if beside > 0.005:
        times.append(("log joint, kept draws, files, progress", beside))
    return times
