"""A figure of a sweep: its metric against an option, a line a value of others, averaged over the rest."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from plugsamp.registry import suggestion
from plugsamp.sweeps import status
from plugsamp.sweeps.table import SweepTable
from plugsamp.sweeps.text import shown_measures

#: The option that is averaged over unless it is asked for.
SEED = "seed"


@dataclass(frozen=True)
class Line:
    """The points of one line.

    Attributes
    ----------
    name : str
    x : list
        Ascending where they are numbers.
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
    rows = [row for row in table.rows if row["status"] == status.DONE]
    if not rows:
        raise ValueError("no run is done: there is nothing to draw")
    for name in (*([x] if x else ()), *(by or ())):
        if name not in table.options:
            raise ValueError(f"no run was given the option {name!r}{suggestion(name, table.options)}")
    measures = [table.metric] if table.metric in rows[0] else shown_measures(table)
    if len(measures) != 1:
        raise ValueError(f"{' and '.join(measures) or 'nothing'} is no one axis: choose one by metric=")
    x = x or _first_numbers(rows, table.varied)
    if by is None:
        by = [o for o in table.varied if o not in (x, SEED)]
    found: dict[str, dict] = {}
    for row in rows:
        if (value := row[measures[0]]) is not None:
            name = ", ".join(str(row[o]) if len(by) == 1 else f"{o}={row[o]}" for o in by)
            found.setdefault(name, {}).setdefault(row[x], []).append(value)
    if not found:
        raise ValueError(f"no run has a {measures[0]}")
    made = []
    for name in sorted(found):
        places = sorted(
            found[name], key=lambda v: (isinstance(v, str), v if isinstance(v, str) else float(v))
        )
        made.append(Line(name, places, [found[name][place] for place in places]))
    return x, measures[0], made


def _first_numbers(rows, options: Sequence[str]) -> str:
    numbers = [o for o in options if o != SEED and all(isinstance(r[o], int | float) for r in rows)]
    others = [o for o in options if o != SEED]
    if not (numbers or others):
        raise ValueError("all runs have the same options but for the seed: there is no axis to draw along")
    return (numbers or others)[0]


def draw(table: SweepTable, path, x: str | None = None, by: Sequence[str] | None = None) -> None:
    """Draw `lines` into a file, by matplotlib: means, with standard deviations as bars.

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
    for line in made:
        axes.errorbar(line.x, line.means, line.spreads, marker="o", capsize=3, label=line.name)
    axes.set_xlabel(axis)
    axes.set_ylabel(measure.replace("_", " "))
    places = [place for line in made for place in line.x]
    if all(isinstance(p, int | float) and p > 0 for p in places) and max(places) >= 20 * min(places):
        axes.set_xscale("log")
    if len(made) > 1:
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)
