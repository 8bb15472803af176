"""Ctrl-C, SIGTERM and a terminal that is closed as a wish to stop, granted after the sweep."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass, field

from plugsamp.errors import Interrupted

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


#: Seconds in which a signal comes again that was sent once.
AGAIN = 2.0


@dataclass(frozen=True)
class Sent:
    """A signal that has come.

    All but Ctrl-C may come more than once: a terminal that is closed and its shell both send SIGHUP, a
    scheduler that ends all processes sends SIGTERM to those to whom a sweep passes it on.
    """

    number: int
    at: float = field(default_factory=time.monotonic)

    def again(self, number: int) -> bool:
        """Whether a signal is this one still."""
        return number == self.number != signal.SIGINT and time.monotonic() - self.at < AGAIN


class Stop:
    """The first signal sets `requested`, the second raises `Interrupted` at once; a context manager.

    Before `patient` is set there is nothing worth waiting for, and the first raises too. Signals that are
    ignored (a run under nohup, in the background of a script) stay so. Outside the main thread, where Python
    lets nobody take signals, none is taken.

    Attributes
    ----------
    requested : int or None
        The signal's number.
    """

    def __init__(self):
        self.requested: int | None = None
        self.patient = False
        self._before: dict = {}
        self._first: Sent | None = None

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if callable(signal.getsignal(number)) or signal.getsignal(number) == signal.SIG_DFL:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def _take(self, number, frame) -> None:
        if self.patient and self.requested is None:
            self.requested, self._first = number, Sent(number)
            return
        if self._first is not None and self._first.again(number):
            return
        raise Interrupted("interrupted", number)

    def __exit__(self, *error) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
