"""Two lattice distributions for one distribution of losses: one that dominates it, and one that it dominates.

Write H(α) = E_α(P‖Q), which is convex in α = e^ε, and β = 1/α. A distribution on a lattice with survival function S
(first-distribution mass of losses ≥ ε) has a profile that is linear in α between lattice points. S is the slope of H/α
in β there. So a lattice distribution may be chosen by the values of its profile at lattice points. Any convex choice
above H dominates, and any convex choice below H is dominated, in every composition (Zhu, Dong and Wang 2022, Theorem
10).

Upper: join the profile's values at the lattice points. This is the connect-the-dots of Doroshenko et al. 2022, in the
mass form of docs/engine-certificate.md B1. Lower: H(α) ≥ P(L > m) − α Q(L > m) for every m. Take one such line on each
interval between lattice points, and at each point the lower of both neighbours' values. With m midway this loses H²/12
of variance, as merging cells does (docs/engine-certificate.md, B2).

Tails come with a relative error. It is charged to the profile's values (P up and Q down, or the reverse) and not to
differences of neighbouring tails, so it stays a relative error of H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_MISFIT = 1e-6
"""Rounding, per unit of 1 + |log P|, within which e^ε Q(L > ε) ≤ P(L > ε) must hold."""
BoolArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"


@dataclass(frozen=True)
class LatticeDistribution:
    """A distribution of privacy losses on a lattice, offset + multiples of a unit, and on an infinite loss.

    The finite masses and the mass of the infinite loss sum to 1 + `excess`.

    Attributes:
        index: increasing multiples of the unit with positive mass.
        log_mass: log mass of each.
        log_atom: log of the mass of the infinite loss.
        excess: total mass minus 1; positive only by rounding.
        offset: offset of the lattice, in nats.
    """

    index: IntArray
    log_mass: FloatArray
    log_atom: float
    excess: float = 0.0
    offset: float = 0.0

    def log_moment(self, unit: float, tilt: float) -> float:
        """Return log Σ m e^{λL} over the finite losses L with their masses m, at the tilt λ = `tilt`."""
        losses = self.index * unit + self.offset
        return float(np.logaddexp.reduce(self.log_mass + tilt * losses))


@dataclass(frozen=True)
class SideTails:
    """Tails of the privacy loss L under both distributions, on one side of zero.

    They are P(L > e) and Q(L > e) at points e ≥ 0, or P(L < −e) and Q(L < −e).

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
        """Return the tails at some of the points, chosen by a slice or a mask."""
        return SideTails(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def bounds(self, *, p_up: bool) -> tuple[FloatArray, FloatArray]:
        """Return both log tails moved by their errors: P up and Q down if `p_up`, otherwise P down and Q up."""
        if p_up:
            return self.log_p + np.log1p(self.error_p), _lower_tail(self.log_q, self.error_q)
        return _lower_tail(self.log_p, self.error_p), self.log_q + np.log1p(self.error_q)


def _lower_tail(log_tail: FloatArray, error: FloatArray) -> FloatArray:
    """Return the lower bound of a log tail with a relative error; −∞ stays −∞."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(log_tail), -np.inf, log_tail + log(1.0 - error))


def read_side(profile: Profile, bounds: IntArray, unit: float, *, mirrored: bool) -> SideTails:
    """Evaluate the tails of the loss on one side of zero: at 0, at the bounds of the cells, and between these.

    The tails at ε are the probabilities of {L > ε} under P and Q. A cell is an interval of losses; its mass is
    put on lattice points.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        bounds: bounds of the cells, as increasing odd multiples of the unit.
        unit: lattice unit, in nats.
        mirrored: whether the tails are those of negative losses. The tails of (Q, P) at e are then the masses of {L <
            −e} under Q and P.

    Returns:
        The points in units and in nats, the log tails under P and under Q there, and bounds on their errors.
    """
    index = np.zeros(2 * bounds.size, dtype=np.int64)  # 0, bound, middle, bound, middle, …, bound
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
        is_too_large = log_q + points > log_p + _MISFIT * (1.0 + np.abs(log_p))
    if is_too_large.any():
        log_q = np.maximum.accumulate(np.where(is_too_large, -np.inf, log_q)[::-1])[::-1]
    return log_p, log_q


def lower_side(profile: Profile, side: SideTails, *, mirrored: bool) -> SideTails:
    """Return tails of the loss from which lower bounds on δ are computed, at the points of other tails.

    These are the attained tails of the profile, if it has any, and otherwise the given ones.

    Args:
        profile: profile of (P, Q), or of (Q, P) if `mirrored`.
        side: tails of the profile by `read_side`.
        mirrored: whether the tails are those of negative losses.
    """
    tails = profile.attained_log_tails(side.points)
    if tails is None:
        return side
    log_q, log_p = tails if mirrored else (tails.log_q, tails.log_p)
    return SideTails(side.index, side.points, log_p, log_q, _error(log_p, profile), _error(log_q, profile))


def _error(log_tail: FloatArray, profile: Profile) -> FloatArray:
    """Return bounds on the relative errors of tails, from the accuracy of their logarithms."""
    size = np.where(np.isneginf(log_tail), 0.0, np.abs(log_tail))
    return np.asarray(np.expm1(np.minimum((profile.tail_accuracy + 8 * UNIT_ROUNDOFF) * (1.0 + size), 30.0)))


def log(x: FloatArray) -> FloatArray:
    """Return the natural logarithm; −∞ at and below zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(x, 0.0)))


def difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return log(e^larger − e^smaller) for larger ≥ smaller, within a few roundings of e^larger; −∞ if equal."""
    with np.errstate(divide="ignore"):
        return np.asarray(larger + np.log(-np.expm1(_gap(larger, smaller))))


def _gap(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return smaller − larger of two logarithms, at most 0; −∞ if both are −∞."""
    with np.errstate(invalid="ignore"):
        gap = smaller - larger
    return np.asarray(np.minimum(np.where(np.isnan(gap), -np.inf, gap), 0.0))


def ratio(log_numerator: FloatArray, log_denominator: FloatArray) -> FloatArray:
    """Return the exponential of a difference of logarithms, at most e^600; 0 if both are −∞."""
    with np.errstate(invalid="ignore"):
        gap = log_numerator - log_denominator
    return np.asarray(np.exp(np.minimum(np.where(np.isnan(gap), -np.inf, gap), 600.0)))


def rounding(*terms: FloatArray) -> FloatArray:
    """Return 16u (1 + Σ|term|) over the finite terms: the relative error of the exponential of a sum of terms."""
    sizes = [np.where(np.isfinite(term), np.abs(term), 0.0) for term in terms]
    return np.asarray(16 * UNIT_ROUNDOFF * (1.0 + np.sum(sizes, axis=0)))


def upper_distribution(right: SideTails, left: SideTails, log_atom: float) -> LatticeDistribution:
    """Return a lattice distribution that dominates that of the loss, with finite losses at the bounds of the cells.

    The mass of each cell moves to its two bounds, with its masses under P and Q unchanged (connect-the-dots).

    Args:
        right: tails of the positive losses at the bounds of the cells.
        left: tails of the negative losses at the bounds of the cells.
        log_atom: upper bound of log δ(ε) of one round, at ε = the last point on the right. As the mass beyond that
            point moves to it and to infinity, infinity gets δ(ε).

    Source: docs/engine-certificate.md, B1.
    """
    p, q = right.bounds(p_up=True)
    below_p, below_q = left.bounds(p_up=False)
    if 1e3 * float(right.error_p[0]) > float(right.points[1]):
        # The errors exceed the shares of the cells, so all mass of a cell moves to its upper bound.
        survival, distribution = np.maximum(p[:-1], log_atom), below_p[1:]
    else:
        # Both sides give a value of δ(0). The larger value on the right keeps the mass of Q at most one.
        delta_from_left = _exp_difference(below_q[0], below_p[0])
        delta_from_right = _exp_difference(p[0], q[0])
        raise_of_one = max(delta_from_left - delta_from_right, 0.0)
        survival = np.maximum(_upper_survival(right, p, q, raise_of_one), log_atom)
        distribution = _lower_distribution(left, below_p, below_q)
    survival = np.maximum.accumulate(survival[::-1])[::-1]
    distribution = np.minimum.accumulate(distribution)
    distribution = np.minimum(distribution, log1m_exp(min(float(survival[0]), 0.0)))
    steps = TailSteps(right.index[1:], survival, left.index[1:], distribution)
    excess = max(math.expm1(float(survival[0])), 0.0)
    return replace(steps.to_lattice(0, log_atom), excess=excess)


def _exp_difference(log_larger: float, log_smaller: float) -> float:
    """Return e^log_larger − e^log_smaller."""
    return math.exp(log_larger) - math.exp(log_smaller)


def _upper_survival(side: SideTails, p: FloatArray, q: FloatArray, raise_of_one: float) -> FloatArray:
    """Return the log survival function of a dominating lattice distribution on each cell (a, b] of positive losses.

    Let the cell have mass p under P and q under Q. The mass w = (p − e^a q)/(1 − e^{a−b}) moves to b, and the rest of p
    to a. The cell then keeps both masses. Between a and b, the survival function is therefore P(L > b) + w. It is
    computed relative to P(L > a), which it cannot exceed; a larger result is a rounding error, and is reduced to
    P(L > a).

    Args:
        side: tails of the positive losses.
        p: log tails under P, rounded up.
        q: log tails under Q, rounded down.
        raise_of_one: amount added to p − e^a q of the first cell, where a = 0, so that the mass of Q is at most one.

    Returns:
        log P(L > x) of the lattice distribution, for x inside each cell.
    """
    a, b = side.points[:-1], side.points[1:]
    gap_p, gap_q = _gap(p[:-1], p[1:]), _gap(q[:-1], q[1:])
    scaled_q = ratio(a + q[:-1], p[:-1])  # e^a Q(L > a)/P(L > a), about 1 at most
    mass_p, mass_q = -np.expm1(gap_p), -scaled_q * np.expm1(gap_q)
    one_minus_decay = -np.expm1(a - b)
    moment = mass_p - mass_q
    moment += rounding(a, p[:-1], q[:-1]) * (mass_p + mass_q)
    survival_ratio = np.minimum(np.exp(gap_p) + moment / one_minus_decay, 1.0)
    if np.isfinite(p[0]):
        survival_ratio[0] += raise_of_one * math.exp(-p[0]) / one_minus_decay[0]
    return _scale_tail(p[:-1], survival_ratio, +1)


def _lower_distribution(side: SideTails, p: FloatArray, q: FloatArray) -> FloatArray:
    """Return a dominating lattice law's log distribution function on each cell [−b, −a) of negative losses.

    Of the cell's masses p under P and q under Q, (e^{−b} q − e^{−(b−a)} p)/(1 − e^{a−b}) moves to −b. Inside the cell,
    the distribution function is P(L < −b) plus this mass. It is computed relative to P(L < −a).

    Args:
        side: tails of the negative losses.
        p: log tails under P, rounded down.
        q: log tails under Q, rounded up.

    Returns:
        log P(L < −x) of the lattice distribution, for −x inside each cell.
    """
    a, b = side.points[:-1], side.points[1:]
    gap_p, gap_q = _gap(p[:-1], p[1:]), _gap(q[:-1], q[1:])
    scaled_q = ratio(q[:-1] - a, p[:-1])  # e^{−a} Q(L < −a)/P(L < −a), about 1 at least
    mass_p, mass_q = -np.expm1(gap_p), -scaled_q * np.expm1(gap_q)
    moment = mass_q - mass_p - rounding(a, p[:-1], q[:-1]) * (mass_p + mass_q)
    distribution_ratio = np.exp(gap_p) + moment * np.exp(a - b) / -np.expm1(a - b)
    return _scale_tail(p[:-1], distribution_ratio, -1)


def _scale_tail(log_tail: FloatArray, factor: FloatArray, direction: int) -> FloatArray:
    """Return the log of tails times factors, moved up (direction 1) or down (−1) by its rounding; −∞ stays −∞."""
    scaled = log_tail + log(factor) + direction * rounding(log_tail)
    return np.where(np.isneginf(log_tail), -np.inf, scaled)


@dataclass(frozen=True)
class TailSteps:
    """The two tails of a lattice distribution of a loss L, as step functions.

    P(L ≥ right_i) = e^survival_i and P(L ≤ −left_i) = e^distribution_i.

    Attributes:
        right: lattice indices above the middle, increasing.
        survival: log P(L ≥ right_i).
        left: distances of the lattice indices below the middle from zero, increasing.
        distribution: log P(L ≤ −left_i).
    """

    right: IntArray
    survival: FloatArray
    left: IntArray
    distribution: FloatArray

    def to_lattice(self, middle: int, log_atom: float) -> LatticeDistribution:
        """Return the lattice distribution with these tails, and with the remaining mass at the index `middle`.

        Args:
            middle: the index.
            log_atom: log of the mass of the infinite loss.
        """
        log_mass_right = difference(self.survival, np.append(self.survival[1:], log_atom))
        log_mass_left = difference(self.distribution, np.append(self.distribution[1:], -np.inf))
        log_in_tails = np.logaddexp(self.survival[:1], self.distribution[:1])
        log_mass_middle = log1m_exp(np.minimum(log_in_tails, 0.0))
        index = np.concatenate((-self.left[::-1], [middle], self.right))
        log_mass = np.concatenate((log_mass_left[::-1], log_mass_middle, log_mass_right))
        has_mass = np.isfinite(log_mass)
        if not has_mass.any():
            return LatticeDistribution(np.zeros(1, dtype=np.int64), np.full(1, -np.inf), log_atom)
        return LatticeDistribution(index[has_mass], log_mass[has_mass], log_atom)


def log_probability_of_any(log_probabilities: Sequence[float], counts: FloatArray, *, direction: int) -> float:
    """Bound the log probability that an event occurs in any of several independent rounds, log(1 − Π (1 − a_j)^{T_j}).

    Args:
        log_probabilities: log a_j ≤ 0, where a_j is the probability of the event in one round of kind j.
        counts: T_j, the number of rounds of kind j.
        direction: 1 for an upper bound, −1 for a lower bound.

    Returns:
        The bound, at most 0; −inf if the event has probability 0 in every round.
    """
    if all(log_probability == -math.inf for log_probability in log_probabilities):
        return -math.inf
    logs = np.asarray(log_probabilities)
    # The rate r = −Σ T_j log(1 − a_j). log(−log(1 − a)) is log a for small a, as a itself may underflow.
    with np.errstate(divide="ignore"):
        log_rates = np.where(logs < -30.0, logs, np.log(-np.log1p(-np.exp(np.minimum(logs, 0.0)))))
    log_rate = float(np.logaddexp.reduce(log_rates + np.log(counts)))
    if math.isinf(log_rate):
        return 0.0 if log_rate > 0 else -math.inf
    # The probability is 1 − e^{−r}, which is r for small r.
    log_any = log_rate if log_rate < -36.0 else math.log(-math.expm1(-math.exp(min(log_rate, 700.0))))
    slack = (32 + 4 * logs.size) * UNIT_ROUNDOFF * (1.0 + abs(log_any) + abs(log_rate))
    return min(log_any + direction * slack, 0.0)


def least_log_atom(profile: Profile) -> float:
    """Return a lower bound on log P(L = ∞), the probability of an infinite privacy loss.

    It is the log tail at the largest ε of a pair that the mechanism attains, if there is one. It is at most the
    infinite mass of the profile. The value is lowered by the error of the tails.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of a pair of distributions, with the tails of its loss.
    """
    tails = profile.attained_log_tails(np.asarray([LARGEST_EPSILON]))
    upper = profile.log_infinite_mass
    if tails is not None:
        upper = min(float(tails.log_p[0]), upper)
    if math.isinf(upper):
        return upper
    return upper - (profile.tail_accuracy + 4 * UNIT_ROUNDOFF) * (1.0 + abs(upper))
