"""The chains: traces, how well they have mixed, where the time went."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from plugsamp.brief import cut, shown
from plugsamp.diagnostics.convergence import LEAST, mixing
from plugsamp.fitting.fit import kept_sweeps
from plugsamp.report import svg
from plugsamp.report.folder import Run, Trace

#: Points of a line, lines of a chart, charts.
POINTS, LINES, CHARTS = 300, 40, 24

#: The part of the sweeps, from the first on, that the scale of a chart takes no notice of where they are so
#: many times as far apart as the others.
FIRST, FAR = 10, 1.5

#: Columns of the trace that have no chart of their own, and what the others are called.
ASIDE = ("sweep", "elapsed")
#: What a trace has by proposal, and how it is called.
BY_PROPOSAL = {"acceptance_": "share accepted, by proposal", "moves_": "moves a token, by proposal"}
TITLES = {
    "log_joint": "log joint",
    "loss": "loss: −log ψ a document",
    "moved": "share of tokens that changed topic",
    "alpha_sum": "sum of α",
    "beta": "β",
    "seconds": "seconds a sweep",
}

#: Colours of lines.
COLOURS = 6


@dataclass(frozen=True)
class Chart:
    title: str
    drawn: Markup
    legend: list[tuple[str, str]] = field(default_factory=list)
    drawn_from: int | None = None  # the scale is that of the sweeps from this one on


@dataclass(frozen=True)
class Mixed:
    """How well a quantity has mixed after the burn-in; of several models the medians."""

    name: str
    mean: float
    sd: float
    draws: int
    ess: float | None
    inefficiency: float | None
    r_hat: float | None
    constant: str | None = None


@dataclass(frozen=True)
class Chains:
    n_chains: int
    n_sweeps: int
    burn_in: int
    n_kept: int
    charts: list[Chart]
    charts_note: str
    mixing: list[Mixed]
    mixing_note: str
    same_posterior: bool
    times: list[tuple[str, float]]
    seconds: float


def chains_of(run: Run) -> Chains | None:
    """None without a trace."""
    trace = run.trace
    if not trace.chains:
        return None
    n_sweeps = max(len(columns["sweep"]) for columns in trace.chains.values())
    burn_in, n_kept = _kept(run.config, n_sweeps)
    charts, note = _charts(trace, burn_in, n_sweeps)
    mixed, why = _mixing(trace, burn_in)
    times = _times(run)
    return Chains(
        len(trace.chains), n_sweeps, burn_in, n_kept, charts, note, mixed, why, trace.same_posterior, times,
        sum(seconds for _, seconds in times),
    )  # fmt: skip


def _kept(config: dict, n_sweeps: int) -> tuple[int, int]:
    """Sweeps of the burn-in, and how many draws were kept."""
    burn_in = config.get("burn_in")
    burn_in = n_sweeps // 2 if not isinstance(burn_in, int) else min(burn_in, n_sweeps - 1)
    thin = config.get("thin")
    return burn_in, len(kept_sweeps(n_sweeps, burn_in, thin if isinstance(thin, int) and thin > 0 else 5))


def _title(name: str) -> str:
    if name in TITLES:
        return TITLES[name]
    if name.startswith("log_joint_"):
        return f"log joint: {shown(name.removeprefix('log_joint_'))}"
    return shown(name.replace("_", " "))


def _charts(trace: Trace, burn_in: int, n_sweeps: int) -> tuple[list[Chart], str]:
    names = [n for n in trace.columns if n not in ASIDE and not n.startswith((*BY_PROPOSAL, "seconds_"))]
    names.sort(key=lambda name: name == "seconds")
    several = len(trace.chains) > 1
    charts = []
    for name in names:
        drawn = [
            (f"s{i % COLOURS}" + " thin" * several, columns["sweep"], columns[name])
            for i, columns in enumerate(list(trace.chains.values())[:LINES])
            if np.isfinite(columns[name]).any()
        ]
        if drawn:
            charts.append(_chart(_title(name), drawn, burn_in, n_sweeps))
    first = next(iter(trace.chains.values()))
    for prefix, title in BY_PROPOSAL.items():
        proposals = [n for n in trace.columns if n.startswith(prefix)]
        if not proposals:
            continue
        drawn = [(f"s{i % COLOURS}", first["sweep"], first[name]) for i, name in enumerate(proposals)]
        chart = _chart(title, drawn, burn_in, n_sweeps)
        legend = [(f"s{i % COLOURS}", shown(n.removeprefix(prefix))) for i, n in enumerate(proposals)]
        title = chart.title + (" (first chain)" if several else "")
        charts.append(Chart(title, chart.drawn, legend, chart.drawn_from))
    notes = [
        cut(min(CHARTS, len(charts)), len(charts), "columns", "all are in trace.csv"),
        cut(min(LINES, len(trace.chains)), len(trace.chains), "chains", "all are in trace.csv"),
    ]
    return charts[:CHARTS], " ".join(filter(None, notes))


def _chart(title: str, drawn, burn_in: int, n_sweeps: int) -> Chart:
    thinned = []
    for class_, xs, ys in drawn:
        chosen = np.linspace(0, len(xs) - 1, min(POINTS, len(xs))).astype(int)
        thinned.append((class_, xs[chosen], ys[chosen]))
    # The first sweeps may come from far away, and leave no room for the others.
    first, every = n_sweeps // FIRST, svg.extent(np.concatenate([ys for *_, ys in drawn]))
    seen = svg.extent(np.concatenate([ys[xs > first] for _, xs, ys in drawn]))
    far = every[1] - every[0] > FAR * (seen[1] - seen[0])
    seen, drawn_from = (seen, first + 1) if far else (every, None)
    picture = svg.lines(f"Trace of the {title}", thinned, (burn_in + 0.5, n_sweeps), y=seen)
    return Chart(title, picture, drawn_from=drawn_from)


def _mixing(trace: Trace, burn_in: int) -> tuple[list[Mixed], str]:
    """Of quantities that no numbering of topics changes."""
    names = [n for n in trace.columns if n in ("loss", "alpha_sum", "beta") or n.startswith("log_joint")]
    found, skipped = [], []
    for name in names:
        draws = [columns[name][columns["sweep"] > burn_in] for columns in trace.chains.values()]
        draws = [d for d in draws if len(d)]
        if not draws or not all(np.isfinite(d).all() for d in draws):
            continue
        n_draws = int(sum(map(len, draws)) if trace.same_posterior else len(draws[0]))
        if trace.same_posterior and len(draws) > 1:
            shortest = min(map(len, draws))
            draws = [np.array([d[-shortest:] for d in draws])]
        else:  # one chain is held against itself: its halves as two
            draws = [d[len(d) % 2 :].reshape(2, -1) for d in draws]
        if min(d.shape[1] for d in draws) < LEAST:
            return [], ""
        try:
            mixed = [mixing(d) for d in draws]
        except ImportError as error:
            return [], str(error)
        except ValueError as error:
            skipped.append(f"{_title(name)}: {error}")
            continue
        known = [m for m in mixed if m.constant is None]
        middle = {
            key: float(np.median([getattr(m, key) for m in known or mixed]))
            for key in ("mean", "sd", "ess", "inefficiency", "r_hat")
        }
        constant = mixed[0].constant if not known else None
        found.append(Mixed(_title(name), draws=n_draws, **middle, constant=constant))
    return found, "; ".join(skipped)


def _times(run: Run) -> list[tuple[str, float]]:
    """(what, seconds), by the parts that the trace has, or else by what is known of the sum."""
    chains = list(run.trace.chains.values())
    sampling = sum(float(np.nansum(c["seconds"])) for c in chains if "seconds" in c)
    parts = [n for n in run.trace.columns if n.startswith("seconds_")]
    times = []
    for name in parts:
        seconds = sum(float(np.nansum(c[name])) for c in chains)
        times.append((shown(name.removeprefix("seconds_").replace("_", " ")), seconds))
    if parts:
        rest = sampling - sum(seconds for _, seconds in times)
        times.append(("the rest of the sweeps", max(rest, 0.0)))
    else:
        times.append(("sweeps", sampling))
    total = run.metrics.get("seconds")
    if isinstance(total, int | float) and total - sampling > 0.005:
        times.append(("starting the chain", float(total) - sampling))
    elapsed = sum(float(c["elapsed"][-1]) for c in chains if "elapsed" in c and len(c["elapsed"]))
    beside = elapsed - max(sampling, float(total or 0.0))
    if beside > 0.005:
        times.append(("log joint, kept draws, files, progress", beside))
    return times
