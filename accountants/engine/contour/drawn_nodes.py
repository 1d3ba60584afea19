"""One step of a drawn loss on the nodes of a rule: its losses with their masses, K, and the law tilted by e^{lL}."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI, TINY
from epsilond.accountants.engine.contour.noise import summation_error
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.drawn_loss import DrawnLoss
    from epsilond.accountants.engine.contour.drawn_rule import DrawnRule
    from epsilond.accountants.numerics.special import FloatArray


class TiltedLosses(NamedTuple):
    """The losses other than 0 under the law c(l + i·)/c(l), c = M − a; those left out next to 0 are one loss, the last.

    Attributes:
        weight: of each loss; they add up to 1.
        loss: its value.
        weight_error: bound on the error of a weight.
        loss_error: bound on the error of a loss.
        share: c(l)/M(l).
        cumulant: K(l) of one step.
        cumulant_error: bound on its error.
    """

    weight: FloatArray
    loss: FloatArray
    weight_error: FloatArray
    loss_error: FloatArray
    share: float
    cumulant: float
    cumulant_error: float


@dataclass(frozen=True)
class DrawnNodes:
    """A loss and a rule that is certified for it."""

    loss: DrawnLoss
    rule: DrawnRule

    @cached_property
    def ratio(self) -> FloatArray:
        """log r at every node."""
        return self.loss.log_ratio(self.rule.noise)

    @cached_property
    def ratio_error(self) -> FloatArray:
        """Bound on its error."""
        return self.loss.ratio_error(self.rule.noise) * self.ratio

    @cached_property
    def log_density(self) -> FloatArray:
        """log of h g′(v) φ(x)."""
        x = self.rule.noise + 0.5 * self.loss.shift
        return np.asarray(self.rule.log_weights - 0.5 * x * x - LOG_SQRT_2PI)

    @cached_property
    def density_error(self) -> FloatArray:
        """Bound on its error: x errs by twelve units of roundoff."""
        x = self.rule.noise + 0.5 * self.loss.shift
        return np.asarray(UNIT_ROUNDOFF * (24.0 * x * x + 4.0 * np.abs(self.rule.log_weights) + 48.0))

    @cached_property
    def missing(self) -> float:
        """The mass of losses next to 0 that no node stands for: 1 − a less what the nodes have."""
        both = np.exp(self.log_density) + np.exp(self.log_density + self.ratio)
        return self.loss.mass - float(both.sum())

    @cached_property
    def losses(self) -> FloatArray:
        """log r and −log r of all nodes, and 0."""
        return np.concatenate((self.ratio, -self.ratio, [0.0]))

    @cached_property
    def log_masses(self) -> FloatArray:
        """log of their masses under the first law."""
        log_zero = math.log(max(self.loss.atom + self.missing, TINY))
        return np.concatenate((self.log_density + self.ratio, self.log_density, [log_zero]))

    def cumulant(self, tilt: float) -> tuple[float, float]:
        """Return K(l) of one step and a bound on its error: M(l) − 1 is a sum of positive terms."""
        if tilt == 0.0:
            return 0.0, 0.0
        up, down = (1.0 + tilt) * self.ratio, tilt * self.ratio
        # (e^up − 1)(1 − e^−down) = e^up (1 − e^−up)(1 − e^−down)
        logs = self.log_density + up + np.log(-np.expm1(-up)) + np.log(-np.expm1(-down))
        top = max(float(logs.max()), 0.0)
        terms = np.exp(logs - top)
        relative = self.density_error + (2.0 + up) * self.loss.ratio_error(self.rule.noise)
        relative += UNIT_ROUNDOFF * (4.0 * np.abs(logs) + 4.0 * up + 32.0) + summation_error(terms.size)
        total, moved, one = float(terms.sum()), float(terms @ relative), math.exp(-top)
        value = top + math.log(one + total) if top > 0.0 else math.log1p(total)
        error = 1.01 * moved / (one + total) + 4 * UNIT_ROUNDOFF * (abs(value) + top) + 1.02 * self.rule.error
        return value, error

    def most_mass(self, tilt: float) -> float:
        """Return an upper bound of c(l)."""
        exponent = (self.log_masses + tilt * self.losses)[:-1]
        top = float(exponent.max())
        summed = math.exp(top + math.log(float(np.exp(exponent - top).sum())))
        return (summed + abs(self.missing)) * (1.0 + 1e-9) + 1.02 * self.rule.error * math.exp(self.cumulant(tilt)[0])

    def tilted(self, tilt: float) -> TiltedLosses:
        """Return the law tilted by e^{lL}."""
        logs = self.log_masses[:-1] + tilt * self.losses[:-1]
        errors = np.tile(self.density_error, 2) + (1.0 + tilt) * np.tile(self.ratio_error, 2)
        errors += UNIT_ROUNDOFF * (4.0 * np.abs(logs) + 32.0)
        top = float(logs.max())
        weights = np.append(np.exp(logs - top), self.missing * math.exp(-top))
        total = float(weights.sum())
        weights /= total
        moved = float(weights[:-1] @ errors) + summation_error(weights.size)
        # The last weight is a difference of masses, which are at most c(l).
        weight_errors = np.append(weights[:-1] * (errors + moved), 4.0 * moved)
        loss_errors = np.append(np.tile(self.ratio_error, 2), 0.0)
        value, error = self.cumulant(tilt)
        share = math.exp(top + math.log(total) - value)
        return TiltedLosses(weights, self.losses, weight_errors, loss_errors, share, value, error)
