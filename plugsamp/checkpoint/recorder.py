"""What a fit holds of its checkpoints: when one is due, and what happens where it cannot be written."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack
from pathlib import Path

from plugsamp.checkpoint.generations import Generations, InProcess
from plugsamp.checkpoint.options import Checkpoints
from plugsamp.checkpoint.signals import Stop
from plugsamp.errors import Interrupted
from plugsamp.files.lock import Lock
from plugsamp.files.storage import MANIFEST, StorageError
from plugsamp.sampling.identity import check_same, check_surroundings, surroundings

log = logging.getLogger(__name__)


class Recorder:
    """The checkpoints of one fit; a context manager that holds the folder's lock and takes signals.

    A checkpoint that cannot be written (a full disk, a folder that has become read-only) does not end the
    run: it is said once, and once more when it works again or the run is done. Those before it stay.

    Parameters
    ----------
    options : Checkpoints
    resume : bool
        Go on from what is in the folder; otherwise there must be nothing.
    """

    def __init__(self, options: Checkpoints, resume: bool = False):
        self.options, self.resume = options, resume
        self.generations = Generations(options.folder) if options.on_disk else InProcess(options.states)
        self.where = options.folder if options.on_disk else "the chain of the last fit"
        self.stop = Stop()
        #: Sweep of the last checkpoint, None before the first.
        self.written: int | None = None
        self._failure: str | None = None

    def __enter__(self) -> Recorder:
        with ExitStack() as stack:
            if self.options.on_disk:
                stack.enter_context(Lock(self.options.folder))
                self.generations.clean()
                if not self.resume and self.generations:
                    raise ValueError(
                        f"{self.options.folder} holds a checkpoint: resume=True goes on from it, another "
                        "folder leaves it as it is"
                    )
                stack.enter_context(self.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._stack.close()
        if isinstance(error, ArithmeticError):
            if self.written is None:
                log.warning("no checkpoint had been written")
            else:
                log.warning(
                    "the last checkpoint, of sweep %d, stands in %s", self.written, self.options.folder
                )

    def load(self, identity: dict):
        """Arrays and content of the last checkpoint, if the run goes on from one; otherwise None.

        Raises
        ------
        StorageError
            It belongs to another run, needs a plugin that is not installed, or cannot be read.
        """
        found = self.generations.newest() if self.resume else None
        if found is None:
            if self.options.on_disk and (Path(self.options.folder) / MANIFEST).exists():
                raise StorageError(f"{self.options.folder} holds a model or a chain, not checkpoints")
            return None
        content = found[1]
        try:
            check_surroundings(content["made_with"], self.where)
            check_same(content["identity"], identity, self.where)
        except KeyError as error:
            raise StorageError(f"{self.where} is incomplete: it lacks {error}") from None
        self.written = int(content["sweep"])
        return found

    def begin(self, identity: dict, sweeps: int) -> None:
        """Sampling begins, with the start's sweeps: from now on a signal waits for the end of a sweep."""
        self.identity, self.sweeps = identity, sweeps
        self._last_time = time.monotonic()
        self._last_sweep = self.written or 0
        self.stop.patient = (self.written or 0) < sweeps  # what follows the last sweep can be repeated

    def after(self, run) -> None:
        """Write what is due after a sweep of the run or of its start; end the run after a signal.

        Raises
        ------
        Interrupted
        """
        sweep, stopped = run.sweep, self.stop.requested
        last = sweep == self.sweeps
        if last or stopped is not None or self._due(sweep):
            self._write(run)
        if last:
            self.stop.patient = False  # what follows can be made again
        if stopped is not None:
            if self.written == sweep and self._failure is None:
                kept = f"the checkpoint in {self.options.folder} holds it all"
            else:
                stands = (
                    "there is none" if self.written is None else f"the last, of sweep {self.written}, stands"
                )
                kept = f"the checkpoint could not be written ({self._failure}); {stands}"
            done = f"{sweep} of {self.sweeps} sweeps"
            if run.starting is not None:
                done = f"sweep {run.starting.sweep} of the start"
            raise Interrupted(f"interrupted after {done}; {kept}", stopped, sweep)

    def finish(self) -> None:
        """The fit is done: one checkpoint is enough, or none."""
        if not self.options.keep:
            self.generations.clear()
        elif self._failure is None:
            self.generations.keep_last()

    def _due(self, sweep: int) -> bool:
        if not self.options.on_disk:
            return False
        by_sweeps = self.options.sweeps is not None and sweep - self._last_sweep >= self.options.sweeps
        minutes = self.options.minutes
        return by_sweeps or (minutes is not None and time.monotonic() - self._last_time >= 60 * minutes)

    def _write(self, run) -> None:
        if self.written == run.sweep and run.starting is None:
            return
        # a failure counts too: a disk that is full is not tried again at once
        self._last_time, self._last_sweep = time.monotonic(), run.sweep
        try:
            arrays, content = run.capture()
            content |= {"identity": self.identity, "made_with": surroundings(run.chain)}
            self.generations.write(run.sweep, arrays, content)
        except (OSError, StorageError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if reason != self._failure:
                stands = (
                    "there is none yet" if self.written is None else f"that of sweep {self.written} stands"
                )
                log.warning(
                    "sweep %d: no checkpoint could be written in %s (%s); %s, and the run goes on",
                    run.sweep, self.options.folder, reason, stands,
                )  # fmt: skip
            self._failure = reason
            return
        if self._failure is not None:
            log.warning("sweep %d: checkpoints can be written again", run.sweep)
        self._failure, self.written = None, run.sweep
