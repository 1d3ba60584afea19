"""Choice of the unit of a lattice of losses, aligned with the atoms or with a bound of the loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.cells.atoms import common_span
from epsilond.accountants.engine.lattice.outline import join_outlines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.cells.demand import Demand
    from epsilond.accountants.engine.lattice.outline import Outline
    from epsilond.accountants.engine.lattice.tilted import FlatDistributions
    from epsilond.accountants.numerics.special import FloatArray

_FINER = 2.0**-16
"""Least unit, as a share of the unit that the variance requires. A finer unit puts atoms near lattice points."""
_FEW_ATOMS, _UNITS = 64, 512
"""Largest number of atoms of all distributions for which units are compared, and the number of units compared."""


def choose_unit(outlines: Sequence[Outline], counts: FloatArray, demand: Demand, least_width: float) -> float:
    """Choose the lattice unit, half the width of the narrowest cells (intervals of losses), aligned with the losses.

    Every unit gives valid bounds on δ; alignment makes them closer. If all losses are atoms, that is, single losses
    with a positive probability, the unit is aligned with them. Otherwise it is aligned with the largest or the least
    loss, if there is only one distribution and this loss is at least a quarter of `least_width` from 0.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.
        demand: the requirements on the cells, such as their number and the tilts that they serve.
        least_width: width of cells, in nats, that widens log δ by the tolerated amount if all cells have it.

    Returns:
        The distance of neighbouring lattice points, in nats.
    """
    least_unit = 0.5 * least_width
    if all(item.atomic for item in outlines):
        return _unit_for_atoms(outlines, counts, demand, least_unit)

    edge = outlines[0].edge if len(outlines) == 1 else None
    if edge is None or edge.distance < 0.5 * least_unit:
        return least_unit

    if edge.atom:
        # An atom belongs in the middle of a cell, at an even multiple of the unit.
        even_multiple = 2.0 * max(math.floor(0.5 * edge.distance / least_unit), 1)
        return edge.distance / even_multiple

    # The end of a density belongs between two cells, at an odd multiple of the unit.
    odd_multiple = 2 * math.floor(0.5 * (edge.distance / least_unit - 1.0)) + 1
    least_multiple = 3.0 / 2.0**demand.coarsening
    return edge.distance / max(float(odd_multiple), least_multiple)


def _unit_for_atoms(outlines: Sequence[Outline], counts: FloatArray, demand: Demand, least_unit: float) -> float:
    """Return the lattice unit for distributions of atoms (single losses): half their common span, or a finer unit.

    The span is the largest number of which all losses are multiples. Without a common span, moving atoms to lattice
    points changes the mean of the loss. This requires a finer unit than the change of the variance. With very many
    rounds that unit would be less than `_FINER` times `least_unit`, which is then used instead. In both cases, a
    similar unit with multiples near the atoms is chosen (`_unit_near_atoms`).

    Args:
        outlines: coarse table of the tails of each distribution, with its atoms.
        counts: number of rounds of each distribution.
        demand: the requirements on the cells, such as their number and the tilts that they serve.
        least_unit: unit that the variance requires, in nats.

    Returns:
        The distance of neighbouring lattice points, in nats.
    """
    doubling = 2.0**demand.coarsening
    span = common_span([item.span for item in outlines])
    if span is not None and all(item.span is not None for item in outlines):
        return 0.5 * span * doubling

    rounds = math.fsum(counts)
    # The unit at which the shift of the mean of all rounds costs about half the tolerated error of log δ.
    unit_for_mean = 0.5 * doubling * demand.relative_width / (demand.steepness * rounds)
    is_in_reach = unit_for_mean > _FINER * least_unit
    unit = min(least_unit, unit_for_mean) if is_in_reach else least_unit
    return _unit_near_atoms(join_outlines(outlines, counts), unit, demand)


def _unit_near_atoms(laws: FlatDistributions, unit: float, demand: Demand) -> float:
    """Return a unit near the given one that has even multiples close to the atoms, the losses of positive probability.

    The best of `_UNITS` units between half and twice the given one is chosen by an estimate of the error of log δ. The
    estimate adds the effects of the shift of the mean and of the increase of the variance. Every unit gives valid
    bounds. If there are many atoms, the given unit is returned.

    Args:
        laws: the distributions; each may be shifted so that its heaviest atom is on a lattice point.
        unit: the given unit, in nats.
        demand: the requirements, with the tilts λ, the exponents of the weights e^{λL} of losses L.

    Returns:
        The distance of neighbouring lattice points, in nats.
    """
    if laws.location.size > _FEW_ATOMS:
        return unit
    units = unit * np.exp2(np.linspace(-1.0, 1.0, _UNITS))
    tilt = demand.coordinates[1].tilt
    weights = laws.tilted_weights(tilt, laws.log_moments(tilt))

    # For each unit, the mean distance of an atom from the lattice under the tilted distributions, in double units.
    bounds = np.append(laws.starts, laws.location.size).tolist()
    mean_error = np.zeros(_UNITS)
    for count, start, stop in zip(laws.counts.tolist(), bounds[:-1], bounds[1:], strict=True):
        atoms, weight = laws.location[start:stop], weights[start:stop]
        heaviest = atoms[int(np.argmax(weight))]
        double_units = (atoms - heaviest)[:, None] / (2.0 * units)
        distance_from_lattice = np.abs(double_units - np.rint(double_units))
        mean_error += count * (weight @ distance_from_lattice)

    # Error of log δ: the shift of the mean is linear in the unit, and the added variance is quadratic.
    rounds = float(laws.counts.sum())
    variance_error = 0.125 * demand.curvature * rounds * units
    error = (2.0 * abs(tilt) * mean_error + variance_error) * units
    return float(units[int(np.argmin(error))])
