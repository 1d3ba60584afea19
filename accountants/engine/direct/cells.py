"""Masses of one step's loss in the cells of a lattice, a row for each step, under both laws.

The loss of a Poisson-subsampled Gaussian step is monotone in the noise, and its inverse is known in closed form: with
y = s x − s²/2 and r(x) = 1 − q + q e^y the loss l is met to remove where e^y = 1 + (e^l − 1)/q, to add where that holds
of −l, and to replace where u = e^{s x} solves b u² − a (e^l − 1) u − b e^l = 0, a = 1 − q, b = q e^{−s²/2}. A cell's
masses are those of the noise between the two floats that stand for its ends, so that the rounding of the ends moves
both laws' masses together; each comes with a bound of its own error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
    from epsilond.accountants.numerics.special import FloatArray

_TAIL_UNITS = 8
"""Φ of a negative argument is within this many units of roundoff times 1 + x²: three were measured."""
_TINY = 1e-300
_FAR = 7.3
"""Standard deviations of the noise beyond which a law holds e^−29."""

_P, _Q = 0, 1
_MEANS: dict[Direction, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "remove": ((0, 1), (0,)),
    "add": ((0,), (0, -1)),
    "replace": ((0, 1), (0, -1)),
}
"""Means of the noise under both laws, in shifts, in the direction in which the loss rises; the first is not sampled."""


class Masses(NamedTuple):
    """Masses and bounds of their errors."""

    value: FloatArray
    error: FloatArray

    @property
    def upper(self) -> FloatArray:
        """No smaller than the truth."""
        return self.value + self.error

    @property
    def lower(self) -> FloatArray:
        """No larger than the truth, and at least 0."""
        return np.maximum(self.value - self.error, 0.0)


@dataclass(frozen=True, eq=False)
class StepRows:
    """Different steps of one direction with their counts, one in each row.

    Attributes:
        rate: a column, 0 < q < 1.
        shift: a column, s > 0.
        counts: how often each is run.
    """

    direction: Direction
    rate: FloatArray
    shift: FloatArray
    counts: tuple[int, ...]

    @classmethod
    def of(cls, laws: Sequence[tuple[SampledGaussianLaw, int]]) -> StepRows:
        """Of laws that have one direction."""
        rate, shift = (np.asarray([[getattr(law, name)] for law, _ in laws]) for name in ("rate", "shift"))
        return cls(laws[0][0].direction, rate, shift, tuple(count for _, count in laws))

    @property
    def total(self) -> int:
        """T."""
        return sum(self.counts)

    @property
    def supremum(self) -> float:
        """The largest loss of the composition, rounded up: finite to add."""
        if self.direction != "add":
            return math.inf
        each = -np.log1p(-self.rate[:, 0])
        return math.fsum(np.asarray(self.counts) * each) * (1.0 + 8 * UNIT_ROUNDOFF)

    def loss(self, noise: FloatArray | float) -> FloatArray:
        """L at a noise of each row, in the direction in which it rises; an estimate."""
        if self.direction == "add":
            return -self._log_ratio(-noise)
        found = self._log_ratio(noise)
        return found - self._log_ratio(-noise) if self.direction == "replace" else found

    def _log_ratio(self, noise: FloatArray | float) -> FloatArray:
        """log r(x)."""
        y = self.shift * (noise - 0.5 * self.shift)
        return np.asarray(np.logaddexp(np.log1p(-self.rate), np.log(self.rate) + y))

    def least_loss(self) -> float:
        """A loss below which hardly any step's loss lies under the first law, or one that no others make up for."""
        return max(float(self.loss(-_FAR).min()), -1.5 * self.supremum)

    def loss_at_depth(self, depth: float) -> FloatArray:
        """About the loss of each row that is exceeded with probability e^−depth; to add, its largest."""
        if self.direction == "add":
            return -np.log1p(-self.rate[:, 0])
        return self.loss(math.sqrt(2.0 * max(depth, 0.5)) + self.shift)[:, 0]

    def noise(self, losses: FloatArray) -> FloatArray:
        """The noise at which each row's loss is met, ∓∞ where it is always or never exceeded; increasing."""
        with np.errstate(divide="ignore"):
            if self.direction == "replace":
                kept, drawn = 1.0 - self.rate, self.rate * np.exp(-0.5 * self.shift**2)
                middle = kept * np.expm1(losses)
                root = np.sqrt(middle * middle + 4.0 * drawn * drawn * np.exp(losses))
                larger = np.abs(middle) + root
                ratio = np.where(middle >= 0.0, larger / (2.0 * drawn), 2.0 * drawn * np.exp(losses) / larger)
                return np.asarray(np.log(ratio) / self.shift)
            turned = -1.0 if self.direction == "add" else 1.0
            odds = np.maximum(1.0 + np.expm1(turned * losses) / self.rate, 0.0)
            return np.asarray(turned * (np.log(odds) / self.shift + 0.5 * self.shift))

    def cells(self, losses: FloatArray) -> Cells:
        """Masses between increasing losses, below the first and above the last."""
        noise = self.noise(losses)
        parts = {
            mean: _between(noise - mean * self.shift)
            for mean in {*_MEANS[self.direction][0], *_MEANS[self.direction][1]}
        }
        laws = []
        for means in _MEANS[self.direction]:
            value, error = parts[0]
            if len(means) > 1:
                other, more = parts[means[1]]
                value = (1.0 - self.rate) * value + self.rate * other
                error = (1.0 - self.rate) * error + self.rate * more
            laws.append(Masses(value, error + 8 * UNIT_ROUNDOFF * value))
        return Cells(*laws)


def _between(ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard normal masses below the first end, between each two and above the last, and bounds of their errors."""
    beyond = np.concatenate((np.full((len(ends), 1), -np.inf), ends, np.full((len(ends), 1), np.inf)), axis=1)
    below = beyond < 0.0
    tail = ndtr(-np.abs(beyond))
    square = np.minimum(beyond * beyond, 2e3)
    wrong = (_TAIL_UNITS * UNIT_ROUNDOFF) * (1.0 + square) * tail + _TINY
    same = below[:, 1:] == below[:, :-1]
    mass = np.where(same, np.abs(tail[:, 1:] - tail[:, :-1]), 1.0 - tail[:, 1:] - tail[:, :-1])
    return mass, wrong[:, 1:] + wrong[:, :-1] + 2 * UNIT_ROUNDOFF * mass


class Cells(NamedTuple):
    """Columns: below the first loss, each cell in turn, above the last loss; a row for each step."""

    first: Masses
    second: Masses
