"""Tiny corpora make sweeps of microseconds: BLAS is limited once a test, not once a sweep."""

import pytest

from plugsamp.system.blas import single_thread


@pytest.fixture
def blas_limited():
    """Hold BLAS to one thread around the test; inside, the chain's own limit is free."""
    with single_thread():
        yield
