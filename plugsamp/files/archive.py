"""Arrays and one JSON manifest as one compressed file: a zip archive, for what is sent to others.

Like the folders of `plugsamp.files.storage`: plain arrays with their digests, a manifest with one of itself,
and refused before anything is used. What an archive claims to hold is compared with its own size first, so
that a small file cannot ask for much memory.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plugsamp.files import storage
from plugsamp.files.plain_arrays import NotPlain, array_of
from plugsamp.files.regular import open_regular
from plugsamp.files.storage import MANIFEST, StorageError
from plugsamp.files.whole import complete_bytes
from plugsamp.system import memory

#: More than deflate can gain: an archive that claims to is no archive of ours.
MOST_GAIN = 1100

#: Bytes that an archive of any size may hold, and those beyond them for each of its own: arrays of models and
#: counts gain less by deflate.
PLENTY, GAIN = 1 << 28, 100

#: Bytes that the table of words by topics may have whatever its compact form takes.
MOST_TABLE = 1 << 30

#: Names of members: of files, in no folder.
_NAME = re.compile(r"[A-Za-z0-9_.\- ]{1,200}")

#: What reading a damaged archive raises besides BadZipFile.
_OF_ZIPFILE = (OSError, ValueError, RuntimeError, NotImplementedError, zlib.error, EOFError, struct.error)

#: Of every member: the same model makes the same file.
_DATE = (1980, 1, 1, 0, 0, 0)


def write_archive(
    path, kind: str, arrays: Mapping[str, np.ndarray], content: Mapping, overwrite: bool = False
) -> Path:
    """Write arrays and a JSON-able content as one file, complete or not at all.

    Parameters
    ----------
    path : path-like
        Must not exist, unless `overwrite`.
    kind, arrays, content
        As `plugsamp.files.storage.write_folder` takes them.

    Raises
    ------
    StorageError
    """
    path = Path(path)
    if path.is_dir() or (path.exists() and not overwrite):
        raise StorageError(
            f"{path} " + ("exists and is a folder" if path.is_dir() else "exists; overwrite=True replaces it")
        )
    entries, data = {}, {}
    for name, array in arrays.items():
        data[name], entries[name] = storage.encoded(name, array)
    text = json.dumps(storage.manifest(kind, entries, content), indent=1, allow_nan=False).encode()
    with complete_bytes(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, values in {MANIFEST: text, **{f"{name}.npy": d for name, d in data.items()}}.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = 0o644 << 16
            archive.writestr(info, values, zipfile.ZIP_DEFLATED, 9)
    return path


def read_archive(path, kind: str) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and the content of a file written by `write_archive`; nothing in it is executed.

    Raises
    ------
    StorageError
        Not such a file, of another kind, written by a newer version, incomplete or damaged.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            found = members(file)
    except FileNotFoundError:
        raise StorageError(f"there is no file {path}") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from None
    except NotWhole as error:
        raise StorageError(f"{path} is damaged, cut short or no archive: {error}") from None
    if MANIFEST not in found:
        raise StorageError(f"{path} was not written by plugsamp: it has no {MANIFEST}")
    manifest = storage.checked_manifest(found[MANIFEST], path, f"{path}, {MANIFEST}", kind)
    arrays = {}
    for name, entry in manifest["arrays"].items():
        if f"{name}.npy" not in found:
            raise StorageError(f"{path} is incomplete: {name}.npy is missing")
        arrays[name] = _array(found[f"{name}.npy"], f"{path}, {name}.npy", entry)
    return arrays, manifest["content"]


class NotWhole(ValueError):
    """Data that is no zip archive that can be read; the message says why."""


def members(file) -> dict[str, bytes]:
    """The members of a zip archive by name, once their sizes are found to be possible.

    Parameters
    ----------
    file : binary file

    Raises
    ------
    NotWhole
    """
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(file) as archive:
            _check_sizes(archive.infolist(), file.seek(0, 2))
            for info in archive.infolist():
                if info.filename in found:
                    raise NotWhole(f"it has two members {info.filename}")
                found[info.filename] = _bytes(archive, info)
    except NotWhole:
        raise
    except (zipfile.BadZipFile, *_OF_ZIPFILE) as error:
        raise NotWhole(str(error) or type(error).__name__) from None
    return found


def _check_sizes(infos, size: int) -> None:
    for info in infos:
        if not _NAME.fullmatch(info.filename):
            raise NotWhole(f"it has a member called {info.filename[:80]!a}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotWhole(f"{info.filename} is packed in a way that is not known")
        if info.file_size > MOST_GAIN * (info.compress_size + 1):
            raise NotWhole(f"{info.filename} claims {info.file_size} bytes")
    needed, free = sum(info.file_size for info in infos), memory.available_bytes()
    if needed > PLENTY + GAIN * size:  # on a large machine too
        raise NotWhole(f"its {size} bytes claim to hold {needed}")
    if free is not None and needed > free:
        raise NotWhole(f"it needs {needed} bytes of memory, and {free} are free")


def _bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as member:
        data = member.read(info.file_size)
        if len(data) < info.file_size or member.read(1):
            raise NotWhole(f"{info.filename} is not of its size")
    return data


def require_memory(needed: int, path, there: int) -> None:
    """Refuse (StorageError) what `there` bytes cannot mean, and what would not fit in the memory."""
    if needed > MOST_TABLE + MOST_GAIN * there:
        raise StorageError(f"{path} is damaged: {there} bytes of arrays would make {needed}")
    free = memory.available_bytes()
    if free is not None and needed > free:
        raise StorageError(f"{path} needs {needed} bytes of memory, and {free} are free")


def _array(data: bytes, where: str, entry) -> np.ndarray:
    if not isinstance(entry, Mapping) or hashlib.sha256(data).hexdigest() != entry.get("sha256"):
        raise StorageError(f"{where} is damaged: its digest does not fit")
    try:
        array = array_of(data)
    except NotPlain as error:
        raise StorageError(f"{where} is not a plain array: {error}") from None
    storage.check_entry(array, where, entry)
    return array
