"""log δ of a few different steps by direct convolution, on lattices as fine as a stated budget of cells allows.

Losses above a cap b are left out of the lattice. With E the event that some loss exceeds it, their part of δ(ε) is, as
(1 − e^{ε−S})₊ ≥ 1 − e^{ε−S},

    P(E) − e^ε Q(E)  ≤  E_P[(1 − e^{ε−S})₊; E]  ≤  P(E) − e^ε Q(E) + e^ε Q(E; S < ε),

P(E) = 1 − ∏ (1 − P_j(L > b))^{T_j} and Q(E) likewise. The cap is so high that other losses hardly ever make up for one
that exceeds it, where that is affordable, or else so high that none does.

Each ε has a lattice of its own range, [ε̂/√2, ε̂] with ε̂ a power of √2, so that what was asked before changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.direct.cells import StepRows
from epsilond.accountants.engine.direct.convolution import Total, Window
from epsilond.accountants.engine.direct.lattice import Exceeding, Lattice
from epsilond.accountants.engine.direct.laws import lower_rows, upper_rows
from epsilond.accountants.numerics.root_search import Guess, closest
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import NormalLaw
    from epsilond.accountants.engine.direct.cells import Cells

MOST = 32
"""How many different steps are convolved directly: more are quicker otherwise."""
FEWEST_STEPS, MOST_STEPS = 2, 64
"""And how many in all."""
MOST_CELLS = 2**17
"""Cells of all rows of one lattice: some ten milliseconds."""
MOST_POINTS = 2**19
"""Points of all rows' transforms."""
_WIDTH, _WIDTH_OF_ONE = 1e-6, 1e-7
"""Relative width of δ that the unit is chosen for, and where there is but one kind of step."""
_ROUGH = 384
_TILTS = np.geomspace(0.02, 1000.0, 60)
_TOPS = np.geomspace(1.1, 500.0, 32)
_NATS = 24.0
"""Alias and losses beyond the window are made to err by e^−24 of δ."""
_KEPT = 6
_BITS = 1
"""ε̂ is a power of 2^(1/2)."""
_LEAST_SHARE = 2.0**-6
_STEP_BITS = 7
_PAD = 1e-13
_MOVES = 40
_LARGEST = 300.0
"""A cap beyond which numbers may leave the doubles."""
_OUTSIDE = (ArithmeticError, ValueError)
"""Numbers at the edge of the doubles."""
_FARTHEST = 60.0
_LOST = 3e3
"""By how much the tilt may be worse than the best, in units of 1/(ε λ(λ + 1)): rounding grows by as much."""
_FEW_CELLS = 2**13


class WindowPlan(NamedTuple):
    """A tilt, about log δ at the end of the range, and the window's length and lowest place."""

    tilt: float
    log_delta: float
    length: float
    low: float


class Coarse(NamedTuple):
    """A plan, the cap, the finest unit that the budget allows, and a lattice of few cells."""

    plan: WindowPlan
    cap: float
    finest: float
    lattice: Lattice


@dataclass(frozen=True, eq=False)
class DirectProfile:
    """One order of a composition of a few different steps.

    Guarantees: `log_delta` holds lower ≤ log δ ≤ upper at every real ε, and is a function of ε alone.
    """

    steps: StepRows
    _lattices: dict[int, Lattice | None] = field(default_factory=dict, repr=False)
    _coarser: dict[int, Coarse | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, laws: Sequence[tuple[NormalLaw, int]]) -> DirectProfile | None:
        """Of sampled Gaussian steps of one direction; None where they are not few, or not such."""
        if len(laws) > MOST or not FEWEST_STEPS <= sum(count for _, count in laws) <= MOST_STEPS:
            return None
        known = [(law, count) for law, count in laws if isinstance(law, SampledGaussianLaw)]
        if len(known) < len(laws) or len({law.direction for law, _ in known}) > 1:
            return None
        if not all(1e-9 <= law.rate < 1.0 and 1e-3 <= law.shift <= 20.0 and count > 0 for law, count in known):
            return None
        return cls(StepRows.of(known))

    @property
    def different(self) -> bool:
        """Whether there are several kinds of steps."""
        return len(self.steps.counts) > 1

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ(ε); (−∞, −∞) where δ is exactly zero, −∞ and 0 where nothing is known."""
        if epsilon >= self.steps.supremum:
            return Interval(-math.inf, -math.inf)
        try:
            with np.errstate(all="ignore"):
                lattice = self.lattice_of(self.range_of(epsilon))
            return Interval(-math.inf, 0.0) if lattice is None else lattice.log_delta(epsilon)
        except _OUTSIDE:
            return Interval(-math.inf, 0.0)

    def representative_of(self, epsilon: float) -> float:
        """An ε at the end of the range in which this one lies: one for all ε of a range."""
        return self.representative(self.range_of(epsilon))

    def near(self, log_delta: float) -> float:
        """The same for the ε at which log δ is as asked; NaN where that is not found."""
        try:
            with np.errstate(all="ignore"):
                place = self._range_of(log_delta)
        except _OUTSIDE:
            return math.nan
        return math.nan if place is None else self.representative(place)

    def epsilon(self, log_delta: float, slack: float = 0.0) -> Interval | None:
        """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; None where that is not found.

        Both ends have a log δ that is `slack` beyond the target on their side.
        """
        try:
            with np.errstate(all="ignore"):
                return self._solved(log_delta, slack)
        except _OUTSIDE:
            return None

    def _solved(self, log_delta: float, slack: float) -> Interval | None:
        place = self._range_of(log_delta)
        lattice = None if place is None else self.lattice_of(place)
        if place is None or lattice is None:
            return None
        low, high = self.ends_of(place)
        if low == 0.0 and self.log_delta(0.0).upper <= log_delta - slack:
            return Interval(0.0, 0.0)
        above = _root(lattice, low, high, log_delta - slack, 1)
        below = _root(lattice, low, high, log_delta + slack, 0)
        pad = _PAD * (1.0 + above.epsilon)
        upper = closest(lambda epsilon: self.log_delta(epsilon).upper, log_delta - slack, above, pad)
        lower = closest(lambda epsilon: self.log_delta(epsilon).lower, log_delta + slack, below, -pad)
        return None if upper is None else Interval(min(lower or 0.0, upper), upper)

    # Ranges of ε.

    @cached_property
    def _least(self) -> int:
        """The lowest range, from −∞ on."""
        scale = float(np.asarray(self.steps.counts) @ np.maximum(self.steps.loss_at_depth(4.0), 1e-9))
        return math.ceil(math.ldexp(math.log2(_LEAST_SHARE * max(scale, 1e-9)), _BITS))

    def range_of(self, epsilon: float) -> int:
        if not epsilon > 0.0:
            return self._least
        return max(math.ceil(math.ldexp(math.log2(epsilon), _BITS)), self._least)

    def ends_of(self, place: int) -> tuple[float, float]:
        """The range in ε; the lowest begins at 0."""
        low, high = (2.0 ** math.ldexp(end, -_BITS) for end in (place - 1, place))
        return 0.0 if place == self._least else low, high

    def range_at_depth(self, depth: float) -> int:
        """That of the largest loss of one step, but for probability e^−depth."""
        start = float(self.steps.loss_at_depth(max(depth, 1.0)).max())
        return self.range_of(min(start, self.steps.supremum) if start > 0.0 else self.steps.supremum)

    def _range_of(self, log_delta: float) -> int | None:
        """The range where log δ is as asked, by coarse lattices, from where one step's loss is that rare."""
        place = self.range_at_depth(-log_delta + math.log(self.steps.total))
        falling = False
        for _ in range(_MOVES):
            coarse = self.coarse_of(place)
            if coarse is None:
                return None
            low, high = self.ends_of(place)
            if coarse.lattice.log_delta(high).upper > log_delta and high < self.steps.supremum:
                if falling:
                    return place + 1
                place += 1
            elif low > 0.0 and coarse.lattice.log_delta(low).upper <= log_delta:
                place, falling = place - 1, True
            else:
                return place
        return None

    # Lattices.

    def coarse_of(self, place: int) -> Coarse | None:
        """A plan and a lattice of few cells; None where there is no plan."""
        if place not in self._coarser:
            if len(self._coarser) >= _KEPT:
                self._coarser.pop(next(iter(self._coarser)))
            self._coarser[place] = self._surveyed(self.representative(place))
        return self._coarser[place]

    def lattice_of(self, place: int) -> Lattice | None:
        """As fine as is wanted and the budget allows."""
        if place not in self._lattices:
            if len(self._lattices) >= _KEPT:
                self._lattices.pop(next(iter(self._lattices)))
            self._lattices[place] = self._refined(self.coarse_of(place))
        return self._lattices[place]

    def representative(self, place: int) -> float:
        """An ε near the end of the range at which δ is positive."""
        low, high = self.ends_of(place)
        return min(high, 0.5 * (low + self.steps.supremum))

    def _cap(self, high: float, depth: float) -> float:
        """Above what losses are left out, and whether none of these is made up for by others."""
        sure = high + (self.steps.total - 1) * max(-self.steps.least_loss(), 0.0)
        rare = float(self.steps.loss_at_depth(depth).max())
        return min(sure, max(rare, 1.2 * high))

    def _plan(self, high: float) -> WindowPlan:
        """Window and tilt for ε near `high`, from a coarse lattice; estimates."""
        steps, counts = self.steps, np.asarray(self.steps.counts, dtype=np.float64)
        low, least = high / math.sqrt(2.0), steps.least_loss()
        losses = np.linspace(least, self._cap(high, _FARTHEST), _ROUGH)
        mass = steps.cells(losses).first.value[:, 1:-1]
        tilts = _TILTS / high
        tilts = tilts[tilts * losses[-1] < 500.0]
        with np.errstate(divide="ignore"):
            cumulants = counts @ np.log(mass @ np.exp(0.5 * (losses[1:] + losses[:-1])[:, None] * tilts))
        saddles = cumulants - np.log(tilts) - np.log1p(tilts)
        at_high, at_low = (float((saddles - tilts * end).min()) - 1.5 for end in (high, low))
        tops = _TOPS * high
        reached = np.flatnonzero((cumulants[:, None] - tilts[:, None] * tops).min(axis=0) < at_high - _NATS)
        top = float(tops[reached[0]] if reached.size else tops[-1])
        bottom = steps.total * least
        best = WindowPlan(math.nan, at_high, math.inf, math.nan)
        lost = np.log(_LOST * high * tilts * (1.0 + tilts))
        excess = cumulants - tilts * high - at_high - lost
        for place in np.flatnonzero(excess < max(float(excess.min()) + 1.0, 0.0)):
            tilt, others = float(tilts[place]), slice(place + 1, None)
            room = [
                (cumulants[others] - tilts[others] * end - (level - _NATS)) / (tilts[others] - tilt)
                for end, level in ((high, at_high), (low, at_low))
            ]
            if not room[0].size:
                continue
            # Totals below the window wrap to e^{−λA} of themselves.
            wrapping = max((_NATS - at_high) / tilt, top - 0.5 * low)
            length = 1.02 * max(float(room[0].min()), float(room[1].min()), min(top - bottom, wrapping))
            if length < best.length:
                best = WindowPlan(tilt, at_high, length, top - length if length < top - bottom else -math.inf)
        return best

    def _surveyed(self, high: float) -> Coarse | None:
        if self._cap(high, _FARTHEST) > _LARGEST:
            return None
        plan = self._plan(high)
        if not (math.isfinite(plan.length) and 0.0 < plan.tilt < math.inf):
            return None
        cap = self._cap(high, _NATS - plan.log_delta)
        rows, span = len(self.steps.counts), cap - self.steps.least_loss()
        if not span > 0.0:  # to add with hardly any noise: a single step's loss exceeds ε nearly always
            return None
        finest = max(rows * span / MOST_CELLS, rows * plan.length / MOST_POINTS)
        unit = max(rows * span / _FEW_CELLS, finest)
        return Coarse(plan, cap, finest, self._with_unit(plan, cap, unit, high))

    def _refined(self, coarse: Coarse | None) -> Lattice | None:
        """A lattice as fine as is wanted, judged by the coarse one: the width is of second order in the unit."""
        if coarse is None:
            return None
        lattice, high = coarse.lattice, coarse.lattice.upper.reference
        middle, unit = lattice.log_delta(high / 2.0**0.25), lattice.upper.unit
        width = middle.upper - middle.lower
        aim = _WIDTH if self.different else _WIDTH_OF_ONE
        wanted = unit * math.sqrt(aim / width) if width < 1.0 else math.sqrt(unit * coarse.finest)
        wanted = max(wanted, coarse.finest)
        if wanted >= 0.7 * unit:
            return lattice
        return self._with_unit(coarse.plan, coarse.cap, wanted, high)

    def _with_unit(self, plan: WindowPlan, cap: float, unit: float, high: float) -> Lattice:
        unit = _few_bits(unit)
        # What rounding the least loss down takes away in every step is added to the cap.
        first, last = math.floor(self.steps.least_loss() / unit), math.ceil(cap / unit) + self.steps.total
        losses = np.asarray(unit * np.arange(first, last + 1), dtype=np.float64)
        cells = self.steps.cells(losses)
        window = Window(plan.tilt, plan.low, plan.length)
        upper, lower = (
            Total.of(make(cells, losses, first, unit), self.steps.counts, window, high)
            for make in (upper_rows, lower_rows)
        )
        sure = float(losses[-1]) + (self.steps.total - 1) * min(float(losses[0]), 0.0)
        return Lattice(upper, lower, self._exceeding(cells), sure - 1e-9 * (1.0 + abs(sure)))

    def _exceeding(self, cells: Cells) -> Exceeding:
        counts = np.asarray(self.steps.counts, dtype=np.float64)
        sides = []
        for law in cells:
            ends = (counts @ np.log1p(-each[:, -1]) for each in (law.lower, law.upper))
            logs = [math.log(max(-math.expm1(end), 1e-320)) for end in ends]
            slack = 8 * UNIT_ROUNDOFF * len(counts)
            sides.append(Interval(logs[0] - slack * (1.0 + abs(logs[0])), logs[1] + slack * (1.0 + abs(logs[1]))))
        return Exceeding(sides[0], sides[1], 1.001 * float(counts @ cells.second.upper[:, 0]))


def _few_bits(step: float) -> float:
    """The largest float with few significant bits that does not exceed it, so that its multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def _root(lattice: Lattice, low: float, high: float, log_delta: float, side: int) -> Guess:
    """About where an end of log δ is as asked: bisection and secants, on sums that are at hand."""
    first, last = lattice.log_delta(low)[side] - log_delta, lattice.log_delta(high)[side] - log_delta
    for _ in range(60):
        share = first / (first - last) if math.isfinite(first - last) and first > last else 0.5
        middle = low + (high - low) * min(max(share, 0.02), 0.98)
        value = lattice.log_delta(middle)[side] - log_delta
        if value > 0.0:
            low, first = middle, value
        else:
            high, last = middle, value
        if high - low <= 1e-14 * high or abs(value) < 1e-14:
            break
    return Guess(middle, 1.0)
