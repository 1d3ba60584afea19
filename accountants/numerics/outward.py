"""Numbers rounded to the safe side: sums, products and square roots up, and decimal digits in either direction."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF


def round_up(value: Fraction) -> float:
    """Return the least double that is not below a rational number.

    Args:
        value: a rational number of any sign.

    Returns:
        The double; math.inf above the largest double.
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    # The conversion rounds to nearest, so that the next double is enough if it is below the number.
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def sum_up(values: Iterable[float]) -> float:
    """Return the least double that is not below the exact sum of finite floats.

    `math.fsum` gives the double nearest to the exact sum. A second `math.fsum`, of all values and of minus that double,
    has the exact sign of the difference. If the double is below the sum, the next one is returned.

    Args:
        values: the finite floats, of any signs.

    Returns:
        The double, an upper bound on the sum.
    """
    terms = list(values)
    nearest = math.fsum(terms)
    return nearest if math.fsum((*terms, -nearest)) <= 0.0 else math.nextafter(nearest, math.inf)


def product_up(*factors: float) -> float:
    """Return the least double that is not below the exact product of finite floats or integers.

    Args:
        factors: the factors; the product of none is 1.

    Returns:
        The double; math.inf if the product is beyond the doubles.
    """
    return round_up(math.prod(map(Fraction, factors), start=Fraction(1)))


def raise_by_units(value: float, units: float) -> float:
    """Return an upper bound of a number that is at least 0 and is known to a number of units of roundoff.

    Args:
        value: the number as computed; 0 stays 0.
        units: bound of its relative error, in units of roundoff.

    Returns:
        An upper bound on the exact number.
    """
    # Four more units cover the rounding of this factor and of the product.
    return value * (1.0 + (units + 4.0) * UNIT_ROUNDOFF)


def raise_log_by_units(value: float, units: float) -> float:
    """Return an upper bound on a logarithm that is known to a number of units of roundoff.

    Args:
        value: the logarithm as computed; an infinite one is returned as it is.
        units: bound on its error, in units of roundoff times 1 + |value|.

    Returns:
        An upper bound on the exact logarithm.
    """
    return value + units * UNIT_ROUNDOFF * (1.0 + abs(value)) if math.isfinite(value) else value


def root_up(square: Fraction) -> float:
    """Return the square root of a rational number, rounded up by at most two units in the last place.

    The number is scaled so that its integer square root has at least 80 bits. This root plus one is above the exact
    root, and is then rounded up to a double.

    Args:
        square: the number, at least 0.

    Returns:
        A double that is at least the root; math.inf if the root is beyond the doubles.
    """
    # The root is scaled up by 80 bits, and further if the number is below 1.
    missing_bits = max(square.denominator.bit_length() - square.numerator.bit_length(), 0)
    scale = 2 ** (missing_bits // 2 + 80)
    numerator = math.isqrt(math.ceil(square * scale * scale)) + 1
    root = Fraction(numerator, scale)
    # The nearest double may be below the root by a rounding. Then the next double is taken.
    try:
        near = float(root)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= root else math.nextafter(near, math.inf)


def round_to_digits(value: float, digits: int, *, up: bool) -> float:
    """Round a value up or down to few significant decimal digits.

    If the double nearest to the decimal number is on the wrong side of the value, the value itself is returned.

    Args:
        value: a number. An infinite number is returned as it is.
        digits: the number of significant decimal digits.
        up: whether the result must be at least the value. Otherwise it is at most the value.

    Returns:
        The rounded number, or `value` itself.
    """
    if not math.isfinite(value):
        return value
    # Round in decimal. The conversion to a double may still cross the value.
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    rounded = float(context.create_decimal(value))
    is_on_safe_side = rounded >= value if up else rounded <= value
    return rounded if is_on_safe_side else value
