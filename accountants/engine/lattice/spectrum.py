"""Transform of a composed lattice distribution on one tilted line, and bounds on δ from it that include every error.

For distributions on multiples of h, N frequencies t_k = 2πk/(Nh), z_k = λ + i t_k and M the composed transform:

    (1/N) Σ_{k mod N} M(z_k) G(z_k) = Σ_m e^{λ m A} D(ε + mA),  A = Nh,  G(z) = Σ_{lattice s > ε} e^{−zs} (1 − e^{ε−s}).

Here D is the finite part of δ (docs/engine-certificate.md B3; the node k = N/2 of an even N counts once). All terms on
the right are ≥ 0. Those with m ≠ 0 are the alias, by which the sum exceeds D(ε), and which `Chernoff` bounds. G
continues to −1 < λ < 0, where the same sum is −E[min(1, e^{ε−S})] plus an alias of the same sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.periodic.sums import ComplexArray, Sums
from epsilond.accountants.engine.lattice.tilted import FlatDistributions, IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_expm1

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

TINY = 1e-300
"""Least argument of a logarithm, in place of 0."""


class LogBounds(NamedTuple):
    """Bounds on the logarithm of a positive number.

    Attributes:
        lower: lower bound, which may be −∞.
        upper: upper bound.
    """

    lower: float
    upper: float


class Kernel(NamedTuple):
    """Factors of the terms in the Fourier sum that gives δ for losses on a lattice, one for each frequency.

    The sum is over the moment-generating function E[e^{zL}] of the loss L at complex numbers z = λ + 2πik/(Nh), for N
    lattice points with unit h and a real λ. The factor of frequency k is:

        1/((1 − e^{−zh}) (1 − e^{−(1+z)h}))/N.

    The term of N − k is the complex conjugate of that of k. It is not summed, and the factor of k is doubled instead.
    For λ < 0 the factors are multiplied by e^{|λ|h}, because they may be too small for a double. `scaled_steps` divides
    the sum by the same number.

    Attributes:
        values: the complex factor of each frequency.
    """

    values: ComplexArray

    @classmethod
    def at(cls, frequencies: IntArray, size: int, unit: float, coordinate: TiltCoordinate) -> Kernel:
        """Evaluate the factors of the transform in the Fourier sum for δ, at some frequencies.

        With z = λ + iθ/h and the angle θ = 2πk/N of frequency k, the factor has the denominators:

            1 − e^{−zh} = 1 − e^{−λh} e^{−iθ}    and    1 − e^{−(1+z)h} = 1 − e^{−(1+λ)h} e^{−iθ}.

        Both are computed without cancellation. For λ < 0 the first one could overflow, so 1/(1 − e^{−zh}) is computed
        as −e^{zh}/(1 − e^{zh}). Its real factor e^{λh} is left out (see `Kernel`).

        Args:
            frequencies: indices k of the frequencies, 0 ≤ k ≤ N/2.
            size: number N of lattice points in a period.
            unit: lattice unit h, in nats.
            coordinate: the tilt λ, the real part of z.

        Returns:
            The complex factor of each frequency.
        """
        half_angle = (np.pi / size) * frequencies
        sine, cosine = np.sin(half_angle), np.cos(half_angle)

        is_own_mirror = (frequencies == 0) | (2 * frequencies == size)  # k and N − k are the same frequency
        scale = np.where(is_own_mirror, 1.0, 2.0) / size

        factor_above = _one_minus_exp(coordinate.above * unit, sine, cosine)  # 1 − e^{−(1+z)h}
        if coordinate.tilt > 0.0:
            factor_below = _one_minus_exp(coordinate.tilt * unit, sine, cosine)  # 1 − e^{−zh}
            return cls(scale / (factor_below * factor_above))

        factor_below = _one_minus_exp(-coordinate.tilt * unit, sine, -cosine)  # 1 − e^{zh}
        rotation = (cosine + 1j * sine) ** 2  # e^{iθ}
        return cls(-(scale / (factor_below * factor_above)) * rotation)


def _one_minus_exp(decay: float, sine: FloatArray, cosine: FloatArray) -> ComplexArray:
    """Return 1 − e^{−a−iθ} for a number a ≥ 0 and angles θ, without cancellation.

    The number is 1 − e^{−a} + 2 e^{−a} sin²(θ/2) + 2i e^{−a} sin(θ/2) cos(θ/2). With −cos(θ/2) in place of cos(θ/2),
    the result is 1 − e^{−a+iθ}.

    Args:
        decay: the number a ≥ 0.
        sine: sin(θ/2) of each angle.
        cosine: cos(θ/2) of each angle.

    Returns:
        One complex number for each angle.
    """
    scaled_sine = 2.0 * math.exp(-decay) * sine
    values = np.empty(sine.shape, dtype=np.complex128)
    values.real = scaled_sine * sine - math.expm1(-decay)
    values.imag = scaled_sine * cosine
    return values


def scaled_steps(gap: float, unit: float, tilt: float) -> tuple[float, float]:
    """Return the weights of two Fourier sums whose weighted sum is δ(ε), for a loss on a lattice.

    The sums are those at the first lattice point above ε and at the next one. With the gap g from ε to the first point
    and the lattice unit h, the weights are:

        e^{−λg} (1 − e^{−g})    and    e^{−λ(g+h)} (e^{−g} − e^{−h}).

    For λ < 0 both are multiplied by e^{λh}, because the sums are multiplied by e^{−λh} (`Kernel`).

    Args:
        gap: distance g from ε to the next lattice point, in nats, in [0, h].
        unit: lattice unit h, in nats.
        tilt: exponent λ of the weights e^{λL} of losses L; not 0, above −1.

    Returns:
        The weight of the sum at the next lattice point, and that of the sum at the point after it.
    """
    log_scale = min(tilt * unit, 0.0)  # 0 for λ > 0
    near_scale = math.exp(log_scale - tilt * gap)
    near = near_scale * -math.expm1(-gap)
    far_scale = math.exp(log_scale - tilt * (gap + unit) - gap)
    far = far_scale * -math.expm1(gap - unit)
    return near, far


class Weights(NamedTuple):
    """Sums over all frequencies that bound the error of a Fourier sum for δ.

    The terms of that sum are κ φ^T, with the kernel κ and the characteristic function φ^T of the tilted total loss.

    Attributes:
        sizes: Σ |κ| |φ^T|, by which relative roundings of the terms are multiplied.
        errors: Σ |κ| e, the effect of errors of φ^T, with a bound e on the error at each frequency.
    """

    sizes: float
    errors: float


@dataclass(frozen=True)
class Spectrum:
    """The transform of the total loss of a composition at one tilt λ, from which δ is computed at any ε.

    The total loss S has a distribution on multiples of a lattice unit h, which is weighted by e^{λS}. The
    characteristic function φ^T of the weighted distribution is used at the frequencies where it is not negligible.
    `log_integral` is valid at every ε, and accurate near the ε for which the tilt was chosen.

    Attributes:
        coordinate: the tilt λ, as a coordinate on the real line.
        unit: lattice unit h, in nats.
        size: number N of lattice points in a period of the sum over frequencies.
        centre: lattice index of the total loss at which φ^T is centred.
        log_prefactor: K(λ), the log of the moment E[e^{λS}] of the finite total loss.
        rounding: bound on the error of K(λ).
        sums: sums over frequencies of φ^T times the kernel, for any lattice point.
        weights: sums of the moduli of these terms, and of their errors.
        skipped: bound on Σ |φ^T| over the frequencies that are not used.
        chernoff: bounds on the alias, the amount by which the sum over frequencies exceeds δ.
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
        """Enclose the log of the finite part of δ(ε), or of 1 − δ(ε) if the tilt λ is negative.

        With the total loss S under P, the finite part is D(ε) = E[(1 − e^{ε−S})₊; S < ∞], and 1 − δ is
        E[min(1, e^{ε−S})]. A sum over N frequencies of terms κ φ^T, with the kernel κ, gives D(ε) plus an alias. The
        alias is the sum of e^{λmA} D(ε + mA) over integers m ≠ 0, for the period A = Nh. It is not negative, so it is
        subtracted from the lower bound only.

        The tabulated sums are at lattice points. At any ε, the sum is a combination of those at the next point above ε
        and at the point after it (`scaled_steps`). Its error has three parts: errors and roundings of the terms, the
        frequencies that are left out, and the rounding of the distance from ε to the next point.

        Args:
            epsilon: ε, in nats.

        Returns:
            The bounds on the logarithm. The lower one may be −∞.

        Guarantees: both bounds hold for the lattice distributions of this transform, at every tilt and ε.
        """
        tilt, unit = self.coordinate.tilt, self.unit

        first_point = math.floor(epsilon / unit) + 1
        gap = min(max(first_point * unit - epsilon, 0.0), unit)
        near, far = scaled_steps(gap, unit, tilt)
        sum_at_point, sum_at_next = self.sums.at((first_point - self.centre) % self.size)
        total = math.copysign(1.0, tilt) * (near * sum_at_point + far * sum_at_next)

        relative_rounding = 64 * UNIT_ROUNDOFF + self.sums.rounding
        term_errors = self.weights.errors + relative_rounding * self.weights.sizes
        error = (near + far) * term_errors
        error += self.skipped * self.largest_kernel(gap)
        # An error of 4u ε in the gap moves the sum by at most 4u ε times the bound e^{K(λ) − λε} on δ.
        error += 4 * UNIT_ROUNDOFF * abs(epsilon)

        # The sum is in units of e^{K(λ) − λε}, with the log moment K. The rounding of this exponent widens both bounds.
        log_scale = self.log_prefactor - tilt * epsilon
        slack = self.rounding + 8 * UNIT_ROUNDOFF * (abs(self.log_prefactor) + abs(tilt * epsilon) + 8.0)
        period = self.size * unit
        log_alias = self.chernoff.log_alias(epsilon, period, log_scale) + self.alias_slack
        alias = math.exp(min(log_alias, 700.0))  # e^700 is below the largest double

        upper = log_scale + math.log(max(total + error, TINY)) + slack
        least = total - error - alias
        lower = log_scale + math.log(least) - slack if least > 0 else -math.inf
        return LogBounds(lower, upper)

    def largest_kernel(self, gap: float) -> float:
        """Return an upper bound on the factors of the terms in the Fourier sum for δ, for any frequency.

        The bound times the sum of |φ^T| over the omitted frequencies bounds the error of the sum. φ^T is the normalised
        transform of the total loss. The factor is largest at the frequency 0, where it is real.

        Args:
            gap: distance from ε to the next lattice point, in nats.

        Returns:
            The bound, in units of e^{K(λ) − λε}, for the log moment K of the total loss and its exponent λ.
        """
        tilt, unit = self.coordinate.tilt, self.unit
        near, far = scaled_steps(gap, unit, tilt)
        denominator = math.expm1(-abs(tilt) * unit) * math.expm1(-self.coordinate.above * unit)
        rounding_factor = 1 + 1e-12  # far more than the errors of the factors
        return 2.0 * (near + far) / denominator / self.size * rounding_factor


# Chernoff bounds of δ at other tilts, which bound the alias of a periodic sum ---------------------------------------
def log_chernoff_constant(tilt: float) -> float:
    """Return the logarithm of the constant C(μ) in the Chernoff bound on δ at the exponent μ.

    The bound is δ(ε) ≤ C(μ) E[e^{μS}] e^{−με}, for the total loss S.

    For μ > 0, C is the largest value of (1 − e^{−y})₊ e^{−μy} over y, which is μ^μ/(1 + μ)^{1+μ}. For −1 ≤ μ ≤ 0 it is
    1, and the bound is on 1 − δ(ε): there min(1, e^{−y}) ≤ e^{μy} for every y.

    Args:
        tilt: exponent μ ≥ −1 of the bound.

    Returns:
        The logarithm log C(μ), at most 0.
    """
    if tilt <= 0:
        return 0.0
    return -math.log1p(tilt) - tilt * math.log1p(1.0 / tilt)


@dataclass(frozen=True)
class Chernoff:
    """Chernoff bounds on δ at several tilts, which bound the alias of a lattice sum at a tilt λ.

    A lattice sum with period A equals Σ_m e^{λmA} D(ε + mA) over all integers m, with the finite part D of δ. All terms
    are non-negative, so the sum exceeds D(ε) by at most:

        C(μ) e^{K(μ) − με} / (e^{(μ−λ)A} − 1) + C(ν) e^{K(ν) − νε} / (e^{(λ−ν)A} − 1),      ν < λ < μ.

    Here K(μ) is the log moment of the total loss and C the constant of `log_chernoff_constant`. The bound holds for
    every ν and μ, so the best of several ones is used on each side. Their values are stored as b(μ) = log C(μ) + K(μ).

    Attributes:
        tilt: exponent λ of the weights e^{λL} of losses L.
        above: pairs (μ, b(μ)) with μ > λ.
        below: pairs (ν, b(ν)) with ν < λ.

    Source: docs/engine-certificate.md, A1.
    """

    tilt: float
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]

    @classmethod
    def around(cls, laws: FlatDistributions, coordinate: TiltCoordinate) -> Chernoff:
        """Evaluate Chernoff bounds at exponents μ on both sides of λ, at several distances from it.

        The bound is b(μ) = log C(μ) + K(μ), with the log moment K(μ) = log E[e^{μS}] of the total loss S, and the
        constant C of `log_chernoff_constant`. The distances are ½ to 12 times 1/s. s² is the variance of S with weights
        e^{λS}, plus a term for the poles at 0 and −1. Valid are μ ≥ 0 if λ > 0, and −1 ≤ μ ≤ 0 if λ < 0. Other μ are
        moved to the end of this range.

        Args:
            laws: distributions of the finite losses, with their numbers of rounds.
            coordinate: the tilt λ, the exponent of the weights e^{λL}, as a real coordinate.

        Returns:
            The bounds, as pairs of a tilt μ and b(μ) on either side of λ.
        """
        tilt = coordinate.tilt
        standard_deviation = math.sqrt(laws.cumulants(tilt).variance + coordinate.stiffness)
        least, most = (0.0, math.inf) if coordinate.direct else (-1.0, 0.0)
        steps = (0.5, 1.0, 2.0, 3.2, 5.0, 8.0, 12.0)
        tilts_above = {min(tilt + step / standard_deviation, most) for step in steps} - {tilt}
        tilts_below = {max(tilt - step / standard_deviation, least) for step in steps} - {tilt}

        def log_bound(other_tilt: float) -> tuple[float, float]:
            """Return a tilt μ with b(μ) = log C(μ) + K(μ)."""
            return other_tilt, log_chernoff_constant(other_tilt) + laws.value(other_tilt)

        return cls(tilt, tuple(map(log_bound, sorted(tilts_above))), tuple(map(log_bound, sorted(tilts_below))))

    def log_alias(self, epsilon: float, period: float, log_unit: float) -> float:
        """Bound the aliasing error of the lattice sum for δ at ε from above, as a logarithm.

        It is the sum of a bound for each side of λ. That bound is the least of C(μ) e^{K(μ) − με} / (e^{|μ−λ|A} − 1)
        over the stored tilts μ on that side.

        Args:
            epsilon: ε, in nats.
            period: period A of the lattice sum, in nats.
            log_unit: log of the unit in which the alias is returned.

        Returns:
            The log of the upper bound, in the given unit.
        """

        def log_bound(tilt: float, value: float) -> float:
            """Return the log of the bound at one tilt μ with b(μ) = `value`."""
            return value - tilt * epsilon - log_unit - log_expm1(abs(tilt - self.tilt) * period)

        total = -math.inf  # the log of 0
        for side in (self.above, self.below):
            least_on_side = min(log_bound(tilt, value) for tilt, value in side)
            total = float(np.logaddexp(total, least_on_side))
        return total

    def period(self, epsilon: float, log_target: float) -> float:
        """Return a period of the Fourier sum for δ with which its aliasing error at ε is at most about a target.

        One part of the error is at most about e^{b(μ) − με − |μ−λ|A} for the period A and any μ > λ, the other part
        for any μ < λ. Each bound is set equal to the target and solved for A. The least A of a part is enough for it.

        Args:
            epsilon: ε, in nats.
            log_target: log of the target.
        """

        def shortest_period(side: tuple[tuple[float, float], ...]) -> float:
            """Return the least period that is enough for the alias of one side."""
            return min((value - tilt * epsilon - log_target) / abs(tilt - self.tilt) for tilt, value in side)

        return max(shortest_period(self.above), shortest_period(self.below))


def estimate_period(
    laws: FlatDistributions, coordinate: TiltCoordinate, log_width: float, chernoff: Chernoff | None = None
) -> float:
    """Return a period of the Fourier sum for δ, in nats, with which its aliasing error is negligible.

    The error decreases with the period (`Chernoff`). The first period is that with an error of about 2 % of the
    required width of δ, at the ε for which λ is the best exponent. It is then extended by one standard deviation of the
    total loss with weights e^{λL}, so that the error is negligible also at ε up to that far away.

    Args:
        laws: distributions of the finite losses, with their numbers of rounds.
        coordinate: the tilt λ, the exponent of the weights e^{λL}, as a real coordinate.
        log_width: log of the required width, relative to the estimate of δ.
        chernoff: the Chernoff bounds around the tilt; computed if they are None.
    """
    bounds = Chernoff.around(laws, coordinate) if chernoff is None else chernoff
    log_two_percent = -4.0  # e^−4 is about 0.02
    best_epsilon = laws.centre(coordinate)
    log_target = laws.estimate(coordinate) + log_width + log_two_percent
    period = bounds.period(best_epsilon, log_target)
    standard_deviation = math.sqrt(laws.cumulants(coordinate.tilt).variance)
    return period + standard_deviation
