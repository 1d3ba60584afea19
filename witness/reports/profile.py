"""The band of the privacy profile, ε ↦ log10 δ(ε) from below and above, and its drawing."""

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
DIGITS = 9
REACH = 2.0
"""The curve is read from ε = 0 to this multiple of the ε in question."""
WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 12.0, 44.0


def profile(curve: Curve, epsilon: float) -> list[object]:
    """Points of the curve around `epsilon`, in JSON form: what is known of log10 δ at each ε, rounded outward."""
    reach = REACH * (epsilon if 0.0 < epsilon < math.inf else 1.0)
    places = [reach * step / STEPS for step in range(STEPS + 1)]
    return [{"epsilon": place, "log10_delta": as_json(_outward(curve.log_delta(place)))} for place in places]


def _outward(log_delta: Interval) -> Ends:
    """log10 δ to so many digits that the order of a sum, which another machine may choose, is not among them."""
    ends = Ends.log10(log_delta)
    return Ends(_rounded(ends.lower, ROUND_FLOOR), _rounded(ends.upper, ROUND_CEILING))


def _rounded(value: float, direction: str) -> float:
    return float(Context(prec=DIGITS, rounding=direction).create_decimal(value)) if math.isfinite(value) else value


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
    """The drawing of a profile, with a mark at `target` (ε, log10 δ); None where nothing finite can be drawn."""
    known = [
        (float(point["epsilon"]), _end(point["log10_delta"]["lower"]), _end(point["log10_delta"]["upper"]))
        for point in points
    ]
    finite = [upper for _, _, upper in known if math.isfinite(upper)]
    if len(finite) < 2:
        return None
    least, most = min(finite), max(finite)
    floor = least - max((most - least) / 10.0, 0.05 * abs(least), 1e-9)
    known = [(at, max(lower, floor), upper) for at, lower, upper in known if math.isfinite(upper)]
    reach = known[-1][0]

    def place(at: float, height: float) -> tuple[float, float]:
        share = (height - floor) / (most - floor)
        return (
            LEFT + (WIDTH - LEFT - RIGHT) * at / reach,
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(share, 0.0), 1.0),
        )

    above = [place(at, upper) for at, _, upper in known]
    below = [place(at, min(lower, upper)) for at, lower, upper in known]
    return Drawing(
        band=_path([*above, *reversed(below)]),
        upper=_path(above),
        across=tuple(Tick(place(at, floor)[0], f"{at:g}") for at in _ticks(0.0, reach)),
        up=tuple(Tick(place(0.0, height)[1], f"{height:g}") for height in _ticks(floor, most)),
        target=place(*target) if target is not None and target[0] <= reach and floor <= target[1] <= most else None,
    )


def _end(value: object) -> float:
    """An end in its JSON form; an infinite one is a word."""
    return float(value) if isinstance(value, int | float) else math.inf if value == "unbounded" else -math.inf


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{across:.2f},{up:.2f}" for across, up in points)


def _ticks(low: float, high: float) -> Iterator[float]:
    """Round numbers between two, about six."""
    rough = (high - low) / 6.0
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1.0, 2.0, 5.0, 10.0) if unit * factor >= rough)
    for place in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield place * step
