"""Tails of a privacy loss on one side of zero, at the bounds of the cells of a lattice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from epsilond.accountants.engine.lattice.cells.logarithms import log
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_MISFIT = 1e-6
"""Rounding, per unit of 1 + |log P|, within which e^ε Q(L > ε) ≤ P(L > ε) must hold."""
BoolArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"


@dataclass(frozen=True)
class SideTails:
    """Tails of the privacy loss L under both distributions P and Q of a pair, on one side of zero.

    They are P(L > e) and Q(L > e) at points e ≥ 0 for positive losses, or P(L < −e) and Q(L < −e) for negative ones.

    Attributes:
        index: points 0 = k₀ < k₁ < … in lattice units.
        points: the same points e, in nats.
        log_p, log_q: log tails under P and Q.
        error_p, error_q: bounds on the relative errors of the tails.
    """

    index: IntArray
    points: FloatArray
    log_p: FloatArray
    log_q: FloatArray
    error_p: FloatArray
    error_q: FloatArray

    def select(self, chosen: slice | BoolArray) -> SideTails:
        """Return the tails at some of the points only.

        Args:
            chosen: the points, as a slice or as a mask with one entry for each point.

        Returns:
            The table of tails at the chosen points.
        """
        return SideTails(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def bounds(self, *, p_up: bool) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the log tails, for upper or for lower bounds on δ = P(L > ε) − e^ε Q(L > ε).

        Args:
            p_up: True for upper bounds on P and lower ones on Q, which only increase δ. False for lower bounds on P
                and upper ones on Q, which only decrease it.

        Returns:
            The bounds on the log tails under P, and those under Q.
        """
        if p_up:
            return self.log_p + np.log1p(self.error_p), _lower_tail(self.log_q, self.error_q)
        return _lower_tail(self.log_p, self.error_p), self.log_q + np.log1p(self.error_q)


def _lower_tail(log_tail: FloatArray, error: FloatArray) -> FloatArray:
    """Return the lower bound t + log(1 − e) on the log of each tail; −∞ for a tail of 0.

    Args:
        log_tail: computed log tails t.
        error: bounds e ≥ 0 on the relative errors of the tails. An error of 1 or more gives −∞.
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(log_tail), -np.inf, log_tail + log(1.0 - error))


def read_side(profile: Profile, bounds: IntArray, unit: float, *, mirrored: bool) -> SideTails:
    """Evaluate the tails of the loss L on one side of zero: at 0, and at the bounds and the middles of the cells.

    A cell is an interval of losses. Its mass is put on lattice points.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        bounds: bounds of the cells, as increasing odd multiples of the unit.
        unit: lattice unit, in nats.
        mirrored: whether the tails are those of negative losses, {L < −e}. Up to the order of P and Q, these are the
            tails of (Q, P) at e.
    """
    # The points are 0, bound, middle, bound, middle, …, bound.
    index = np.zeros(2 * bounds.size, dtype=np.int64)
    index[1::2] = bounds
    index[2::2] = (bounds[:-1] + bounds[1:]) // 2
    points = np.asarray(index * unit, dtype=np.float64)

    first, second = _consistent_tails(profile, points)
    log_p, log_q = (second, first) if mirrored else (first, second)
    return SideTails(index, points, log_p, log_q, _error(log_p, profile), _error(log_q, profile))


def _consistent_tails(profile: Profile, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log P(L > ε) and log Q(L > ε) of the loss L at increasing ε, corrected if they contradict each other.

    Every pair satisfies e^ε Q(L > ε) ≤ P(L > ε), because L = log(dP/dQ). Tails from a coarse bound on δ may violate
    this by more than rounding. The tail under Q is then replaced by a smaller one at a larger ε, which only increases
    δ.

    Args:
        profile: profile of the pair (P, Q), with both tails.
        points: ε, increasing, in nats.

    Returns:
        log P(L > ε), and log Q(L > ε).
    """
    with np.errstate(all="ignore"):
        log_p, log_q = profile.log_tails(points)
        tolerance = _MISFIT * (1.0 + np.abs(log_p))
        is_too_large = log_q + points > log_p + tolerance
    if is_too_large.any():
        # The largest admissible tail at or beyond each ε.
        admissible = np.where(is_too_large, -np.inf, log_q)
        log_q = np.maximum.accumulate(admissible[::-1])[::-1]
    return log_p, log_q


def lower_side(profile: Profile, side: SideTails, *, mirrored: bool) -> SideTails:
    """Return tails of the loss for lower bounds on δ, at the points of given tails.

    They are those that the mechanism attains, if the profile has such, and otherwise the given ones.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        side: tails of the profile by `read_side`.
        mirrored: whether the tails are those of negative losses.

    Returns:
        The tails at the same points, with their errors.
    """
    attained_tails = profile.attained_log_tails(side.points)
    if attained_tails is None:
        return side
    log_p, log_q = attained_tails
    # Exchanging P and Q turns the tail of positive losses into that of negative ones.
    if mirrored:
        log_p, log_q = log_q, log_p
    return SideTails(side.index, side.points, log_p, log_q, _error(log_p, profile), _error(log_q, profile))


def _error(log_tail: FloatArray, profile: Profile) -> FloatArray:
    """Return bounds on the relative errors of tail probabilities, from bounds on the errors of their logarithms.

    If a logarithm t has an error of up to a (1 + |t|), the relative error is up to e^{a (1 + |t|)} − 1.

    Args:
        log_tail: log tails t; −∞ counts as 0.
        profile: the profile, whose `tail_accuracy` is a, except for a few roundings that are added here.
    """
    size = np.where(np.isneginf(log_tail), 0.0, np.abs(log_tail))
    log_error = (profile.tail_accuracy + 8 * UNIT_ROUNDOFF) * (1.0 + size)
    return np.asarray(np.expm1(np.minimum(log_error, 30.0)))  # a larger error says nothing, and could overflow
