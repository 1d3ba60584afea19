"""Subsampled Gaussian steps with the noise cut to an interval: for first-order transitions of the transform.

For large tilts K is dominated by giant losses of probability e^−1000 that have no part in δ; the saddle sticks where
they take over, and tails of the noise that matter even less limit the quadrature. With steps of noise outside
[x_a, x_b] left out, D_cut ≤ D ≤ D_cut + T P(x ∉ [x_a, x_b]): where a step falls there, (1 − e^{ε−S})₊ is at most 1
(docs/engine-certificate.md, A2, hard cut). The caller says how much to leak.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.engine.contour.transforms.panels import panels
from epsilond.accountants.engine.contour.transforms.sampled_gaussian import DECAY_NATS, QUADRATURE_NATS
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grid import SampledGaussianGrid
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.sampled_gaussian import SampledGaussianLoss
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget
    from epsilond.accountants.numerics.special import FloatArray

_CANDIDATES = 48


@dataclass(frozen=True)
class CutSampledGaussian:
    """T steps of a loss of which those with noise outside an interval are left out.

    Attributes:
        loss: of one step.
        count: T.
        low: x_a ≤ 0, in standard deviations of the noise.
        high: x_b ≥ 0.
    """

    loss: SampledGaussianLoss
    count: int
    low: float
    high: float

    @classmethod
    def leaking(cls, loss: SampledGaussianLoss, count: int, log_leak: float) -> CutSampledGaussian:
        """The interval outside which T P falls to e^{log_leak}, nearly, half on each side."""
        ends = [_quantile(loss, side, log_leak - math.log(2.0 * count)) for side in (-1, 1)]
        return cls(loss, count, -ends[0], ends[1])

    @property
    def supremum(self) -> float:
        """Of the loss that is not cut."""
        return self.count * self.loss.supremum * (1.0 + 4 * UNIT_ROUNDOFF)

    @property
    def log_leak(self) -> float:
        """Upper bound of log(T P(x ∉ [x_a, x_b])), P the first law."""
        sides = [float(_log_tail(self.loss, side, np.asarray(end))) for side, end in ((-1, -self.low), (1, self.high))]
        value = math.log(self.count) + float(np.logaddexp.reduce(sides))
        return value + 1e-12 * (1.0 + abs(value))

    def cut_at(self, log_leak: float) -> CutSampledGaussian:
        """The same loss with its noise cut at other points."""
        return self.leaking(self.loss, self.count, log_leak)

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> SampledGaussianGrid:
        """Panels over the interval.

        Raises:
            ContourRefused: they exceed the budget.
        """
        nats = QUADRATURE_NATS + math.log(self.count) + (DECAY_NATS / self.count if frequency == 0.0 else 0.0)
        interval, most_nodes = (self.low, self.high), budget.noise_nodes
        rule = panels(self.loss, nats, interval, tilt=tilts[1], frequency=frequency, most_nodes=most_nodes)
        return SampledGaussianGrid(self.loss, self.count, rule, frequency)


def _log_tail(loss: SampledGaussianLoss, side: int, end: FloatArray) -> FloatArray:
    """log P(side · x > end) under the first law."""
    unsampled = log_ndtr(-end)
    if not loss.exponents.density:
        return np.asarray(unsampled)
    sampled = log_ndtr(side * loss.shift - end)
    return np.asarray(np.logaddexp(math.log1p(-loss.rate) + unsampled, math.log(loss.rate) + sampled))


def _quantile(loss: SampledGaussianLoss, side: int, log_mass: float) -> float:
    """An end ≥ 0 beyond which the first law holds e^{log_mass} at most, nearly."""
    low, high = 0.0, loss.shift + math.sqrt(2.0 * max(-log_mass, 1.0)) + 1.0
    for _ in range(3):
        candidates = np.linspace(low, high, _CANDIDATES)
        first = int(np.argmax(_log_tail(loss, side, candidates) <= log_mass))
        low, high = float(candidates[max(first - 1, 0)]), float(candidates[first])
    return high
