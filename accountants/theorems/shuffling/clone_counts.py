"""The clone pair given the number C of clones: bounds on δ for each value of C.

Given C = c clones, m = c + 1 reports hide each other. With p = e^{ε₀}/(1 + e^{ε₀}), α = e^ε and B ~ Bin(c, 1/2):

    δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ),   b the mass function of B,   A = p − α(1 − p).

Here κ is the least number of reports of type 0 that favours the first world: m − κ < m x ≤ m − κ + 1 with
x = (1 − tanh(ε/2)/tanh(ε₀/2))/2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.binomial_law import QUICK_RATIO_ACCURACY, RATIO_ACCURACY, Binomial
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_BLOCK = 32
"""Number of consecutive c per tail that is evaluated directly; a recurrence gives the others."""


class Effort(NamedTuple):
    """Limits on the work for one bound on δ by clones, which is a sum over ranges of the number of clones.

    A clone is another client's report that has the distribution of the victim's. The ranges with the largest terms are
    divided into fine ones.

    Attributes:
        negligible: a range stays coarse if its term of the sum is below e^−negligible times the largest term.
        most_fine: largest number of fine ranges if they hold several values each.
        quick: whether tails are computed by `quick_tail_ratio`, which is faster and less accurate.
    """

    negligible: float
    most_fine: int
    quick: bool

    @property
    def ratio_accuracy(self) -> float:
        """Relative error of a tail probability divided by a point mass, as computed with this effort."""
        if self.quick:
            return QUICK_RATIO_ACCURACY
        return RATIO_ACCURACY


class CountBounds(NamedTuple):
    """Lower and upper bounds on log δ_c, where δ_c is the δ of a victim's report that is shuffled with c clones.

    A clone is another report that has the distribution of the victim's.

    Attributes:
        low: lower bounds on the natural logarithm, with a row for each ε and a column for each c; −∞ if none is known.
        high: upper bounds of the same shape, at most 0.
    """

    low: FloatArray
    high: FloatArray


class _Event(NamedTuple):
    """The terms of the equation for δ_c(ε) in `bounds_given_clones`.

    δ_c is the δ of a victim's report that is shuffled with c similar reports, the clones. The arrays have a row for
    each ε and a column for each c. A report is of type 0 or 1. The victim's has type 0 with probability p = e^{ε₀}/(1 +
    e^{ε₀}) on the first data set and 1 − p on the second. A clone's has type 0 with probability 1/2. α is e^ε.

    Attributes:
        gap: A = p − α(1 − p), one column.
        growth: α − 1, one column.
        least: κ, the least number of reports of type 0 that is more than α times as likely on the first data set.
        type_one: number c + 1 − κ of reports of type 1 then.
    """

    gap: FloatArray
    growth: FloatArray
    least: FloatArray
    type_one: FloatArray

    @property
    def rounding_factor(self) -> FloatArray:
        """Factor 1 + κ/(c + 2 − κ) on the relative error of the mass b(κ − 1; c), as rounding may change κ by one."""
        return 1.0 + self.least / (self.type_one + 1.0)


class _MassesAndTails(NamedTuple):
    """Probabilities and tails of the number B ~ Bin(c, 1/2) of clones of type 0, divided by e^scale to avoid underflow.

    A clone is another report that is distributed like the victim's. A report is of type 0 or 1. κ is the least number
    of reports of type 0 that favours the first data set.

    Attributes:
        log_scale: the scale, a natural logarithm, with a row for each ε and a column for each number c of clones.
        mass: b(κ − 1; c)/e^scale, with b the mass function of B.
        tail: P(B ≥ κ)/e^scale.
    """

    log_scale: FloatArray
    mass: FloatArray
    tail: FloatArray


def bounds_given_clones(local_epsilon: float, clones: FloatArray, epsilon: FloatArray, effort: Effort) -> CountBounds:
    """Compute bounds on log δ_c(ε), where δ_c is the δ of a victim's report that is shuffled with c clones.

    Each report is of type 0 or 1. The victim's is of type 0 with probability p = e^{ε₀}/(1 + e^{ε₀}) on the first data
    set and 1 − p on the second. The number of clones of type 0 is B ~ Bin(c, 1/2), with mass function b. Let α = e^ε
    and A = p − α(1 − p). Let κ be the least number of reports of type 0 that is more than α times as likely on the
    first data set. Then:

        δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ).

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: numbers c of clones, increasing.
        epsilon: values of ε, in nats.
        effort: the work for one bound.

    Returns:
        Lower and upper bounds with a row for each ε and a column for each c.

    Guarantees:
        Both bounds allow for the rounding errors, so log δ_c(ε) is between them.
    """
    event = _find_event(local_epsilon, clones, epsilon)
    log_scale, mass, tail = _masses_and_tails(clones, event, effort)

    # The two terms of δ_c, divided by the scale, with bounds on their errors.
    gain = event.gap * mass
    loss = event.growth * tail
    gain_error = 4 * RATIO_ACCURACY * gain * event.rounding_factor
    loss_error = 4 * effort.ratio_accuracy * loss
    slack = gain_error + loss_error
    scale_error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(log_scale))  # of the logarithms and their sum

    with np.errstate(divide="ignore"):  # the logarithm of 0 is −∞
        low = np.log(np.maximum(gain - loss - slack, 0.0)) + log_scale - scale_error
        high = np.log(np.maximum(gain - loss, 0.0) + slack) + log_scale + scale_error
    return CountBounds(np.asarray(low), np.asarray(np.minimum(high, 0.0)))


def rough_bounds_given_clones(local_epsilon: float, clones: FloatArray, epsilon: FloatArray) -> CountBounds:
    """Compute cheap bounds on log δ_c(ε), where δ_c is the δ of a victim's report that is shuffled with c clones.

    By the equation of `bounds_given_clones`, δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ). The upper bound omits the
    subtracted term, and the lower bound is −∞.

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: numbers c of clones, increasing.
        epsilon: values of ε, in nats.

    Returns:
        Lower and upper bounds with a row for each ε and a column for each c.
    """
    event = _find_event(local_epsilon, clones, epsilon)
    log_mass = Binomial(clones, 0.5, 0.5).log_mass(event.least - 1.0)
    # The log of the first term. `slack` allows for a κ that is wrong by one, and the other margins for the logarithms.
    slack = np.log1p(4 * RATIO_ACCURACY * event.rounding_factor)
    log_gap = np.log(event.gap) + 16 * UNIT_ROUNDOFF + slack
    mass_error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(log_mass))  # of the logarithm and the sums
    low = np.full(log_mass.shape, -np.inf)
    high = np.minimum(log_mass + log_gap + mass_error, 0.0)
    return CountBounds(low, np.asarray(high))


def _find_event(local_epsilon: float, clones: FloatArray, epsilon: FloatArray) -> _Event:
    """Compute the terms of δ(ε) of a victim's report that is shuffled with c similar reports, the clones.

    A report is of type 0 or 1: a clone's of type 0 with probability 1/2, and the victim's with p = e^{ε₀}/(1 + e^{ε₀})
    on the first data set and 1 − p on the second. The terms are A = p − e^ε (1 − p), e^ε − 1 and κ. If k of the
    m = c + 1 reports are of type 0, this is more than e^ε times as likely on the first data set for:

        (m − k)/m < x = (1 − tanh(ε/2)/tanh(ε₀/2))/2.

    The least such k is κ. Hence m − κ is the integer with m − κ < m x ≤ m − κ + 1.

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: values c, increasing.
        epsilon: ε, in nats. At ε ≥ ε₀, where δ is 0, the result is that of an ε just below ε₀, and is not used.

    Returns:
        The factors in one column. κ and c + 1 − κ have a row for each ε and a column for each c.
    """
    epsilon_below = np.where(epsilon < local_epsilon, epsilon, local_epsilon * (1.0 - 1e-9))[:, None]
    gap = -np.expm1(epsilon_below - local_epsilon) / (1.0 + math.exp(-local_epsilon))
    growth = np.expm1(np.minimum(epsilon_below, 700.0))  # larger exponents overflow
    largest_share = gap / (math.tanh(0.5 * local_epsilon) * (2.0 + growth))  # x, without cancellation
    reports = clones + 1.0
    type_one = np.maximum(np.ceil(reports * largest_share) - 1.0, 0.0)
    return _Event(gap=gap, growth=growth, least=reports - type_one, type_one=type_one)


def _masses_and_tails(clones: FloatArray, event: _Event, effort: Effort) -> _MassesAndTails:
    """Compute binomial masses b(κ − 1; c) and tails P(B ≥ κ) of the number B ~ Bin(c, 1/2) of clones of type 0.

    A clone is a report that has type 0 or 1 with equal probability. b is the mass function of B. κ is the least number
    of reports of type 0 that is more than e^ε times as likely on the first data set. Masses and tails are divided by a
    scale, so that they do not underflow. If the values c are consecutive, only every 32nd tail is computed directly,
    and the others by a recurrence in c, which is faster.

    Args:
        clones: values c, increasing.
        event: κ and the number c + 1 − κ of reports of type 1 for each ε and c.
        effort: the work for one tail.

    Returns:
        The logarithm of the scale, the scaled masses and the scaled tails.
    """
    are_consecutive = clones.size > _BLOCK and bool((np.diff(clones) == 1.0).all())
    if not are_consecutive:
        return _direct_masses(clones, event.least, event.type_one, effort)
    # The tails at the start of each block are computed directly.
    at_anchors = slice(None, None, _BLOCK)
    anchor_least, anchor_type_one = event.least[:, at_anchors], event.type_one[:, at_anchors]
    anchors = _direct_masses(clones[at_anchors], anchor_least, anchor_type_one, effort)
    mass, tail = _along_blocks(clones, event.least, anchors.tail)
    log_scale = np.repeat(anchors.log_scale, _BLOCK, axis=1)[:, : clones.size]
    return _MassesAndTails(log_scale, mass, tail)


def _direct_masses(clones: FloatArray, least: FloatArray, type_one: FloatArray, effort: Effort) -> _MassesAndTails:
    """Compute a binomial mass b(κ − 1; c) and the tail P(B ≥ κ) relative to it, for B ~ Bin(c, 1/2).

    B is the number of clones of type 0, and κ the threshold of `bounds_given_clones`. The relative tail is:

        P(B ≥ κ)/b(κ − 1; c) = P(B ≥ κ)/b(κ; c) · (c + 1 − κ)/κ.

    Args:
        clones: numbers c of clones.
        least: κ for each ε and c.
        type_one: number c + 1 − κ of reports of type 1 for each ε and c.
        effort: the work for one tail.

    Returns:
        The mass as the scale, masses of 1, and the relative tails.
    """
    binomial = Binomial(clones, 0.5, 0.5)
    log_scale = binomial.log_mass(least - 1.0)
    tail_ratio = binomial.tail_ratio
    if effort.quick:
        tail_ratio = binomial.quick_tail_ratio
    # At κ = c + 1 the tail is 0, because no report is of type 1; the minimum keeps the argument in range.
    tail = tail_ratio(np.minimum(least, clones)) * type_one / least
    return _MassesAndTails(log_scale, np.ones_like(tail), tail)


def _along_blocks(clones: FloatArray, least: FloatArray, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute binomial masses b(κ − 1; c) and tails P(B ≥ κ) of B ~ Bin(c, 1/2) for consecutive c by recurrence.

    B is the number of those of c clones that are of type 0. The threshold κ depends on c. All values of a block of 32
    are relative to the mass at its start. From c to c + 1 the mass is multiplied by (c + 1)/(2(c + 2 − κ)) or, if κ
    increases too, by (c + 1)/(2κ). The tail gains half the old mass. It loses the new mass if κ increases.

    Args:
        clones: consecutive values c.
        least: κ, with a row for each ε and a column for each c.
        tails: P(B ≥ κ) relative to the mass, at the start of each block.

    Returns:
        The masses and the tails, with the shape of `least`.
    """
    # Entries belong to steps from c to c + 1.
    threshold_increase = np.diff(least, append=least[:, -1:])
    divisor = np.where(threshold_increase > 0, least, clones + 2.0 - least)
    mass_factor = 0.5 * (clones + 1.0) / divisor
    factors = _steps_within_blocks(mass_factor)
    has_increase = _steps_within_blocks(threshold_increase) > 0

    first_mass = np.ones((*factors.shape[:2], 1))
    mass = np.cumprod(np.concatenate((first_mass, factors), axis=2), axis=2, dtype=np.float64)
    old_mass, new_mass = mass[:, :, :-1], mass[:, :, 1:]
    tail_change = 0.5 * old_mass - np.where(has_increase, new_mass, 0.0)
    tail = np.cumsum(np.concatenate((tails[:, :, None], tail_change), axis=2), axis=2)
    return _join_blocks(mass, clones.size), np.maximum(_join_blocks(tail, clones.size), 0.0)


def _steps_within_blocks(values: FloatArray) -> FloatArray:
    """Divide each row of a matrix into blocks of `_BLOCK` values, without the last value of each block.

    The values belong to steps of a recurrence from one number c to the next. The last one of a block leads to the next
    block. It is not needed, because the recurrence starts anew in each block.

    Args:
        values: array with a row for each ε and a column for each c from which a step starts.

    Returns:
        An array with an axis for the rows, one for the blocks, and one for the steps within a block. A last block that
        is not full is padded by 1.
    """
    rows, columns = values.shape
    padding = np.ones((rows, -columns % _BLOCK))
    blocks = np.concatenate((values, padding), axis=1).reshape(rows, -1, _BLOCK)
    return blocks[:, :, :-1]


def _join_blocks(values: FloatArray, columns: int) -> FloatArray:
    """Join the blocks of each row of a matrix, and drop the values that only fill the last block.

    Args:
        values: array with an axis for the rows, one for the blocks, and one for the values of a block.
        columns: number of values of a row.

    Returns:
        An array with an axis for the rows and one for the values.
    """
    row_count = values.shape[0]
    joined = values.reshape(row_count, -1)
    return np.asarray(joined[:, :columns], dtype=np.float64)
