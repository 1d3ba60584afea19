"""The lower lattice law: lines below a profile, joined at lattice points.

For every threshold m the line ℓ_m(α) = P(L > m) − α Q(L > m) is at most H(α). Thresholds m₁ < m₂ < … and one lattice
point g_k in each cell (m_k, m_{k+1}] give a function below H that is linear between lattice points: at α_k = e^{g_k} it
takes the smaller of both neighbours' lines. Those differ by the moment of the cell, c_k = p_k − α_k q_k, so that on the
interval below g_k, of length h,

    S = P(L > m_k) − c⁻_{k−1}/(1 − e^{−h}) + c⁺_k e^{−h}/(1 − e^{−h}).

S must fall; where it does not it is lowered, which only lowers losses. Any thresholds and points are right; the best
have c_k near zero, with enough mass in the neighbouring cells to make up for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.discretise import (
    BoolArray,
    LatticeLaw,
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
"""Share of a step that counts as a mere rounding: tails are known to 1e-14, a step at 10^10 rounds is 1e-6 or so."""


def best_lower_law(
    right: SideTails, left: SideTails, log_atom: float, *, unit: float, tilt: float, enough: float
) -> LatticeLaw:
    """Return the best of a few lower laws by their log moment at a tilt λ, or the first that is good `enough`.

    Good is large for λ > 0, small for −1 < λ < 0, where a wider loss has the smaller one.

    They differ in the offset of the lattice, which matters where a loss has too few cells to be anywhere near a
    lattice point: an atom off the lattice, or a bulk not much wider than a cell.
    """
    lines = TangentLines.of(right.at(slice(1, None, 2)), left.at(slice(1, None, 2)), log_atom)
    lines = lines.without(_beside_gaps(lines.cells))
    sign = math.copysign(1.0, tilt)
    best = _lower_law(lines, unit, tilt, 0.0)
    most = sign * best.log_moment(2.0 * unit, tilt)
    for offset in _offsets(lines.cells, unit, tilt):
        if most >= enough:
            break
        law = _lower_law(lines, unit, tilt, offset)
        moment = sign * law.log_moment(2.0 * unit, tilt)
        if moment > most:
            best, most = law, moment
    return best


def _offsets(cells: LoweredCells, unit: float, tilt: float) -> list[float]:
    """Return offsets within a unit that put the log p/q of either end or of the heaviest cell on a lattice point.

    What an end cell loses it loses in every round, as it has no neighbour beyond it to exchange mass with. That of the
    end to which the tilt pulls comes first.
    """
    held = np.flatnonzero(cells.held)
    if not held.size:
        return []
    own = cells.own[held]
    heaviest = float(own[np.argmax(cells.log_p[held] + tilt * own)])
    ends = [float(own[-1]), float(own[0])]
    if tilt <= 0.0:
        ends.reverse()
    return [math.remainder(place, 2.0 * unit) for place in [*ends, heaviest]]


def _lower_law(lines: TangentLines, unit: float, tilt: float, offset: float) -> LatticeLaw:
    """Return a law that is dominated, on offset + even multiples of the unit, indexed by the multiples of two units."""
    lines = lines.without(joined(lines.cells, unit, tilt, offset))
    points = _lattice_points(lines.cells, unit, offset)
    # Points that are too high by a rounding all go down by as much; if others are too high for what is lent, by more.
    law = _joined_lines(lines, points.multiples, unit, offset - points.slip)
    law = law or _joined_lines(lines, points.multiples, unit, offset - points.fall)
    return law or _nothing(lines.log_atom)


def _joined_lines(lines: TangentLines, multiples: IntArray, unit: float, offset: float) -> LatticeLaw | None:
    """The law whose profile joins the lower of neighbouring lines at the given points.

    None if that would fall below the infinite loss's own line, which it cannot where every c_k ≥ 0.
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
    return replace(steps.law(int(halves[count]), lines.log_atom), offset=offset)


def _moments(cells: LoweredCells, place: FloatArray) -> tuple[FloatArray, FloatArray]:
    """c = p − e^place q of each cell relative to e^scale, the larger of both terms."""
    moved = cells.log_q + place
    scale = np.maximum(cells.log_p, moved)
    with np.errstate(invalid="ignore"):
        gap = moved - cells.log_p
    gap = np.where(np.isnan(gap), 0.0, gap)
    return np.where(gap <= 0.0, -np.expm1(np.minimum(gap, 0.0)), np.expm1(-np.maximum(gap, 0.0))), scale


def _nothing(log_atom: float) -> LatticeLaw:
    """The law that keeps the infinite loss and moves all else so far down that it never counts."""
    return LatticeLaw(np.asarray([NOWHERE // 2]), np.asarray([float(log1m_exp(log_atom))]), log_atom)


def _beside_gaps(cells: LoweredCells) -> IntArray:
    """Thresholds of cells without first-law mass: an empty one joins the next, which then may go as low as it needs.

    One with second-law mass alone, which is rounding, joins the one below, which can carry it.
    """
    massless = np.isneginf(cells.log_p)
    empty = massless & np.isneginf(cells.log_q)
    only_q = massless & ~empty
    return np.concatenate((cells.high[:-1][empty[:-1]], cells.low[1:][only_q[1:]]))


class _Points(NamedTuple):
    """A lattice point for each cell, as an even multiple of the unit."""

    multiples: IntArray
    slip: float
    """How much too high points are that nothing lends for, where that is a mere rounding."""
    fall: float
    """How much too high any point is."""


def _lattice_points(cells: LoweredCells, unit: float, offset: float) -> _Points:
    """Points near each cell's log p/q, on the side that a neighbour can lend for."""
    step = 2.0 * unit
    own = np.clip(cells.safe - offset, NOWHERE * unit, -NOWHERE * unit)
    low, high = 0.5 * (cells.low + 1), 0.5 * (cells.high - 1)
    up, down, nearest = (np.clip(each(own / step), low, high) for each in (np.ceil, np.floor, np.rint))
    held = np.where(cells.held, cells.log_p, -np.inf)
    before, after = np.append(-np.inf, held[:-1]), np.append(held[1:], -np.inf)
    # All relative to the cell's own mass: what a neighbour has to give about a point, and what it takes to get there.
    with np.errstate(over="ignore"):
        lent_below = ratio(before, cells.log_p) * _over(down * step, np.append(-np.inf, own[:-1]))
        lent_above = ratio(after, cells.log_p) * -np.expm1(np.minimum(up * step - np.append(own[1:], np.inf), 0.0))
    can_fall = (before > -np.inf) & (lent_below >= -np.expm1(np.minimum(down * step - own, 0.0)))
    can_rise = (after > -np.inf) & (lent_above >= _over(up * step, own))
    # Too low with nothing below costs mean; too high with nothing above costs the mass above, so never that.
    chosen = np.where((nearest * step < own) & ~can_fall & can_rise, up, nearest)
    excess = np.where(cells.held & ~can_rise, chosen * step - own, 0.0)
    slight = (excess > 0) & (excess <= _SLIGHT * step)
    chosen = np.where((excess > 0) & ~slight, down, chosen)
    if not cells.held[-1]:
        chosen[-1] = low[-1]
    slip = float(np.max(excess, where=slight, initial=0.0)) * (1.0 + 1e-9)
    fall = float(np.max(chosen * step - own, where=cells.held, initial=0.0)) * (1.0 + 1e-9)
    return _Points((2.0 * chosen).astype(np.int64), slip, fall)


def _over(point: FloatArray, own: FloatArray) -> FloatArray:
    """e^{point − own} − 1 where the point is above."""
    return np.asarray(np.expm1(np.clip(point - own, 0.0, 600.0)))


# Lines below a profile, P(L > m) − α Q(L > m) at thresholds m, and the cells of loss between them -------------------
NOWHERE = -(2**60)
"""An index far below any loss."""


@dataclass(frozen=True)
class LoweredCells:
    """Cells in increasing order of loss, from (−∞, −b_n) to (b_n, ∞), with the masses that the lowered lines give."""

    low: IntArray
    high: IntArray
    log_p: FloatArray
    log_q: FloatArray

    @cached_property
    def held(self) -> BoolArray:
        """LoweredCells with mass under both laws."""
        return np.isfinite(self.log_p) & np.isfinite(self.log_q)

    @cached_property
    def own(self) -> FloatArray:
        """log p/q, −∞ for cells without first-law mass."""
        with np.errstate(invalid="ignore"):
            own = self.log_p - self.log_q
        return np.where(np.isnan(own), -np.inf, own)

    @cached_property
    def safe(self) -> FloatArray:
        """`own`, lowered by its own rounding, so that a point found not too high is not too high."""
        return np.asarray(self.own - np.where(self.held, rounding(self.log_p, self.log_q), 0.0))


@dataclass(frozen=True)
class TangentLines:
    """Thresholds and lowered lines: P down and Q up on the right, and so, of the masses below, P up and Q down."""

    right: IntArray
    left: IntArray
    p: FloatArray
    q: FloatArray
    below_p: FloatArray
    below_q: FloatArray
    log_atom: float

    @classmethod
    def of(cls, right: SideTails, left: SideTails, log_atom: float) -> TangentLines:
        """Lines at the given thresholds, made monotone by lowering."""
        p, q = right.bounds(p_up=False)
        below_p, below_q = left.bounds(p_up=True)
        # Raised by a large error, a mass may come out above one, which it cannot be.
        q = np.minimum(np.maximum.accumulate(q[::-1])[::-1], 0.0)
        below_p = np.minimum(np.maximum.accumulate(below_p[::-1])[::-1], 0.0)
        # Neither law has more than one in all.
        p = np.minimum(np.minimum.accumulate(p), log1m_exp(np.minimum(below_p[0], 0.0)))
        below_q = np.minimum(np.minimum.accumulate(below_q), log1m_exp(np.minimum(q[0], 0.0)))
        # Where one law has nothing left beyond a threshold, one line is the best of all from there on. The last line is
        # that one in any case: what lies beyond it counts with the last cell.
        p[-1] = -np.inf
        q = np.where(p <= log_atom, -np.inf, q)
        below_q = np.where(np.isneginf(below_p), np.max(below_q, where=np.isneginf(below_p), initial=-np.inf), below_q)
        return cls(right.index, left.index, np.maximum(p, log_atom), q, below_p, below_q, log_atom)

    def without(self, dropped: IntArray) -> TangentLines:
        """Fewer thresholds; at least one stays on each side."""
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
        """The cells between thresholds."""
        middle_p, middle_q = (
            log1m_exp(np.minimum(np.logaddexp(above[:1], below[:1]), 0.0))
            for above, below in ((self.p, self.below_p), (self.q, self.below_q))
        )
        nothing = [-np.inf]
        return LoweredCells(
            np.concatenate(([NOWHERE], -self.left[::-1], self.right)),
            np.concatenate((-self.left[::-1], self.right, [-NOWHERE])),
            np.concatenate(
                (
                    difference(self.below_p, np.append(self.below_p[1:], nothing))[::-1],
                    middle_p,
                    difference(self.p, np.append(self.p[1:], self.log_atom)),
                )
            ),
            np.concatenate(
                (
                    difference(self.below_q, np.append(self.below_q[1:], nothing))[::-1],
                    middle_q,
                    difference(self.q, np.append(self.q[1:], nothing)),
                )
            ),
        )


# What to do at the two ends of a loss, where a cell has nothing beyond it to exchange mass with ---------------------
#
# The first cell's log p/q lies off the lattice. Left alone, the difference is lost in every round. Joining cells until
# their log p/q reaches a lattice point by what the next cell lends costs variance. Either is correct.
_NEGLIGIBLE = -30.0
"""log of a cell's tilted mass, over the largest, below which it is no end: e^−30 of a moment is below any width."""


def joined(cells: LoweredCells, unit: float, tilt: float, offset: float) -> IntArray:
    """Thresholds to drop at both ends, where joining loses less than leaving the first cell alone."""
    weights = cells.log_p + tilt * np.where(np.isfinite(cells.own), cells.own, 0.0)
    held = np.flatnonzero(cells.held & (weights > np.max(weights) + _NEGLIGIBLE))
    if held.size < 3:
        return np.zeros(0, dtype=np.int64)
    shares = np.exp(weights - np.logaddexp.reduce(weights))
    dropped = [
        bound
        for order, step in ((held, 1), (held[::-1], -1))
        for bound in _joined_end(cells, order, shares, unit, offset, stiffness=0.5 * (1.0 + abs(tilt)), step=step)
    ]
    return np.asarray(dropped, dtype=np.int64)


def _joined_end(
    cells: LoweredCells, held: IntArray, shares: FloatArray, unit: float, offset: float, *, stiffness: float, step: int
) -> list[int]:
    """The thresholds to drop at one end; `held` lists cells from that end inwards."""
    own, log_p, share = cells.own[held] - offset, cells.log_p[held], shares[held]
    exact = 0.5 * float(own[0]) / unit
    outer, target = (2.0 * unit * each for each in (math.floor(exact), math.ceil(exact))[::step])
    moments = np.cumsum(np.exp(log_p - np.max(log_p)) * -np.expm1(np.minimum(target - own, 700.0)))
    crossed = np.flatnonzero(step * moments > 0)
    if not crossed.size or crossed[0] < 2:
        return []
    inside = slice(0, int(crossed[0]))
    spread = stiffness * float(share[inside] @ (own[inside] - target) ** 2)
    if spread >= float(share[0]) * abs(float(own[0]) - outer):
        return []
    inner = cells.high if step > 0 else cells.low
    return [int(bound) for bound in inner[held[inside][:-1]]]
