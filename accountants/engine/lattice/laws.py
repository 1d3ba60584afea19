"""Lattice laws of several mechanisms side by side, with how often each is run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.discretise import SideTails, joined_atoms, least_log_atom, read_side, upper_law
from epsilond.accountants.engine.lattice.grid import Demand, lay
from epsilond.accountants.engine.lattice.tangents import best_lower_law
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate, Weighted
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.budget import Budget
    from epsilond.accountants.engine.lattice.discretise import LatticeLaw
    from epsilond.accountants.engine.lattice.survey import Survey


@dataclass(frozen=True)
class LatticeLaws:
    """Composed lattice laws: counts, flat points, and what concerns all of them."""

    unit: float
    laws: tuple[LatticeLaw, ...]
    counts: tuple[int, ...]
    flat: Weighted

    @classmethod
    def of(cls, laws: Sequence[LatticeLaw], counts: Sequence[int], unit: float) -> LatticeLaws:
        """Join laws on multiples of one unit."""
        index = np.concatenate([law.index for law in laws])
        sizes = np.asarray([law.index.size for law in laws])
        flat = Weighted(
            index * unit,
            np.concatenate([law.log_mass for law in laws]),
            np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64),
            np.asarray(counts, dtype=np.float64),
        )
        return cls(unit, tuple(laws), tuple(counts), flat)

    @cached_property
    def top(self) -> int:
        """The largest finite total loss, in units."""
        return sum(count * int(law.index[-1]) for law, count in zip(self.laws, self.counts, strict=True))

    @cached_property
    def misplacement(self) -> float:
        """Largest rounding of the total loss: a point k h, and an offset, are known to a relative 2u."""
        size = max(float(np.abs(law.index[np.abs(law.index) < 2**52]).max(initial=0)) for law in self.laws)
        drift = math.fsum(count * abs(law.offset) for law, count in zip(self.laws, self.counts, strict=True))
        return 4 * UNIT_ROUNDOFF * (size * self.unit * float(sum(self.counts)) + drift)

    @cached_property
    def offset(self) -> float:
        """What every total loss exceeds its place by."""
        return math.fsum(count * law.offset for law, count in zip(self.laws, self.counts, strict=True))

    @cached_property
    def excess(self) -> float:
        """By how much the composed total mass may exceed one."""
        total = math.fsum(count * law.excess for law, count in zip(self.laws, self.counts, strict=True))
        return math.expm1(min(total * (1 + 4 * UNIT_ROUNDOFF), 700.0))

    def log_infinite_mass(self, *, direction: int) -> float:
        """log(1 − Π (1 − a_j)^{T_j}), rounded up (direction 1) or down (−1)."""
        return joined_atoms([law.log_atom for law in self.laws], self.flat.counts, direction=direction)


# The lattice laws of a composition for one band of tilts, from above and from below ---------------------------------
BAND = {True: 0.25 * math.log(2.0), False: 1.0}
"""Width of a band of tilts, in the `TiltCoordinate`."""
_ALL_BUT = 0.6
"""Share of the relative width of δ that cells may take; the alias and the tilt's distance from ε take the rest."""


class GridKey(NamedTuple):
    """All that a grid depends on, besides the composition and the budget."""

    direct: bool
    depth: int
    within: bool
    """Whether ε lies within the bulk of the total loss."""
    band: int
    coarsening: int = 0


class Chosen(NamedTuple):
    """A grid with a tilt."""

    key: GridKey
    place: TiltCoordinate


class TiltedEvaluation(NamedTuple):
    """The grid and tilt that were used at an ε, None if there are none, and the upper bound of log δ there."""

    tilt: Chosen | None
    upper: float


class _Read(NamedTuple):
    """One law's tails on its cells, and how large a lower law's moment has to be to need no better one."""

    right: SideTails
    left: SideTails
    log_atom: float
    enough: float


@dataclass(frozen=True)
class BandLaws:
    """Lattice laws that dominate, and lattice laws that are dominated, which are formed when first asked for."""

    upper: LatticeLaws
    read: tuple[_Read, ...]
    tilt: float

    @cached_property
    def lower(self) -> LatticeLaws:
        """The laws that are dominated."""
        unit = self.upper.unit
        laws = [
            best_lower_law(part.right, part.left, part.log_atom, unit=unit, tilt=self.tilt, enough=part.enough)
            for part in self.read
        ]
        return LatticeLaws.of(laws, self.upper.counts, 2.0 * unit)


def band_laws(survey: Survey, key: GridKey, budget: Budget) -> BandLaws:
    """Lay a grid, read every profile on it once, and form the laws that dominate."""
    band = BAND[key.direct]
    places = tuple(TiltCoordinate(band * (key.band + share), key.direct) for share in (0.0, 0.5, 1.0))
    demand = Demand(
        places=places,
        relative_width=_ALL_BUT * budget.relative_width,
        cells=budget.cells_for(len(survey.parts)),
        bulk_variance=survey.bulk[1] if key.within else math.inf,
        coarsening=key.coarsening,
    )
    grid = lay(survey.outlines_to(key.depth), survey.counts, demand)
    tilt = places[1].tilt
    upper, read = [], []
    for part, cells in zip(survey.parts, grid.cells, strict=True):
        right = read_side(part.first, cells.right, grid.unit, mirrored=False)
        left = read_side(part.second, cells.left, grid.unit, mirrored=True)
        upper.append(upper_law(right, left, _upper_cut(part.first, right)))
        enough = math.copysign(1.0, tilt) * upper[-1].log_moment(grid.unit, tilt)
        enough -= 0.5 * budget.relative_width / part.count
        read.append(_Read(right, left, least_log_atom(part.first), enough))
    return BandLaws(LatticeLaws.of(upper, [part.count for part in survey.parts], grid.unit), tuple(read), tilt)


def _upper_cut(profile: Profile, right: SideTails) -> float:
    """Upper bound of log δ₁ at the last point, from the tails there, or from the profile where those vanish."""
    p, q, last = float(right.log_p[-1]), float(right.log_q[-1]), float(right.points[-1])
    if math.isinf(p):
        return float(profile.log_delta(right.points[-1:]).upper[0])
    weight = math.exp(min(last + q - p, 0.0))
    rounding = float(right.error_p[-1]) + weight * (float(right.error_q[-1]) + 8 * UNIT_ROUNDOFF * (1.0 + last))
    return min(p + math.log(max(1.0 - weight, 0.0) + rounding), 0.0)
