"""Lattice laws of several mechanisms side by side, with how often each is run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.tilted import Weighted
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.lattice.cells.discretise import LatticeLaw
    from epsilond.accountants.numerics.special import FloatArray


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

    @property
    def top(self) -> int:
        """The largest finite total loss, in units."""
        return sum(count * int(law.index[-1]) for law, count in zip(self.laws, self.counts, strict=True))

    @property
    def misplacement(self) -> float:
        """Largest rounding of the total loss: a point k h, and an offset, are known to a relative 2u."""
        size = max(float(np.abs(law.index[np.abs(law.index) < 2**52]).max(initial=0)) for law in self.laws)
        drift = math.fsum(count * abs(law.offset) for law, count in zip(self.laws, self.counts, strict=True))
        return 4 * UNIT_ROUNDOFF * (size * self.unit * float(sum(self.counts)) + drift)

    @property
    def offset(self) -> float:
        """What every total loss exceeds its place by."""
        return math.fsum(count * law.offset for law, count in zip(self.laws, self.counts, strict=True))

    @property
    def excess(self) -> float:
        """By how much the composed total mass may exceed one."""
        total = math.fsum(count * law.excess for law, count in zip(self.laws, self.counts, strict=True))
        return math.expm1(min(total * (1 + 4 * UNIT_ROUNDOFF), 700.0))

    def log_infinite_mass(self, *, direction: int) -> float:
        """log(1 − Π (1 − a_j)^{T_j}), rounded up (direction 1) or down (−1)."""
        return joined_atoms([law.log_atom for law in self.laws], self.flat.counts, direction=direction)


def joined_atoms(log_atoms: Sequence[float], counts: FloatArray, *, direction: int) -> float:
    """log(1 − Π (1 − a_j)^{T_j}), rounded up (direction 1) or down (−1)."""
    logs = np.asarray(log_atoms)
    with np.errstate(divide="ignore"):
        # log(−log(1 − a)): for small a the series, as a itself may underflow.
        rates = np.where(logs < -30.0, logs, np.log(-np.log1p(-np.exp(np.minimum(logs, 0.0)))))
    log_rate = float(np.logaddexp.reduce(rates + np.log(counts)))
    if math.isinf(log_rate):
        return 0.0 if log_rate > 0 else -math.inf
    joined = log_rate if log_rate < -36.0 else math.log(-math.expm1(-math.exp(min(log_rate, 700.0))))
    slack = (32 + 4 * logs.size) * UNIT_ROUNDOFF * (1.0 + abs(joined) + abs(log_rate))
    return min(joined + direction * slack, 0.0)
