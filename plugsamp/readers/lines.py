"""A document a line, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plugsamp.errors import InputError
from plugsamp.readers.base import TestFile
from plugsamp.readers.batches import StreamReader
from plugsamp.readers.files import batched_lines
from plugsamp.readers.records import Records


@dataclass(kw_only=True)
class Lines(TestFile, StreamReader):
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

    def stream(self, path: str, size: int | None = None) -> Iterator[Records]:
        first = 1
        for lines in batched_lines(path, self.encoding, size):
            ids = [str(i) for i in range(first, first + len(lines))]
            first += len(lines)
            yield Records(str(path), "text", lines, ids)
        if first == 1:
            raise InputError("there are no documents in this file", file=path)
