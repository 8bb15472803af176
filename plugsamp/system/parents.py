"""A process that ends with its parent, and a parent that learns which of its children have died."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import socket
import struct
import sys
import threading
import time

#: Seconds between two looks at whether the parent is still there.
LOOK = 0.5

_HELLO = struct.Struct("!16sI")
_DONE = b"."

_watched: set[int] = set()


def end_with(parent: int) -> None:
    """Kill this process as soon as it is no longer a child of `parent`.

    What a killed parent leaves would go on for as long as it has work. The look is a thread's, which compiled
    code lets run; a second call does nothing.
    """
    if os.name != "posix" or parent in _watched or parent == os.getpid():
        return
    _watched.add(parent)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), name="plugsamp-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os.kill(os.getpid(), signal.SIGKILL)


class Roll:
    """What the children of this process are working on: a context manager.

    Each piece of work has a number and holds a connection open (`at_work`), which the system closes when the
    child dies, however it does.

    Attributes
    ----------
    lost : tuple of int
        The pieces whose children died first. Those that a pool kills afterwards do not count.
    """

    def __init__(self):
        self.lost: tuple[int, ...] = ()

    def __enter__(self) -> Roll:
        self._key = secrets.token_bytes(16)
        if sys.platform == "linux":  # a name in no folder: nothing is left of it
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(f"\0plugsamp-{secrets.token_hex(8)}")
        else:
            self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._stop, self._stopped = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="plugsamp-roll", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        self._stop.close()
        self._thread.join(5.0)

    @property
    def ticket(self) -> tuple:
        """What `at_work` takes in another process."""
        return int(self._listener.family), self._listener.getsockname(), self._key

    def await_lost(self, seconds: float = 1.0) -> tuple[int, ...]:
        """`lost`, when it is known that a child has died: it may be noticed a little later."""
        until = time.monotonic() + seconds
        while not self.lost and time.monotonic() < until:
            time.sleep(0.01)
        return self.lost

    def _listen(self) -> None:
        received: dict[socket.socket, bytes] = {}
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._stopped, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._stopped in ready:
                    break
                gone = []
                for one in ready:
                    if one is self._listener:
                        with contextlib.suppress(OSError):
                            child, _ = one.accept()
                            received[child] = b""
                            selector.register(child, selectors.EVENT_READ)
                        continue
                    more = _received(one)
                    received[one] += more
                    if not more or not self._key.startswith(received[one][:16]):
                        selector.unregister(one)
                        one.close()
                        gone += self._unfinished(received.pop(one))
                self.lost = self.lost or tuple(sorted(gone))
        for one in (self._listener, self._stopped, *received):
            one.close()

    def _unfinished(self, data: bytes) -> list[int]:
        """The number of a piece that was begun and not ended."""
        if len(data) != _HELLO.size or data[:16] != self._key:
            return []
        return [_HELLO.unpack(data)[1]]


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(64)
    except OSError:
        return b""


@contextlib.contextmanager
def at_work(ticket: tuple | None, number: int):
    """While inside, this process works on a piece; `ticket` is its parent's, or None."""
    connection = None
    if ticket is not None:
        family, address, key = ticket
        with contextlib.suppress(OSError):  # the piece is done all the same
            connection = socket.socket(family)
            connection.connect(address)
            connection.sendall(_HELLO.pack(key, number))
    try:
        yield
    finally:
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.sendall(_DONE)
            connection.close()
