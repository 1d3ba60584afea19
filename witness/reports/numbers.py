"""Numbers as a page shows them: ends of enclosures rounded outward, everything that is run with in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from epsilond.accountants.json_types import JsonObject

DIGITS = 7


def outward(ends: JsonObject) -> str:
    """An enclosure in JSON form, its lower end rounded down and its upper end rounded up."""
    return f"{down(ends['lower'])} to {up(ends['upper'])}"


def down(value: object) -> str:
    """A number in JSON form, rounded down."""
    return _rounded(value, ROUND_FLOOR)


def up(value: object) -> str:
    """A number in JSON form, rounded up."""
    return _rounded(value, ROUND_CEILING)


def short(value: object) -> str:
    """A number that is no end of anything, to seven digits."""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else full(value)


def full(value: object) -> str:
    """A JSON value, exactly."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(full, value))
    return str(value)


def delta(log10_delta: float) -> str:
    """δ from its decimal logarithm, also where no double can hold it."""
    whole = round(log10_delta)
    if abs(log10_delta - whole) < 1e-12 * max(abs(log10_delta), 1.0):
        return f"1e{whole}"
    return short(10.0**log10_delta) if log10_delta > -300.0 else f"10^({short(log10_delta)})"


def flat(value: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of a JSON value under dotted names; lists of plain values count as leaves."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from flat(item, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for place, item in enumerate(value):
            yield from flat(item, f"{prefix}.{place}" if prefix else str(place))
    else:
        yield prefix, value


def _rounded(value: object, direction: str) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return f"{float(Context(prec=DIGITS, rounding=direction).create_decimal(value)):.{DIGITS}g}"
