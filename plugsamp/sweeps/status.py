"""status.json of a run folder: whether its run goes on, or how it ended.

A run that ends without a word (SIGKILL, a machine that went down) leaves ``running`` behind; what tells it
from one that goes on is that nobody holds the folder's lock.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from plugsamp.files import lock
from plugsamp.files.whole import read_object, write_json

STATUS = "status.json"

#: Beside another run's files: why a job of a sweep has left them alone.
REFUSED = "refused.json"

STATUSES = RUNNING, DONE, FAILED, INTERRUPTED, KILLED = "running", "done", "failed", "interrupted", "killed"


@contextlib.contextmanager
def recorded(folder: Path, explain: Callable[[BaseException], tuple[str, bool]], begun: bool = True, **more):
    """Keep status.json of a run that is done inside; for who holds the folder's lock.

    The value is a function to be called when the run begins, unless it has `begun`: what ends before that
    leaves the file as it is.

    Parameters
    ----------
    folder : Path
    explain : callable
        What to say of an exception, and whether it is the user's to put right.
    more
        What else to write down: ``overrides``, a list of str, the options as they were given, and so on. None
        leaves what an earlier part of the run has written.
    """
    start = time.monotonic()
    earlier = read_object(folder / STATUS)
    record = {
        **{name: earlier.get(name) if value is None else value for name, value in more.items()},
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
        "process": os.getpid(),
        "host": socket.gethostname(),
    }

    def begin() -> None:
        nonlocal begun
        begun = True
        (folder / REFUSED).unlink(missing_ok=True)
        write_json(folder / STATUS, {"status": RUNNING, **record})

    def ended(status: str, error: str | None = None, mistake: bool | None = None) -> None:
        content = {"status": status, "error": error, "mistake": mistake, **record}
        content["wall_seconds"] = time.monotonic() - start
        write_json(folder / STATUS, content)

    if begun:
        begin()
    try:
        yield begin
    except BaseException as error:
        status = FAILED if isinstance(error, Exception) else INTERRUPTED
        if begun:
            with contextlib.suppress(OSError):  # a full disk is told already
                ended(status, *explain(error))
        raise
    ended(DONE)


def claim(folder: Path, **more) -> None:
    """Write down that a run that is done counts for another sweep too, with the options it has there."""
    if read_object(folder / REFUSED).get("sweep") != more.get("sweep"):  # what an earlier call was told
        (folder / REFUSED).unlink(missing_ok=True)
    if record := read_object(folder / STATUS):
        write_json(folder / STATUS, {**record, **more})


def refuse(folder: Path, overrides: Sequence[str], error: str, sweep: str) -> None:
    """Write down that a job of a sweep was refused, without touching the run that has the folder."""
    with contextlib.suppress(OSError):
        write_json(folder / REFUSED, {"overrides": list(overrides), "error": error, "sweep": sweep})


def status_of(folder: Path) -> tuple[str | None, dict]:
    """How the run of a folder stands (None: it never said), and what else status.json holds."""
    record = read_object(folder / STATUS)
    status = record.get("status")
    if status == RUNNING and not lock.held(folder):
        status = KILLED
    return status if isinstance(status, str) else None, record


def damaged(path: Path) -> bool:
    """Whether there is such a file, and no JSON object in it."""
    return path.exists() and not read_object(path)
