"""The outermost cells of a loss, which are merged if the lattice distribution of a lower bound is then better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.tilted import IntArray

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.tangent_lines import LoweredCells
    from epsilond.accountants.numerics.special import FloatArray

_NEGLIGIBLE = -30.0
"""Log of a cell's tilted mass relative to the largest one, below which the cell is ignored."""


def end_thresholds(cells: LoweredCells, unit: float, tilt: float, offset: float) -> IntArray:
    """Return the thresholds to drop at both ends of the range of losses, so that outermost cells are merged.

    A cell is an interval of losses between two successive thresholds. If its loss is between lattice points, it
    exchanges mass with a neighbouring cell. An outermost cell has only one neighbour, so its loss may have to be moved
    to a lattice point, which makes the lower bound worse in every round. Cells are merged if this costs less.

    Args:
        cells: cells, that is, intervals of losses, with their masses.
        unit: lattice unit, in nats.
        tilt: exponent λ of the weights e^{λL} of losses L.
        offset: offset of the lattice, in nats.

    Returns:
        The thresholds, as multiples of the lattice unit; none if fewer than three cells have a relevant mass.
    """
    finite_losses = np.where(np.isfinite(cells.loss), cells.loss, 0.0)
    log_weights = cells.log_p + tilt * finite_losses
    is_relevant = log_weights > np.max(log_weights) + _NEGLIGIBLE
    filled = np.flatnonzero(cells.has_mass & is_relevant)
    if filled.size < 3:
        return np.zeros(0, dtype=np.int64)

    # Both ends are treated in the same way, the upper one in reverse order.
    shares = np.exp(log_weights - np.logaddexp.reduce(log_weights))
    stiffness = 0.5 * (1.0 + abs(tilt))
    left = _thresholds_at_end(cells, filled, shares, unit, offset, stiffness=stiffness, step=1)
    right = _thresholds_at_end(cells, filled[::-1], shares, unit, offset, stiffness=stiffness, step=-1)
    return np.asarray([*left, *right], dtype=np.int64)


def _thresholds_at_end(
    cells: LoweredCells,
    filled: IntArray,
    shares: FloatArray,
    unit: float,
    offset: float,
    *,
    stiffness: float,
    step: int,
) -> list[int]:
    """Return the thresholds to drop at one end of the range of losses, so that outermost cells are merged.

    A cell is an interval of losses. Let g be the lattice point next to the outermost cell's loss, on the side of the
    other cells. Cells are merged from the end as long as their joint loss, log(p/q) of their summed masses, does not
    reach g; the next cell exchanges mass with them. No cell is merged if the added variance costs more than a move of
    the outermost cell to the lattice point on its outer side.

    Args:
        cells: the cells, with their masses p under P and q under Q.
        filled: indices of the cells with mass, from this end inwards.
        shares: each cell's share of the tilted mass.
        unit: lattice unit, in nats. Lattice points are its even multiples, plus the offset.
        offset: offset of the lattice, in nats.
        stiffness: change of the log moment, divided by |λ|, per unit of variance of the loss.
        step: 1 at the end of the smallest losses, −1 at the end of the largest losses.

    Returns:
        The inner bounds of all merged cells except the last, as multiples of the unit; empty if none is merged.
    """
    losses, log_p, share = cells.loss[filled] - offset, cells.log_p[filled], shares[filled]

    # The lattice points on both sides of the outermost loss.
    outermost = float(losses[0])
    position = 0.5 * outermost / unit
    point_below, point_above = 2.0 * unit * math.floor(position), 2.0 * unit * math.ceil(position)
    outer, inner = (point_below, point_above) if step > 0 else (point_above, point_below)

    # Moments p − e^g q of the first 1, 2, … cells together. The sign changes where the joint loss reaches g = `inner`.
    masses = np.exp(log_p - np.max(log_p))
    moments = np.cumsum(masses * -np.expm1(np.minimum(inner - losses, 700.0)))  # e^700 is a finite double
    reaches_inner_point = np.flatnonzero(step * moments > 0)
    if not reaches_inner_point.size or reaches_inner_point[0] < 2:
        return []

    joined = slice(0, int(reaches_inner_point[0]))
    variance_cost = stiffness * float(share[joined] @ (losses[joined] - inner) ** 2)
    shift_cost = float(share[0]) * abs(outermost - outer)
    if variance_cost >= shift_cost:
        return []
    inner_bounds = cells.high if step > 0 else cells.low
    dropped_cells = filled[joined][:-1]
    return [int(bound) for bound in inner_bounds[dropped_cells]]
