"""One writer at a time, for as long as it lives."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import threading
import time
from pathlib import Path

from plugsamp.errors import InUse
from plugsamp.files.whole import is_file

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

log = logging.getLogger(__name__)

NAME = ".lock"

#: Folders locked by this process: the system's locks keep other processes out only.
_held: set[str] = set()
_changing = threading.Lock()


#: Seconds for which a lock that is held is asked for again: `held` has it for an instant.
PATIENCE = 0.1


class Locked(InUse):
    """Another process, or another fit of this one, writes to the folder."""


class Lock:
    """Exclusive use of a folder; a context manager.

    The lock is the system's, on an open file, and ends with the process, however that ends. Children do not
    inherit it.

    Parameters
    ----------
    folder : path-like
        Made where there is none.
    name : str, optional
        Of the lock's file, which is removed afterwards.
    what : path-like, optional
        What messages call the thing that is locked, by default the folder.

    Raises
    ------
    Locked, OSError
        On entering.
    """

    def __init__(self, folder, name: str = NAME, what=None):
        self.folder = Path(folder)
        self.path = self.folder / name
        self.what = self.folder if what is None else what

    def __enter__(self) -> Lock:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._key = key = _key(self.path)
        with _changing:
            if key in _held:
                raise Locked(f"{self.what} is being written by another fit of this process")
            _held.add(key)  # before the file, which would let a second thread in
        try:
            self._handle = self._locked_file()
        except BaseException:
            _held.discard(key)
            raise
        return self

    def _locked_file(self) -> int:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            except FileNotFoundError:  # who held it before has removed the folder too
                self.folder.mkdir(parents=True, exist_ok=True)
                continue
            try:
                _lock(handle, self.path)
                # who held it before may have taken the file away between our two calls
                if is_file(handle, self.path):
                    break
            except (BlockingIOError, PermissionError):
                holder = os.read(handle, 200).decode(errors="replace").strip()
                os.close(handle)
                if time.monotonic() < until:
                    time.sleep(0.01)
                    continue
                raise Locked(
                    f"{self.what} is being written by {holder or 'another process'}; one at a time"
                ) from None
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
        with contextlib.suppress(OSError):  # a full disk does not matter here
            os.truncate(handle, 0)
            os.write(handle, f"process {os.getpid()} of {socket.gethostname()}".encode())
        return handle

    @property
    def holds(self) -> bool:
        """Whether the folder still is the one that was locked, and has not been removed or replaced."""
        return is_file(self._handle, self.path)

    def __exit__(self, *error) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)  # while it is still locked, so that it is nobody else's
        os.close(self._handle)
        _held.discard(self._key)


def held(folder) -> bool:
    """Whether somebody, in whatever process of this machine, holds the lock of `folder`."""
    if _key(Path(folder) / NAME) in _held:  # closing the file would give the lock away
        return True
    try:
        handle = os.open(Path(folder) / NAME, os.O_RDWR)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EAGAIN)
    finally:
        os.close(handle)


def _key(path: Path) -> str:
    return os.path.join(os.path.realpath(path.parent), path.name)


def _lock(handle: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        log.warning("%s cannot be locked (%s): nothing keeps a second run out of it", path, error.strerror)
