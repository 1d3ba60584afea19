"""T steps of the Poisson-subsampled Gaussian mechanism as a part of a composition, integrated over the whole line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.engine.contour.refusal import Reason, Refused
from epsilond.accountants.engine.contour.transforms.hard_cut import CutSampledGaussian
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grid import SampledGaussianGrid
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_loss import (
    LEAST_RATE,
    SampledGaussianLoss,
    Tilts,
)
from epsilond.accountants.engine.contour.transforms.whole_line import whole_line
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.transform import NodeBudget, Part


@dataclass(frozen=True)
class SampledGaussian:
    """T independent steps of one subsampled Gaussian loss."""

    loss: SampledGaussianLoss
    count: int

    @property
    def log_leak(self) -> float:
        """Nothing is left out."""
        return -math.inf

    @property
    def supremum(self) -> float:
        """T times the loss's own, rounded up."""
        return self.count * self.loss.supremum * (1.0 + 4 * UNIT_ROUNDOFF)

    def cut_at(self, log_leak: float) -> Part:
        """The same steps, those with noise outside an interval left out."""
        return CutSampledGaussian.leaking(self.loss, self.count, log_leak)

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> SampledGaussianGrid:
        """The widest trapezoidal grid that keeps the quadrature error of one step below e^−31/T.

        Raises:
            Refused: the grid exceeds the budget, or the rate is below 1e−100.
        """
        if self.loss.rate < LEAST_RATE:
            raise Refused(Reason.BEYOND_BUDGET, f"rate {self.loss.rate:g}")
        rule = whole_line(self.loss, self.count, Tilts(*tilts), frequency, budget.noise_nodes)
        return SampledGaussianGrid(self.loss, self.count, rule, frequency)
