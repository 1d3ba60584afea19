"""Choice of the cells: a lattice unit, and for each distribution the multiples of it that bound its cells.

Splitting the mass of a cell of width H between its bounds adds at most H²/4, on average H²/6, to the loss's variance,
at fixed masses under both distributions. Merging it takes H²/12 away. At tilt λ the two bounds of log δ therefore
differ by

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
"""Least effort, in place of 0 when no finite loss has mass."""


class CellBounds(NamedTuple):
    """Bounds of the cells of one loss distribution, as odd multiples of the lattice unit.

    A cell is an interval of losses. Its mass is put on lattice points.

    Attributes:
        right: bounds on the side of positive losses, increasing from 1.
        left: bounds on the side of negative losses, as multiples of the negative unit, increasing from 1.
    """

    right: IntArray
    left: IntArray


@dataclass(frozen=True)
class Grid:
    """A lattice of losses common to all distributions of a composition, and the cells of each distribution.

    Attributes:
        unit: distance of neighbouring lattice points, in nats.
        cells: bounds of the cells (intervals of losses) of each distribution.
    """

    unit: float
    cells: tuple[CellBounds, ...]


class _WeightedCells(NamedTuple):
    """Cells of several loss distributions in one array, with weights of the errors that they cause.

    The cells, intervals of losses, are those of coarse tables of the tails (`Outline`), before a lattice is chosen.

    Attributes:
        widths: width of each cell, in nats.
        log_weights: log of the number of rounds times the largest tilted mass of each cell.
        stops: index after the last cell of each side except the last side.
    """

    widths: FloatArray
    log_weights: FloatArray
    stops: IntArray

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Split an array of one value per cell into one array per side.

        Args:
            values: one value for each cell.

        Returns:
            One array for each side, in the order of `_all_sides`.
        """
        return np.split(values, self.stops)

    @property
    def effort(self) -> FloatArray:
        """Contribution of each cell to the number of cells of the best grid: ∫ (T ϱ)^{1/3} over the cell.

        ϱ is the density of the tilted mass, and T the number of rounds. The best cells of a grid have widths
        proportional to (T ϱ)^{−1/3}. Their number is then proportional to the sum of these integrals.
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
    """Return the cells of all coarse tables of loss distributions, with weights of the errors that they cause.

    The weight of a cell, an interval of losses, is its largest tilted mass over the tilts of the requirements, times
    the number of rounds. A tilted mass is m e^{λL} / E[e^{λL}] for the mass m at the loss L and the tilt λ.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        demand: the requirements, with the tilts λ.

    Returns:
        The widths and the log weights of all cells, side after side in the order of `_all_sides`.
    """
    laws = join_outlines(outlines, counts)
    sides = _all_sides(outlines)
    sizes = np.asarray([side.widths.size for side in sides])
    # Two successive sides belong to one distribution.
    owners = np.repeat(np.arange(sizes.size) // 2, sizes)

    # The log mass of every cell at each tilt, normalised for its distribution. The largest counts.
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
    """Choose the cells of losses of each distribution, with a common lattice unit, for the least error of δ.

    A cell is an interval of losses. Cells are narrow where the tilted mass, weighted by e^{λL} for a loss L, is: the
    best width is proportional to the density to the power −1/3 (module docstring). There are at most about
    `demand.cells` cells in all.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        demand: the requirements on the cells, such as their number and the tilts that they serve.

    Returns:
        The lattice unit, and the bounds of the cells of each distribution.
    """
    # The widths of the cells, without the lattice.
    cells = _weigh_cells(outlines, counts, demand)
    effort = max(math.fsum(cells.effort.tolist()), _LEAST_EFFORT)
    width = _base_width(effort, demand)
    rounds = math.fsum(counts)
    distances = _outer_bounds(outlines, counts, rounds, demand)

    # The lattice unit: the indices of all bounds have to stay exact in floating point.
    least_width = _least_width(width, effort, rounds, demand)
    least_exact_unit = max(distances) / LARGEST_INDEX
    unit = max(choose_unit(outlines, counts, demand, least_width), least_exact_unit)

    # If there are more than twice as many cells as required, and 64 more for each side, all are widened.
    widths = _cell_widths(cells, demand, width, 2.0 * unit)
    number = math.fsum((cells.widths / widths).tolist())
    excess = max(number / (2.0 * demand.cells + 64.0 * 2.0 * len(outlines)), 1.0)

    sides = zip(_all_sides(outlines), cells.split(excess * widths), distances, strict=True)
    bounds = [cell_bounds(side, side_widths, distance, unit) for side, side_widths, distance in sides]
    # The right and the left side of each distribution follow each other.
    right_bounds, left_bounds = bounds[::2], bounds[1::2]
    return Grid(unit, tuple(map(CellBounds, right_bounds, left_bounds)))


def _base_width(effort: float, demand: Demand) -> float:
    """Return the width w of cells where the tilted mass of all rounds has the density 1 per nat.

    The tilted mass is weighted by e^{λL} for a loss L. Where its density is ϱ, cells have the width w ϱ^{−1/3}, which
    is best for a given number of cells. They widen the bounds on log δ by curvature · w² · effort / 16, and their
    number is about effort / w. The result is the larger of the two widths with the required error and with the largest
    number of cells.

    Args:
        effort: ∫ ϱ^{1/3} over the losses of each distribution, added up.
        demand: the requirements: the relative width of δ, the number of cells, and the number of doublings.

    Returns:
        w for the density 1 per nat, in nats.
    """
    # 1/16 is ½ · (1/24 + 1/12) of the module docstring.
    width = math.sqrt(16.0 * demand.relative_width / demand.curvature / effort)
    return 2.0**demand.coarsening * max(width, effort / demand.cells)


def _least_width(width: float, effort: float, rounds: float, demand: Demand) -> float:
    """Return the width, in nats, below which no cell needs to be, because the error of log δ is tolerable.

    A cell is an interval of losses. This width causes the tolerated error if all cells of all rounds have it.
    The tolerated error is the larger of two: the error due to the best cells of the base width (`_base_width`), and the
    required width of log δ.

    Args:
        width: the base width, in nats.
        effort: ∫ ϱ^{1/3} over the losses of each distribution, added up, for the density ϱ of the tilted mass.
        rounds: number of all rounds.
        demand: the requirements on the cells, such as their number and the tilts that they serve.

    Returns:
        The least useful width of a cell, in nats.
    """
    error = demand.curvature * width * width * effort / 16.0
    tolerated_error = max(error, 4.0**demand.coarsening * demand.relative_width)
    # Cells of equal width w in all rounds cause the error curvature · rounds · w²/8.
    return math.sqrt(8.0 * tolerated_error / (demand.curvature * rounds))


def _cell_widths(cells: _WeightedCells, demand: Demand, width: float, least: float) -> FloatArray:
    """Return the width that the grid's cells should have within each cell of the coarse tables of the losses.

    The width is w ϱ^{−1/3} for the density ϱ of the mass there, weighted by e^{λL} for a loss L, within limits. A cell
    is an interval of losses.

    Args:
        cells: the cells of all coarse tables, with their tilted masses.
        demand: the requirements on the cells, such as their number and the tilts that they serve.
        width: w, in nats.
        least: lower limit, in nats. Cells without mass have no upper limit.

    Returns:
        One width in nats for each cell of the coarse tables.
    """
    with np.errstate(over="ignore", divide="ignore"):
        best = width * np.exp((np.log(cells.widths) - cells.log_weights) / 3.0)
    # In a cell wider than 1/λ, mass moves to losses L with a far larger factor e^{λL}. Only negligible mass may do
    # that, up to a thousandth, e^−7, of the width of δ.
    log_thousandth = 7.0
    log_excess = demand.log_width - log_thousandth - cells.log_weights
    largest = np.maximum(0.5, 0.5 * log_excess) / demand.steepness
    return np.asarray(np.maximum(np.minimum(best, largest), least))


def _outer_bounds(outlines: Sequence[Outline], counts: FloatArray, rounds: float, demand: Demand) -> list[float]:
    """Return for each side of each distribution the distance from zero up to which it has cells, in nats.

    On the right, cells cover every finite loss. On the left, the mass beyond the distance is negligible at every tilt.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        rounds: number of all rounds.
        demand: the requirements, with the tilts λ, the exponents of the weights e^{λL}.

    Returns:
        The distances, in the order of `_all_sides`.
    """
    laws = join_outlines(outlines, counts)
    log_moments = {coordinate.tilt: laws.log_moments(coordinate.tilt) for coordinate in demand.coordinates}
    log_negligible = demand.log_width - 12.0  # e^−12 is 6e-6

    # On the left, the tail beyond each edge is compared at every tilt. The first negligible edge is the end.
    distances = []
    for j, item in enumerate(outlines):
        edges = item.left.edges[1:]
        log_mass_beyond = item.left.log_p[1:] + math.log(rounds)
        log_tilted = [log_mass_beyond - tilt * edges - float(moment[j]) for tilt, moment in log_moments.items()]
        negligible = np.flatnonzero(np.max(log_tilted, axis=0) <= log_negligible)
        left_distance = float(edges[negligible[0]] if negligible.size else edges[-1])
        right_distance = float(item.right.edges[-1])
        distances += [right_distance, left_distance]
    return distances
