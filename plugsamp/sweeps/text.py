"""The table of a sweep as text, for a terminal or a log."""

from __future__ import annotations

from plugsamp.brief import clipped, one_line
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.sweeps import status as statuses
from plugsamp.sweeps.table import OF_ALL, SweepTable

#: Values of options are cut to so many characters.
WIDEST = 40

#: Errors to so many.
LONGEST = 300


def described(table: SweepTable) -> str:
    """What differs between jobs, their metric, time, status and folder; then the errors of failed ones."""
    same = [o for o in table.options if o not in table.varied]
    first = table.rows[0]
    lines = []
    if same:
        lines += ["all: " + " ".join(f"{o}={_text(first[o])}" for o in same), ""]
    columns = [*table.varied, *shown_measures(table), "seconds", "status", "folder"]
    measures = {*table.measures, *OF_ALL}
    by_column = [_column(name, [row[name] for row in table.rows], name in measures) for name in columns]
    cells = list(zip(*by_column, strict=True))
    widths = [max(len(text) for text in column) for column in zip(columns, *cells, strict=True)]
    right = [all(_is_number(row[name]) or row[name] is None for row in table.rows) for name in columns]
    for texts in (columns, *cells):
        padded = (
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(texts, widths, right, strict=True)
        )  # fmt: skip
        lines.append("  ".join(padded).rstrip())
    for job, row in zip(table.jobs, table.rows, strict=True):
        if job.error:
            what = job.folder or " ".join(f"{o}={_text(row[o])}" for o in table.varied)
            error = (job.error.strip().splitlines() or [""])[0]
            lines.append(f"{one_line(what)}: {clipped(one_line(error), LONGEST)}")
    if (what := lacking(table)) is not None:
        lines += ["", what]
    return "\n".join(lines)


def lacking(table: SweepTable) -> str | None:
    """What to say where no run that is done has the metric; None where one has it, or none is done."""
    done = [job.metrics for job in table.jobs if job.status == statuses.DONE]
    if not done or any(metrics_by_name.value(one, table.metric) is not None for one in done):
        return None
    there = list(dict.fromkeys(name for one in done for name in metrics_by_name.measures(one)))
    return f"no run has {table.metric}; they have {', '.join(there) or 'no measure'}"


def shown_measures(table: SweepTable) -> list[str]:
    """The measures that the table is sorted by: what metric=main stands for may differ between jobs."""
    if table.metric != metrics_by_name.MAIN:
        there = [*table.measures, *OF_ALL]
        return [table.metric] if table.metric in there and table.metric != "seconds" else []
    mains = {job.metrics.get("main_name") for job in table.jobs}
    return [name for name in table.measures if name in mains]


def _column(name: str, values: list, measure: bool) -> list[str]:
    """Values as text: numbers to four digits, of a measure all to the decimals of the one with most."""
    form = ".1f" if name == "seconds" else ".4g"
    if measure and form == ".4g":
        texts = [f"{v:.4g}" for v in values if isinstance(v, float)]
        decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
        form = ".3e" if any("e" in text for text in texts) else f".{decimals}f"
    return [_shown(value, form) for value in values]


def _shown(value, form: str) -> str:
    if value is None:
        return ""
    return format(value, form) if isinstance(value, float) else _text(value)


def _text(value) -> str:
    return clipped(one_line(str(value)), WIDEST)


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
