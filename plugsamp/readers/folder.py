"""A folder of text files, its sub-folders the labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plugsamp.errors import InputError
from plugsamp.readers.base import TestFile
from plugsamp.readers.files import read_text
from plugsamp.readers.records import Records, TextReader


@dataclass(kw_only=True)
class Folder(TestFile, TextReader):
    """A file a document (plain or .gz); the first sub-folder on the way to it is its label.

    Parameters
    ----------
    path : str
        The folder, whose sub-folders are the labels.
    glob : str
        Which files, relative to `path`. Hidden files and folders are left out.
    response : str
        ``"label"``, ``"none"``, or ``"auto"``: labels where there are sub-folders.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `plugsamp.readers.text.TextOptions` and `plugsamp.readers.base`.
    """

    path: str
    glob: str = "**/*"
    response: str = "auto"
    encoding: str = "utf-8"

    def records(self, path: str) -> Records:
        root = Path(path)
        if not root.is_dir():
            what = "is a file, a folder is needed" if root.exists() else "there is no such folder"
            raise InputError(what, file=root)
        if self.response not in ("auto", "label", "none"):
            raise InputError(f"response must be auto, label or none, not {self.response!r}")
        try:
            found = [f.relative_to(root) for f in root.glob(self.glob) if f.is_file()]
        except (ValueError, NotImplementedError) as error:
            raise InputError(f"glob {self.glob!r} cannot be used: {error}") from None
        found = sorted(f for f in found if not any(part.startswith(".") for part in f.parts))
        if not found:
            raise InputError(f"there are no documents: no file matches {self.glob!r}", file=root)
        labelled = self.response == "label" or (
            self.response == "auto" and any(len(f.parts) > 1 for f in found)
        )
        if labelled:
            loose = next((f for f in found if len(f.parts) == 1), None)
            if loose is not None and self.response == "auto" and self.wanted.responses == "none":
                labelled = False
            elif loose is not None:
                raise InputError(
                    "the file is in no sub-folder, so it has no label; pass response=none to use no labels",
                    file=root / loose,
                )
        return Records(
            str(root),
            "text",
            [read_text(root / f, self.encoding) for f in found],
            [f.as_posix() for f in found],
            "label" if labelled else None,
            [f.parts[0] for f in found] if labelled else [],
        )
