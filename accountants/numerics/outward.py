"""Sums and products of floats rounded up: for numbers that decide an upper bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF


def round_up(value: Fraction) -> float:
    """Return the least double that is not below a rational number; `math.inf` above the largest double."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def sum_up(values: Iterable[float]) -> float:
    """Return the least double that is not below the exact sum of finite floats.

    `math.fsum` rounds the exact sum to the nearest double. The sign of the sum of all values and of minus that double,
    which `math.fsum` gives exactly, says on which side of the exact sum it is.
    """
    terms = list(values)
    nearest = math.fsum(terms)
    return nearest if math.fsum((*terms, -nearest)) <= 0.0 else math.nextafter(nearest, math.inf)


def product_up(*factors: float) -> float:
    """Return the least double that is not below the exact product of finite floats or integers."""
    return round_up(math.prod(map(Fraction, factors), start=Fraction(1)))


def raise_by_units(value: float, units: float) -> float:
    """Return an upper bound of a number that is at least 0 and is known to a number of units of roundoff.

    Args:
        value: the number as computed; 0 stays 0.
        units: bound of its relative error, in units of roundoff.
    """
    return value * (1.0 + (units + 4.0) * UNIT_ROUNDOFF)


def raise_log_by_units(value: float, units: float) -> float:
    """Return an upper bound of a logarithm whose error is at most `units` units of roundoff of 1 + |value|."""
    return value + units * UNIT_ROUNDOFF * (1.0 + abs(value)) if math.isfinite(value) else value
