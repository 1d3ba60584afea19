"""The transform of a composed lattice law on one tilted line, and δ from it, with every error charged.

For laws on multiples of h, N frequencies t_k = 2πk/(Nh), z_k = λ + i t_k and M the composed transform,

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

from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate, Weighted
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_expm1

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"
TINY = 1e-300
"""Stands for 0 in logarithms: log of it is below all that is added."""
_MOST_KNOWN = 64
"""Sums that are remembered: those that one search asks for."""
_DENSE, _MOST_IN_TABLE = 32, 2**20
"""An FFT of N points costs what a few sums over N/32 frequencies do; its table is 8 MB at most."""


class DeltaEnds(NamedTuple):
    """log of a positive number: an upper bound, and a lower bound that may be −inf."""

    lower: float
    upper: float


class Kernel(NamedTuple):
    """1/((1 − e^{−zh}) (1 − e^{−(1+z)h})) at frequencies k ≥ 0, over N and twice for those with a mirror image.

    For λ < 0 times e^{|λ|h}, which `scaled_steps` takes back: a lattice may be so wide that e^{|λ|h} overflows.
    """

    values: ComplexArray

    @classmethod
    def at(cls, frequencies: IntArray, size: int, unit: float, place: TiltCoordinate) -> Kernel:
        """The kernel of N = `size` points on multiples of `unit`."""
        half = (np.pi / size) * frequencies
        sine, cosine = np.sin(half), np.cos(half)
        fold = np.where((frequencies == 0) | (2 * frequencies == size), 1.0, 2.0) / size
        above = _one_minus_turned(place.above * unit, sine, cosine)
        below = _one_minus_turned(abs(place.tilt) * unit, sine, cosine if place.tilt > 0.0 else -cosine)
        values = fold / (below * above)
        # 1/(1 − e^{−zh}) = −e^{zh}/(1 − e^{zh}).
        return cls(values if place.tilt > 0.0 else -values * (cosine + 1j * sine) ** 2)


def _one_minus_turned(decay: float, sine: FloatArray, cosine: FloatArray) -> ComplexArray:
    """1 − e^{−a − iθ} = 1 − e^{−a} + 2 e^{−a} sin²(θ/2) + 2i e^{−a} sin(θ/2) cos(θ/2), of no cancellation.

    With −cos(θ/2) for cos(θ/2) it is 1 − e^{−a + iθ}.
    """
    kept = 2.0 * math.exp(-decay) * sine
    found = np.empty(sine.shape, dtype=np.complex128)
    found.real = kept * sine - math.expm1(-decay)
    found.imag = kept * cosine
    return found


def scaled_steps(gap: float, unit: float, tilt: float) -> tuple[float, float]:
    """e^{−λg} (1 − e^{−g}) and e^{−λ(g+h)} (e^{−g} − e^{−h}), what both sums count with; times e^{λh} for λ < 0."""
    lent = min(tilt * unit, 0.0)
    near = math.exp(lent - tilt * gap) * -math.expm1(-gap)
    far = math.exp(lent - tilt * (gap + unit) - gap) * -math.expm1(gap - unit)
    return near, far


class Weights(NamedTuple):
    """Sums over all frequencies that no question changes."""

    sizes: float
    """Σ of kernel sizes times |φ^T|."""
    charges: float
    """Σ of kernel sizes times bounds of the errors of φ^T."""


# Re Σ of the terms, turned to a lattice point and to the one above it ------------------------------------------------
@dataclass(frozen=True)
class DirectSums:
    """Of terms at few frequencies, summed when they are asked for."""

    size: int
    frequencies: IntArray
    terms: ComplexArray
    _known: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def nbytes(self) -> int:
        """What its arrays take."""
        return self.frequencies.nbytes + self.terms.nbytes

    @property
    def rounding(self) -> float:
        """γ_n of a sum, relative to the sum of all sizes (B3)."""
        return (self.frequencies.size + 8) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """At 0 ≤ `offset` < N points above the centre, and at the next point."""
        if offset not in self._known:
            step = -2j * np.pi / self.size
            turned = self.terms * np.exp(step * self.turns(offset))
            here = float(turned.real.sum())
            turned *= np.exp(step * self.frequencies)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[offset] = here, float(turned.real.sum())
        return self._known[offset]

    def turns(self, offset: int) -> FloatArray:
        """frequencies · offset mod size, exactly."""
        if self.size < 2**31:
            return ((self.frequencies * offset) % self.size).astype(np.float64)
        turns = np.zeros_like(self.frequencies)
        for digit in format(offset, "x"):  # no product reaches 2^63, as no size reaches 2^58
            turns = (16 * turns + int(digit, 16) * self.frequencies) % self.size
        return turns.astype(np.float64)


@dataclass(frozen=True)
class TabulatedSums:
    """Of terms at many frequencies: those at all N lattice points, from the centre on, by one FFT."""

    table: FloatArray

    @classmethod
    def of(cls, size: int, frequencies: IntArray, terms: ComplexArray) -> TabulatedSums:
        """The terms themselves, which take more than the table, are not kept."""
        halves = np.zeros(size // 2 + 1, dtype=np.complex128)
        halves[frequencies] = 0.5 * size * np.conj(terms)
        # Those without a mirror image count once already.
        halves[0] *= 2.0
        if size % 2 == 0:
            halves[-1] *= 2.0
        return cls(np.asarray(irfft(halves, size)))

    @property
    def nbytes(self) -> int:
        """What its array takes."""
        return self.table.nbytes

    @property
    def rounding(self) -> float:
        """What an FFT errs by, relative to the sum of all sizes (B3)."""
        return (10.0 * math.log2(self.table.size) + 16.0) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """At 0 ≤ `offset` < N points above the centre, and at the next point."""
        return float(self.table[offset]), float(self.table[(offset + 1) % self.table.size])


Sums: TypeAlias = DirectSums | TabulatedSums


def sums_of(size: int, frequencies: IntArray, terms: ComplexArray) -> Sums:
    """A table where so many frequencies matter that it is cheaper than a few sums."""
    if size <= _MOST_IN_TABLE and frequencies.size * _DENSE > size:
        return TabulatedSums.of(size, frequencies, terms)
    return DirectSums(size, frequencies, terms)


@dataclass(frozen=True)
class Spectrum:
    """φ^T on the frequencies that matter, from one tilt. Serves every ε near the one it was made for.

    `sums` are of φ(t_k)^T times their kernel, φ centred at `centre` units in all; `skipped` bounds Σ |φ^T| over all
    other frequencies of the N.
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
        """What its arrays take, which is nearly all of it."""
        return self.sums.nbytes

    def log_integral(self, epsilon: float) -> DeltaEnds:
        """Enclosure of log D(ε), or of log(1 − δ) = log E[min(1, e^{ε−S})] if the tilt is negative.

        Guarantees: both ends hold for the lattice laws this was made of, whatever the tilt.

        With g the gap from ε to the first lattice point s above it, G(z) e^{zs} is the kernel times
        (1 − e^{−g}) + e^{−zh} (e^{−g} − e^{−h}), so that one sum at s and one at s + h serve a whole cell.
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
        return DeltaEnds(log_scale + math.log(rest) - slack if rest > 0 else -math.inf, upper)

    def largest_kernel(self, gap: float) -> float:
        """|G| at t = 0, which bounds it everywhere, over N, for the two halves of the line."""
        below, above = -math.expm1(-abs(self.place.tilt) * self.unit), -math.expm1(-self.place.above * self.unit)
        return 2.0 * sum(scaled_steps(gap, self.unit, self.place.tilt)) / (below * above) / self.size * (1 + 1e-12)


# Chernoff bounds of δ at other tilts, which bound what a periodic sum adds ------------------------------------------
def log_chernoff_constant(tilt: float) -> float:
    """log C(μ): C = max_y (1 − e^{−y})₊ e^{−μy} = μ^μ/(1 + μ)^{1+μ} for μ ≥ 0.

    C = 1 for −1 ≤ μ ≤ 0, where it is min(1, e^{−y}) ≤ e^{μy} that is used.
    """
    if tilt <= 0:
        return 0.0
    return -math.log1p(tilt) - tilt * math.log1p(1.0 / tilt)


@dataclass(frozen=True)
class Chernoff:
    """log C(μ) + K(μ) at tilts on both sides of λ: what bounds an alias (docs/engine-certificate.md A1).

    A lattice sum with period A equals Σ_m e^{λmA} D(ε + mA), all terms non-negative, so it exceeds D(ε) by at most

        C(μ) e^{K(μ) − με} / (e^{(μ−λ)A} − 1) + C(ν) e^{K(ν) − νε} / (e^{(λ−ν)A} − 1),      ν < λ < μ.
    """

    tilt: float
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]

    @classmethod
    def around(cls, laws: Weighted, place: TiltCoordinate) -> Chernoff:
        """Tilts from half a reciprocal deviation to twelve away, kept where the bound is valid."""
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
        """log of the bound on the excess at the ε that is asked, over e^{log_unit}."""
        total = -math.inf
        for side in (self.above, self.below):
            best = min(bound - mu * epsilon - log_unit - log_expm1(abs(mu - self.tilt) * period) for mu, bound in side)
            total = float(np.logaddexp(total, best))
        return total

    def period(self, epsilon: float, log_target: float) -> float:
        """A period whose excess at ε is about e^{log_target} at most."""
        return max(
            min((bound - mu * epsilon - log_target) / abs(mu - self.tilt) for mu, bound in side)
            for side in (self.above, self.below)
        )


def likely_period(laws: Weighted, place: TiltCoordinate, log_width: float, chernoff: Chernoff | None = None) -> float:
    """A period whose alias is about 2 % of a width, relative to δ, also a deviation away from the tilt's own ε."""
    bounds = Chernoff.around(laws, place) if chernoff is None else chernoff
    period = bounds.period(laws.centre(place), laws.estimate(place) + log_width - 4.0)
    return period + math.sqrt(laws.cumulants(place.tilt).variance)
