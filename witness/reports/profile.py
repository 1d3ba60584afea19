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
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 12.0, 44.0


def profile(curve: Curve, epsilon: float) -> list[object]:
    """Return points of the curve from ε = 0 to twice `epsilon`, in JSON form, with log₁₀ δ rounded outward.

    Args:
        curve: the privacy profile.
        epsilon: ε of the answer; 1 is used if it is 0 or infinite.
    """
    reach = REACH * (epsilon if 0.0 < epsilon < math.inf else 1.0)
    places = [reach * step / STEPS for step in range(STEPS + 1)]
    return [{"epsilon": place, "log10_delta": as_json(_outward_log10(curve.log_delta(place)))} for place in places]


def _outward_log10(log_delta: Interval) -> Ends:
    """Return log₁₀ δ rounded outward, to few enough digits that the order of a sum does not change them."""
    ends = Ends.log10(log_delta)
    return Ends(_round(ends.lower, ROUND_FLOOR), _round(ends.upper, ROUND_CEILING))


def _round(value: float, rounding: str) -> float:
    """Round a number by a rounding mode of `decimal`; infinities are unchanged."""
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal(value)) if math.isfinite(value) else value


@dataclass(frozen=True)
class Tick:
    """A mark on an axis, in units of the drawing."""

    at: float
    label: str


@dataclass(frozen=True)
class Drawing:
    """A band with its axes, in units of the drawing."""

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
    """Return the drawing of a profile, or None if fewer than two points are finite.

    Args:
        points: points of the profile in JSON form.
        target: (ε, log₁₀ δ) of a mark, which is left out if it is outside the drawing.
    """
    bands = [_Band.of(point) for point in points]
    bands = [band for band in bands if math.isfinite(band.upper)]
    if len(bands) < 2:
        return None
    least, most = min(band.upper for band in bands), max(band.upper for band in bands)
    floor = least - max((most - least) / 10.0, 0.05 * abs(least), 1e-9)
    reach = bands[-1].epsilon

    def place(epsilon: float, height: float) -> tuple[float, float]:
        share = (height - floor) / (most - floor)
        return (
            LEFT + (WIDTH - LEFT - RIGHT) * epsilon / reach,
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(share, 0.0), 1.0),
        )

    upper = [place(band.epsilon, band.upper) for band in bands]
    lower = [place(band.epsilon, min(max(band.lower, floor), band.upper)) for band in bands]
    across = tuple(Tick(place(epsilon, floor)[0], f"{epsilon:g}") for epsilon in _ticks(0.0, reach))
    up = tuple(Tick(place(0.0, height)[1], f"{height:g}") for height in _ticks(floor, most))
    is_inside = target is not None and target[0] <= reach and floor <= target[1] <= most
    mark = place(target[0], target[1]) if target is not None and is_inside else None
    return Drawing(band=_path([*upper, *reversed(lower)]), upper=_path(upper), across=across, up=up, target=mark)


@dataclass(frozen=True)
class _Band:
    """Bounds on log₁₀ δ at one ε."""

    epsilon: float
    lower: float
    upper: float

    @classmethod
    def of(cls, point: JsonObject) -> _Band:
        """Return the band of a point in JSON form."""
        bounds = point["log10_delta"]
        return cls(float(point["epsilon"]), _bound(bounds["lower"]), _bound(bounds["upper"]))


def _bound(value: object) -> float:
    """Return a bound in its JSON form as a double; infinite bounds are words."""
    if isinstance(value, int | float):
        return float(value)
    return math.inf if value == "unbounded" else -math.inf


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{across:.2f},{up:.2f}" for across, up in points)


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield about six round numbers between two numbers."""
    rough = (high - low) / 6.0
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1.0, 2.0, 5.0, 10.0) if unit * factor >= rough)
    for place in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield place * step
