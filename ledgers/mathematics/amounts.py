"""Amounts of budget: exact decimals of 18 places, rounded outward from floats.

A ledger adds and subtracts charges for years, so it counts in decimals and never in binary fractions: what was charged
is what a reader of the entries can add up by hand.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, InvalidOperation, localcontext
from fractions import Fraction
from typing import Final

from epsilond.accountants.errors import InvalidInput

PLACES: Final = 18
QUANTUM: Final = Decimal(1).scaleb(-PLACES)
"""The smallest amount but zero."""
LARGEST: Final = Decimal(10) ** 18
"""No amount reaches it."""
ZERO: Final = Decimal(0)
_DIGITS = 80
EXACT: Final = Context(prec=_DIGITS, traps=[Inexact, InvalidOperation])
"""Sums and multiples have up to fifty digits; the usual context rounds to 28, without a word."""

Amount = Decimal
"""At least zero, below 10^18, with at most 18 decimal places."""


def up(value: float | str | Decimal | Fraction) -> Amount:
    """Return the smallest amount that is at least this value.

    Raises:
        InvalidInput: it is negative, not finite, or too large for an amount.
    """
    if isinstance(value, Fraction):
        scaled = value * 10**PLACES
        value = Decimal(-(-scaled.numerator // scaled.denominator)).scaleb(-PLACES, EXACT)
    return _rounded(value, ROUND_CEILING)


def down(value: float | str | Decimal) -> Amount:
    """Return the largest amount that is at most this value.

    Raises:
        InvalidInput: as `up` does.
    """
    return _rounded(value, ROUND_FLOOR)


def exact(value: float | str | Decimal, pointer: str) -> Amount:
    """Return exactly the amount that a number or a decimal string states.

    A float is read by its shortest decimal form, as a person wrote it: 0.1 is one tenth.

    Raises:
        InvalidInput: it is no amount, or has more than 18 decimal places.
    """
    try:
        told = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        raise InvalidInput.at(pointer, "is not a decimal number") from None
    if not told.is_finite() or told < 0 or told >= LARGEST:
        raise InvalidInput.at(pointer, "is not an amount", allowed="at least 0 and below 10^18")
    if told != _rounded(told, ROUND_FLOOR):
        raise InvalidInput.at(pointer, "has too many decimal places", allowed="at most 18")
    return abs(_rounded(told, ROUND_FLOOR))  # of −0, too


def shown(amount: Amount) -> str:
    """Return an amount as a decimal string without exponent and without trailing zeros."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def total(*amounts: Amount) -> Amount:
    """Their sum, exactly."""
    found = ZERO
    for amount in amounts:
        found = EXACT.add(found, amount)
    return found


def less(some: Amount, other: Amount) -> Decimal:
    """Their difference, exactly."""
    return EXACT.subtract(some, other)


def multiple(each: Amount, count: int) -> Amount:
    """So many of it, exactly."""
    return EXACT.multiply(each, Decimal(count))


def root_below(amount: Amount) -> float:
    """Return a float that is at most √amount."""
    return math.nextafter(math.nextafter(math.sqrt(_float(amount)), 0.0), 0.0)


def root_above(amount: Amount) -> float:
    """Return a float that is at least √amount; zero for zero."""
    return math.nextafter(math.nextafter(math.sqrt(_float(amount)), math.inf), math.inf) if amount > 0 else 0.0


def float_below(amount: Amount) -> float:
    """Return a float that is at most the amount, and at least zero."""
    value = _float(amount)
    return value if Decimal(value) <= amount else math.nextafter(value, 0.0)


def float_above(amount: Amount) -> float:
    """Return a float that is at least the amount."""
    value = _float(amount)
    return value if Decimal(value) >= amount else math.nextafter(value, math.inf)


def _float(amount: Amount) -> float:
    return float(amount)


def _rounded(value: float | str | Decimal, way: str) -> Amount:
    told = Decimal(value)  # of a float: its exact binary value
    if not told.is_finite() or told < 0 or told >= LARGEST:
        raise InvalidInput.at("", "is not an amount", allowed="at least 0 and below 10^18")
    with localcontext() as context:
        context.prec = _DIGITS
        return told.quantize(QUANTUM, rounding=way)
