"""A column of exact decimals, which both databases compare as numbers.

SQLite has no decimals and would store a float. There an amount is text of fixed width, padded with zeros. Its
comparison by characters is comparison by value, so that CHECK constraints mean the same as in PostgreSQL.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from sqlalchemy import Dialect, Numeric, String
from sqlalchemy.types import TypeDecorator, TypeEngine

from epsilond.ledgers.mathematics.amounts import LARGEST, PLACES

WIDTH: Final = 2 * PLACES + 1
"""Number of characters of an amount in SQLite: 18 digits, the point, 18 digits."""


class ExactDecimal(TypeDecorator[Decimal]):
    """Type of a database column for exact decimals of at least 0 and below 10^18, with at most 18 decimal places.

    PostgreSQL stores a number. SQLite has no decimals and stores text of fixed width. Comparison of such texts by
    characters is comparison by value.
    """

    impl = String(WIDTH)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the column in a database system: NUMERIC(38, 18) in PostgreSQL, and text in SQLite.

        Args:
            dialect: the database system.

        Returns:
            The type as the database system's driver uses it.
        """
        column_type: TypeEngine[Any] = String(WIDTH)
        if dialect.name == "postgresql":
            column_type = Numeric(38, PLACES)
        return dialect.type_descriptor(column_type)

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> object:
        """Convert a decimal to the value that is sent to the database.

        Args:
            value: the decimal, or None for NULL.
            dialect: database system that gets the value.

        Returns:
            A decimal for PostgreSQL, and text of fixed width for SQLite. None if the value is None.

        Raises:
            ValueError: the value is negative, too large, not finite, or has more than 18 decimal places. The database
                would round it or compare it wrongly.
        """
        if value is None:
            return None
        text = format_exact(value)
        return Decimal(text) if dialect.name == "postgresql" else text

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:  # noqa: ARG002 (of the base class)
        """Convert a stored value to a decimal with 18 decimal places; None for NULL."""
        return None if value is None else Decimal(value)


def format_exact(value: Decimal) -> str:
    """Write a decimal as text of fixed width, padded with zeros, so that texts are sorted like the numbers.

    Args:
        value: a decimal of at least 0 and below 10^18, with at most 18 decimal places.

    Returns:
        Text of `WIDTH` characters: 18 digits, the decimal point, 18 digits.

    Raises:
        ValueError: the value is not such a decimal.
    """
    if not value.is_finite() or value.is_signed() or value >= LARGEST:
        raise ValueError("an amount is a decimal of at least 0 and below 10^18")
    text = f"{value:0{WIDTH}.{PLACES}f}"
    if Decimal(text) != value:
        raise ValueError(f"an amount has at most {PLACES} decimal places")
    return text
