"""How many cores are this process's own, where others of the same sweep run beside it."""

from __future__ import annotations

import contextlib

from joblib import cpu_count

_sharers = 1


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
