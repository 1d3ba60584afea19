"""Constructors of quantities with common ranges."""

from __future__ import annotations

from epsilond.accountants.quantity import LARGEST_COUNT, Quantity
from epsilond.accountants.scale import SQUARES


def count(symbol: str, description: str, *, ge: int = 1, unit: str = "") -> Quantity:
    """Return the quantity of an integer, such as a number of clients, with an upper bound that is exact in a double.

    Args:
        symbol: symbol in formulas; empty if it has none.
        description: meaning, for the schema and the documents.
        ge: least value.
        unit: unit of measurement; empty if it has none.

    Returns:
        The symbol, meaning and range of the number, by which requests check their fields.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, ge=ge, le=LARGEST_COUNT)


def positive(symbol: str, description: str, unit: str = "") -> Quantity:
    """Return the quantity of a positive number.

    Args:
        symbol: symbol in formulas; empty if it has none.
        description: meaning, for the schema and the documents.
        unit: unit of measurement; empty if it has none.

    Returns:
        The symbol, meaning and range of the number, by which requests check their fields.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0)


def in_squares(symbol: str, description: str, unit: str = "") -> Quantity:
    """Return the quantity of a positive number that enters formulas as a square.

    Its range is so limited that the square neither overflows nor underflows.

    Args:
        symbol: symbol in formulas; empty if it has none.
        description: meaning, for the schema and the documents.
        unit: unit of measurement; empty if it has none.

    Returns:
        The symbol, meaning and range of the number, by which requests check their fields.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, gt=0, scale=SQUARES)


def in_squares_or_zero(symbol: str, description: str, unit: str) -> Quantity:
    """Return the quantity of a number that is at least 0 and enters formulas as a square.

    Its range is so limited that the square neither overflows nor underflows.

    Args:
        symbol: symbol in formulas; empty if it has none.
        description: meaning, for the schema and the documents.
        unit: unit of measurement; empty if it has none.

    Returns:
        The symbol, meaning and range of the number, by which requests check their fields.
    """
    return Quantity(symbol=symbol, description=description, unit=unit, ge=0, scale=SQUARES)
