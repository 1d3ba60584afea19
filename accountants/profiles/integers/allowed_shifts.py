"""Integer vectors within bounds on their norms: the difference of two neighbours' integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple


class ShiftBounds(NamedTuple):
    """Bounds on the difference of two neighbours' integer vectors.

    Attributes:
        square: bound on the squared ℓ2 norm.
        total: bound on the ℓ1 norm.
        dimension: number of coordinates.
    """

    square: int
    total: int
    dimension: int

    @classmethod
    def of(cls, l2: float, dimension: int, l1: float | None = None) -> ShiftBounds:
        """Return exact bounds on integer vectors from bounds on their norms.

        Norms of integer vectors are integers or their roots, so that bounds can be rounded down. For integer vectors
        ‖v‖₁ ≤ ‖v‖₂² ≤ ‖v‖₁², and ‖v‖₁ ≤ √d ‖v‖₂ in d dimensions.

        Args:
            l2: bound on the ℓ2 norm, at least 0.
            dimension: number d of coordinates.
            l1: bound on the ℓ1 norm; None if there is none.

        Returns:
            The smallest integer bounds that follow on the squared ℓ2 norm and on the ℓ1 norm.
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
        """The allowed vector with sorted coordinates at least as large as those of every other allowed vector.

        It exists in one dimension, and if every allowed vector has coordinates of at most 1. It is given as values with
        their numbers of coordinates, and empty if only 0 is allowed. Otherwise it is None.
        """
        if self.dimension == 1 or self.total <= 1:
            return ((self.largest, 1),) if self.largest > 0 else ()
        if self.largest <= 1:
            return ((1, min(self.total, self.dimension)),)
        return None


Parts = tuple[tuple[int, int], ...]
"""Sizes of coordinates, each with the number of coordinates of that size."""


def majorising_shift(bounds: ShiftBounds) -> Parts:
    """Return an integer vector that majorises every allowed one, as pairs of a size and a number of coordinates.

    A vector majorises another one if the sums of its k largest coordinates are at least those of the other, for every
    k. It is within the bounds on the ℓ1 norm and on the coordinates. It has as many coordinates of the largest size as
    the ℓ1 bound allows, and a remainder. The ℓ2 bound may exclude it.

    Args:
        bounds: bounds on the norms of the shift, by which neighbouring datasets may change an integer sum.
    """
    size = bounds.largest
    if size == 0:
        return ()
    count = min(bounds.dimension, bounds.total // size)
    remainder = min(size, bounds.total - count * size) if count < bounds.dimension else 0
    return ((size, count), (remainder, 1)) if remainder > 0 else ((size, count),)


def concentrated_shift(bounds: ShiftBounds) -> Parts:
    """Return an allowed integer vector with few large coordinates, each as large as the earlier ones allow.

    Args:
        bounds: bounds on the squared ℓ2 norm and the ℓ1 norm of the shift of an integer sum, and its dimension.

    Returns:
        A tuple of pairs: a size, and the number of coordinates of this size. It is empty if only 0 is allowed.
    """
    square, total, left = bounds.square, bounds.total, bounds.dimension  # what the remaining coordinates may use
    parts: list[tuple[int, int]] = []
    while left > 0:
        size = min(math.isqrt(square), total)
        if size == 0:
            break
        count = min(left, square // (size * size), total // size)
        parts.append((size, count))
        square, total, left = square - count * size * size, total - count * size, left - count
    return tuple(parts)


def spread_shift(bounds: ShiftBounds) -> Parts:
    """Return an allowed integer vector with many coordinates of nearly equal size.

    Args:
        bounds: bounds on the squared ℓ2 norm and the ℓ1 norm of the shift of an integer sum, and its dimension.

    Returns:
        A tuple of pairs: a size, and the number of coordinates of this size. It is empty if only 0 is allowed.
    """
    square, total, dimension = bounds
    if min(square, total) <= dimension:
        count = min(square, total)
        return ((1, count),) if count > 0 else ()
    size = min(math.isqrt(square // dimension), total // dimension)
    # A coordinate that is larger by 1 adds 2 · size + 1 to the squared norm, and 1 to the ℓ1 norm.
    left_square, left_total = square - dimension * size * size, total - dimension * size
    larger = min(left_square // (2 * size + 1), left_total, dimension)
    parts = ((size + 1, larger), (size, dimension - larger))
    return tuple((step, count) for step, count in parts if step > 0 and count > 0)
