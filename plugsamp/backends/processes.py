"""Worker processes on this machine that share the chain's arrays."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Literal

from plugsamp.backends import counter
from plugsamp.backends.base import Backend, Work
from plugsamp.backends.failures import WorkerDied
from plugsamp.backends.shared import SharedArena
from plugsamp.checks import whole
from plugsamp.sampling.adlda import SCHEMES
from plugsamp.system import cores
from plugsamp.system.arena import Arena

log = logging.getLogger(__name__)

#: More workers than this are refused: a slip of the finger.
MOST = 1024

#: Phases after which no more memory is looked for that large pages would suit.
SETTLED = 1024


class Processes(Backend):
    """Run the pieces of a sweep in worker processes, which take the next piece as they get free.

    Partially collapsed kernels give the same chain, to the bit, with any number of workers and as the serial
    backend. With the topics integrated out one worker does as well; several are an approximation (AD-LDA),
    which is announced, and depends on how many they are (`plugsamp.sampling.adlda`).

    Parameters
    ----------
    workers : int or "auto"
        How many; "auto" is the number of cores that this process may use, and of runs of a sweep at once each
        has its part of them. Where there are more workers than cores, as many as there are cores are at work
        and the others sleep: with all of them awake, they would only drive each other's tables out of the
        caches.
    folder : str, optional
        Keep the shared arrays in files (without a name) in this folder, for chains larger than memory is
        comfortable with. By default they are in memory, and in the folder for temporary files where memory
        is short.
    collapsed : {"auto", "rotation", "copies"}
        How several workers go about a kernel that has the topics integrated out: in turn at parts of the
        words, so that nothing but the topics' totals is behind; or each with a copy of all counts. "auto"
        rotates where the kernel can.

    Notes
    -----
    BLAS has one thread in each worker. Where no processes can be started, the work is done in this one, with
    the same numbers, and a warning.

    Examples
    --------
    >>> import numpy as np, plugsamp as ps
    >>> corpus = ps.Corpus.from_counts(np.array([[3, 0, 1], [0, 2, 2]]))
    >>> kernel = ps.kernels.SparsePCLDA()
    >>> with ps.Chain(corpus, ps.Model(2), kernel, backend=ps.backends.Processes(workers=2)) as chain:
    ...     z = chain.run(5).z
    >>> bool((z == ps.Chain(corpus, ps.Model(2), kernel).run(5).z).all())
    True
    """

    parallel = True

    def __init__(
        self,
        workers: int | Literal["auto"] = "auto",
        folder: str | None = None,
        collapsed: Literal["auto", "rotation", "copies"] = "auto",
    ):
        if collapsed not in ("auto", *SCHEMES):
            raise ValueError(f"collapsed must be auto, {' or '.join(SCHEMES)}, not {collapsed!r}")
        self.collapsed = collapsed
        if workers != "auto":
            workers = whole("workers", workers, 1, MOST)
        self.workers = workers
        if folder is not None and not os.path.isdir(folder):
            raise ValueError(f"folder must be a folder that exists, not {folder!r}")
        self.folder = folder

    def open(self, partial: bool) -> Work:
        n = self.workers
        if n == "auto":
            n = cores.own() if partial else 1
        return InProcesses(n, self.folder, 1 if partial else n, self.collapsed)


class InProcesses(Work):
    """`Processes` at work for one chain."""

    def __init__(self, n: int, folder: str | None, groups: int = 1, scheme: str = "auto"):
        self.groups, self.scheme = groups, scheme
        self.n = n
        self.workers = min(n, cores.all_cores())  # the others sleep; who does a piece is all the same
        self._owner = os.getpid()
        # where nothing can be forked (Windows), nothing of what follows is there either
        self.arena = SharedArena(folder) if hasattr(os, "fork") else Arena()
        self._pieces = self.arena.array("pieces", 8, "int64")
        self._crew = self._failed = self.phases = None
        self._ready = self._here = False
        self._runs = 0
        self._open()  # they start while the chain's arrays are made

    def _open(self) -> None:
        try:
            if not hasattr(os, "fork"):
                raise OSError(f"not on {sys.platform}")
            from plugsamp.backends.crew import Crew

            self._crew = Crew(self.n)
        except OSError as error:
            self._stay(error)

    def _stay(self, error: OSError) -> None:
        """Work in this process."""
        self._here, self._crew = True, None
        warnings.warn(
            f"no worker processes can be started here ({error}); the work is done in this process, with the "
            "same numbers",
            RuntimeWarning,
            stacklevel=2,
        )

    def check(self) -> None:
        if os.getpid() != self._owner:  # a fork shares the arrays, and would change them under the owner
            raise RuntimeError(
                f"this chain is that of process {self._owner}, which process {os.getpid()} was forked from: "
                "make a chain here, and load what the other has saved"
            )
        if self._failed is not None:
            raise WorkerDied(f"this chain has ended: {self._failed}")

    def start(self, phases) -> None:
        self.phases = phases
        self._prepare()
        log.info("%s", str(self))  # whoever keeps the line does not keep the workers

    def _prepare(self) -> None:
        """Have workers that know the chain."""
        self.check()
        if self._here or self._ready:
            return
        if self._crew is None or self._crew.closed:
            self._open()
        if self._here:
            return
        from plugsamp.backends.transfer import packed

        try:
            self._crew.attach(self.arena)
            self._crew.tell(("start", packed(self.phases, self.arena)), self.n, "starting")
        except BlockingIOError as error:
            self._stay(error)
            return
        except BaseException:
            self.close()
            raise
        self._ready = True

    def run(self, phase: str, sweep: int, n: int, **given) -> list:
        self._prepare()
        if self._here or (n == 1 and not self.phases.sampled(phase)):
            return self.phases.run(phase, sweep, range(n), given)
        from plugsamp.backends.transfer import packed

        self._crew.attach(self.arena)
        counter.put(self._pieces, 0)
        message = ("run", phase, sweep, n, packed(given, self.arena))
        try:
            answers = self._crew.tell(
                message, min(n, self.workers), f'at "{phase}" of sweep {sweep}',
                lambda: counter.put(self._pieces, n),
            )  # fmt: skip
        except WorkerDied as error:
            self._failed = error
            raise
        finally:
            self._ready = not self._crew.closed
        self._runs += 1
        if self._runs <= SETTLED and self._runs & (self._runs - 1) == 0:  # what will be in use soon is
            self.arena.gather()
        results = [None] * n
        for answer in answers:
            for piece, result in answer:
                results[piece] = result
        return results

    def look(self, phase: str, sweep: int, n: int) -> list:
        if self._ready:
            return self.run(phase, sweep, n)
        return self.phases.run(phase, sweep, range(n), {})

    @property
    def pids(self) -> list[int | None]:
        """Of the workers; empty where there are none."""
        return self._crew.pids if self._ready else []

    def close(self) -> None:
        if self._crew is not None:
            self._crew.close()
        self._ready = False

    def __str__(self) -> str:
        if self._here:
            return "this process"
        where = " and ".join(self.arena.carriers)
        if self.arena.folder is not None:
            where += f" in {self.arena.folder}"
        size = f"{self.arena.size / 2**20:,.0f} MB"
        at_once = f", {self.workers} at a time" * (self.workers < self.n)
        return f"{self.n} worker process{'es' * (self.n > 1)}{at_once}, {size} of shared arrays in {where}"
