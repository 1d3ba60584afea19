"""The trapezoidal rule for the transform of a sum of independent copies, with a bound on its rounding error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.numerics.step_law import WeightedPoints

    ComplexArray = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

_BLOCK_SIZE = 1 << 15
"""Number of complex exponentials that are held at once; they fit into a processor's cache."""
_NEGLIGIBLE_WEIGHT = 1e-12
"""Total weight, summed over all copies of the variable, of the points that may be left out."""


class QuadratureRule(NamedTuple):
    """Trapezoidal rule on the frequencies t = 0, Δt, …, N Δt, for the transform of a sum.

    Attributes:
        spacing: distance Δt of successive frequencies.
        last_index: index N of the last frequency.
        smoothing_std: standard deviation τ of the Gaussian ξ that is added to the sum; 0 for none.
    """

    spacing: float
    last_index: int
    smoothing_std: float


class QuadratureSum(NamedTuple):
    """Results of the trapezoidal rule for the mean positive part of a sum S with a Gaussian ξ added to it.

    They are in units of E e^{λS}, for the tilt λ of the rule.

    Attributes:
        value: approximation of E[(S + ξ)₊].
        shifted_value: approximation of E[(S + ξ − c)₊] for a shift c.
        rounding_error: bound on the error of either value by roundings and by the errors of points and weights.
    """

    value: float
    shifted_value: float
    rounding_error: float


class _TiltedPoints(NamedTuple):
    """Distribution of a variable Y on points y, tilted by λ, without points of negligible weight.

    Attributes:
        points: the points y.
        weights: tilted weights w e^{λy}/M(λ), with the weights w before the tilt and M(λ) = E e^{λY}.
        point_errors: bounds on the errors of the points.
        weight_errors: bounds on the errors of the tilted weights.
        omitted_weight: tilted weight of the points left out, with its error.
    """

    points: FloatArray
    weights: FloatArray
    point_errors: FloatArray
    weight_errors: FloatArray
    omitted_weight: float

    def transform_error(self, frequencies: FloatArray) -> FloatArray:
        """Bound the error of φ(t) − 1 = Σ w (e^{ity} − 1) at each frequency t, over the points y with weights w.

        φ is the tilted characteristic function. The error is due to points of little weight, which are omitted from
        the sum, to roundings, and to errors of the points and weights.

        Args:
            frequencies: frequencies t ≥ 0.

        Returns:
            One absolute error bound for each frequency.
        """
        # Each term is at most w min(t|y|, 2). The roundings of a sum of n terms grow like √n; the factor 4 and the
        # summand 64 are margins.
        mean_size = float(self.weights @ np.abs(self.points))
        rounding_units = 4.0 * math.sqrt(self.points.size) + 64.0
        rounding = np.minimum(mean_size * frequencies, 2.0) * UNIT_ROUNDOFF * rounding_units

        total_weight_error = float(self.weight_errors.sum())
        mean_weight_error = float(self.weight_errors @ np.abs(self.points))
        error_of_weights = np.minimum(2.0 * total_weight_error, 2.0 * mean_weight_error * frequencies)

        point_errors = self.point_errors + 4 * UNIT_ROUNDOFF * np.abs(self.points)  # with the rounding of ty
        error_of_points = frequencies * float(self.weights @ point_errors)
        return np.asarray(2.0 * self.omitted_weight + rounding + error_of_weights + error_of_points)


def integrate_transform(
    nodes: WeightedPoints, count: int, tilt: float, rule: QuadratureRule, shift: float
) -> QuadratureSum:
    """Approximate the mean positive part of a sum, without and with a shift, by the trapezoidal rule.

    The means are E[(S + ξ)₊] and E[(S + ξ − c)₊]. S is the sum of n independent copies of a variable Y, and
    ξ ~ N(0, τ²). With M(z) = E e^{zY}, φ(t) = M(λ + it)/M(λ) and z = λ + it, the rule for the second mean is:

        (Δt/π) M(λ)ⁿ (g(0)/2 + Σ_{k=1}^N Re g(k Δt)),    g(t) = φ(t)ⁿ e^{(τz)²/2 − zc}/z².

    The results are without the factor M(λ)ⁿ = E e^{λS}, which may overflow.

    Args:
        nodes: the distribution of Y.
        count: number n of copies.
        tilt: real part λ > 0 of z.
        rule: spacing Δt, index N of the last frequency, and standard deviation τ of ξ.
        shift: shift c ≥ 0.

    Returns:
        Both approximations, and a bound on the errors of each by roundings and by the data. The errors of the rule
        itself are not included.
    """
    tilted = _tilt_points(nodes, tilt, count)
    frequencies = np.asarray(rule.spacing * np.arange(rule.last_index + 1), dtype=np.float64)
    z = tilt + 1j * frequencies

    # φⁿ is computed by the logarithm of φ, and that from φ − 1, so that no digits are lost near φ = 1.
    change = _transform_change(tilted, rule.spacing, rule.last_index)
    real, imaginary = change.real, change.imag
    square_minus_one = 2.0 * real + real * real + imaginary * imaginary  # |φ|² − 1
    log_modulus = 0.5 * np.log1p(np.maximum(square_minus_one, -1.0 + 1e-15))  # not log 0
    log_power = count * (log_modulus + 1j * np.arctan2(imaginary, 1.0 + real))
    terms = np.exp(log_power + 0.5 * (rule.smoothing_std * z) ** 2) / z**2
    terms[0] *= 0.5

    # An error η of φ changes φⁿ by at most |φ|ⁿ ((1 + η/|φ|)ⁿ − 1).
    relative_error = tilted.transform_error(frequencies) * np.exp(-log_modulus)
    with np.errstate(over="ignore"):
        power_error = np.expm1(np.minimum(count * np.log1p(relative_error), 700.0))  # e^700 does not overflow
    # Margin for the roundings of the exponentials and of the phase t c.
    factor_rounding = 64 * UNIT_ROUNDOFF * (1.0 + frequencies * abs(shift))
    error_sum = float((np.abs(terms) * (power_error + factor_rounding)).sum())

    scale = rule.spacing / math.pi
    value = scale * float(terms.real.sum())
    shifted_value = scale * float((terms * np.exp(-z * shift)).real.sum()) if shift else value
    return QuadratureSum(value, shifted_value, scale * error_sum)


def _tilt_points(nodes: WeightedPoints, tilt: float, count: int) -> _TiltedPoints:
    """Tilt a distribution on points by λ: multiply the weights by e^{λy}/M(λ), with M(λ) = E e^{λY}.

    Points with negligible tilted weights are left out.

    Args:
        nodes: the distribution of the variable Y.
        tilt: exponent λ of the weights e^{λy}.
        count: number n of copies of Y in the sum.

    Returns:
        The remaining points with their tilted weights, and the total weight of the points left out.
    """
    points, weights, point_errors, weight_errors = nodes
    exponentials = np.exp(tilt * points)
    # `expm1` includes the remaining probability at Y = 0, which the points leave out.
    moment = 1.0 + float(weights @ np.expm1(tilt * points))
    tilted_weights, tilted_errors = weights * exponentials / moment, weight_errors * exponentials / moment
    # In all n copies together, the points left out have a weight of at most `_NEGLIGIBLE_WEIGHT`.
    is_used = tilted_weights > _NEGLIGIBLE_WEIGHT / (count * points.size)
    omitted_weight = float(tilted_weights[~is_used].sum() + tilted_errors[~is_used].sum())
    return _TiltedPoints(
        points=points[is_used],
        weights=tilted_weights[is_used],
        point_errors=point_errors[is_used],
        weight_errors=tilted_errors[is_used],
        omitted_weight=omitted_weight,
    )


def _transform_change(tilted: _TiltedPoints, spacing: float, last_index: int) -> ComplexArray:
    """Return the characteristic function of a tilted distribution, minus 1, at equally spaced frequencies.

    The result is φ(k Δt) − 1 = Σ_y w (e^{iky Δt} − 1) for k = 0, …, N. Each k is a multiple of about √N plus a
    remainder. With the angles a and b of the two:

        e^{i(a+b)} − 1 = (e^{ia} − 1)(e^{ib} − 1) + (e^{ia} − 1) + (e^{ib} − 1),

    so that about 2√N exponentials for each point y are enough.

    Args:
        tilted: points y with weights w.
        spacing: distance Δt of successive frequencies.
        last_index: index N of the last frequency.

    Returns:
        One complex number for each k.
    """
    # The table has a row for each multiple of the stride, and a column for each remainder.
    stride = math.isqrt(last_index) + 1
    multiples = last_index // stride + 1
    table = np.zeros((multiples, stride), dtype=np.complex128)
    # Blocks of points limit the memory.
    block_size = max(_BLOCK_SIZE // stride, 16)
    for start in range(0, tilted.points.size, block_size):
        points = tilted.points[start : start + block_size]
        weights = tilted.weights[start : start + block_size]
        remainder_rotations = _rotations(points, spacing, stride)
        weighted_rotations = _rotations(points, spacing * stride, multiples) * weights
        products = weighted_rotations @ remainder_rotations.T
        multiple_sums = weighted_rotations.sum(axis=1)[:, None]
        remainder_sums = (remainder_rotations @ weights)[None, :]
        table += products + multiple_sums + remainder_sums
    return np.asarray(table.ravel()[: last_index + 1])


def _rotations(points: FloatArray, step: float, count: int) -> ComplexArray:
    """Return z_k = e^{iky·step} − 1 for k = 0, …, count − 1 and each point y, without cancellation.

    Only z_1 needs sines and cosines. The other rows follow from z_{j+k} = z_j z_k + z_j + z_k, which doubles the number
    of known rows in each pass.

    Args:
        points: the points y.
        step: distance of successive frequencies.
        count: number of rows, at least 1.

    Returns:
        A complex matrix with one row for each k and one column for each point.
    """
    # z_1 = 2 sin(θ)(−sin θ + i cos θ) for θ = y·step/2, which has no cancellation at small angles.
    half_angle = 0.5 * step * points
    first_row = 2.0 * np.sin(half_angle) * (-np.sin(half_angle) + 1j * np.cos(half_angle))

    # Row 0 is z_0 = 0.
    rotations = np.zeros((count, points.size), dtype=np.complex128)
    computed = 1
    if count > 1:
        rotations[1], computed = first_row, 2
    while computed < count:
        added = min(computed, count - computed)
        previous_row = rotations[computed - 1]
        next_row = previous_row * first_row + previous_row + first_row
        rotations[computed : computed + added] = rotations[:added] * next_row + rotations[:added] + next_row
        computed += added
    return rotations
