"""Gaussian and Laplace losses in closed form (A7).

For all Gaussian losses together K(z) = μ² z(z + 1)/2 with μ² = Σ T_j μ_j². For one Laplace loss M(z) = e^{−s/2} (cosh ws + sinh(ws)/2w) for one step, w = z + ½ = x + it. With s the shift over the noise's scale, the loss is s with probability ½, −s with probability e^{−s}/2, and between
them it has the density e^{−(s − v)/2}/4. What does not decay along the line are the atoms. A run of one kind alone is
therefore split by how many of its losses lie between the ends: none and one are summed in closed form, and the
transform of the others falls as t^−2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.engine.contour.part import ClosedForm, LineValues, Moments, polar
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.part import Line, OneStep
    from epsilond.accountants.numerics.special import FloatArray

_ACCURACY = 16 * UNIT_ROUNDOFF
"""Relative error of the square, of a square root that it may come from, and of products with it."""


@dataclass(frozen=True)
class GaussianSteps(ClosedForm):
    """All Gaussian losses of a composition: a part that is its own form at real tilts.

    Attributes:
        square: Σ T_j μ_j² > 0, within a relative `ACCURACY`.
    """

    square: float
    supremum: float = math.inf

    def moments(self, tilts: FloatArray) -> Moments:
        """μ² l(l + 1)/2, μ² (l + ½), μ²."""
        half = 0.5 * self.square * tilts
        return Moments(half * (tilts + 1.0), self.square * (tilts + 0.5), np.full_like(tilts, self.square))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """K, raised by its rounding."""
        return self.moments(tilts).cumulant * (1.0 + 2 * _ACCURACY)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        """|φ(t)|^T = e^{−μ² t²/2} exactly, which falls with t."""
        return np.asarray(-0.5 * self.square * frequencies * frequencies * (1.0 - 2 * _ACCURACY))

    def on_line(self, line: Line, most_products: int) -> LineValues:  # noqa: ARG002
        """Centred at μ² (l + ½) the transform is real; an error of μ² moves its modulus and, against c, its phase."""
        frequencies, centre = line.frequencies, self.square * (line.tilt + 0.5)
        log_modulus = -0.5 * self.square * frequencies * frequencies
        cumulant = 0.5 * self.square * line.tilt * (line.tilt + 1.0)
        none = np.zeros_like(frequencies)
        rounding = 2 * _ACCURACY * (np.abs(log_modulus) + centre * frequencies)
        return LineValues(log_modulus, none, none, rounding, centre, cumulant, 2 * _ACCURACY * cumulant)


MOST_SPLIT = 1 << 14
"""Steps of one kind up to which its atoms are summed one by one, in arrays of as many doubles as frequencies."""
_LOG_2 = math.log(2.0)


@dataclass(frozen=True)
class LaplaceSteps(ClosedForm):
    """T steps of one kind, s > 0; the law is that of this very float."""

    shift: float
    count: int

    @property
    def supremum(self) -> float:
        """T s, rounded up."""
        return self.count * self.shift * (1.0 + 4 * UNIT_ROUNDOFF)

    def moments(self, tilts: FloatArray) -> Moments:
        """K = −s/2 + log cosh xs + log(1 + f) with f = tanh(xs)/2x, and its derivatives."""
        s, x = self.shift, tilts + 0.5
        turn, tanh = x * s, np.tanh(x * s)
        inner, rest = tanh / (2.0 * x), (1.0 - tanh) * (1.0 + tanh)
        small, far = 0.5 * np.log1p(np.sinh(np.minimum(turn, 1.0)) ** 2), turn + np.log1p(np.exp(-2.0 * turn)) - _LOG_2
        cumulant = np.where(turn < 1.0, small, far) + (np.log1p(inner) - 0.5 * s)
        slope = (s * rest / (2.0 * x) - tanh / (2.0 * x * x)) / (1.0 + inner)
        second = -s * s * tanh * rest / x - s * rest / (x * x) + tanh / x**3
        variance = np.maximum(s * s * rest + second / (1.0 + inner) - slope * slope, 0.0)
        return Moments(self.count * cumulant, self.count * (s * tanh + slope), self.count * variance)

    def _cumulant_error(self, x: FloatArray | float, cumulant: FloatArray | float) -> FloatArray:
        """Bound the error of K, the rounding of x included, as K′ ≤ s."""
        return np.asarray(
            self.count * 32 * UNIT_ROUNDOFF * self.shift * (1.0 + x) + 4 * UNIT_ROUNDOFF * np.abs(cumulant)
        )

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """K, raised by its error."""
        cumulant = self.moments(tilts).cumulant
        return cumulant + self._cumulant_error(tilts + 0.5, cumulant)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """T log of a bound of |φ(t′)| for all t′ ≥ t (A7, Decay): near t = 0, up to π/2s, and from any t on."""
        s, x = self.shift, tilt + 0.5
        turn, inner, quarter = s * x, math.tanh(s * x) / (2.0 * x), 0.5 * math.pi / s
        far = (1.0 + 0.5 / np.maximum(frequencies, quarter)) / (1.0 + inner)
        sine = np.sin(np.minimum(s * frequencies, 0.5 * math.pi)) / math.cosh(min(turn, 350.0))
        fallen = sine * sine / (1.0 + np.sqrt((1.0 - sine) * (1.0 + sine)))
        near = np.where(frequencies < quarter, 1.0 - fallen / (1.0 + inner), 0.0)
        bound = np.maximum(near, far) * (1.0 + 32 * UNIT_ROUNDOFF * (1.0 + turn))
        return np.asarray(self.count * np.log(np.minimum(bound, 1.0)))

    def on_line(self, line: Line, most_products: int) -> LineValues:  # noqa: ARG002
        """Return φ^T with its errors."""
        mean, cumulant = self._at(line.tilt)
        one = self._one_step(line, mean)
        error = float(self._cumulant_error(line.tilt + 0.5, cumulant))
        return LineValues(*(self.count * each for each in one), self.count * mean, cumulant, error)

    def _at(self, tilt: float) -> tuple[float, float]:
        """K₁′ and K at a tilt."""
        moments = self.moments(np.asarray([tilt]))
        return float(moments.mean[0]) / self.count, float(moments.cumulant[0])

    def _one_step(self, line: Line, mean: float) -> OneStep:
        """φ of one step from φ − 1 in terms that are small where t is; |φ̂ − φ| ≤ (160 + 4xs) u ts (A7, The change)."""
        s, x, frequencies = self.shift, line.tilt + 0.5, line.frequencies
        tanh, half = math.tanh(s * x), (0.5 * s) * frequencies
        sine, cosine = np.sin(half), np.cos(half)
        fallen, turned = 2.0 * sine * sine, 2.0 * sine * cosine
        real, imaginary = (-x) * tanh * fallen, x * turned - tanh * frequencies
        scale = 1.0 / (2.0 * x * (x * x + frequencies * frequencies))
        change = (real * x + imaginary * frequencies) * scale - fallen
        change = change + 1j * ((imaginary * x - real * frequencies) * scale + tanh * turned)
        error = (UNIT_ROUNDOFF * (160.0 + 4.0 * x * s) * s) * frequencies
        return polar(change / (1.0 + tanh / (2.0 * x)), error, mean, frequencies)


class Beside(NamedTuple):
    """What is summed in closed form beside an integral, over e^`log_scale`: ends of it at ε, and its slope."""

    log_scale: float
    lower: float
    upper: float
    slope: float


@dataclass(frozen=True)
class LaplaceRun(LaplaceSteps):
    """T steps of one kind, T ≤ `MOST_SPLIT`, without any other loss: the transform is M^T − a^T − T a^{T−1} c.

    a is the transform of the atoms and c that of the losses between them. K, its bounds and all units are those of the
    whole law.
    """

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Of Σ_{n ≥ 2} C(T, n) a^{T−n} c^n with |a| ≤ 1/(1 + f) and |c| ≤ 1/2t(1 + f), or of all three terms."""
        s, count, x = self.shift, self.count, tilt + 0.5
        log_atoms = -count * math.log1p(math.tanh(x * s) / (2.0 * x))
        mean = count * 0.5 / frequencies
        several = log_atoms + np.minimum(2.0 * np.log(mean) - _LOG_2, 0.0) + mean
        apart = np.logaddexp(super().log_decay(tilt, frequencies), log_atoms + np.log1p(mean))
        slack = 64 * UNIT_ROUNDOFF * (1.0 + count * s * (1.0 + x) + abs(log_atoms))
        return np.asarray(np.minimum(np.minimum(several, apart) + slack, 0.0))

    def on_line(self, line: Line, most_products: int) -> LineValues:  # noqa: ARG002
        """Return φ^T less the terms without, and with one, loss between the ends; each factor has its own error."""
        s, count, x, frequencies = self.shift, self.count, line.tilt + 0.5, line.frequencies
        mean, cumulant = self._at(line.tilt)
        one, centre = self._one_step(line, mean), count * mean
        tanh, turn = math.tanh(x * s), s * frequencies
        log_scale = -math.log1p(tanh / (2.0 * x))
        atoms = np.cos(turn) + 1j * (tanh * np.sin(turn))
        between = (tanh * np.cos(turn) + 1j * np.sin(turn)) / (2.0 * x + 2j * frequencies)
        # Of each factor, the error relative to its modulus, at least |tanh| of what is summed.
        off = UNIT_ROUNDOFF * (32.0 + (4.0 + 4.0 * x * s) * (1.0 + turn))
        size = np.maximum(np.abs(atoms), 1e-300)
        log_atoms, angle = np.log(size) + log_scale, np.angle(atoms)
        inner = np.exp((count - 1) * (log_atoms + 1j * angle))
        edge, single = inner * atoms * math.exp(log_scale), inner * between * (count * math.exp(log_scale))
        whole = np.exp(count * (one.log_modulus + 1j * one.phase))
        value = (whole - edge - single) * np.exp(-1j * centre * frequencies)
        grown = count * (one.log_growth + one.rounding) + UNIT_ROUNDOFF * (8.0 * count * np.abs(one.phase) + 64.0)
        spread = count * (np.log1p(off / size) + off)
        spread = spread + UNIT_ROUNDOFF * (8.0 * count * (np.abs(angle) + np.abs(log_atoms)) + 64.0)
        with np.errstate(over="ignore"):
            grown, spread = (np.expm1(np.minimum(each, 700.0)) for each in (grown, spread))
            error = np.abs(whole) * grown + (np.abs(edge) + np.abs(single)) * spread
            error += np.abs(inner) * (1.0 + spread) * (count * math.exp(log_scale)) * off
        total = np.abs(whole) + np.abs(edge) + np.abs(single)
        error += UNIT_ROUNDOFF * (4.0 * abs(centre) * frequencies + 64.0) * total
        modulus = np.maximum(np.abs(value), np.maximum(error, 1e-300))
        growth = np.log1p(np.where(np.abs(value) < modulus, 3.0, error / modulus))
        cumulant_error = float(self._cumulant_error(x, cumulant))
        none = np.zeros_like(frequencies)
        return LineValues(np.log(modulus), np.angle(value), growth, none, centre, cumulant, cumulant_error)

    def beside(self, epsilon: float) -> Beside:
        """What runs with at most one loss between the ends add to δ(ε) (A7, A run of one kind).

        Guarantees: roundings of totals move ε, those of masses the sum.
        """
        shift, count = self.shift, self.count
        totals, log_masses = _atoms(shift, count)
        singles, log_singles = _atoms(shift, count - 1)
        log_singles = log_singles + math.log(count)
        relative = 32 * UNIT_ROUNDOFF * (float(gammaln(count + 1.0)) + count * (shift + 1.0) + 64.0)
        moved = 8 * UNIT_ROUNDOFF * (count * shift + abs(epsilon))
        seen, near = totals > epsilon - 2 * moved, singles > epsilon - shift - 2 * moved
        top = max(float(log_masses[seen].max(initial=-math.inf)), float(log_singles[near].max(initial=-math.inf)))
        if top == -math.inf:
            return Beside(0.0, 0.0, 0.0, 0.0)
        mass, single = np.exp(log_masses[seen] - top), np.exp(log_singles[near] - top)
        least, most = (
            float(mass @ -np.expm1(np.minimum(at - totals[seen], 0.0)))
            + float(single @ self._one_between(at - singles[near]))
            for at in (epsilon + moved, epsilon - moved)
        )
        gap, left = epsilon - totals[seen], epsilon - singles[near]
        half = np.exp(0.5 * np.minimum(left - shift, 0.0))
        inside = -0.5 * (1.0 - half) * half
        bent = np.where(left >= -shift, inside, 0.5 * math.expm1(-shift) * np.exp(np.minimum(left, 0.0)))
        slope = -float(mass @ np.where(gap < 0.0, np.exp(np.minimum(gap, 0.0)), 0.0)) + float(single @ bent)
        return Beside(top, least * (1.0 - relative), most * (1.0 + relative), slope)

    def _one_between(self, gap: FloatArray) -> FloatArray:
        """½ (1 − e^{(g − s)/2})² for |g| ≤ s, ½ (1 − e^{−s})(1 − e^g) for g ≤ −s, and 0 beyond s."""
        edge = np.expm1(0.5 * np.minimum(gap - self.shift, 0.0))
        whole = 0.5 * math.expm1(-self.shift) * np.expm1(np.minimum(gap, 0.0))
        return np.asarray(np.where(gap >= -self.shift, 0.5 * edge * edge, whole))


def _atoms(shift: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Totals of so many losses at the ends, and the logarithms of their masses."""
    falls = np.arange(count + 1.0)
    log_choices = gammaln(count + 1.0) - gammaln(falls + 1.0) - gammaln(count - falls + 1.0)
    return shift * (count - 2.0 * falls), log_choices - count * _LOG_2 - falls * shift
