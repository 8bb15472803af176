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
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plugsamp.brief import clipped
from plugsamp.files import unfinished
from plugsamp.files.plain_arrays import check_header
from plugsamp.files.regular import open_regular
from plugsamp.files.whole import not_finite

#: Of the layout written here. A reader accepts this one and older ones it knows how to read.
SCHEMA_VERSION = 1
FORMAT = "plugsamp"
MANIFEST = "manifest.json"

#: Digits of an integer in a manifest: seeds may be large, and other numbers are floats in the end.
LONGEST_NUMBER = 300

#: Bytes that a manifest has at most: it holds names, such as the words, and no numbers.
LONGEST = 1 << 29

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
        why = "exists and is not a plugsamp folder" if overwrite else "exists; overwrite=True replaces it"
        raise StorageError(f"{path} {why}")
    with unfinished.beside(path) as temporary:
        try:
            pairs = arrays.items() if isinstance(arrays, Mapping) else arrays
            entries = {name: _write_array(temporary, name, array) for name, array in pairs}
            about = json.dumps(manifest(kind, entries, content), indent=1, allow_nan=False)
            _write_bytes(temporary / MANIFEST, about.encode())
            os.chmod(temporary, 0o777 & ~_umask())
            (temporary / unfinished.MARK).unlink()
            sync_folder(temporary)
            _put(temporary, path)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError) and error.filename is None and error.errno is not None:
                error.filename = str(path)  # a write does not know of what
            raise
    return path


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


def manifest(kind: str, entries: Mapping, content: Mapping) -> dict:
    """What stands in a manifest, its own digest included."""
    found = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "arrays": entries,
        "content": dict(content),
    }
    return with_digest(found)


def with_digest(found: dict) -> dict:
    """A manifest with its own digest."""
    try:
        return found | {"sha256": _digest_of(found)}
    except ValueError:
        for where in not_finite(found):
            raise StorageError(f"{where} cannot be kept: JSON has finite numbers alone") from None
        raise


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
    about = _read_manifest(path, kind)
    arrays = {}
    for name, entry in about["arrays"].items():
        arrays[name] = _read_array(path, name, entry, name in mapped)
    return arrays, about["content"]


def read_content(path, kind: str) -> dict:
    """The content of a folder alone; its arrays are not looked at.

    Raises
    ------
    StorageError
    """
    return _read_manifest(Path(path), kind)["content"]


def array_digests(path, kind: str) -> dict[str, str]:
    """The SHA-256 of each array's file, by name, as the manifest of a folder has them.

    Raises
    ------
    StorageError
    """
    entries = _read_manifest(Path(path), kind)["arrays"]
    return {name: entry["sha256"] for name, entry in entries.items() if _ARRAY_NAME.fullmatch(name)}


def _read_manifest(path: Path, kind: str) -> dict:
    if not path.is_dir():
        raise StorageError(f"{path} is not a folder" if path.exists() else f"there is no folder {path}")
    try:
        with open_regular(path / MANIFEST) as file:
            if os.fstat(file.fileno()).st_size > LONGEST:
                raise StorageError(f"{path / MANIFEST} is over {LONGEST} bytes, which no manifest has")
            text = file.read()
    except FileNotFoundError:
        raise StorageError(f"{path} is not a plugsamp folder: it has no {MANIFEST}") from None
    except OSError as error:
        raise StorageError(f"{path / MANIFEST} cannot be read: {error.strerror}") from None
    return checked_manifest(text, path, path / MANIFEST, kind)


def checked_manifest(text: bytes, path, file, kind: str) -> dict:
    """A manifest as it was written, without its digest.

    Parameters
    ----------
    text : bytes
    path, file
        What messages call the whole, and the manifest.
    kind : str

    Raises
    ------
    StorageError
    """
    try:
        found = json.loads(text, parse_constant=_no_number, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{file} is damaged: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise StorageError(f"{file} was not written by plugsamp")
    version = found.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise NewerError(
            f"{path} has schema version {clipped(str(version), 40)}; this plugsamp reads up to "
            f"{SCHEMA_VERSION}: update it"
        )
    try:
        fits = found.pop("sha256", None) == _digest_of(found)
    except (ValueError, RecursionError):  # half a surrogate, a number beyond all numbers
        fits = False
    if not fits:
        raise StorageError(f"{file} is damaged: its digest does not fit")
    if found.get("kind") != kind:
        raise StorageError(f"{path} holds a {found.get('kind')}, not a {kind}")
    for part in ("arrays", "content"):
        if not isinstance(found.get(part), dict):
            raise StorageError(f"{file} is damaged: it has no {part}")
    return found


def _no_number(name: str):
    raise ValueError(f"{name} is no number of JSON")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _write_array(folder: Path, name: str, array) -> dict:
    """Write an array chunk by chunk: a large one takes no memory beside its own."""
    if not _ARRAY_NAME.fullmatch(name):
        raise StorageError(f"{name!r} cannot be the name of an array")
    if isinstance(array, Growing):
        return _write_growing(folder / f"{name}.npy", array)
    array = _kept(name, array)
    digest = hashlib.sha256()
    with open(folder / f"{name}.npy", "wb") as out:
        for part in _bytes_of(array):
            digest.update(part)
            out.write(part)
        out.flush()
        os.fsync(out.fileno())
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest.hexdigest()}


def _kept(name: str, array) -> np.ndarray:
    """An array as it is written: contiguous, little-endian."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if array.dtype.kind not in "biuf":
        raise StorageError(
            f"array {name} has dtype {array.dtype}; only booleans, integers and floats are kept"
        )
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def encoded(name: str, array) -> tuple[bytes, dict]:
    """What `numpy.save` writes of an array, and what a manifest says of it."""
    if not _ARRAY_NAME.fullmatch(name):
        raise StorageError(f"{name!r} cannot be the name of an array")
    array = _kept(name, array)
    data = b"".join(_bytes_of(array))
    digest = hashlib.sha256(data).hexdigest()
    return data, {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}


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
        with open_regular(file) as source:
            while part := source.read(CHUNK):
                digest.update(part)
            if not isinstance(entry, Mapping) or digest.hexdigest() != entry.get("sha256"):
                raise StorageError(f"{file} is damaged or cut short: its digest does not fit")
            size = source.tell()
            source.seek(0)
            check_header(source, size)
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
    check_entry(array, file, entry)
    array.setflags(write=False)
    return array


def check_entry(array: np.ndarray, file, entry: Mapping) -> None:
    """Refuse an array that is not what the manifest says (StorageError)."""
    shape = entry.get("shape")  # in Python True is 1
    plain = isinstance(shape, list) and not any(isinstance(n, bool) for n in shape)
    if array.dtype.str != entry.get("dtype") or not plain or list(array.shape) != shape:
        raise StorageError(f"{file} is {array.dtype.str} {array.shape}, the manifest says otherwise")


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
