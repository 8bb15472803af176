"""Damaged files for readers and the model loader: an answer or an error of ours, whatever is in them.

A case is a valid file of some format with a few random changes, made of a seed and the number of the case
alone. Whoever reads it may return, or refuse with an `InputError` or a `StorageError` that names the file.
Anything else is a fault: another exception, a wait, or memory out of all proportion.
"""

from __future__ import annotations

import gzip
import io
import re
import signal
import threading
import traceback
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plugsamp.errors import InputError

#: Seconds and bytes that a case may take, and bytes more for each of its own.
SECONDS, BYTES, BYTES_EACH = 20, 64 << 20, 4000

#: What is said of a text file as a whole, and of no line.
OF_A_FILE = re.compile(
    "compressed data|not gzip data|unpacked it is|labels for|vocabulary has|there are no documents|holds no|"
    "no tokens|every document is a test document|ends in its header|^this (is (an? |\\w+ data)|looks like a)"
)

#: What is put into files: numbers at the edges of their types, signs that formats give a meaning.
NUMBERS = [
    *(f"{n}".encode() for n in (0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 10**23)),
    *(b"1e309", b"-0", b"1.5", b"1e3", b"nan", b"inf", b"1_0", b"0x10", b"+3"),
    *(sign.encode() for sign in "\u0663\u00bd"),
]
PIECES = [
    *NUMBERS,
    *(byte.to_bytes() for byte in b"\0\r\n\t ,;:|\"'\\{}[]#%/\x1a\x0c\xff\xc3"),
    *(b"", b"\r\n", b"\n\n", b"::", b"[" * 3000, b'{"a":' * 300, b"null", b"true", b"NaN", b"\\ud800"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\x1f\x8b", b"PK\x03\x04", b"\x93NUMPY"),
    *(text.encode() for text in ("%%MatrixMarket", "qid:3", "\u2028", "\u0085", "a" * 300)),
    *(b"text", b"label", b"id", b"__proto__", b"../x"),
]


def mutated(data: bytes, rng: np.random.Generator, other: bytes = b"") -> bytes:
    """The bytes with one to a few random changes; `other` is what pieces are taken from as well."""
    found = bytearray(data)
    for _ in range(1 + int(rng.geometric(0.5))):
        _change(found, rng, other or data)
    return bytes(found)


def _change(data: bytearray, rng: np.random.Generator, other: bytes) -> None:
    size = len(data)
    at = int(rng.integers(0, size + 1))
    length = int(min(rng.geometric(0.15), max(size - at, 0)))
    kind = int(rng.integers(0, 10))
    if kind == 0 and at < size:
        data[at] ^= 1 << int(rng.integers(0, 8))
    elif kind == 1 and at < size:
        data[at] = int(rng.integers(0, 256))
    elif kind == 2:
        del data[at : at + length]
    elif kind == 3:
        data[at:at] = data[at : at + length] * int(rng.integers(1, 4))
    elif kind in (4, 5):
        data[at : at + (length if kind == 5 else 0)] = PIECES[int(rng.integers(0, len(PIECES)))]
    elif kind == 6:
        del data[at:]
    elif kind == 7:  # a field or line for another
        _swap(data, rng, [b"\n", b"\t", b",", b" ", b":"][int(rng.integers(0, 5))])
    elif kind == 8:
        start = int(rng.integers(0, len(other) + 1))
        data[at:at] = other[start : start + int(rng.geometric(0.05))]
    else:
        _other_number(data, rng)


def _swap(data: bytearray, rng: np.random.Generator, separator: bytes) -> None:
    parts = bytes(data).split(separator)
    a, b = rng.integers(0, len(parts), 2).tolist()
    parts[a], parts[b] = parts[b], parts[a]
    data[:] = separator.join(parts)


def _other_number(data: bytearray, rng: np.random.Generator) -> None:
    digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    if digits:
        at = digits[int(rng.integers(0, len(digits)))]
        data[at : at + 1] = NUMBERS[int(rng.integers(0, len(NUMBERS)))]


@dataclass(frozen=True)
class Target:
    """Something that reads files.

    Attributes
    ----------
    name : str
    files : dict of str to bytes
        Valid ones, by their names below a folder.
    read : callable
        Takes the folder.
    refusals : tuple of types
        Errors that are right.
    repair : callable, optional
        Gives damaged files digests that fit, so that more than those is tried.
    textual : bool
        Whether refusals name a line, unless it is the file as a whole that is wrong (`OF_A_FILE`).
    """

    name: str
    files: dict[str, bytes]
    read: Callable[[Path], object]
    refusals: tuple[type[Exception], ...] = (InputError,)
    repair: Callable[[dict[str, bytes]], dict[str, bytes]] | None = None
    textual: bool = False


@dataclass(frozen=True)
class Fault:
    """What should not have happened, and how it is brought about again."""

    target: str
    seed: int
    case: int
    what: str
    files: dict[str, bytes]

    def __str__(self) -> str:
        return f"{self.target}, seed {self.seed}, case {self.case}: {self.what}"


def write(files: dict[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def damaged(target: Target, seed: int, case: int) -> dict[str, bytes]:
    """The files of a case: one of them, sometimes more, changed; packed ones inside or outside."""
    rng = np.random.default_rng([seed, case, zlib.crc32(target.name.encode())])
    files = dict(target.files)
    names = sorted(files)
    several = min(1 + int(rng.random() < 0.1), len(names))
    for name in rng.choice(names, several, replace=False).tolist():
        other = files[names[int(rng.integers(0, len(names)))]]
        if name.endswith(".gz") and rng.random() < 0.5:
            inside = mutated(gzip.decompress(target.files[name]), rng)
            files[name] = gzip.compress(inside, 1, mtime=0)
        elif name.endswith((".npz", ".zip")) and rng.random() < 0.6:
            files[name] = _inside_archive(files[name], rng)
        else:
            files[name] = mutated(files[name], rng, other)
    return files if target.repair is None or rng.random() < 0.3 else target.repair(files)


def _inside_archive(data: bytes, rng: np.random.Generator) -> bytes:
    """A zip archive, whole, with a member changed, left out or there twice."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    i, how = int(rng.integers(0, len(members))), rng.random()
    name, content = members[i]
    if how < 0.85:
        members[i] = name, mutated(content, rng, members[int(rng.integers(0, len(members)))][1])
    elif how < 0.95:
        del members[i]
    else:
        members.append((name, content))
    return archive_of(members)


def archive_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip archive; equal members make equal ones."""
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as archive:
        warnings.simplefilter("ignore")  # of two members of one name
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def attempt(target: Target, files: dict[str, bytes], folder: Path) -> str | None:
    """What is wrong about how files are read; None where they are read or refused as they should be."""
    write(files, folder)
    size = sum(map(len, files.values()))
    tracing = tracemalloc.is_tracing()
    if tracing:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
    wrong = None
    try:
        with _time_limit(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(folder)
    except target.refusals as error:
        if str(folder) not in str(error):
            wrong = f"no file is named: {error}"
        elif target.textual and error.line is None and not OF_A_FILE.search(error.what):
            wrong = f"no line is named: {error}"
    except _TooLong:
        wrong = f"more than {SECONDS} s"
    except MemoryError as error:
        wrong = f"MemoryError: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        wrong = f"{type(error).__name__}: {error} ({Path(where.filename).name}, line {where.lineno})"
    if tracing and wrong is None:
        took = tracemalloc.get_traced_memory()[1] - before
        if took > BYTES + BYTES_EACH * size:
            wrong = f"{took:,} bytes for files of {size:,}"
    return wrong


class _TooLong(BaseException):
    """Nothing that is read may catch it."""


@contextmanager
def _time_limit(seconds: int):
    """An alarm; none where there is no such signal, or in a thread."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number, frame):
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def faults(
    target: Target, folder: Path, cases: Sequence[int], seed: int = 0, most: int = 20
) -> tuple[int, list[Fault]]:
    """How many cases were tried, and the faults found, `most` at most."""
    found, done = [], 0
    for case in cases:
        own = folder / "case"
        own.mkdir(parents=True)
        files = damaged(target, seed, case)
        try:
            wrong = attempt(target, files, own)
        finally:
            _remove(own)
        done += 1
        if wrong is not None:
            found.append(Fault(target.name, seed, case, wrong, files))
            if len(found) >= most:
                break
    return done, found


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder)
