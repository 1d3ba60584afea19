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

    def cut(self, log_leak: float, tilt: float) -> Self:  # noqa: ARG002
        """Return the part itself."""
        return self

    def resolve(self, tilt: float, frequency: float) -> Self:  # noqa: ARG002
        """Return the part itself."""
        return self


@dataclass(frozen=True)
class GaussianSteps(ClosedForm):
    """All Gaussian losses of a composition: K(z) = μ² z(z + 1)/2 with μ² = Σ T_j μ_j² = `square` > 0."""

    square: float
    supremum: float = math.inf

    def moments(self, tilts: FloatArray) -> FloatArray:
        """Return μ² l(l + 1)/2, μ² (l + ½), μ²."""
        return self.square * np.stack((0.5 * tilts * (tilts + 1.0), tilts + 0.5, np.ones_like(tilts)))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return K, raised by its rounding."""
        return np.asarray(self.moments(tilts)[0] * (1.0 + _ACCURACY))

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return |φ(t)|^T = e^{−μ² t²/2} exactly, which falls with t."""
        return np.asarray(-0.5 * self.square * frequencies * frequencies * (1.0 - _ACCURACY))

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T, real if centred at μ² (l + ½); an error of μ² moves its modulus and, against c, its phase."""
        frequencies, centre = line.frequencies, self.square * (line.tilt + 0.5)
        log_modulus, none = -0.5 * self.square * frequencies * frequencies, np.zeros_like(frequencies)
        rounding = _ACCURACY * (np.abs(log_modulus) + centre * frequencies)
        cumulant = self.square * 0.5 * line.tilt * (line.tilt + 1.0)
        return LineValues(log_modulus, none, none, rounding, centre, cumulant, _ACCURACY * cumulant)


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

    def moments(self, tilts: FloatArray) -> FloatArray:
        """Return K = T (−s/2 + log cosh xs + log(1 + f)) with f = tanh(xs)/2x, and its derivatives."""
        s, x = self.shift, tilts + 0.5
        turn, tanh = x * s, np.tanh(x * s)
        inner, rest = tanh / (2.0 * x), (1.0 - tanh) * (1.0 + tanh)
        near, far = 0.5 * np.log1p(np.sinh(np.minimum(turn, 1.0)) ** 2), turn + np.log1p(np.exp(-2.0 * turn))
        cumulant = np.where(turn < 1.0, near, far - math.log(2.0)) + (np.log1p(inner) - 0.5 * s)
        slope = (s * rest / (2.0 * x) - tanh / (2.0 * x * x)) / (1.0 + inner)
        second = -s * s * tanh * rest / x - s * rest / (x * x) + tanh / x**3
        variance = np.maximum(s * s * rest + second / (1.0 + inner) - slope * slope, 0.0)
        return np.asarray(self.count * np.stack((cumulant, s * tanh + slope, variance)))

    def _cumulant_error(self, tilts: FloatArray, cumulants: FloatArray) -> FloatArray:
        """Bound the error of K, the rounding of x included, as K₁′ ≤ s."""
        return UNIT_ROUNDOFF * (32.0 * self.count * self.shift * (1.5 + tilts) + 4.0 * np.abs(cumulants))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return K, raised by its error."""
        cumulants = self.moments(tilts)[0]
        return np.asarray(cumulants + self._cumulant_error(tilts, cumulants))

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
        s, x, tilts, frequencies = self.shift, line.tilt + 0.5, np.asarray([line.tilt]), line.frequencies
        moments = self.moments(tilts)
        mean, tanh, half = float(moments[1, 0]) / self.count, math.tanh(s * x), (0.5 * s) * frequencies
        fallen, turned = 2.0 * np.sin(half) ** 2, 2.0 * np.sin(half) * np.cos(half)
        real, imaginary = (-x) * tanh * fallen, x * turned - tanh * frequencies
        poles = 1.0 / (2.0 * x * (x * x + frequencies * frequencies))
        change = np.zeros(line.nodes, dtype=np.complex128)
        change.real = (real * x + imaginary * frequencies) * poles - fallen
        change.imag = (imaginary * x - real * frequencies) * poles + tanh * turned
        error = (UNIT_ROUNDOFF * (160.0 + 4.0 * x * s) * s) * frequencies
        scale = 1.0 + tanh / (2.0 * x)
        modulus, phase, growth, rounding = raise_to_power(change / scale, error, mean, frequencies, self.count)
        centre, cumulant_error = self.count * mean, float(self._cumulant_error(tilts, moments[0])[0])
        phase, rounding = phase - centre * frequencies, rounding + 4 * UNIT_ROUNDOFF * abs(centre) * frequencies
        return LineValues(modulus, phase, growth, rounding, centre, float(moments[0, 0]), cumulant_error)
