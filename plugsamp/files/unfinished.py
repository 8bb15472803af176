"""Folders that are written under a temporary name beside their place, and what killed writers leave of them.

As long as one is written it holds a file that its writer has locked; the system gives the lock back when the
writer ends, however that is. So the next writer to the same place can tell what nobody is at work on any
more, and takes that away.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # nothing is taken away then
    fcntl = None

MARK = ".writing"


def names(path: Path) -> re.Pattern:
    """What temporary folders beside `path` are called; the first group is there for one that was replaced."""
    return re.compile(rf"\.{re.escape(path.name)}-(old-)?[a-z0-9_]{{8}}")


@contextlib.contextmanager
def beside(path: Path, old: bool = False) -> Iterator[Path]:
    """A new folder beside `path`, marked as being written."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}-{'old-' * old}", dir=path.parent))
        with open(folder / MARK, "wb") as mark:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(mark, fcntl.LOCK_EX)
            if (folder / MARK).exists():  # nobody took it for left before it was locked
                yield folder
                return


def take_away(path: Path) -> None:
    """Take away what killed writers to `path` have left; what they had put aside goes back where it was."""
    if fcntl is None:
        return
    for left in path.parent.glob(f".{_literal(path.name)}-*"):
        found = names(path).fullmatch(left.name)
        if not found or not (left / MARK).is_file():
            continue
        with contextlib.suppress(OSError), open(left / MARK, "rb+") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if found[1] and (left / path.name).exists() and not path.exists():
                os.replace(left / path.name, path)
            shutil.rmtree(left, ignore_errors=True)


def _literal(name: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", name)
