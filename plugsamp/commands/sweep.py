"""`plugsamp sweep`: the runs of a folder as one table, and as a figure."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plugsamp.commands.command import Command
from plugsamp.commands.settings import settings_of
from plugsamp.sweeps.table import NAME, sweep_table
from plugsamp.sweeps.text import described


@dataclass
class Settings:
    """The options and their types; the values come from conf/sweep.yaml."""

    folder: str
    metric: str
    out: str | None
    figure: str | None
    x: str | None
    by: str | list[str] | None


def task(config: DictConfig) -> None:
    from hydra.core.hydra_config import HydraConfig

    settings = settings_of(Settings, config)
    with contextlib.chdir(HydraConfig.get().runtime.cwd):
        folder = Path(settings.folder)
        table = sweep_table(folder, settings.metric)
        if settings.figure is not None:  # what is wrong with it is said before anything is written
            from plugsamp.sweeps.figure import draw

            by = [settings.by] if isinstance(settings.by, str) else settings.by
            draw(table, settings.figure, settings.x, by)
        if settings.out == "-":
            print(table.csv(), end="")
            return
        path = folder / NAME if settings.out is None else Path(settings.out)
        table.write(path)
        print(f"{described(table)}\n\ntable: {path}")
        if settings.figure is not None:
            print(f"figure: {settings.figure}")


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
