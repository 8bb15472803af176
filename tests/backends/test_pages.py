"""Shared memory in large pages, where the system has them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from plugsamp.backends import pages, shared
from plugsamp.backends.pages import Mapping, large_page

MB = 1 << 20
LARGE = 2 * MB

linux = pytest.mark.skipif(
    sys.platform != "linux" or large_page() != LARGE, reason="for Linux with large pages of 2 MB"
)


@pytest.fixture
def memory():
    descriptor = os.memfd_create("plugsamp-test")
    os.ftruncate(descriptor, 9 * MB)
    yield descriptor
    os.close(descriptor)


def in_large_pages(address) -> int:
    """Bytes of the mapping at an address that stand in large pages."""
    text = Path("/proc/self/smaps").read_text()
    found = re.search(rf"^{address:08x}-.*?^ShmemPmdMapped:\s+(\d+) kB", text, re.MULTILINE | re.DOTALL)
    return int(found[1]) * 1024


@linux
def test_what_is_in_use_is_gathered_and_what_is_not_stays_free(memory):
    mapping, other = Mapping(memory, 9 * MB), Mapping(memory, 9 * MB)
    assert mapping.address % LARGE == other.address % LARGE == 0 and mapping.address != other.address
    written = np.zeros(9 * MB, np.uint8)
    written[0 : 2 * MB : 4096] = 1  # all pages of the first two MB,
    written[5 * MB : 6 * MB : 4096] = 2  # half of the third
    written[6 * MB] = 3  # and one of the fourth
    seen = mapping.view(0, 9 * MB, np.uint8)
    touched = np.flatnonzero(written)
    seen[touched] = written[touched]
    before = pages._in_use(memory, 4, LARGE)
    if mapping._done.any() or not in_large_pages(mapping.address):  # else it had large pages from the start
        assert before.tolist() == [LARGE, 0, MB, 4096]
    mapping.gather()
    assert mapping._done.tolist() == [True, False, True, False]
    assert pages._in_use(memory, 4, LARGE)[[1, 3]].tolist() == before[[1, 3]].tolist()
    np.testing.assert_array_equal(other.view(0, 9 * MB, np.uint8), written)
    seen[8 * MB] = 4
    assert other.view(0, 9 * MB, np.uint8)[8 * MB] == 4
    if not in_large_pages(mapping.address):
        pytest.skip("the system has given no large page")
    assert in_large_pages(mapping.address) <= 2 * LARGE


@linux
def test_little_is_mapped_as_it_is(memory):
    mapping = Mapping(memory, MB)
    mapping.view(0, MB, np.uint8)[:] = 7
    mapping.gather()
    assert (Mapping(memory, MB).view(MB - 3, 3, np.uint8) == 7).all()


@linux
def test_where_there_is_no_room_for_a_large_page_more(memory, monkeypatch):
    def full(*_):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(pages, "_aligned", full)
    mapping = Mapping(memory, 9 * MB)
    mapping.view(0, 9 * MB, np.uint8)[:] = 5
    mapping.gather()
    assert (Mapping(memory, 9 * MB).view(0, 9 * MB, np.uint8) == 5).all()


def test_memory_that_cannot_be_mapped():
    with open(os.devnull, "rb") as file, pytest.raises(MemoryError, match="cannot map 8,388,608 bytes"):
        Mapping(file.fileno(), 8 * MB)


def test_arrays_share_segments_and_nothing_else():
    arena, rng = shared.SharedArena(), np.random.default_rng(3)
    sizes = [*(int(s) for s in 10 ** rng.uniform(0, 6.7, 60)), 2 * MB, 3 * MB - 8, 0]
    arrays = [
        arena.array("some", size, np.uint8, 0.25 if i % 9 == 0 else 1.0) for i, size in enumerate(sizes)
    ]
    for i, array in enumerate(arrays):
        assert len(array) == sizes[i] and not array.any()
        assert array.ctypes.data % 64 == 0
        array[:] = i + 1
    arena.gather()
    for i, array in enumerate(arrays):
        assert (array == i + 1).all()
        if sizes[i]:
            assert (arena.segments[arena.place_of(array).segment].at(arena.place_of(array)) == i + 1).all()
    needed = sum(sizes)
    assert len(arena.segments) < len(arrays) / 2 and arena.size < needed + 2 * MB * len(arena.segments)
