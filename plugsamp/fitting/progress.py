"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping, Sequence

from plugsamp.brief import one_line

log = logging.getLogger(__name__)

#: Without a terminal: a line after so many seconds or sweeps, whichever is first; of the latter so many.
SECONDS, SWEEPS, LINES = 10.0, 10, 100


class Progress:
    """Takes the trace's rows as they come; use as a context manager.

    Parameters
    ----------
    sweeps : int
        How many are to come.
    n_tokens : int
    terminal : bool, optional
        Whether to draw a bar; by default, whether standard error is a terminal.
    say : callable, optional
        Takes the lines that are due, where there is no bar; by default they are the log's.
    """

    def __init__(self, sweeps: int, n_tokens: int, terminal: bool | None = None, say=None):
        self.sweeps = sweeps
        self._say = say
        self._every = max(SWEEPS, -(-sweeps // LINES))
        self.n_tokens = n_tokens
        self.terminal = sys.stderr.isatty() if terminal is None else terminal
        self.done = 0
        self._before = 0  # of these, in another process
        self._bar = None
        self._seconds = 0.0

    def __enter__(self) -> Progress:
        self._start = self._last = time.monotonic()
        if self.terminal:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("sweep {task.completed:.0f}/{task.total:.0f}"),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[what]}"),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            before = sys.stdout, sys.stderr
            self._bar.start()  # which puts others in their places, that write above it
            self._moved = [*_moved(before[0], sys.stdout), *_moved(before[1], sys.stderr)]
            self._task = self._bar.add_task("", total=self.sweeps, what="")
        return self

    def __exit__(self, *error) -> None:
        if self._bar is not None:
            for handler, stream in self._moved:
                handler.setStream(stream)
            self._bar.stop()

    def __call__(self, row: Mapping) -> None:
        """One sweep is done; `row` is its row of the trace."""
        self.done += 1
        self._seconds += row["seconds"]
        what, now = self.describe(row), time.monotonic()
        due = self.done % self._every == 0 or now - self._last >= SECONDS or self.done == self.sweeps
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, what=what)
            due = False
        left = (now - self._start) / (self.done - self._before) * (self.sweeps - self.done)
        line = f"sweep {self.done}/{self.sweeps}  {what}  {duration(left)} left"
        if due and self._say is not None:
            self._say(line)
        else:
            log.log(logging.INFO if due else logging.DEBUG, "%s", line)  # hydra.verbose=true has them all
        if due:
            self._last = now

    def resumed(self, rows: Sequence[Mapping]) -> None:
        """The rows before the checkpoint that a run goes on from."""
        self.done = self._before = len(rows)
        self._seconds = sum(row["seconds"] for row in rows)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)

    def describe(self, row: Mapping) -> str:
        """Speed so far, log joint and loss."""
        speed = self.n_tokens * self.done / max(self._seconds, 1e-9)
        return f"{quantity(speed)} tok/s  {figures(row)}"


def figures(row: Mapping) -> str:
    """Log joint and loss of a row of the trace."""
    parts = [f"log joint {row['log_joint']:.6g}"]
    if row.get("loss") is not None:
        parts.append(f"loss {row['loss']:z.4g}")
    return "  ".join(parts)


class Members:
    """Takes the rows of several models, each of which comes when it is done, and says so of each.

    Parameters
    ----------
    sweeps : int
    say : callable
        Takes a line.
    """

    def __init__(self, sweeps: int, say):
        self.sweeps, self._say = sweeps, say

    def __call__(self, row: Mapping) -> None:
        if row["sweep"] == self.sweeps:
            name = row.get("task", row.get("chain"))
            self._say(f"{one_line(str(name))}: sweep {self.sweeps}  {figures(row)}")


def _moved(before, now) -> list[tuple[logging.StreamHandler, object]]:
    """Handlers of the log that wrote to one stream write to another; with those that they had."""
    if now is before:
        return []
    found = [h for h in logging.getLogger().handlers if getattr(h, "stream", None) is before]
    for handler in found:
        handler.setStream(now)
    return [(handler, before) for handler in found]


def quantity(x: float) -> str:
    """1234567 -> '1.2M'."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if x >= size:
            return f"{x / size:.1f}{unit}"
    return f"{x:.0f}"


def duration(seconds: float) -> str:
    """75 -> '1m15s'."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02d}s"
    return f"{seconds // 3600}h{seconds % 3600 // 60:02d}m"
