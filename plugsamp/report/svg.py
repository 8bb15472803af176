"""Drawing: elements of SVG whose text is escaped, and the axes of a chart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape

from plugsamp.report.texts import compact

#: Size of a chart, and the room around its axes.
WIDTH, HEIGHT = 340, 170
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 8, 20


def tag(name: str, *inside, **attributes) -> Markup:
    """An element; whatever is no Markup in it is escaped. ``class_`` and ``stroke_width`` are attributes."""
    # Joined as plain text: Markup's own `format` takes five times as long.
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{''.join(map(escape, inside))}</{name}>")


def _plain(value):
    if isinstance(value, float | np.floating):
        return f"{value:.1f}".removesuffix(".0")
    return value


def picture(
    title: str, *inside, width: float = WIDTH, height: float = HEIGHT, class_="chart", **more
) -> Markup:
    """An SVG image with its title for those who do not see it."""
    return tag(
        "svg", tag("title", title), *inside, viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width), height=round(height), role="img", class_=class_, **more,
    )  # fmt: skip


def ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Some round numbers from low to high."""
    span = high - low
    rough = span / max(n, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.7)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def extent(values, pad: float = 0.04) -> tuple[float, float]:
    """The range of finite values with a little room, never empty."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = max(abs(low) * 0.05, 0.5)
        return low - room, high + room
    room = pad * (high - low)
    return low - room, high + room


class Axes:
    """The frame of a chart: from values to places, and ticks.

    Parameters
    ----------
    x, y : (low, high)
    width, height : float
    """

    def __init__(self, x, y, width: float = WIDTH, height: float = HEIGHT):
        self.x, self.y, self.width, self.height = x, y, width, height

    def at_x(self, value):
        low, high = self.x
        return LEFT + (np.asarray(value, float) - low) / (high - low) * (self.width - LEFT - RIGHT)

    def at_y(self, value):
        low, high = self.y
        room = self.height - TOP - BOTTOM
        return self.height - BOTTOM - (np.asarray(value, float) - low) / (high - low) * room

    def frame(self, x_ticks: bool = True, x_title: str = "") -> Markup:
        """Grid lines with the values beside them."""
        found = ticks(*self.y)
        parts = [
            tag("line", x1=LEFT, x2=self.width - RIGHT, y1=self.at_y(v), y2=self.at_y(v), class_="grid")
            + tag("text", text, x=LEFT - 5, y=self.at_y(v) + 3.5, class_="tick end")
            for v, text in zip(found, compact(found), strict=True)
        ]
        if x_ticks:
            found = ticks(*self.x)
            parts += [
                tag("text", text, x=self.at_x(v), y=self.height - 5, class_="tick middle")
                for v, text in zip(found, compact(found), strict=True)
                if self.at_x(v) < self.width - RIGHT - 6 * len(x_title) - 14
            ]
        if x_title:
            parts.append(tag("text", x_title, x=self.width - RIGHT, y=self.height - 5, class_="tick end"))
        return Markup("").join(parts)

    def line(self, xs, ys) -> str:
        """The path through points, broken where one is not finite."""
        out, pen = [], "M"
        for x, y in zip(self.at_x(xs), self.at_y(ys), strict=True):
            if not math.isfinite(y):
                pen = "M"
                continue
            out.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
        return "".join(out)

    def dots(self, xs, ys) -> str:
        """A path whose round caps are the points: a tenth of the bytes of circles."""
        return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(self.at_x(xs), self.at_y(ys), strict=True))

    def bars(self, xs, lows, highs) -> str:
        """A path of vertical intervals."""
        places = zip(self.at_x(xs), self.at_y(lows), self.at_y(highs), strict=True)
        return "".join(f"M{x:.1f} {low:.1f}V{high:.1f}" for x, low, high in places)


def _within(ys, low: float, high: float) -> np.ndarray:
    """Values without those outside of a range, but at its edge beside one that is inside."""
    ys = np.asarray(ys, dtype=float)
    inside = (ys >= low) & (ys <= high)
    beside = np.zeros(len(ys), bool)
    beside[:-1] |= inside[1:]
    beside[1:] |= inside[:-1]
    return np.where(inside | beside, np.clip(ys, low, high), np.nan)


def lines(title: str, drawn: Sequence, shade=None, x_title: str = "sweep", y=None) -> Markup:
    """A chart of lines.

    Parameters
    ----------
    title : str
    drawn : sequence of (class, xs, ys)
    shade : (low, high), optional
        A range of x that is told apart.
    y : (low, high), optional
        Lines are drawn within it, and end at its edge; by default it holds all of them.
    """
    y = extent(np.concatenate([ys for *_, ys in drawn])) if y is None else y
    axes = Axes(extent(np.concatenate([xs for _, xs, _ in drawn]), 0.01), y)
    drawn = [(class_, xs, _within(ys, *y)) for class_, xs, ys in drawn]
    parts = []
    if shade is not None:
        left, right = axes.at_x(np.clip(shade, *axes.x))
        parts.append(
            tag("rect", x=left, y=TOP, width=right - left, height=HEIGHT - TOP - BOTTOM, class_="shade")
        )
    parts.append(axes.frame(x_title=x_title))
    parts += [tag("path", d=axes.line(xs, ys), class_=f"line {class_}") for class_, xs, ys in drawn]
    return picture(title, *parts)


def intervals(title: str, middle, low, high, height: float = HEIGHT) -> Markup:
    """Medians and intervals, sorted: a horseshoe plot. Those that leave 0 out are told apart."""
    order = np.argsort(middle, kind="stable")
    middle, low, high = middle[order], low[order], high[order]
    places = np.arange(1, len(middle) + 1)
    axes = Axes((0.0, len(middle) + 1.0), extent(np.concatenate([low, high, [0.0]])), height=height)
    zero = float(axes.at_y(0.0))
    parts = [axes.frame(x_ticks=False)]
    parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=zero, y2=zero, class_="zero"))
    for class_, chosen in (("none", (low <= 0) & (high >= 0)), ("neg", high < 0), ("pos", low > 0)):
        if chosen.any():
            bars = axes.bars(places[chosen], low[chosen], high[chosen])
            dots = axes.dots(places[chosen], middle[chosen])
            parts.append(
                tag("path", d=bars, class_=f"bar {class_}") + tag("path", d=dots, class_=f"dot {class_}")
            )
    parts.append(tag("text", "topics, sorted", x=WIDTH - RIGHT, y=height - 5, class_="tick end"))
    return picture(title, *parts, height=height)


def curves(title: str, middle, low, high) -> Markup:
    """Many means, sorted, and a band of their intervals."""
    order = np.argsort(middle, kind="stable")
    if len(order) > 600:
        order = order[np.linspace(0, len(order) - 1, 600).astype(int)]
    middle, low, high = middle[order], low[order], high[order]
    places = np.arange(1, len(middle) + 1)
    axes = Axes((0.0, len(middle) + 1.0), extent(np.concatenate([low, high, [0.0]])))
    zero = float(axes.at_y(0.0))
    parts = [axes.frame(x_ticks=False), tag("path", d=axes.bars(places, low, high), class_="bar thin none")]
    parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=zero, y2=zero, class_="zero"))
    parts.append(tag("path", d=axes.line(places, middle), class_="line s0"))
    parts.append(tag("text", "all weights, sorted", x=WIDTH - RIGHT, y=HEIGHT - 5, class_="tick end"))
    return picture(title, *parts)


def scatter(title: str, x, y, low=None, high=None) -> Markup:
    """Points about the line of equality, with intervals where there are some."""
    every = [x, y] if low is None else [x, y, low, high]
    both = extent(np.concatenate(every))
    height = 300
    axes = Axes(both, both, height=height)
    parts = [axes.frame(x_title="observed")]
    parts.append(tag("path", d=axes.line(both, both), class_="zero"))
    if low is not None:
        parts.append(tag("path", d=axes.bars(x, low, high), class_="bar thin none"))
    parts.append(tag("path", d=axes.dots(x, y), class_="dot faint pos"))
    return picture(title, *parts, height=height)


def heat_map(title: str, rows: Sequence[str], columns: Sequence[str], values, tips, largest: float) -> Markup:
    """A cell a row and column, coloured by sign and size.

    Parameters
    ----------
    rows, columns : sequences of str
    values : float (R, C)
    tips : sequence of R sequences of C str
        What is said of a cell.
    largest : float
        The size of the deepest colour.
    """
    wide, tall = int(min(34, max(13, 760 // max(len(columns), 1)))), 16
    left = round(10 + 6.3 * max((len(r) for r in rows), default=0))
    top = round(10 + 6.5 * max((len(c) for c in columns), default=0))
    parts = [
        tag("text", name, x=left - 5, y=top + tall * r + 12, class_="tick end") for r, name in enumerate(rows)
    ]
    for c, name in enumerate(columns):
        x = left + wide * (c + 0.5) + 3.5
        turned = f"rotate(-90 {x:.1f} {top - 4:.1f})"
        parts.append(tag("text", name, x=x, y=top - 4, transform=turned, class_="tick"))
    for r, row in enumerate(tips):
        y = top + tall * r
        for c, tip in enumerate(row):
            # their size is said once, in the style of the picture
            parts.append(
                tag("rect", tag("title", tip), x=left + wide * c, y=y, class_=shade(values[r][c], largest))
            )
    return picture(
        title,
        *parts,
        width=left + wide * len(columns) + 4,
        height=top + tall * len(rows) + 4,
        class_="map",
        style=f"--wide:{wide - 1}px;--tall:{tall - 1}px",
    )


def shade(value: float, largest: float) -> str:
    """The colour of a signed value: n4 to n1, z, p1 to p4."""
    if not largest or not math.isfinite(value):
        return "z"
    depth = min(4, round(4 * math.sqrt(min(abs(value) / largest, 1.0)) - 0.25))
    return "z" if depth <= 0 else f"{'p' if value > 0 else 'n'}{depth}"
