"""The band of the privacy profile, lower and upper bounds on log₁₀ δ as a function of ε, and its drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators.answer import Ends, as_json

STEPS = 24
"""Intervals between the points of a profile."""
DIGITS = 9
"""Significant digits of log₁₀ δ."""
REACH = 2.0
"""Largest ε of the profile, as a multiple of the ε of the answer."""
WIDTH, HEIGHT = 640.0, 300.0
"""Size of the drawing, in the units of its view box."""
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 12.0, 44.0
"""Margins around the plotted area, which hold the labels, in the same units."""
MARGIN_DIVISOR, MARGIN_OF_LEVEL, LEAST_MARGIN = 10.0, 0.05, 1e-9
"""Margin of log₁₀ δ below the curve, the largest of three: a part of its range, a share of its size, and absolute.
"""


def profile(curve: Curve, epsilon: float) -> list[object]:
    """Sample the privacy profile, δ as a function of ε, from ε = 0 to twice the ε of the answer.

    Args:
        curve: the privacy profile.
        epsilon: ε of the answer; 1 is used if it is 0 or infinite.

    Returns:
        Points in JSON form, with bounds on log₁₀ δ that are rounded outward.
    """
    largest_epsilon = REACH
    if 0.0 < epsilon < math.inf:
        largest_epsilon = REACH * epsilon
    points: list[object] = []
    for step in range(STEPS + 1):
        point_epsilon = largest_epsilon * step / STEPS
        log10_delta = _outward_log10(curve.log_delta(point_epsilon))
        points.append({"epsilon": point_epsilon, "log10_delta": as_json(log10_delta)})
    return points


def _outward_log10(log_delta: Interval) -> Ends:
    """Convert bounds on log δ to bounds on log₁₀ δ, rounded outward to `DIGITS` digits.

    So few digits are the same on every machine, although sums of doubles may be computed in another order.

    Args:
        log_delta: lower and upper bound on the natural logarithm of δ.

    Returns:
        A lower bound that is rounded down, and an upper bound that is rounded up.
    """
    ends = Ends.log10(log_delta)
    return Ends(_round(ends.lower, ROUND_FLOOR), _round(ends.upper, ROUND_CEILING))


def _round(value: float, rounding: str) -> float:
    """Round a number to `DIGITS` significant digits; infinities are unchanged.

    Args:
        value: the number.
        rounding: a rounding mode of `decimal`, such as `ROUND_FLOOR`.

    Returns:
        The nearest double to the rounded number.
    """
    if not math.isfinite(value):
        return value
    context = Context(prec=DIGITS, rounding=rounding)
    return float(context.create_decimal(value))


@dataclass(frozen=True)
class Tick:
    """A mark on an axis, in units of the drawing.

    Attributes:
        at: position along the axis.
        label: the value at the mark.
    """

    at: float
    label: str


@dataclass(frozen=True)
class Drawing:
    """A privacy profile drawn as a band between its bounds, with its axes, in units of the drawing's view box.

    Attributes:
        band: outline of the band, as text for the SVG attribute `points`: "x,y x,y …".
        upper: upper side of the band, in the same form.
        across: ticks of the horizontal axis, ε.
        up: ticks of the vertical axis, log₁₀ δ.
        target: (x, y) of the marked point; None if there is none.
        width, height: size of the drawing.
        left, right, top, bottom: sides of the plotted area.
    """

    band: str
    upper: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    target: tuple[float, float] | None
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


def drawing(points: Sequence[JsonObject], target: tuple[float, float] | None) -> Drawing | None:
    """Draw a privacy profile: a band between the lower and upper bounds on log₁₀ δ over ε.

    The band is drawn as a polygon, and its upper side as a line, too.

    Args:
        points: points of the profile in JSON form, by ascending ε.
        target: (ε, log₁₀ δ) of a mark, which is left out if it is outside the drawing; None for no mark.

    Returns:
        The drawing; None if fewer than two points have a finite upper bound.
    """
    bands = [band for band in map(_Band.of, points) if math.isfinite(band.upper)]
    if len(bands) < 2:
        return None
    axes = _Axes.around(bands)
    upper_side = [axes.place(band.epsilon, band.upper) for band in bands]

    # Lower bounds may be −∞. They are drawn at the bottom then.
    lower_side = []
    for band in bands:
        visible_lower = min(max(band.lower, axes.floor), band.upper)
        lower_side.append(axes.place(band.epsilon, visible_lower))

    mark = None
    if target is not None and axes.contains(*target):
        mark = axes.place(*target)
    # The outline runs along the upper side from left to right, and back along the lower side.
    return Drawing(
        band=_path(upper_side + lower_side[::-1]),
        upper=_path(upper_side),
        across=axes.ticks_across(),
        up=axes.ticks_up(),
        target=mark,
    )


@dataclass(frozen=True, kw_only=True)
class _Axes:
    """The ranges of the axes of the drawing: ε from 0 on the horizontal axis, and log₁₀ δ on the vertical one.

    Attributes:
        largest_epsilon: right end of the horizontal axis, in nats.
        floor: log₁₀ δ at the bottom.
        top: log₁₀ δ at the top.
    """

    largest_epsilon: float
    floor: float
    top: float

    @classmethod
    def around(cls, bands: Sequence[_Band]) -> _Axes:
        """Return ranges that contain the upper bounds of a profile, with a margin below them.

        Args:
            bands: points of the profile with finite upper bounds, by ascending ε.

        Returns:
            The ranges, from ε = 0 to the last point.
        """
        least, most = min(band.upper for band in bands), max(band.upper for band in bands)
        # The margin is a fraction of the range. If the profile is nearly constant, it is a fraction of |log₁₀ δ|.
        margin = max((most - least) / MARGIN_DIVISOR, MARGIN_OF_LEVEL * abs(least), LEAST_MARGIN)
        return cls(largest_epsilon=bands[-1].epsilon, floor=least - margin, top=most)

    def place(self, epsilon: float, log10_delta: float) -> tuple[float, float]:
        """Return the point of (ε, log₁₀ δ) in units of the drawing.

        Args:
            epsilon: ε, from 0 to `largest_epsilon`.
            log10_delta: log₁₀ δ, which is limited to the range of the vertical axis.

        Returns:
            The distances from the left and from the upper side of the drawing.
        """
        share = (log10_delta - self.floor) / (self.top - self.floor)
        visible_share = min(max(share, 0.0), 1.0)
        from_left = LEFT + (WIDTH - LEFT - RIGHT) * epsilon / self.largest_epsilon
        from_top = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * visible_share
        return from_left, from_top

    def contains(self, epsilon: float, log10_delta: float) -> bool:
        """Decide whether the point (ε, log₁₀ δ) is inside the drawing."""
        return epsilon <= self.largest_epsilon and self.floor <= log10_delta <= self.top

    def ticks_across(self) -> tuple[Tick, ...]:
        """Return the ticks of the horizontal axis, at round values of ε."""
        ticks = []
        for epsilon in _ticks(0.0, self.largest_epsilon):
            from_left, _ = self.place(epsilon, self.floor)
            ticks.append(Tick(from_left, f"{epsilon:g}"))
        return tuple(ticks)

    def ticks_up(self) -> tuple[Tick, ...]:
        """Return the ticks of the vertical axis, at round values of log₁₀ δ."""
        ticks = []
        for level in _ticks(self.floor, self.top):
            _, from_top = self.place(0.0, level)
            ticks.append(Tick(from_top, f"{level:g}"))
        return tuple(ticks)


@dataclass(frozen=True)
class _Band:
    """A point of the privacy profile: an ε with the lower and the upper bound on log₁₀ δ.

    Attributes:
        epsilon: ε, in nats.
        lower: lower bound on log₁₀ δ, which may be −∞.
        upper: upper bound on log₁₀ δ.
    """

    epsilon: float
    lower: float
    upper: float

    @classmethod
    def of(cls, point: JsonObject) -> _Band:
        """Read the bounds on log₁₀ δ at one ε from a point of a privacy profile in JSON form."""
        bounds = point["log10_delta"]
        return cls(float(point["epsilon"]), _bound(bounds["lower"]), _bound(bounds["upper"]))


def _bound(value: object) -> float:
    """Return a bound in its JSON form as a double; infinite bounds are words."""
    if isinstance(value, int | float):
        return float(value)
    return math.inf if value == "unbounded" else -math.inf


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return points as the text of an SVG attribute `points`, to two digits after the decimal point."""
    return " ".join(f"{across:.2f},{up:.2f}" for across, up in points)


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield about six round numbers between two numbers: multiples of 1, 2 or 5 times a power of ten.

    Args:
        low: the smaller number.
        high: the larger number.

    Yields:
        The round numbers, ascending.
    """
    rough_step = (high - low) / 6.0
    unit = 10.0 ** math.floor(math.log10(rough_step))
    # The smallest round step that is at least the rough one.
    step = next(unit * factor for factor in (1.0, 2.0, 5.0, 10.0) if unit * factor >= rough_step)
    first_multiple, last_multiple = math.ceil(low / step), math.floor(high / step)
    for multiple in range(first_multiple, last_multiple + 1):
        yield multiple * step
