"""Amounts of budget: exact decimals with 18 places, rounded outward from floats.

A ledger adds and subtracts charges for years, so it counts in decimals and never in binary fractions. A reader of the
entries can add the charges by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, InvalidOperation, localcontext
from fractions import Fraction
from typing import Final

from epsilond.accountants.errors import InvalidInput

PLACES: Final = 18
"""Number of decimal places of amounts."""
QUANTUM: Final = Decimal(1).scaleb(-PLACES)
"""Smallest positive amount."""
LARGEST: Final = Decimal(10) ** 18
"""Bound above all amounts, which are smaller than this."""
ZERO: Final = Decimal(0)
_DIGITS = 80
"""Number of decimal digits of exact arithmetic; no sum or multiple of amounts has more."""
EXACT: Final = Context(prec=_DIGITS, traps=[Inexact, InvalidOperation])
"""Context for exact sums and multiples, which have up to fifty digits; the default context rounds to 28 silently."""

Amount = Decimal
"""Decimal number that is at least zero, below 10^18, and has at most 18 decimal places."""


def up(value: float | str | Decimal | Fraction) -> Amount:
    """Return the smallest amount that is at least a given value.

    An amount is a decimal number with at most 18 decimal places. Costs are rounded up, so that a ledger never charges
    less than a mechanism costs.

    Args:
        value: finite number from 0 to below 10^18. A float is taken at its exact binary value.

    Returns:
        The amount, less than 10⁻¹⁸ above the value.

    Raises:
        InvalidInput: the value is negative, not finite, or too large for an amount.
    """
    if isinstance(value, Fraction):
        value = Decimal(math.ceil(value * 10**PLACES)).scaleb(-PLACES, EXACT)
    return _round(value, ROUND_CEILING)


def down(value: float | str | Decimal) -> Amount:
    """Return the largest amount that is at most a given value.

    An amount is a decimal number with at most 18 decimal places. Budgets are rounded down, so that a ledger never has
    more to spend than was certified.

    Args:
        value: finite number from 0 to below 10^18. A float is taken at its exact binary value.

    Returns:
        The amount, less than 10⁻¹⁸ below the value.

    Raises:
        InvalidInput: the value is negative, not finite, or too large for an amount.
    """
    return _round(value, ROUND_FLOOR)


def exact(value: float | str | Decimal, pointer: str) -> Amount:
    """Return the amount that a number or a decimal string states, without rounding.

    A float is read by its shortest decimal form, as a person wrote it: 0.1 is one tenth.

    Args:
        value: number or decimal string.
        pointer: JSON Pointer of the value, for the error.

    Returns:
        The amount, equal to the given value.

    Raises:
        InvalidInput: the value is not an amount, or has more than 18 decimal places.
    """
    text = repr(value) if isinstance(value, float) else value
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise InvalidInput.at(pointer, "is not a decimal number") from None
    if not number.is_finite() or number < 0 or number >= LARGEST:
        raise InvalidInput.at(pointer, "is not an amount", allowed="at least 0 and below 10^18")
    rounded = _round(number, ROUND_FLOOR)
    if number != rounded:
        raise InvalidInput.at(pointer, "has too many decimal places", allowed="at most 18")
    return abs(rounded)  # turns −0 into 0


def format_amount(amount: Amount) -> str:
    """Return an amount as a decimal string without exponent and without trailing zeros.

    Args:
        amount: decimal number with at most 18 decimal places.

    Returns:
        The shortest such string, for example `0.25` or `3`.
    """
    text = f"{amount:f}"
    if "." not in text:
        return text
    return text.rstrip("0").rstrip(".")


def format_amounts(parts: Mapping[str, Amount]) -> dict[str, str]:
    """Return amounts as decimal strings, by the same names.

    Args:
        parts: amounts of a slot (a budget) or of a charge, by names such as `mu_squared` and `eta`.

    Returns:
        The strings, without exponent and without trailing zeros.
    """
    return {part: format_amount(amount) for part, amount in parts.items()}


def read_amounts(parts: Mapping[str, str]) -> dict[str, Amount]:
    """Read the amounts of a slot (a budget) or of a charge from decimal strings, without rounding.

    Args:
        parts: decimal strings by names such as `mu_squared` and `eta`.

    Returns:
        The amounts, by the same names.

    Raises:
        InvalidInput: a string is not an amount, or has more than 18 decimal places.
    """
    return {part: exact(amount, f"/{part}") for part, amount in parts.items()}


def total(*amounts: Amount) -> Amount:
    """Return the exact sum of amounts, which is 0 if there are none.

    Args:
        amounts: decimal numbers with at most 18 decimal places.

    Returns:
        The sum, with at most 18 decimal places.
    """
    sum_ = ZERO
    for amount in amounts:
        sum_ = EXACT.add(sum_, amount)
    return sum_


def less(amount: Amount, subtracted: Amount) -> Decimal:
    """Return the exact difference of two amounts, which may be negative.

    Args:
        amount: a decimal number with at most 18 decimal places, such as a privacy budget in μ².
        subtracted: the amount to subtract from it.

    Returns:
        `amount` − `subtracted`, without rounding.
    """
    return EXACT.subtract(amount, subtracted)


def multiple(each: Amount, count: int) -> Amount:
    """Return the exact product of an amount and a number of runs.

    Args:
        each: amount of one run.
        count: number of runs, at least 0.

    Returns:
        `count` · `each`, without rounding.
    """
    return EXACT.multiply(each, Decimal(count))


def root_below(amount: Amount) -> float:
    """Return a float that is at most the square root of an amount.

    The conversion to a float and the square root round by at most half a unit in the last place each. Two steps to the
    next smaller float exceed both errors.

    Args:
        amount: decimal number that is at least 0.

    Returns:
        A lower bound on the root, at least 0.
    """
    root = math.sqrt(float(amount))
    one_step_down = math.nextafter(root, 0.0)
    return math.nextafter(one_step_down, 0.0)


def root_above(amount: Amount) -> float:
    """Return a float that is at least the square root of an amount; 0.0 if the amount is zero.

    The conversion to a float and the square root round by at most half a unit in the last place each. Two steps to the
    next larger float exceed both errors.

    Args:
        amount: decimal number that is at least 0.

    Returns:
        An upper bound on the root.
    """
    if amount <= 0:
        return 0.0
    root = math.sqrt(float(amount))
    one_step_up = math.nextafter(root, math.inf)
    return math.nextafter(one_step_up, math.inf)


def float_below(amount: Amount) -> float:
    """Return the float nearest to an amount if it is at most the amount; otherwise the next smaller float.

    Args:
        amount: decimal number that is at least 0.

    Returns:
        The float, at least 0.
    """
    nearest = float(amount)
    if Decimal(nearest) <= amount:
        return nearest
    return math.nextafter(nearest, 0.0)


def float_above(amount: Amount) -> float:
    """Return the float nearest to an amount if it is at least the amount; otherwise the next larger float.

    Args:
        amount: decimal number that is at least 0.

    Returns:
        The float, at least 0.
    """
    nearest = float(amount)
    if Decimal(nearest) >= amount:
        return nearest
    return math.nextafter(nearest, math.inf)


def _round(value: float | str | Decimal, rounding: str) -> Amount:
    """Round a value to an amount with `PLACES` decimal places.

    Args:
        value: value from 0 to below `LARGEST`. A float is taken at its exact binary value.
        rounding: direction of the rounding, a constant of the module `decimal`.

    Returns:
        The amount next to the value in this direction.

    Raises:
        InvalidInput: the value is negative, not finite, or too large.
    """
    number = Decimal(value)  # of a float: its exact binary value
    if not number.is_finite() or number < 0 or number >= LARGEST:
        raise InvalidInput.at("", "is not an amount", allowed="at least 0 and below 10^18")
    with localcontext() as context:
        context.prec = _DIGITS  # enough digits, so that only the number of decimal places is limited
        return number.quantize(QUANTUM, rounding=rounding)


def require_amounts(eta: Amount | None, delta: Amount | None) -> None:
    """Check that the η and the δ of a request, if present, are at least 0 and below 10^18.

    Args:
        eta: δ that the runs may add to the profile of a Gaussian slot (a budget in μ²); None if it is not given.
        delta: δ that each run may take from a pure or zero-concentrated slot; None if it is not given.

    Raises:
        InvalidInput: one of them is not a finite number that is at least 0 and below 10^18.
    """
    for name, amount in (("eta", eta), ("delta", delta)):
        if amount is not None and not (amount.is_finite() and 0 <= amount < LARGEST):
            raise InvalidInput.at(f"/{name}", "is not an amount", allowed="at least 0")
