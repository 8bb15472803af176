"""What can happen to worker processes, as errors."""

from __future__ import annotations

import signal
import traceback


class WorkerDied(ChildProcessError):
    """A worker process ended that should not have; the message says which, how, and maybe why."""


class WorkerError(RuntimeError):
    """An exception in a worker that cannot be handed over; the message holds it, the cause its traceback."""


class Traceback(Exception):
    """The traceback of an exception as it was in the worker."""

    def __init__(self, text: str):
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


def told(error: BaseException) -> tuple[BaseException | None, str, str]:
    """An exception for another process: itself if it can be sent, one line of it, and its traceback."""
    import pickle

    import cloudpickle

    text = "".join(traceback.format_exception(error))
    line = f"{type(error).__name__}: {error}"
    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:  # whatever a class of somebody's does then
        return None, line, text
    return error, line, text


def retold(report: tuple[BaseException | None, str, str]) -> BaseException:
    """The exception of `told` with its traceback as the cause."""
    error, line, text = report
    error = WorkerError(line) if error is None else error
    error.__cause__ = Traceback(text)
    return error


def ended(status: int | None) -> str:
    """A process's exit status in words, with what may be the reason."""
    if status is None:
        return "is gone"
    if status >= 0:
        return f"ended with exit code {status}"
    number = -status
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    reason = {
        "SIGKILL": "; the system does that when memory is used up: fewer workers or topics take less",
        "SIGBUS": "; the folder or memory that holds the shared arrays is full, or a mapped corpus cut short",
        "SIGSEGV": "; compiled code read or wrote where it must not, that of a plugin perhaps",
    }.get(name, "")
    return f"was killed by {name}{reason}"
