"""Gaussian losses in closed form: K(z) = μ² z(z + 1)/2, with μ² = Σ T_j μ_j² for any number of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.transforms.transform import LineValues, Moments
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.transform import Line, NodeBudget
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class GaussianTransform:
    """All Gaussian parts of a composition at once: a part that is its own resolved form.

    Attributes:
        square: Σ T_j μ_j² > 0.
        accuracy: bound on its relative error.
    """

    square: float
    accuracy: float = 4 * UNIT_ROUNDOFF
    noise_nodes: int = 0
    supremum: float = math.inf
    log_leak: float = -math.inf

    @property
    def terms(self) -> None:
        """A closed form has none."""
        return None

    def cut_at(self, log_leak: float) -> GaussianTransform:  # noqa: ARG002
        """Itself: K is quadratic, without transitions."""
        return self

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> GaussianTransform:  # noqa: ARG002
        """Itself: a closed form needs no nodes."""
        return self

    def moments(self, tilts: FloatArray) -> Moments:
        """μ² l(l + 1)/2, μ² (l + ½), μ²."""
        return Moments(
            0.5 * self.square * tilts * (tilts + 1.0), self.square * (tilts + 0.5), np.full_like(tilts, self.square)
        )

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """K, raised by its rounding."""
        return np.asarray(0.5 * self.square * tilts * (tilts + 1.0) * (1.0 + self.accuracy + 8 * UNIT_ROUNDOFF))

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        """|φ(t)|^T = e^{−μ² t²/2} exactly, which falls with t."""
        return np.asarray(-0.5 * self.square * frequencies * frequencies * (1.0 - self.accuracy - 8 * UNIT_ROUNDOFF))

    def on_line(self, line: Line) -> LineValues:
        """Centred at μ² (λ + ½), the transform is real: e^{−μ² t²/2}."""
        frequencies = line.frequencies
        log_modulus = -0.5 * self.square * frequencies * frequencies
        centre = self.square * (line.tilt + 0.5)
        cumulant = 0.5 * self.square * line.tilt * (line.tilt + 1.0)
        relative = self.accuracy + 8 * UNIT_ROUNDOFF
        return LineValues(
            log_modulus=log_modulus,
            phase=np.zeros_like(frequencies),
            log_growth=np.zeros_like(frequencies),
            # An error of the square moves the modulus and, against the centre that is used, the phase.
            rounding=relative * (np.abs(log_modulus) + centre * frequencies),
            centre=centre,
            cumulant=cumulant,
            cumulant_error=relative * cumulant,
        )
