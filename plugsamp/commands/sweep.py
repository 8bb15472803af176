"""`plugsamp sweep`: the runs of a folder as one table, and as a figure."""

from __future__ import annotations

import contextlib
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.commands.targets import target
from plugsamp.errors import InputWarning
from plugsamp.sweeps.table import NAME, sweep_table
from plugsamp.sweeps.text import described, lacking


@dataclass
class Settings:
    """The options and their types; the values come from conf/sweep.yaml."""

    folder: str
    metric: str
    out: str | None
    overwrite: bool
    figure: str | None
    x: str | None
    by: str | list[str] | None


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    with contextlib.chdir(HydraConfig.get().runtime.cwd):
        folder = Path(settings.folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # it is an error at the end
            table = sweep_table(folder, settings.metric)
        path = figure = None
        if settings.out != "-":
            own = folder / NAME
            path = target("out", own if settings.out is None else settings.out, settings.overwrite, own)
        if settings.figure is not None:  # what is wrong with it is said before anything is written
            from plugsamp.sweeps.figure import draw, named

            target("figure", settings.figure, overwrite=True)
            figure = target("figure", named(settings.figure), settings.overwrite)
            if path is not None and figure.resolve() == path.resolve():
                raise ValueError(f"out and figure are the same file, {figure}")
            by = [settings.by] if isinstance(settings.by, str) else settings.by
            draw(table, figure, settings.x, by)
        if path is None:
            print(table.csv(), end="")
            if (what := lacking(table)) is not None:
                print(f"plugsamp sweep: {what}", file=sys.stderr)
        else:
            table.write(path)
            print(f"{described(table)}\n\ntable: {path}")
        if figure is not None and path is not None:
            print(f"figure: {figure}")
        if table.damaged:
            raise ValueError(f"{', '.join(table.damaged)}: damaged, and not read")


USAGE = """\
plugsamp sweep folder=FOLDER [OPTION=VALUE ...] [FLAG ...]

One table of all runs below a folder, the best first and those without an outcome last, with why: of a sweep
that was interrupted, that still runs, or of runs that were made one by one. And a figure of it."""

EXAMPLES = """\
  plugsamp sweep folder=multirun/2026-11-28/10-00-00-000000
  plugsamp sweep folder=mine metric=log_loss out=- > mine.csv
  plugsamp sweep folder=mine figure=mine.png x=n_topics by=loss"""

COMMAND = Command("sweep", "sweep", task, USAGE, EXAMPLES, ())
main = COMMAND.main
