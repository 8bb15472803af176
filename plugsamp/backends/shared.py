"""Arrays in memory that several processes map.

The memory is a `multiprocessing.shared_memory.SharedMemory` that loses its name as soon as it is there:
nothing is left behind, whoever is killed and when. Workers get its descriptor. All of it is reserved when it
is made, so that a full /dev/shm is met then, and not in a write. What /dev/shm has no room for (64 MB in many
containers), and tables of which only a part is ever written to, are anonymous memory (`os.memfd_create`, on
Linux). Where memory is short, or a folder is asked for, they are files without a name in a folder.
"""

from __future__ import annotations

import bisect
import errno
import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import shared_memory
from pathlib import Path

import numpy as np

from plugsamp.backends.pages import Mapping
from plugsamp.system.arena import LINE, Arena, n_bytes
from plugsamp.system.memory import available_bytes, in_words

log = logging.getLogger(__name__)

#: Small arrays share a segment of this size, a large page in most places.
CHUNK = 2 << 20

#: Memory that is left to everything else.
SPARE = 64 << 20

#: Where Linux keeps named shared memory.
SHM = "/dev/shm"


@dataclass(frozen=True)
class Place:
    """Where an array stands: bytes of a segment as `numpy.ndarray` takes them."""

    segment: int
    offset: int
    shape: tuple
    dtype: np.dtype
    strides: tuple | None = None


class Segment(Mapping):
    """Memory that is mapped by every process that has its descriptor.

    Attributes
    ----------
    descriptor, size : int
    """

    def __init__(self, descriptor: int, size: int):
        self.descriptor = descriptor
        super().__init__(descriptor, size)

    def at(self, place: Place) -> np.ndarray:
        return self.view(place.offset, place.shape, place.dtype, place.strides)

    def __del__(self):
        os.close(self.descriptor)


class SharedArena(Arena):
    """The arena of the process that owns the chain.

    Parameters
    ----------
    folder : path, optional
        Keep the arrays in files there.

    Raises
    ------
    OSError
        A folder that cannot be written to, or is too full.
    """

    shared = True

    def __init__(self, folder: str | os.PathLike | None = None):
        super().__init__()
        self.folder = None if folder is None else Path(folder)
        self.segments: list[Segment] = []
        self.places: dict[str, Place] = {}
        #: What the reserved segments are, in words, in the order in which they were first used.
        self.carriers: dict[str, None] = {}
        self._starts: list[tuple[int, int]] = []  # address and number of each segment, ascending
        self._last, self._used, self._end = -1, 0, 0  # the segment that has room, from where to where
        self._left = None  # bytes of memory that may still be asked for

    def __reduce__(self):
        raise TypeError(
            "a chain of worker processes shares its memory with them, and is not copied or pickled; what its "
            "`save` writes another chain can `load`"
        )

    @property
    def size(self) -> int:
        """Bytes of all segments, with those that are never touched."""
        return sum(segment.size for segment in self.segments)

    def place_of(self, array: np.ndarray) -> Place | None:
        """Where an array stands, if in this arena."""
        address = array.__array_interface__["data"][0]
        at = bisect.bisect_right(self._starts, (address, len(self.segments))) - 1
        if at < 0 or not array.size:
            return None
        start, number = self._starts[at]
        if address >= start + self.segments[number].size:
            return None
        return Place(number, address - start, array.shape, array.dtype, array.strides)

    def _make(self, name: str, shape, dtype: np.dtype, touched: float) -> np.ndarray:
        size = -(-max(n_bytes(shape, dtype), 1) // LINE) * LINE
        shape = tuple(np.atleast_1d(shape).tolist())
        if touched < 1.0:
            place = Place(self._segment(size, touched), 0, shape, dtype)
        else:
            place = Place(*self._room(size), shape, dtype)
        self.places[name] = place
        return self.segments[place.segment].at(place)

    def _room(self, size: int) -> tuple[int, int]:
        """Where `size` bytes may stand: behind what is there, or in a segment of their own."""
        if self._used + size <= self._end:
            self._used += size
            return self._last, self._used - size
        whole = -(-size // CHUNK) * CHUNK
        number = self._segment(whole, 1.0)
        if whole - size > self._end - self._used:
            self._last, self._used, self._end = number, size, whole
        return number, 0

    def gather(self) -> None:
        """Have what is in use by now in large pages, where the system can."""
        for segment in self.segments:
            segment.gather()

    def _segment(self, size: int, touched: float) -> int:
        number = len(self.segments)
        segment = Segment(self._descriptor(size, touched), size)
        self.segments.append(segment)
        bisect.insort(self._starts, (segment.address, number))
        return number

    def _descriptor(self, size: int, touched: float) -> int:
        if self.folder is None:
            if self._left is None:
                free = available_bytes()
                self._left = float("inf") if free is None else free - SPARE
            needed = size * (touched if _ANONYMOUS else 1.0)
            if needed <= self._left:
                self._left -= needed
                return self._in_memory(size, touched)
            self.folder = Path(tempfile.gettempdir())
            log.warning(
                "%s of memory are free, too little for the chain's arrays: the rest of them are kept in "
                "files in %s (backend.folder names another)", in_words(self._left), self.folder,
            )  # fmt: skip
        self.carriers["files"] = None
        return _in_file(self.folder, size, touched)

    def _in_memory(self, size: int, touched: float) -> int:
        """Named shared memory that is reserved, or anonymous memory where that cannot be."""
        if not _ANONYMOUS:
            self.carriers["shared memory"] = None
            return _named(size)
        if touched == 1.0:
            try:
                descriptor = _named(size)
                self.carriers["shared memory"] = None
                return descriptor
            except OSError as error:
                self.carriers[f"anonymous memory (/dev/shm: {error.strerror or error})"] = None
        descriptor = os.memfd_create("plugsamp", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, size)
        return descriptor


_ANONYMOUS = hasattr(os, "memfd_create")

#: Python 3.13 need not have a process that looks after the name, which is gone at once.
_UNTRACKED = {"track": False} if sys.version_info >= (3, 13) else {}


def _named(size: int) -> int:
    """The descriptor of shared memory whose name is gone again.

    Raises
    ------
    OSError
        /dev/shm is not there, or has no room.
    """
    if os.path.isdir(SHM):
        room = os.statvfs(SHM)
        if room.f_bavail * room.f_frsize < size + SPARE:
            raise OSError(errno.ENOSPC, "too little room")
    block = shared_memory.SharedMemory(create=True, size=size, **_UNTRACKED)
    try:
        descriptor = os.dup(block._fd)
    finally:
        block.unlink()
        block.close()
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _in_file(folder: Path, size: int, touched: float) -> int:
    room = os.statvfs(folder)
    free, needed = room.f_bavail * room.f_frsize, int(size * touched)
    if needed > free:
        raise OSError(f"{folder} has {free / 2**20:,.0f} MB free, and {needed / 2**20:,.0f} MB are needed")
    with tempfile.TemporaryFile(dir=folder, prefix="plugsamp-") as file:
        if touched == 1.0 and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is met now, and not in a write to memory
        else:
            os.ftruncate(file.fileno(), size)
        return os.dup(file.fileno())


class AttachedArena(Arena):
    """The same arrays in a worker: calls in the same order as the owner's get what those got."""

    shared = True

    def __init__(self):
        super().__init__()
        self.segments: list[Segment] = []
        self.places: dict[str, Place] = {}

    def at(self, place: Place) -> np.ndarray:
        return self.segments[place.segment].at(place)

    def _make(self, name: str, shape, dtype: np.dtype, touched: float) -> np.ndarray:
        place = self.places.get(name)
        shape = tuple(np.atleast_1d(shape).tolist())
        if place is None or (place.shape, place.dtype) != (shape, dtype):
            raise RuntimeError(
                f"the array {name} {shape} of {dtype} is not among those that the chain has made"
            )
        return self.at(place)
