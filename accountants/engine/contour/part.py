"""The parts of a composition, T copies of one loss: K(z) = T log E[e^{zL}] at real tilts and on a line.

On the line Re z = l, φ(t) = M(l + it)/M(l) is summed as φ − 1. The roundings are then proportional to t E|d|, so that T
steps have an error of O(√T) units of roundoff (docs/engine-certificate.md, A4).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np

from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_BLOCK = 1024
"""Number of nodes of the noise that are summed at once: ten megabytes with the most frequencies."""
_STEP_BITS = 7
"""Number of significant bits of a spacing: its multiples by integers below 2^46 are exact doubles (A4, Nodes)."""


class Line(NamedTuple):
    """Points z = tilt + i t_k on a vertical line in the complex plane, with t_k = k · spacing for 0 ≤ k < nodes.

    δ(ε) is an integral over such a line, which is computed as a sum over these points. The spacing has few significant
    bits (`floor_spacing`), so that every t_k is an exact double.

    Attributes:
        tilt: real part l of every point, per nat of loss.
        spacing: distance Δt > 0 between neighbouring frequencies.
        nodes: number of frequencies, at least 1.
    """

    tilt: float
    spacing: float
    nodes: int

    @property
    def frequencies(self) -> FloatArray:
        """The frequencies t_k, without rounding errors."""
        return np.asarray(self.spacing * np.arange(self.nodes), dtype=np.float64)


class LineValues(NamedTuple):
    """The characteristic function of the total privacy loss of T steps at several frequencies t, with its errors.

    The loss L of one step has the moment M(z) = E[e^{zL}]. Its distribution is tilted by l, that is, multiplied by
    e^{lL} and normalised. Its characteristic function is then φ(t) = M(l + it)/M(l). The values are φ(t)^T e^{−itc},
    the characteristic function of the total loss minus c.

    Attributes:
        log_modulus: m(t), the log of the modulus of the power, at each frequency.
        phase: phase of the power at each frequency, in radians.
        log_growth: g(t) ≥ 0. The computed power differs from the exact one by at most e^m (e^g − 1).
        rounding: bound on a further relative error of the power, from the roundings of m and of the phase.
        centre: c, about the mean of the total loss under the tilted distribution, in nats.
        cumulant: K(l) = T log M(l).
        cumulant_error: bound on the error of K(l).

    Source: docs/engine-certificate.md, A4.
    """

    log_modulus: FloatArray
    phase: FloatArray
    log_growth: FloatArray
    rounding: FloatArray
    centre: float
    cumulant: float
    cumulant_error: float


class Transform(Protocol):
    """Interface to the moments of the total of T copies of a privacy loss L, with M(z) = E[e^{zL}] for one copy.

    At a real z = l it gives the log moment K(l) = T log M(l). At z = l + it it gives (M(z)/M(l))^T, the characteristic
    function after the distribution was multiplied by e^{lL} and normalised. The integrals M are computed by quadrature.
    The bounds are valid at every l, and tight near the one that the nodes were chosen for.
    """

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return estimates of K(l) and of its derivatives K′(l) and K″(l), for K(l) = T log E[e^{lL}].

        Args:
            tilt: exponent l ≥ 0.

        Returns:
            The three estimates, which have no error bounds.
        """

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound on K(l) = T log E[e^{lL}].

        Args:
            tilt: exponent l ≥ 0.
        """

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Bound how fast the characteristic function of the total loss decays with its frequency.

        The characteristic function is φ(t)^T with φ(t) = M(l + it)/M(l).

        Args:
            tilt: exponent l ≥ 0.
            frequencies: frequencies t > 0, per nat of loss.

        Returns:
            One number for each frequency t: an upper bound on T log |φ(t′)| at all t′ ≥ t.

        Source: docs/engine-certificate.md, A3.
        """

    def on_line(self, line: Line) -> LineValues:
        """Return the characteristic function of the total tilted loss on a vertical line, with bounds on its errors.

        The function is φ(t)^T for T copies of the loss, with φ(t) = M(l + it)/M(l).

        Args:
            line: points l + it of the line, with frequencies t ≥ 0.

        Returns:
            φ(t)^T at each frequency as modulus and phase, with K(l) and bounds on all errors.

        Raises:
            ContourRefused: there are too many nodes and frequencies, or an error is too large.

        Source: docs/engine-certificate.md, A2 and A4.
        """


class Part(Protocol):
    """Interface to a part of a composition: T independent copies of a privacy loss L, or a sum of losses.

    A part may leave out improbable losses. They then count as infinite ones, which add their probability to δ.
    """

    @property
    def supremum(self) -> float:
        """Largest total loss T sup L, rounded up."""

    @property
    def largest_loss(self) -> float:
        """Estimate of T times the largest loss that is not left out, in nats; math.inf if the loss is unbounded."""

    @property
    def log_leak(self) -> float:
        """Log of the probability of the losses that are left out; −inf if there are none."""

    def trim(self, log_leak: float, tilt: float) -> Part:
        """Leave out losses that are improbable and contribute little to the moment E[e^{lL}] at a tilt l.

        Args:
            log_leak: log of the largest probability of the losses that are left out, in all steps together.
            tilt: exponent l ≥ 0.

        Returns:
            The part without these losses.

        Source: docs/engine-certificate.md, A2.
        """

    def resolve(self, tilt: float, frequency: float) -> Transform:
        """Choose the quadrature nodes for the moments E[e^{zL}] near a tilt, up to a frequency.

        Args:
            tilt: real part l of the exponent z.
            frequency: largest modulus of the imaginary part of z; 0 for real z.

        Returns:
            The transform of the part. Its bounds are valid for every z, but tight only for the given ones.

        Raises:
            ContourRefused: too many nodes would be needed.
        """


def floor_spacing(spacing: float) -> float:
    """Return the largest float of `_STEP_BITS` significant bits that does not exceed a positive spacing.

    Multiples of such a spacing by integers below 2^46 are exact doubles.

    Args:
        spacing: distance of neighbouring frequencies, above 0.

    Returns:
        The spacing, rounded down.
    """
    mantissa, exponent = math.frexp(spacing)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """Return a bound on the error of a floating-point sum of products, relative to the sum of their moduli.

    The bound is γ_n = nu/(1 − nu), where u is the unit roundoff and n the number of terms plus a margin of ten. It is
    valid for every order of summation.

    Args:
        terms: number of products.

    Returns:
        The bound γ_n.
    """
    n_times_u = (terms + 10) * UNIT_ROUNDOFF
    return n_times_u / (1.0 - n_times_u)


def characteristic_change(weights: FloatArray, deviations: FloatArray, line: Line) -> ComplexArray:
    """Evaluate a characteristic function minus 1 at all frequencies of a line, without cancellation.

    At the frequency t_k it is φ(t_k) − 1 = Σ_j w_j (e^{it_k d_j} − 1), for losses d_j with the masses w_j.

    Let the stride b be about √nodes. Each t_k is x + y: a multiple x of b spacings, and fewer than b spacings y. One
    matrix product combines both by:

        e^{i(x+y)d} − 1 = (e^{ixd} − 1) e^{iyd} + (e^{iyd} − 1).

    The losses are processed in blocks, to bound the memory.

    Args:
        weights: masses w_j of the losses.
        deviations: losses d_j, which are differences from their mean.
        line: frequencies t_k.

    Returns:
        One complex number for each frequency; it is 0 at the frequency 0.

    Source: docs/engine-certificate.md, A4.
    """
    stride = math.isqrt(line.nodes - 1) + 1  # √nodes, rounded up
    strides = (line.nodes + stride - 1) // stride  # nodes / stride, rounded up
    fine_frequencies = line.spacing * np.arange(float(stride))
    coarse_frequencies = line.spacing * (stride * np.arange(float(strides)))
    # The table of all sums has a row for each coarse frequency, and a column for each fine one.
    total = np.zeros((coarse_frequencies.size, fine_frequencies.size), dtype=np.complex128)
    for start in range(0, weights.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        weight, deviation = weights[block], deviations[block]
        fine_rotations = _rotations(fine_frequencies, deviation)
        coarse_rotations = _rotations(coarse_frequencies, deviation)
        fine_sums = fine_rotations @ weight
        products = (coarse_rotations * weight) @ (1.0 + fine_rotations).T
        total += fine_sums + products
    return np.asarray(total.reshape(-1)[: line.nodes])


def _rotations(frequencies: FloatArray, deviations: FloatArray) -> ComplexArray:
    """Return e^{itd} − 1 for frequencies t and deviations d, without cancellation for small angles.

    It is computed as −2 sin²(td/2) + 2i sin(td/2) cos(td/2).

    Args:
        frequencies: t, per nat.
        deviations: d, in nats.

    Returns:
        e^{itd} − 1, with one row for each frequency and one column for each deviation.
    """
    half = (0.5 * frequencies)[:, None] * deviations
    sine = np.sin(half)
    return np.asarray(2.0 * sine * (1j * np.cos(half) - sine))


def raise_to_power(
    change: ComplexArray, error: FloatArray, mean: float, frequencies: FloatArray, count: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Raise the characteristic function φ of one step's loss to the power T, that is, multiply log φ by T.

    log |φ| is computed from φ − 1, so that it has a small relative error even if φ is close to 1.

    Args:
        change: φ − 1 at each frequency.
        error: bounds on the moduli of its errors.
        mean: mean loss of one step, in nats.
        frequencies: frequencies t.
        count: number T of steps.

    Returns:
        Log modulus, phase, growth of the error, and rounding of φ^T: the first four fields of `LineValues`.

    Raises:
        ContourRefused: the error of some φ exceeds a half.

    Source: docs/engine-certificate.md, A4.
    """
    largest_error = float(error.max())
    if not largest_error <= 0.5:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"rounding of the transform {largest_error:.2g}")
    real, imaginary = change.real, change.imag
    computed_modulus = np.hypot(1.0 + real, imaginary)

    # A modulus below its own error η is replaced by η. The error of the power is then at most
    # η^T + (2η)^T ≤ (4η)^T − η^T, which is that of the relative error 3.
    modulus = np.maximum(computed_modulus, np.maximum(error, TINY))
    relative_error = np.where(computed_modulus < modulus, 3.0, error / modulus)

    # |φ|² − 1 = 2 Re c + |c|² for c = φ − 1 is accurate for φ near 1.
    square_minus_one = 2.0 * real + real * real + imaginary * imaginary
    log_modulus_near_one = 0.5 * np.log1p(np.maximum(square_minus_one, -0.9))
    log_modulus = np.where(square_minus_one < -0.5, np.log(modulus), log_modulus_near_one)
    phase = np.arctan2(imaginary, 1.0 + real)

    # The rounding of the logarithm and of the phase is proportional to the numbers from which both are computed.
    size = 2.0 * np.abs(real) + real * real + imaginary * imaginary + np.abs(log_modulus) + np.abs(phase)
    rounding = UNIT_ROUNDOFF * (6.0 * size + 4.0 * frequencies * abs(mean))
    return count * log_modulus, count * phase, count * np.log1p(relative_error), count * rounding


def join_parts(parts: Iterable[LineValues]) -> LineValues:
    """Multiply the characteristic functions of all parts of a composition, with the bounds on their errors.

    The total loss is a sum of independent losses, one for each part, so its characteristic function is the product.
    Logarithms and phases are added one part after the other. The error of an addition is at most one unit roundoff,
    relative to the partial sum.

    Args:
        parts: values of each part, all on the same line.

    Returns:
        The values of the composition on this line.

    Source: docs/engine-certificate.md, A5, Several parts.
    """
    values = list(parts)
    log_modulus, phase, log_growth, rounding = np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1)
    partial_sums = np.zeros(1)
    for part in values:
        log_modulus = log_modulus + part.log_modulus
        phase = phase + part.phase
        log_growth = log_growth + part.log_growth
        rounding = rounding + part.rounding
        partial_sums = partial_sums + np.abs(log_modulus) + np.abs(phase)

    # The error bounds are themselves sums of positive numbers, which this factor rounds up.
    rounding_factor = 1.0 + 2 * len(values) * UNIT_ROUNDOFF
    cumulants = [part.cumulant for part in values]
    cumulant_error = math.fsum(part.cumulant_error for part in values)
    # `math.fsum` rounds once, by at most one unit roundoff; four are a margin.
    cumulant_rounding = 4 * UNIT_ROUNDOFF * math.fsum(map(abs, cumulants))
    return LineValues(
        log_modulus=log_modulus,
        phase=phase,
        log_growth=log_growth * rounding_factor,
        rounding=(rounding + UNIT_ROUNDOFF * partial_sums) * rounding_factor,
        centre=math.fsum(part.centre for part in values),
        cumulant=math.fsum(cumulants),
        cumulant_error=cumulant_error * rounding_factor + cumulant_rounding,
    )
