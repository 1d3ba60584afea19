"""Facts of a composition before a grid is chosen: outlines of its distributions, and estimates of δ and ε.

All of it is estimated; it decides the placement of cells and the choice of the tilt, and affects tightness only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.discretise import least_log_atom, log_probability_of_any
from epsilond.accountants.engine.lattice.outline import Outline, join_outlines, locate_atoms, outline
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.tilted import FlatDistributions
    from epsilond.accountants.numerics.special import FloatArray

DEPTHS = tuple([-5.0 * i for i in range(1, 10)] + [-50.0 * 1.2**i for i in range(90)])
"""Logarithms of δ that a grid may be chosen for. Finite losses that do not matter at this δ are left out of it."""
_LEFT_OUT = 3.0
"""Log ratio of the width of δ to the mass that a grid leaves out: 3 means 5 % of the width."""


@dataclass(frozen=True)
class LatticePart:
    """One pair (P, Q) of a composition, in one direction.

    Attributes:
        first: profile of (P, Q).
        second: profile of (Q, P).
        count: number of rounds.
    """

    first: Profile
    second: Profile
    count: int


@dataclass(frozen=True, eq=False)
class Survey:
    """Outlines (coarse tables) of the distributions of a composition, at every depth of `DEPTHS`.

    Attributes:
        parts: the distributions.
        log_width: logarithm of the required relative width of δ.
    """

    parts: tuple[LatticePart, ...]
    log_width: float
    _joined_outlines: dict[int, FlatDistributions] = field(default_factory=dict, repr=False)

    @cached_property
    def counts(self) -> FloatArray:
        """Number of rounds of each distribution."""
        return np.asarray([part.count for part in self.parts], dtype=np.float64)

    @cached_property
    def outlines(self) -> list[Outline]:
        """Outline of each distribution, with its atoms."""
        return [locate_atoms(outline(part.first, part.second), part.first) for part in self.parts]

    @cached_property
    def supremum(self) -> float:
        """Least known ε from which on δ is zero: the sum of all rounds' largest losses; math.inf if none is known."""
        total = 0.0
        for part, part_outline in zip(self.parts, self.outlines, strict=True):
            largest = _largest_loss(part.first, part_outline)
            if largest == math.inf:
                return math.inf
            total += part.count * largest
        return total * (1 + 4 * UNIT_ROUNDOFF * len(self.parts))

    @cached_property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability that the loss of any round is infinite."""
        return log_probability_of_any([part.first.log_infinite_mass for part in self.parts], self.counts, direction=1)

    @cached_property
    def least_log_infinite_mass(self) -> float:
        """Lower bound on the log probability that the loss of any round is infinite."""
        return log_probability_of_any([least_log_atom(part.first) for part in self.parts], self.counts, direction=-1)

    @cached_property
    def all_losses(self) -> FlatDistributions:
        """The distributions with every loss that can matter at any depth."""
        return self.losses_to(len(DEPTHS) - 1)

    def likely_log_delta(self, epsilon: float) -> float:
        """Estimate log δ(ε) by the saddle-point approximation."""
        direct = self.all_losses.prefers_direct(epsilon)
        estimate = self.all_losses.estimate_at(self.all_losses.saddle(epsilon, direct=direct), epsilon)
        log_finite = estimate if direct else float(log1m_exp(min(estimate, -UNIT_ROUNDOFF)))
        return min(max(log_finite, self.log_infinite_mass), 0.0)

    @cached_property
    def bulk(self) -> tuple[float, float]:
        """Mean and variance of the total loss without rare rounds."""
        return self.all_losses.bulk()

    def outlines_to(self, depth: int) -> list[Outline]:
        """Return the outlines without the largest finite losses, as far as these are negligible at a depth.

        Losses are negligible if their probability is far below δ for every log δ of at least `DEPTHS[depth]`. Rare
        giant losses, of probability e^−1000, could otherwise dominate the transform at a tilt.
        """
        log_mass = DEPTHS[depth] + self.log_width - _LEFT_OUT - math.log(math.fsum(self.counts))
        return [item.without_largest(log_mass) for item in self.outlines]

    def losses_to(self, depth: int) -> FlatDistributions:
        """Return the outlines to a depth, as distributions that can be tilted."""
        if depth not in self._joined_outlines:
            self._joined_outlines[depth] = join_outlines(self.outlines_to(depth), self.counts)
        return self._joined_outlines[depth]

    def find_depth(self, epsilon: float, *, direct: bool) -> int:
        """Find the first depth with `DEPTHS[depth]` at most the estimate of log δ(ε) from the outlines to that depth.

        An outline is a table of one distribution; at a larger depth it has rarer large losses (`outlines_to`), and so a
        larger estimate. Bisection starts between the depth for the estimate from all losses, which is the least
        possible, and the depth for the estimate from the outlines to that one.

        Args:
            epsilon: ε, in nats.
            direct: whether δ is estimated; otherwise 1 − δ.

        Returns:
            The depth, an index in `DEPTHS`, the decreasing list of values of log δ.
        """
        low = self.depth_of(self._estimate(self.all_losses, epsilon, direct))
        high = max(self.depth_of(self._estimate(self.losses_to(low), epsilon, direct)), low)
        while low < high:
            middle = (low + high) // 2
            if self._estimate(self.losses_to(middle), epsilon, direct) >= DEPTHS[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    def _estimate(self, laws: FlatDistributions, epsilon: float, direct: bool) -> float:
        """Estimate log δ(ε), or log(1 − δ(ε)) if `direct` is false, by the saddle-point approximation."""
        return max(laws.estimate_at(laws.saddle(epsilon, direct=direct), epsilon), self.log_infinite_mass)

    def depth_of(self, log_delta: float) -> int:
        """Return the index of the first of `DEPTHS` that is at most a given log δ, or the last index."""
        return next((i for i, depth in enumerate(DEPTHS) if depth <= log_delta), len(DEPTHS) - 1)

    def steepness(self, epsilon: float) -> float:
        """Estimate |d log δ/dε|, or |d log(1 − δ)/dε| if 1 − δ is the smaller one."""
        direct = self.all_losses.prefers_direct(epsilon)
        return abs(self.losses_to(self.find_depth(epsilon, direct=direct)).saddle(epsilon, direct=direct).tilt)

    def guess(self, log_delta: float) -> tuple[float, float]:
        """Estimate the ε with the given log δ, and |d log δ/dε| there, by the saddle-point approximation."""
        laws = self.losses_to(self.depth_of(log_delta))
        coordinate = laws.coordinate_of(log_delta)
        return max(laws.centre(coordinate), 0.0), coordinate.tilt


def _largest_loss(profile: Profile, profile_outline: Outline) -> float:
    """Return an ε from which on δ is zero, as the profile states or as its tails suggest; math.inf if none is known.

    Args:
        profile: the profile.
        profile_outline: a coarse table of its tails.
    """
    if profile.supremum < math.inf:
        return profile.supremum
    extent = profile_outline.extent * (1 + 4 * UNIT_ROUNDOFF)
    is_zero = bool(np.isneginf(profile.log_delta(np.asarray([extent])).upper[0]))
    return extent if is_zero else math.inf
