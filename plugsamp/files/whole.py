"""Files that are there complete or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np


@contextmanager
def complete(path, errors: str = "replace", newline: str | None = None, bom: bool = False):
    """A UTF-8 file to write, there complete or not at all; `errors` and `newline` as `open` takes them.

    With `bom` it begins with a byte order mark, without which Excel takes other encodings for it.
    """
    encoding = "utf-8-sig" if bom else "utf-8"
    with _complete(path, "w", encoding=encoding, errors=errors, newline=newline) as file:
        yield file


@contextmanager
def complete_bytes(path):
    """A binary file to write, there complete or not at all."""
    with _complete(path, "wb") as file:
        yield file


@contextmanager
def _complete(path, mode: str, **options):
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, mode, **options) as file:
            yield file
        os.replace(temporary, path)
    except OSError as error:
        if error.filename is None or os.fspath(error.filename) == str(temporary):
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path, text: str) -> None:
    """Write a file, complete or not at all."""
    with complete(path) as file:
        file.write(text)


def read_object(path) -> dict:
    """The content of a JSON file that is an object; empty where there is none to be read."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path, content) -> None:
    """Write `json_text`, complete or not at all."""
    write_text(path, json_text(content))


def json_text(content) -> str:
    """Strict JSON: numbers that are not finite become null, and are listed under ``not_finite``."""
    found: list[str] = []
    plain = _strict(content, "", found)
    if found:
        plain["not_finite"] = found
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def not_finite(content) -> list[str]:
    """Where a content for JSON has numbers that are not finite, as ``place = number``."""
    found: list[str] = []
    _strict(content, "", found)
    return found


def _strict(value, where: str, found: list[str]):
    if isinstance(value, Mapping):
        return {str(k): _strict(v, f"{where}.{k}".lstrip("."), found) for k, v in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_strict(v, f"{where}[{i}]", found) for i, v in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        found.append(f"{where} = {value}")
        return None
    return value


def is_file(handle: int, path) -> bool:
    """Whether `path` is still the file that `handle` is open on."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
