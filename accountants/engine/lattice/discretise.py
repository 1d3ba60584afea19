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
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.engine.lattice.cells.logarithms import difference, gap, log, ratio, rounding
from epsilond.accountants.engine.lattice.cells.side_tails import SideTails
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class LatticeDistribution:
    """Distribution of a privacy loss on the lattice points `offset` + k · unit for integers k, and on infinity.

    Attributes:
        index: integers k of the lattice points with positive mass, increasing.
        log_mass: log mass of each of these points.
        log_atom: log of the mass of the infinite loss; −∞ if it has none.
        excess: total mass, with the infinite loss, minus 1; positive only by rounding.
        offset: offset of the lattice, in nats.
    """

    index: IntArray
    log_mass: FloatArray
    log_atom: float
    excess: float = 0.0
    offset: float = 0.0

    def log_moment(self, unit: float, tilt: float) -> float:
        """Return the log moment log Σ m e^{λL} over the finite losses L with their masses m.

        Args:
            unit: lattice unit, in nats.
            tilt: exponent λ, of any sign.

        Returns:
            The log moment, without the infinite loss.
        """
        losses = self.index * unit + self.offset
        return float(np.logaddexp.reduce(self.log_mass + tilt * losses))


def upper_distribution(right: SideTails, left: SideTails, log_atom: float) -> LatticeDistribution:
    """Return a lattice distribution that dominates that of the loss: its δ is at least as large at every ε.

    A cell is an interval of losses. Its mass moves to its two bounds, so that its masses under P and Q stay the same
    (connect-the-dots, Doroshenko et al. 2022; docs/engine-certificate.md, B1). If the errors of the tails are too large
    for this, all mass of a cell moves to its upper bound.

    Args:
        right: tails of the positive losses at the bounds of the cells.
        left: tails of the negative losses at the bounds of the cells.
        log_atom: upper bound on log δ(ε) of one round, where ε is the last point on the right. Of the mass beyond this
            point, δ(ε) moves to infinity, and the rest to the point.

    Returns:
        The dominating distribution, on the bounds of the cells and on the infinite loss.
    """
    p, q = right.bounds(p_up=True)  # log P(L > e) rounded up, log Q(L > e) rounded down
    below_p, below_q = left.bounds(p_up=False)  # log P(L < −e) rounded down, log Q(L < −e) rounded up
    # The shares of a cell's two bounds are differences of tails over its width, so narrow cells magnify the relative
    # errors of the tails. An error above a thousandth of the width makes the shares useless.
    has_large_errors = 1e3 * float(right.error_p[0]) > float(right.points[1])
    if has_large_errors:
        survival, distribution = np.maximum(p[:-1], log_atom), below_p[1:]
    else:
        # Both sides give a value of δ(0), P(L > 0) − Q(L > 0) = Q(L < 0) − P(L < 0), which differ by errors. If the
        # right one is raised to the left one, the mass of Q is at most one.
        delta_from_left = _exp_difference(below_q[0], below_p[0])
        delta_from_right = _exp_difference(p[0], q[0])
        increase_of_delta = max(delta_from_left - delta_from_right, 0.0)
        survival = np.maximum(_upper_survival(right, p, q, increase_of_delta), log_atom)
        distribution = _lower_distribution(left, below_p, below_q)

    # Rounding must not leave a tail that is not monotone, or a sum of both tails above one. All corrections increase
    # losses: they raise the survival function and lower the distribution function.
    survival = np.maximum.accumulate(survival[::-1])[::-1]
    distribution = np.minimum.accumulate(distribution)
    distribution = np.minimum(distribution, log1m_exp(min(float(survival[0]), 0.0)))

    steps = TailSteps(right.index[1:], survival, left.index[1:], distribution)
    excess = max(math.expm1(float(survival[0])), 0.0)
    return replace(steps.to_lattice(0, log_atom), excess=excess)


def _exp_difference(log_larger: float, log_smaller: float) -> float:
    """Return the difference of two numbers that are given by their logarithms."""
    return math.exp(log_larger) - math.exp(log_smaller)


def _upper_survival(side: SideTails, p: FloatArray, q: FloatArray, increase_of_delta: float) -> FloatArray:
    """Return the log survival function of a dominating lattice distribution on each cell (a, b] of positive losses.

    A cell is an interval of losses. Let it have mass p under P and q under Q. The mass that moves to b is:

        w = (p − e^a q)/(1 − e^{a−b}),

    and the rest of p moves to a. This keeps both masses, because w e^{−b} + (p − w) e^{−a} = q. Between a and b, the
    survival function is P(L > b) + w. It is computed relative to P(L > a), which it exceeds only by rounding.

    Args:
        side: tails of the positive losses.
        p: log tails under P, rounded up.
        q: log tails under Q, rounded down.
        increase_of_delta: amount added to p − e^a q of the first cell, where a = 0, so that the mass of Q is at most 1.

    Returns:
        log P(L > x) of the lattice distribution, for x inside each cell.
    """
    a, b = side.points[:-1], side.points[1:]

    # p and e^a q of each cell, both divided by the tail P(L > a). The difference of log tails, gap_p, is
    # log(P(L > b)/P(L > a)), and gap_q is the same under Q.
    gap_p, gap_q = gap(p[:-1], p[1:]), gap(q[:-1], q[1:])
    scaled_q = ratio(a + q[:-1], p[:-1])  # e^a Q(L > a)/P(L > a), about 1 at most
    mass_p = -np.expm1(gap_p)
    mass_q = -scaled_q * np.expm1(gap_q)

    # The numerator p − e^a q of w, rounded up, and the survival function P(L > b) + w, both divided by P(L > a).
    one_minus_decay = -np.expm1(a - b)  # 1 − e^{a−b}
    moment = mass_p - mass_q
    moment += rounding(a, p[:-1], q[:-1]) * (mass_p + mass_q)
    survival_ratio = np.minimum(np.exp(gap_p) + moment / one_minus_decay, 1.0)
    if np.isfinite(p[0]):
        survival_ratio[0] += increase_of_delta * math.exp(-p[0]) / one_minus_decay[0]
    return _scale_tail(p[:-1], survival_ratio, +1)


def _lower_distribution(side: SideTails, p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the log distribution function of a dominating lattice distribution on each cell of negative losses.

    A cell is an interval [−b, −a) of losses. Let it have mass p under P and q under Q. The mass that moves to −b is:

        w = (e^{−b} q − e^{a−b} p)/(1 − e^{a−b}),

    and the rest of p moves to −a. This keeps both masses, because w e^b + (p − w) e^a = q. Inside the cell, the
    distribution function is P(L < −b) + w. It is computed relative to P(L < −a).

    Args:
        side: tails of the negative losses.
        p: log tails under P, rounded down.
        q: log tails under Q, rounded up.

    Returns:
        log P(L < −x) of the lattice distribution, for −x inside each cell.
    """
    a, b = side.points[:-1], side.points[1:]

    # p and e^{−a} q of each cell, both relative to the tail P(L < −a).
    gap_p, gap_q = gap(p[:-1], p[1:]), gap(q[:-1], q[1:])
    scaled_q = ratio(q[:-1] - a, p[:-1])  # e^{−a} Q(L < −a)/P(L < −a), about 1 at least
    mass_p = -np.expm1(gap_p)
    mass_q = -scaled_q * np.expm1(gap_q)

    moment = mass_q - mass_p - rounding(a, p[:-1], q[:-1]) * (mass_p + mass_q)
    distribution_ratio = np.exp(gap_p) + moment * np.exp(a - b) / -np.expm1(a - b)
    return _scale_tail(p[:-1], distribution_ratio, -1)


def _scale_tail(log_tail: FloatArray, factor: FloatArray, direction: int) -> FloatArray:
    """Return the logarithms of tails times factors, rounded up or down; a log tail of −∞ stays −∞.

    Args:
        log_tail: log tails.
        factor: factors of the tails; a factor below 0 counts as 0.
        direction: 1 to round up, −1 to round down.

    Returns:
        The scaled log tails.
    """
    scaled = log_tail + log(factor) + direction * rounding(log_tail)
    return np.where(np.isneginf(log_tail), -np.inf, scaled)


@dataclass(frozen=True)
class TailSteps:
    """The two tails of the distribution of a loss L on a lattice, as step functions.

    Losses are in units of the lattice.

    Attributes:
        right: lattice points r_i above the middle one, increasing.
        survival: log P(L ≥ r_i) for each of them, with the infinite loss.
        left: absolute values l_i of the lattice points −l_i below the middle one, increasing.
        distribution: log P(L ≤ −l_i) for each of them.
    """

    right: IntArray
    survival: FloatArray
    left: IntArray
    distribution: FloatArray

    def to_lattice(self, middle: int, log_atom: float) -> LatticeDistribution:
        """Return the lattice distribution with these tails, and with the remaining mass at the middle lattice point.

        The mass of a point is the difference of the tails at it and at the next point outwards.

        Args:
            middle: index of the middle lattice point.
            log_atom: log of the mass of the infinite loss.

        Returns:
            The distribution, on the lattice points with positive mass.
        """
        log_mass_right = difference(self.survival, np.append(self.survival[1:], log_atom))
        log_mass_left = difference(self.distribution, np.append(self.distribution[1:], -np.inf))
        log_in_tails = np.logaddexp(self.survival[:1], self.distribution[:1])
        log_mass_middle = log1m_exp(np.minimum(log_in_tails, 0.0))

        # The points by increasing loss; those without mass are left out.
        index = np.concatenate((-self.left[::-1], [middle], self.right))
        log_mass = np.concatenate((log_mass_left[::-1], log_mass_middle, log_mass_right))
        has_mass = np.isfinite(log_mass)
        if not has_mass.any():
            return LatticeDistribution(np.zeros(1, dtype=np.int64), np.full(1, -np.inf), log_atom)
        return LatticeDistribution(index[has_mass], log_mass[has_mass], log_atom)


def log_probability_of_any(log_probabilities: Sequence[float], counts: FloatArray, *, direction: int) -> float:
    """Bound the log probability that an event occurs in any of several independent rounds.

    The probability is:

        1 − Π (1 − a_j)^{T_j} = 1 − e^{−r}    with    r = −Σ T_j log(1 − a_j).

    Logarithms are used throughout, because a_j itself may underflow.

    Args:
        log_probabilities: log a_j ≤ 0, where a_j is the probability of the event in one round of kind j.
        counts: T_j, the number of rounds of kind j.
        direction: 1 for an upper bound, −1 for a lower bound.

    Returns:
        The bound, at most 0; −inf if the event has probability 0 in every round.
    """
    if all(log_probability == -math.inf for log_probability in log_probabilities):
        return -math.inf

    log_a = np.asarray(log_probabilities)
    # −log(1 − a) is a (1 + a/2 + …). Below e^−30, about 1e-13, the logarithms of both differ by less than the slack.
    is_small = log_a < -30.0
    with np.errstate(divide="ignore"):
        log_rates = np.where(is_small, log_a, np.log(-np.log1p(-np.exp(np.minimum(log_a, 0.0)))))
    log_rate = float(np.logaddexp.reduce(log_rates + np.log(counts)))
    if math.isinf(log_rate):
        return 0.0 if log_rate > 0 else -math.inf

    log_any = _log_probability_at_rate(log_rate)
    # The logarithms and the sum over the kinds of rounds err by a few units of roundoff of their sizes.
    slack = (32 + 4 * log_a.size) * UNIT_ROUNDOFF * (1.0 + abs(log_any) + abs(log_rate))
    return min(log_any + direction * slack, 0.0)


def _log_probability_at_rate(log_rate: float) -> float:
    """Return log(1 − e^{−r}), the log probability of at least one event of a Poisson process with the expectation r.

    Args:
        log_rate: log r.

    Returns:
        The log probability, at most 0, without a bound on its rounding.
    """
    # Below e^−36, 1 − e^{−r} and r differ by less than a rounding.
    if log_rate < -36.0:
        return log_rate
    # The result is 0 long before log r = 700; the limit prevents an overflow of e^{log r}.
    return math.log(-math.expm1(-math.exp(min(log_rate, 700.0))))


def least_log_atom(profile: Profile) -> float:
    """Return a lower bound on log P(L = ∞), the probability of an infinite privacy loss.

    The bound is the probability of an infinite loss that the profile states. The profile may also have tails for
    lower bounds on δ. If P(L > ε) of these tails at the largest ε is smaller, it is the bound. The bound is lowered by
    the error of the tails.

    Args:
        profile: profile ε ↦ δ(ε) of one direction of a pair of distributions, with the tails of its loss.

    Returns:
        The lower bound; −∞ if no infinite loss is known to have a positive probability.
    """
    log_mass = profile.log_infinite_mass
    attained_tails = profile.attained_log_tails(np.asarray([LARGEST_EPSILON]))
    if attained_tails is not None:
        log_tail = float(attained_tails.log_p[0])
        log_mass = min(log_tail, log_mass)
    if math.isinf(log_mass):
        return log_mass
    # The accuracy of a log tail is relative to 1 plus its size.
    return log_mass - (profile.tail_accuracy + 4 * UNIT_ROUNDOFF) * (1.0 + abs(log_mass))
