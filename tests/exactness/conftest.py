"""Tiny corpora make sweeps of microseconds: BLAS is limited once a test, not once a sweep."""

from contextlib import nullcontext

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture
def blas_limited(monkeypatch):
    """Hold BLAS to one thread around the test; the chain's own limit, milliseconds a sweep, is off."""
    monkeypatch.setattr("plugsamp.chain.threadpool_limits", lambda *a, **k: nullcontext())
    with threadpool_limits(1, "blas"):
        yield
