"""A line for objects that hold arrays: what they are, not all of their numbers."""

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
