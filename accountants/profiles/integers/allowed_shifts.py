"""Integer vectors within bounds on their norms: the difference of two neighbours' integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple


class ShiftBounds(NamedTuple):
    """Bounds on the integer vectors by which two neighbouring data sets may shift a released integer vector.

    Attributes:
        square: bound on the squared ℓ2 norm of the shift, at least 0.
        total: bound on the ℓ1 norm of the shift, at least 0.
        dimension: number of coordinates, at least 1.
    """

    square: int
    total: int
    dimension: int

    @classmethod
    def of(cls, l2: float, dimension: int, l1: float | None = None) -> ShiftBounds:
        """Return integer bounds for integer vectors, from real bounds on their norms.

        ‖v‖₁ and ‖v‖₂² of an integer vector v are integers, so that bounds on them can be rounded down. Moreover,
        ‖v‖₁ ≤ ‖v‖₂² ≤ ‖v‖₁², and ‖v‖₁ ≤ √d ‖v‖₂ in d dimensions.

        Args:
            l2: bound on the ℓ2 norm, at least 0.
            dimension: number d of coordinates, at least 1.
            l1: bound on the ℓ1 norm; None if there is none.

        Returns:
            The bounds on the squared ℓ2 norm and on the ℓ1 norm.
        """
        square = math.floor(Fraction(l2) ** 2)
        total = min(square, math.isqrt(dimension * square))
        total = total if l1 is None else min(total, math.floor(l1))
        return cls(min(square, total * total), total, dimension)

    @property
    def largest(self) -> int:
        """Largest coordinate of an allowed vector."""
        return min(math.isqrt(self.square), self.total)

    @property
    def worst(self) -> Parts | None:
        """The largest allowed vector: for all i, its i-th largest absolute coordinate is at least that of any other.

        It exists in one dimension, and if every allowed vector has coordinates of at most 1. Otherwise the value is
        None. It is described by pairs of a size and the number of coordinates of this size, without zeros.
        """
        if self.dimension == 1 or self.total <= 1:
            return ((self.largest, 1),) if self.largest > 0 else ()
        if self.largest <= 1:
            return ((1, min(self.total, self.dimension)),)
        return None


Parts = tuple[tuple[int, int], ...]
"""Sizes of coordinates, each with the number of coordinates of that size."""


def majorising_shift(bounds: ShiftBounds) -> Parts:
    """Return an integer vector that majorises every allowed shift of a released integer vector.

    That is, for every k the sum of its k largest coordinates is at least the one of each allowed shift. It has as many
    coordinates of the largest allowed size as the ℓ1 bound permits, and a remainder. The ℓ2 bound may exclude it.

    Args:
        bounds: bounds on the norms of the shift.

    Returns:
        Pairs of a size and the number of coordinates of this size; empty if only the zero vector is allowed.
    """
    size = bounds.largest
    if size == 0:
        return ()
    count = min(bounds.dimension, bounds.total // size)
    remainder = 0
    if count < bounds.dimension:
        remainder = min(size, bounds.total - count * size)
    if remainder > 0:
        return ((size, count), (remainder, 1))
    return ((size, count),)


def concentrated_shift(bounds: ShiftBounds) -> Parts:
    """Return an allowed shift of an integer vector with few large coordinates.

    The largest possible size is used as often as the bounds allow. The same is repeated with the values that the bounds
    then leave.

    Args:
        bounds: bounds on the squared ℓ2 norm and the ℓ1 norm of the shift, and its dimension.

    Returns:
        Pairs of a size and the number of coordinates of this size; empty if only the zero vector is allowed.
    """
    # What the bounds leave for the remaining coordinates.
    left_square, left_total, left_dimension = bounds.square, bounds.total, bounds.dimension
    parts: list[tuple[int, int]] = []
    while left_dimension > 0:
        size = min(math.isqrt(left_square), left_total)
        if size == 0:
            break
        count = min(left_dimension, left_square // (size * size), left_total // size)
        parts.append((size, count))
        left_square -= count * size * size
        left_total -= count * size
        left_dimension -= count
    return tuple(parts)


def spread_shift(bounds: ShiftBounds) -> Parts:
    """Return an allowed shift of an integer vector with many coordinates of nearly equal size.

    If the bounds allow at most one unit per coordinate, the shift has coordinates of 1 only.

    Args:
        bounds: bounds on the squared ℓ2 norm and the ℓ1 norm of the shift, and its dimension.

    Returns:
        Pairs of a size and the number of coordinates of this size; empty if only the zero vector is allowed.
    """
    square, total, dimension = bounds
    if min(square, total) <= dimension:
        count = min(square, total)
        return ((1, count),) if count > 0 else ()

    # Give all coordinates one size, and then some of them a size that is larger by 1. That adds 2 · size + 1 to the
    # squared norm, and 1 to the ℓ1 norm.
    size = min(math.isqrt(square // dimension), total // dimension)
    left_square = square - dimension * size * size
    left_total = total - dimension * size
    number_larger = min(left_square // (2 * size + 1), left_total, dimension)
    parts = ((size + 1, number_larger), (size, dimension - number_larger))
    return tuple((value, count) for value, count in parts if value > 0 and count > 0)
