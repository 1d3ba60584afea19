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
"""Total weight, per copy of the variable, of the points that may be left out."""


class QuadratureRule(NamedTuple):
    """A trapezoidal rule on the frequencies t = 0, Δt, …, N Δt, for the transform of a sum.

    Attributes:
        spacing: distance Δt of neighbouring frequencies.
        last_index: index N of the last frequency.
        smoothing_std: standard deviation τ of the Gaussian ξ that is added to the sum; 0 for none.
    """

    spacing: float
    last_index: int
    smoothing_std: float


class QuadratureSum(NamedTuple):
    """Results of the trapezoidal rule for the mean positive part of a sum S.

    They are in units of e^{K(λ)}, with K(λ) = log E e^{λS} at the tilt λ.

    Attributes:
        value: estimate of E[(S + ξ)₊], where ξ is an added Gaussian.
        shifted_value: estimate of E[(S + ξ − c)₊] for a shift c.
        rounding_error: bound on the rounding errors of each, and on the effect of the errors of points and weights.
    """

    value: float
    shifted_value: float
    rounding_error: float


class _TiltedPoints(NamedTuple):
    """A distribution on points y after tilting by λ: each weight w is multiplied by e^{λy} and divided by M(λ).

    M(λ) is the mean of e^{λY}. Points of negligible weight are left out.

    Attributes:
        points: the points y.
        weights: the tilted weights w e^{λy}/M(λ).
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
        """Bound the error of φ(t) − 1 at each frequency t, for the tilted characteristic function φ.

        The error is caused by points left out, by roundings, and by errors of the points and weights.

        Args:
            frequencies: frequencies t ≥ 0.

        Returns:
            One absolute error bound for each frequency.
        """
        # Each term w (e^{ity} − 1) is at most w min(t|y|, 2).
        mean_size = float(self.weights @ np.abs(self.points))
        rounding_units = 4.0 * math.sqrt(self.points.size) + 64.0
        rounding = np.minimum(mean_size * frequencies, 2.0) * UNIT_ROUNDOFF * rounding_units

        total_weight_error = float(self.weight_errors.sum())
        mean_weight_error = float(self.weight_errors @ np.abs(self.points))
        error_of_weights = np.minimum(2.0 * total_weight_error, 2.0 * mean_weight_error * frequencies)

        point_errors = self.point_errors + 4 * UNIT_ROUNDOFF * np.abs(self.points)  # and the rounding of ty
        error_of_points = frequencies * float(self.weights @ point_errors)
        return np.asarray(2.0 * self.omitted_weight + rounding + error_of_weights + error_of_points)


def integrate_transform(
    nodes: WeightedPoints, count: int, tilt: float, rule: QuadratureRule, shift: float
) -> QuadratureSum:
    """Approximate the mean positive part of a sum, without and with a shift, by the trapezoidal rule.

    The means are E[(S + ξ)₊] and E[(S + ξ − c)₊]. S is the sum of n independent copies of a variable Y, and ξ ~ N(0,
    τ²). The rule is

        (Δt/π) e^{K(λ)} (g(0)/2 + Σ_{k=1}^N Re g(k Δt)),   g(t) = φ(t)ⁿ e^{(τz)²/2 − zc}/z²,   z = λ + it,

    where φ(t) = M(λ + it)/M(λ), M(z) = E e^{zY} and K = n log M. The factor e^{K(λ)} is left out of the results.

    Args:
        nodes: the distribution of Y.
        count: number n of copies.
        tilt: exponent λ > 0 of the weights e^{λS}.
        rule: Δt, N and τ.
        shift: c ≥ 0 of the shifted sum.

    Returns:
        Both approximations, and a bound on the errors of each by roundings and by the data. The errors of the rule
        itself are not included.
    """
    tilted = _tilt_points(nodes, tilt, count)
    frequencies = np.asarray(rule.spacing * np.arange(rule.last_index + 1), dtype=np.float64)
    z = tilt + 1j * frequencies

    # φⁿ in logarithms, from φ − 1 so that small changes have all their digits.
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
        power_error = np.expm1(np.minimum(count * np.log1p(relative_error), 700.0))  # cut against overflow
    # The roundings of the exponentials and of the shifted phase t c.
    factor_rounding = 64 * UNIT_ROUNDOFF * (1.0 + frequencies * abs(shift))
    error_sum = float((np.abs(terms) * (power_error + factor_rounding)).sum())

    scale = rule.spacing / math.pi
    value = scale * float(terms.real.sum())
    shifted_value = scale * float((terms * np.exp(-z * shift)).real.sum()) if shift else value
    return QuadratureSum(value, shifted_value, scale * error_sum)


def _tilt_points(nodes: WeightedPoints, tilt: float, count: int) -> _TiltedPoints:
    """Tilt a distribution of points by λ: multiply the weights by e^{λy}/M(λ), with M(λ) = E e^{λY}.

    Points are left out if their tilted weights are negligible.

    Args:
        nodes: the distribution of the variable Y.
        tilt: exponent λ of the weights e^{λy}.
        count: number of copies of Y in the sum, on which the limit depends.

    Returns:
        The points that are used, with their tilted weights, and the weight that is left out.
    """
    points, weights, point_errors, weight_errors = nodes
    # The weights and their errors grow by the same factor. M(λ) is computed from M(λ) − 1, which may be small.
    growth = np.exp(tilt * points)
    moment = 1.0 + float(weights @ np.expm1(tilt * points))
    tilted_weights, tilted_errors = weights * growth / moment, weight_errors * growth / moment
    # The points left out have a total weight of at most `_NEGLIGIBLE_WEIGHT` per copy of Y.
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

    The result is φ(k Δt) − 1 = Σ_y w (e^{iky Δt} − 1) for k = 0, …, N.

    Each k is written as a multiple of about √N plus a remainder. With the angles a and b of both,

        e^{i(a+b)} − 1 = (e^{ia} − 1)(e^{ib} − 1) + (e^{ia} − 1) + (e^{ib} − 1),

    so that only about 2√N exponentials are needed for each point y.

    Args:
        tilted: points y with weights w.
        spacing: distance Δt of neighbouring frequencies.
        last_index: index N of the last frequency.

    Returns:
        One complex number for each k.
    """
    # A table with one row for each multiple of the stride and one column for each remainder.
    stride = math.isqrt(last_index) + 1
    multiples = last_index // stride + 1
    table = np.zeros((multiples, stride), dtype=np.complex128)
    # The points are taken in blocks, to bound the memory.
    block_size = max(_BLOCK_SIZE // stride, 16)
    for start in range(0, tilted.points.size, block_size):
        points = tilted.points[start : start + block_size]
        weights = tilted.weights[start : start + block_size]
        # The three products and sums of the formula, added up over the points.
        remainder_turns = _turns(points, spacing, stride)
        weighted_multiple_turns = _turns(points, spacing * stride, multiples) * weights
        products = weighted_multiple_turns @ remainder_turns.T
        multiple_sums = weighted_multiple_turns.sum(axis=1)[:, None]
        remainder_sums = (remainder_turns @ weights)[None, :]
        table += products + multiple_sums + remainder_sums
    return np.asarray(table.ravel()[: last_index + 1])


def _turns(points: FloatArray, step: float, count: int) -> ComplexArray:
    """Return complex rotations minus 1 at equally spaced frequencies, without cancellation.

    The numbers are z_k = e^{iky·step} − 1 for k = 0, …, count − 1 and each point y.

    The number of known rows is doubled by z_{j+k} = z_j z_k + z_j + z_k, so that few sines are computed.

    Args:
        points: the points y.
        step: distance of neighbouring frequencies.
        count: number of rows, at least 1.

    Returns:
        A complex matrix with one row for each k and one column for each point.
    """
    # z_1 = 2 sin(θ)(−sin θ + i cos θ) for θ = y·step/2, which is exact to rounding for small angles.
    half_angle = 0.5 * step * points
    first_row = 2.0 * np.sin(half_angle) * (-np.sin(half_angle) + 1j * np.cos(half_angle))

    # Row 0 is z_0 = 0. Each pass adds as many rows as are known, by the formula for z_{j+k}.
    turns = np.zeros((count, points.size), dtype=np.complex128)
    computed = 1
    if count > 1:
        turns[1], computed = first_row, 2
    while computed < count:
        added = min(computed, count - computed)
        previous_row = turns[computed - 1]
        next_row = previous_row * first_row + previous_row + first_row
        turns[computed : computed + added] = turns[:added] * next_row + turns[:added] + next_row
        computed += added
    return turns
