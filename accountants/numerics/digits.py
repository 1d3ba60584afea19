"""Numbers rounded to a few significant decimal digits, in a direction that is safe for the reader."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def round_to_digits(value: float, digits: int, *, up: bool) -> float:
    """Return a number with few significant decimal digits on one side of a value; the value itself if there is none.

    Args:
        value: a number. An infinite number is returned as it is.
        digits: the number of significant decimal digits.
        up: whether the result must be at least the value; else it is at most the value.
    """
    if not math.isfinite(value):
        return value
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    rounded = float(context.create_decimal(value))
    safe = rounded >= value if up else rounded <= value
    return rounded if safe else value
