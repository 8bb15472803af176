"""The file that a command is to write: whether it can be, said before the work that would come to nothing."""

from __future__ import annotations

import os
from pathlib import Path

from plugsamp.errors import InputError


def target(option: str, given: str | Path, overwrite: bool = False, own: Path | None = None) -> Path:
    """The path of a file to write.

    Parameters
    ----------
    option : str
        What it was given as, for messages.
    given : str or Path
    overwrite : bool
        Whether a file that is there may be replaced.
    own : Path, optional
        A file that the command keeps up to date itself, and replaces unasked.

    Raises
    ------
    InputError
        It is empty, - or a folder, its folder is missing or closed, or a file is there.
    """
    text = os.fspath(given)
    if not text.strip():
        raise InputError(f"{option} is empty; name the file to write, {option}=FILE")
    if text == "-":
        raise InputError(f"{option}=- stands for standard output, which this is not written to; name a file")
    path = Path(text)
    if path.is_dir() or text.endswith(("/", os.sep)):
        raise InputError("this is a folder, the name of a file is needed", file=text)
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"there is no such folder ({option}={text})", file=path.parent)
    if path.exists():
        if not path.is_file():
            raise InputError("this is no plain file, and is not replaced", file=path)
        if not overwrite and (own is None or path.resolve() != own.resolve()):
            raise InputError("the file is there already; overwrite=true replaces it", file=path)
    if not os.access(parent, os.W_OK):
        raise InputError("no file may be written into this folder", file=path.parent)
    return path
