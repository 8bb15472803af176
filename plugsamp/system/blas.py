"""BLAS held to one thread, so that its sums do not depend on the machine's load or number of cores."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

_lock = Lock()
_depth = 0
_limiter = None


#: More than OpenBLAS takes for itself when it is first used, and keeps.
_BUFFER = 40 << 20


@cache
def _controller() -> ThreadpoolController:
    # finding the libraries takes milliseconds, setting their threads microseconds
    controller = ThreadpoolController()
    with controller.limit(limits=1, user_api="blas"):
        _warm()
    return controller


def _warm() -> None:
    """Have the libraries of NumPy and SciPy take their memory, while its lack can be told (MemoryError).

    OpenBLAS itself would ask for it again and again, for ever, and no signal could end that.
    """
    some = np.ones((128, 128))  # smaller products do without
    for first_use in (lambda: some @ some, lambda: lapack.dpotrf(some)):
        np.empty(_BUFFER, np.uint8)
        first_use()


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
