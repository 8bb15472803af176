"""The process that workers are forked from: clean, with one thread, everything imported once.

Forking it is safe where forking the user's process is not (threads, notebooks), it imports neither the user's
script nor what Hydra or joblib have changed in multiprocessing, and sixteen workers start as fast as one. It
computes nothing, so it sees at once when the user's process is gone, and kills the workers, whatever they do.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import traceback
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from socket import socketpair

#: Seconds between two looks at whether the user's process is still there.
LOOK = 1.0

_ONE_THREAD = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip

#: Room for a block's temporary arrays is kept from piece to piece (where the C library is glibc): the system
#: need not clear the same pages again for every piece of every worker.
_KEPT = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


class Nursery:
    """The user's side.

    Raises
    ------
    OSError
        Processes cannot be started here.
    """

    def __init__(self):
        ours, theirs = socketpair()
        path = [entry for entry in sys.path if isinstance(entry, str)]  # imports ignore all others
        code = (
            f"import sys; sys.path[:] = {path!r}; from plugsamp.backends.nursery import main; "
            f"main({theirs.fileno()}, {os.getpid()})"
        )
        if not sys.executable:
            raise OSError("the Python interpreter's own program is not known (sys.executable is empty)")
        command = [sys.executable, *subprocess._args_from_interpreter_flags(), "-c", code]
        environment = {**_KEPT, **os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, env=environment, pass_fds=[theirs.fileno()]
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self.control = Connection(ours.detach())

    def fork(self) -> Connection:
        """Ask for a worker; returns the connection to it."""
        ours, theirs = socketpair()
        try:
            self.control.send("fork")
            send_handle(self.control, theirs.fileno(), self.process.pid)
        finally:
            theirs.close()
        return Connection(ours.detach())


def main(descriptor: int, owner: int) -> None:
    """Run the nursery: fork workers as they are asked for, tell how they end, end when the owner is gone."""
    control = Connection(descriptor)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the owner decides
        signal.signal(number, signal.SIG_IGN)
    from plugsamp.backends import worker
    from plugsamp.system.blas import single_thread

    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(awake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    children: list[int] = []
    with single_thread():
        while os.getppid() == owner:
            ready, _, _ = select.select([control, awake], [], [], LOOK)
            if awake in ready:
                os.read(awake, 4096)
            if not _reaped(children, control):
                break
            if control not in ready:
                continue
            try:
                control.recv()
                connection = Connection(recv_handle(control))
            except (EOFError, OSError):
                break
            try:
                pid = os.fork()
            except OSError as error:
                control.send(("none", error.strerror, 0))
                connection.close()
                continue
            if pid == 0:
                try:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    control.close()
                    os.close(awake)
                    os.close(wake)
                    _die_with_parent()
                    worker.serve(connection)
                    os._exit(0)
                except BaseException:
                    traceback.print_exc()
                    sys.stderr.flush()
                finally:
                    os._exit(1)
            connection.close()
            children.append(pid)
            if not _said(control, ("born", len(children) - 1, pid)):
                break
        for pid in children:
            if pid:
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            if pid:
                os.waitpid(pid, 0)


def _reaped(children: list[int], control: Connection) -> bool:
    """Tell of the workers that have ended; False where nobody listens any more."""
    for number, pid in enumerate(children):
        if not pid:
            continue
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            children[number] = 0
            if not _said(control, ("ended", number, os.waitstatus_to_exitcode(status))):
                return False
    return True


def _said(control: Connection, message: tuple) -> bool:
    try:
        control.send(message)
    except OSError:
        return False
    return True


def _die_with_parent() -> None:
    """Have the system kill this process when the nursery ends, where it can."""
    if sys.platform == "linux":
        nursery = os.getppid()
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != nursery:
            os._exit(0)
