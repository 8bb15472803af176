"""Text that fits a line: of objects that hold arrays, of words and labels as they come."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

#: Characters of a value that is shown as it is.
LONGEST = 60


class Brief:
    """Gives a dataclass (``repr=False``) a repr of one line, whatever its size."""

    def __repr__(self) -> str:
        shown = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        return line(type(self).__name__, shown)


def line(name: str, shown: dict) -> str:
    """``name(field=value, ...)`` with `value` of each."""
    return f"{name}({', '.join(f'{key}={value(one)}' for key, one in shown.items())})"


def value(one) -> str:
    """An array by its type and shape, what is long by its type and size, anything else as it is."""
    if isinstance(one, np.ndarray):
        return f"<{one.dtype} {one.shape}>"
    if isinstance(one, tuple | list | dict) and len(one) > LONGEST:  # not written in full first
        return f"<{type(one).__name__} of {len(one):,}>"
    text = repr(one)
    if len(text) <= LONGEST and "\n" not in text:
        return text
    size = f" of {len(one):,}" if isinstance(one, tuple | list | dict) else ""
    return f"<{type(one).__name__}{size}>"


def one_line(text: str) -> str:
    """A word or label with whatever would disturb a terminal written out."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def clipped(text: str, width: int) -> str:
    """A text of at most `width` characters; an ellipsis marks the end of one that was cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def shown(text, width: int = 60) -> str:
    """Text from a corpus on one line, what does not print written out, its end left out where it is long."""
    return clipped(one_line(text), width)


def cut(n_shown: int, n_all: int, what: str, where: str = "") -> str:
    """What is said of a list that is cut; nothing of one that is whole."""
    if n_shown >= n_all:
        return ""
    return f"{n_shown:,} of {n_all:,} {what} are shown" + (f"; {where}." if where else ".")
