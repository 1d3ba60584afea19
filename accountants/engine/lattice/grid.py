"""Where to put the cells: a lattice unit, and for each law the multiples of it that bound its cells.

Splitting the mass of a cell of width H between its ends adds at most H²/4, on average H²/6, to the loss's variance at
fixed masses under both laws; merging it takes H²/12 away. At tilt λ the two ends of log δ therefore come apart by

    λ (1 + λ)/2 · Σ_j T_j E_λ[H²/24 + H²/12]        (the upper bound halves each cell)

and for a given number of cells this is least for H ∝ density^{−1/3}. Nothing here is certified: any grid gives
correct ends, a good one gives close ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.outline import common_span, weighted
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.outline import Outline, Side
    from epsilond.accountants.engine.lattice.tilted import Weighted
    from epsilond.accountants.numerics.special import FloatArray

_FINER = 2.0**-16
"""By how much a unit may be finer than the variance asks for, so that atoms lie near lattice points."""
_LEAST_EFFORT = 1e-30
"""Stands for none, where no finite loss has any mass."""
_LARGEST_INDEX = 2.0**48
"""No cell lies further out, in units: indices and their middles stay exact in floating point."""
_FEW_ATOMS, _UNITS = 64, 512
"""Atoms of all laws for which units are compared, and how many are."""


class CellBounds(NamedTuple):
    """Bounds of one law's cells, as odd multiples of the unit: increasing from 1 on each side of zero."""

    right: IntArray
    left: IntArray


@dataclass(frozen=True)
class Grid:
    """A unit of loss common to all laws, and the cells of each."""

    unit: float
    cells: tuple[CellBounds, ...]


@dataclass(frozen=True)
class Demand:
    """What a grid is for: a band of tilts, the accuracy wanted there, and the number of cells and points allowed."""

    places: tuple[TiltCoordinate, ...]
    relative_width: float
    cells: int
    bulk_variance: float
    """Variance of the total loss without rare rounds, if ε lies within it; math.inf if it lies beyond."""
    coarsening: int
    """How often the unit and the widths of cells are doubled, so that the transform fits."""

    @property
    def curvature(self) -> float:
        """The largest |λ (1 + λ)| in the band; within the bulk, what a change of its width does to δ."""
        return max(*(math.exp(place.pole) for place in self.places), 1.0 / self.bulk_variance)

    @property
    def steepness(self) -> float:
        """The largest 1 + |λ| in the band: a cell far wider than its reciprocal is not small."""
        return max(1.0 + abs(place.tilt) for place in self.places)

    @property
    def log_width(self) -> float:
        """log of the relative width wanted."""
        return math.log(self.relative_width)


class _Need(NamedTuple):
    """Per cell of all sides side by side: width and log of rounds times tilted mass."""

    widths: FloatArray
    log_weights: FloatArray
    stops: IntArray
    """Where each side ends but the last."""

    def split(self, values: FloatArray) -> list[FloatArray]:
        """One value for each cell, by sides."""
        return np.split(values, self.stops)


def _all_sides(outlines: Sequence[Outline]) -> list[Side]:
    return [side for item in outlines for side in (item.right, item.left)]


def _needs(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> _Need:
    """The largest tilted mass of each cell over the band, times the number of rounds."""
    laws = weighted(outlines, counts)
    sides = _all_sides(outlines)
    sizes = np.asarray([side.widths.size for side in sides])
    owners = np.repeat(np.arange(sizes.size) // 2, sizes)
    log_masses, locations = (
        np.concatenate([getattr(side, name) for side in sides]) for name in ("log_masses", "locations")
    )
    tilted = [
        log_masses + place.tilt * locations - laws.log_moments(place.tilt)[owners] for place in demand.places
    ]  # fmt: skip
    log_counts = np.asarray([math.log(count) for count in counts.tolist()])
    return _Need(
        np.concatenate([side.widths for side in sides]),
        log_counts[owners] + np.max(tilted, axis=0),
        np.cumsum(sizes)[:-1],
    )


def lay(outlines: Sequence[Outline], counts: FloatArray, demand: Demand) -> Grid:
    """The grid that serves `demand` best, with at most about `demand.cells` cells in all."""
    need = _needs(outlines, counts, demand)
    effort = max(math.fsum(_effort(need).tolist()), _LEAST_EFFORT)
    width = math.sqrt(16.0 * demand.relative_width / demand.curvature / effort)
    width = 2.0**demand.coarsening * max(width, effort / demand.cells)
    error = demand.curvature * width * width * effort / 16.0
    floor = math.sqrt(
        8.0 * max(error, 4.0**demand.coarsening * demand.relative_width) / (demand.curvature * math.fsum(counts))
    )
    ends = _ends(outlines, counts, math.fsum(counts), demand)
    unit = max(_unit(outlines, counts, demand, floor), max(ends) / _LARGEST_INDEX)
    wanted = _wanted(need, demand, width, 2.0 * unit)
    sides = _all_sides(outlines)
    total = math.fsum((need.widths / wanted).tolist())
    spare = max(total / (2.0 * demand.cells + 64.0 * 2.0 * len(outlines)), 1.0)
    bounds = [
        _bounds(side, each, end, unit) for side, each, end in zip(sides, need.split(spare * wanted), ends, strict=True)
    ]
    return Grid(unit, tuple(CellBounds(right, left) for right, left in zip(bounds[::2], bounds[1::2], strict=True)))


def _effort(need: _Need) -> FloatArray:
    """∫ (T density)^{1/3} over each cell."""
    return np.exp(need.log_weights / 3.0) * need.widths ** (2.0 / 3.0)


def _wanted(need: _Need, demand: Demand, width: float, least: float) -> FloatArray:
    """Cell width wanted in each outline cell; no cap binds where there is no mass."""
    with np.errstate(over="ignore", divide="ignore"):
        best = width * np.exp((np.log(need.widths) - need.log_weights) / 3.0)
    # A cell wider than 1/λ moves its mass to where the tilt weighs it far more: only negligible mass may do that.
    cap = np.maximum(0.5, 0.5 * (demand.log_width - 7.0 - need.log_weights)) / demand.steepness
    return np.asarray(np.maximum(np.minimum(best, cap), least))


def _unit(outlines: Sequence[Outline], counts: FloatArray, demand: Demand, floor: float) -> float:
    """Half the width of the narrowest cells, aligned with atoms or with the end of a loss where that can be done."""
    least, doubling = 0.5 * floor, 2.0**demand.coarsening
    if all(item.atomic for item in outlines):
        span = common_span([item.span for item in outlines])
        if span is not None and all(item.span is not None for item in outlines):
            return 0.5 * span * doubling
        # An atom off the lattice costs mean, not variance. Of so many rounds that the unit would be coarsened beyond
        # what the variance asks for, the offset of the lower law puts atoms on points, while the upper law keeps
        # the mass of a cell under both laws.
        finer = 0.5 * doubling * demand.relative_width / (demand.steepness * math.fsum(counts))
        most = min(least, finer) if finer > _FINER * least else least
        return _fitting(weighted(outlines, counts), most, demand)
    edge = outlines[0].edge if len(outlines) == 1 else None
    if edge is None or edge.distance < 0.5 * least:
        return least
    if edge.atom:
        # An atom belongs in the middle of a cell, at an even multiple of the unit.
        return 0.5 * edge.distance / max(math.floor(0.5 * edge.distance / least), 1)
    # A density that ends belongs between two cells, at an odd multiple; and there must be a point short of the end.
    multiple = 2 * math.floor(0.5 * (edge.distance / least - 1.0)) + 1
    return edge.distance / max(float(multiple), 3.0 / doubling)


def _fitting(laws: Weighted, unit: float, demand: Demand) -> float:
    """A unit of about the size given, next to whose even multiples the atoms lie that matter at the middle tilt.

    Each law may be moved to where its heaviest atom lies on one. What a unit costs in log δ is weighed by mean and by
    variance. An estimate: any unit is right.
    """
    if laws.location.size > _FEW_ATOMS:
        return unit
    units = unit * np.exp2(np.linspace(-1.0, 1.0, _UNITS))
    tilt = demand.places[1].tilt
    weights = laws.tilted(tilt, laws.log_moments(tilt))
    bounds = np.append(laws.starts, laws.location.size).tolist()
    missed = np.zeros(_UNITS)
    for count, start, stop in zip(laws.counts.tolist(), bounds[:-1], bounds[1:], strict=True):
        place = laws.location[start:stop] - laws.location[start + int(np.argmax(weights[start:stop]))]
        steps = place[:, None] / (2.0 * units)
        missed += count * (weights[start:stop] @ np.abs(steps - np.rint(steps)))
    spread = 0.125 * demand.curvature * float(laws.counts.sum()) * units
    return float(units[int(np.argmin((2.0 * abs(tilt) * missed + spread) * units))])


def _ends(outlines: Sequence[Outline], counts: FloatArray, rounds: float, demand: Demand) -> list[float]:
    """How far out cells are needed: to the end on the right; on the left, what lies beyond is negligible if tilted."""
    laws = weighted(outlines, counts)
    log_total = math.log(rounds)
    moments = [(place.tilt, laws.log_moments(place.tilt)) for place in demand.places]
    found = []
    for j, item in enumerate(outlines):
        found.append(float(item.right.edges[-1]))
        below = item.left.log_p[1:] + log_total
        pulled = np.max([below - tilt * item.left.edges[1:] - float(moment[j]) for tilt, moment in moments], axis=0)
        beyond = np.flatnonzero(pulled <= demand.log_width - 12.0)
        found.append(float(item.left.edges[beyond[0] + 1] if beyond.size else item.left.edges[-1]))
    return found


def _bounds(side: Side, wanted: FloatArray, end: float, unit: float) -> IntArray:
    """Odd multiples of the unit from 1 to `end`, at about the wanted spacing and always an odd number of steps of two.

    The middle of a cell is then a multiple of two units, where the merged mass of the cell is put.
    """
    kept = side.edges[:-1] < end
    steps = np.clip(np.floor(0.5 * wanted[kept] / unit + 1e-9), 1.0, _LARGEST_INDEX)
    steps -= steps % 2 == 0
    edges = np.minimum(side.edges[1:][kept], end) / unit
    finer_next = np.append(steps[1:] < steps[:-1], False)
    # Mass that straddles two regions belongs to the finer one.
    stops = np.where(finer_next, 2.0 * np.floor(0.5 * (edges - 1.0)) + 1.0, 2.0 * np.ceil(0.5 * (edges - 1.0)) + 1.0)
    stops = np.maximum.accumulate(np.maximum(stops, 1.0))
    lengths = 0.5 * np.diff(stops, prepend=1.0)
    # Cells of a region are as equal as odd numbers can be: two widths, and a number of cells of the same parity.
    pieces = np.where(lengths > 0, np.ceil(lengths / steps), 0.0)
    pieces += (pieces % 2 != lengths % 2) & (pieces > 0)
    narrow = np.floor(lengths / np.maximum(pieces, 1.0))
    narrow -= (narrow % 2 == 0) & (narrow > 0)
    wide = np.where(pieces > 0, 0.5 * (lengths - pieces * narrow), 0.0)
    widths = np.repeat(
        np.stack((narrow + 2.0, narrow), axis=1).ravel(),
        np.stack((wide, pieces - wide), axis=1).ravel().astype(np.int64),
    ).astype(np.int64)
    bounds = np.concatenate(([1], 1 + 2 * np.cumsum(widths)))
    # One more, so that the end of a bounded loss is inside whatever the rounding.
    return np.append(bounds, bounds[-1] + 2)
