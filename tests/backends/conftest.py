"""No test of worker processes may leave one behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugsamp.backends import processes

from .leftovers import gone_within


@pytest.fixture(autouse=True)
def nothing_left():
    shared = Path("/dev/shm")
    before = set(shared.iterdir()) if shared.is_dir() else set()
    yield
    assert gone_within(5.0), "worker processes are left"
    left = set(shared.iterdir()) - before if shared.is_dir() else set()
    assert not [p for p in left if "psm_" in p.name or "plugsamp" in p.name]


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    """As many cores as there are workers, or as a test says: otherwise those beyond them sleep."""

    def put(n):
        monkeypatch.setattr(processes.cores, "all_cores", lambda: n)

    put(64)
    return put
