"""Enclosures of log δ and of ε, and the tails of a loss. Everything is in natural logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.errors import ContradictoryBounds
from epsilond.accountants.numerics.special import LEAST_LOG

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

LARGEST_EPSILON = 1e15
"""Largest ε of every search, in nats. A loss beyond it is answered as unbounded."""
ROUNDED_BOUNDS = 2.0**-40
"""Largest excess of a lower bound over the upper bound, per unit of 1 + |bound|, that rounding explains.

Two searches for the same number end within a few units of roundoff, about 2^-50. A thousand times as much is allowed.
"""
SMALL_EPSILON = 2.0**-10
"""First positive ε of a search without an initial estimate, in nats."""


class Enclosure(NamedTuple):
    """Bounds on each element of an array of numbers: lower ≤ truth ≤ upper.

    Attributes:
        lower: lower bounds, which may be −∞.
        upper: upper bounds, with the same shape.
    """

    lower: FloatArray
    upper: FloatArray

    @classmethod
    def around(cls, value: FloatArray, accuracy: float) -> Enclosure:
        """Enclose logarithms of probabilities, from computed values with bounded errors.

        Upper bounds are at most 0, because a probability is at most 1.

        Args:
            value: computed logarithms. A value of at most `LEAST_LOG` only bounds the logarithm from above, so its
                lower bound is −∞.
            accuracy: bound on the errors, per unit of 1 + |value|.

        Returns:
            Bounds with the shape of `value`. The upper ones are at most 0.
        """
        with np.errstate(invalid="ignore"):
            slack = np.where(np.isneginf(value), 0.0, accuracy * (1.0 + np.abs(value)))
        return cls(np.where(value <= LEAST_LOG, -np.inf, value - slack), np.minimum(value + slack, 0.0))


class Interval(NamedTuple):
    """A lower and an upper bound on one number.

    Attributes:
        lower: lower bound, which may be −∞.
        upper: upper bound, which may be ∞.
    """

    lower: float
    upper: float

    @classmethod
    def of(cls, *, lower: float, upper: float, name: str) -> Interval:
        """Return the interval of two bounds that were computed separately.

        A lower bound that exceeds the upper one by rounding is lowered to it.

        Args:
            lower: the lower bound.
            upper: the upper bound.
            name: name of the number, for the message of an error.

        Returns:
            The interval, in which lower ≤ upper.

        Raises:
            ContradictoryBounds: the lower bound exceeds the upper bound by more than `ROUNDED_BOUNDS` of 1 + |upper|.
        """
        if lower > upper and not lower - upper <= ROUNDED_BOUNDS * (1.0 + abs(upper)):
            raise ContradictoryBounds(name, lower, upper)
        return cls(min(lower, upper), upper)


class Tails(NamedTuple):
    """Logarithms of the tails of the privacy loss L of a pair (P, Q), each within the profile's `tail_accuracy`.

    Attributes:
        log_p: log P(L > ε) for each ε.
        log_q: log Q(L > ε) for each ε.
    """

    log_p: FloatArray
    log_q: FloatArray
