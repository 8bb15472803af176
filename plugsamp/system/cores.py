"""How many cores are this process's own, where others of the same sweep run beside it."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from threading import Event

from joblib import cpu_count, effective_n_jobs

_sharers = 1

#: Set where nobody waits any more for what a thread of `in_threads` computes.
_stop: ContextVar[Event | None] = ContextVar("stop", default=None)

_threads: ContextVar[int] = ContextVar("threads", default=1)


def own() -> int:
    """The cores that work of this process may take by default: those it may use, divided by its sharers."""
    return max(cpu_count() // _sharers, 1)


def all_cores() -> int:
    """The cores that this process may use."""
    return max(cpu_count(), 1)


def sharers() -> int:
    """How many processes like this one there are at once, itself among them."""
    return _sharers


@contextlib.contextmanager
def shared_by(processes: int):
    """While inside, the cores are divided by so many processes."""
    global _sharers
    before, _sharers = _sharers, max(int(processes), 1)
    try:
        yield
    finally:
        _sharers = before


@contextlib.contextmanager
def threads(n_jobs: int | None):
    """While inside, reading and prediction use so many threads.

    Parameters
    ----------
    n_jobs : int or None
        As joblib counts; None leaves their number as it is.
    """
    token = _threads.set(_threads.get() if n_jobs is None else effective_n_jobs(n_jobs))
    try:
        yield
    finally:
        _threads.reset(token)


def n_threads() -> int:
    """Return the number of threads that `threads` allows."""
    return _threads.get()


def in_threads(function: Callable, jobs: Iterable) -> Iterator:
    """Return an iterator over `function` of each job, in their order.

    As many threads compute it as `threads` allows now. One more job than that is taken from `jobs` ahead of
    its turn. A job itself has one thread.
    """
    n = n_threads()
    return _in_turn(function, jobs) if n == 1 else _in_threads(n, function, jobs)


def check_stop() -> None:
    """End a thread of `in_threads` whose outcome nobody waits for any more (CancelledError)."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise CancelledError


def _in_turn(function: Callable, jobs: Iterable) -> Iterator:
    for job in jobs:
        check_stop()
        yield function(job)


def _stoppable(stop: Event, function: Callable, job):
    token = _stop.set(stop)
    try:
        return function(job)
    finally:
        _stop.reset(token)


def _in_threads(n: int, function: Callable, jobs: Iterable) -> Iterator:
    with ThreadPoolExecutor(n) as pool:
        pending: deque[Future] = deque()
        stop = Event()
        try:
            for job in jobs:
                pending.append(pool.submit(_stoppable, stop, function, job))
                if len(pending) > n:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stop.set()  # after an error or Ctrl-C nobody waits for what is being computed
            for future in pending:
                future.cancel()


def ahead(items: Iterable, n: int = 2) -> Iterator:
    """Return an iterator over items that a thread makes up to `n` of ahead, where `threads` allows two."""
    return iter(items) if n_threads() == 1 else _ahead(iter(items), n)


def _ahead(items: Iterator, n: int) -> Iterator:
    end, within = object(), copy_context().run
    with ThreadPoolExecutor(1) as pool:
        pending = deque(pool.submit(within, next, items, end) for _ in range(n))
        while (item := pending.popleft().result()) is not end:
            pending.append(pool.submit(within, next, items, end))
            yield item
