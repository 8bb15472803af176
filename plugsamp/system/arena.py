"""Where the arrays of a chain live: in the memory of this process, unless the backend shares them."""

from __future__ import annotations

import math
import os

import numpy as np

from plugsamp.system.memory import in_words

#: Arrays begin at a cache line, so that no padded row straddles one more than it must.
LINE = 64

#: Arrays of up to SMALL bytes are parts of pages of PAGE bytes.
SMALL, PAGE = 1024, 16_384


def aligned(shape, dtype) -> np.ndarray:
    """Zeros that begin at a cache line."""
    raw = np.zeros(n_bytes(shape, dtype) + LINE, np.uint8)
    return np.ndarray(shape, dtype, raw, -_address(raw) % LINE)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def n_bytes(shape, dtype) -> int:
    """What an array takes."""
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    return math.prod(map(int, sizes)) * np.dtype(dtype).itemsize


def file_of(array: np.ndarray) -> np.memmap | None:
    """The mapping of a file whose memory an array shows, or None."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and not isinstance(array.base, np.memmap):
            return array if array.filename is not None else None
        array = array.base
    return None


def seen(array: np.ndarray) -> np.ndarray:
    """A mapped array, with a note of which file that is: another may get its name."""
    mapped = file_of(array)
    if mapped is not None:
        mapped.inode = _inode(mapped.filename)
    return array


def place_in_file(array: np.ndarray) -> tuple | None:
    """Where `map_again` finds an array whose memory is a mapped file; None of any other."""
    mapped = file_of(array)
    if mapped is None:
        return None
    offset = mapped.offset + array.__array_interface__["data"][0] - mapped.__array_interface__["data"][0]
    return str(mapped.filename), offset, array.shape, array.dtype, getattr(mapped, "inode", None)


def map_again(place: tuple) -> np.ndarray:
    """The array of `place_in_file`, in this process or another.

    Raises
    ------
    OSError
        The file is gone or shorter than it was, or another has its name.
    """
    filename, offset, shape, dtype, inode = place
    if inode is not None and _inode(filename) != inode:
        raise OSError(f"{filename} is not the file any more that was opened: it has been replaced")
    try:
        return seen(np.memmap(filename, dtype, "r", offset, shape))
    except ValueError as error:  # NumPy's words for it
        raise OSError(f"{filename} has been cut short: {error}") from None


def _inode(filename) -> tuple[int, int]:
    found = os.stat(filename)
    return found.st_dev, found.st_ino


class Arena:
    """Gives named arrays; this one in private memory.

    Whatever two processes of a backend must both see is allocated here, and changed in place from then on.
    A backend whose workers are processes has an arena of shared memory, and its workers one that gives the
    same arrays when the same calls are made again: that is how a worker's own sampler finds what is shared.
    """

    #: Whether other processes see the arrays.
    shared = False

    def __init__(self):
        self._asked: dict[str, int] = {}
        self._buffers: dict[str, np.ndarray] = {}
        self._page, self._used = None, PAGE  # memory that small arrays share, and how much of it is given

    def array(self, name: str, shape, dtype, touched: float = 1.0) -> np.ndarray:
        """A new array of zeros that begins at a cache line.

        Parameters
        ----------
        name : str
            What it is; of several calls with one name each gets an array of its own.
        shape, dtype
        touched : float
            The share of it that will be written to: the rest costs no memory.
        """
        self._asked[name] = number = self._asked.get(name, 0) + 1
        return self._make(name if number == 1 else f"{name}#{number}", shape, np.dtype(dtype), touched)

    def copy(self, name: str, values) -> np.ndarray:
        """A new array that holds `values`."""
        values = np.asarray(values)
        array = self.array(name, values.shape, values.dtype)
        array[...] = values
        return array

    def buffer(self, name: str, size: int, dtype) -> np.ndarray:
        """Room for `size` numbers that hold anything; the last call with this name had the same memory."""
        held = self._buffers.get(name)
        if held is None or len(held) < size:
            self._buffers[name] = held = self.array(name, size + size // 4, dtype)
        return held[:size]

    def _make(self, name: str, shape, dtype: np.dtype, touched: float) -> np.ndarray:
        try:
            size = n_bytes(shape, dtype)
            return aligned(shape, dtype) if size > SMALL else self._small(shape, dtype, size)
        except MemoryError:
            size = in_words(n_bytes(shape, dtype))
            of = " x ".join(f"{n:,}" for n in np.atleast_1d(shape))
            raise MemoryError(
                f"this process may not take the {size} of {name} ({of}): with fewer topics, "
                "or fewer words (min_df), a chain takes less"
            ) from None

    def _small(self, shape, dtype: np.dtype, size: int) -> np.ndarray:
        """A part of a page: a small corpus has dozens of arrays, each of which would take its time to get."""
        if self._used + size > PAGE:
            self._page, self._used = aligned(PAGE, np.uint8), 0
        start = self._used
        self._used += -(-size // LINE) * LINE
        return np.ndarray(shape, dtype, self._page, start)
