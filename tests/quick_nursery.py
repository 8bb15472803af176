"""Nurseries of worker processes that need not import anything: they are forked from one that has."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from socket import socketpair

import pytest

from plugsamp.backends import nursery

#: Of prctl(2).
SET_NAME, SET_CHILD_SUBREAPER = 15, 36

#: Variables that pytest sets for every test; no process of ours reads them.
OURS = ("PYTEST_CURRENT_TEST",)


def environment() -> dict[str, str]:
    """What processes of the test would find."""
    return {name: value for name, value in os.environ.items() if name not in OURS}


def name_of(owner: int) -> str:
    """The name of a process's quick nurseries and their workers, in /proc/PID/comm."""
    return f"nursery{owner}"


def as_popen(pid: int) -> subprocess.Popen:
    """A child process that `subprocess` has not started, as if it had."""
    process = subprocess.Popen.__new__(subprocess.Popen)
    process.args, process.pid, process.returncode = "a quick nursery", pid, None
    process.stdin = process.stdout = process.stderr = None
    process._child_created, process._waitpid_lock = True, threading.Lock()
    return process


def main(descriptor: int) -> None:
    """Fork nurseries as they are asked for, until the owner is gone."""
    from plugsamp.backends import worker  # noqa: F401

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner decides
    control = Connection(descriptor)
    while True:
        try:
            owner, path, folder = pickle.loads(control.recv_bytes())
            handles = [recv_handle(control) for _ in range(3)]
        except (EOFError, OSError):
            return
        told, tell = os.pipe()
        between = os.fork()
        if between:
            os.waitpid(between, 0)
            control.send(int(os.read(told, 20)))  # it is the owner's child by now
            for handle in (told, tell, *handles):
                os.close(handle)
            continue
        pid = os.fork()
        if pid:
            os.write(tell, str(pid).encode())
            os._exit(0)
        os.close(told)
        os.close(tell)
        become(owner, path, folder, handles)


def become(owner: int, path: list[str], folder: str, handles: list[int]) -> None:
    """Be a nursery, with streams, imports and working folder as the owner has them."""
    code = 1
    try:
        until = time.monotonic() + 10.0
        while os.getppid() != owner and time.monotonic() < until:
            time.sleep(1e-4)
        ctypes.CDLL(None).prctl(SET_NAME, name_of(owner).encode())
        for number, handle in enumerate(handles[1:], start=1):
            os.dup2(handle, number)
        sys.path[:] = path
        os.chdir(folder)
        nursery.main(handles[0], owner)
        code = 0
    finally:
        os._exit(code)


class Stock:
    """The process that quick nurseries are forked from, started when the first is asked for."""

    def __init__(self):
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        ours, theirs = socketpair()
        file = str(__file__)
        code = (
            f"import importlib.util as u; s = u.spec_from_file_location('quick_nursery', {file!r}); "
            f"m = u.module_from_spec(s); s.loader.exec_module(m); m.main({theirs.fileno()})"
        )
        values = {**nursery._KEPT, **os.environ, **dict.fromkeys(nursery._ONE_THREAD, "1")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, env=values, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        self.control, self.environment = Connection(ours.detach()), environment()

    def fork(self, descriptor: int) -> subprocess.Popen:
        """A nursery that talks through `descriptor`, as a child of this process."""
        if self.process is None:
            self.start()
        prctl = ctypes.CDLL(None).prctl
        prctl(SET_CHILD_SUBREAPER, 1)
        try:
            path = [entry for entry in sys.path if isinstance(entry, str)]
            self.control.send_bytes(pickle.dumps((os.getpid(), path, os.getcwd())))
            for handle in (descriptor, 1, 2):
                send_handle(self.control, handle, self.process.pid)
            return as_popen(self.control.recv())
        finally:
            prctl(SET_CHILD_SUBREAPER, 0)

    def close(self) -> None:
        if self.process is not None:
            self.control.close()
            try:
                self.process.wait(5.0)
            except subprocess.TimeoutExpired:  # a fork of this process is still there, and has the other end
                self.process.kill()
                self.process.wait()


@pytest.fixture(scope="session", autouse=True)
def quick_nursery():
    """Fork nurseries from one process where they would be the same; yields how a nursery really starts.

    A nursery imports for a third of a second. Those of tests about nurseries (`real_nursery`), and of
    commands in processes of their own, still do.
    """
    really, stock = nursery.Nursery.__init__, Stock()

    def start(self):
        if stock.process is not None and stock.environment != environment():
            return really(self)
        ours, theirs = socketpair()
        try:
            self.process = stock.fork(theirs.fileno())
        finally:
            theirs.close()
        self.control = Connection(ours.detach())

    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            patch.setattr(nursery.Nursery, "__init__", start)
        yield really
    stock.close()


@pytest.fixture
def real_nursery(quick_nursery, monkeypatch):
    """Nurseries start as they do for users."""
    monkeypatch.setattr(nursery.Nursery, "__init__", quick_nursery)
