"""The lattice point near the loss of each cell, for a dominated lattice distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.logarithms import ratio
from epsilond.accountants.engine.lattice.cells.side_tails import BoolArray
from epsilond.accountants.engine.lattice.tangent_lines import NOWHERE, LoweredCells
from epsilond.accountants.engine.lattice.tilted import IntArray

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_SLIGHT = 1e-7
"""Part of a step of the lattice that counts as a rounding error.

Tails are known to 1e-14, and a step for 10^10 rounds is about 1e-6.
"""


class LatticePoints(NamedTuple):
    """Lattice point to which the mass of each cell (interval of losses) moves, for lower bounds on δ.

    A point above the loss of its cell increases the loss. To compensate, the cell exchanges mass with a neighbouring
    one. Increases by rounding errors may remain without compensation.

    Attributes:
        multiples: the points, in lattice units from the offset. All are even.
        uncompensated_increase: largest increase of a loss without compensation, in nats.
        largest_increase: largest increase of any loss, in nats.
    """

    multiples: IntArray
    uncompensated_increase: float
    largest_increase: float


def choose_points(cells: LoweredCells, unit: float, offset: float) -> LatticePoints:
    """Choose a lattice point near the loss of each cell, so that a neighbouring cell can compensate the change.

    A cell is an interval of losses, and its mass moves to the point. A neighbour compensates if it can exchange mass
    with the cell, so that the mean of the loss hardly changes. The nearest point is preferred. A point above the loss
    needs enough mass in the next higher cell, and a point below the loss enough mass in the next lower cell. If neither
    neighbour can compensate, the point below is chosen, which only lowers the mean of the loss.

    Args:
        cells: the cells, with their masses.
        unit: lattice unit, in nats. Lattice points are its even multiples.
        offset: offset of the lattice, in nats.

    Returns:
        One lattice point for each cell, with the largest distances of a point above its cell's loss.
    """
    # The candidates are the lattice points inside the cell above and below its loss, as multiples of two units.
    step = 2.0 * unit
    losses = np.clip(cells.lowered_loss - offset, NOWHERE * unit, -NOWHERE * unit)
    lowest, highest = 0.5 * (cells.low + 1), 0.5 * (cells.high - 1)
    up = np.clip(np.ceil(losses / step), lowest, highest)
    down = np.clip(np.floor(losses / step), lowest, highest)
    nearest = np.clip(np.rint(losses / step), lowest, highest)

    # The nearest point is chosen, unless only the point above can be compensated.
    can_fall, can_rise = _find_compensated(cells, losses, down * step, up * step)
    must_rise = (nearest * step < losses) & ~can_fall & can_rise
    chosen = np.where(must_rise, up, nearest)

    # A point above its loss that nothing compensates is replaced by the one below, except for a mere rounding.
    excess = np.where(cells.has_mass & ~can_rise, chosen * step - losses, 0.0)
    is_rounding = (excess > 0) & (excess <= _SLIGHT * step)
    must_fall = (excess > 0) & ~is_rounding
    chosen = np.where(must_fall, down, chosen)
    if not cells.has_mass[-1]:
        chosen[-1] = lowest[-1]

    rounding_factor = 1.0 + 1e-9  # far more than the errors of the differences
    slip = float(np.max(excess, where=is_rounding, initial=0.0)) * rounding_factor
    fall = float(np.max(chosen * step - losses, where=cells.has_mass, initial=0.0)) * rounding_factor
    return LatticePoints((2.0 * chosen).astype(np.int64), slip, fall)


def _find_compensated(
    cells: LoweredCells, losses: FloatArray, down: FloatArray, up: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return which cells may move to the lattice point below their loss, and which to the point above.

    A cell may move to a point g if its neighbour on that side can compensate for its moment p − e^g q: the neighbour's
    moment at g has the opposite sign and is at least as large.

    Args:
        cells: cells (intervals of losses) with the masses p under P and q under Q.
        losses: loss log(p/q) of each cell, in nats.
        down: lattice point below, in nats.
        up: lattice point above, in nats.

    Returns:
        The mask of cells that may move down, and the mask of cells that may move up.
    """
    # Mass and loss of the neighbours on both sides. An outermost cell has only one neighbour.
    log_masses = np.where(cells.has_mass, cells.log_p, -np.inf)
    mass_before, mass_after = np.append(-np.inf, log_masses[:-1]), np.append(log_masses[1:], -np.inf)
    loss_before, loss_after = np.append(-np.inf, losses[:-1]), np.append(losses[1:], np.inf)

    # Moments of the neighbours at the lattice points, and the moment of the cell to be compensated, all divided by p.
    with np.errstate(over="ignore"):
        offered_by_lower = ratio(mass_before, cells.log_p) * _excess_ratio(down, loss_before)
        offered_by_upper = ratio(mass_after, cells.log_p) * -np.expm1(np.minimum(up - loss_after, 0.0))
    needed_below = -np.expm1(np.minimum(down - losses, 0.0))
    needed_above = _excess_ratio(up, losses)

    can_fall = (mass_before > -np.inf) & (offered_by_lower >= needed_below)
    can_rise = (mass_after > -np.inf) & (offered_by_upper >= needed_above)
    return can_fall, can_rise


def _excess_ratio(point: FloatArray, loss: FloatArray) -> FloatArray:
    """Return e^{point − loss} − 1 where the lattice point is above the loss, otherwise 0.

    Args:
        point: lattice points, in nats.
        loss: losses, in nats. A difference above 600 counts as 600, which prevents an overflow.
    """
    return np.asarray(np.expm1(np.clip(point - loss, 0.0, 600.0)))
