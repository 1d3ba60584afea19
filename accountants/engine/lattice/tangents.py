"""The lower lattice distribution: lines below a profile, joined at lattice points.

For every threshold m the line ℓ_m(α) = P(L > m) − α Q(L > m) is at most H(α). Thresholds m₁ < m₂ < … and one lattice
point g_k in each cell (m_k, m_{k+1}] give a function below H that is linear between lattice points. At α_k = e^{g_k} it
takes the smaller value of both neighbours' lines. These differ by the moment of the cell, c_k = p_k − α_k q_k, so on
the interval below g_k, of length h,

    S = P(L > m_k) − c⁻_{k−1}/(1 − e^{−h}) + c⁺_k e^{−h}/(1 − e^{−h}).

S must be non-increasing. Where it is not, it is lowered, which only lowers losses. Any thresholds and points are valid.
The best ones have c_k near zero, with enough mass in the neighbouring cells to compensate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.discretise import (
    BoolArray,
    LatticeDistribution,
    SideTails,
    TailSteps,
    difference,
    log,
    ratio,
    rounding,
)
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


_SLIGHT = 1e-7
"""Share of a step that counts as rounding: tails are known to 1e-14, a step at 10^10 rounds is about 1e-6."""


def best_lower_distribution(
    right: SideTails, left: SideTails, log_atom: float, *, unit: float, tilt: float, enough: float
) -> LatticeDistribution:
    """Return a lattice distribution that is dominated, for lower bounds on δ.

    A few offsets of the lattice are tried. The distribution with the best log moment at a tilt is returned, or the
    first one that is good enough. The offset matters if the loss has few cells, so that none is near a lattice point:
    for an atom off the lattice, or a bulk not much wider than a cell.

    Args:
        right: tails of the positive losses at the bounds of the cells.
        left: tails of the negative losses at the bounds of the cells.
        log_atom: lower bound of log P(L = ∞).
        unit: lattice unit, in nats.
        tilt: λ. The best distribution has the largest moment for λ > 0, the smallest for −1 < λ < 0.
        enough: log moment, times the sign of λ, from which a candidate is returned without a further trial.
    """
    lines = TangentLines.of(right.select(slice(1, None, 2)), left.select(slice(1, None, 2)), log_atom)
    lines = lines.without(_gap_thresholds(lines.cells))
    sign = math.copysign(1.0, tilt)
    best = _dominated_distribution(lines, unit, tilt, 0.0)
    most = sign * best.log_moment(2.0 * unit, tilt)
    for offset in _offsets(lines.cells, unit, tilt):
        if most >= enough:
            break
        law = _dominated_distribution(lines, unit, tilt, offset)
        moment = sign * law.log_moment(2.0 * unit, tilt)
        if moment > most:
            best, most = law, moment
    return best


def _offsets(cells: LoweredCells, unit: float, tilt: float) -> list[float]:
    """Return the offsets of the lattice to try: those that put an important cell exactly on a lattice point.

    These cells are both outermost ones and the heaviest one at the tilt. An outermost cell has only one neighbour that
    can compensate a shift of its loss. The one that the tilt makes heavier comes first.
    """
    filled = np.flatnonzero(cells.has_mass)
    if not filled.size:
        return []
    own = cells.own[filled]
    heaviest = float(own[np.argmax(cells.log_p[filled] + tilt * own)])
    ends = [float(own[-1]), float(own[0])]
    if tilt <= 0.0:
        ends.reverse()
    return [math.remainder(place, 2.0 * unit) for place in [*ends, heaviest]]


def _dominated_distribution(lines: TangentLines, unit: float, tilt: float, offset: float) -> LatticeDistribution:
    """Return a distribution that is dominated, on offset + even multiples of the unit, indexed in double units."""
    lines = lines.without(end_thresholds(lines.cells, unit, tilt, offset))
    points = _lattice_points(lines.cells, unit, offset)
    # Lower all points by the largest rounding that is too high; if other points are still too high, lower all by more.
    law = _join_lines(lines, points.multiples, unit, offset - points.slip)
    law = law or _join_lines(lines, points.multiples, unit, offset - points.fall)
    return law or _infinite_loss_only(lines.log_atom)


def _join_lines(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> LatticeDistribution | None:
    """Return the distribution with the profile that joins the lower of neighbouring lines at the given points.

    Args:
        lines: the lines and the cells between their thresholds.
        multiples: the lattice point of each cell, as an even multiple of the unit.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.

    Returns:
        The distribution; None if the profile would fall below the line of the infinite loss. This cannot happen if
        every moment c_k (module docstring) is at least 0.
    """
    cells = lines.cells
    place = np.asarray(multiples * unit, dtype=np.float64)
    moment, scale = _moments(cells, place + offset)
    split = -np.expm1(-np.diff(multiples) * unit)
    base = np.concatenate((lines.below_p[::-1], lines.p))
    lost = np.maximum(-moment[:-1], 0.0) * ratio(scale[:-1], base)
    won = np.maximum(moment[1:], 0.0) * ratio(scale[1:], base) * (1.0 - split)
    gain = (won - lost) / split
    count, most = lines.left.size, float(log1m_exp(lines.log_atom))
    least = np.where(np.isneginf(lines.p), 1.0, ratio(np.full(lines.p.shape, lines.log_atom), lines.p))
    above = lines.below_p + log(1.0 - gain[:count][::-1]) > most
    if np.any((1.0 + gain[count:] < least) & (lost[count:] > 0)) or np.any(above & (lost[:count][::-1] > 0)):
        return None
    relative = rounding(cells.log_p, cells.log_q, place + offset)
    error = relative[:-1] * ratio(scale[:-1], base) + relative[1:] * ratio(scale[1:], base) * (1.0 - split)
    change = gain - np.where(np.isneginf(base), 0.0, error) / split
    survival = lines.p + log(1.0 + change[count:]) - rounding(lines.p)
    distribution = lines.below_p + log(1.0 - change[:count][::-1]) + rounding(lines.below_p)
    distribution = np.minimum(np.maximum.accumulate(distribution[::-1])[::-1], most)
    survival = np.minimum.accumulate(np.minimum(survival, log1m_exp(distribution[0])))
    halves = multiples // 2
    steps = TailSteps(halves[count + 1 :], np.maximum(survival, lines.log_atom), -halves[:count][::-1], distribution)
    return replace(steps.to_lattice(int(halves[count]), lines.log_atom), offset=offset)


def _moments(cells: LoweredCells, place: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return c = p − e^place q of each cell relative to e^scale, and scale, the log of the larger term."""
    moved = cells.log_q + place
    scale = np.maximum(cells.log_p, moved)
    with np.errstate(invalid="ignore"):
        gap = moved - cells.log_p
    gap = np.where(np.isnan(gap), 0.0, gap)
    return np.where(gap <= 0.0, -np.expm1(np.minimum(gap, 0.0)), np.expm1(-np.maximum(gap, 0.0))), scale


def _infinite_loss_only(log_atom: float) -> LatticeDistribution:
    """Return the distribution with the same infinite loss, and all other mass too far down to count."""
    return LatticeDistribution(np.asarray([NOWHERE // 2]), np.asarray([float(log1m_exp(log_atom))]), log_atom)


def _gap_thresholds(cells: LoweredCells) -> IntArray:
    """Return the thresholds to drop so that cells without first-distribution mass are merged with a neighbour.

    An empty cell is merged with the next one, which may then have a lower lattice point. A cell with only
    second-distribution mass, which is a rounding error, is merged with the one below, which compensates for it.
    """
    massless = np.isneginf(cells.log_p)
    empty = massless & np.isneginf(cells.log_q)
    only_q = massless & ~empty
    return np.concatenate((cells.high[:-1][empty[:-1]], cells.low[1:][only_q[1:]]))


class _Points(NamedTuple):
    """A lattice point for each cell.

    Attributes:
        multiples: the points, as even multiples of the unit.
        slip: largest distance, in nats, of a point above its cell's loss that no neighbour compensates, of those that
            are only roundings.
        fall: largest distance of any point above its cell's loss, in nats.
    """

    multiples: IntArray
    slip: float
    fall: float


def _lattice_points(cells: LoweredCells, unit: float, offset: float) -> _Points:
    """Choose a lattice point near the loss of each cell, on the side that a neighbouring cell can compensate."""
    step = 2.0 * unit
    own = np.clip(cells.safe - offset, NOWHERE * unit, -NOWHERE * unit)
    low, high = 0.5 * (cells.low + 1), 0.5 * (cells.high - 1)
    multiples = own / step
    up, down, nearest = (
        np.clip(multiple, low, high) for multiple in (np.ceil(multiples), np.floor(multiples), np.rint(multiples))
    )
    masses = np.where(cells.has_mass, cells.log_p, -np.inf)
    before, after = np.append(-np.inf, masses[:-1]), np.append(masses[1:], -np.inf)
    # Relative to the cell's own mass: the mass that a neighbour can give, and the mass that a move to a point takes.
    with np.errstate(over="ignore"):
        lent_below = ratio(before, cells.log_p) * _excess_ratio(down * step, np.append(-np.inf, own[:-1]))
        lent_above = ratio(after, cells.log_p) * -np.expm1(np.minimum(up * step - np.append(own[1:], np.inf), 0.0))
    can_fall = (before > -np.inf) & (lent_below >= -np.expm1(np.minimum(down * step - own, 0.0)))
    can_rise = (after > -np.inf) & (lent_above >= _excess_ratio(up * step, own))
    # A point too low without mass below costs mean. A point too high without mass above costs that mass: avoid it.
    chosen = np.where((nearest * step < own) & ~can_fall & can_rise, up, nearest)
    excess = np.where(cells.has_mass & ~can_rise, chosen * step - own, 0.0)
    slight = (excess > 0) & (excess <= _SLIGHT * step)
    chosen = np.where((excess > 0) & ~slight, down, chosen)
    if not cells.has_mass[-1]:
        chosen[-1] = low[-1]
    slip = float(np.max(excess, where=slight, initial=0.0)) * (1.0 + 1e-9)
    fall = float(np.max(chosen * step - own, where=cells.has_mass, initial=0.0)) * (1.0 + 1e-9)
    return _Points((2.0 * chosen).astype(np.int64), slip, fall)


def _excess_ratio(point: FloatArray, own: FloatArray) -> FloatArray:
    """Return e^{point − own} − 1 if the point is above, otherwise 0."""
    return np.asarray(np.expm1(np.clip(point - own, 0.0, 600.0)))


# Lines below a profile, P(L > m) − α Q(L > m) at thresholds m, and the cells of loss between them -------------------
NOWHERE = -(2**60)
"""An index far below any loss."""


@dataclass(frozen=True)
class LoweredCells:
    """Cells by increasing loss, from (−∞, −b_n) to (b_n, ∞), with the masses from the lowered lines."""

    low: IntArray
    high: IntArray
    log_p: FloatArray
    log_q: FloatArray

    @cached_property
    def has_mass(self) -> BoolArray:
        """True for cells with mass under both distributions."""
        return np.isfinite(self.log_p) & np.isfinite(self.log_q)

    @cached_property
    def own(self) -> FloatArray:
        """Log likelihood ratio of each cell; −∞ for cells without first-distribution mass."""
        with np.errstate(invalid="ignore"):
            own = self.log_p - self.log_q
        return np.where(np.isnan(own), -np.inf, own)

    @cached_property
    def safe(self) -> FloatArray:
        """`own`, lowered by its rounding error, so that a lattice point below it is below the true ratio."""
        return np.asarray(self.own - np.where(self.has_mass, rounding(self.log_p, self.log_q), 0.0))


@dataclass(frozen=True)
class TangentLines:
    """Thresholds and lowered lines: P down and Q up on the right; for the masses below, P up and Q down."""

    right: IntArray
    left: IntArray
    p: FloatArray
    q: FloatArray
    below_p: FloatArray
    below_q: FloatArray
    log_atom: float

    @classmethod
    def of(cls, right: SideTails, left: SideTails, log_atom: float) -> TangentLines:
        """Return the lines at the given thresholds, made monotone by lowering.

        Args:
            right: tails of the positive losses.
            left: tails of the negative losses.
            log_atom: lower bound of log P(L = ∞).
        """
        p, q = right.bounds(p_up=False)
        below_p, below_q = left.bounds(p_up=True)
        # A mass that is raised by a large error may exceed one; the true mass does not.
        q = np.minimum(np.maximum.accumulate(q[::-1])[::-1], 0.0)
        below_p = np.minimum(np.maximum.accumulate(below_p[::-1])[::-1], 0.0)
        # The total mass of each distribution is at most one.
        p = np.minimum(np.minimum.accumulate(p), log1m_exp(np.minimum(below_p[0], 0.0)))
        below_q = np.minimum(np.minimum.accumulate(below_q), log1m_exp(np.minimum(q[0], 0.0)))
        # If one distribution has no mass beyond a threshold, a single line is the best from there on. The last line is
        # always that line: the mass beyond it counts with the last cell.
        p[-1] = -np.inf
        q = np.where(p <= log_atom, -np.inf, q)
        below_q = np.where(np.isneginf(below_p), np.max(below_q, where=np.isneginf(below_p), initial=-np.inf), below_q)
        return cls(right.index, left.index, np.maximum(p, log_atom), q, below_p, below_q, log_atom)

    def without(self, dropped: IntArray) -> TangentLines:
        """Return the lines without some thresholds; at least one threshold remains on each side."""
        if not dropped.size:
            return self
        right, left = ~np.isin(self.right, dropped), ~np.isin(-self.left, dropped)
        right[-1] = left[-1] = True
        return TangentLines(
            self.right[right],
            self.left[left],
            self.p[right],
            self.q[right],
            self.below_p[left],
            self.below_q[left],
            self.log_atom,
        )

    @cached_property
    def cells(self) -> LoweredCells:
        """Cells between thresholds."""
        middle_p, middle_q = (
            log1m_exp(np.minimum(np.logaddexp(above[:1], below[:1]), 0.0))
            for above, below in ((self.p, self.below_p), (self.q, self.below_q))
        )
        no_mass = [-np.inf]
        return LoweredCells(
            np.concatenate(([NOWHERE], -self.left[::-1], self.right)),
            np.concatenate((-self.left[::-1], self.right, [-NOWHERE])),
            np.concatenate(
                (
                    difference(self.below_p, np.append(self.below_p[1:], no_mass))[::-1],
                    middle_p,
                    difference(self.p, np.append(self.p[1:], self.log_atom)),
                )
            ),
            np.concatenate(
                (
                    difference(self.below_q, np.append(self.below_q[1:], no_mass))[::-1],
                    middle_q,
                    difference(self.q, np.append(self.q[1:], no_mass)),
                )
            ),
        )


# The two ends of a loss, where a cell has no neighbour beyond it to exchange mass with ------------------------------
#
# The first cell's log p/q is off the lattice. Without a change, the difference is lost in every round. Merging cells
# until their log p/q reaches a lattice point with mass from the next cell costs variance. Both are valid.
_NEGLIGIBLE = -30.0
"""Log ratio of a cell's tilted mass to the largest, below which it is no end: e^−30 of a moment is negligible."""


def end_thresholds(cells: LoweredCells, unit: float, tilt: float, offset: float) -> IntArray:
    """Return the thresholds to drop at both ends, where merging cells loses less than the first cell would.

    Args:
        cells: cells of loss with the masses from the lowered lines.
        unit: lattice unit, in nats.
        tilt: λ.
        offset: offset of the lattice, in nats.
    """
    weights = cells.log_p + tilt * np.where(np.isfinite(cells.own), cells.own, 0.0)
    filled = np.flatnonzero(cells.has_mass & (weights > np.max(weights) + _NEGLIGIBLE))
    if filled.size < 3:
        return np.zeros(0, dtype=np.int64)
    shares = np.exp(weights - np.logaddexp.reduce(weights))
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
    """Return the thresholds to drop at one end of the loss, so that its first cells are merged.

    The merged cell ends at the lattice point next to the first cell's log p/q on the inner side. No threshold is
    dropped if this costs more, by the variance, than moving the first cell to the point on its outer side.

    Args:
        cells: cells of loss with the masses from the lowered lines.
        filled: indices of the cells with mass, from this end inwards.
        shares: each cell's share of the tilted mass.
        unit: lattice unit, in nats.
        offset: offset of the lattice, in nats.
        stiffness: change of the log moment, divided by |λ|, per variance of the loss.
        step: 1 at the end of the smallest losses, −1 at that of the largest.
    """
    own, log_p, share = cells.own[filled] - offset, cells.log_p[filled], shares[filled]
    position = 0.5 * float(own[0]) / unit
    below, above = 2.0 * unit * math.floor(position), 2.0 * unit * math.ceil(position)
    if step > 0:
        outer, target = below, above
    else:
        outer, target = above, below
    moments = np.cumsum(np.exp(log_p - np.max(log_p)) * -np.expm1(np.minimum(target - own, 700.0)))
    crossed = np.flatnonzero(step * moments > 0)
    if not crossed.size or crossed[0] < 2:
        return []
    inside = slice(0, int(crossed[0]))
    variance_cost = stiffness * float(share[inside] @ (own[inside] - target) ** 2)
    if variance_cost >= float(share[0]) * abs(float(own[0]) - outer):
        return []
    inner = cells.high if step > 0 else cells.low
    return [int(bound) for bound in inner[filled[inside][:-1]]]
