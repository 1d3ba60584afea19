"""The lower lattice distribution: lines below a profile, joined at lattice points.

For every threshold m the line ℓ_m(α) = P(L > m) − α Q(L > m) is at most H(α). Thresholds m₁ < m₂ < … and one lattice
point g_k in each cell (m_k, m_{k+1}] give a function below H that is linear between lattice points. At α_k = e^{g_k} it
takes the smaller value of both neighbours' lines. These differ by the moment of the cell, c_k = p_k − α_k q_k, where
p_k and q_k are the masses of the cell. With c⁺ = max(c, 0) and c⁻ = max(−c, 0), the survival function of the lattice
distribution on the interval below g_k, of length h, is

    S = P(L > m_k) − c⁻_{k−1}/(1 − e^{−h}) + c⁺_k e^{−h}/(1 − e^{−h}).

S must be non-increasing. Otherwise it is lowered, which only lowers losses. Any thresholds and points are valid. The
best ones have c_k near zero, with enough mass in the neighbouring cells to compensate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.discretise import (
    BoolArray,
    LatticeDistribution,
    SideTails,
    TailSteps,
    log,
    ratio,
    rounding,
)
from epsilond.accountants.engine.lattice.tangent_lines import NOWHERE, LoweredCells, TangentLines
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


_SLIGHT = 1e-7
"""Share of a step that counts as rounding: tails are known to 1e-14, a step at 10^10 rounds is about 1e-6."""


def best_lower_distribution(
    right: SideTails, left: SideTails, log_atom: float, *, unit: float, tilt: float, enough: float
) -> LatticeDistribution:
    """Return a lattice distribution that is dominated by the loss, so that its composition gives lower bounds on δ.

    A few offsets of the lattice are tried, and the one with the best moment is used. The offset matters if the loss has
    few cells, so that none is near a lattice point: for an atom off the lattice, or a bulk not much wider than a cell.

    Args:
        right: tails of the positive losses at the bounds of the cells.
        left: tails of the negative losses at the bounds of the cells.
        log_atom: lower bound of log P(L = ∞).
        unit: lattice unit, in nats.
        tilt: λ. The best distribution has the largest log moment log E[e^{λL}] for λ > 0, the smallest for −1 < λ < 0.
        enough: log moment, times the sign of λ, from which a candidate is returned without a further trial.
    """
    lines = TangentLines.of(right.select(slice(1, None, 2)), left.select(slice(1, None, 2)), log_atom)
    lines = lines.without(_gap_thresholds(lines.cells))
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

    These cells are both outermost ones and the heaviest one at the tilt. An outermost cell has only one neighbour that
    can compensate a shift of its loss. The one that the tilt makes heavier comes first.

    Args:
        cells: cells of loss with their masses.
        unit: lattice unit, in nats. Lattice points are even multiples of it.
        tilt: λ.

    Returns:
        The offsets, in nats; none if no cell has mass.
    """
    filled = np.flatnonzero(cells.has_mass)
    if not filled.size:
        return []
    losses = cells.own[filled]
    smallest, largest = float(losses[0]), float(losses[-1])
    heaviest = float(losses[np.argmax(cells.log_p[filled] + tilt * losses)])
    outermost = [largest, smallest] if tilt > 0.0 else [smallest, largest]
    return [math.remainder(loss, 2.0 * unit) for loss in [*outermost, heaviest]]


def _dominated_distribution(lines: TangentLines, unit: float, tilt: float, offset: float) -> LatticeDistribution:
    """Return a dominated lattice distribution: one lattice point near the loss of each cell.

    Its index counts double units from the offset.
    A point slightly above its cell's loss, by a rounding, is corrected by lowering all points by the largest such
    distance (`_Points.slip`). If this is not enough, because other points are too high, all are lowered by the largest
    distance of any point (`fall`). If this fails too, only the infinite loss is kept.

    Args:
        lines: lines below the profile, with their cells.
        unit: lattice unit, in nats.
        tilt: tilt λ at which the moment of the distribution matters.
        offset: offset of the lattice, in nats.
    """
    lines = lines.without(end_thresholds(lines.cells, unit, tilt, offset))
    points = _lattice_points(lines.cells, unit, offset)
    for lowering in (points.slip, points.fall):
        distribution = _join_lines(lines, points.multiples, unit, offset - lowering)
        if distribution is not None:
            return distribution
    return _infinite_loss_only(lines.log_atom)


class _RelativeGains(NamedTuple):
    """Changes of the tails at each threshold, from the tails of the lines to those of a lattice distribution.

    All are relative to P(L > m) at positive thresholds m, and to P(L < m) at negative ones. Arrays begin with the most
    negative threshold.

    Attributes:
        gain: increase of the mass above m.
        lost: its decreasing part, up to a positive factor.
        error: bound on the error of `gain`.
    """

    gain: FloatArray
    lost: FloatArray
    error: FloatArray


def _relative_gains(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> _RelativeGains:
    """Return the increase (c⁺_k e^{−h} − c⁻_{k−1})/(1 − e^{−h}) of the mass above each threshold.

    c = p − e^g q is the moment of a cell with the masses p and q at its lattice point g. c⁺ = max(c, 0) is that of
    the cell above the threshold, and c⁻ = max(−c, 0) that of the cell below. h is the distance of their points.

    Args:
        lines: the lines and the cells between their thresholds.
        multiples: the lattice point of each cell, as an even multiple of the unit.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.
    """
    cells = lines.cells
    location = np.asarray(multiples * unit, dtype=np.float64) + offset
    moment, scale = _moments(cells, location)
    log_tails = np.concatenate((lines.below_p[::-1], lines.p))
    one_minus_decay = -np.expm1(-np.diff(multiples) * unit)
    decay = 1.0 - one_minus_decay
    scale_below, scale_above = ratio(scale[:-1], log_tails), ratio(scale[1:], log_tails)
    lost = np.maximum(-moment[:-1], 0.0) * scale_below
    won = np.maximum(moment[1:], 0.0) * scale_above * decay
    rounding_of_cell = rounding(cells.log_p, cells.log_q, location)
    error = rounding_of_cell[:-1] * scale_below + rounding_of_cell[1:] * scale_above * decay
    error = np.where(np.isneginf(log_tails), 0.0, error)
    return _RelativeGains((won - lost) / one_minus_decay, lost, error / one_minus_decay)


def _join_lines(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> LatticeDistribution | None:
    """Return the distribution whose profile joins the lower of neighbouring lines at the given lattice points.

    Args:
        lines: the lines and the cells between their thresholds.
        multiples: the lattice point of each cell, as an even multiple of the unit.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.

    Returns:
        The distribution; None if less mass than P(L = ∞) would be left above a threshold. This cannot happen if every
        moment of a cell (`_moments`) is at least 0.
    """
    gains, count = _relative_gains(lines, multiples, unit, offset), lines.left.size
    if _falls_below_infinite_loss(lines, gains.gain, gains.lost):
        return None
    least_gain = gains.gain - gains.error
    survival = lines.p + log(1.0 + least_gain[count:]) - rounding(lines.p)
    distribution = lines.below_p + log(1.0 - least_gain[:count][::-1]) + rounding(lines.below_p)
    # Both are made monotone, and sum to at most one with the infinite loss.
    log_finite = float(log1m_exp(lines.log_atom))
    distribution = np.minimum(np.maximum.accumulate(distribution[::-1])[::-1], log_finite)
    survival = np.minimum.accumulate(np.minimum(survival, log1m_exp(distribution[0])))
    points = multiples // 2
    steps = TailSteps(points[count + 1 :], np.maximum(survival, lines.log_atom), -points[:count][::-1], distribution)
    return replace(steps.to_lattice(int(points[count]), lines.log_atom), offset=offset)


def _falls_below_infinite_loss(lines: TangentLines, gain: FloatArray, lost: FloatArray) -> bool:
    """Return whether a tail of `_RelativeGains` leaves less mass above a threshold than the infinite loss has.

    Args:
        lines: the lines.
        gain: relative change of the tail at each threshold, from the most negative threshold on.
        lost: its decreasing part. Only the sign is used.
    """
    count = lines.left.size
    log_infinite = np.full(lines.p.shape, lines.log_atom)
    least_share = np.where(np.isneginf(lines.p), 1.0, ratio(log_infinite, lines.p))
    too_low = (1.0 + gain[count:] < least_share) & (lost[count:] > 0)
    log_below = lines.below_p + log(1.0 - gain[:count][::-1])
    too_high = (log_below > float(log1m_exp(lines.log_atom))) & (lost[:count][::-1] > 0)
    return bool(np.any(too_low) or np.any(too_high))


def _moments(cells: LoweredCells, location: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moment c = p − e^g q of each cell with the masses p and q, as c/e^s and s.

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
    moment_if_positive = -np.expm1(np.minimum(gap, 0.0))
    moment_if_negative = np.expm1(-np.maximum(gap, 0.0))
    return np.where(gap <= 0.0, moment_if_positive, moment_if_negative), scale


def _infinite_loss_only(log_atom: float) -> LatticeDistribution:
    """Return the distribution with the same infinite loss, and all other mass at a loss too small to affect δ."""
    return LatticeDistribution(np.asarray([NOWHERE // 2]), np.asarray([float(log1m_exp(log_atom))]), log_atom)


def _gap_thresholds(cells: LoweredCells) -> IntArray:
    """Return the thresholds to drop so that each cell without mass under P is merged with a neighbour.

    An empty cell is merged with the next one, which may then have a lower lattice point. A cell with mass under Q only
    is due to a rounding error. It is merged with the cell below, which compensates for it.
    """
    massless = np.isneginf(cells.log_p)
    empty = massless & np.isneginf(cells.log_q)
    only_q = massless & ~empty
    return np.concatenate((cells.high[:-1][empty[:-1]], cells.low[1:][only_q[1:]]))


class _Points(NamedTuple):
    """A lattice point for each cell. Ideally it is at or below the cell's loss, or a neighbouring cell compensates.

    Attributes:
        multiples: the points, as even multiples of the unit.
        slip: largest distance, in nats, of a point above its cell's loss by a mere rounding, without compensation.
        fall: largest distance, in nats, of any point above its cell's loss.
    """

    multiples: IntArray
    slip: float
    fall: float


def _lattice_points(cells: LoweredCells, unit: float, offset: float) -> _Points:
    """Choose a lattice point near the loss of each cell, on the side that a neighbouring cell can compensate.

    A cell compensates if its mass can move the other way, so that the mean of the loss hardly changes. The nearest
    point is preferred. A point above the loss needs enough mass in the next higher cell, and one below it in the next
    lower cell. Without it, a point below only lowers the mean of the loss. A point above costs what mass there is
    above, which is worse, so that the point below is chosen.

    Args:
        cells: cells of loss, with their masses.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.
    """
    step = 2.0 * unit
    losses = np.clip(cells.safe - offset, NOWHERE * unit, -NOWHERE * unit)
    lowest, highest = 0.5 * (cells.low + 1), 0.5 * (cells.high - 1)
    up = np.clip(np.ceil(losses / step), lowest, highest)
    down = np.clip(np.floor(losses / step), lowest, highest)
    nearest = np.clip(np.rint(losses / step), lowest, highest)
    can_fall, can_rise = _find_compensated(cells, losses, down * step, up * step)
    must_rise = (nearest * step < losses) & ~can_fall & can_rise
    chosen = np.where(must_rise, up, nearest)
    excess = np.where(cells.has_mass & ~can_rise, chosen * step - losses, 0.0)
    is_rounding = (excess > 0) & (excess <= _SLIGHT * step)
    must_fall = (excess > 0) & ~is_rounding
    chosen = np.where(must_fall, down, chosen)
    if not cells.has_mass[-1]:
        chosen[-1] = lowest[-1]
    slip = float(np.max(excess, where=is_rounding, initial=0.0)) * (1.0 + 1e-9)
    fall = float(np.max(chosen * step - losses, where=cells.has_mass, initial=0.0)) * (1.0 + 1e-9)
    return _Points((2.0 * chosen).astype(np.int64), slip, fall)


def _find_compensated(
    cells: LoweredCells, losses: FloatArray, down: FloatArray, up: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the cells that may move to the lattice point below their loss, and to the one above.

    A cell may move to a point if its neighbour on that side can make up for its moment p − e^g q there. That is, the
    neighbour's moment at the same point g is at least as large, with the opposite sign. Both are divided by p.

    Args:
        cells: the cells, with the masses p and q.
        losses: loss of each cell, in nats.
        down: lattice point below, in nats.
        up: lattice point above, in nats.
    """
    log_masses = np.where(cells.has_mass, cells.log_p, -np.inf)
    mass_before, mass_after = np.append(-np.inf, log_masses[:-1]), np.append(log_masses[1:], -np.inf)
    loss_before, loss_after = np.append(-np.inf, losses[:-1]), np.append(losses[1:], np.inf)
    with np.errstate(over="ignore"):
        offered_by_lower = ratio(mass_before, cells.log_p) * _excess_ratio(down, loss_before)
        offered_by_upper = ratio(mass_after, cells.log_p) * -np.expm1(np.minimum(up - loss_after, 0.0))
    needed_below = -np.expm1(np.minimum(down - losses, 0.0))
    needed_above = _excess_ratio(up, losses)
    can_fall = (mass_before > -np.inf) & (offered_by_lower >= needed_below)
    can_rise = (mass_after > -np.inf) & (offered_by_upper >= needed_above)
    return can_fall, can_rise


def _excess_ratio(point: FloatArray, own: FloatArray) -> FloatArray:
    """Return e^{point − own} − 1 if the point is above, otherwise 0."""
    return np.asarray(np.expm1(np.clip(point - own, 0.0, 600.0)))


_NEGLIGIBLE = -30.0
"""Log ratio of a cell's tilted mass to the largest, below which it is not an end: e^−30 of a moment is negligible."""


def end_thresholds(cells: LoweredCells, unit: float, tilt: float, offset: float) -> IntArray:
    """Return the thresholds to drop at both ends of a loss, so that its outermost cells are merged.

    An outermost cell has no neighbour beyond it to exchange mass with. If its loss is off the lattice, the difference
    is lost in every round. Cells are merged if this loses less.

    Args:
        cells: cells of loss with their masses.
        unit: lattice unit, in nats.
        tilt: λ.
        offset: offset of the lattice, in nats.
    """
    log_weights = cells.log_p + tilt * np.where(np.isfinite(cells.own), cells.own, 0.0)
    filled = np.flatnonzero(cells.has_mass & (log_weights > np.max(log_weights) + _NEGLIGIBLE))
    if filled.size < 3:
        return np.zeros(0, dtype=np.int64)
    shares = np.exp(log_weights - np.logaddexp.reduce(log_weights))
    stiffness = 0.5 * (1.0 + abs(tilt))
    left = _thresholds_at_end(cells, filled, shares, unit, offset, stiffness=stiffness, step=1)
    right = _thresholds_at_end(cells, filled[::-1], shares, unit, offset, stiffness=stiffness, step=-1)
    return np.asarray([*left, *right], dtype=np.int64)


def _thresholds_at_end(
    cells: LoweredCells,
    filled: IntArray,
    shares: FloatArray,
    unit: float,
    offset: float,
    *,
    stiffness: float,
    step: int,
) -> list[int]:
    """Return the thresholds to drop at one end of the loss, so that its outermost cells are merged.

    The inner point is the lattice point next to the outermost cell's loss, on the inner side. Cells are merged from the
    end as long as their joint loss, log(p/q) of their summed masses, does not reach it. The next cell makes up the
    difference. None is merged if the added variance costs more than a move of the outermost cell to the lattice point
    on its outer side.

    Args:
        cells: cells of loss with their masses.
        filled: indices of the cells with mass, from this end inwards.
        shares: each cell's share of the tilted mass.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.
        stiffness: change of the log moment, divided by |λ|, per variance of the loss.
        step: 1 at the end of the smallest losses, −1 at that of the largest.
    """
    losses, log_p, share = cells.own[filled] - offset, cells.log_p[filled], shares[filled]
    outermost = float(losses[0])
    position = 0.5 * outermost / unit
    point_below, point_above = 2.0 * unit * math.floor(position), 2.0 * unit * math.ceil(position)
    outer, inner = (point_below, point_above) if step > 0 else (point_above, point_below)
    # Moments p − e^g q of the first 1, 2, … cells together, at the inner point g.
    moments = np.cumsum(np.exp(log_p - np.max(log_p)) * -np.expm1(np.minimum(inner - losses, 700.0)))
    reaches_inner_point = np.flatnonzero(step * moments > 0)
    if not reaches_inner_point.size or reaches_inner_point[0] < 2:
        return []
    merged = slice(0, int(reaches_inner_point[0]))
    variance_cost = stiffness * float(share[merged] @ (losses[merged] - inner) ** 2)
    shift_cost = float(share[0]) * abs(outermost - outer)
    if variance_cost >= shift_cost:
        return []
    inner_bounds = cells.high if step > 0 else cells.low
    return [int(bound) for bound in inner_bounds[filled[merged][:-1]]]
