"""What worker processes may have left."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ..quick_nursery import name_of


def relatives(owner: int | None = None) -> list[int]:
    """Nurseries and workers of a process (by default this one), by their command line or their name."""
    owner = os.getpid() if owner is None else owner
    mark, quick = f", {owner})".encode(), name_of(owner)
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            gone = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
            name = (folder / "comm").read_text().strip()
        except OSError:
            continue
        real = b"plugsamp.backends.nursery" in line and mark in line
        if (real or name == quick) and not gone:
            found.append(int(folder.name))
    return found


def gone_within(seconds: float, owner: int | None = None) -> bool:
    """Whether all of them are gone within some time."""
    until = time.monotonic() + seconds
    while relatives(owner):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
