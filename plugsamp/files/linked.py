"""Equal arrays of two folders as one file on disk."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from plugsamp.files.storage import StorageError, array_digests

#: Bytes from which an array is worth it.
LARGE = 1 << 20


def link_equal(folder, kind: str, others: Iterable[Path], other_kind: str) -> None:
    """Make large arrays of other folders that `folder` has too hard links to its files.

    Folders are never changed, only replaced, so that none depends on another. Where links cannot be made, the
    files stay as they are.

    Parameters
    ----------
    folder : path-like
        As `plugsamp.files.storage.write_folder` has written it.
    kind, other_kind : str
        What the folders hold.
    others : iterable of Path
    """
    folder = Path(folder)
    with contextlib.suppress(OSError, StorageError):
        known = {digest: folder / f"{name}.npy" for name, digest in array_digests(folder, kind).items()}
        for other in others:
            for name, digest in array_digests(other, other_kind).items():
                file, same = other / f"{name}.npy", known.get(digest)
                if same is not None and LARGE <= file.stat().st_size == same.stat().st_size:
                    temporary = other / f".{name}.link"
                    os.link(same, temporary)
                    os.replace(temporary, file)
