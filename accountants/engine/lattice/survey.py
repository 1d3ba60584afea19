"""Facts of a composition before a grid is chosen: outlines of its distributions, and estimates of δ and ε.

All of it decides the placement of cells and the choice of the tilt, and affects tightness only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.cells.atoms import locate_atoms
from epsilond.accountants.engine.lattice.discretise import least_log_atom, log_probability_of_any
from epsilond.accountants.engine.lattice.outline import Outline, join_outlines, outline
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.tilted import FlatDistributions
    from epsilond.accountants.numerics.special import FloatArray

DEPTHS = tuple([-5.0 * i for i in range(1, 10)] + [-50.0 * 1.2**i for i in range(90)])
"""Logarithms of δ for which a grid may be chosen. Finite losses that do not matter at this δ are left out."""
_LEFT_OUT = 3.0
"""Log of the ratio of the width of δ to the mass that a grid leaves out, which is 5 % of the width."""


@dataclass(frozen=True)
class LatticePart:
    """A pair of output distributions (P, Q) in a composition, in one direction, with its number of rounds.

    Attributes:
        profile: profile ε ↦ δ(ε) of (P, Q).
        reverse_profile: profile of the reverse pair (Q, P), which gives the tails of the negative losses.
        count: number of rounds.
    """

    profile: Profile
    reverse_profile: Profile
    count: int


@dataclass(frozen=True, eq=False)
class Survey:
    """Facts of a composition before a lattice is chosen: its loss distributions, and estimates of δ and ε.

    The distributions are coarse tables of tails (outlines). There is one for each value of log δ in `DEPTHS`: finite
    losses that are too rare to matter at this δ are left out. All numbers affect tightness only.

    Attributes:
        parts: the pairs of distributions in one direction, with their numbers of rounds.
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
        return [locate_atoms(outline(part.profile, part.reverse_profile), part.profile) for part in self.parts]

    @cached_property
    def supremum(self) -> float:
        """Least known ε from which on δ is zero, the sum of all rounds' largest losses; math.inf if one is unknown."""
        total = 0.0
        for part, part_outline in zip(self.parts, self.outlines, strict=True):
            largest = _largest_loss(part.profile, part_outline)
            if largest == math.inf:
                return math.inf
            total += part.count * largest
        return total * (1 + 4 * UNIT_ROUNDOFF * len(self.parts))  # rounded up

    @cached_property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability that the loss of at least one round is infinite."""
        return log_probability_of_any([part.profile.log_infinite_mass for part in self.parts], self.counts, direction=1)

    @cached_property
    def least_log_infinite_mass(self) -> float:
        """Lower bound on the log probability that the loss of at least one round is infinite."""
        return log_probability_of_any([least_log_atom(part.profile) for part in self.parts], self.counts, direction=-1)

    @cached_property
    def all_losses(self) -> FlatDistributions:
        """The distributions with every loss that can matter at any depth."""
        return self.losses_to(len(DEPTHS) - 1)

    def likely_log_delta(self, epsilon: float) -> float:
        """Estimate log δ(ε) by the saddle-point approximation, at least the log probability of an infinite loss.

        Args:
            epsilon: ε, in nats.

        Returns:
            The estimate of log δ(ε), at most 0.
        """
        direct = self.all_losses.prefers_direct(epsilon)
        estimate = self.all_losses.estimate_at(self.all_losses.saddle(epsilon, direct=direct), epsilon)
        # An estimate of log(1 − δ) is kept below 0, so that δ is positive.
        log_finite = estimate if direct else float(log1m_exp(min(estimate, -UNIT_ROUNDOFF)))
        return min(max(log_finite, self.log_infinite_mass), 0.0)

    @cached_property
    def bulk(self) -> tuple[float, float]:
        """Mean and variance of the total loss without rare rounds."""
        return self.all_losses.bulk()

    def outlines_to(self, depth: int) -> list[Outline]:
        """Return the coarse tables of the losses without the largest finite losses that are negligible at a depth.

        Losses are negligible if their probability is far below δ for every log δ of at least `DEPTHS[depth]`. Otherwise
        huge losses of probability e^−1000, say, could dominate the transform after weighting by e^{λL}.

        Args:
            depth: index in `DEPTHS`.

        Returns:
            One coarse table of tail probabilities for each distribution.
        """
        log_mass = DEPTHS[depth] + self.log_width - _LEFT_OUT - math.log(math.fsum(self.counts))
        return [item.without_largest(log_mass) for item in self.outlines]

    def losses_to(self, depth: int) -> FlatDistributions:
        """Return the loss distributions, without large losses of a probability far below a given δ.

        Such losses hardly change δ. The result consists of the coarse tables of `outlines_to`, joined to one set of
        arrays. It is stored for later calls.

        Args:
            depth: index in the list `DEPTHS` of values of log δ.

        Returns:
            All losses and log masses, as flat arrays of discrete distributions.
        """
        if depth not in self._joined_outlines:
            self._joined_outlines[depth] = join_outlines(self.outlines_to(depth), self.counts)
        return self._joined_outlines[depth]

    def find_depth(self, epsilon: float, *, direct: bool) -> int:
        """Find how rare losses may be and still matter for δ at an ε, as an index in `DEPTHS` (a depth).

        It is the first depth with `DEPTHS[depth]` at most the estimate of log δ(ε) from the losses to that depth. The
        estimate increases with the depth, because rarer large losses are included. The bisection starts between the
        depth for the estimate from all losses, which is the least possible, and the depth for the estimate from the
        losses to that one.

        Args:
            epsilon: ε, in nats.
            direct: whether δ is estimated; otherwise 1 − δ.

        Returns:
            The depth.
        """
        low = self.depth_of(self._estimate(self.all_losses, epsilon, direct))
        estimate_at_low = self._estimate(self.losses_to(low), epsilon, direct)
        high = max(self.depth_of(estimate_at_low), low)
        while low < high:
            middle = (low + high) // 2
            estimate = self._estimate(self.losses_to(middle), epsilon, direct)
            if estimate >= DEPTHS[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    def _estimate(self, laws: FlatDistributions, epsilon: float, direct: bool) -> float:
        """Estimate log δ(ε), or log(1 − δ(ε)) if `direct` is false, by the saddle-point approximation.

        Args:
            laws: distributions of the losses.
            epsilon: ε, in nats.
            direct: True to estimate log δ, False to estimate log(1 − δ).

        Returns:
            The estimate, or the log probability of an infinite loss if that is larger: δ is at least this probability.
        """
        best_tilt = laws.saddle(epsilon, direct=direct)
        return max(laws.estimate_at(best_tilt, epsilon), self.log_infinite_mass)

    def depth_of(self, log_delta: float) -> int:
        """Return the index of the first of `DEPTHS` that is at most a given log δ, or the last index."""
        return next((i for i, depth in enumerate(DEPTHS) if depth <= log_delta), len(DEPTHS) - 1)

    def steepness(self, epsilon: float) -> float:
        """Estimate the absolute slope of log δ in ε, or of log(1 − δ) if 1 − δ is likely to be smaller.

        It is |λ|, for the exponent λ of weights e^{λS} of the total loss S at the saddle point for this ε.

        Args:
            epsilon: ε, in nats.

        Returns:
            The estimate per nat of ε, at least 0.
        """
        direct = self.all_losses.prefers_direct(epsilon)
        depth = self.find_depth(epsilon, direct=direct)
        return abs(self.losses_to(depth).saddle(epsilon, direct=direct).tilt)

    def estimate_epsilon(self, log_delta: float) -> tuple[float, float]:
        """Estimate the ε with a given log δ, and |d log δ/dε| there, by the saddle-point approximation.

        It finds the exponent λ of weights e^{λL} of losses L for which the approximation of log δ is the given one. The
        slope of log δ in ε is about −λ.

        Args:
            log_delta: the given log δ, natural logarithm.

        Returns:
            The estimates of ε ≥ 0 in nats, and of |d log δ/dε| per nat.
        """
        laws = self.losses_to(self.depth_of(log_delta))
        coordinate = laws.coordinate_of(log_delta)  # of λ
        best_epsilon = laws.centre(coordinate)  # the ε with its saddle point at λ
        return max(best_epsilon, 0.0), coordinate.tilt


def _largest_loss(profile: Profile, profile_outline: Outline) -> float:
    """Return an ε from which on δ is zero, or math.inf if none is known.

    The profile may state it. Otherwise it is the upper end of the last interval with mass, if δ is zero there.

    Args:
        profile: the profile ε ↦ δ(ε).
        profile_outline: a coarse table of its tails.

    Returns:
        An ε in nats from which on δ is zero; math.inf if none is known.
    """
    if profile.supremum < math.inf:
        return profile.supremum
    extent = profile_outline.extent * (1 + 4 * UNIT_ROUNDOFF)  # rounded up
    is_zero = bool(np.isneginf(profile.log_delta(np.asarray([extent])).upper[0]))
    return extent if is_zero else math.inf
