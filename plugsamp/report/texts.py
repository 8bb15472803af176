"""Words, labels and numbers as the page shows them."""

from __future__ import annotations

import math

from plugsamp.summary import clipped, one_line


def shown(text, width: int = 60) -> str:
    """Text from a corpus on one line, what does not print written out, its end left out where it is long."""
    return clipped(one_line(text), width)


def number(value, digits: int = 3, sign: bool = False) -> str:
    """A number with so many significant digits; a dash for None and NaN."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    form = "+" if sign else ""
    size = abs(value)
    if size and not 1e-4 <= size < 1e6:
        text = f"{value:{form}.{digits - 1}e}"
    else:
        whole = math.floor(math.log10(size)) + 1 if size else 1
        text = f"{value:{form},.{max(digits - max(whole, 1), 0)}f}"
    return text.replace("-", "−")


def percent(share, digits: int = 1) -> str:
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.{digits}f} %"


def compact(value: float, step: float = 0.0) -> str:
    """A tick of an axis: 1234567 -> 1.23M, with the digits that tell ticks `step` apart."""
    size, unit = 1.0, ""
    for size_, unit_ in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size_ * 10:
            size, unit = size_, unit_
            break
    digits = 2 if step <= 0 else max(0, -math.floor(math.log10(step / size) + 1e-9))
    if digits > 6:
        return f"{value:.2g}".replace("-", "−")
    return f"{value / size:.{digits}f}{unit}".replace("-", "−")


def cut(n_shown: int, n_all: int, what: str, where: str = "") -> str:
    """What is said of a list that is cut; nothing of one that is whole."""
    if n_shown >= n_all:
        return ""
    return f"{n_shown:,} of {n_all:,} {what} are shown" + (f"; {where}." if where else ".")
