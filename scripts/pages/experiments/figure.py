"""Panels as SVG: small enough for a phone, with bands, in the reader's colour scheme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from scripts.pages.experiments.panels import Line, Panel, Point, word
from scripts.pages.svg import Axis, Plot, decades, draw_mark

WIDTH, PLOT_HEIGHT, MARGIN = 400.0, 240.0, 10.0
CHARACTER = 7.1
"""Width [pixels] of a character of the legend in a wide font."""
ROW = 19.0
"""Height [pixels] of a line of the legend, and of the title."""
APART = 3.0
"""Distance [pixels] between points of several lines at one place, so that bands do not overlap."""
TICKS = 5
"""Approximate number of ticks of an axis."""
CROWDED = 7
"""Number of categories from which a long label overlaps the next."""


@dataclass
class Figure(Plot):
    """A plot with a heading, a legend that runs over several rows, and confidence bands as vertical lines.

    Attributes:
        heading: text above the plot; empty for none.
    """

    heading: str = ""

    def band(self, place: tuple[float, float], lower: float, upper: float, series: int, aside: float) -> None:
        """Draw a confidence band as a vertical line, and its mean as a dot.

        Args:
            place: the value on the horizontal axis, and the mean.
            lower: lower bound of the band.
            upper: upper bound of the band.
            series: number of the colour.
            aside: horizontal shift in pixels, so that bands of several lines do not overlap.
        """
        x, y = self.at(place)
        _, low = self.at((place[0], lower))
        _, high = self.at((place[0], upper))
        if upper > lower:
            whisker = f'x1="{x + aside:.1f}" y1="{low:.1f}" x2="{x + aside:.1f}" y2="{high:.1f}"'
            self.elements.append(f'<line class="s{series}" {whisker}/>')
        self.elements.append(f'<circle class="s{series}" cx="{x + aside:.1f}" cy="{y:.1f}" r="2.4"/>')

    def join(self, points: Sequence[tuple[float, float]], series: int, aside: float, *, dashed: bool) -> None:
        """Draw points as a line, joined in their order.

        Args:
            points: the points, in the units of the axes.
            series: number of the colour.
            aside: horizontal shift in pixels.
            dashed: whether the line is dashed.
        """
        path = " L".join(f"{x + aside:.1f} {y:.1f}" for x, y in map(self.at, points))
        self.elements.append(f'<path class="s{series}{" dashed" if dashed else ""}" d="M{path}"/>')

    def _legend(self) -> Iterable[str]:
        yield f'<text x="{MARGIN:g}" y="20" style="font-weight: 600">{escape(self.heading)}</text>'
        for x, row, (text, series, mark) in rows(self.keys):
            y = ROW * (row + (2 if self.heading else 1))
            yield draw_mark(x + 6, y - 4, series, mark)
            yield f'<text x="{x + 19:.1f}" y="{y:.1f}">{escape(text)}</text>'


def rows(keys: Sequence[tuple[str, int, str]]) -> Iterator[tuple[float, int, tuple[str, int, str]]]:
    """Arrange the entries of a legend in rows of the width of the figure.

    An entry that does not fit into the rest of its row begins the next row.

    Args:
        keys: text, colour and mark of each entry.

    Yields:
        The horizontal position in pixels, the row from 0, and the entry.
    """
    x = MARGIN
    row = 0
    for key in keys:
        width = 32.0 + CHARACTER * len(key[0])  # the mark, and the text
        if x > MARGIN and x + width > WIDTH:
            x = MARGIN
            row += 1
        yield x, row, key
        x += width


def render(panel: Panel, title: str) -> str:
    """Draw a panel as an SVG file.

    Args:
        panel: the panel with its lines.
        title: title to use if the panel has none.

    Returns:
        The text of the file.
    """
    keys = [(line.name, line.colour, line.look) for line in panel.lines]
    last_row = max((row for _, row, _ in rows(keys)), default=0)
    # The legend, with its rows and the title, is above the plot.
    top = 8.0 + ROW * (2 + bool(panel.title) + last_row)
    figure = Figure(
        title=panel.title or title,
        description=describe(panel),
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
        # Lines are shifted symmetrically, so that their bands do not overlap.
        aside = APART * (number - 0.5 * (len(panel.lines) - 1))
        places = [(_place(panel, point.across), point.mean) for point in line.points]
        if line.look != "dot" and places:
            figure.join(places, line.colour, aside, dashed=line.look == "dashes")
        for place, point in zip(places, line.points, strict=True):
            figure.band(place, _drawable(panel, point.lower), _drawable(panel, point.upper), line.colour, aside)
    return figure.render()


def describe(panel: Panel) -> str:
    """Return a panel in words: the first and last points of each line."""
    lines = "; ".join(_describe_line(line) for line in panel.lines if line.points)
    title = f"{panel.title}: " if panel.title else ""
    return f"{title}{panel.up} over {panel.across.title}. {lines}."


def _describe_line(line: Line) -> str:
    """Return a line in words: its first and its last point."""
    first, last = line.points[0], line.points[-1]
    if len(line.points) == 1:
        return f"{line.name} {_describe_point(first)}"
    return f"{line.name} from {_describe_point(first)} to {_describe_point(last)}"


def _describe_point(point: Point) -> str:
    return f"{point.mean:.3g} at {word(point.across)}"


def _drawable(panel: Panel, bound: float) -> float:
    """Return a bound of a band at a place that can be drawn: on a log scale it is positive."""
    return max(bound, 1e-300) if panel.logarithmic else bound


# Axes -----------------------------------------------------------------------------------------------------------------
def _place(panel: Panel, value: Any) -> float:
    """Return the number of a value on the horizontal axis; categories are numbered from 0."""
    return float(panel.places.index(value)) if panel.across.scale == "categories" else float(value)


def _across(panel: Panel) -> Axis:
    """Return the horizontal axis of a panel, with room on both sides of its values.

    Args:
        panel: the panel with the values on the axis.

    Returns:
        The axis with its limits and ticks.
    """
    places = [_place(panel, value) for value in panel.places]
    low, high = min(places), max(places)
    labels = [(place, word(value)) for place, value in zip(places, panel.places, strict=True)]
    ticks = _drop_overlaps(labels, panel)
    # The room is 6 % of the length of the axis, on a logarithmic scale as a factor.
    if panel.across.scale == "log":
        room = (high / low) ** 0.06 if high > low else 2.0
        return Axis(panel.across.title, low / room, high * room, ticks, "log")
    room = 0.06 * (high - low) if high > low else 0.5
    return Axis(panel.across.title, low - room, high + room, ticks)


def _drop_overlaps(ticks: Sequence[tuple[float, str]], panel: Panel) -> list[tuple[float, str]]:
    """Return ticks without the labels of categories that would overlap the last label."""
    if panel.across.scale != "categories" or len(ticks) < CROWDED:
        return list(ticks)
    last, last_label = ticks[-1]
    wide = CHARACTER * len(last_label) / 2.0 * len(ticks) / (WIDTH - 62.0)
    return [(place, label if last - place > wide + 0.5 or place == last else "") for place, label in ticks]


def _up(panel: Panel) -> Axis:
    """Return the vertical axis of a panel, from the points and bands of its lines."""
    points = [point for line in panel.lines for point in line.points]
    bounds = [bound for point in points for bound in (point.lower, point.upper)]
    means = [point.mean for point in points]
    return _logarithmic_axis(panel.up, means, bounds) if panel.logarithmic else _linear_axis(panel.up, bounds)


def _logarithmic_axis(title: str, means: Sequence[float], bounds: Sequence[float]) -> Axis:
    """Return an axis of powers of ten, from the least positive mean to the largest finite mean or bound."""
    first = math.floor(math.log10(min(mean for mean in means if mean > 0.0)))
    finite_bounds = [bound for bound in bounds if math.isfinite(bound)]
    largest = max([*means, *finite_bounds])
    last = max(math.ceil(math.log10(largest)), first + 1)
    every = max(1, round((last - first) / TICKS))
    return Axis(title, 10.0**first, 10.0**last, decades(first, last, every), "log")


def _linear_axis(title: str, bounds: Sequence[float]) -> Axis:
    """Return an axis that contains all bounds, between two of its ticks."""
    low, high = min(bounds), max(bounds)
    step = _step((high - low) or 1.0)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [(place * step, f"{place * step:.4g}") for place in range(first, last + 1)]
    return Axis(title, first * step, last * step, ticks)


def _step(reach: float) -> float:
    """Return a round distance between about five ticks."""
    rough = reach / TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(unit * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if unit * factor >= rough)
