"""No test of worker processes may leave one behind."""

from __future__ import annotations

from multiprocessing import shared_memory
from pathlib import Path

import pytest

from plugsamp.backends import processes

from .leftovers import gone_within


@pytest.fixture(autouse=True)
def shared_names(monkeypatch):
    """The names in /dev/shm that the test has made; other processes make others meanwhile."""
    made = []

    class Recorded(shared_memory.SharedMemory):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self.name)

    monkeypatch.setattr(shared_memory, "SharedMemory", Recorded)
    return made


@pytest.fixture(autouse=True)
def nothing_left(shared_names):
    yield
    assert gone_within(5.0), "worker processes are left"
    assert not [name for name in shared_names if Path("/dev/shm", name).exists()]


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    """As many cores as there are workers, or as a test says: otherwise those beyond them sleep."""

    def put(n):
        monkeypatch.setattr(processes.cores, "all_cores", lambda: n)

    put(64)
    return put
