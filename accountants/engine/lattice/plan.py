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

from epsilond.accountants.engine.lattice.chernoff import Chernoff
from epsilond.accountants.engine.lattice.spectra.direct_sums import few_frequencies, stride_of
from epsilond.accountants.engine.lattice.spectra.spectrum import Spectrum
from epsilond.accountants.engine.lattice.spectra.survivors import survivors, wrapped
from epsilond.accountants.engine.lattice.spectra.tilted_line import (
    Factor,
    Power,
    TiltedLine,
    accumulated,
    finished,
)
from epsilond.accountants.engine.lattice.tilted import Place
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.engine.lattice.cells.laws import LatticeLaws

_MOST_KEPT = 1e6
_MOST_SUMMED = 2**18
"""Frequencies that are summed directly: as many as the largest FFT leaves, so that what is remembered stays small."""
_TERMS_EACH = 100
"""What it costs to raise one law's φ at one frequency to its count, in terms of a sum."""
_CHEAP = 2**13


@dataclass(frozen=True)
class Limits:
    """Sizes fixed before the start: points of one FFT, and terms of all direct sums."""

    points: int
    terms: int


class Short(NamedTuple):
    """A transform that does not fit: by what factor the unit should grow."""

    factor: float


@dataclass(frozen=True)
class Plan:
    """What a transform at one tilt needs, before it is made."""

    laws: LatticeLaws
    place: Place
    chernoff: Chernoff
    log_width: float
    points: int
    """Lattice points in a period whose alias is negligible."""

    @classmethod
    def of(cls, laws: LatticeLaws, place: Place, log_width: float) -> Plan:
        """Plan for an alias of about 2 % of the width, also for questions a deviation away from the tilt's own.

        `log_width` is of the width wanted, relative to the saddle-point estimate of δ.
        """
        chernoff = Chernoff.around(laws.flat, place)
        period = chernoff.period(laws.flat.centre(place), laws.flat.estimate(place) + log_width - 4.0)
        period += math.sqrt(laws.flat.cumulants(place.tilt).variance)
        points = max(math.ceil(min(period / laws.unit, 1e17)), 16)
        # Where points are cheap a wider period costs nothing.
        return cls(laws, place, chernoff, log_width, max(points, min(3 * points, _CHEAP)))

    def made(self, limits: Limits) -> Spectrum | Short:
        """The spectrum, or by how much it exceeds the limits."""
        line = TiltedLine.of(self.laws, self.place)
        factor = self.points / limits.points
        if self.points > limits.points // 8:
            few = self._sparse(line, limits)
            if not isinstance(few, Short):
                return few
            factor = min(factor, few.factor)
        if self.points > limits.points:
            return Short(factor)
        size = next_fast_len(self.points, real=True)
        return finished(line, size, all_frequencies(line, size), self.chernoff)

    def _sparse(self, line: TiltedLine, limits: Limits) -> Spectrum | Short:
        """The spectrum by direct sums on the frequencies that a shorter FFT does not prove negligible."""
        blocks = next_fast_len(limits.points // 8, real=True)
        ratio = self.points // blocks + 1
        ratio += 1 - ratio % 2
        if ratio > limits.terms:
            return Short(ratio / limits.terms)
        size = blocks * ratio
        # The tables of rotations are what grows, as the root of the number of points.
        laws = self.laws.laws
        work = sum(law.index.size for law in laws) + 8 * stride_of([law.index for law in laws])
        work += _TERMS_EACH * len(laws)
        depth = math.log(size) - self.log_width + 5.0
        kept, skipped = survivors(line, blocks, ratio, depth, max(_MOST_KEPT, limits.terms / work))
        if kept is None:
            return Short((skipped * work / limits.terms) ** 2)
        widest = max(int(np.abs(law.index).max()) for law in self.laws.laws)
        if int(kept.max()) * widest > 2**52:
            return Short(math.sqrt(int(kept.max()) * widest / 2**52))
        excess = max(kept.size * work / limits.terms, kept.size / _MOST_SUMMED)
        if excess > 1.0:
            return Short(excess**2)
        return finished(line, size, few_frequencies(line, size, kept, skipped), self.chernoff)


def all_frequencies(line: TiltedLine, size: int) -> Power:
    """φ at every frequency by one FFT of each wrapped law. Wrapping is exact at these frequencies."""

    def factors() -> Iterator[Factor]:
        for law in line.parts():
            # What sits at the centre adds to φ as it is; only the rest suffers from the FFT.
            still = law.index == 0
            moving = np.where(still, 0.0, law.weights)
            # 5u log₂N for the butterflies (B3), doubled for those of radix 3 and 5; the weights' own errors; wrapping.
            deepest = float(np.bincount(law.index % size).max())
            error = UNIT_ROUNDOFF * (10.0 * math.log2(size) + 16.0 + deepest) * float(moving.sum())
            error += float(law.weights @ law.errors) + 4 * UNIT_ROUNDOFF
            yield Factor(float(law.weights[still].sum()) + rfft(wrapped(law.index, moving, size)), error)

    return accumulated(line, np.arange(size // 2 + 1, dtype=np.int64), factors(), 0.0)
