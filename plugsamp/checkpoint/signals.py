"""Ctrl-C, SIGTERM and a terminal that is closed as a wish to stop, granted after the sweep."""

from __future__ import annotations

import signal
import threading

from plugsamp.errors import Interrupted

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


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

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if callable(signal.getsignal(number)) or signal.getsignal(number) == signal.SIG_DFL:
                    self._before[number] = signal.signal(number, self._take)
        return self

    def _take(self, number, frame) -> None:
        if self.patient and self.requested is None:
            self.requested = number
            return
        raise Interrupted("interrupted", number)

    def __exit__(self, *error) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
