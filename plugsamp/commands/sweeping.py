"""A call with --multirun: what its parent process plans, what its jobs know of it, and its table at the end.

The jobs may run in other processes and on other machines (launchers): they get this by pickling, and all that
comes back is what they write into their run folders.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from plugsamp import cores
from plugsamp.runfolder import write_json
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.sweeps.status import read
from plugsamp.sweeps.table import NAME, PLAN, SweepTable, jobs_of

log = logging.getLogger(__name__)


class Refused(SystemExit):
    """A sweep that is not begun. No `Exception`: Hydra makes warnings of those that callbacks raise."""


@dataclass
class Sweep:
    """One call with --multirun.

    Attributes
    ----------
    id : str
    folder : str or None
        Absolute; None until Hydra has composed the configuration.
    planned : list of tuple of str, or None
        The options of each job, where they are known beforehand.
    at_once : int
        How many jobs run at the same time on this machine.
    elsewhere : bool
        Whether jobs run in other processes than this.
    lenient : bool
        Whether a job that fails tells so by its status alone: Hydra's own sweeper would begin no further batch.
    metric : str
        What the table is sorted by.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    folder: str | None = None
    planned: list[tuple[str, ...]] | None = None
    at_once: int = 1
    elsewhere: bool = False
    lenient: bool = False
    metric: str = metrics_by_name.MAIN

    def begin(self, config: DictConfig) -> None:
        """Look at the composed configuration, before the sweeper does.

        Raises
        ------
        Refused
        """
        hydra = config.hydra
        self.metric = str(config.get("metric") or metrics_by_name.MAIN)
        try:
            higher = metrics_by_name.higher_is_better(self.metric)
        except ValueError as error:
            raise Refused(str(error)) from None
        self.folder = os.path.abspath(str(hydra.sweep.dir))
        self.lenient = _class_of(hydra.sweeper) == "BasicSweeper"
        if self.lenient:
            with contextlib.suppress(Exception):  # whatever is wrong with them, the sweeper will say it
                self.planned = planned_jobs(list(hydra.overrides.task), hydra.sweeper.get("params"))
        self._check_direction(hydra.sweeper, higher)
        self._count(hydra)

    def _check_direction(self, sweeper: DictConfig, higher: bool) -> None:
        """Refuse to search for the worst."""
        direction = sweeper.get("direction") if "direction" in sweeper else None
        name = str(getattr(direction, "name", direction))
        if (name == "minimize" and higher) or (name == "maximize" and not higher):
            raise Refused(
                f"hydra.sweeper.direction={name} would look for the worst: of metric={self.metric} "
                f"{'more' if higher else 'less'} is better"
            )

    def _count(self, hydra: DictConfig) -> None:
        """How many jobs run at once here."""
        launcher, sweeper = _class_of(hydra.launcher), hydra.sweeper
        self.elsewhere = launcher != "BasicLauncher"
        batch = len(self.planned) if self.planned is not None else 0
        limit = sweeper.get("max_batch_size") if self.lenient else sweeper.get("n_jobs")
        if isinstance(limit, int) and limit > 0:
            batch = min(batch, limit) if batch else limit
        if launcher == "JoblibLauncher":
            n = hydra.launcher.get("n_jobs")
            n = 1 if n is None else int(n)
            n = max(cores.all_cores() + 1 + n, 1) if n < 0 else n
            self.at_once = max(min(n, batch) if batch else n, 1)
        elif launcher == "LocalLauncher":  # submitit starts all jobs of a batch
            if self.lenient and not isinstance(limit, int) and batch > cores.all_cores():
                batch = cores.all_cores()
                with read_write(hydra), open_dict(hydra):
                    sweeper.max_batch_size = batch
                log.info("batches of %d runs, one a core (hydra.sweeper.max_batch_size)", batch)
            self.at_once = max(batch, 1)
        if self.at_once > cores.all_cores():
            log.warning("%d runs at once have %d cores to share", self.at_once, cores.all_cores())

    @contextlib.contextmanager
    def job(self):
        """A job of the sweep, in whatever process."""
        global _current
        self._note()
        before, _current = _current, self
        try:
            with cores.shared_by(self.at_once):
                yield
        finally:
            _current = before


    def _note(self) -> None:
        """Write down what the sweep is to consist of, once it has begun."""
        path = Path(self.folder) / PLAN
        if self.planned is not None and read(path).get("sweep") != self.id:
            with contextlib.suppress(OSError):  # the job will say what is wrong with the folder
                write_json(path, {"sweep": self.id, "jobs": self.planned})


_current: Sweep | None = None


def current() -> Sweep | None:
    """The sweep that the job of this process belongs to."""
    return _current


@contextlib.contextmanager
def awaiting(sweep: Sweep):
    """While inside, a multirun that Hydra starts is `sweep`."""
    global _awaited
    before, _awaited = _awaited, sweep
    try:
        yield
    finally:
        _awaited = before


_awaited: Sweep | None = None


class SweepBegins(Callback):
    """Tells `Sweep` of the configuration; named in conf/config.yaml, since Hydra says it to nobody else."""

    def on_multirun_start(self, config: DictConfig, **more) -> None:
        if _awaited is not None:
            _awaited.begin(config)


def planned_jobs(arguments: list[str], params=None) -> list[tuple[str, ...]]:
    """The overrides of every job that Hydra's own sweeper makes of the arguments of a sweep."""
    extra = [f"{key}={value}" for key, value in (params or {}).items()]
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    choices: dict[str, list[str]] = {}
    for override in parser.parse_overrides([*extra, *arguments]):
        key = override.get_key_element()
        if override.is_sweep_override():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
        else:
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
    return list(itertools.product(*choices.values()))


def finish(sweep: Sweep) -> tuple[str | None, int]:
    """Write sweep.csv and print the table; returns what is to be said of failures, and the exit code."""
    from plugsamp.sweeps.text import described

    root = Path(sweep.folder)
    jobs = jobs_of(root, sweep.id) if root.is_dir() else []
    if not jobs:
        return None, 0
    table = SweepTable(jobs, sweep.metric)
    path = root / NAME
    table.write(path)
    print(f"{described(table)}\n\nsweep folder: {root}, its table: {path.name}")
    failed = table.failed
    if not failed:
        return None, 0
    said = f"{len(failed)} of {len(table)} runs have no outcome"
    if all(job.mistake for job in failed):  # it would come to the same again
        return said, 2
    return f"{said}; the same command with hydra.sweep.dir={root} does those, and leaves the others alone", 1


def _class_of(node) -> str:
    target = node.get("_target_") if OmegaConf.is_dict(node) else None
    return str(target).rpartition(".")[2]
