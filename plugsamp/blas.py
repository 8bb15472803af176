"""BLAS held to one thread, so that its sums do not depend on the machine's load or number of cores."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_lock = Lock()
_depth = 0
_limiter = None


@cache
def _controller() -> ThreadpoolController:
    # finding the libraries takes milliseconds, setting their threads microseconds
    return ThreadpoolController()


@contextmanager
def single_thread():
    """A context in which BLAS uses one thread. Free inside another one."""
    global _depth, _limiter
    with _lock:
        if _depth == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _limiter.restore_original_limits()
                _limiter = None
