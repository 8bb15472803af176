"""A document a line, without labels."""

from __future__ import annotations

from dataclasses import dataclass

from plugsamp.errors import InputError
from plugsamp.readers.base import TestFile
from plugsamp.readers.files import read_lines
from plugsamp.readers.records import Records, TextReader


@dataclass(kw_only=True)
class Lines(TestFile, TextReader):
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

    def records(self, path: str) -> Records:
        lines = read_lines(path, self.encoding)
        if not lines:
            raise InputError("there are no documents in this file", file=path)
        return Records(str(path), "text", lines, [str(i) for i in range(1, len(lines) + 1)])
