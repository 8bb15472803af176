"""Files that are files: a pipe would keep the reader waiting for ever, and a device has no end."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager


@contextmanager
def open_regular(path):
    """Open a regular file, or a link to one, for reading bytes.

    Raises
    ------
    OSError
        It cannot be opened, or is a pipe, a device or a socket.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, f"it is {_kind(mode)}, and no file", str(path))
    except BaseException:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as file:
        yield file


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "something else")
