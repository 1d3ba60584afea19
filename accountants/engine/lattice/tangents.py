"""The lower lattice distribution: lines below the profile of a loss L, joined at lattice points.

Let H(α) be the profile of L, its δ at ε = log α. For every threshold m, the line ℓ_m(α) = P(L > m) − α Q(L > m) is at
most H(α). Thresholds m₁ < m₂ < … and one lattice point g_k in each cell (m_k, m_{k+1}] give a function below H that is
linear between lattice points. At α_k = e^{g_k} it is the lower one of the lines of m_k and m_{k+1}. These differ by the
moment of the cell, c_k = p_k − α_k q_k, where p_k and q_k are the masses of the cell under P and Q. With
c⁺ = max(c, 0) and c⁻ = max(−c, 0), the survival function of the lattice distribution on the interval below g_k, of
length h, is:

    S = P(L > m_k) − c⁻_{k−1}/(1 − e^{−h}) + c⁺_k e^{−h}/(1 − e^{−h}).

S must be non-increasing. Otherwise it is lowered, which only lowers losses. Any thresholds and points are valid. The
best ones have c_k near zero, and enough mass in the neighbouring cells to compensate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.logarithms import log, ratio, rounding
from epsilond.accountants.engine.lattice.cells.side_tails import SideTails
from epsilond.accountants.engine.lattice.discretise import LatticeDistribution, TailSteps
from epsilond.accountants.engine.lattice.lower.ends import end_thresholds
from epsilond.accountants.engine.lattice.lower.points import choose_points
from epsilond.accountants.engine.lattice.tangent_lines import NOWHERE, LoweredCells, TangentLines
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


def best_lower_distribution(
    right: SideTails, left: SideTails, log_atom: float, *, unit: float, tilt: float, enough: float
) -> LatticeDistribution:
    """Return a lattice distribution that is dominated by the loss, so that its composition gives lower bounds on δ.

    A distribution is dominated if its δ is at most that of the loss at every ε. The lattice has points offset + 2hk,
    with the unit h and integers k. A few offsets are tried. The best distribution has the moment E[e^{λL}] that is
    nearest to that of the loss. The offset matters if the losses are few and not near lattice points.

    Args:
        right: tails of the positive losses at the bounds of the cells.
        left: tails of the negative losses at the bounds of the cells.
        log_atom: lower bound of log P(L = ∞).
        unit: lattice unit h, in nats.
        tilt: λ. The best distribution has the largest log moment log E[e^{λL}] for λ > 0, the smallest for −1 < λ < 0.
        enough: log moment, times the sign of λ, from which a candidate is returned without a further trial.

    Returns:
        The dominated distribution with the best log moment among those that were tried.
    """
    # Every second point of the tails is a bound of a cell.
    bounds_of_cells = slice(1, None, 2)
    lines = TangentLines.of(right.select(bounds_of_cells), left.select(bounds_of_cells), log_atom)
    lines = lines.without(_gap_thresholds(lines.cells))  # merges cells without mass

    sign = math.copysign(1.0, tilt)
    best = _dominated_distribution(lines, unit, tilt, 0.0)
    best_moment = sign * best.log_moment(2.0 * unit, tilt)
    for offset in _offsets(lines.cells, unit, tilt):
        if best_moment >= enough:
            break
        candidate = _dominated_distribution(lines, unit, tilt, offset)
        moment = sign * candidate.log_moment(2.0 * unit, tilt)
        if moment > best_moment:
            best, best_moment = candidate, moment
    return best


def _offsets(cells: LoweredCells, unit: float, tilt: float) -> list[float]:
    """Return the offsets of the lattice to try: those that put an important cell exactly on a lattice point.

    The important cells are both outermost ones and the heaviest one at the tilt. An outermost cell has only one
    neighbour that can compensate a shift of its loss. The one that the tilt makes heavier comes first.

    Args:
        cells: cells, that is, intervals of losses, with their masses.
        unit: lattice unit, in nats. Lattice points are even multiples of it.
        tilt: exponent λ of the weights e^{λL} of losses L.

    Returns:
        The offsets, in nats, from −`unit` to `unit`; none if no cell has mass.
    """
    filled = np.flatnonzero(cells.has_mass)
    if not filled.size:
        return []
    losses = cells.loss[filled]
    smallest, largest = float(losses[0]), float(losses[-1])
    heaviest = float(losses[np.argmax(cells.log_p[filled] + tilt * losses)])
    outermost = [largest, smallest] if tilt > 0.0 else [smallest, largest]
    # The signed distance of each loss from the nearest even multiple of the unit.
    return [math.remainder(loss, 2.0 * unit) for loss in [*outermost, heaviest]]


def _dominated_distribution(lines: TangentLines, unit: float, tilt: float, offset: float) -> LatticeDistribution:
    """Return a distribution of losses on a lattice, with a δ that is at most that of the given loss at every ε.

    The given loss has masses in intervals (cells). Each cell gets one lattice point near its loss. The δ of the result
    joins lines below the δ of the loss (`_join_lines`). This can fail if points are above the losses of their cells.
    The first attempt therefore lowers all points by the largest distance that is due to rounding, and the second one by
    the largest distance of any point. If both fail, only the infinite loss is kept.

    Args:
        lines: lines below the δ of the loss, with the cells between their thresholds.
        unit: lattice unit, in nats. Lattice points are two units apart, and their indices count from the offset.
        tilt: exponent λ at which the moment E[e^{λL}] of the distribution matters.
        offset: offset of the lattice, in nats.

    Returns:
        The distribution. Its δ is at most that of the loss at every ε.
    """
    lines = lines.without(end_thresholds(lines.cells, unit, tilt, offset))
    points = choose_points(lines.cells, unit, offset)
    for lowering in (points.uncompensated_increase, points.largest_increase):
        distribution = _join_lines(lines, points.multiples, unit, offset - lowering)
        if distribution is not None:
            return distribution
    return _infinite_loss_only(lines.log_atom)


class _RelativeGains(NamedTuple):
    """Increases of the mass above each threshold m of a loss L, when the masses of intervals move to lattice points.

    They are relative to P(L > m) for m > 0, and to P(L < m) for m < 0. Each array begins with the most negative m.

    Attributes:
        gain: the relative increase; negative where the mass decreases.
        loss_below: share of the decrease that is due to the interval below m, up to a positive factor; 0 if there is
            none. Only the sign is used.
        error: bound on the error of `gain`.
    """

    gain: FloatArray
    loss_below: FloatArray
    error: FloatArray


def _relative_gains(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> _RelativeGains:
    """Return the relative increase of the mass above each threshold when cells move to their lattice points.

    Let a cell, an interval of losses, have the masses p under P and q under Q, and the lattice point g. Its moment
    c = p − e^g q is 0 if the point is exactly at the cell's loss. The increase is:

        (c⁺ e^{−h} − c⁻)/(1 − e^{−h}),

    divided by the tail of the loss at the threshold. c⁺ = max(c, 0) is for the cell above the threshold, and
    c⁻ = max(−c, 0) for the cell below. h is the distance of their lattice points.

    Args:
        lines: lines below the profile and the cells between their thresholds.
        multiples: the lattice point of each cell, as an even multiple of the unit.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.

    Returns:
        The increase at each threshold with a bound on its error, and whether the cell below causes a decrease.
    """
    cells = lines.cells
    location = np.asarray(multiples * unit, dtype=np.float64) + offset
    moment, scale = _moments(cells, location)

    # Scales of the moments of both neighbouring cells, relative to the tail at the threshold.
    log_tails = np.concatenate((lines.below_p[::-1], lines.p))
    scale_below = ratio(scale[:-1], log_tails)
    scale_above = ratio(scale[1:], log_tails)

    one_minus_decay = -np.expm1(-np.diff(multiples) * unit)  # 1 − e^{−h}
    decay = 1.0 - one_minus_decay
    loss_below = np.maximum(-moment[:-1], 0.0) * scale_below
    won = np.maximum(moment[1:], 0.0) * scale_above * decay

    rounding_of_cell = rounding(cells.log_p, cells.log_q, location)
    error = rounding_of_cell[:-1] * scale_below + rounding_of_cell[1:] * scale_above * decay
    error = np.where(np.isneginf(log_tails), 0.0, error)
    return _RelativeGains((won - loss_below) / one_minus_decay, loss_below, error / one_minus_decay)


def _join_lines(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> LatticeDistribution | None:
    """Return the distribution on given lattice points, one in each cell, whose profile is below that of the loss.

    The lines P(L > m) − α Q(L > m) at the thresholds m between cells are below the profile δ(ε) of the loss L, with
    α = e^ε. At each lattice point, the profile of the distribution is the lower one of the lines of both neighbouring
    thresholds. Its tails are the tails of the lines, times one plus the relative increases of `_relative_gains`.

    Args:
        lines: the lines and the cells between their thresholds.
        multiples: the lattice point of each cell, as an even multiple of the unit.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.

    Returns:
        The distribution; None if less mass than P(L = ∞) would be left above a threshold. This cannot happen if every
        moment of a cell (`_moments`) is at least 0.
    """
    gains = _relative_gains(lines, multiples, unit, offset)
    if _falls_below_infinite_loss(lines, gains.gain, gains.loss_below):
        return None

    # Log masses above the positive thresholds, and below the negative ones, from zero outwards.
    negative_thresholds = lines.left.size
    least_gain = gains.gain - gains.error
    gain_above = least_gain[negative_thresholds:]
    gain_below = least_gain[:negative_thresholds][::-1]
    survival = lines.p + log(1.0 + gain_above) - rounding(lines.p)
    distribution = lines.below_p + log(1.0 - gain_below) + rounding(lines.below_p)

    # Make both decrease outwards, and limit them so that the masses sum to at most 1 with the infinite loss.
    log_finite = float(log1m_exp(lines.log_atom))
    distribution = np.minimum(np.maximum.accumulate(distribution[::-1])[::-1], log_finite)
    survival = np.minimum.accumulate(np.minimum(survival, log1m_exp(distribution[0])))
    survival = np.maximum(survival, lines.log_atom)

    points = multiples // 2
    points_above = points[negative_thresholds + 1 :]
    distances_below = -points[:negative_thresholds][::-1]
    steps = TailSteps(points_above, survival, distances_below, distribution)
    middle = int(points[negative_thresholds])
    return replace(steps.to_lattice(middle, lines.log_atom), offset=offset)


def _falls_below_infinite_loss(lines: TangentLines, gain: FloatArray, loss_below: FloatArray) -> bool:
    """Return whether the mass above some threshold m would fall below P(L = ∞), for a loss L that moves to a lattice.

    Only thresholds at which the interval below m decreases this mass are tested.

    Args:
        lines: the thresholds, and the logs of the tails P(L > m) for m > 0, and P(L < m) for m < 0.
        gain: increase of the mass above each m relative to its tail, from the most negative m on.
        loss_below: above 0 at thresholds to be tested, in the same order.

    Returns:
        True if a tail is too low.
    """
    negative_thresholds = lines.left.size

    # Above positive thresholds: the tail times 1 + gain must be at least P(L = ∞).
    log_infinite = np.full(lines.p.shape, lines.log_atom)
    least_share = np.where(np.isneginf(lines.p), 1.0, ratio(log_infinite, lines.p))
    decreases = loss_below[negative_thresholds:] > 0
    too_low = (1.0 + gain[negative_thresholds:] < least_share) & decreases

    # Below negative thresholds: the mass must be at most 1 − P(L = ∞). Their tails begin at the one nearest to zero.
    gain_below = gain[:negative_thresholds][::-1]
    log_below = lines.below_p + log(1.0 - gain_below)
    log_finite = float(log1m_exp(lines.log_atom))
    decreases_below = loss_below[:negative_thresholds][::-1] > 0
    too_high = (log_below > log_finite) & decreases_below
    return bool(np.any(too_low) or np.any(too_high))


def _moments(cells: LoweredCells, location: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moment p − e^g q of each cell of losses at its lattice point g, without underflow.

    A cell is an interval of losses, with the masses p under P and q under Q. Its moment c is returned as c/e^s and s,
    where e^s is the larger of p and e^g q. This keeps tiny moments in the range of doubles.

    Args:
        cells: the cells.
        location: lattice point g of each cell, in nats.

    Returns:
        c/e^s in [−1, 1], and s, the log of the larger of p and e^g q.
    """
    log_scaled_q = cells.log_q + location
    scale = np.maximum(cells.log_p, log_scaled_q)
    with np.errstate(invalid="ignore"):
        gap = log_scaled_q - cells.log_p
    gap = np.where(np.isnan(gap), 0.0, gap)  # both masses are 0
    # (p − e^g q)/e^s is 1 − e^gap or e^{−gap} − 1.
    moment_if_positive = -np.expm1(np.minimum(gap, 0.0))
    moment_if_negative = np.expm1(-np.maximum(gap, 0.0))
    return np.where(gap <= 0.0, moment_if_positive, moment_if_negative), scale


def _infinite_loss_only(log_atom: float) -> LatticeDistribution:
    """Return a lattice distribution of a loss L that keeps P(L = ∞) and moves all other mass far below any loss.

    Args:
        log_atom: log P(L = ∞).

    Returns:
        The distribution with one finite lattice point, far below 0, and the infinite loss.
    """
    index_far_below = NOWHERE // 2  # `NOWHERE` counts lattice units, and points are two units apart
    log_finite_mass = float(log1m_exp(log_atom))
    return LatticeDistribution(np.asarray([index_far_below]), np.asarray([log_finite_mass]), log_atom)


def _gap_thresholds(cells: LoweredCells) -> IntArray:
    """Return the thresholds to drop so that each cell without mass under P is merged with a neighbour.

    A cell is an interval of losses between two neighbouring thresholds. An empty cell is merged with the next one,
    which may then have a lower lattice point. A cell with mass under Q only, which is due to rounding, is merged with
    the previous one.

    Args:
        cells: the cells, by increasing loss.

    Returns:
        The thresholds, as multiples of the lattice unit.
    """
    massless = np.isneginf(cells.log_p)
    empty = massless & np.isneginf(cells.log_q)
    only_q = massless & ~empty
    return np.concatenate((cells.high[:-1][empty[:-1]], cells.low[1:][only_q[1:]]))
