"""How much memory this process may still take."""

from __future__ import annotations

import os
from pathlib import Path

#: Bytes that are taken without asking: to ask takes some tenths of a millisecond.
LITTLE = 1 << 24


def available_bytes() -> int | None:
    """Bytes that can be allocated without swapping, or None where the system does not say.

    The smaller of what the machine has free (caches count as free) and what is left of the limit of
    the control group, which is what ends a process in a container.
    """
    known = [b for b in (_machine(), _control_group()) if b is not None]
    return min(known) if known else None


def in_words(n_bytes: float) -> str:
    """An amount of memory in the unit that fits it: 83 MB, 1.2 GB."""
    size, units = max(float(n_bytes), 0.0), ["bytes", "kB", "MB"]
    while units and size >= 1000:
        size /= 1024
        units.pop(0)
    return f"{size:.0f} {units[0]}" if units else f"{size:.1f} GB"


def _machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _control_group() -> int | None:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # absent, or "max": no limit
            continue
    return None
