"""Count matrices as NumPy and SciPy save them. Nothing is ever unpickled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from plugsamp.counts import check_shape, entries
from plugsamp.errors import InputError
from plugsamp.files import archive
from plugsamp.files.plain_arrays import HoldsObjects, NotPlain, array_of, check_header
from plugsamp.files.regular import open_regular
from plugsamp.readers.matrix import MatrixReader
from plugsamp.sizes import check_claim

MEMBERS = {
    "csr": ("data", "indices", "indptr", "shape"),
    "csc": ("data", "indices", "indptr", "shape"),
    "coo": ("data", "row", "col", "shape"),
}


@dataclass(kw_only=True)
class Matrix(MatrixReader):
    """A document by word matrix: `scipy.sparse.save_npz` (CSR, CSC, COO), or a dense array in .npy.

    Parameters
    ----------
    transpose : bool
        Whether rows are words and columns documents.
    Others : see `plugsamp.readers.matrix` and `plugsamp.readers.base`.
    """

    transpose: bool = False
    may_transpose = True

    def matrix(self, path):
        loaded = _load(path)
        if isinstance(loaded, np.ndarray):
            check_shape(loaded.shape)
            return loaded.T if self.transpose else loaded
        rows, columns, values, shape = entries(_sparse(loaded), exact=True)
        for number, what, axis in zip(shape, ("documents", "words"), ("rows", "columns"), strict=True):
            check_claim(f"the shape's {number} {axis}", number, what, len(values))
        if self.transpose:
            rows, columns, shape = columns, rows, shape[::-1]
        return sp.coo_array((values, (rows, columns)), shape=shape)


def _load(path):
    """A dense array, or the members of an archive by name."""
    if not Path(path).exists():
        raise InputError("there is no such file")
    if Path(path).is_dir():
        raise InputError("this is a folder, a file is needed (corpus=folder reads folders)")
    try:
        with open_regular(path) as file:
            start = file.read(6)
            size = file.seek(0, 2)
            file.seek(0)
            if start[:2] == b"PK":
                return _members(file)
            if start != b"\x93NUMPY":
                raise InputError("not a .npy or .npz file")
            check_header(file, size)
            file.seek(0)
            return np.load(file, allow_pickle=False)
    except HoldsObjects:
        raise InputError("the array holds Python objects and is not loaded") from None
    except NotPlain as error:
        raise InputError(f"not a whole .npy or .npz file: {error}") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None


def _members(file) -> dict[str, np.ndarray]:
    try:
        packed = archive.members(file)
    except archive.NotWhole as error:
        raise InputError(f"not a whole .npy or .npz file: {error}") from None
    found = {}
    for name, data in packed.items():
        name = name.removesuffix(".npy")
        try:
            found[name] = array_of(data)
        except HoldsObjects:
            raise InputError(f'member "{name}" holds Python objects and is not loaded') from None
        except NotPlain as error:
            raise InputError(f'member "{name}" is not a whole array: {error}') from None
    return found


def _sparse(members) -> SimpleNamespace:
    listed = ", ".join(sorted(members))
    if "format" not in members:
        raise InputError(f'no member "format"; members are {listed}')
    kind = members["format"].item() if members["format"].size == 1 else members["format"]
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise InputError(f"the sparse format must be {', '.join(MEMBERS)}, found {kind!r}")
    absent = next((m for m in MEMBERS[kind] if m not in members), None)
    if absent is not None:
        raise InputError(f'no member "{absent}", which format {kind} needs; members are {listed}')
    shape = members["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise InputError(f"shape must be two whole numbers, found {shape.tolist()!r}")
    arrays = {name: _native(members[name]) for name in MEMBERS[kind][:-1]}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise InputError(f'member "{name}" must be a vector, it has {array.ndim} dimensions')
    sizes = {len(arrays[name]) for name in arrays if name != "indptr"}
    if len(sizes) > 1:
        found = ", ".join(f"{len(a)} in {n}" for n, a in arrays.items() if n != "indptr")
        raise InputError(f"the numbers of entries differ: {found}")
    return SimpleNamespace(format=kind, shape=tuple(shape.tolist()), **arrays)


def _native(array: np.ndarray) -> np.ndarray:
    """The array in this machine's order of bytes, which SciPy wants."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)
