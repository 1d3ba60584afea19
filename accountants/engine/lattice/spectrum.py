"""Transform of a composed lattice distribution on one tilted line, and δ from it, with every error charged.

For distributions on multiples of h, N frequencies t_k = 2πk/(Nh), z_k = λ + i t_k and M the composed transform,

    (1/N) Σ_{k mod N} M(z_k) G(z_k) = Σ_m e^{λ m A} D(ε + mA),  A = Nh,  G(z) = Σ_{lattice s > ε} e^{−zs} (1 − e^{ε−s}),

exactly (docs/engine-certificate.md B3; the node k = N/2 of an even N counts once). All terms on the right are ≥ 0, so
the sum exceeds D(ε) by the alias only, which `Chernoff` bounds. G continues to −1 < λ < 0, where the same sum is
−E[min(1, e^{ε−S})] plus an alias of the same sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.fft import irfft

from epsilond.accountants.engine.lattice.tilted import FlatDistributions, IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_expm1

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"
TINY = 1e-300
"""Least argument of a logarithm, in place of 0: its logarithm is below all that is added."""
_MOST_REMEMBERED = 64
"""Number of sums that are remembered: those of one search."""
_DENSE, _MOST_IN_TABLE = 32, 2**20
"""Share 1/32 of the N frequencies above which one FFT replaces a few sums, and its largest N: a table of 8 MB."""


class LogBounds(NamedTuple):
    """Lower and upper bound of the logarithm of a positive number. The lower bound may be −∞."""

    lower: float
    upper: float


class Kernel(NamedTuple):
    """The factor of δ that multiplies the transform M(z) at the frequencies t_k, z_k = λ + it_k.

    It is 1/((1 − e^{−zh})(1 − e^{−(1+z)h}))/N for N lattice points of unit h, doubled for a frequency with a mirror
    image. For λ < 0 it is multiplied by e^{|λ|h}, which `scaled_steps` divides by: e^{|λ|h} overflows on a wide
    lattice.
    """

    values: ComplexArray

    @classmethod
    def at(cls, frequencies: IntArray, size: int, unit: float, coordinate: TiltCoordinate) -> Kernel:
        """Evaluate the kernel at some frequencies.

        Args:
            frequencies: indices 0 ≤ k ≤ N/2.
            size: number N of lattice points in a period.
            unit: lattice unit h, in nats.
            coordinate: the tilt.
        """
        half_angle = (np.pi / size) * frequencies
        sine, cosine = np.sin(half_angle), np.cos(half_angle)
        has_no_mirror = (frequencies == 0) | (2 * frequencies == size)
        scale = np.where(has_no_mirror, 1.0, 2.0) / size
        above = _one_minus_exp(coordinate.above * unit, sine, cosine)
        if coordinate.tilt > 0.0:
            return cls(scale / (_one_minus_exp(coordinate.tilt * unit, sine, cosine) * above))
        # 1/(1 − e^{−zh}) = −e^{zh}/(1 − e^{zh}), where e^{zh} = e^{−|λ|h} e^{iθ}.
        below = _one_minus_exp(-coordinate.tilt * unit, sine, -cosine)
        return cls(-(scale / (below * above)) * (cosine + 1j * sine) ** 2)


def _one_minus_exp(decay: float, sine: FloatArray, cosine: FloatArray) -> ComplexArray:
    """Return 1 − e^{−a − iθ} = 1 − e^{−a} + 2 e^{−a} sin²(θ/2) + 2i e^{−a} sin(θ/2) cos(θ/2), without cancellation.

    With −cos(θ/2) in place of cos(θ/2) the result is 1 − e^{−a + iθ}.

    Args:
        decay: a ≥ 0.
        sine: sin(θ/2).
        cosine: cos(θ/2).
    """
    scaled_sine = 2.0 * math.exp(-decay) * sine
    values = np.empty(sine.shape, dtype=np.complex128)
    values.real = scaled_sine * sine - math.expm1(-decay)
    values.imag = scaled_sine * cosine
    return values


def scaled_steps(gap: float, unit: float, tilt: float) -> tuple[float, float]:
    """Return the factors e^{−λg} (1 − e^{−g}) and e^{−λ(g+h)} (e^{−g} − e^{−h}) in `Spectrum.log_integral`.

    For λ < 0 both are multiplied by e^{λh}, because `Kernel` is multiplied by e^{−λh}.

    Args:
        gap: g, the distance from ε to the next lattice point, in nats.
        unit: lattice unit h, in nats.
        tilt: λ.
    """
    log_scale = min(tilt * unit, 0.0)
    near = math.exp(log_scale - tilt * gap) * -math.expm1(-gap)
    far = math.exp(log_scale - tilt * (gap + unit) - gap) * -math.expm1(gap - unit)
    return near, far


class Weights(NamedTuple):
    """Sums over all frequencies: |kernel| |φ^T| (`sizes`), and |kernel| times the error bound of φ^T (`charges`)."""

    sizes: float
    charges: float


# Re Σ of the terms, rotated to a lattice point and to the next one above it ------------------------------------------
@dataclass(frozen=True)
class DirectSums:
    """Real parts of sums Σ_k a_k e^{−2πi k n/N} of terms a_k at few frequencies, computed for one n at a time.

    Attributes:
        size: number N of lattice points in a period.
        frequencies: indices k.
        terms: a_k.
    """

    size: int
    frequencies: IntArray
    terms: ComplexArray
    _remembered: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes."""
        return self.frequencies.nbytes + self.terms.nbytes

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of a sum, relative to Σ |a_k| (docs/engine-certificate.md, B3)."""
        return (self.frequencies.size + 8) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Return Re Σ_k a_k e^{−2πikn/N} for n = `offset` and for n + 1, where 0 ≤ n < N.

        The result is stored. If there are `_MOST_REMEMBERED` stored ones, they are first dropped.
        """
        if offset not in self._remembered:
            step = -2j * np.pi / self.size
            rotated = self.terms * np.exp(step * self.turns(offset))
            sum_at_point = float(rotated.real.sum())
            rotated *= np.exp(step * self.frequencies)
            sum_at_next = float(rotated.real.sum())
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[offset] = sum_at_point, sum_at_next
        return self._remembered[offset]

    def turns(self, offset: int) -> FloatArray:
        """Return frequencies · offset mod size, exactly."""
        if self.size < 2**31:
            return ((self.frequencies * offset) % self.size).astype(np.float64)
        turns = np.zeros_like(self.frequencies)
        for digit in format(offset, "x"):  # no product reaches 2^63, as no size reaches 2^58
            turns = (16 * turns + int(digit, 16) * self.frequencies) % self.size
        return turns.astype(np.float64)


@dataclass(frozen=True)
class TabulatedSums:
    """Table of the sums Re Σ_k a_k e^{−2πikn/N} of terms a_k for every lattice point 0 ≤ n < N, by one FFT."""

    table: FloatArray

    @classmethod
    def of(cls, size: int, frequencies: IntArray, terms: ComplexArray) -> TabulatedSums:
        """Compute the sums at all lattice points by one FFT. The terms, which are larger than the table, are not kept.

        Args:
            size: number N of lattice points in a period.
            frequencies: indices 0 ≤ k ≤ N/2.
            terms: φ(t_k)^T times the kernel.
        """
        halves = np.zeros(size // 2 + 1, dtype=np.complex128)
        halves[frequencies] = 0.5 * size * np.conj(terms)
        # The kernel does not double the frequencies without a mirror image.
        halves[0] *= 2.0
        if size % 2 == 0:
            halves[-1] *= 2.0
        return cls(np.asarray(irfft(halves, size)))

    @property
    def nbytes(self) -> int:
        """Size of the array, in bytes."""
        return self.table.nbytes

    @property
    def rounding(self) -> float:
        """Error of an FFT, relative to the sum of all sizes (docs/engine-certificate.md, B3)."""
        return (10.0 * math.log2(self.table.size) + 16.0) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Return the sums at n = `offset` and at the next lattice point, where 0 ≤ n < N."""
        return float(self.table[offset]), float(self.table[(offset + 1) % self.table.size])


Sums: TypeAlias = DirectSums | TabulatedSums


def sum_terms(size: int, frequencies: IntArray, terms: ComplexArray) -> Sums:
    """Prepare the sums Re Σ_k a_k e^{−2πikn/N}: as a table over all n if this is cheaper than a few direct sums.

    Args:
        size: number N of lattice points in a period.
        frequencies: indices 0 ≤ k ≤ N/2.
        terms: a_k = φ(t_k)^T times the kernel.
    """
    if size <= _MOST_IN_TABLE and frequencies.size * _DENSE > size:
        return TabulatedSums.of(size, frequencies, terms)
    return DirectSums(size, frequencies, terms)


@dataclass(frozen=True)
class Spectrum:
    """The transform of a composition at one tilt λ, on the frequencies t_k where it is not negligible.

    It serves every ε near the one that the tilt was chosen for. `Kernel` is the factor of the transform in δ.

    Attributes:
        coordinate: λ as a coordinate.
        unit: lattice unit h, in nats.
        size: number N of lattice points in a period.
        centre: lattice index of the total loss at which φ^T is centred.
        log_prefactor: K(λ), the log of the composed moment.
        rounding: bound on its error.
        sums: sums of φ(t_k)^T times the kernel, for any lattice point.
        weights: sums of the moduli of these terms, and of their errors.
        skipped: bound on Σ |φ^T| over all other of the N frequencies.
        chernoff: bounds of the alias, by which the sum over frequencies exceeds δ (module docstring).
        alias_slack: bound on the error of the log of the alias.
    """

    coordinate: TiltCoordinate
    unit: float
    size: int
    centre: int
    log_prefactor: float
    rounding: float
    sums: Sums
    weights: Weights
    skipped: float
    chernoff: Chernoff
    alias_slack: float

    @property
    def nbytes(self) -> int:
        """Size of the arrays in bytes, which is nearly all the memory of the transform."""
        return self.sums.nbytes

    def log_integral(self, epsilon: float) -> LogBounds:
        """Enclose log D(ε), or log(1 − δ) = log E[min(1, e^{ε−S})] if the tilt is negative.

        With g the gap from ε to the first lattice point s above it, G(z) e^{zs} is the kernel times (1 − e^{−g}) +
        e^{−zh} (e^{−g} − e^{−h}). So one sum at s and one at s + h serve a whole cell. The alias is not negative, so
        that it is charged to the lower bound only.

        Guarantees: both bounds hold for the lattice distributions of this transform, at every tilt and ε.
        """
        tilt, unit = self.coordinate.tilt, self.unit
        first_point = math.floor(epsilon / unit) + 1
        gap = min(max(first_point * unit - epsilon, 0.0), unit)
        near, far = scaled_steps(gap, unit, tilt)
        sum_at_point, sum_at_next = self.sums.at((first_point - self.centre) % self.size)
        total = math.copysign(1.0, tilt) * (near * sum_at_point + far * sum_at_next)
        term_errors = self.weights.charges + (64 * UNIT_ROUNDOFF + self.sums.rounding) * self.weights.sizes
        error = (near + far) * term_errors
        error += self.skipped * self.largest_kernel(gap)
        # An error of 4u ε in the gap moves the sum by at most that share of a Chernoff bound with C = 1.
        error += 4 * UNIT_ROUNDOFF * abs(epsilon)
        log_scale = self.log_prefactor - tilt * epsilon
        slack = self.rounding + 8 * UNIT_ROUNDOFF * (abs(self.log_prefactor) + abs(tilt * epsilon) + 8.0)
        log_alias = self.chernoff.log_alias(epsilon, self.size * unit, log_scale) + self.alias_slack
        alias = math.exp(min(log_alias, 700.0))
        upper = log_scale + math.log(max(total + error, TINY)) + slack
        least = total - error - alias
        lower = log_scale + math.log(least) - slack if least > 0 else -math.inf
        return LogBounds(lower, upper)

    def largest_kernel(self, gap: float) -> float:
        """Return an upper bound on 2|G(z_k)|/N (module docstring) at any frequency, in units of e^{−λε}.

        Args:
            gap: distance from ε to the next lattice point, in nats. |G| is largest at the frequency 0.
        """
        tilt, unit = self.coordinate.tilt, self.unit
        near, far = scaled_steps(gap, unit, tilt)
        denominator = math.expm1(-abs(tilt) * unit) * math.expm1(-self.coordinate.above * unit)
        return 2.0 * (near + far) / denominator / self.size * (1 + 1e-12)


# Chernoff bounds of δ at other tilts, which bound the alias of a periodic sum ---------------------------------------
def log_chernoff_constant(tilt: float) -> float:
    """Return log C(μ), where C = max_y (1 − e^{−y})₊ e^{−μy} = μ^μ/(1 + μ)^{1+μ} for μ ≥ 0.

    C = 1 for −1 ≤ μ ≤ 0, where the inequality min(1, e^{−y}) ≤ e^{μy} is used.
    """
    if tilt <= 0:
        return 0.0
    return -math.log1p(tilt) - tilt * math.log1p(1.0 / tilt)


@dataclass(frozen=True)
class Chernoff:
    """Values b(μ) = log C(μ) + K(μ) at tilts μ on both sides of λ, which bound an alias.

    A lattice sum with period A equals Σ_m e^{λmA} D(ε + mA), all terms non-negative, so it exceeds D(ε) by at most

        C(μ) e^{K(μ) − με} / (e^{(μ−λ)A} − 1) + C(ν) e^{K(ν) − νε} / (e^{(λ−ν)A} − 1),      ν < λ < μ.

    Attributes:
        tilt: λ.
        above: pairs (μ, b(μ)) with μ > λ.
        below: pairs (ν, b(ν)) with ν < λ.

    Source: docs/engine-certificate.md, A1.
    """

    tilt: float
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]

    @classmethod
    def around(cls, laws: FlatDistributions, coordinate: TiltCoordinate) -> Chernoff:
        """Evaluate the bound at tilts from half a reciprocal standard deviation to twelve away, where it is valid.

        It is valid for μ ≥ 0 if λ > 0, and for −1 ≤ μ ≤ 0 if λ < 0.

        Args:
            laws: the distributions.
            coordinate: λ as a coordinate.
        """
        tilt = coordinate.tilt
        scale = math.sqrt(laws.cumulants(tilt).variance + coordinate.stiffness)
        least, most = (0.0, math.inf) if coordinate.direct else (-1.0, 0.0)
        # Distances from λ in units of the reciprocal standard deviation.
        steps = (0.5, 1.0, 2.0, 3.2, 5.0, 8.0, 12.0)
        above = sorted({min(tilt + step / scale, most) for step in steps} - {tilt})
        below = sorted({max(tilt - step / scale, least) for step in steps} - {tilt})
        return cls(
            tilt,
            tuple((mu, log_chernoff_constant(mu) + laws.value(mu)) for mu in above),
            tuple((nu, log_chernoff_constant(nu) + laws.value(nu)) for nu in below),
        )

    def log_alias(self, epsilon: float, period: float, log_unit: float) -> float:
        """Return the log of the bound on the alias, relative to e^{log_unit}, with the best tilt on each side.

        Args:
            epsilon: ε, in nats.
            period: period A of the lattice sum, in nats.
            log_unit: log of the unit of the result.
        """

        def log_bound(tilt: float, value: float) -> float:
            return value - tilt * epsilon - log_unit - log_expm1(abs(tilt - self.tilt) * period)

        total = -math.inf
        for side in (self.above, self.below):
            total = float(np.logaddexp(total, min(log_bound(tilt, value) for tilt, value in side)))
        return total

    def period(self, epsilon: float, log_target: float) -> float:
        """Return a period A, in nats, with an alias at ε of about e^{log_target} at most.

        On each side of λ, the alias is about e^{b(μ) − με − |μ−λ|A} for the best tilt μ.
        """

        def shortest_period(side: tuple[tuple[float, float], ...]) -> float:
            return min((value - tilt * epsilon - log_target) / abs(tilt - self.tilt) for tilt, value in side)

        return max(shortest_period(self.above), shortest_period(self.below))


def estimate_period(
    laws: FlatDistributions, coordinate: TiltCoordinate, log_width: float, chernoff: Chernoff | None = None
) -> float:
    """Return a period of the lattice sum, in nats, with an alias (`Chernoff`) of about 2 % of the required width of δ.

    This also holds at ε up to a standard deviation of the tilted total loss away from the ε for which the tilt is best.

    Args:
        laws: the distributions.
        coordinate: the tilt.
        log_width: log of the width, relative to the estimate of δ.
        chernoff: the Chernoff bounds around the tilt, if they are known.
    """
    bounds = Chernoff.around(laws, coordinate) if chernoff is None else chernoff
    two_percent = -4.0  # as a logarithm
    period = bounds.period(laws.centre(coordinate), laws.estimate(coordinate) + log_width + two_percent)
    return period + math.sqrt(laws.cumulants(coordinate.tilt).variance)
