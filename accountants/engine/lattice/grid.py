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

from epsilond.accountants.engine.lattice.outline import common_span, join_outlines
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.outline import Outline, Side
    from epsilond.accountants.engine.lattice.tilted import FlatDistributions
    from epsilond.accountants.numerics.special import FloatArray

_FINER = 2.0**-16
"""Least unit, as a share of the unit that the variance requires. A finer unit puts atoms near lattice points."""
_LEAST_EFFORT = 1e-30
"""Least effort, in place of 0 when no finite loss has mass."""
_LARGEST_INDEX = 2.0**48
"""Largest index of a cell bound, in units: indices and their middles stay exact in floating point."""
_FEW_ATOMS, _UNITS = 64, 512
"""Largest number of atoms of all distributions for which units are compared, and the number of units compared."""


class CellBounds(NamedTuple):
    """Bounds of the cells of one loss distribution, as odd multiples of the lattice unit.

    A cell is an interval of losses; its mass is put on lattice points.

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


@dataclass(frozen=True)
class Demand:
    """Requirements on the cells of losses of a lattice composition, for every tilt λ of a band (interval).

    The tilt is the exponent of e^{λL}, by which losses L are weighted.

    Attributes:
        coordinates: the least, the middle and the largest tilt of the band.
        relative_width: width of the enclosure of δ that the cells may cause, relative to δ.
        cells: limit on the number of cells.
        bulk_variance: variance of the total loss without rare rounds, if ε is within their range; math.inf otherwise.
        coarsening: number of times that the unit and the widths of cells are doubled to fit the transform into the
            budget.
    """

    coordinates: tuple[TiltCoordinate, ...]
    relative_width: float
    cells: int
    bulk_variance: float
    coarsening: int

    @property
    def curvature(self) -> float:
        """Factor from a change of the loss's variance to twice that of log δ: the largest |λ (1 + λ)| in the band.

        If ε is within the bulk, it is at least the reciprocal of the bulk's variance, as δ depends on its width.
        """
        return max(*(math.exp(coordinate.pole) for coordinate in self.coordinates), 1.0 / self.bulk_variance)

    @property
    def steepness(self) -> float:
        """Largest 1 + |λ| in the band. The expansion in the cell width holds for cells narrower than its reciprocal."""
        return max(1.0 + abs(coordinate.tilt) for coordinate in self.coordinates)

    @property
    def log_width(self) -> float:
        """Logarithm of the required relative width."""
        return math.log(self.relative_width)


class _WeightedCells(NamedTuple):
    """The cells of all outlines (coarse tables of loss distributions) in one array, with weights of their errors.

    Attributes:
        widths: width of each cell, in nats.
        log_weights: log of the number of rounds times the largest tilted mass of each cell.
        stops: index after the last cell of each side except the last side.
    """

    widths: FloatArray
    log_weights: FloatArray
    stops: IntArray

    def split(self, values: FloatArray) -> list[FloatArray]:
        """Split an array of one value per cell into one array per side."""
        return np.split(values, self.stops)

    @property
    def effort(self) -> FloatArray:
        """Contribution of each cell to the number of cells of the best grid: ∫ (T ϱ)^{1/3} over the cell.

        ϱ is the density of the tilted mass, and T the number of rounds. The best cells of a grid have widths
        proportional to (T ϱ)^{−1/3}. Their number is then proportional to the sum of these integrals.
        """
        return np.asarray(np.exp(self.log_weights / 3.0) * self.widths ** (2.0 / 3.0))


def _all_sides(outlines: Sequence[Outline]) -> list[Side]:
    """Return the right and the left side of each outline, in turn."""
    return [side for item in outlines for side in (item.right, item.left)]


def _weigh_cells(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> _WeightedCells:
    """Return the cells of all outlines (coarse tables of loss distributions), with weights of their errors.

    The weight of a cell is its largest tilted mass times the number of rounds.

    Args:
        outlines: outline of each distribution.
        counts: number of rounds of each distribution.
        demand: the requirements, with the tilts λ. A tilted mass is proportional to the mass times e^{λL}.
    """
    laws = join_outlines(outlines, counts)
    sides = _all_sides(outlines)
    sizes = np.asarray([side.widths.size for side in sides])
    owners = np.repeat(np.arange(sizes.size) // 2, sizes)
    log_masses = np.concatenate([side.log_masses for side in sides])
    locations = np.concatenate([side.locations for side in sides])
    tilts = [coordinate.tilt for coordinate in demand.coordinates]
    tilted = [log_masses + tilt * locations - laws.log_moments(tilt)[owners] for tilt in tilts]
    log_counts = np.asarray([math.log(count) for count in counts.tolist()])
    return _WeightedCells(
        np.concatenate([side.widths for side in sides]),
        log_counts[owners] + np.max(tilted, axis=0),
        np.cumsum(sizes)[:-1],
    )


def choose_grid(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> Grid:
    """Choose the cells of losses of each distribution, with a common lattice unit, for the least error of δ.

    Cells are narrow where the tilted mass is. There are at most about `demand.cells` cells in all.

    Args:
        outlines: outline (coarse table) of each distribution.
        counts: number of rounds of each distribution.
        demand: the requirements.
    """
    cells = _weigh_cells(outlines, counts, demand)
    effort = max(math.fsum(cells.effort.tolist()), _LEAST_EFFORT)
    width = _base_width(effort, demand)
    rounds = math.fsum(counts)
    distances = _outer_bounds(outlines, counts, rounds, demand)
    least_width = _least_width(width, effort, rounds, demand)
    unit = max(_unit(outlines, counts, demand, least_width), max(distances) / _LARGEST_INDEX)
    widths = _cell_widths(cells, demand, width, 2.0 * unit)
    number = math.fsum((cells.widths / widths).tolist())
    # If there are more than twice as many cells as required, and 64 more for each side, all are widened.
    excess = max(number / (2.0 * demand.cells + 64.0 * 2.0 * len(outlines)), 1.0)
    sides = zip(_all_sides(outlines), cells.split(excess * widths), distances, strict=True)
    bounds = [_bounds(side, side_widths, distance, unit) for side, side_widths, distance in sides]
    # The right and the left side of each distribution follow each other.
    right_bounds, left_bounds = bounds[::2], bounds[1::2]
    return Grid(unit, tuple(CellBounds(right, left) for right, left in zip(right_bounds, left_bounds, strict=True)))


def _base_width(effort: float, demand: Demand) -> float:
    """Return the width w of cells where the tilted mass of all rounds has the density 1 per nat.

    Where the density is ϱ, cells have the width w ϱ^{−1/3}, which is best for a given number (module docstring). They
    widen the bounds on log δ by curvature · w² · effort / 16, and their number is about effort / w.

    Args:
        effort: ∫ ϱ^{1/3} over the losses of each distribution, added up.
        demand: the requirements.
    """
    # 1/16 is ½ · (1/24 + 1/12) of the module docstring.
    width = math.sqrt(16.0 * demand.relative_width / demand.curvature / effort)
    return 2.0**demand.coarsening * max(width, effort / demand.cells)


def _least_width(width: float, effort: float, rounds: float, demand: Demand) -> float:
    """Return the width than which no cell needs to be narrower, because it keeps the error of log δ tolerable.

    It is the width that causes the tolerated error if all cells of all rounds have it. The tolerated error is the
    larger of two: the error due to the best cells of the base width (`_base_width`), and the required width of log δ.

    Args:
        width: the base width, in nats.
        effort: ∫ ϱ^{1/3} over the losses of each distribution, added up, for the density ϱ of the tilted mass.
        rounds: number of all rounds.
        demand: the requirements.
    """
    error = demand.curvature * width * width * effort / 16.0
    tolerated = max(error, 4.0**demand.coarsening * demand.relative_width)
    return math.sqrt(8.0 * tolerated / (demand.curvature * rounds))


def _cell_widths(cells: _WeightedCells, demand: Demand, width: float, least: float) -> FloatArray:
    """Return the width that the grid's cells should have in each cell of an outline, a coarse table of a distribution.

    It is w ϱ^{−1/3} for the density ϱ of the tilted mass there (`_base_width`), within limits.

    Args:
        cells: the cells of all outlines, with their tilted masses.
        demand: the requirements.
        width: w, in nats.
        least: lower limit, in nats. Cells without mass have no upper limit.
    """
    with np.errstate(over="ignore", divide="ignore"):
        best = width * np.exp((np.log(cells.widths) - cells.log_weights) / 3.0)
    # In a cell wider than 1/λ, mass moves to losses L with a far larger factor e^{λL}. Only negligible mass may
    # do that, up to a thousandth, e^−7, of the width of δ.
    largest = np.maximum(0.5, 0.5 * (demand.log_width - 7.0 - cells.log_weights)) / demand.steepness
    return np.asarray(np.maximum(np.minimum(best, largest), least))


def _unit(outlines: Sequence[Outline], counts: FloatArray, demand: Demand, least_width: float) -> float:
    """Return the lattice unit: half the width of the narrowest cells, aligned with atoms or a bound of the loss.

    A bound of the loss is used only for a single distribution, and unless it is below half the least unit. Without
    atoms or a bound, nothing is aligned.

    Args:
        outlines: outline (coarse table) of each distribution.
        counts: number of rounds of each distribution.
        demand: the requirements.
        least_width: width of cells, in nats, that widens log δ by the tolerated amount if all cells have it.
    """
    least_unit = 0.5 * least_width
    if all(item.atomic for item in outlines):
        return _unit_for_atoms(outlines, counts, demand, least_unit)
    edge = outlines[0].edge if len(outlines) == 1 else None
    if edge is None or edge.distance < 0.5 * least_unit:
        return least_unit
    if edge.atom:
        # An atom belongs in the middle of a cell, at an even multiple of the unit.
        multiple = 2.0 * max(math.floor(0.5 * edge.distance / least_unit), 1)
        return edge.distance / multiple
    # The end of a density belongs between two cells, at an odd multiple, with a lattice point on its inner side.
    odd_multiple = 2 * math.floor(0.5 * (edge.distance / least_unit - 1.0)) + 1
    return edge.distance / max(float(odd_multiple), 3.0 / 2.0**demand.coarsening)


def _unit_for_atoms(outlines: Sequence[Outline], counts: FloatArray, demand: Demand, least_unit: float) -> float:
    """Return the lattice unit for distributions of atoms (single losses): half their common span, or a finer unit.

    An atom off the lattice changes the mean of the loss as well as its variance, and the mean requires a finer unit.
    With very many rounds, that unit would be less than `_FINER` times `least_unit`, which is then used instead. In
    either case, a similar unit with multiples near the atoms is chosen (`_unit_near_atoms`).

    Args:
        outlines: outline of each distribution.
        counts: number of rounds of each distribution.
        demand: the requirements.
        least_unit: unit that the variance requires, in nats.
    """
    doubling = 2.0**demand.coarsening
    span = common_span([item.span for item in outlines])
    if span is not None and all(item.span is not None for item in outlines):
        return 0.5 * span * doubling
    unit_for_mean = 0.5 * doubling * demand.relative_width / (demand.steepness * math.fsum(counts))
    is_in_reach = unit_for_mean > _FINER * least_unit
    unit = min(least_unit, unit_for_mean) if is_in_reach else least_unit
    return _unit_near_atoms(join_outlines(outlines, counts), unit, demand)


def _unit_near_atoms(laws: FlatDistributions, unit: float, demand: Demand) -> float:
    """Return a unit near the given one that has even multiples close to the heaviest atoms at the middle tilt.

    The best of `_UNITS` units between half and twice the given one is chosen by an estimate of the error of log δ: the
    shift of the mean, and the increase of the variance. Every unit gives valid bounds. If there are many atoms, the
    given unit is returned.

    Args:
        laws: the distributions; each may be shifted so that its heaviest atom is on a lattice point.
        unit: the given unit, in nats.
        demand: the requirements, with the tilts.
    """
    if laws.location.size > _FEW_ATOMS:
        return unit
    units = unit * np.exp2(np.linspace(-1.0, 1.0, _UNITS))
    tilt = demand.coordinates[1].tilt
    weights = laws.tilted_weights(tilt, laws.log_moments(tilt))
    bounds = np.append(laws.starts, laws.location.size).tolist()
    mean_error = np.zeros(_UNITS)  # in double units
    for count, start, stop in zip(laws.counts.tolist(), bounds[:-1], bounds[1:], strict=True):
        atoms, weight = laws.location[start:stop], weights[start:stop]
        heaviest = atoms[int(np.argmax(weight))]
        double_units = (atoms - heaviest)[:, None] / (2.0 * units)
        distance_from_lattice = np.abs(double_units - np.rint(double_units))
        mean_error += count * (weight @ distance_from_lattice)
    variance_error = 0.125 * demand.curvature * float(laws.counts.sum()) * units
    error = (2.0 * abs(tilt) * mean_error + variance_error) * units
    return float(units[int(np.argmin(error))])


def _outer_bounds(outlines: Sequence[Outline], counts: FloatArray, rounds: float, demand: Demand) -> list[float]:
    """Return for each side of each distribution the distance from zero up to which it has cells, in nats.

    On the right, cells cover every finite loss. On the left, the mass beyond the distance is negligible at every tilt.

    Args:
        outlines: outline of each distribution.
        counts: number of rounds of each distribution.
        rounds: number of all rounds.
        demand: the requirements, with the tilts.

    Returns:
        The distances, in the order of `_all_sides`.
    """
    laws = join_outlines(outlines, counts)
    log_moments = {coordinate.tilt: laws.log_moments(coordinate.tilt) for coordinate in demand.coordinates}
    log_negligible = demand.log_width - 12.0
    distances = []
    for j, item in enumerate(outlines):
        edges = item.left.edges[1:]
        log_mass_beyond = item.left.log_p[1:] + math.log(rounds)
        tilted = [log_mass_beyond - tilt * edges - float(moment[j]) for tilt, moment in log_moments.items()]
        negligible = np.flatnonzero(np.max(tilted, axis=0) <= log_negligible)
        left_distance = float(edges[negligible[0]] if negligible.size else edges[-1])
        distances += [float(item.right.edges[-1]), left_distance]
    return distances


def _bounds(side: Side, widths: FloatArray, end: float, unit: float) -> IntArray:
    """Return the bounds of the cells of one side: odd multiples of the unit from 1 to about `end`.

    Neighbouring bounds are an odd number of double units apart. The middle of a cell is then a multiple of two units,
    where the merged mass of the cell is put.

    Args:
        side: outline of the side. Each of its cells is a region of one width.
        widths: width of the grid's cells in each region, in nats.
        end: distance from zero that is covered, in nats.
        unit: lattice unit, in nats.
    """
    is_inside = side.edges[:-1] < end
    # Widths of cells in double units, made odd.
    steps = np.clip(np.floor(0.5 * widths[is_inside] / unit + 1e-9), 1.0, _LARGEST_INDEX)
    steps -= steps % 2 == 0
    # Ends of the regions at odd multiples of the unit. A cell that straddles two regions belongs to the finer region.
    edges = np.minimum(side.edges[1:][is_inside], end) / unit
    odd_below, odd_above = 2.0 * np.floor(0.5 * (edges - 1.0)) + 1.0, 2.0 * np.ceil(0.5 * (edges - 1.0)) + 1.0
    is_next_finer = np.append(steps[1:] < steps[:-1], False)
    stops = np.maximum.accumulate(np.maximum(np.where(is_next_finer, odd_below, odd_above), 1.0))
    lengths = 0.5 * np.diff(stops, prepend=1.0)  # in double units
    bounds = np.concatenate(([1], 1 + 2 * np.cumsum(_divide_regions(lengths, steps))))
    # One more cell, so that the largest loss is inside despite rounding.
    return np.append(bounds, bounds[-1] + 2)


def _divide_regions(lengths: FloatArray, steps: FloatArray) -> IntArray:
    """Divide regions of a lattice into cells of odd width that differ by at most two.

    The number of cells of a region has the parity of its length, as the sum of that many odd numbers has.

    Args:
        lengths: length of each region, a whole number.
        steps: largest width of the cells of each region, an odd number; some cells may exceed it by rounding.

    Returns:
        Widths of all cells in order; in each region the wider ones come first.
    """
    number = np.where(lengths > 0, np.ceil(lengths / steps), 0.0)
    number += (number % 2 != lengths % 2) & (number > 0)
    narrow_width = np.floor(lengths / np.maximum(number, 1.0))
    narrow_width -= (narrow_width % 2 == 0) & (narrow_width > 0)
    excess_length = lengths - number * narrow_width
    number_wide = np.where(number > 0, 0.5 * excess_length, 0.0)
    cell_widths = np.stack((narrow_width + 2.0, narrow_width), axis=1).ravel()
    repeats = np.stack((number_wide, number - number_wide), axis=1).ravel()
    return np.repeat(cell_widths, repeats.astype(np.int64)).astype(np.int64)
