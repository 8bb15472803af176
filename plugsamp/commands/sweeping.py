"""A call with --multirun: what its parent process plans, what its jobs know of it, and its table at the end.

The jobs may run in other processes and on other machines (launchers): they get this by pickling, and all that
comes back is what they write into their run folders.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from omegaconf import DictConfig, OmegaConf

from plugsamp.checkpoint.signals import SIGNALS, Sent
from plugsamp.commands import plan
from plugsamp.errors import Interrupted
from plugsamp.files.lock import Lock
from plugsamp.files.whole import read_object, write_json
from plugsamp.fitting.runfolder import CONFIG, holds_run
from plugsamp.sweeps import metric as metrics_by_name
from plugsamp.sweeps.status import DONE, KILLED, RUNNING, STATUS, status_of
from plugsamp.sweeps.table import NAME, NOT_STARTED, PLAN, SweepTable, jobs_of
from plugsamp.system import cores
from plugsamp.system.parents import Roll, at_work, end_with

log = logging.getLogger(__name__)

#: Seconds that jobs have to end their sweep and write a checkpoint.
PATIENCE = 60.0


#: The lock of a sweep folder; that of a run folder is its run's, which may be in the same place.
LOCK = ".sweep.lock"


class Completed(Exception):
    """The sweep has options now that it lacked, and is to be composed again with them."""


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
    again : bool
        Whether jobs that the launcher has not begun by its end never will.
    joblib : bool
        Whether these are joblib's.
    lenient : bool
        Whether a job that fails says so by its status alone: Hydra's own sweeper would end with the batch.
    metric : str
        What the table is sorted by.
    options : list of str
        Overrides of Hydra's configuration that complete what was given.
    broken : bool
        Whether the launcher has ended before its jobs.
    postponing : bool
        Whether jobs that were killed wait until all others have had their turn.
    told : bool
        Whether jobs that are there twice have been told of.
    process : int
        The process that called.
    roll : Roll or None
        In that process, which jobs joblib's processes are at; `ticket` is what they take of it.
    lock : Lock or None
        Of the sweep's folder, in the process that called.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    folder: str | None = None
    planned: list[tuple[str, ...]] | None = None
    at_once: int = 1
    elsewhere: bool = False
    again: bool = False
    joblib: bool = False
    lenient: bool = False
    metric: str = metrics_by_name.MAIN
    options: list[str] = field(default_factory=list)
    broken: bool = False
    postponing: bool = False
    told: bool = False
    process: int = field(default_factory=os.getpid)
    roll: Roll | None = None
    ticket: tuple | None = None
    lock: Lock | None = None

    def __getstate__(self) -> dict:
        return {**vars(self), "lock": None, "roll": None}  # jobs in other processes do not hold them

    def rounds(self, once: Callable[[], int], tell: Callable[[str], None]) -> int:
        """Do the sweep; once more where the launcher has broken off, as long as that gets further.

        A process that is killed takes those beside it along, and all that had yet to begin. Jobs that
        never began come first, then those that were killed, from their checkpoints.
        """
        code = once()
        while (self.broken or self.postponing) and self.planned is not None and self.again:
            before = self._progress()
            self.postponing = before[0] > 0
            self.broken = False
            tell(f"going on with the runs that {'have not begun' if self.postponing else 'were killed'}")
            code = once()
            if self._progress() == before:
                break
        return code

    def _progress(self) -> tuple[int, int]:
        """How many jobs have not begun, and how many are done, once none is running."""
        while True:
            found = [job.status for job in jobs_of(Path(self.folder))]
            if RUNNING not in found:
                return found.count(NOT_STARTED), found.count(DONE)
            time.sleep(0.5)

    @contextlib.contextmanager
    def patient(self, tell: Callable[[str], None]):
        """While inside, a signal that ends the sweep lets joblib's jobs write their checkpoints first.

        Ctrl-C reaches them as well as this process, whose launcher would kill them at once; other signals are
        passed on. A second one is not waited for.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ended(number, frame):
            first = Sent(number)

            def again(number, frame):
                if not first.again(number):
                    restore()
                    signal.raise_signal(number)

            for one in taken:
                signal.signal(one, again)
            if self.joblib and self.folder is not None:
                tell("the runs write their checkpoints; once more ends them at once")
                self._await_end(number)
            raise Interrupted("interrupted", number)

        def restore():
            for number, handler in taken.items():
                signal.signal(number, handler)

        before = {number: signal.getsignal(number) for number in SIGNALS}
        ours = (signal.default_int_handler, signal.SIG_DFL)
        taken = {number: handler for number, handler in before.items() if handler in ours}
        for number in taken:
            signal.signal(number, ended)
        try:
            yield
        finally:
            restore()

    def _await_end(self, number: int) -> None:
        """Wait until the jobs that run now have ended, or for as long as a sweep may take."""
        running = [job for job in jobs_of(Path(self.folder)) if job.status == RUNNING]
        if number != signal.SIGINT:
            for job in running:
                with contextlib.suppress(OSError, KeyError, TypeError):
                    os.kill(job.record["process"], number)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if all(status_of(Path(self.folder) / job.folder)[0] != RUNNING for job in running):
                return
            time.sleep(0.1)

    def postpones(self, folder: Path) -> bool:
        """Whether the job of this folder is to wait."""
        return self.postponing and status_of(folder)[0] == KILLED

    def begin(self, config: DictConfig) -> None:
        """Look at the composed configuration, before the sweeper does.

        Raises
        ------
        ValueError
            It cannot come to anything.
        Completed
        """
        known = len(self.options)
        hydra = config.hydra
        plan.check_compared(list(hydra.overrides.task), hydra.sweeper.get("params"))
        self.metric = str(config.get("metric") or metrics_by_name.MAIN)
        higher = metrics_by_name.higher_is_better(self.metric)
        folder = Path(os.path.abspath(str(hydra.sweep.dir)))
        below = OmegaConf.to_container(hydra.sweep, resolve=False).get("subdir") not in (None, "", ".")
        one = (folder / STATUS).exists() or ((folder / CONFIG).exists() and holds_run(folder))
        if below and one:
            raise ValueError(
                f"{hydra.sweep.dir} is the folder of one run, and not for those of a sweep; choose another "
                "hydra.sweep.dir"
            )
        self.lenient = _class_of(hydra.sweeper) == "BasicSweeper"
        if self.lenient:
            with contextlib.suppress(Exception):  # whatever is wrong with them, the sweeper will say it
                self.planned = plan.jobs(list(hydra.overrides.task), hydra.sweeper.get("params"))
        plan.check_metric(config, self.planned)
        if self.lock is None:
            self._own(folder)
        self.folder = str(folder)
        self._direct(hydra, higher)
        self._count(hydra)
        if len(self.options) > known:
            raise Completed
        if self.told:
            return
        self.told = True
        if self.planned and (twice := plan.twice(list(hydra.overrides.task))) is not None:
            log.warning(
                "the sweep has %s more than once; what has the same seed too is the same run again, no other "
                "draw (seed=0,1 runs all with two seeds)", twice,
            )  # fmt: skip

    def _own(self, folder: Path) -> None:
        """Take the lock of the sweep's folder, before Hydra or a job writes there.

        Raises
        ------
        Locked
        """
        there = folder.exists()
        lock = Lock(folder, LOCK)
        try:
            lock.__enter__()
        except OSError:  # a folder that cannot be made or written: the sweeper says so
            if not there:
                _remove_empty(folder)
            return
        self.lock = lock

    def release(self) -> None:
        """Give the lock of the folder away, and the folder where nothing is in it."""
        if self.roll is not None:
            self.roll.__exit__()
            self.roll = None
        if self.lock is None:
            return
        self.lock.__exit__()
        self.lock = None
        _remove_empty(Path(self.folder))

    def _direct(self, hydra: DictConfig, higher: bool) -> None:
        """Have a search go for the better values, and refuse to let it go for the worse ones."""
        if "direction" not in hydra.sweeper:
            return
        direction, right = hydra.sweeper.direction, "maximize" if higher else "minimize"
        if direction is None:
            self.options.append(f"hydra.sweeper.direction={right}")
            if hydra.sweeper.get("sampler", {}).get("seed", 0) is None:  # the same search again
                self.options.append("hydra.sweeper.sampler.seed=0")
        elif getattr(direction, "name", direction) in {"maximize", "minimize"} - {right}:
            raise ValueError(
                f"hydra.sweeper.direction would have the search go for the worst: of metric={self.metric} "
                f"{'more' if higher else 'less'} is better, {right}"
            )

    def _count(self, hydra: DictConfig) -> None:
        """How many jobs run at once here."""
        launcher, sweeper = _class_of(hydra.launcher), hydra.sweeper
        self.elsewhere = launcher != "BasicLauncher"
        self.joblib = launcher == "JoblibLauncher"
        self.again = launcher in ("JoblibLauncher", "LocalLauncher")
        batch = len(self.planned) if self.planned is not None else 0
        limit = sweeper.get("max_batch_size") if self.lenient else sweeper.get("n_jobs")
        if isinstance(limit, int) and limit > 0:
            batch = min(batch, limit) if batch else limit
        if self.joblib:
            n = hydra.launcher.get("n_jobs")
            n = 1 if n is None else int(n)
            n = max(cores.all_cores() + 1 + n, 1) if n < 0 else n
            self.at_once = max(min(n, batch) if batch else n, 1)
            if self.roll is None:
                self.roll = Roll().__enter__()
                self.ticket = self.roll.ticket
        elif launcher == "LocalLauncher":  # submitit starts all jobs of a batch
            if self.lenient and not isinstance(limit, int) and batch > cores.all_cores():
                batch = cores.all_cores()
                self.options.append(f"hydra.sweeper.max_batch_size={batch}")
                log.info("batches of %d runs, one a core (hydra.sweeper.max_batch_size)", batch)
            self.at_once = max(batch, 1)
        if self.at_once > cores.all_cores():
            log.warning("%d runs at once have %d cores to share", self.at_once, cores.all_cores())

    @contextlib.contextmanager
    def job(self):
        """A job of the sweep, in whatever process."""
        global _current
        ticket = None
        if self.joblib and os.getpid() != self.process:
            end_with(self.process)
            ticket = self.ticket
        self._note()
        before, _current = _current, self
        try:
            with at_work(ticket, int(HydraConfig.get().job.num)), cores.shared_by(self.at_once):
                yield
        finally:
            _current = before

    def died_in(self) -> str:
        """What to add to a launcher's error of a dead process: the run that it was at."""
        lost = () if self.roll is None else self.roll.await_lost()
        return f" (in run {', '.join(map(str, lost))})" if lost else ""

    def _note(self) -> None:
        """Write down what the sweep is to consist of, once it has begun."""
        path = Path(self.folder) / PLAN
        if self.planned is not None and read_object(path).get("sweep") != self.id:
            with contextlib.suppress(OSError):  # the job will say what is wrong with the folder
                write_json(path, {"sweep": self.id, "jobs": self.planned})


_current: Sweep | None = None


def current() -> Sweep | None:
    """The sweep that the job of this process belongs to."""
    return _current


@contextlib.contextmanager
def awaiting(sweep: Sweep | None):
    """While inside, `sweep` is told of the configuration of a multirun before Hydra's sweeper is.

    Of a callback in the configuration Hydra makes an object by ``_target_``, which 1.5 will refuse, and of
    what that raises a warning; so the method that makes the sweeper is asked.
    """
    plugins = Plugins.instance()
    make = plugins.instantiate_sweeper

    def instantiate_sweeper(*, config: DictConfig, **more):
        del plugins.instantiate_sweeper  # launchers pickle it
        sweep.begin(config)
        return make(config=config, **more)

    if sweep is not None:
        plugins.instantiate_sweeper = instantiate_sweeper
    try:
        yield
    finally:
        vars(plugins).pop("instantiate_sweeper", None)


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


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _class_of(node) -> str:
    target = node.get("_target_") if OmegaConf.is_dict(node) else None
    return str(target).rpartition(".")[2]
