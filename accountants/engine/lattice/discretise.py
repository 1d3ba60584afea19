"""Two laws on a lattice for one law of losses: one that dominates it and one that it dominates.

Write H(α) = E_α(P‖Q), convex in α = e^ε, and β = 1/α. A law with survival function S (first-law mass of losses ≥ ε) on
a lattice has a profile that is linear in α between lattice points, and S is the slope of H/α in β there. So a law may
be chosen by the values of its profile at lattice points, and any convex choice above (below) H dominates (is
dominated), in every composition (Zhu, Dong and Wang 2022, Theorem 10).

Upper: the profile's values at the points, joined; the connect-the-dots of Doroshenko et al. 2022, in the mass form of
docs/engine-certificate.md B1. Lower: H(α) ≥ P(L > m) − α Q(L > m) for every m, so take such a line on each interval
between lattice points and join the lower ones of each two neighbours' values; with m midway this loses H²/12 of
variance, as merging cells does (B2).

Tails come with a relative error. It is charged to the profile's values, P up and Q down or the reverse, so that it
stays a relative error of H: differences of neighbouring tails are never charged by more than they are worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

_MISFIT = 1e-6
"""Rounding, per unit of 1 + |log P|, within which e^ε Q(L > ε) ≤ P(L > ε)."""
BoolArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"


@dataclass(frozen=True)
class LatticeLaw:
    """A law of losses on offset + multiples of a unit: increasing indices, log masses, and an infinite loss.

    The masses and the infinite one sum to 1 + `excess`.
    """

    index: IntArray
    log_mass: FloatArray
    log_atom: float
    excess: float = 0.0
    offset: float = 0.0

    def log_moment(self, unit: float, tilt: float) -> float:
        """log Σ m e^{λL} of the finite part."""
        place = self.index * unit + self.offset
        return float(np.logaddexp.reduce(self.log_mass + tilt * place))


@dataclass(frozen=True)
class SideTails:
    """Log tails of both laws at increasing points 0 = k₀ < k₁ < …, in units, with their relative errors."""

    index: IntArray
    points: FloatArray
    log_p: FloatArray
    log_q: FloatArray
    error_p: FloatArray
    error_q: FloatArray

    def at(self, chosen: slice | BoolArray) -> SideTails:
        """Some of the points."""
        return SideTails(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def bounds(self, *, p_up: bool) -> tuple[FloatArray, FloatArray]:
        """Both log tails moved by their errors, P up and Q down or the reverse."""
        up, down = (
            (np.log1p(error) for error in (self.error_p, self.error_q)),
            (log(1.0 - error) for error in (self.error_p, self.error_q)),
        )
        (more_p, more_q), (less_p, less_q) = up, down
        with np.errstate(invalid="ignore"):
            if p_up:
                return self.log_p + more_p, np.where(np.isneginf(self.log_q), -np.inf, self.log_q + less_q)
            return np.where(np.isneginf(self.log_p), -np.inf, self.log_p + less_p), self.log_q + more_q


def read_side(profile: Profile, bounds: IntArray, unit: float, *, mirrored: bool) -> SideTails:
    """Tails at 0, at the bounds and at the middles between them.

    `mirrored`: `profile` is of the other order, and its tails at e are the masses of {L < −e} under Q and P.
    """
    index = np.zeros(2 * bounds.size, dtype=np.int64)
    index[1::2] = bounds
    index[2::2] = (bounds[:-1] + bounds[1:]) // 2
    points = np.asarray(index * unit, dtype=np.float64)
    with np.errstate(all="ignore"):
        first, second = profile.log_tails(points)
        # Slopes of a coarse bound may be those of no pair, with a second law of more than its share of e^−ε P. Less
        # of it gives a larger δ.
        beyond = second + points > first + _MISFIT * (1.0 + np.abs(first))
    if beyond.any():
        second = np.maximum.accumulate(np.where(beyond, -np.inf, second)[::-1])[::-1]
    log_p, log_q = (second, first) if mirrored else (first, second)
    return SideTails(index, points, log_p, log_q, _error(log_p, profile), _error(log_q, profile))


def _error(log_tail: FloatArray, profile: Profile) -> FloatArray:
    """Relative error of a tail, with room for the rounding of its own logarithm."""
    size = np.where(np.isneginf(log_tail), 0.0, np.abs(log_tail))
    return np.asarray(np.expm1(np.minimum((profile.tail_accuracy + 8 * UNIT_ROUNDOFF) * (1.0 + size), 30.0)))


def log(x: FloatArray) -> FloatArray:
    """Natural logarithm, −inf at and below zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(x, 0.0)))


def difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """log(e^larger − e^smaller) for larger ≥ smaller, within a few roundings of e^larger; −∞ where they are equal."""
    with np.errstate(divide="ignore"):
        return np.asarray(larger + np.log(-np.expm1(_gap(larger, smaller))))


def _gap(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """smaller − larger of logarithms, at most 0; −∞ if both are −∞."""
    with np.errstate(invalid="ignore"):
        gap = smaller - larger
    return np.asarray(np.minimum(np.where(np.isnan(gap), -np.inf, gap), 0.0))


def ratio(log_numerator: FloatArray, log_denominator: FloatArray) -> FloatArray:
    """exp of a difference of logs, capped far out; 0 where both are −∞."""
    with np.errstate(invalid="ignore"):
        gap = log_numerator - log_denominator
    return np.asarray(np.exp(np.minimum(np.where(np.isnan(gap), -np.inf, gap), 600.0)))


def rounding(*terms: FloatArray) -> FloatArray:
    """16u (1 + Σ|term|), infinite terms left out: the relative error of an exp of a sum of terms."""
    sizes = [np.where(np.isfinite(term), np.abs(term), 0.0) for term in terms]
    return np.asarray(16 * UNIT_ROUNDOFF * (1.0 + np.sum(sizes, axis=0)))


def upper_law(right: SideTails, left: SideTails, log_atom: float) -> LatticeLaw:
    """A law that dominates: `log_atom` is an upper bound of log δ₁ at the last point on the right.

    That is what connect-the-dots between the last point and infinity sends to infinity.
    """
    p, q = right.bounds(p_up=True)
    below_p, below_q = left.bounds(p_up=False)
    # Both sides state H(1); a larger value on the right keeps the second law's mass at most one.
    raised = max(_spread(below_q[0], below_p[0]) - _spread(p[0], q[0]), 0.0)
    if 1e3 * float(right.error_p[0]) > float(right.points[1]):  # shares of cells are lost in the errors: all goes up
        survival, distribution = np.maximum(p[:-1], log_atom), below_p[1:]
    else:
        survival = np.maximum(_upper_survival(right, p, q, raised), log_atom)
        distribution = _lower_distribution(left, below_p, below_q)
    survival = np.maximum.accumulate(survival[::-1])[::-1]
    distribution = np.minimum.accumulate(distribution)
    distribution = np.minimum(distribution, log1m_exp(min(float(survival[0]), 0.0)))
    steps = TailSteps(right.index[1:], survival, left.index[1:], distribution)
    return replace(steps.law(0, log_atom), excess=max(math.expm1(float(survival[0])), 0.0))


def _spread(log_larger: float, log_smaller: float) -> float:
    return math.exp(log_larger) - math.exp(log_smaller)


def _upper_survival(side: SideTails, p: FloatArray, q: FloatArray, raised: float) -> FloatArray:
    """log S from each point but the first downwards to the point before it.

    P(L > b) plus the share w = (p − e^a q)/(1 − e^{a−b}) of the cell (a, b], all relative to P(L > a). That is not
    exceeded: rounding alone says that a share is more than the whole.
    """
    a, b = side.points[:-1], side.points[1:]
    gap_p, gap_q = _gap(p[:-1], p[1:]), _gap(q[:-1], q[1:])
    weight = ratio(a + q[:-1], p[:-1])  # e^a Q(L > a)/P(L > a), about 1 at most
    split = -np.expm1(a - b)
    in_p, in_q = -np.expm1(gap_p), -weight * np.expm1(gap_q)
    moved = in_p - in_q
    moved += rounding(a, p[:-1], q[:-1]) * (in_p + in_q)
    relative = np.minimum(np.exp(gap_p) + moved / split, 1.0)
    if np.isfinite(p[0]):
        relative[0] += raised * math.exp(-p[0]) / split[0]
    return np.asarray(np.where(np.isneginf(p[:-1]), -np.inf, p[:-1] + log(relative) + rounding(p[:-1])))


def _lower_distribution(side: SideTails, p: FloatArray, q: FloatArray) -> FloatArray:
    """log P′(L′ ≤ −point) for each point but the first, from each to the one before it.

    P(L < −b) plus what stays of the cell [−b, −a), (e^{−b} q − e^{−(b−a)} p)/(1 − e^{a−b}), relative to P(L < −a).
    """
    a, b = side.points[:-1], side.points[1:]
    gap_p, gap_q = _gap(p[:-1], p[1:]), _gap(q[:-1], q[1:])
    weight = ratio(q[:-1] - a, p[:-1])  # e^{−a} Q(L < −a)/P(L < −a), about 1 at least
    in_p, in_q = -np.expm1(gap_p), -weight * np.expm1(gap_q)
    stays = in_q - in_p - rounding(a, p[:-1], q[:-1]) * (in_p + in_q)
    relative = np.exp(gap_p) + stays * np.exp(a - b) / -np.expm1(a - b)
    return np.asarray(np.where(np.isneginf(p[:-1]), -np.inf, p[:-1] + log(relative) - rounding(p[:-1])))


@dataclass(frozen=True)
class TailSteps:
    """Step functions P(L ≥ right_i) = e^survival_i and P(L ≤ −left_i) = e^distribution_i, outwards from the middle."""

    right: IntArray
    survival: FloatArray
    left: IntArray
    distribution: FloatArray

    def law(self, middle: int, log_atom: float) -> LatticeLaw:
        """Their law; what remains of one is at `middle`."""
        above = difference(self.survival, np.append(self.survival[1:], log_atom))
        below = difference(self.distribution, np.append(self.distribution[1:], -np.inf))
        rest = log1m_exp(np.minimum(np.logaddexp(self.survival[:1], self.distribution[:1]), 0.0))
        index = np.concatenate((-self.left[::-1], [middle], self.right))
        log_mass = np.concatenate((below[::-1], rest, above))
        held = np.isfinite(log_mass)
        if not held.any():
            return LatticeLaw(np.zeros(1, dtype=np.int64), np.full(1, -np.inf), log_atom)
        return LatticeLaw(index[held], log_mass[held], log_atom)


def joined_atoms(log_atoms: Sequence[float], counts: FloatArray, *, direction: int) -> float:
    """log(1 − Π (1 − a_j)^{T_j}), rounded up (direction 1) or down (−1)."""
    if all(log_atom == -math.inf for log_atom in log_atoms):
        return -math.inf
    logs = np.asarray(log_atoms)
    with np.errstate(divide="ignore"):
        # log(−log(1 − a)): for small a the series, as a itself may underflow.
        rates = np.where(logs < -30.0, logs, np.log(-np.log1p(-np.exp(np.minimum(logs, 0.0)))))
    log_rate = float(np.logaddexp.reduce(rates + np.log(counts)))
    if math.isinf(log_rate):
        return 0.0 if log_rate > 0 else -math.inf
    joined = log_rate if log_rate < -36.0 else math.log(-math.expm1(-math.exp(min(log_rate, 700.0))))
    slack = (32 + 4 * logs.size) * UNIT_ROUNDOFF * (1.0 + abs(joined) + abs(log_rate))
    return min(joined + direction * slack, 0.0)


def least_log_atom(profile: Profile) -> float:
    """Lower bound of log P(L = ∞)."""
    atom = profile.log_infinite_mass
    return atom if math.isinf(atom) else atom - (profile.tail_accuracy + 4 * UNIT_ROUNDOFF) * (1.0 + abs(atom))
