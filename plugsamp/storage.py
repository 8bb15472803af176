"""Folders of arrays and one JSON manifest: how models are kept.

A folder is data only. Arrays are ``.npy`` files without pickle, in fixed little-endian widths;
``manifest.json`` names each with its dtype, shape and SHA-256, and carries a digest of itself, so a
damaged, truncated, newer or foreign folder is refused before anything is used. Writing goes to a
temporary folder beside the target, renamed when complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np

from plugsamp import unfinished

#: Of the layout written here. A reader accepts this one and older ones it knows how to read.
SCHEMA_VERSION = 1
FORMAT = "plugsamp"
MANIFEST = "manifest.json"

#: Bytes that are written and read at once.
CHUNK = 1 << 24

_ARRAY_NAME = re.compile(r"[A-Za-z0-9_.]{1,80}")


class StorageError(ValueError):
    """A folder that cannot be written or read; the message says what is wrong with it."""


class NewerError(StorageError):
    """A folder that a newer plugsamp has written."""


@dataclass
class Growing:
    """A vector that is never in memory as a whole.

    Parameters
    ----------
    dtype : dtype
    pieces : iterable of arrays
        One after another.
    """

    dtype: np.dtype
    pieces: Iterable[np.ndarray]


def write_folder(
    path,
    kind: str,
    arrays: Mapping[str, np.ndarray] | Iterable[tuple[str, np.ndarray | Growing]],
    content: Mapping,
    overwrite: bool = False,
) -> Path:
    """Write arrays and a JSON-able content as one folder, complete or not at all.

    Parameters
    ----------
    path : path-like
        Must not exist, unless `overwrite`, and then must be such a folder.
    kind : str
        What the folder holds ("model"); asked for again on reading.
    arrays : mapping of str to ndarray, or iterable of pairs
        Boolean, integer or float arrays. They are taken one after another: an iterable may make each when
        the one before is written.
    content : mapping
        Strict JSON: no NaN, no objects. Looked at when the arrays are written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished.take_away(path)
    if path.exists() and not (overwrite and (path / MANIFEST).is_file()):
        raise StorageError(f"{path} exists" + (" and is not a plugsamp folder" if overwrite else ""))
    with unfinished.beside(path) as temporary:
        try:
            _write(temporary, kind, arrays, content)
            (temporary / unfinished.MARK).unlink()
            sync_folder(temporary)
            _put(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return path


def _write(folder: Path, kind: str, arrays, content: Mapping) -> None:
    pairs = arrays.items() if isinstance(arrays, Mapping) else arrays
    entries = {name: _write_array(folder, name, array) for name, array in pairs}
    manifest = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "arrays": entries,
        "content": dict(content),
    }
    manifest["sha256"] = _digest_of(manifest)
    _write_bytes(folder / MANIFEST, json.dumps(manifest, indent=1, allow_nan=False).encode())
    os.chmod(folder, 0o777 & ~_umask())


def _put(folder: Path, path: Path) -> None:
    """Give a folder its name; what had it goes."""
    if path.exists():
        with unfinished.beside(path, old=True) as old:
            os.replace(path, old / path.name)
            os.replace(folder, path)
            shutil.rmtree(old)
    else:
        os.replace(folder, path)
    sync_folder(path.parent)


def clean_up(path) -> None:
    """Take away what killed writers of a folder have left beside it: only where nobody writes it now."""
    path = Path(path)
    names = unfinished.names(path)
    for left in path.parent.iterdir():
        if names.fullmatch(left.name) and left.is_dir():
            shutil.rmtree(left, ignore_errors=True)


def read_folder(path, kind: str, mapped: Collection[str] = ()) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the content of a folder written by `write_folder`; nothing in it is executed.

    Arrays that `mapped` names are mapped read-only, once their digests are checked, and not read.

    Raises
    ------
    StorageError
        Not such a folder, of another kind, written by a newer version, incomplete or damaged.
    """
    path = Path(path)
    manifest = _read_manifest(path, kind)
    arrays = {}
    for name, entry in manifest["arrays"].items():
        arrays[name] = _read_array(path, name, entry, name in mapped)
    return arrays, manifest["content"]


def read_content(path, kind: str) -> dict:
    """The content of a folder alone; its arrays are not looked at.

    Raises
    ------
    StorageError
    """
    return _read_manifest(Path(path), kind)["content"]


def _read_manifest(path: Path, kind: str) -> dict:
    if not path.is_dir():
        raise StorageError(f"{path} is not a folder" if path.exists() else f"there is no folder {path}")
    try:
        text = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise StorageError(f"{path} is not a plugsamp folder: it has no {MANIFEST}") from None
    except OSError as error:
        raise StorageError(f"{path / MANIFEST} cannot be read: {error.strerror}") from None
    try:
        manifest = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise StorageError(f"{path / MANIFEST} is damaged: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StorageError(f"{path / MANIFEST} was not written by plugsamp")
    version = manifest.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise NewerError(
            f"{path} has schema version {version}; this plugsamp reads up to {SCHEMA_VERSION}: update it"
        )
    if manifest.pop("sha256", None) != _digest_of(manifest):
        raise StorageError(f"{path / MANIFEST} is damaged: its digest does not fit")
    if manifest.get("kind") != kind:
        raise StorageError(f"{path} holds a {manifest.get('kind')}, not a {kind}")
    for part in ("arrays", "content"):
        if not isinstance(manifest.get(part), dict):
            raise StorageError(f"{path / MANIFEST} is damaged: it has no {part}")
    return manifest


def _no_number(name: str):
    raise ValueError(f"{name} is no number of JSON")


def _write_array(folder: Path, name: str, array) -> dict:
    """Write an array chunk by chunk: a large one takes no memory beside its own."""
    if not _ARRAY_NAME.fullmatch(name):
        raise StorageError(f"{name!r} cannot be the name of an array")
    if isinstance(array, Growing):
        return _write_growing(folder / f"{name}.npy", array)
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if array.dtype.kind not in "biuf":
        raise StorageError(
            f"array {name} has dtype {array.dtype}; only booleans, integers and floats are kept"
        )
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    digest = hashlib.sha256()
    with open(folder / f"{name}.npy", "wb") as out:
        for part in _bytes_of(array):
            digest.update(part)
            out.write(part)
        out.flush()
        os.fsync(out.fileno())
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest.hexdigest()}


def _write_growing(file: Path, growing: Growing) -> dict:
    dtype, length = np.dtype(growing.dtype).newbyteorder("<"), 0
    with open(file, "w+b") as out:
        out.write(_header(dtype, (0,)))  # its length does not depend on the shape
        for piece in growing.pieces:
            out.write(np.ascontiguousarray(piece, dtype))
            length += len(piece)
        out.seek(0)
        out.write(_header(dtype, (length,)))
        out.flush()
        os.fsync(out.fileno())
        out.seek(0)
        digest = hashlib.file_digest(out, "sha256").hexdigest()
    return {"dtype": dtype.str, "shape": [length], "sha256": digest}


def _header(dtype: np.dtype, shape: tuple) -> bytes:
    """Of a .npy file."""
    header = io.BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


def _bytes_of(array: np.ndarray) -> Iterator:
    """What `numpy.save` writes, in pieces."""
    yield _header(array.dtype, array.shape)
    data = memoryview(array.reshape(-1).view(np.uint8))
    for first in range(0, len(data), CHUNK):
        yield data[first : first + CHUNK]


def _read_array(folder: Path, name: str, entry: Mapping, mapped: bool) -> np.ndarray:
    file = folder / f"{name}.npy"
    try:
        if not _ARRAY_NAME.fullmatch(name):
            raise StorageError(f"{folder} names an array {name!r}")
        digest = hashlib.sha256()
        with open(file, "rb") as source:
            while part := source.read(CHUNK):
                digest.update(part)
            if digest.hexdigest() != entry["sha256"]:
                raise StorageError(f"{file} is damaged or cut short: its digest does not fit")
            source.seek(0)
            array = np.load(file, "r") if mapped else np.load(source, allow_pickle=False)
    except FileNotFoundError:
        raise StorageError(f"{folder} is incomplete: {file.name} is missing") from None
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror}") from None
    except StorageError:
        raise
    except (ValueError, EOFError) as error:
        raise StorageError(f"{file} is not a plain array: {error}") from None
    if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
        raise StorageError(f"{file} is {array.dtype.str} {array.shape}, the manifest says otherwise")
    array.setflags(write=False)
    return array


def _digest_of(manifest: Mapping) -> str:
    canonical = json.dumps(manifest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _write_bytes(file: Path, data: bytes) -> None:
    with open(file, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def sync_folder(path) -> None:
    """Bring the names in a folder to disk, where the system can."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def encode_labels(labels: Sequence) -> dict:
    """Class labels with their type, for JSON; `decode_labels` gives back equal values of equal type."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in labels]
    kinds = {type(v) for v in plain}
    if not plain:
        return {"type": "str", "values": []}
    kind = next((k for k, (type_, *_) in _LABEL_TYPES.items() if kinds == {type_}), None)
    if kind is None:
        found = ", ".join(sorted(k.__name__ for k in kinds))
        raise StorageError(f"class labels are of type {found}; one of {', '.join(_LABEL_TYPES)} can be kept")
    return {"type": kind, "values": [_LABEL_TYPES[kind][1](v) for v in plain]}


def decode_labels(encoded: Mapping) -> np.ndarray:
    """Class labels as an object array of Python values."""
    kind, _, read, written = _LABEL_TYPES.get(encoded["type"], (None,) * 4)
    if kind is None or any(type(v) is not written for v in encoded["values"]):
        raise StorageError(f"class labels of type {encoded['type']!r} cannot be read")
    labels = np.empty(len(encoded["values"]), dtype=object)
    try:
        labels[:] = [read(v) for v in encoded["values"]]
    except (ValueError, ArithmeticError) as error:
        raise StorageError(f"a class label of type {encoded['type']!r} cannot be read: {error}") from None
    return labels


def _same(value):
    return value


#: By name: the type, how a value is written and read, and the type that JSON has for it.
_LABEL_TYPES = {
    "str": (str, _same, _same, str),
    "int": (int, _same, _same, int),
    "bool": (bool, _same, _same, bool),
    "float": (float, _same, _same, float),
    "bytes": (bytes, bytes.hex, bytes.fromhex, str),
    "date": (date, date.isoformat, date.fromisoformat, str),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat, str),
    "Decimal": (Decimal, str, Decimal, str),
}
