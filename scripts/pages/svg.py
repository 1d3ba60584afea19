"""Plots as SVG text, with the same bytes on every machine, and legible in light and in dark.

Each figure contains its own background and colours, which follow the reader's colour scheme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Scale = Literal["linear", "log"]
Point = tuple[float, float]
WIDTH, HEIGHT = 760.0, 420.0
CHARACTER = 6.5
"""Mean width [pixels] of a character of a label."""
STYLE = """
.ground { fill: #ffffff } text { fill: #1f2328; font: 12.5px system-ui, sans-serif } .grid { stroke: #e2e5e9 }
.axis { stroke: #6b7280 } path, line, circle, polygon { stroke-width: 1 } path { fill: none; stroke-width: 2.2 }
.dashed { stroke-dasharray: 6 4 } .bar { stroke-width: 5; stroke-linecap: round }
.hollow { fill: none; stroke-width: 1.8 }
.s0 { stroke: #0072b2; fill: #0072b2 } .s1 { stroke: #c44e00; fill: #c44e00 } .s2 { stroke: #00805c; fill: #00805c }
.s3 { stroke: #a6478a; fill: #a6478a } .s4 { stroke: #8c6d1f; fill: #8c6d1f } .s5 { stroke: #5f6670; fill: #5f6670 }
.s6 { stroke: #c2185b; fill: #c2185b } .s7 { stroke: #4b3fa0; fill: #4b3fa0 } .s8 { stroke: #1f7f8c; fill: #1f7f8c }
.s9 { stroke: #7a1f1f; fill: #7a1f1f }
path[class], .hollow { fill: none }
@media (prefers-color-scheme: dark) {
.ground { fill: #171a21 } text { fill: #e6e8eb } .grid { stroke: #343a46 } .axis { stroke: #9aa2ae }
.s0 { stroke: #56b4e9; fill: #56b4e9 } .s1 { stroke: #ff9457; fill: #ff9457 } .s2 { stroke: #3ed6a6; fill: #3ed6a6 }
.s3 { stroke: #e79fcd; fill: #e79fcd } .s4 { stroke: #d9b44a; fill: #d9b44a } .s5 { stroke: #b4bac4; fill: #b4bac4 }
.s6 { stroke: #ff7ab8; fill: #ff7ab8 } .s7 { stroke: #a79bff; fill: #a79bff } .s8 { stroke: #6fd8e3; fill: #6fd8e3 }
.s9 { stroke: #e08a80; fill: #e08a80 }
path[class], .hollow { fill: none } }
""".strip()


@dataclass(frozen=True)
class Axis:
    """An axis of a plot.

    Attributes:
        title: title with the unit.
        low: smallest value on the axis.
        high: largest value on the axis.
        ticks: values with their labels.
        scale: linear or logarithmic scale.
    """

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    scale: Scale = "linear"

    def place(self, value: float, start: float, end: float) -> float:
        """Return the pixel of a value; a value outside the axis is moved to its end.

        Args:
            value: the value.
            start: pixel of the smallest value.
            end: pixel of the largest value.

        Returns:
            The position in pixels, between both ends.
        """
        low = self.low
        high = self.high
        inside = min(max(value, low), high)
        if self.scale == "log":
            low, high, inside = math.log(low), math.log(high), math.log(inside)
        return start + (end - start) * (inside - low) / (high - low)


def decades(first: int, last: int, every: int = 1) -> list[tuple[float, str]]:
    """Return powers of ten as ticks.

    Args:
        first: smallest exponent.
        last: largest exponent.
        every: difference of the exponents of two ticks.
    """
    return [(10.0**k, power(k)) for k in range(first, last + 1, every)]


def power(exponent: int) -> str:
    """Return the label of 10ᵏ; small powers are written in full."""
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def whole(values: Iterable[float]) -> list[tuple[float, str]]:
    """Return values as ticks."""
    return [(value, f"{value:g}") for value in values]


@dataclass
class Plot:
    """A figure under construction. Series have numbers from 0 to 5, which are colours."""

    title: str
    description: str
    x: Axis
    y: Axis
    height: float = HEIGHT
    width: float = WIDTH
    left: float = 74.0
    top: float = 44.0
    elements: list[str] = field(default_factory=list)
    keys: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def right(self) -> float:
        """Pixel of the right end of the horizontal axis."""
        return self.width - 22.0

    @property
    def bottom(self) -> float:
        """Pixel of the lower end of the vertical axis."""
        return self.height - 52.0

    def at(self, point: Point) -> Point:
        """Return the pixels of a point."""
        return self.x.place(point[0], self.left, self.right), self.y.place(point[1], self.bottom, self.top)

    def line(self, points: Iterable[Point], series: int, *, dashed: bool = False) -> None:
        """Draw points as a line, joined in their order.

        Args:
            points: the points.
            series: number of the colour.
            dashed: whether the line is dashed.
        """
        path = " L".join(f"{x:.1f} {y:.1f}" for x, y in map(self.at, points))
        self.elements.append(f'<path class="s{series}{" dashed" if dashed else ""}" d="M{path}"/>')

    def bar(self, first: Point, last: Point, series: int) -> None:
        """Draw a thick segment between two points; a dot if both points are equal.

        Args:
            first: left end.
            last: right end.
            series: number of the colour.
        """
        (x, y), (u, v) = self.at(first), self.at(last)
        # A segment needs some length to be drawn.
        u = max(u, x + 0.1)
        self.elements.append(f'<line class="bar s{series}" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>')

    def thin(self, first: Point, last: Point) -> None:
        """Draw a thin segment between two points."""
        (x, y), (u, v) = self.at(first), self.at(last)
        self.elements.append(f'<line class="axis" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>')

    def dot(self, point: Point, series: int, mark: str = "dot") -> None:
        """Draw a mark.

        Args:
            point: the centre.
            series: number of the colour.
            mark: `dot`, `diamond` (hollow) or `cross`.
        """
        self.elements.append(draw_mark(*self.at(point), series, mark))

    def say(self, point: Point, text: str, *, anchor: str = "start", up: float = -6.0) -> None:
        """Write words next to a point.

        Args:
            point: the point.
            text: the words.
            anchor: side of the text at the point: `start`, `middle` or `end`.
            up: distance of the text below the point in pixels; a negative one is above.
        """
        x, y = self.at(point)
        self.elements.append(f'<text x="{x:.1f}" y="{y + up:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def key(self, text: str, series: int, mark: str = "dot") -> None:
        """Add an entry to the legend.

        Args:
            text: the words of the entry.
            series: number of the colour.
            mark: mark of the series, as in `dot`, or `line` or `dashes`.
        """
        self.keys.append((text, series, mark))

    def render(self) -> str:
        """Return the text of the SVG file: the frame, all elements that were drawn, and the legend.

        Returns:
            The file as text, with a title and a description for readers who cannot see it.
        """
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" role="img">',
            f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>",
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{self.width:g}" height="{self.height:g}" rx="6"/>',
        ]
        parts.extend(self._frame())
        parts.extend(self.elements)
        parts.extend(self._legend())
        return "\n".join(parts) + "\n</svg>\n"

    def _frame(self) -> Iterable[str]:
        """Yield the grid, the labels of the ticks, the horizontal axis and the titles of both axes.

        Yields:
            SVG elements.
        """
        for value, label in self.x.ticks:
            x, _ = self.at((value, self.y.low))
            yield f'<line class="grid" x1="{x:.1f}" y1="{self.top:g}" x2="{x:.1f}" y2="{self.bottom:.1f}"/>'
            yield f'<text x="{x:.1f}" y="{self.bottom + 18:.1f}" text-anchor="middle">{escape(label)}</text>'
        for value, label in self.y.ticks:
            _, y = self.at((self.x.low, value))
            yield f'<line class="grid" x1="{self.left:g}" y1="{y:.1f}" x2="{self.right:g}" y2="{y:.1f}"/>'
            yield f'<text x="{self.left - 8:g}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        yield f'<line class="axis" x1="{self.left:g}" y1="{self.bottom:g}" x2="{self.right:g}" y2="{self.bottom:g}"/>'
        middle = 0.5 * (self.left + self.right)
        yield f'<text x="{middle:.1f}" y="{self.height - 12:g}" text-anchor="middle">{escape(self.x.title)}</text>'
        if self.y.title:
            rotation = f"translate(16 {0.5 * (self.top + self.bottom):.1f}) rotate(-90)"
            yield f'<text transform="{rotation}" text-anchor="middle">{escape(self.y.title)}</text>'

    def _legend(self) -> Iterable[str]:
        """Yield the marks and words of the legend, in one row above the plot."""
        x = self.left
        for text, series, mark in self.keys:
            yield draw_mark(x + 6, 22.0, series, mark)
            yield f'<text x="{x + 17:.1f}" y="26">{escape(text)}</text>'
            x += 32 + CHARACTER * len(text)


def draw_mark(x: float, y: float, series: int, mark: str) -> str:
    """Draw a mark at a pixel.

    Args:
        x: horizontal pixel.
        y: vertical pixel.
        series: number of the colour.
        mark: `dot`, `diamond`, `cross`, `line` or `dashes`.

    Returns:
        The SVG element, centred at the pixel.
    """
    if mark == "diamond":
        corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
        return f'<polygon class="hollow s{series}" points="{corners}"/>'
    if mark == "cross":
        arms = f"M{x - 5:.1f} {y - 5:.1f} L{x + 5:.1f} {y + 5:.1f} M{x - 5:.1f} {y + 5:.1f} L{x + 5:.1f} {y - 5:.1f}"
        return f'<path class="s{series}" d="{arms}"/>'
    if mark == "line":
        return f'<path class="s{series}" d="M{x - 7:.1f} {y:.1f} L{x + 7:.1f} {y:.1f}"/>'
    if mark == "dashes":
        return f'<path class="s{series} dashed" d="M{x - 8:.1f} {y:.1f} L{x + 8:.1f} {y:.1f}"/>'
    return f'<circle class="s{series}" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>'
