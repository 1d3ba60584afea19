"""What is known of a composition before any grid is laid: outlines of its laws, and where an ε lies among them.

Nothing here is certified; it decides where cells are spent and which tilt is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.discretise import joined_atoms, least_log_atom
from epsilond.accountants.engine.lattice.outline import Outline, outline, weighted, with_atoms
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.tilted import Weighted
    from epsilond.accountants.numerics.special import FloatArray

DEPTHS = (*(-5.0 * i for i in range(1, 10)), *(-50.0 * 1.2**i for i in range(90)))
"""Logarithms of δ that a grid may be laid for. Finite losses that do not matter there are left out of it."""
_LEFT_OUT = 3.0
"""How far below the width of δ the mass [log] lies that is left out of a grid: 5 % of the width."""


@dataclass(frozen=True)
class LatticePart:
    """One law of a composition, in one order: its profile, that of the other order, and its count."""

    first: Profile
    second: Profile
    count: int


@dataclass(frozen=True, eq=False)
class Survey:
    """Outlines of the laws of a composition, at every depth."""

    parts: tuple[LatticePart, ...]
    log_width: float
    """log of the relative width wanted of δ."""
    _known: dict[int, Weighted] = field(default_factory=dict, repr=False)

    @cached_property
    def counts(self) -> FloatArray:
        """How often each law is run."""
        return np.asarray([part.count for part in self.parts], dtype=np.float64)

    @cached_property
    def outlines(self) -> list[Outline]:
        """One outline for each law, with its atoms."""
        return [with_atoms(outline(part.first, part.second), part.first) for part in self.parts]

    @cached_property
    def supremum(self) -> float:
        """An ε from which on δ is zero, by the profiles' own word; math.inf if none is known."""
        total = 0.0
        for part, seen in zip(self.parts, self.outlines, strict=True):
            end = part.first.supremum
            if end == math.inf:
                end = seen.extent * (1 + 4 * UNIT_ROUNDOFF)
                if not np.isneginf(part.first.log_delta(np.asarray([end])).upper[0]):
                    return math.inf
            total += part.count * end
        return total * (1 + 4 * UNIT_ROUNDOFF * len(self.parts))

    @cached_property
    def log_infinite_mass(self) -> float:
        """Upper bound of log(1 − Π (1 − a_j)^{T_j}), a_j the laws' infinite masses."""
        return joined_atoms([part.first.log_infinite_mass for part in self.parts], self.counts, direction=1)

    @cached_property
    def least_log_infinite_mass(self) -> float:
        """Lower bound of the same."""
        return joined_atoms([least_log_atom(part.first) for part in self.parts], self.counts, direction=-1)

    @cached_property
    def whole(self) -> Weighted:
        """The laws with every loss that can matter anywhere."""
        return self.shallow(len(DEPTHS) - 1)

    def likely_log_delta(self, epsilon: float) -> float:
        """About log δ, by the saddle-point estimate: an estimate."""
        direct = self.whole.prefers_direct(epsilon)
        found = self.whole.estimate_at(self.whole.saddle(epsilon, direct=direct), epsilon)
        finite = found if direct else float(log1m_exp(min(found, -UNIT_ROUNDOFF)))
        return min(max(finite, self.log_infinite_mass), 0.0)

    @cached_property
    def bulk(self) -> tuple[float, float]:
        """Mean and variance of the total loss without rare rounds."""
        return self.whole.bulk()

    def outlines_to(self, depth: int) -> list[Outline]:
        """Outlines without finite losses that are negligible where log δ is at least `DEPTHS[depth]`.

        Rare giant losses may rule the transform at a tilt, by events of probability e^−1000 that matter to no δ.
        """
        log_mass = DEPTHS[depth] + self.log_width - _LEFT_OUT - math.log(math.fsum(self.counts))
        return [item.shallow(log_mass) for item in self.outlines]

    def shallow(self, depth: int) -> Weighted:
        """The outlines to a depth, as tiltable laws."""
        if depth not in self._known:
            self._known[depth] = weighted(self.outlines_to(depth), self.counts)
        return self._known[depth]

    def depth(self, epsilon: float, *, direct: bool) -> int:
        """The shallowest depth that the estimate of δ(ε) on the outlines to that depth does not fall below.

        Outlines to a larger depth have more losses, and a larger estimate: the depth lies between that of the estimate
        on all losses and that of the estimate on the outlines to there.
        """
        low = self.depth_of(self._estimate(self.whole, epsilon, direct))
        high = max(self.depth_of(self._estimate(self.shallow(low), epsilon, direct)), low)
        while low < high:
            middle = (low + high) // 2
            if self._estimate(self.shallow(middle), epsilon, direct) >= DEPTHS[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    def _estimate(self, laws: Weighted, epsilon: float, direct: bool) -> float:
        """About log δ, or log(1 − δ) if not direct, by the saddle-point estimate."""
        return max(laws.estimate_at(laws.saddle(epsilon, direct=direct), epsilon), self.log_infinite_mass)

    def depth_of(self, log_delta: float) -> int:
        """The shallowest depth for a known δ."""
        return next((i for i, depth in enumerate(DEPTHS) if depth <= log_delta), len(DEPTHS) - 1)

    def steepness(self, epsilon: float) -> float:
        """About |d log δ/dε|, or of 1 − δ where that is small."""
        direct = self.whole.prefers_direct(epsilon)
        return abs(self.shallow(self.depth(epsilon, direct=direct)).saddle(epsilon, direct=direct).tilt)

    def guess(self, log_delta: float) -> tuple[float, float]:
        """About where log δ is as asked, and about |d log δ/dε| there, by the saddle-point estimate along the tilts."""
        laws = self.shallow(self.depth_of(log_delta))
        place = laws.place_of(log_delta)
        return max(laws.centre(place), 0.0), place.tilt
