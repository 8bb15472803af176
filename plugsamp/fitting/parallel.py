"""Separate models in processes of joblib's, which end with this one and whose death names the model."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence

from plugsamp.backends.failures import WorkerDied, ended
from plugsamp.brief import one_line
from plugsamp.system.parents import Roll, at_work, end_with


def in_parallel(function: Callable, jobs: Sequence[tuple], names: Sequence[str], n_jobs) -> Iterator:
    """Yield ``function(*job)`` of each job, in their order.

    Parameters
    ----------
    function : callable
    jobs : sequence of tuples
    names : sequence of str
        What messages call the model of each job.
    n_jobs : int or None
        As joblib counts.

    Raises
    ------
    WorkerDied
        A process has died; the message names the model that it was fitting.
    """
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # No memory maps: joblib would leave them in shared memory if the parent were killed.
    options = {"n_jobs": n_jobs, "return_as": "generator", "max_nbytes": None}
    if effective_n_jobs(n_jobs) == 1 or len(jobs) == 1 or not _loky():
        yield from Parallel(**options)(delayed(function)(*job) for job in jobs)
        return
    options |= {"initializer": end_with, "initargs": (os.getpid(),)}
    with Roll() as roll:
        calls = (delayed(_noted)(roll.ticket, number, function, job) for number, job in enumerate(jobs))
        try:
            with warnings.catch_warnings():  # of calls that are cancelled at Ctrl-C
                warnings.filterwarnings("ignore", r"\d+ tasks which were still being processed", UserWarning)
                yield from Parallel(**options)(calls)
        except TerminatedWorkerError as error:
            raise WorkerDied(_said(roll.await_lost(), names, str(error))) from None


def _loky() -> bool:
    """Whether joblib's processes are its own, and not those of a context that the caller has set."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def _noted(ticket, number: int, function, job: tuple):
    with at_work(ticket, number):
        return function(*job)


def _said(lost: Sequence[int], names: Sequence[str], error: str) -> str:
    code = re.search(r"\((-?\d+)\)", error)
    how = ended(int(code[1]) if code else None)
    if not lost:
        return f"a process that fits one of {len(names)} models {how}"
    which = " and ".join(f"model {number + 1} of {len(names)} ({one_line(names[number])})" for number in lost)
    return f"the process that was fitting {which} {how}"
