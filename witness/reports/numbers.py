"""Formats of numbers on a page: bounds are rounded outward, and parameters of a run are exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from epsilond.accountants.json_types import JsonObject

DIGITS = 7
"""Significant digits of a rounded number."""


def outward(ends: JsonObject) -> str:
    """Format an enclosure in JSON form, its lower bound rounded down and its upper bound rounded up.

    Args:
        ends: `lower` and `upper`, which may be words for infinities.
    """
    return f"{down(ends['lower'])} to {up(ends['upper'])}"


def down(value: object) -> str:
    """Format a number in JSON form, rounded down."""
    return _round(value, ROUND_FLOOR)


def up(value: object) -> str:
    """Format a number in JSON form, rounded up."""
    return _round(value, ROUND_CEILING)


def short(value: object) -> str:
    """Format a number that is not a bound, with seven digits; other values are written in full."""
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return full(value)


def full(value: object) -> str:
    """Format a JSON value exactly."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(full, value))
    return str(value)


def delta(log10_delta: float) -> str:
    """Format δ, from its decimal logarithm. δ may be too small for a double.

    An integer power of ten is written as such, for example 1e-5. A δ of at most 1e-300 is written as a power of ten,
    with seven digits of its exponent.

    Args:
        log10_delta: base-10 logarithm of δ.

    Returns:
        The text, such as `1e-5`, `3.2e-07` or `10^(-412.3)`.
    """
    nearest_integer = round(log10_delta)
    rounding = 1e-12 * max(abs(log10_delta), 1.0)  # exceeds the error of a computed logarithm
    if abs(log10_delta - nearest_integer) < rounding:
        return f"1e{nearest_integer}"
    if log10_delta > -300.0:  # δ is a normal double
        return short(10.0**log10_delta)
    return f"10^({short(log10_delta)})"


def flat(value: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the leaves of a JSON value, each with its dotted name.

    Positions in a list are parts of a name. A list without objects and lists is a leaf.

    Args:
        value: the JSON value.
        prefix: name in front of all names; empty for none.

    Yields:
        Pairs of name and value, in the order of the JSON value.
    """
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from flat(item, _extend_name(prefix, name))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for index, item in enumerate(value):
            yield from flat(item, _extend_name(prefix, index))
    else:
        yield prefix, value


def _extend_name(prefix: str, part: object) -> str:
    """Append a part to a dotted name. An empty name gives the part itself."""
    if not prefix:
        return str(part)
    return f"{prefix}.{part}"


def _round(value: object, rounding: str) -> str:
    """Round a number to `DIGITS` significant digits; other values are converted to strings.

    Words, such as those for infinities, are not rounded.

    Args:
        value: a number or a word in JSON form.
        rounding: a rounding mode of `decimal`, such as `ROUND_CEILING`.

    Returns:
        The text of the rounded number.
    """
    if not isinstance(value, int | float):
        return str(value)
    context = Context(prec=DIGITS, rounding=rounding)
    rounded = context.create_decimal(value)
    return f"{float(rounded):.{DIGITS}g}"
