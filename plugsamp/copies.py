"""Packages that are installed twice: of two copies on the path the first counts, as for imports."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions


@dataclass(frozen=True)
class Copy:
    """A copy of a package with plugins, which another copy hides.

    Attributes
    ----------
    package, version, folder : str
    entries : frozenset of (str, str)
        The groups and names that it registers.
    by : str
        Version and place of the copy that counts.
    """

    package: str
    version: str
    folder: str
    entries: frozenset[tuple[str, str]]
    by: str

    def said(self, groups: Mapping[str, str]) -> str:
        """A sentence about it; `groups` is what each group holds."""
        names = ", ".join(f"{groups.get(group, group)} {name!r}" for group, name in sorted(self.entries))
        return (
            f"package {self.package} {self.version} in {self.folder} registers {names}, and is hidden by "
            f"{self.by}, which comes first on the path; uninstall one of them"
        )


def hidden() -> list[Copy]:
    """All copies that register plugins and are hidden, in the order of the path.

    A further copy of the same version with the same entry points hides nothing, and is left out: so are the
    metadata that an editable install leaves in the folder of its source.
    """
    first: dict[str, Distribution] = {}
    found = []
    for copy in distributions():
        if not copy.name:  # half removed
            continue
        name = re.sub(r"[-_.]+", "-", copy.name).lower()
        before = first.setdefault(name, copy)
        entries = _entries(copy)
        if before is copy or not entries:
            continue
        if before.version == copy.version and entries == _entries(before):
            continue
        by = f"{before.name} {before.version} in {_folder(before)}"
        named = frozenset((group, entry) for group, entry, _ in entries)
        found.append(Copy(copy.name, copy.version, _folder(copy), named, by))
    return list(dict.fromkeys(found))  # a folder may be on the path twice


def _entries(copy: Distribution) -> frozenset[tuple[str, str, str]]:
    """Group, name and target of what it registers with us."""
    ours = (e for e in copy.entry_points if e.group.startswith("plugsamp."))
    return frozenset((e.group.partition(".")[2], e.name, e.value) for e in ours)


def _folder(copy: Distribution) -> str:
    return os.path.realpath(copy.locate_file(""))
