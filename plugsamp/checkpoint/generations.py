"""Checkpoints on disk: each a folder of its own, the newest that is whole counts, two are kept.

``<folder>/000007-sweep-40`` is the seventh checkpoint. A new one is written under a temporary name, brought
to disk and renamed; only then older ones than the one before are taken away. So whenever the process is
killed, there is a whole checkpoint, if there ever was one.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plugsamp.files.storage import NewerError, StorageError, read_content, read_folder, write_folder

log = logging.getLogger(__name__)

KIND = "checkpoint"

_NAME = re.compile(r"(\d{6,})-sweep-(\d+)")

#: Checkpoints kept.
KEPT = 2


class InProcess:
    """The last checkpoint of a run, in this process.

    Parameters
    ----------
    states : dict
        Where it is kept.
    """

    def __init__(self, states: dict):
        self.states = states

    def write(self, sweep: int, arrays: Mapping[str, np.ndarray], content: Mapping) -> None:
        """Replace the checkpoint."""
        # Kept draws never change, and may be large.
        copies = {name: a if name == "etas" else np.array(a) for name, a in arrays.items()}
        self.states["last"] = copies, json.loads(json.dumps(content))

    def newest(self) -> tuple[dict[str, np.ndarray], dict] | None:
        """Arrays and content; None before the first."""
        return self.states.get("last")

    def keep_last(self) -> None:
        """Keep one checkpoint only, as ever."""

    def clear(self) -> None:
        """Take it away."""
        self.states.clear()


class Generations:
    """The checkpoints of one run.

    Parameters
    ----------
    folder : path-like
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self._damaged: set[Path] = set()

    def paths(self) -> list[Path]:
        """The folders of checkpoints, the oldest first."""
        if not self.folder.is_dir():
            return []
        found = [(int(m[1]), path) for path in self.folder.iterdir() if (m := _NAME.fullmatch(path.name))]
        return [path for _, path in sorted(found)]

    def __bool__(self) -> bool:
        return bool(self.paths())

    def write(self, sweep: int, arrays: Mapping[str, np.ndarray], content: Mapping) -> Path:
        """Add a checkpoint, then take away those that are no longer needed.

        Raises
        ------
        OSError
            It cannot be written; what was there is as it was.
        """
        before = self.paths()
        number = int(_NAME.fullmatch(before[-1].name)[1]) + 1 if before else 1
        path = write_folder(self.folder / f"{number:06d}-sweep-{sweep}", KIND, arrays, content)
        whole = [p for p in before if p not in self._damaged]
        for old in {*self._damaged, *whole[: len(whole) + 1 - KEPT]}:
            shutil.rmtree(old, ignore_errors=True)
        self._damaged.clear()
        return path

    def newest(self) -> tuple[dict[str, np.ndarray], dict] | None:
        """Arrays and content of the newest checkpoint that is whole; None where there is none at all.

        Where a newer one is damaged, a warning names what is wrong with it.

        Raises
        ------
        StorageError
            There are some, and none can be read; or the newest is of a newer plugsamp.
        """
        paths = self.paths()
        wrong = []
        for path in reversed(paths):
            try:
                found = read_folder(path, KIND)
            except NewerError:  # nothing is wrong with it: an older one must not take its place
                raise
            except StorageError as error:
                wrong.append(str(error))
                self._damaged.add(path)
                continue
            for message in wrong:
                log.warning("%s; the checkpoint before, of sweep %s, is used", message, found[1].get("sweep"))
            return found
        if paths:
            raise StorageError("no checkpoint can be read: " + "; ".join(wrong))
        return None

    def about(self) -> dict | None:
        """The content of the newest manifest that can be read, arrays left aside; None without one."""
        for path in reversed(self.paths()):
            try:
                return read_content(path, KIND)
            except StorageError:  # `newest` says so
                continue
        return None

    def clean(self) -> None:
        """Take away what a killed process left half written. Only for who holds the folder's lock."""
        for path in self.folder.iterdir():
            if path.name.startswith(".") and _NAME.match(path.name[1:]):
                shutil.rmtree(path, ignore_errors=True)

    def keep_last(self) -> None:
        """Keep one checkpoint only: of a run that is done."""
        for path in self.paths()[:-1]:
            shutil.rmtree(path, ignore_errors=True)

    def clear(self) -> None:
        """Take all away."""
        for path in self.paths():
            shutil.rmtree(path, ignore_errors=True)
