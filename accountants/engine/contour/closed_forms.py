"""Gaussian and Laplace losses in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.engine.contour.part import LineValues, raise_to_power
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from typing import Self

    from epsilond.accountants.engine.contour.part import Line
    from epsilond.accountants.numerics.special import FloatArray

_ACCURACY = 32 * UNIT_ROUNDOFF
"""Relative error of μ², of a square root that it may come from, and of products with it."""


class ClosedForm:
    """A part that is its own transform at every tilt: nothing is left out, and no nodes are needed."""

    log_leak: ClassVar[float] = -math.inf

    @property
    def supremum(self) -> float:
        """T sup L, rounded up; math.inf of an unbounded loss."""
        return math.inf

    @property
    def largest_loss(self) -> float:
        """Supremum of the total loss, because no losses are left out, in nats."""
        return self.supremum

    def trim(self, log_leak: float, tilt: float) -> Self:  # noqa: ARG002
        """Return the part itself."""
        return self

    def resolve(self, tilt: float, frequency: float) -> Self:  # noqa: ARG002
        """Return the part itself."""
        return self


@dataclass(frozen=True)
class GaussianSteps(ClosedForm):
    """All Gaussian losses of a composition: K(z) = μ² z(z + 1)/2 with μ² = Σ T_j μ_j² = `square` > 0."""

    square: float

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return μ² l(l + 1)/2, μ² (l + ½), μ²."""
        return self.square * 0.5 * tilt * (tilt + 1.0), self.square * (tilt + 0.5), self.square

    def upper_cumulant(self, tilt: float) -> float:
        """Return K, raised by its rounding."""
        return self.moments(tilt)[0] * (1.0 + _ACCURACY)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return |φ(t)|^T = e^{−μ² t²/2} exactly, which falls with t."""
        return np.asarray(-0.5 * self.square * frequencies * frequencies * (1.0 - _ACCURACY))

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T, real if centred at μ² (l + ½); an error of μ² moves its modulus and, against c, its phase."""
        frequencies, (cumulant, centre, _) = line.frequencies, self.moments(line.tilt)
        log_modulus, zeros = -0.5 * self.square * frequencies * frequencies, np.zeros_like(frequencies)
        rounding = _ACCURACY * (np.abs(log_modulus) + centre * frequencies)
        return LineValues(log_modulus, zeros, zeros, rounding, centre, cumulant, _ACCURACY * cumulant)


@dataclass(frozen=True)
class LaplaceSteps(ClosedForm):
    """T steps with M(z) = e^{−s/2} (cosh ws + sinh(ws)/2w), w = z + ½ = x + it, s = `shift` > 0 (A7).

    The loss is ±s with probability ½ and ½e^{−s}, and has the density ¼e^{−(s − v)/2} between.
    """

    shift: float
    count: int

    @property
    def supremum(self) -> float:
        """T s, rounded up."""
        return self.count * self.shift * (1.0 + 4 * UNIT_ROUNDOFF)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return K = T (−s/2 + log cosh xs + log(1 + f)) with f = tanh(xs)/2x, and its derivatives."""
        s, x = self.shift, tilt + 0.5
        turn, tanh = x * s, math.tanh(x * s)
        inner, rest = tanh / (2.0 * x), (1.0 - tanh) * (1.0 + tanh)
        near = 0.5 * math.log1p(math.sinh(min(turn, 1.0)) ** 2)
        log_cosh = near if turn < 1.0 else turn + math.log1p(math.exp(-2.0 * turn)) - math.log(2.0)
        slope = (s * rest / (2.0 * x) - tanh / (2.0 * x * x)) / (1.0 + inner)
        second = -s * s * tanh * rest / x - s * rest / (x * x) + tanh / x**3
        variance = max(s * s * rest + second / (1.0 + inner) - slope * slope, 0.0)
        cumulant = log_cosh + (math.log1p(inner) - 0.5 * s)
        return self.count * cumulant, self.count * (s * tanh + slope), self.count * variance

    def _cumulant_error(self, tilt: float, cumulant: float) -> float:
        """Bound the error of K, the rounding of x included, as K₁′ ≤ s."""
        return UNIT_ROUNDOFF * (32.0 * self.count * self.shift * (1.5 + tilt) + 4.0 * abs(cumulant))

    def upper_cumulant(self, tilt: float) -> float:
        """Return K, raised by its error."""
        cumulant = self.moments(tilt)[0]
        return cumulant + self._cumulant_error(tilt, cumulant)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Return T log of a bound of |φ(t′)| for all t′ ≥ t (A7, Decay): near t = 0, up to π/2s, and from any t on."""
        s, x = self.shift, tilt + 0.5
        turn, inner, quarter = s * x, math.tanh(s * x) / (2.0 * x), 0.5 * math.pi / s
        far = (1.0 + 0.5 / np.maximum(frequencies, quarter)) / (1.0 + inner)
        sine = np.sin(np.minimum(s * frequencies, 0.5 * math.pi)) / math.cosh(min(turn, 350.0))
        fallen = sine * sine / (1.0 + np.sqrt((1.0 - sine) * (1.0 + sine)))
        near = np.where(frequencies < quarter, 1.0 - fallen / (1.0 + inner), 0.0)
        bound = np.maximum(near, far) * (1.0 + 32 * UNIT_ROUNDOFF * (1.0 + turn))
        return np.asarray(self.count * np.log(np.minimum(bound, 1.0)))

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T from φ − 1 in terms that are small where t is, within (160 + 4xs) u ts (A7, The change)."""
        s, x, frequencies = self.shift, line.tilt + 0.5, line.frequencies
        cumulant, centre, _ = self.moments(line.tilt)
        tanh, half = math.tanh(s * x), (0.5 * s) * frequencies
        fallen, turned = 2.0 * np.sin(half) ** 2, 2.0 * np.sin(half) * np.cos(half)
        real, imaginary = (-x) * tanh * fallen, x * turned - tanh * frequencies
        poles = 1.0 / (2.0 * x * (x * x + frequencies * frequencies))
        change = np.zeros(line.nodes, dtype=np.complex128)
        change.real = (real * x + imaginary * frequencies) * poles - fallen
        change.imag = (imaginary * x - real * frequencies) * poles + tanh * turned
        error = (UNIT_ROUNDOFF * (160.0 + 4.0 * x * s) * s) * frequencies
        scale = 1.0 + tanh / (2.0 * x)
        modulus, phase, growth, rounding = raise_to_power(
            change / scale, error, centre / self.count, frequencies, self.count
        )
        phase, rounding = phase - centre * frequencies, rounding + 4 * UNIT_ROUNDOFF * abs(centre) * frequencies
        cumulant_error = self._cumulant_error(line.tilt, cumulant)
        return LineValues(modulus, phase, growth, rounding, centre, cumulant, cumulant_error)
