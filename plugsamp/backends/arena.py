"""Where the arrays of a chain live: in the memory of this process, unless the backend shares them."""

from __future__ import annotations

from collections import Counter

import numpy as np

#: Arrays begin at a cache line, so that no padded row straddles one more than it must.
LINE = 64


def aligned(shape, dtype) -> np.ndarray:
    """Zeros that begin at a cache line."""
    dtype = np.dtype(dtype)
    size = n_bytes(shape, dtype)
    raw = np.zeros(size + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + size].view(dtype).reshape(shape)


def n_bytes(shape, dtype) -> int:
    """What an array takes."""
    return int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize


def file_of(array: np.ndarray) -> np.memmap | None:
    """The mapping of a file whose memory an array shows, or None."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and not isinstance(array.base, np.memmap):
            return array if array.filename is not None else None
        array = array.base
    return None


class Arena:
    """Gives named arrays; this one in private memory.

    Whatever two processes of a backend must both see is allocated here, and changed in place from then on.
    A backend whose workers are processes has an arena of shared memory, and its workers one that gives the
    same arrays when the same calls are made again: that is how a worker's own sampler finds what is shared.
    """

    #: Whether other processes see the arrays.
    shared = False

    def __init__(self):
        self._asked: Counter[str] = Counter()
        self._buffers: dict[str, np.ndarray] = {}

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
        self._asked[name] += 1
        number = self._asked[name]
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
        return aligned(shape, dtype)
