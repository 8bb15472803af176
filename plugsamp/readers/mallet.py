"""Mallet's lines of text: a name, a label and the words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from plugsamp.errors import InputError
from plugsamp.readers.base import TestFile
from plugsamp.readers.files import read_lines
from plugsamp.readers.numbers import COUNT
from plugsamp.readers.records import Records, TextReader, unique_ids

#: How a state file (`plugsamp.readers.mallet_state`) begins.
STATE = "#doc source pos typeindex type topic"


@dataclass(kw_only=True)
class MalletText(TestFile, TextReader):
    """``name label text``, a document a line, plain or .gz.

    Tabs separate, the first two of a line; blanks where it has none.

    Parameters
    ----------
    path : str
        The file, plain or .gz.
    response : str
        ``"label"``, ``"y"`` (the label is a real number), ``"none"``, or ``"auto"``: what the loss takes.
    encoding : str
        Of the file, such as utf-8 or latin-1.
    Others : see `plugsamp.readers.text.TextOptions` and `plugsamp.readers.base`.
    """

    path: str
    response: str = "auto"
    encoding: str = "utf-8"

    def records(self, path: str) -> Records:
        if self.response not in ("auto", "label", "y", "none"):
            raise InputError(f"response must be auto, label, y or none, not {self.response!r}")
        response = self.response
        if response == "auto":
            response = {"real": "y", "none": "none"}.get(self.wanted.responses, "label")
        lines = read_lines(path, self.encoding)
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            raise InputError("there are no documents in this file", file=path)
        if lines[0].startswith(STATE):
            raise InputError(
                "this is a Mallet state file, not a document list; corpus=mallet_state reads it",
                file=path,
                line=1,
            )
        names, labels, texts = [], [], []
        for number, line in enumerate(lines, 1):
            name, label, text = _fields(line, path, number)
            names.append(name)
            texts.append(text)
            if response == "none":
                continue
            if not label:
                raise InputError(
                    "the label is empty; pass response=none to use no labels", file=path, line=number
                )
            if response == "y" and not (COUNT.fullmatch(label) and math.isfinite(float(label))):
                raise InputError(f"response {label!r} is not a number", file=path, line=number)
            labels.append(float(label) if response == "y" else label)
        unique_ids(names, list(range(1, len(names) + 1)), path)
        kind = None if response == "none" else response
        return Records(str(path), "text", texts, names, kind, labels, response_names=["label"])


def _fields(line: str, path, number: int) -> tuple[str, str, str]:
    if "\t" in line:
        parts = line.split("\t", 2)
    else:
        parts = re.split(r" +", line.strip(" "), maxsplit=2)
    if len(parts) < 3:
        advice = ""
        if "," in line:
            advice = "; commas do not separate fields here, corpus=csv reads those"
        found = line.count(",") if len(parts) == 1 and "," in line else len(parts)
        raise InputError(
            f"3 fields expected (name, label, text), {found} found{advice}", file=path, line=number
        )
    name, label, text = parts
    if not name.strip():
        raise InputError("the name is empty", file=path, line=number)
    return name.strip(), label.strip(), text
