"""What to do at the two ends of a loss, where a cell has nothing beyond it to exchange mass with.

The first cell's log p/q lies off the lattice. Left alone, the difference is lost in every round. Joining cells until
their log p/q reaches a lattice point by what the next cell lends costs variance. Either is correct.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.cells.lines import Cells
    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray

_NEGLIGIBLE = -30.0


def joined(cells: Cells, unit: float, tilt: float, offset: float) -> IntArray:
    """Thresholds to drop at both ends, where joining loses less than leaving the first cell alone."""
    weights = cells.log_p + tilt * np.where(np.isfinite(cells.own), cells.own, 0.0)
    held = np.flatnonzero(cells.held & (weights > np.max(weights) + _NEGLIGIBLE))
    if held.size < 3:
        return np.zeros(0, dtype=np.int64)
    shares = np.exp(weights - np.logaddexp.reduce(weights))
    dropped = [
        bound
        for order, step in ((held, 1), (held[::-1], -1))
        for bound in _joined_end(cells, order, shares, unit, offset, stiffness=0.5 * (1.0 + abs(tilt)), step=step)
    ]
    return np.asarray(dropped, dtype=np.int64)


def _joined_end(
    cells: Cells, held: IntArray, shares: FloatArray, unit: float, offset: float, *, stiffness: float, step: int
) -> list[int]:
    """The thresholds to drop at one end; `held` lists cells from that end inwards."""
    own, log_p, share = cells.own[held] - offset, cells.log_p[held], shares[held]
    exact = 0.5 * float(own[0]) / unit
    outer, target = (2.0 * unit * each for each in (math.floor(exact), math.ceil(exact))[::step])
    moments = np.cumsum(np.exp(log_p - np.max(log_p)) * -np.expm1(np.minimum(target - own, 700.0)))
    crossed = np.flatnonzero(step * moments > 0)
    if not crossed.size or crossed[0] < 2:
        return []
    inside = slice(0, int(crossed[0]))
    spread = stiffness * float(share[inside] @ (own[inside] - target) ** 2)
    if spread >= float(share[0]) * abs(float(own[0]) - outer):
        return []
    inner = cells.high if step > 0 else cells.low
    return [int(bound) for bound in inner[held[inside][:-1]]]
