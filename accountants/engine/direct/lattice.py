"""A lattice for the ε of one range: the totals of both laws below the cap, and the event that a loss exceeds it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.direct.convolution import Total

_DEEPEST = -600.0
"""Least exponent, in nats, of an error that is added to a sum."""


class Exceeding(NamedTuple):
    """Ends of log P(E) and log Q(E), and an upper bound of Σ T Q(L below the lattice)."""

    first: Interval
    second: Interval
    below: float


@dataclass(frozen=True, eq=False)
class Lattice:
    """Both totals and the event that some loss exceeds the cap, for the ε of one range."""

    upper: Total
    lower: Total
    exceeding: Exceeding
    sure: float
    """ε up to which a loss above the cap is made up for only by one below the lattice."""

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ(ε)."""
        if epsilon < max(self.upper.reach, self.lower.reach):
            return Interval(-math.inf, 0.0)
        with np.errstate(all="ignore"):
            return Interval(self._lower(epsilon), self._upper(epsilon))

    def size_above(self, epsilon: float) -> float:
        """About Q(S > ε)."""
        return self.upper.size_above(epsilon) + math.exp(self.exceeding.second.upper)

    def place_of_size(self, size: float) -> float:
        """About the ε at which Q(S > ε) is as asked; −∞ without any, math.inf where more exceed the cap."""
        inside = size - math.exp(self.exceeding.second.upper)
        return self.upper.place_of_size(inside) if inside > 0.0 else math.inf

    def _upper(self, epsilon: float) -> float:
        total, exceeding = self.upper, self.exceeding
        at = epsilon - total.misplacement
        value, error = total.sum_above(at)
        unit = total.log_unit
        rest = math.exp(exceeding.first.upper - unit) - math.exp(at + exceeding.second.lower - unit)
        doubt = min(exceeding.below, 1.0) if epsilon <= self.sure else 1.0
        more = math.exp(total.log_missing - unit) + doubt * math.exp(epsilon + exceeding.second.upper - unit)
        return _outward(unit, value + error + max(rest, 0.0) + more, 1)

    def _lower(self, epsilon: float) -> float:
        total, exceeding = self.lower, self.exceeding
        at = epsilon + total.misplacement
        value, error = total.sum_above(at)
        unit = total.log_unit
        rest = math.exp(exceeding.first.lower - unit) - math.exp(at + exceeding.second.upper - unit)
        error += math.exp(min(total.log_wrapped(at) - unit, -_DEEPEST))
        return _outward(unit, value - error + max(rest, 0.0), -1)


def _outward(log_unit: float, value: float, side: int) -> float:
    """log_unit + log(value), moved outward by its rounding; −∞ or 0 where the value is not positive, or no number."""
    if not 0.0 < value < math.inf:
        return 0.0 if side > 0 else -math.inf
    log_value = log_unit + math.log(value)
    moved = log_value + side * 16 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_unit))
    if math.isnan(moved):
        return 0.0 if side > 0 else -math.inf
    return min(moved, 0.0)
