"""Transform of a composed lattice distribution on one tilted line, and δ from it, with every error charged.

For distributions on multiples of h, N frequencies t_k = 2πk/(Nh), z_k = λ + i t_k and M the composed transform,

    (1/N) Σ_{k mod N} M(z_k) G(z_k) = Σ_m e^{λ m A} D(ε + mA),  A = Nh,  G(z) = Σ_{lattice s > ε} e^{−zs} (1 − e^{ε−s}),

exactly (docs/engine-certificate.md B3; the node k = N/2 of an even N counts once). All terms on the right are ≥ 0, so
the sum exceeds D(ε) by the alias of `chernoff.Chernoff` only. G continues to −1 < λ < 0, where the same sum is
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
    """Bounds of the logarithm of a positive number; the lower bound may be −∞."""

    lower: float
    upper: float


class Kernel(NamedTuple):
    """1/((1 − e^{−zh}) (1 − e^{−(1+z)h})) at frequencies k ≥ 0, over N, and doubled for those with a mirror image.

    For λ < 0 it is multiplied by e^{|λ|h}, which `scaled_steps` divides by: e^{|λ|h} overflows on a wide lattice.
    """

    values: ComplexArray

    @classmethod
    def at(cls, frequencies: IntArray, size: int, unit: float, place: TiltCoordinate) -> Kernel:
        """Evaluate the kernel at some frequencies.

        Args:
            frequencies: indices 0 ≤ k ≤ N/2.
            size: number N of lattice points in a period.
            unit: lattice unit h, in nats.
            place: the tilt.
        """
        half = (np.pi / size) * frequencies
        sine, cosine = np.sin(half), np.cos(half)
        fold = np.where((frequencies == 0) | (2 * frequencies == size), 1.0, 2.0) / size
        above = _one_minus_exp(place.above * unit, sine, cosine)
        below = _one_minus_exp(abs(place.tilt) * unit, sine, cosine if place.tilt > 0.0 else -cosine)
        values = fold / (below * above)
        # 1/(1 − e^{−zh}) = −e^{zh}/(1 − e^{zh}).
        return cls(values if place.tilt > 0.0 else -values * (cosine + 1j * sine) ** 2)


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
    """Return the factors e^{−λg} (1 − e^{−g}) and e^{−λ(g+h)} (e^{−g} − e^{−h}) of both sums, times e^{λh} for λ < 0.

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
    """Sums over all frequencies that do not depend on ε."""

    sizes: float
    """Sum of kernel sizes times |φ^T|."""
    charges: float
    """Sum of kernel sizes times bounds of the errors of φ^T."""


# Re Σ of the terms, rotated to a lattice point and to the next one above it ------------------------------------------
@dataclass(frozen=True)
class DirectSums:
    """Sums of terms at few frequencies, computed on request."""

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
        """Error γ_n of a sum, relative to the sum of all sizes (B3)."""
        return (self.frequencies.size + 8) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Return the sums at the lattice point `offset` points above the centre, 0 ≤ `offset` < N, and at the next one.

        The result is stored. If there are `_MOST_REMEMBERED` stored ones, they are first dropped.
        """
        if offset not in self._remembered:
            step = -2j * np.pi / self.size
            rotated = self.terms * np.exp(step * self.turns(offset))
            here = float(rotated.real.sum())
            rotated *= np.exp(step * self.frequencies)
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[offset] = here, float(rotated.real.sum())
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
    """Sums of terms at many frequencies: a table over all N lattice points from the centre on, by one FFT."""

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
        """Error of an FFT, relative to the sum of all sizes (B3)."""
        return (10.0 * math.log2(self.table.size) + 16.0) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Return the sums at 0 ≤ `offset` < N points above the centre, and at the next point."""
        return float(self.table[offset]), float(self.table[(offset + 1) % self.table.size])


Sums: TypeAlias = DirectSums | TabulatedSums


def sum_terms(size: int, frequencies: IntArray, terms: ComplexArray) -> Sums:
    """Return the sums as a table if this is cheaper than a few direct sums, and otherwise as direct sums.

    Args:
        size: number N of lattice points in a period.
        frequencies: indices 0 ≤ k ≤ N/2.
        terms: φ(t_k)^T times the kernel.
    """
    if size <= _MOST_IN_TABLE and frequencies.size * _DENSE > size:
        return TabulatedSums.of(size, frequencies, terms)
    return DirectSums(size, frequencies, terms)


@dataclass(frozen=True)
class Spectrum:
    """φ^T on the frequencies that matter, for one tilt. It serves every ε near the one that the tilt suits.

    `sums` are those of φ(t_k)^T times the kernel, where φ is centred at `centre` units in all. `skipped` bounds Σ |φ^T|
    over all other of the N frequencies.
    """

    place: TiltCoordinate
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
        e^{−zh} (e^{−g} − e^{−h}). So one sum at s and one at s + h serve a whole cell.

        Guarantees: both bounds hold for the lattice distributions of this transform, at every tilt and ε.
        """
        lam, h = self.place.tilt, self.unit
        first = math.floor(epsilon / h) + 1
        gap = min(max(first * h - epsilon, 0.0), h)
        near, far = scaled_steps(gap, h, lam)
        here, beyond = self.sums.at((first - self.centre) % self.size)
        total = math.copysign(1.0, lam) * (near * here + far * beyond)
        charge = (near + far) * (self.weights.charges + (64 * UNIT_ROUNDOFF + self.sums.rounding) * self.weights.sizes)
        charge += self.skipped * self.largest_kernel(gap)
        # An error of 4u ε in the gap moves the sum by at most that share of a Chernoff bound with C = 1.
        charge += 4 * UNIT_ROUNDOFF * abs(epsilon)
        log_scale = self.log_prefactor - lam * epsilon
        slack = self.rounding + 8 * UNIT_ROUNDOFF * (abs(self.log_prefactor) + abs(lam * epsilon) + 8.0)
        log_alias = self.chernoff.log_alias(epsilon, self.size * h, log_scale) + self.alias_slack
        alias = math.exp(min(log_alias, 700.0))
        upper = log_scale + math.log(max(total + charge, TINY)) + slack
        rest = total - charge - alias
        return LogBounds(log_scale + math.log(rest) - slack if rest > 0 else -math.inf, upper)

    def largest_kernel(self, gap: float) -> float:
        """Return |G| at t = 0, which bounds |G| everywhere, over N and for both halves of the line."""
        below, above = -math.expm1(-abs(self.place.tilt) * self.unit), -math.expm1(-self.place.above * self.unit)
        return 2.0 * sum(scaled_steps(gap, self.unit, self.place.tilt)) / (below * above) / self.size * (1 + 1e-12)


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
    """log C(μ) + K(μ) at tilts on both sides of λ: bounds of an alias (docs/engine-certificate.md A1).

    A lattice sum with period A equals Σ_m e^{λmA} D(ε + mA), all terms non-negative, so it exceeds D(ε) by at most

        C(μ) e^{K(μ) − με} / (e^{(μ−λ)A} − 1) + C(ν) e^{K(ν) − νε} / (e^{(λ−ν)A} − 1),      ν < λ < μ.
    """

    tilt: float
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]

    @classmethod
    def around(cls, laws: FlatDistributions, place: TiltCoordinate) -> Chernoff:
        """Evaluate the bound at tilts from half a reciprocal standard deviation to twelve away, where it is valid."""
        lam = place.tilt
        scale = math.sqrt(laws.cumulants(lam).variance + place.stiffness)
        most, least = (math.inf, 0.0) if place.direct else (0.0, -1.0)
        steps = (0.5, 1.0, 2.0, 3.2, 5.0, 8.0, 12.0)
        above = sorted({min(lam + step / scale, most) for step in steps} - {lam})
        below = sorted({max(lam - step / scale, least) for step in steps} - {lam})
        return cls(
            lam,
            tuple((mu, log_chernoff_constant(mu) + laws.value(mu)) for mu in above),
            tuple((nu, log_chernoff_constant(nu) + laws.value(nu)) for nu in below),
        )

    def log_alias(self, epsilon: float, period: float, log_unit: float) -> float:
        """Return the log of the bound on the alias, relative to e^{log_unit}.

        Args:
            epsilon: ε, in nats.
            period: period A of the lattice sum, in nats.
            log_unit: log of the unit of the result.
        """
        total = -math.inf
        for side in (self.above, self.below):
            best = min(bound - mu * epsilon - log_unit - log_expm1(abs(mu - self.tilt) * period) for mu, bound in side)
            total = float(np.logaddexp(total, best))
        return total

    def period(self, epsilon: float, log_target: float) -> float:
        """Return a period, in nats, with an alias at ε of about e^{log_target} at most."""
        return max(
            min((bound - mu * epsilon - log_target) / abs(mu - self.tilt) for mu, bound in side)
            for side in (self.above, self.below)
        )


def likely_period(
    laws: FlatDistributions, place: TiltCoordinate, log_width: float, chernoff: Chernoff | None = None
) -> float:
    """Return a period with an alias of about 2 % of a width, also a standard deviation away from the tilt's own ε.

    Args:
        laws: the distributions.
        place: the tilt.
        log_width: log of the width, relative to the estimate of δ.
        chernoff: the Chernoff bounds around the tilt, if they are known.
    """
    bounds = Chernoff.around(laws, place) if chernoff is None else chernoff
    period = bounds.period(laws.centre(place), laws.estimate(place) + log_width - 4.0)
    return period + math.sqrt(laws.cumulants(place.tilt).variance)
