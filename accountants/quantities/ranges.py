"""Quantities of the commonest ranges."""

from __future__ import annotations

from epsilond.accountants.quantity import LARGEST_COUNT, Quantity
from epsilond.accountants.scale import SQUARES


def count(symbol: str, description: str, *, ge: int = 1, unit: str = "") -> Quantity:
    """Return a whole number from `ge` to `LARGEST_COUNT`.

    Args:
        symbol: symbol in formulas.
        description: meaning, for the schema and the documents.
        ge: least value.
        unit: unit; empty if it has none.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, ge=ge, le=LARGEST_COUNT)


def positive(symbol: str, description: str, unit: str = "") -> Quantity:
    """Return a positive number.

    Args:
        symbol: symbol in formulas.
        description: meaning, for the schema and the documents.
        unit: unit; empty if it has none.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0)


def squared(symbol: str, description: str, unit: str = "") -> Quantity:
    """Return a positive number whose square enters formulas.

    Args:
        symbol: symbol in formulas.
        description: meaning, for the schema and the documents.
        unit: unit; empty if it has none.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0, scale=SQUARES)


def squared_or_zero(symbol: str, description: str, unit: str) -> Quantity:
    """Return a number that is 0 or positive, and whose square enters formulas.

    Args:
        symbol: symbol in formulas.
        description: meaning, for the schema and the documents.
        unit: unit; empty if it has none.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, ge=0, scale=SQUARES)
