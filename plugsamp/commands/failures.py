"""What is said of a run that failed, and what is left of one that was refused."""

from __future__ import annotations

import contextlib
import re
import shutil
import traceback
from importlib.util import find_spec
from pathlib import Path

from plugsamp import registry
from plugsamp.files.lock import Lock, Locked

#: What a run folder holds before there is anything of a run in it.
BEFORE = {".hydra", ".lock", "config.yaml", "fit.log", "status.json"}


def of_plugin(error: BaseException) -> str | None:
    """The traceback of an error in a plugin's code from that on; None where no plugin was running."""
    packages = {
        p.entry.module.partition(".")[0] for group in registry.GROUPS for p in registry.plugins(group)
    }
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__") or ""
        if name.partition(".")[0] in packages - {"plugsamp"}:
            return "".join(traceback.format_exception(type(error), error, trace, chain=False)).rstrip()
        trace = trace.tb_next
    return _of_worker(error, packages - {"plugsamp"})


#: What the traceback of a worker process begins with, which comes as text, the cause of the error.
_HEAD = "Traceback (most recent call last):\n"


def _of_worker(error: BaseException, packages: set[str]) -> str | None:
    """The same where the plugin was running in another process, ours or one of joblib's."""
    _, found, last = str(error.__cause__).rstrip('"\n').rpartition(_HEAD)
    if not found:
        return None
    homes = [home for package in packages for home in _homes(package)]
    frames = re.split(r"^(?=  File \")", last, flags=re.MULTILINE)
    for i, frame in enumerate(frames):
        file = re.match(r'  File "([^"]+)"', frame)
        if file and any(Path(file[1]).is_relative_to(home) for home in homes):
            return (_HEAD + "".join(frames[i:])).rstrip()
    return None


def _homes(package: str) -> list[str]:
    """The file of a module, or the folders of a package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    return list(spec.submodule_search_locations or filter(None, [spec.origin]))


def _below(entry: Path):
    """A file, or the files below a folder but locks."""
    return (f for f in entry.rglob("*") if f.name != ".lock") if entry.is_dir() else (entry,)


class RunFolder:
    """The folder of one run, which it makes itself unless there is one already.

    Parameters
    ----------
    arguments : list of str
        Of the command, before anything is made.
    """

    def __init__(self, arguments: list[str]):
        named = [a.partition("=")[2] for a in arguments if re.match(r"\+*hydra\.run\.dir=", a)]
        given = named[-1].strip("'\"") if named else None
        self.unnamed = given is None  # hydra.run.dir's default has the time in it, and was not there before
        self.own = self.unnamed or not (re.search(r"\$\{", given) or Path(given).exists())
        self.path: Path | None = None

    def forget(self) -> None:
        """Take it away again, if it is the run's own and nothing of a run is in it."""
        if self.path is None or not self.own or not self.path.is_dir():
            return
        try:
            with Lock(self.path):  # another run may have begun there at the same time
                if any(
                    file.is_file()
                    for entry in self.path.iterdir()
                    if entry.name not in BEFORE
                    for file in _below(entry)
                ):
                    return
                shutil.rmtree(self.path, ignore_errors=True)
        except (Locked, OSError):
            return
        if self.unnamed:
            with contextlib.suppress(OSError, ValueError):  # up to one that holds something
                inside = self.path.relative_to(Path.cwd()).parents
                for parent in inside:
                    if parent != Path("."):
                        parent.rmdir()
