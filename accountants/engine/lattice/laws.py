"""Lattice distributions of the losses of several mechanisms, with the number of rounds of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.demand import Demand
from epsilond.accountants.engine.lattice.cells.side_tails import SideTails, lower_side, read_side
from epsilond.accountants.engine.lattice.discretise import least_log_atom, log_probability_of_any, upper_distribution
from epsilond.accountants.engine.lattice.grid import choose_grid
from epsilond.accountants.engine.lattice.tangents import best_lower_distribution
from epsilond.accountants.engine.lattice.tilted import FlatDistributions, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.budget import Budget
    from epsilond.accountants.engine.lattice.discretise import LatticeDistribution
    from epsilond.accountants.engine.lattice.survey import Survey


@dataclass(frozen=True)
class LatticeComposition:
    """Composition of loss distributions on a lattice, that is, on the multiples of one unit.

    Attributes:
        unit: lattice unit, in nats.
        laws: distributions of the loss of one round.
        counts: number of rounds of each distribution.
        flat: losses and masses of all distributions in flat arrays.
    """

    unit: float
    laws: tuple[LatticeDistribution, ...]
    counts: tuple[int, ...]
    flat: FlatDistributions

    @classmethod
    def of(cls, laws: Sequence[LatticeDistribution], counts: Sequence[int], unit: float) -> LatticeComposition:
        """Combine loss distributions on one lattice to a composition, and concatenate their losses and masses.

        Args:
            laws: the distributions. Their losses are integer multiples of the unit.
            counts: number of rounds of each, in the same order.
            unit: the lattice unit, in nats.
        """
        index = np.concatenate([law.index for law in laws])
        sizes = np.asarray([law.index.size for law in laws])
        flat = FlatDistributions(
            index * unit,
            np.concatenate([law.log_mass for law in laws]),
            np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64),
            np.asarray(counts, dtype=np.float64),
        )
        return cls(unit, tuple(laws), tuple(counts), flat)

    @cached_property
    def top(self) -> int:
        """Largest finite total loss, in units."""
        return sum(count * int(law.index[-1]) for law, count in zip(self.laws, self.counts, strict=True))

    @cached_property
    def loss_error(self) -> float:
        """Bound on the error of the total loss by rounding, in nats.

        A lattice point and an offset each have a relative error of at most two units of roundoff.
        """
        # Indices of 2^52 and more stand for no finite loss.
        largest_index = 0.0
        for law in self.laws:
            sizes = np.abs(law.index)
            largest_index = max(largest_index, float(sizes[sizes < 2**52].max(initial=0)))
        offsets = math.fsum(count * abs(law.offset) for law, count in zip(self.laws, self.counts, strict=True))
        rounds = float(sum(self.counts))
        return 4 * UNIT_ROUNDOFF * (largest_index * self.unit * rounds + offsets)

    @cached_property
    def offset(self) -> float:
        """Sum of the offsets of all rounds, in nats: every total loss exceeds its lattice point by this much."""
        return math.fsum(count * law.offset for law, count in zip(self.laws, self.counts, strict=True))

    @cached_property
    def excess(self) -> float:
        """Upper bound on the total mass of the composition, minus 1."""
        total = math.fsum(count * law.excess for law, count in zip(self.laws, self.counts, strict=True))
        return math.expm1(min(total * (1 + 4 * UNIT_ROUNDOFF), 700.0))  # e^700 does not overflow

    def log_infinite_mass(self, *, direction: int) -> float:
        """Bound the log probability that the loss of any round is infinite.

        With the mass a_j of the infinite loss of distribution j and its number T_j of rounds, the probability is
        1 − Π (1 − a_j)^{T_j}.

        Args:
            direction: 1 for an upper bound, −1 for a lower bound.

        Returns:
            The bound, at most 0; −∞ if no loss is infinite.
        """
        return log_probability_of_any([law.log_atom for law in self.laws], self.flat.counts, direction=direction)


# Lattice distributions of a composition for one band of tilts, from above and from below -----------------------------
BAND = {True: 0.25 * math.log(2.0), False: 1.0}
"""Width of a band of tilts, in the `TiltCoordinate`."""
_CELL_SHARE = 0.6
"""Share of the permitted relative width of δ for the cells.

The rest is for the aliasing of the discrete transform and for a tilt that is not the best one.
"""


class GridKey(NamedTuple):
    """Choices that determine a lattice of losses, given the composition and the budget.

    A lattice is a set of equidistant losses. A tilt λ is the exponent of the weight e^{λL} of a loss L.

    Attributes:
        direct: True if δ is computed, with tilts λ > 0; False if 1 − δ is computed, with −1 < λ < 0.
        depth: index in `DEPTHS` of a log δ. Finite losses that are too rare to matter at this δ are left out.
        within: whether ε is near the mean of the total loss without its rare large losses.
        band: index of the interval of tilts that the lattice is made for. All have the width `BAND` in the
            `TiltCoordinate`.
        coarsening: number of times that the lattice unit is doubled to fit the budget.
    """

    direct: bool
    depth: int
    within: bool
    band: int
    coarsening: int = 0


class GridAndTilt(NamedTuple):
    """A lattice for the losses of a composition, and the tilt of the Fourier transform on this lattice.

    Attributes:
        key: choices from which the lattice is computed, such as the interval of tilts for which it is accurate.
        coordinate: the tilt λ, that is, the exponent of the weight e^{λL} of a loss L.
    """

    key: GridKey
    coordinate: TiltCoordinate


class TiltedEvaluation(NamedTuple):
    """Upper bound on log δ of a composition at one ε, with the lattice and the tilt that gave it.

    Attributes:
        tilt: the lattice and the tilt; None if the bound was computed without a transform.
        upper: the bound.
    """

    tilt: GridAndTilt | None
    upper: float


class _CellTails(NamedTuple):
    """Tails of one loss distribution at the bounds of its cells, from which a dominated lattice distribution is made.

    Attributes:
        forward: privacy profile of P against Q. Its loss is composed.
        backward: privacy profile of Q against P.
        right: tails of the positive losses.
        left: tails of the negative losses.
        sufficient_moment: value of log E[e^{λL}], times the sign of λ, that ends the search for a better dominated
            distribution of the loss L. λ is the tilt, the exponent of the weights e^{λL}.
    """

    forward: Profile
    backward: Profile
    right: SideTails
    left: SideTails
    sufficient_moment: float

    def dominated_distribution(self, unit: float, tilt: float) -> LatticeDistribution:
        """Return a lattice distribution for lower bounds: its δ is at most that of the loss, also after composition.

        If the profiles have separate tails for lower bounds, which the mechanism attains, these are used.

        Args:
            unit: lattice unit, in nats.
            tilt: exponent λ of the moment E[e^{λL}], which should be close to that of the loss.
        """
        right = lower_side(self.forward, self.right, mirrored=False)
        left = lower_side(self.backward, self.left, mirrored=True)
        log_atom = least_log_atom(self.forward)
        return best_lower_distribution(right, left, log_atom, unit=unit, tilt=tilt, enough=self.sufficient_moment)


@dataclass(frozen=True)
class CompositionBounds:
    """Lattice distributions of a composition for upper and for lower bounds on δ.

    Attributes:
        upper: distributions that dominate those of the losses: their δ is at least as large at every ε.
        cell_tails: tails of the losses, from which `lower` is computed.
        tilt: exponent λ of the weights e^{λL} for which `lower` is chosen.
    """

    upper: LatticeComposition
    cell_tails: tuple[_CellTails, ...]
    tilt: float

    @cached_property
    def lower(self) -> LatticeComposition:
        """Lattice distributions that those of the losses dominate; computed at the first use."""
        unit = self.upper.unit
        laws = [part.dominated_distribution(unit, self.tilt) for part in self.cell_tails]
        return LatticeComposition.of(laws, self.upper.counts, 2.0 * unit)


def bound_composition(survey: Survey, key: GridKey, budget: Budget) -> CompositionBounds:
    """Choose a lattice, evaluate every profile on it once, and compute the lattice distributions for upper bounds.

    The lattice is accurate for tilts λ, the exponents of weights e^{λL} of a loss L, in one interval. The tails are
    stored, so that the distributions for lower bounds can be computed when they are needed.

    Args:
        survey: the composition, with coarse tables of the tails of its loss distributions.
        key: choices that determine the lattice, such as the interval of tilts for which it is accurate.
        budget: limits on the number of cells, and the required relative width of δ.

    Returns:
        The composition for upper bounds, the tails for lower bounds, and the middle tilt of the interval.
    """
    # The lattice unit, and the cells (intervals of losses) of every distribution.
    demand = _demand(survey, key, budget)
    grid = choose_grid(survey.outlines_to(key.depth), survey.counts, demand)
    middle_tilt = demand.coordinates[1].tilt
    sign = math.copysign(1.0, middle_tilt)

    upper_laws, cell_tails = [], []
    for part, cells in zip(survey.parts, grid.cells, strict=True):
        right = read_side(part.profile, cells.right, grid.unit, mirrored=False)
        left = read_side(part.reverse_profile, cells.left, grid.unit, mirrored=True)
        upper_law = upper_distribution(right, left, _upper_log_atom(part.profile, right))
        upper_laws.append(upper_law)
        # The distribution for lower bounds is accepted if sign · log E[e^{λL}] is at least `enough`. Over all its
        # rounds together, it is then at most half of the width below the value for upper bounds.
        enough = sign * upper_law.log_moment(grid.unit, middle_tilt)
        enough -= 0.5 * budget.relative_width / part.count
        cell_tails.append(_CellTails(part.profile, part.reverse_profile, right, left, enough))

    upper = LatticeComposition.of(upper_laws, [part.count for part in survey.parts], grid.unit)
    return CompositionBounds(upper, tuple(cell_tails), middle_tilt)


def _demand(survey: Survey, key: GridKey, budget: Budget) -> Demand:
    """Return the requirements on the cells (intervals of losses) of a lattice.

    Args:
        survey: the composition, with coarse tables of the tails of its loss distributions.
        key: choices that determine the lattice, among them the band (interval) of tilts λ.
        budget: limits on the number of cells, and the required relative width of δ.
    """
    band_width = BAND[key.direct]
    # The least, the middle and the largest tilt of the band.
    coordinates = tuple(TiltCoordinate(band_width * (key.band + share), key.direct) for share in (0.0, 0.5, 1.0))
    _, bulk_variance = survey.bulk if key.within else (0.0, math.inf)
    return Demand(
        coordinates=coordinates,
        relative_width=_CELL_SHARE * budget.relative_width,
        cells=budget.cells_for(len(survey.parts)),
        bulk_variance=bulk_variance,
        coarsening=key.coarsening,
    )


def _upper_log_atom(profile: Profile, right: SideTails) -> float:
    """Bound the probability of an infinite loss, as a logarithm, for a dominating lattice distribution of one round.

    The largest finite loss of the lattice is the last point ε of the tails. The probability is then:

        δ(ε) = P(L > ε) − e^ε Q(L > ε).

    It is computed from the tails and rounded up. If the tail under P is zero, the profile is evaluated at ε.

    Args:
        profile: profile ε ↦ δ(ε) of the round.
        right: tails of the positive losses L under P and Q, with bounds on their relative errors.

    Returns:
        The upper bound, at most 0.
    """
    log_p, log_q, epsilon = float(right.log_p[-1]), float(right.log_q[-1]), float(right.points[-1])
    if math.isinf(log_p):
        return float(profile.log_delta(right.points[-1:]).upper[0])
    ratio = math.exp(min(epsilon + log_q - log_p, 0.0))  # e^ε Q(L > ε)/P(L > ε)
    q_error = float(right.error_q[-1]) + 8 * UNIT_ROUNDOFF * (1.0 + epsilon)  # includes the error of e^ε
    rounding = float(right.error_p[-1]) + ratio * q_error
    return min(log_p + math.log(max(1.0 - ratio, 0.0) + rounding), 0.0)
