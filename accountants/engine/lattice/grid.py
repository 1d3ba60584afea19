"""Choice of the cells: a lattice unit, and for each distribution the multiples of it that bound its cells.

Splitting the mass of a cell of width H between its bounds adds at most H²/4, on average H²/6, to the loss's variance.
The masses under both distributions are fixed. Merging it takes H²/12 away. At tilt λ the two bounds of log δ therefore
differ by:

    λ (1 + λ)/2 · Σ_j T_j E_λ[H²/24 + H²/12]        (the upper bound halves each cell)

and for a given number of cells this is least for H ∝ density^{−1/3}. The choice affects tightness, not validity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.bounds import LARGEST_INDEX, cell_bounds
from epsilond.accountants.engine.lattice.cells.unit import choose_unit
from epsilond.accountants.engine.lattice.outline import join_outlines
from epsilond.accountants.engine.lattice.tilted import IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.cells.demand import Demand
    from epsilond.accountants.engine.lattice.outline import Outline, Side
    from epsilond.accountants.numerics.special import FloatArray

_LEAST_EFFORT = 1e-30
"""Lower limit of the effort, which is a divisor; the effort is 0 if no finite loss has mass."""


class CellBounds(NamedTuple):
    """Bounds of the cells of one loss distribution, as odd multiples of the lattice unit.

    A cell is an interval of losses. Its mass is put on lattice points.

    Attributes:
        right: bounds of the cells of positive losses, increasing from 1.
        left: absolute values of the bounds of the cells of negative losses, increasing from 1.
    """

    right: IntArray
    left: IntArray


@dataclass(frozen=True)
class Grid:
    """A lattice of losses common to all distributions of a composition, and the cells of each distribution.

    Attributes:
        unit: distance of successive lattice points, in nats.
        cells: bounds of the cells (intervals of losses) of each distribution.
    """

    unit: float
    cells: tuple[CellBounds, ...]


class _WeightedCells(NamedTuple):
    """Cells of the coarse tables of several loss distributions, with their masses, before a lattice is chosen.

    A cell is an interval of losses. A side is the table of the positive, or of the negative, losses of a distribution.
    The tilted mass of a cell is its share of E[e^{λL}], where L is the loss, and the tilt λ is one of a few exponents.

    Attributes:
        widths: width of each cell, in nats.
        log_weights: log of T m for each cell, for the number T of rounds and the largest tilted mass m over the tilts.
        stops: index after the last cell of each side except the last side.
    """

    widths: FloatArray
    log_weights: FloatArray
    stops: IntArray

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Split an array with one value for each cell into one array for each side, in the order of `_all_sides`."""
        return np.split(values, self.stops)

    @property
    def effort(self) -> FloatArray:
        """Contribution of each cell to the number of cells of the best grid.

        It is ∫ (T ϱ)^{1/3} over the cell, where ϱ is the density of the tilted mass, and T the number of rounds. The
        best cells of a grid have widths proportional to (T ϱ)^{−1/3}, so their number is proportional to the sum of
        these integrals.
        """
        cube_root_of_mass = np.exp(self.log_weights / 3.0)
        return np.asarray(cube_root_of_mass * self.widths ** (2.0 / 3.0))


def _all_sides(outlines: Sequence[Outline]) -> list[Side]:
    """Return the tables of positive and of negative losses of each distribution, one after the other.

    Args:
        outlines: coarse table of the tails of each distribution, with a right and a left side.

    Returns:
        The right side of the first distribution, its left side, the right side of the second one, and so on.
    """
    return [side for item in outlines for side in (item.right, item.left)]


def _weigh_cells(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> _WeightedCells:
    """Compute a weight of each cell in the coarse tables of all loss distributions: its largest tilted mass.

    A cell is an interval of losses. If its mass m is put at one loss L, its tilted mass for the exponent λ is:

        m e^{λL} / E[e^{λL}].

    The largest one over a few exponents λ, the tilts, is taken.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        demand: requirements on the cells, of which only the tilts λ are used.

    Returns:
        The widths of all cells, and the logs of their tilted masses times the numbers of rounds. The sides, that is
        the positive and the negative losses of each distribution, are in the order of `_all_sides`.
    """
    laws = join_outlines(outlines, counts)
    sides = _all_sides(outlines)
    sizes = np.asarray([side.widths.size for side in sides])
    # Index of the distribution of each cell: two successive sides belong to one distribution.
    owners = np.repeat(np.arange(sizes.size) // 2, sizes)

    # One array for each tilt λ: log(m e^{λL} / E[e^{λL}]) of every cell.
    log_masses = np.concatenate([side.log_masses for side in sides])
    locations = np.concatenate([side.locations for side in sides])
    tilts = [coordinate.tilt for coordinate in demand.coordinates]
    log_tilted_masses = [log_masses + tilt * locations - laws.log_moments(tilt)[owners] for tilt in tilts]
    log_counts = np.asarray([math.log(count) for count in counts.tolist()])
    return _WeightedCells(
        widths=np.concatenate([side.widths for side in sides]),
        log_weights=log_counts[owners] + np.max(log_tilted_masses, axis=0),
        stops=np.cumsum(sizes)[:-1],
    )


def choose_grid(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> Grid:
    """Choose the cells of each loss distribution and a common lattice unit, so that the error of δ is small.

    A cell is an interval of losses. Its best width is proportional to ϱ^{−1/3}, where ϱ is the density of the mass
    weighted by e^{λL} for a loss L and a tilt λ. There are at most about 2 `demand.cells` cells in all.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        demand: the requirements on the cells: their number, the required error, and the tilts λ that they serve.

    Returns:
        The lattice unit, and the bounds of the cells of each distribution.
    """
    # The sum of the integrals ∫ (T ϱ)^{1/3} over all cells, with the numbers T of rounds, is called the effort.
    cells = _weigh_cells(outlines, counts, demand)
    effort = max(math.fsum(cells.effort.tolist()), _LEAST_EFFORT)
    width = _base_width(effort, demand)
    rounds = math.fsum(counts)
    distances = _outer_bounds(outlines, counts, rounds, demand)

    # The unit has a lower limit, so that the indices of all bounds are exact in floating point.
    least_width = _least_width(width, effort, rounds, demand)
    least_exact_unit = max(distances) / LARGEST_INDEX
    unit = max(choose_unit(outlines, counts, demand, least_width), least_exact_unit)

    # The limits of the widths may cause too many cells: more than twice the requested number, and 64 more for each of
    # the two sides of a distribution. Then all cells are widened by the same factor.
    widths = _cell_widths(cells, demand, width, 2.0 * unit)
    number = math.fsum((cells.widths / widths).tolist())
    factor = max(number / (2.0 * demand.cells + 64.0 * 2.0 * len(outlines)), 1.0)

    sides = zip(_all_sides(outlines), cells.split(factor * widths), distances, strict=True)
    bounds = [cell_bounds(side, side_widths, distance, unit) for side, side_widths, distance in sides]
    # The right and the left side of each distribution follow each other.
    right_bounds, left_bounds = bounds[::2], bounds[1::2]
    return Grid(unit, tuple(map(CellBounds, right_bounds, left_bounds)))


def _base_width(effort: float, demand: Demand) -> float:
    """Return the width w of cells where the tilted mass of all rounds has the density 1 per nat.

    The tilted mass is weighted by e^{λL} for a loss L and a tilt λ. Where it has the density ϱ, cells have the width
    w ϱ^{−1/3}, which is best for a given number of cells. Such cells:

        widen the bounds on log δ by curvature · w² · effort / 16, and
        are about effort / w in number.

    The result is the width with the required error, or that with the largest number of cells if it is larger, doubled
    `demand.coarsening` times.

    Args:
        effort: sum over all distributions of ∫ ϱ^{1/3} over the losses.
        demand: the requirements: the relative width of δ, the number of cells, and the number of doublings.

    Returns:
        The width w, in nats.
    """
    # 1/16 is ½ · (1/24 + 1/12) of the module docstring.
    width = math.sqrt(16.0 * demand.relative_width / demand.curvature / effort)
    return 2.0**demand.coarsening * max(width, effort / demand.cells)


def _least_width(width: float, effort: float, rounds: float, demand: Demand) -> float:
    """Return the width at which cells of equal width in all rounds cause no more than the tolerated error.

    A cell, that is, an interval of losses, need not be narrower. The tolerated error of log δ is the larger of two: the
    error of the best cells with the base width, and the required width of log δ.

    Args:
        width: the base width, in nats, which `_base_width` returns.
        effort: sum over all distributions of ∫ ϱ^{1/3} over the losses, for the density ϱ of the tilted mass.
        rounds: number of all rounds.
        demand: the requirements on the cells, with the required width of log δ.

    Returns:
        The least useful width of a cell, in nats.
    """
    error = demand.curvature * width * width * effort / 16.0
    # Each doubling of the widths multiplies the error by 4.
    tolerated_error = max(error, 4.0**demand.coarsening * demand.relative_width)
    # Cells of equal width w in all rounds cause the error curvature · rounds · w²/8.
    return math.sqrt(8.0 * tolerated_error / (demand.curvature * rounds))


def _cell_widths(cells: _WeightedCells, demand: Demand, width: float, least: float) -> FloatArray:
    """Return the width that the cells of the grid should have, for each cell of the coarse tables of the losses.

    A cell is an interval of losses. The width is w ϱ^{−1/3} within limits, where ϱ is the density of the tilted mass:
    the mass weighted by e^{λL} for a loss L and a tilt λ.

    Args:
        cells: the cells of all coarse tables, with their tilted masses.
        demand: the requirements on the cells, with the tilts.
        width: width w at the density 1 per nat, in nats.
        least: lower limit of the widths, in nats.

    Returns:
        One width in nats for each cell of the coarse tables.
    """
    with np.errstate(over="ignore", divide="ignore"):
        best = width * np.exp((np.log(cells.widths) - cells.log_weights) / 3.0)
    # In a cell wider than 1/λ, mass moves to losses L with a far larger factor e^{λL}. Therefore a width H may exceed
    # half of 1/(1 + |λ|) only if the mass times e^{2H(1+|λ|)} is below e^−7, about 1/1000, of the width of δ.
    margin = 7.0
    log_excess = demand.log_width - margin - cells.log_weights
    largest = np.maximum(0.5, 0.5 * log_excess) / demand.steepness
    return np.asarray(np.maximum(np.minimum(best, largest), least))


def _outer_bounds(outlines: Sequence[Outline], counts: FloatArray, rounds: float, demand: Demand) -> list[float]:
    """Return the largest distance from zero that the cells must cover, for both sides of each distribution, in nats.

    A cell is an interval of losses. Positive losses are covered up to the last point of the coarse table. Negative
    losses are covered up to the first point of their table beyond which all mass, weighted by e^{λL}/E[e^{λL}] for
    the loss L, is negligible at every tilt λ. If there is no such point, the last point is taken.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        rounds: number of all rounds.
        demand: requirements on the cells, with the tilts λ and the required relative width of the bounds on δ.

    Returns:
        The distances: right and left of the first distribution, then right and left of the second one, and so on.
    """
    laws = join_outlines(outlines, counts)
    log_moments = {coordinate.tilt: laws.log_moments(coordinate.tilt) for coordinate in demand.coordinates}
    log_negligible = demand.log_width - 12.0  # a share e^−12, about 6e-6, of the width of δ
    distances = []
    for j, item in enumerate(outlines):
        # For a left tail M beyond the edge e, the tilted mass there is at most M e^{−λe} if λ ≥ 0.
        edges = item.left.edges[1:]
        log_mass_beyond = item.left.log_p[1:] + math.log(rounds)
        log_tilted = [log_mass_beyond - tilt * edges - float(moment[j]) for tilt, moment in log_moments.items()]
        negligible = np.flatnonzero(np.max(log_tilted, axis=0) <= log_negligible)
        left_distance = float(edges[negligible[0]] if negligible.size else edges[-1])
        right_distance = float(item.right.edges[-1])
        distances += [right_distance, left_distance]
    return distances
