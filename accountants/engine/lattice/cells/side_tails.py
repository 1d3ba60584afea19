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
        """Return the log tails under P and under Q, both moved by the bounds on their errors.

        Args:
            p_up: whether the tail under P is rounded up and that under Q down; otherwise P down and Q up. The first
                choice only increases δ = P(L > ε) − e^ε Q(L > ε), the second one only decreases it.

        Returns:
            The bounds on the log tails under P, and those under Q.
        """
        if p_up:
            return self.log_p + np.log1p(self.error_p), _lower_tail(self.log_q, self.error_q)
        return _lower_tail(self.log_p, self.error_p), self.log_q + np.log1p(self.error_q)


def _lower_tail(log_tail: FloatArray, error: FloatArray) -> FloatArray:
    """Return the lower bound t + log(1 − e) of a log tail t with a relative error e; −∞ stays −∞.

    Args:
        log_tail: log tails t.
        error: bounds e ≥ 0 on the relative errors of the tails. An error of 1 or more gives −∞.

    Returns:
        A lower bound on the log of each tail.
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(log_tail), -np.inf, log_tail + log(1.0 - error))


def read_side(profile: Profile, bounds: IntArray, unit: float, *, mirrored: bool) -> SideTails:
    """Evaluate the tails of the loss on one side of zero: at 0, at the bounds of the cells, and between these.

    The tails at ε are the probabilities of {L > ε} under P and Q. A cell is an interval of losses; its mass is put on
    lattice points.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        bounds: bounds of the cells, as increasing odd multiples of the unit.
        unit: lattice unit, in nats.
        mirrored: whether the tails are those of negative losses. The tails of (Q, P) at e are then the masses of {L <
            −e} under Q and P.

    Returns:
        The points in units and in nats, the log tails under P and under Q there, and bounds on their errors.
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
    """Return both log tails of the loss L at increasing ε, with e^ε Q(L > ε) ≤ P(L > ε) up to a tolerance.

    A coarse bound on δ need not belong to a pair: its second tail may exceed e^−ε times the first one. It is then
    replaced by a smaller tail at a larger ε, which gives a larger δ.

    Args:
        profile: profile of (P, Q), which gives the tails.
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
    """Return tails of the loss from which lower bounds on δ are computed, at the points of given tails.

    The result is the tails that the mechanism attains, if the profile has them, and otherwise the given ones.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        side: tails of the profile by `read_side`.
        mirrored: whether the tails are those of negative losses.

    Returns:
        The tails at the same points, with their errors.
    """
    attained_tails = profile.attained_log_tails(side.points)
    # Without separate tails for lower bounds, the given ones serve.
    if attained_tails is None:
        return side
    log_p, log_q = attained_tails
    # Exchanging P and Q turns the tail of positive losses into that of negative ones.
    if mirrored:
        log_p, log_q = log_q, log_p
    return SideTails(side.index, side.points, log_p, log_q, _error(log_p, profile), _error(log_q, profile))


def _error(log_tail: FloatArray, profile: Profile) -> FloatArray:
    """Return bounds on the relative errors of tails, from the accuracy of their logarithms.

    A log tail t has an error of at most a (1 + |t|), with the accuracy a of the profile. The relative error of the tail
    is then at most e^{a (1 + |t|)} − 1.

    Args:
        log_tail: log tails t; −∞ counts as 0.
        profile: the profile, whose `tail_accuracy` is a without a few roundings.

    Returns:
        One relative error bound for each tail.
    """
    size = np.where(np.isneginf(log_tail), 0.0, np.abs(log_tail))
    log_error = (profile.tail_accuracy + 8 * UNIT_ROUNDOFF) * (1.0 + size)  # with a few roundings
    return np.asarray(np.expm1(np.minimum(log_error, 30.0)))  # cut at e^30, against overflow
