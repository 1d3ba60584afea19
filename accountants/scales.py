"""Keeping requests inside the doubles: squares of lengths and losses must neither vanish nor overflow."""

from __future__ import annotations

from epsilond.accountants.errors import Fault, InvalidInput

SQUARES = (1e-100, 1e100)
"""A bound whose square underflowed would be 0, which is no bound."""
RATIOS = (1e-60, 1e60)
"""The same for squares of ratios of two scales, or of a scale and a noise."""


def check_scales(*, within: tuple[float, float] = SQUARES, **values: float | None) -> None:
    """Refuse a non-zero scale outside [1e-100, 1e100], or `within`, by its field's name.

    Raises:
        InvalidInput: with a fault for each such field.
    """
    least, most = within
    allowed = f"≥ {least:g} and ≤ {most:g}"
    faults = [
        Fault(f"/{name}", "is outside the range that squares survive; choose other units", allowed)
        for name, value in values.items()
        if value and not least <= value <= most
    ]
    if faults:
        raise InvalidInput(*faults)
