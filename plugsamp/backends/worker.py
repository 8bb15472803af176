"""What a worker process does: take pieces until there are none."""

from __future__ import annotations

import contextlib
import pickle
import sys
import warnings
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle

import cloudpickle

from plugsamp.backends import counter, failures
from plugsamp.backends.shared import AttachedArena, Segment
from plugsamp.backends.transfer import unpacked

# What nearly every chain needs is imported once, before workers are forked.
from plugsamp.kernels import composed, dense  # noqa: F401
from plugsamp.losses import gaussian, hinge  # noqa: F401
from plugsamp.priors import hierarchical, horseshoe, normal  # noqa: F401
from plugsamp.sampling import phases as _phases


def serve(connection: Connection) -> None:
    """Do as the connection says until it is closed."""
    worker = _Worker(connection)
    try:
        while True:
            verb, *rest = pickle.loads(connection.recv_bytes())
            getattr(worker, verb)(*rest)
    except (EOFError, OSError):
        return


class _Worker:
    def __init__(self, connection: Connection):
        self.connection = connection
        self.arena = AttachedArena()
        self.phases: _phases.Phases | None = None
        self.broken: BaseException | None = None
        self.warned: list[tuple] = []
        warnings.simplefilter("always")  # the owner's filters decide
        warnings.showwarning = self._warned

    def attach(self, sizes: list[int], places: dict) -> None:
        """Map further segments of shared memory; their descriptors follow."""
        descriptors = [recv_handle(self.connection) for _ in sizes]
        try:
            for descriptor, size in zip(descriptors, sizes, strict=True):
                self.arena.segments.append(Segment(descriptor, size))
            self.arena.places.update(places)
        except BaseException as error:  # the next answer will say so
            self.broken = error

    def start(self, data: bytes) -> None:
        """Take the work of a chain."""
        try:
            self._check()
            self.phases = unpacked(data, self.arena).join(self.arena)
            self.counter = self.arena.array("pieces", 8, "int64")
            self._answer(None)
        except BaseException as error:
            self._answer(error)

    def run(self, phase: str, sweep: int, n: int, given: bytes) -> None:
        """Take pieces of a phase."""
        taken = []

        def pieces():
            while (piece := counter.take(self.counter)) < n:
                taken.append(piece)
                yield piece

        try:
            self._check()
            results = self.phases.run(phase, sweep, pieces(), unpacked(given, self.arena))
            self._answer(None, list(zip(taken, results, strict=True)))
        except BaseException as error:
            counter.put(self.counter, n)  # the others need not go on
            self._answer(error)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _answer(self, error: BaseException | None, results=()) -> None:
        report = None if error is None else failures.told(error)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):
                stream.flush()
        warned, self.warned = self.warned, []
        try:
            data = cloudpickle.dumps((report, results, warned))
        except Exception as problem:  # a result of a plugin that no process can be told
            data = cloudpickle.dumps((failures.told(problem), (), ()))
        self.connection.send_bytes(data)

    def _warned(self, message, category, filename, lineno, file=None, line=None):
        one = str(message), category, filename, lineno
        if one not in self.warned:
            self.warned.append(one)
