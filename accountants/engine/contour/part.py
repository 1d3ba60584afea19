"""The parts of a composition, T copies of one loss: K(z) = T log E[e^{zL}] at real tilts and on a line.

On the line Re z = l, φ(t) = M(l + it)/M(l) is summed as φ − 1: roundings then scale with t E|d|, so that T steps err by
O(√T) units of roundoff (docs/engine-certificate.md, A4).
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
    """Frequencies t = k · spacing, k < nodes, on Re z = tilt. The spacing has `_STEP_BITS` significant bits."""

    tilt: float
    spacing: float
    nodes: int

    @property
    def frequencies(self) -> FloatArray:
        """All frequencies, exact."""
        return np.asarray(self.spacing * np.arange(self.nodes), dtype=np.float64)


class LineValues(NamedTuple):
    """The characteristic function φ(t)^T e^{−itc} of T steps at all frequencies of a line, centred at c.

    Guarantees: with φ̂ the value that `log_modulus` and `phase` describe up to the relative error `rounding`,
    |φ̂^T − φ^T| ≤ e^m (e^g − 1), m = `log_modulus` and g = `log_growth` (A4); K(l) is within `cumulant_error`.
    """

    log_modulus: FloatArray
    phase: FloatArray
    log_growth: FloatArray
    rounding: FloatArray
    centre: float
    cumulant: float
    cumulant_error: float


class Transform(Protocol):
    """The transform φ^T of a part: valid bounds at every tilt, tight near the tilt that its nodes were chosen for."""

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return estimates of K, K′ and K″."""

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound of K."""

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Return upper bounds of log |φ(t′)|^T for all t′ ≥ t, at each frequency t (A3)."""

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T on a line with bounds on its errors (A2 and A4).

        Raises:
            ContourRefused: there are too many nodes and frequencies, or an error is too large.
        """


class Part(Protocol):
    """T independent copies of one loss, or a sum of losses in closed form."""

    @property
    def supremum(self) -> float:
        """T sup L, rounded up."""

    @property
    def largest_loss(self) -> float:
        """T times the largest loss that is not left out, in nats; an estimate, math.inf if there is none."""

    @property
    def log_leak(self) -> float:
        """log of the probability of losses that are left out, to be charged as infinite; −inf if there are none."""

    def trim(self, log_leak: float, tilt: float) -> Part:
        """Return the part without losses of probability at most e^`log_leak` and little weight at a tilt (A2)."""

    def resolve(self, tilt: float, frequency: float) -> Transform:
        """Return the transform, accurate at a tilt and at frequencies up to the given one.

        Raises:
            ContourRefused: it needs too many nodes.
        """


def floor_spacing(spacing: float) -> float:
    """Return the largest float of `_STEP_BITS` significant bits that does not exceed a positive one."""
    mantissa, exponent = math.frexp(spacing)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """Return γ_n = nu/(1 − nu): error of a sum of n products, in any order, relative to the sum of their moduli."""
    product = (terms + 10) * UNIT_ROUNDOFF
    return product / (1.0 - product)


def characteristic_change(weights: FloatArray, deviations: FloatArray, line: Line) -> ComplexArray:
    """Return φ(t_k) − 1 = Σ w (e^{it_k d} − 1) for all k.

    With a baby step a and a giant step b, e^{i(a+b)} − 1 = (e^{ib} − 1) e^{ia} + (e^{ia} − 1): one matrix product (A4).

    Args:
        weights: masses w of the losses under the tilted law.
        deviations: losses d less their mean.
        line: frequencies t_k.
    """
    stride = math.isqrt(line.nodes - 1) + 1
    small, large = np.arange(float(stride)), stride * np.arange(float(-(-line.nodes // stride)))
    total = np.zeros((large.size, small.size), dtype=np.complex128)
    for start in range(0, weights.size, _BLOCK):
        weight, deviation = weights[start : start + _BLOCK], deviations[start : start + _BLOCK]
        babies, giants = (_rotations(line.spacing * steps, deviation) for steps in (small, large))
        total += babies @ weight + (giants * weight) @ (1.0 + babies).T
    return np.asarray(total.reshape(-1)[: line.nodes])


def _rotations(frequencies: FloatArray, deviations: FloatArray) -> ComplexArray:
    """Return e^{itd} − 1 = −2 sin²(td/2) + 2i sin(td/2) cos(td/2), a column for each d."""
    half = (0.5 * frequencies)[:, None] * deviations
    sine = np.sin(half)
    return np.asarray(2.0 * sine * (1j * np.cos(half) - sine))


def raise_to_power(
    change: ComplexArray, error: FloatArray, mean: float, frequencies: FloatArray, count: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the first four fields of `LineValues` for T steps (A4).

    Args:
        change: φ − 1 of one step at each frequency.
        error: bounds of its errors.
        mean: mean loss of one step, in nats.
        frequencies: frequencies t.
        count: number T of steps.

    Raises:
        ContourRefused: the error of some φ exceeds a half.
    """
    if not float(error.max()) <= 0.5:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"rounding of the transform {float(error.max()):.2g}")
    real, imaginary = change.real, change.imag
    square_less_one = 2.0 * real + real * real + imaginary * imaginary
    computed = np.hypot(1.0 + real, imaginary)
    modulus = np.maximum(computed, np.maximum(error, TINY))
    # Where |φ̂| < η the value of modulus η that stands for it is off by up to η^T + (2η)^T ≤ (4η)^T − η^T.
    ratio = np.where(computed < modulus, 3.0, error / modulus)
    log_modulus = np.where(square_less_one < -0.5, np.log(modulus), 0.5 * np.log1p(np.maximum(square_less_one, -0.9)))
    phase = np.arctan2(imaginary, 1.0 + real)
    size = 2.0 * np.abs(real) + real * real + imaginary * imaginary + np.abs(log_modulus) + np.abs(phase)
    rounding = UNIT_ROUNDOFF * (6.0 * size + 4.0 * frequencies * abs(mean))
    return count * log_modulus, count * phase, count * np.log1p(ratio), count * rounding


def join_parts(parts: Iterable[LineValues]) -> LineValues:
    """Return φ^T of all parts together, with the rounding of adding them up one by one (A5, Several parts)."""
    sums, moved, scalars = np.zeros((4, 1)), np.zeros(1), []
    for part in parts:
        sums = sums + np.stack(part[:4])
        moved = moved + np.abs(sums[0]) + np.abs(sums[1])
        scalars.append(part[4:])
    many = 1.0 + 2 * len(scalars) * UNIT_ROUNDOFF
    centres, cumulants, errors = zip(*scalars, strict=True)
    return LineValues(
        sums[0],
        sums[1],
        sums[2] * many,
        (sums[3] + UNIT_ROUNDOFF * moved) * many,
        math.fsum(centres),
        math.fsum(cumulants),
        math.fsum(errors) * many + 4 * UNIT_ROUNDOFF * math.fsum(map(abs, cumulants)),
    )
