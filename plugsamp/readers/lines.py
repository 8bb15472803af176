"""A document a line, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from plugsamp.errors import InputError
from plugsamp.readers.base import TestFile
from plugsamp.readers.batches import PartReader
from plugsamp.readers.files import batched_lines
from plugsamp.readers.formats import warn_of_format
from plugsamp.readers.records import Records


@dataclass(kw_only=True)
class Lines(TestFile, PartReader):
    """Plain text, a document a line; a blank line is an empty document, so ids are line numbers.

    Parameters
    ----------
    path : str
        Plain or .gz.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `plugsamp.readers.text.TextOptions` and `plugsamp.readers.base`.
    """

    path: str
    encoding: str = "utf-8"

    def parts(self, path: str, size: int | None) -> Iterator[_Part]:
        part = None
        for lines in batched_lines(path, self.encoding, size):
            if part is None:
                part = _Part(str(path))
                warn_of_format(lines, path)
            part.contents += lines
            part.last += len(lines)
            yield part
        if part is None:
            raise InputError("there are no documents in this file", file=path)


@dataclass
class _Part:
    """Lines first + 1 to last of a file."""

    path: str
    first: int = 0
    last: int = 0
    contents: list[str] = field(default_factory=list)
    kind: ClassVar[str] = "text"

    def records(self) -> Records:
        ids = [str(i) for i in range(self.first + 1, self.last + 1)]
        return Records(self.path, self.kind, self.contents, ids)

    def forget(self) -> None:
        self.first, self.contents = self.last, []
