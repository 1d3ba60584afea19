"""Lattice laws of many steps side by side: one that dominates each step's, and one that each step's dominates.

Cells (g_i, g_{i+1}] have the width h, with masses p and q under both laws.

*Above.* P is taken up and Q down by their errors. Connect the dots (docs/engine-certificate.md, B1): of a cell's p the
share w = (p − e^{g_i} q)/(1 − e^{−h}) goes to g_{i+1} and the rest to g_i, which keeps both masses. At lattice points
the profile of such a law is Σ (p − α q) over the cells above, no less than the true one as P is no smaller and Q no
larger; between them it is the chord. Where w leaves [0, p] it is put at the end it passed, g: the cell then counts as
p (1 − α e^{−g}), which is no less than the true p − α q either.

*Below.* P is taken down and Q up: Σ (∏ p − e^ε ∏ q)₊ falls. Each cell becomes one outcome, which is post-processing,
at m_i = g_i + o up to its moment c_i = p_i − e^{m_i} q_i, with an o in [0, h] that suits the heaviest cell. Where
c_i > 0 a share of the outcomes of cell i − 1 is reported as i, where c_i < 0 one of cell i + 1, so that no moment is
negative (B2): that is post-processing too, whatever the shares. A cell whose moment is negative all the same is moved
down by h, or left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.direct.cells import Cells
    from epsilond.accountants.numerics.special import FloatArray

_SWEEPS = 1
_MOST_LENT = 0.25
_ROUNDED = 32 * UNIT_ROUNDOFF
"""Relative error of a moment, in units of the cell's mass."""


@dataclass(frozen=True, eq=False)
class LatticeRows:
    """Masses at consecutive multiples of a unit, moved by an offset; a row for each step.

    Attributes:
        mass: finite losses.
        first: index of the first column.
        offsets: what the losses of each row exceed their multiples by, nats.
        misplacement: by how much each loss may exceed the true one that its masses have, nats.
    """

    mass: FloatArray
    first: int
    unit: float
    offsets: FloatArray
    misplacement: float

    @property
    def losses(self) -> FloatArray:
        """The loss of each column, without the offsets."""
        return np.asarray(self.unit * np.arange(self.first, self.first + self.mass.shape[1]), dtype=np.float64)


def upper_rows(cells: Cells, losses: FloatArray, first: int, unit: float) -> LatticeRows:
    """Laws that dominate, but for losses above the last point, which are left out.

    `losses` are the ends of the cells, (first + i) · unit exactly.
    """
    p, q = cells.first.upper, cells.second.lower
    split, inner = -math.expm1(-unit), p[:, 1:-1]
    moved = inner - np.exp(losses[:-1]) * q[:, 1:-1]
    moved += 8 * UNIT_ROUNDOFF * inner
    moved /= split
    moved = np.clip(moved, 0.0, inner)
    mass = np.empty((len(p), losses.size))
    mass[:, 0] = p[:, 0]
    mass[:, 1:] = moved
    mass[:, :-1] += inner - moved
    return LatticeRows(mass, first, unit, np.zeros(len(p)), 0.0)


def lower_rows(cells: Cells, losses: FloatArray, first: int, unit: float) -> LatticeRows:
    """Laws that are dominated; losses outside the cells are left out."""
    found = np.zeros((len(cells.first.value), losses.size))
    offsets, ratio = np.zeros(len(found)), np.exp(losses[:-1])
    for row, kept in enumerate(found):  # one by one, as their arrays then stay in the cache
        p = np.maximum(cells.first.value[row, 1:-1] - cells.first.error[row, 1:-1], 0.0)
        q = cells.second.value[row, 1:-1] + cells.second.error[row, 1:-1]
        weighed = q * ratio
        heaviest = int(p.argmax())
        if p[heaviest] > weighed[heaviest]:
            offsets[row] = min(math.log(p[heaviest] / weighed[heaviest]), unit)
        weighed *= math.exp(offsets[row])
        _lower_row(p, weighed, unit, kept)
    # Column k stands for first − 1 + k.
    return LatticeRows(found, first - 1, unit, offsets, 4.0 * _ROUNDED)


def _lower_row(p: FloatArray, weighed: FloatArray, unit: float, found: FloatArray) -> None:
    """One of them, from p and e^{m} q."""
    moment = p - weighed
    # What a cell above gives, and a cell below takes, for each outcome that is reported as its neighbour.
    beneath = math.exp(unit) * weighed[:-1] - p[:-1]
    above = p[1:] - math.exp(-unit) * weighed[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.where((moment[1:] > 0.0) & (beneath > 0.0), moment[1:] / beneath, 0.0)
        fall = np.where((moment[:-1] < 0.0) & (above > 0.0), -moment[:-1] / above, 0.0)

    def lend(least: FloatArray | float, most: FloatArray | float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares that go up and down, and what stays, if cells that rise keep `least` and those that fall `most`."""
        up = np.minimum(rise * (least[1:] if isinstance(least, np.ndarray) else least), _MOST_LENT)
        down = np.minimum(fall * (most[:-1] if isinstance(most, np.ndarray) else most), _MOST_LENT)
        stays = np.ones_like(p)
        stays[:-1] -= up
        stays[1:] -= down
        return up, down, stays

    # What stays falls with what was thought to stay: the iterates lie above and below their limit in turn.
    most: FloatArray | float = 1.0
    for _ in range(_SWEEPS):
        least = lend(most, most)[2]
        most, before = lend(least, least)[2], most
    least = lend(before, before)[2]
    up, down, stays = lend(least, before)
    mass, left = stays * p, stays * moment
    mass[1:] += up * p[:-1]
    left[1:] -= up * beneath
    mass[:-1] += down * p[1:]
    left[:-1] += down * above
    # −expm1(−h) (P′ − c) is what one point further down adds to the moment.
    good = left >= -_ROUNDED * mass
    lowered = ~good & (left - math.expm1(-unit) * (mass - left) >= _ROUNDED * mass)
    found[1:] = np.where(good, mass, 0.0)
    found[:-1] += np.where(lowered, mass, 0.0)
