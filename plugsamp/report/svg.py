"""Draw SVG: elements whose text is escaped, axes, and the page's charts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape

from plugsamp.report.texts import compact

#: Size of a chart, and the room around its axes.
WIDTH, HEIGHT = 360, 190
LEFT, RIGHT, TOP, BOTTOM = 60, 8, 8, 34

#: The side of the map of topics; topics up to which it has words; the power of distances from its middle,
#: below 1 so that a topic far from all others leaves them room.
MAP, NAMED, SQUEEZE = 560, 40, 0.6


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


def picture(title: str, *inside, width: float = WIDTH, height: float = HEIGHT, class_="chart") -> Markup:
    """An SVG image with its title for those who do not see it."""
    return tag(
        "svg", tag("title", title), *inside, viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width), height=round(height), role="img", class_=class_,
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
    """The frame of a chart: from values to places, ticks, names of the axes.

    Parameters
    ----------
    x, y : (low, high)
    height : float
    """

    def __init__(self, x, y, height: float = HEIGHT):
        self.x, self.y, self.height = x, y, height

    def at_x(self, value):
        low, high = self.x
        return LEFT + (np.asarray(value, float) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def at_y(self, value):
        low, high = self.y
        room = self.height - TOP - BOTTOM
        return self.height - BOTTOM - (np.asarray(value, float) - low) / (high - low) * room

    def frame(self, x_title: str, y_title: str, x_ticks: bool = True) -> Markup:
        """Grid lines with the values beside them, and what the axes show."""
        found = ticks(*self.y)
        parts = [
            tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=self.at_y(v), y2=self.at_y(v), class_="grid")
            + tag("text", text, x=LEFT - 5, y=self.at_y(v) + 3.5, class_="tick end")
            for v, text in zip(found, compact(found), strict=True)
        ]
        if x_ticks:
            found = ticks(*self.x)
            parts += [
                tag("text", text, x=self.at_x(v), y=self.height - BOTTOM + 13, class_="tick middle")
                for v, text in zip(found, compact(found), strict=True)
            ]
        middle = (self.height - BOTTOM + TOP) / 2
        parts.append(tag("text", x_title, x=(WIDTH + LEFT) / 2, y=self.height - 4, class_="axis middle"))
        turned = f"rotate(-90 10 {middle:.0f})"
        parts.append(tag("text", y_title, x=10, y=middle, transform=turned, class_="axis middle"))
        return Markup("").join(parts)

    def zero(self) -> Markup:
        y = float(self.at_y(0.0))
        return tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="zero")

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


def lines(title: str, drawn: Sequence, shade, y) -> Markup:
    """A chart of lines over sweeps.

    Parameters
    ----------
    title : str
        Also the name of the upright axis.
    drawn : sequence of (class, xs, ys)
    shade : (low, high)
        The sweeps that are told apart.
    y : (low, high)
        Lines are drawn within it, and end at its edge.
    """
    axes = Axes(extent(np.concatenate([xs for _, xs, _ in drawn]), 0.01), y)
    left, right = axes.at_x(np.clip(shade, *axes.x))
    height = HEIGHT - TOP - BOTTOM
    parts = [
        tag("rect", x=left, y=TOP, width=right - left, height=height, class_="shade"),
        axes.frame("sweep", title),
    ]
    parts += [
        tag("path", d=axes.line(xs, _within(ys, *y)), class_=f"line {class_}") for class_, xs, ys in drawn
    ]
    return picture(f"Trace of {title}", *parts)


def intervals(title: str, middle, low, high, y) -> Markup:
    """Means and intervals, sorted: a horseshoe plot. Those that leave 0 out are told apart."""
    order = np.argsort(middle, kind="stable")
    middle, low, high = middle[order], low[order], high[order]
    places = np.arange(1, len(middle) + 1)
    axes = Axes((0.0, len(middle) + 1.0), y)
    parts = [axes.frame("topics, sorted", "weight", x_ticks=False), axes.zero()]
    for class_, chosen in (("none", (low <= 0) & (high >= 0)), ("neg", high < 0), ("pos", low > 0)):
        if chosen.any():
            bars = axes.bars(places[chosen], low[chosen], high[chosen])
            dots = axes.dots(places[chosen], middle[chosen])
            parts.append(
                tag("path", d=bars, class_=f"bar {class_}") + tag("path", d=dots, class_=f"dot {class_}")
            )
    return picture(title, *parts)


def scatter(title: str, x, y, low=None, high=None) -> Markup:
    """Predicted against observed values about the line of equality, with intervals where there are some."""
    both = extent(np.concatenate([x, y] if low is None else [x, y, low, high]))
    axes = Axes(both, both, height=330)
    parts = [axes.frame("observed", "predicted"), tag("path", d=axes.line(both, both), class_="zero")]
    if low is not None:
        parts.append(tag("path", d=axes.bars(x, low, high), class_="bar thin none"))
    parts.append(tag("path", d=axes.dots(x, y), class_="dot faint"))
    return picture(title, *parts, height=330)


def shade(value: float, largest: float) -> str:
    """The colour of a signed value: n4 to n1, z, p1 to p4."""
    if not largest or not math.isfinite(value):
        return "z"
    depth = min(4, round(4 * math.sqrt(min(abs(value) / largest, 1.0)) - 0.25))
    return "z" if depth <= 0 else f"{'p' if value > 0 else 'n'}{depth}"


def _apart(at, radius, size) -> np.ndarray:
    """Places (K, 2) of circles moved apart, as little as keeps their numbers legible."""
    near = radius[:, None] + radius[None, :]
    for _ in range(60):
        gap = at[:, None] - at[None, :]
        far = np.sqrt((gap**2).sum(axis=-1)) + np.eye(len(at)) * 1e9
        push = np.clip(near - far, 0, None) / np.maximum(far, 1e-6)
        at = at + 0.25 * (push[:, :, None] * gap).sum(axis=1)
        at = np.clip(at, radius[:, None] + 2, size - radius[:, None] - 12)
    return at


def topic_map(places, shares, rows: Sequence) -> Markup:
    """Circles of topics: near each other where their words are alike, of an area by their shares."""
    at = places - np.median(places, axis=0)
    at = np.sign(at) * np.abs(at) ** SQUEEZE
    low, high = at.min(axis=0), at.max(axis=0)
    at = 38 + (at - low) * (MAP - 76) / np.maximum(high - low, 1e-12)
    largest = min(30.0, 170 / math.sqrt(len(at)))
    radius = np.clip(np.sqrt(np.asarray(shares) / max(float(np.max(shares)), 1e-12)) * largest, 9, largest)
    at = _apart(at, radius, MAP)
    parts = []
    for i in np.argsort(-radius, kind="stable"):
        (x, y), r, row = at[i], float(radius[i]), rows[i]
        word = (row.name or row.words[0]) if len(at) <= NAMED else ""
        number = tag("text", str(row.number), x=x, y=y + 4, class_="middle")
        below = tag("text", word, x=x, y=y + r + 10, class_="middle word")
        parts.append(tag("g", tag("circle", cx=x, cy=y, r=r), number, below, data_t=row.key))
    title = "Map of topics; the list beside it names them, and tells those that are near"
    return picture(title, *parts, width=MAP, height=MAP, class_="map")
