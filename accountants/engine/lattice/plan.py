"""How a composed lattice law is transformed, and whether that fits the budget.

Every frequency is accounted for: laws whose losses live on a sublattice, where |φ| returns to one, need no special
care. If N points are few, one FFT gives φ at all of them. If they are many, a shorter FFT with a second-order Taylor
bound proves |φ|^T negligible on whole blocks of frequencies, and φ is summed directly on what remains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import next_fast_len, rfft

from epsilond.accountants.engine.lattice.budget import TransformLimits
from epsilond.accountants.engine.lattice.discretise import BoolArray
from epsilond.accountants.engine.lattice.spectrum import Chernoff, Spectrum, likely_period
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate
from epsilond.accountants.engine.lattice.tilted_line import (
    TiltedLaw,
    TiltedLine,
    all_frequencies,
    few_frequencies,
    finished,
    wrapped,
)

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.laws import LatticeLaws
    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray


_MOST_KEPT = 1e6
"""Frequencies that are looked at one by one, at least: a few arrays of 8 MB."""
_MOST_SUMMED = 2**18
"""Frequencies that are summed directly: as many as the largest FFT leaves, so that what is remembered stays small."""
_TERMS_EACH = 100
"""What it costs to raise one law's φ at one frequency to its count, in terms of a sum."""
_FFT_EACH = 16
"""What one point of an FFT costs, in terms of a sum."""
_CHEAP = 2**13
"""Points of an FFT that costs less than the arrays around it do: a period may then be three times as long."""
_ROOM = 1.5
"""How many times the points that a period needs one FFT has, where it has more: for an ε that the tilt suits badly."""


class Short(NamedTuple):
    """A transform that does not fit: by what factor the unit should grow."""

    factor: float


@dataclass(frozen=True)
class TransformPlan:
    """What a transform at one tilt needs, before it is made."""

    laws: LatticeLaws
    place: TiltCoordinate
    chernoff: Chernoff
    log_width: float
    points: int
    """Lattice points in a period whose alias is negligible."""

    @classmethod
    def of(cls, laws: LatticeLaws, place: TiltCoordinate, log_width: float) -> TransformPlan:
        """The plan for an alias of about 2 % of the width, also for questions a deviation away from the tilt's own.

        `log_width` is of the width wanted, relative to the saddle-point estimate of δ.
        """
        chernoff = Chernoff.around(laws.flat, place)
        period = likely_period(laws.flat, place, log_width, chernoff)
        points = max(math.ceil(min(period / laws.unit, 1e17)), 16)
        # Where points are cheap a wider period costs nothing.
        return cls(laws, place, chernoff, log_width, max(points, min(3 * points, _CHEAP)))

    def made(self, limits: TransformLimits) -> Spectrum | Short:
        """The spectrum, or by how much it exceeds the limits."""
        line = TiltedLine.of(self.laws, self.place)
        factor = self.points / limits.points
        if self.points > limits.points // 8:
            few = self._sparse(line, limits)
            if not isinstance(few, Short):
                return few
            factor = min(factor, few.factor)
        return Short(factor) if self.points > limits.points else self._whole(line, self.points)

    def _whole(self, line: TiltedLine, points: int) -> Spectrum:
        """The spectrum at all frequencies of so many points, or a few more."""
        size = next_fast_len(points, real=True)
        return finished(line, size, all_frequencies(line, size), self.chernoff)

    def _blocks(self, about: int) -> tuple[int, int]:
        """The length of an FFT, about as asked, and the odd number of frequencies that each of its own stands for."""
        blocks = next_fast_len(about, real=True)
        ratio = self.points // blocks + 1
        return blocks, ratio + 1 - ratio % 2

    def _depth(self, size: int) -> float:
        """Minus the log |φ^T| of a negligible frequency, of so many."""
        return math.log(size) - self.log_width + 5.0

    @property
    def _work(self) -> int:
        """Terms of the direct sum at one frequency."""
        return sum(law.index.size + _TERMS_EACH for law in self.laws.laws)

    @property
    def _widest(self) -> int:
        """The largest index of any law."""
        return max(int(np.abs(law.index).max()) for law in self.laws.laws)

    def _sparse(self, line: TiltedLine, limits: TransformLimits) -> Spectrum | Short:
        """The spectrum by direct sums on the frequencies that a shorter FFT does not prove negligible."""
        blocks, ratio = self._blocks(limits.points // 8)
        if ratio > limits.terms:
            return Short(ratio / limits.terms)
        size = blocks * ratio
        laws, work, depth = self.laws.laws, self._work, self._depth(size)
        kept, skipped = survivors(line, blocks, ratio, depth, max(_MOST_KEPT, limits.terms / work))
        if kept is None:
            return Short((skipped * work / limits.terms) ** 2)
        widest = self._widest
        if size <= limits.points and _FFT_EACH * size * len(laws) < kept.size * work:
            if size > _ROOM * self.points:
                return self._whole(line, math.ceil(_ROOM * self.points))
            return finished(line, size, all_frequencies(line, size, kept, skipped), self.chernoff)
        if int(kept.max()) * widest > 2**52:
            return Short(math.sqrt(int(kept.max()) * widest / 2**52))
        excess = max(kept.size * work / limits.terms, kept.size / _MOST_SUMMED)
        if excess > 1.0:
            return Short(excess**2)
        return finished(line, size, few_frequencies(line, size, kept, skipped), self.chernoff)


# Which frequencies of a composed lattice law matter: the others are proved negligible block by block ----------------
_LEFT_OUT = 3.0
"""Expected number of rounds outside the window on which φ is bounded."""
_MOST_LEFT_OUT = 0.25
"""Most mass of a law outside a window: with more, |φ| ≤ |φ_B| + w proves little."""


def survivors(line: TiltedLine, blocks: int, ratio: int, depth: float, most: float) -> tuple[IntArray | None, float]:
    """Frequencies whose |φ^T| is not proved below e^−depth, and a bound of Σ |φ^T| over the others.

    None if there are more than `most`. With φ_B the part of φ on a window that holds all but w of the mass,
    |φ| ≤ |φ_B| + w. Within half a block of the FFT's frequency τ, |φ_B(τ + s)|² ≤ |φ_B|² + |s (|φ_B|²)′| + s² Var, as
    the second derivative of |φ_B|² is at most 2 Var, all of the window's mass.
    """
    unit, size = line.laws.unit, blocks * ratio
    reach = np.pi / (blocks * unit)
    log_bound = np.zeros(blocks // 2 + 1)
    laws = list(line.parts())
    orders = [np.argsort(-np.abs(law.index), kind="stable") for law in laws]
    for law, order in zip(laws, orders, strict=True):
        count, index = law.count, law.index
        inside, outside = _window(law.weights, order, _left_out(law, len(laws)))
        distance, inner = index[inside] * unit, law.weights[inside]
        plain = rfft(wrapped(index[inside], inner, blocks))
        slope = rfft(wrapped(index[inside], inner * distance, blocks))
        second = float(inner @ distance**2)
        square = np.abs(plain) ** 2 + 2.0 * reach * np.abs((np.conj(plain) * slope).imag) + reach * reach * second
        square += 1e-12 * (1.0 + reach * math.sqrt(second))
        log_bound += count * np.log(np.minimum(np.sqrt(square) + outside, 1.0))
    # The weights sum to one within 1e-12.
    cut = depth + 1e-12 * float(sum(line.laws.counts))
    open_blocks, closed = np.flatnonzero(log_bound > -cut), log_bound <= -cut
    if open_blocks.size * ratio > most:
        return None, float(open_blocks.size * ratio)
    half = ratio // 2
    kept = (open_blocks[:, None] * ratio + np.arange(-half, half + 1)).ravel()
    kept = kept[(kept >= 0) & (2 * kept <= size)].astype(np.int64)
    skipped = ratio * float(np.exp(log_bound[closed]).sum())
    return kept, skipped


def _left_out(law: TiltedLaw, laws: int) -> float:
    """The mass outside a window that is left out of few enough rounds."""
    return min(_LEFT_OUT / (law.count * laws), _MOST_LEFT_OUT)


def _window(weights: FloatArray, order: IntArray, left_out: float) -> tuple[BoolArray, float]:
    """The smallest interval around the centre that leaves out at most that mass, and what it leaves out, rounded up.

    `order`: of the outcomes, the furthest first.
    """
    beyond = np.cumsum(weights[order])
    count = int(np.searchsorted(beyond, left_out, side="right"))
    inside = np.ones(weights.size, dtype=np.bool_)
    inside[order[:count]] = False
    return inside, float(beyond[count - 1]) * (1.0 + 1e-9) if count else 0.0
