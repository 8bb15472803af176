"""Worker processes as the chain's process sees them."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import selectors
import subprocess
import time
import warnings
import weakref
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle

from plugsamp.backends import failures
from plugsamp.backends.failures import WorkerDied
from plugsamp.backends.nursery import Nursery
from plugsamp.backends.shared import SharedArena
from plugsamp.errors import Interrupted

log = logging.getLogger(__name__)

#: Seconds to wait for word of how a process ended that is known to have ended.
_LAST_WORD = 2.0

#: Seconds without an answer after which that is said, once a phase: something hangs, or has been stopped.
SLOW = 300.0


class Crew:
    """Some workers, idle until they are told.

    Parameters
    ----------
    n : int

    Raises
    ------
    OSError
        Processes cannot be started here.
    """

    def __init__(self, n: int):
        self._nursery = Nursery()
        self._connections: list[Connection] = []
        self._pids: list[int | None] = [None] * n
        self._ends = weakref.finalize(self, _end, os.getpid(), self._nursery, self._connections, self._pids)
        self._status: dict[int, int] = {}
        self._refused: str | None = None
        self._attached = 0  # segments that the workers have
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._nursery.control, selectors.EVENT_READ, -1)
        try:
            for number in range(n):
                connection = self._nursery.fork()
                self._connections.append(connection)
                self._selector.register(connection, selectors.EVENT_READ, number)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._pids)

    @property
    def pids(self) -> list[int | None]:
        """Of the workers, as far as they have started."""
        return list(self._pids)

    def attach(self, arena: SharedArena) -> None:
        """Let the workers map what the arena has that they do not have yet."""
        new = arena.segments[self._attached :]
        if not new:
            return
        message = pickle.dumps(("attach", [segment.size for segment in new], arena.places))
        try:
            for number, connection in enumerate(self._connections):
                with self._alive(number):
                    connection.send_bytes(message)
                    for segment in new:
                        send_handle(connection, segment.descriptor, 0)
        except BaseException:
            self.close()
            raise
        self._attached += len(new)

    def tell(self, message: tuple, n: int, doing: str, halt=None) -> list:
        """Send the first `n` workers a message and wait for their answers.

        Parameters
        ----------
        message : tuple
            A verb of `plugsamp.backends.worker`, and its arguments.
        n : int
        doing : str
            What they do, for messages.
        halt : callable, optional
            Called on an interrupt, to make them answer soon.

        Returns
        -------
        list
            What each has to say, in no order.

        Raises
        ------
        WorkerDied
            One ended instead; the others are ended too.
        Exception
            Whatever happened in a worker, once all have answered.
        """
        data = pickle.dumps(message)
        answers: list = []
        waiting: set[int] = set()
        try:
            for number in range(n):
                with self._alive(number, doing):
                    self._connections[number].send_bytes(data)
                waiting.add(number)
            interrupted = self._collect(waiting, answers, doing, halt)
        except BaseException:  # in the middle of something: no more waiting
            self.close()
            raise
        if interrupted:
            raise KeyboardInterrupt
        for _, _, warned in answers:
            for text, category, filename, line in warned:
                warnings.warn_explicit(text, category, filename, line)
        failed = [report for report, _, _ in answers if report is not None]
        if failed:
            raise failures.retold(failed[0])
        return [results for _, results, _ in answers]

    def _collect(self, waiting: set[int], answers: list, doing: str, halt) -> bool:
        """Take the answers of those waited for; returns whether an interrupt has halted them."""
        interrupted = told = False
        while waiting:
            try:
                ready = self._selector.select(None if told else SLOW)
            except KeyboardInterrupt as interrupt:
                second = interrupted or isinstance(interrupt, Interrupted)
                if halt is None or second:
                    raise
                halt()  # they will be idle before the interrupt goes on
                interrupted = True
                continue
            if not ready:
                told = True
                who = ", ".join(f"{n + 1} (process {self._pids[n]})" for n in sorted(waiting))
                log.warning("no word for %.0f s from worker %s of %d, %s", SLOW, who, len(self), doing)
            for key, _ in ready:
                number = key.data
                if number < 0:
                    self._listen()
                    if self._refused is not None:
                        raise BlockingIOError(f"no worker process can be started: {self._refused}")
                    continue
                with self._alive(number, doing):
                    answers.append(pickle.loads(self._connections[number].recv_bytes()))
                waiting.discard(number)
        return interrupted

    @contextlib.contextmanager
    def _alive(self, number: int, doing: str = "starting"):
        """What is done inside fails with `WorkerDied` if the worker is gone."""
        try:
            yield
        except (EOFError, ConnectionError, BrokenPipeError) as error:
            self._died(number, doing, error)

    def _listen(self) -> None:
        """Hear what the nursery has to say."""
        try:
            what, number, value = self._nursery.control.recv()
        except (EOFError, OSError):
            with contextlib.suppress(subprocess.TimeoutExpired):  # it is ending, and not to be killed
                self._nursery.process.wait(_LAST_WORD)
            self.close()
            status = self._nursery.process.poll()
            raise WorkerDied(
                f"the process that worker processes are forked from {failures.ended(status)}"
            ) from None
        if what == "born":
            self._pids[number] = value
        elif what == "ended":
            self._status[number] = value
        else:
            self._refused = number

    def _died(self, number: int, doing: str, cause: BaseException) -> None:
        until = time.monotonic() + _LAST_WORD
        while number not in self._status and self._refused is None and time.monotonic() < until:
            if self._nursery.control.poll(0.05):
                self._listen()  # says so if it is gone itself, which is why they are
        self.close()
        if self._refused is not None:
            raise BlockingIOError(f"no worker process can be started: {self._refused}") from None
        pid = self._pids[number]
        raise WorkerDied(
            f"worker {number + 1} of {len(self)} (process {pid}) {failures.ended(self._status.get(number))}; "
            f"it was {doing}"
        ) from cause

    def close(self) -> None:
        """End the workers; free when they have ended."""
        self._ends()
        self._selector.close()

    @property
    def closed(self) -> bool:
        return not self._ends.alive


def _end(owner: int, nursery: Nursery, connections: list[Connection], pids: list) -> None:
    for connection in connections:
        connection.close()
    nursery.control.close()
    if os.getpid() != owner:  # a fork of the owner: these are its copies, and the workers are not its own
        return
    if not any(pids):  # it is still importing, and would hear of this when that is done
        nursery.process.kill()
    try:
        nursery.process.wait(5.0)
    except BaseException as error:  # a further interrupt as well
        nursery.process.kill()
        nursery.process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
