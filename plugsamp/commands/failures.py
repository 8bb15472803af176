"""What is said of a run that failed, and what is left of one that was refused."""

from __future__ import annotations

import contextlib
import re
import shutil
import traceback
from pathlib import Path

from plugsamp import registry

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
    return None


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
        if any(
            file.is_file()
            for entry in self.path.iterdir()
            if entry.name not in BEFORE
            for file in _below(entry)
        ):
            return
        shutil.rmtree(self.path, ignore_errors=True)
        if self.unnamed:
            with contextlib.suppress(OSError, ValueError):  # up to one that holds something
                inside = self.path.relative_to(Path.cwd()).parents
                for parent in inside:
                    if parent != Path("."):
                        parent.rmdir()
