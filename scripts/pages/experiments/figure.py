"""A panel as SVG: small enough for a phone, with bands, in the reader's scheme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from scripts.pages.experiments.panels import Panel, Point, word
from scripts.pages.svg import Axis, Plot, marked, power

WIDTH, PLOT_HEIGHT, MARGIN = 400.0, 240.0, 10.0
CHARACTER = 7.1
"""Width of a character of the legend, where the reader's font is a wide one."""
ROW = 19.0
"""Of a line of the legend, and of the title."""
APART = 3.0
"""Pixels between points of several lines at one place, so that bands stay apart."""
TICKS = 5
CROWDED = 7
"""Categories that stand so close that a long label meets the next."""


@dataclass
class Figure(Plot):
    """A plot with a heading, a legend that runs over several rows, and bands as whiskers."""

    heading: str = ""

    def band(self, place: tuple[float, float], lower: float, upper: float, series: int, aside: float) -> None:
        """A whisker and its dot, moved aside by so many pixels."""
        x, y = self.at(place)
        _, low = self.at((place[0], lower))
        _, high = self.at((place[0], upper))
        if upper > lower:
            whisker = f'x1="{x + aside:.1f}" y1="{low:.1f}" x2="{x + aside:.1f}" y2="{high:.1f}"'
            self.drawn.append(f'<line class="s{series}" {whisker}/>')
        self.drawn.append(f'<circle class="s{series}" cx="{x + aside:.1f}" cy="{y:.1f}" r="2.4"/>')

    def joined(self, points: Sequence[tuple[float, float]], series: int, aside: float, *, dashed: bool) -> None:
        """Points joined in order, moved aside."""
        path = " L".join(f"{x + aside:.1f} {y:.1f}" for x, y in map(self.at, points))
        self.drawn.append(f'<path class="s{series}{" dashed" if dashed else ""}" d="M{path}"/>')

    def _legend(self) -> Iterable[str]:
        yield f'<text x="{MARGIN:g}" y="20" style="font-weight: 600">{escape(self.heading)}</text>'
        for x, row, (text, series, mark) in rows(self.keys):
            y = ROW * (row + (2 if self.heading else 1))
            yield marked(x + 6, y - 4, series, mark)
            yield f'<text x="{x + 19:.1f}" y="{y:.1f}">{escape(text)}</text>'


def rows(keys: Sequence[tuple[str, int, str]]) -> Iterator[tuple[float, int, tuple[str, int, str]]]:
    """Entries of a legend in rows: where each begins, and in which row."""
    x, row = MARGIN, 0
    for key in keys:
        width = 32.0 + CHARACTER * len(key[0])
        if x > MARGIN and x + width > WIDTH:
            x, row = MARGIN, row + 1
        yield x, row, key
        x += width


def drawn(panel: Panel, title: str) -> str:
    """The SVG file of a panel."""
    keys = [
        (line.name, line.colour, {"line": "line", "dashes": "dashes"}.get(line.look, "dot")) for line in panel.lines
    ]
    top = 8.0 + ROW * (2 + bool(panel.title) + max((row for _, row, _ in rows(keys)), default=0))
    figure = Figure(
        title=panel.title or title,
        description=described(panel),
        x=_across(panel),
        y=_up(panel),
        heading=panel.title,
        height=top + PLOT_HEIGHT,
        width=WIDTH,
        left=62.0,
        top=top,
        keys=keys,
    )
    for number, line in enumerate(panel.lines):
        aside = APART * (number - 0.5 * (len(panel.lines) - 1))
        places = [(_place(panel, point.across), point.mean) for point in line.points]
        if line.look != "dot" and places:
            figure.joined(places, line.colour, aside, dashed=line.look == "dashes")
        for place, point in zip(places, line.points, strict=True):
            figure.band(place, _shown(panel, point.lower), _shown(panel, point.upper), line.colour, aside)
    return figure.written()


def described(panel: Panel) -> str:
    """The panel in words: from where to where each line goes."""
    told = "; ".join(
        f"{line.name} from {_short(line.points[0])} at {word(line.points[0].across)} to {_short(line.points[-1])} at "
        f"{word(line.points[-1].across)}"
        if len(line.points) > 1
        else f"{line.name} {_short(line.points[0])} at {word(line.points[0].across)}"
        for line in panel.lines
        if line.points
    )
    return f"{panel.title + ': ' if panel.title else ''}{panel.up} over {panel.across.title}. {told}."


def _short(point: Point) -> str:
    return f"{point.mean:.3g}"


def _shown(panel: Panel, end: float) -> float:
    """An end of a band that can be drawn: one that is not positive ends at the axis."""
    return max(end, 1e-300) if panel.logarithmic else end


# Axes -----------------------------------------------------------------------------------------------------------------
def _place(panel: Panel, value: Any) -> float:
    return float(panel.places.index(value)) if panel.across.scale == "categories" else float(value)


def _across(panel: Panel) -> Axis:
    places = [_place(panel, value) for value in panel.places]
    low, high = min(places), max(places)
    ticks = _apart([(place, word(value)) for place, value in zip(places, panel.places, strict=True)], panel)
    if panel.across.scale == "log":
        room = (high / low) ** 0.06 if high > low else 2.0
        return Axis(panel.across.title, low / room, high * room, ticks, "log")
    room = 0.06 * (high - low) if high > low else 0.5
    return Axis(panel.across.title, low - room, high + room, ticks)


def _apart(ticks: Sequence[tuple[float, str]], panel: Panel) -> list[tuple[float, str]]:
    """Without the labels of categories that would run into the last one's."""
    if panel.across.scale != "categories" or len(ticks) < CROWDED:
        return list(ticks)
    last = ticks[-1]
    wide = CHARACTER * len(last[1]) / 2.0 * len(ticks) / (WIDTH - 62.0)
    return [(place, label if last[0] - place > wide + 0.5 or place == last[0] else "") for place, label in ticks]


def _up(panel: Panel) -> Axis:
    means = [point.mean for line in panel.lines for point in line.points]
    ends = [end for line in panel.lines for point in line.points for end in (point.lower, point.upper)]
    if panel.logarithmic:
        first = math.floor(math.log10(min(mean for mean in means if mean > 0.0)))
        last = math.ceil(math.log10(max([*means, *(end for end in ends if math.isfinite(end))])))
        last = max(last, first + 1)
        every = max(1, round((last - first) / TICKS))
        ticks = [(10.0**exponent, power(exponent)) for exponent in range(first, last + 1, every)]
        return Axis(panel.up, 10.0**first, 10.0**last, ticks, "log")
    low, high = min(ends), max(ends)
    step = _step((high - low) or 1.0)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [(place * step, f"{place * step:.4g}") for place in range(first, last + 1)]
    return Axis(panel.up, first * step, last * step, ticks)


def _step(reach: float) -> float:
    """A round distance between ticks, about five of them."""
    rough = reach / TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(unit * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if unit * factor >= rough)
