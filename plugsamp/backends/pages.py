"""Memory of a file as a process maps it, in large pages where the system can be brought to give them.

Linux gives private memory large pages when asked (NumPy asks), but shared memory only where the administrator
has set transparent_hugepage/shmem_enabled, which few have: tables of tens of megabytes then miss the
processor's page tables at every other token. What is in use already can be gathered into large pages
whatever is set there (MADV_COLLAPSE, from Linux 6.1 on), if processes map it at a multiple of their size.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

#: `mmap.MAP_FIXED` and `mmap.MADV_COLLAPSE`, which Python does not name.
_FIXED, _COLLAPSE = 0x10, 25

#: The share of a large page that must be in use before all of it is: what nobody has touched stays free.
USED = 0.5


@cache
def large_page() -> int:
    """Bytes of a large page; 0 where there are none."""
    try:
        return int(Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").read_text())
    except (OSError, ValueError):
        return 0


class Mapping:
    """The memory of a file that is as long.

    Parameters
    ----------
    descriptor, size : int

    Attributes
    ----------
    address : int

    Raises
    ------
    MemoryError
        It cannot be mapped.
    """

    def __init__(self, descriptor: int, size: int):
        self._descriptor, self.size = descriptor, size
        #: Large pages that have been gathered, or could not be.
        self._done: np.ndarray | None = None
        try:
            self._map, self._lead = _mapped(descriptor, size)
        except OSError as error:
            raise MemoryError(f"cannot map {size:,} bytes of shared memory: {error.strerror}") from error
        self.address = np.frombuffer(self._map, np.uint8).ctypes.data + self._lead
        large = large_page()
        if large and size >= large and hasattr(mmap, "MADV_HUGEPAGE"):
            self._done = np.zeros(size // large, bool)
            with contextlib.suppress(OSError):  # not of this memory, or not in this kernel
                self._map.madvise(mmap.MADV_HUGEPAGE, self._lead, size)

    def view(self, offset: int, shape, dtype, strides=None) -> np.ndarray:
        """An array that stands at `offset`."""
        return np.ndarray(shape, dtype, self._map, self._lead + offset, strides)

    def gather(self) -> None:
        """Have what is in use by now in large pages."""
        if self._done is None or self._done.all():
            return
        large = large_page()
        wanted = ~self._done & (_in_use(self._descriptor, len(self._done), large) >= USED * large)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], wanted, [False]])))
        for first, last in edges.reshape(-1, 2).tolist():
            with contextlib.suppress(OSError):  # none is free, or the kernel is older
                self._map.madvise(_COLLAPSE, self._lead + first * large, (last - first) * large)
        self._done |= wanted


def _mapped(descriptor: int, size: int) -> tuple[mmap.mmap, int]:
    """A mapping, and where in it the file begins: at an address that large pages can have, if that can be."""
    large = large_page()
    if sys.platform == "linux" and large and size >= large:
        with contextlib.suppress(OSError):  # no room for a large page more
            return _aligned(descriptor, size, large)
    return mmap.mmap(descriptor, size), 0


def _aligned(descriptor: int, size: int, large: int) -> tuple[mmap.mmap, int]:
    """Room for a large page more than is needed, and the file in the midst of it."""
    room = mmap.mmap(-1, size + large, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start = np.frombuffer(room, np.uint8).ctypes.data
    lead = -start % large
    place = ctypes.CDLL(None, use_errno=True).mmap
    place.restype = ctypes.c_void_p
    place.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    access = mmap.PROT_READ | mmap.PROT_WRITE
    found = place(start + lead, size, access, mmap.MAP_SHARED | _FIXED, descriptor, 0)
    if found != start + lead:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return room, lead


def _in_use(descriptor: int, n: int, large: int) -> np.ndarray:
    """Bytes of each of the first `n` large pages of a file that memory stands behind."""
    used = np.zeros(n, np.int64)
    at, end = 0, n * large
    while at < end:
        try:
            first = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError:  # no more
            break
        at = min(os.lseek(descriptor, first, os.SEEK_HOLE), end)
        pages = np.arange(first // large, -(-at // large))
        used[pages] += np.minimum(at, (pages + 1) * large) - np.maximum(first, pages * large)
    return used
