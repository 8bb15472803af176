"""Words, labels and numbers as the page shows them."""

from __future__ import annotations

import math

from plugsamp.brief import one_line, shown

__all__ = ["compact", "number", "one_line", "percent", "plain", "rounded", "shown"]


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
        text = f"{value:{form},.{max(digits - whole, 0)}f}"
    return text.replace("-", "−")


def plain(value) -> str:
    """A number as scripts read it, to sort by; nothing where there is none."""
    return "" if value is None or not math.isfinite(value) else f"{value:.6g}"


def rounded(value: float) -> float:
    """A number with four significant digits, as the page's data has it."""
    return float(f"{value:.4g}")


def percent(share, digits: int = 1) -> str:
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.{digits}f} %"


def compact(ticks: list[float]) -> list[str]:
    """Ticks of an axis in a unit that they share: -1.5M, -1.0M; with the digits that tell them apart."""
    largest = max(map(abs, ticks), default=0.0)
    size, unit = next(((s, u) for s, u in ((1e9, "G"), (1e6, "M"), (1e4, "k")) if largest >= s), (1.0, ""))
    size = 1e3 if unit == "k" else size
    step = ticks[1] - ticks[0] if len(ticks) > 1 else largest
    digits = max(0, -math.floor(math.log10(step / size) + 1e-9)) if step > 0 else 0
    if digits > 5 or largest / size >= 1e6:
        return [f"{v:.3g}".replace("-", "−") for v in ticks]
    return [f"{v / size:.{digits}f}{unit}".replace("-", "−") if v else "0" for v in ticks]
