""".npy data from anywhere: looked at before anything is allocated, and never unpickled."""

from __future__ import annotations

import io
import math

import numpy as np

#: What arrays are of here: booleans, numbers and plain strings.
KINDS = "biufcSU"

#: Bytes of a header that NumPy reads at most; it is a line of text.
_LONGEST = 10_000


class NotPlain(ValueError):
    """Data that is no plain array, or not a whole one; the message says why."""


class HoldsObjects(NotPlain):
    """An array of Python objects, which are never loaded."""


def check_header(source, size: int) -> tuple[np.dtype, tuple[int, ...], bool]:
    """The dtype, shape and order that the header of .npy data states, if they fit its `size`.

    Parameters
    ----------
    source : binary file
        At the beginning of the data; afterwards at that of the numbers.
    size : int
        Bytes of the data with its header.

    Raises
    ------
    NotPlain
    """
    start = source.tell()
    try:
        major, _ = np.lib.format.read_magic(source)
        if major not in (1, 2, 3):
            raise NotPlain(f"version {major} of the format is not known")
        begin, width = source.tell(), 2 if major == 1 else 4
        length = int.from_bytes(source.read(width), "little")
        if length > _LONGEST:  # NumPy would make room for it first
            raise NotPlain(f"its header states a length of {length} bytes of its own")
        source.seek(begin)
        # Versions 2 and 3 have the same header as far as reading goes, but for its text's encoding.
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(source, max_header_size=_LONGEST)
    except NotPlain:
        raise
    except Exception as error:  # Python's own parser reads the header: what it raises is not for us to list
        raise NotPlain(f"its header cannot be read ({_first_line(error)})") from None
    if dtype.hasobject:
        raise HoldsObjects("it holds Python objects, which are not loaded")
    if dtype.kind not in KINDS or dtype.shape:
        raise NotPlain(f"it holds {dtype}, and not plain numbers")
    if any(n < 0 for n in shape):
        raise NotPlain(f"its header states the shape {shape}")
    stated, found = math.prod(shape) * dtype.itemsize, size - (source.tell() - start)
    if stated != found:
        raise NotPlain(f"its header states {stated} bytes of numbers, and there are {found}")
    return dtype, shape, fortran


def array_of(data: bytes) -> np.ndarray:
    """The array of .npy data, read-only.

    Raises
    ------
    NotPlain
    """
    source = io.BytesIO(data)
    dtype, shape, fortran = check_header(source, len(data))
    if not dtype.itemsize:  # strings of no length
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype, offset=source.tell())
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
