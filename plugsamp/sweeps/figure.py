"""A figure of a sweep: its metric against an option, a line a value of others, averaged over the rest."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plugsamp.files.whole import complete_bytes
from plugsamp.options import shown
from plugsamp.registry import suggestion
from plugsamp.sweeps import status
from plugsamp.sweeps.earlier import IMMATERIAL
from plugsamp.sweeps.table import SweepTable
from plugsamp.sweeps.text import lacking, shown_measures

#: The option that is averaged over unless it is asked for.
SEED = "seed"

#: How lines differ beside their colours, and at how many places of the axis each has a tick.
MARKERS, DASHES, TICKS = "osD^v", ("-", "--", "-.", ":"), 12


@dataclass(frozen=True)
class Line:
    """The points of one line.

    Attributes
    ----------
    name : str
    x : list
        Ascending numbers; where one of them is none (null, a list, a name), all as they would be written.
    values : list of list of float
        Of the runs at each of them.
    """

    name: str
    x: list
    values: list[list[float]]

    @property
    def means(self) -> list[float]:
        return [statistics.fmean(v) for v in self.values]

    @property
    def spreads(self) -> list[float]:
        """Standard deviations; 0 of a single run."""
        return [statistics.stdev(v) if len(v) > 1 else 0.0 for v in self.values]


def lines(
    table: SweepTable, x: str | None = None, by: Sequence[str] | None = None
) -> tuple[str, str, list[Line]]:
    """The option along the axis, the measure, and the lines of a figure.

    Parameters
    ----------
    table : SweepTable
    x : str, optional
        By default the first option with several numbers that is not the seed.
    by : sequence of str, optional
        By default all options whose values differ, but x and the seed.

    Raises
    ------
    ValueError
        No run is done, no such option, or several measures that do not go on one axis.
    """
    rows = _without_copies(table)
    if not rows:
        raise ValueError("no run is done: there is nothing to draw")
    for name in (*([x] if x else ()), *(by or ())):
        if name not in table.options:
            raise ValueError(f"no run was given the option {name!r}{suggestion(name, table.options)}")
    measures = [table.metric] if table.metric in rows[0] else shown_measures(table)
    if len(measures) != 1:
        raise ValueError(f"{' and '.join(measures) or 'nothing'} is no one axis: choose one by metric=")
    x = x or _first_numbers(rows, table.varied)
    numbers = all(_is_number(row[x]) for row in rows)
    if by is None:
        by = [o for o in table.varied if o not in (x, SEED)]
    found: dict[str, dict] = {}
    for row in rows:
        if (value := row[measures[0]]) is not None:
            name = ", ".join(shown(row[o]) if len(by) == 1 else f"{o}={shown(row[o])}" for o in by)
            place = row[x] if numbers else shown(row[x])
            found.setdefault(name, {}).setdefault(place, []).append(value)
    if not found:
        raise ValueError(lacking(table) or f"no run has {measures[0]}")
    made = []
    for name in sorted(found):
        places = sorted(found[name], key=_order)
        made.append(Line(name, places, [found[name][place] for place in places]))
    return x, measures[0], made


def _without_copies(table: SweepTable) -> list[dict]:
    """The rows of runs that are done; of runs of the same configuration, and seed, one."""
    rows, seen = [], set()
    for job, row in zip(table.jobs, table.rows, strict=True):
        if row["status"] != status.DONE:
            continue
        if job.config:
            material = {k: v for k, v in job.config.items() if k not in IMMATERIAL}
            key = json.dumps([material, job.metrics.get("main")], sort_keys=True, default=str)
            if key in seen:
                continue
            seen.add(key)
        rows.append(row)
    return rows


def _order(place) -> tuple:
    """Numbers ascending, also those that are written beside other values, then the others."""
    try:
        number = float(place)
    except ValueError:
        number = math.nan
    return (0, number, "") if math.isfinite(number) else (1, 0.0, str(place))


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _first_numbers(rows, options: Sequence[str]) -> str:
    numbers = [o for o in options if o != SEED and all(_is_number(r[o]) for r in rows)]
    others = [o for o in options if o != SEED]
    if not (numbers or others):
        raise ValueError("all runs have the same options but for the seed: there is no axis to draw along")
    return (numbers or others)[0]


def named(path) -> Path:
    """The file that `draw` writes: of a name without an ending a .png."""
    path = Path(path)
    return path if path.suffix or not path.name else path.with_name(f"{path.name.rstrip('.')}.png")


def said_of_bars(made: Sequence[Line]) -> str:
    """What the bars are, and of how many runs; nothing where there are none."""
    sizes = sorted({len(values) for line in made for values in line.values})
    if sizes[-1] < 2:
        return ""
    return f"bars: standard deviation of {' to '.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))} runs"


def draw(table: SweepTable, path, x: str | None = None, by: Sequence[str] | None = None) -> Path:
    """Draw `lines` into a file, by matplotlib: means, with standard deviations as bars.

    Returns
    -------
    Path
        The file, as `named`.

    Raises
    ------
    ValueError
        As `lines`; or matplotlib is not installed, or cannot write such a file.
    """
    axis, measure, made = lines(table, x, by)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("figure= needs matplotlib: pip install 'plugsamp[plots]'") from None
    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    places = sorted({place for line in made for place in line.x}, key=_order)
    numbers = all(map(_is_number, places))
    for number, line in enumerate(made):
        x = line.x if numbers else [places.index(place) for place in line.x]
        # One line may lie on another, which is seen through its gaps and about its smaller points.
        look = {"marker": MARKERS[number % len(MARKERS)], "linestyle": DASHES[number % len(DASHES)]}
        size = max(8.0 - 1.5 * number, 3.5)
        axes.errorbar(x, line.means, line.spreads, capsize=3, markersize=size, label=line.name, **look)
    axes.set_xlabel(axis)
    axes.set_ylabel(measure.replace("_", " "))
    if not numbers:
        axes.set_xticks(range(len(places)), places)
    else:
        if min(places) > 0 and max(places) >= 20 * min(places):
            axes.set_xscale("log")
        if len(places) <= TICKS:  # where there are runs
            axes.set_xticks(places, list(map(shown, places)))
            axes.minorticks_off()
    if bars := said_of_bars(made):
        axes.set_title(bars, fontsize="small", loc="left")
    if len(made) > 1:
        axes.legend(frameon=False)
    path = named(path)
    with complete_bytes(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)
    return path
