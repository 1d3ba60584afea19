"""φ(t)^T on equispaced frequencies from weighted losses: one matrix product, then powers in polar form.

Sums are taken of φ − 1: their roundings scale with E|e^{itd} − 1| ≤ t E|d|, so that T steps together err by O(√T) units
of roundoff, not O(T) (docs/engine-certificate.md, A4).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.engine.contour.refusal import Reason, Refused
from epsilond.accountants.engine.contour.transforms.transform import LineValues
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.transform import Line
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_BLOCK = 4096


def _rotation(frequencies: FloatArray, deviation: FloatArray) -> ComplexArray:
    """e^{itd} − 1 = −2 sin²(td/2) + 2i sin(td/2) cos(td/2), without cancellation."""
    half = (0.5 * frequencies)[:, None] * deviation
    sine = np.sin(half)
    rotation = np.empty(half.shape, dtype=np.complex128)
    rotation.real = -2.0 * sine * sine
    rotation.imag = 2.0 * sine * np.cos(half)
    return rotation


def characteristic_change(weights: FloatArray, deviation: FloatArray, line: Line) -> ComplexArray:
    """φ(t_k) − 1 = Σ w (e^{it_k d} − 1) for all k.

    With a baby step a and a giant step b, e^{i(a+b)} − 1 = (e^{ib} − 1) e^{ia} + (e^{ia} − 1).
    """
    stride = max(math.isqrt(line.nodes - 1) + 1, 1)
    babies = np.asarray(line.spacing * np.arange(stride), dtype=np.float64)
    giants = np.asarray(line.spacing * (stride * np.arange(-(-line.nodes // stride))), dtype=np.float64)
    total = np.zeros((giants.size, stride), dtype=np.complex128)
    for start in range(0, weights.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        small = _rotation(babies, deviation[block])
        large = _rotation(giants, deviation[block]) * weights[block]
        total += small @ weights[block]
        total += large @ (1.0 + small).T
    return total.ravel()[: line.nodes]


class OneStep(NamedTuple):
    """One step on a line: φ − 1 and a bound on its error per node, the mean loss, K and a bound on its error."""

    change: ComplexArray
    error: FloatArray
    mean: float
    cumulant: float
    cumulant_error: float


def power(step: OneStep, count: int, line: Line) -> LineValues:
    """φ^T in polar form, with the growth of the error under the power (A4)."""
    change, error, mean, cumulant, cumulant_error = step
    real, imaginary = change.real, change.imag
    square_less_one = 2.0 * real + real * real + imaginary * imaginary
    if float(error.max()) > 0.5:
        raise Refused(Reason.NOT_POSITIVE, f"rounding of the transform {float(error.max()):.2g}")
    computed = np.hypot(1.0 + real, imaginary)
    modulus = np.maximum(computed, np.maximum(error, 1e-300))
    # Where |φ̂| < η the value of modulus η that stands for it is off by up to η^T + (2η)^T ≤ (4η)^T − η^T.
    ratio = np.where(computed < modulus, 3.0, error / modulus)
    log_modulus = np.where(square_less_one < -0.5, np.log(modulus), 0.5 * np.log1p(np.maximum(square_less_one, -0.9)))
    phase = np.arctan2(imaginary, 1.0 + real)
    scale = 2.0 * np.abs(real) + real * real + imaginary * imaginary
    rounding = UNIT_ROUNDOFF * (
        6.0 * scale + 6.0 * np.abs(log_modulus) + 6.0 * np.abs(phase) + 4.0 * line.frequencies * abs(mean)
    )
    return LineValues(
        log_modulus=count * log_modulus,
        phase=count * phase,
        log_growth=count * np.log1p(ratio),
        rounding=count * rounding,
        centre=count * mean,
        cumulant=count * cumulant,
        cumulant_error=count * (cumulant_error + 2 * UNIT_ROUNDOFF * abs(cumulant)),
    )
