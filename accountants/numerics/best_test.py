"""Estimates of the minimum of h(t) = α e^t + E(t): the best test at a false positive rate α."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfinv, ndtri, ndtri_exp

from epsilond.accountants.numerics.special import FloatArray

_GRID = np.linspace(0.0, 1.0, 65)
_LARGE = 0.7
"""Value of −log E below which E is near 1."""


def gaussian_mu(advantage: float) -> float:
    """Return the distance μ at which two normal distributions have a given total variation distance.

    For N(μ, 1) and N(0, 1) it is 2 Φ⁻¹((1 + a)/2), with the normal distribution function Φ.

    Args:
        advantage: the distance a in [0, 1]; 1 counts as slightly less, so that the result is finite.

    Returns:
        μ ≥ 0, in standard deviations.
    """
    return 2.0 * float(ndtri(0.5 + 0.5 * min(advantage, 1.0 - 1e-15)))  # below 1, where ndtri is infinite


def pure_gaussian_mu(epsilon: float) -> float:
    """Return the least μ for which every ε-differentially private mechanism is μ-Gaussian differentially private.

    Randomized response needs it: μ = 2 Φ⁻¹(e^ε/(1 + e^ε)), with the normal distribution function Φ. Up to ε = 1 it is
    computed as 2 √2 erf⁻¹(tanh(ε/2)). Both forms are within a relative 1e-13, and the result is rounded up.

    Args:
        epsilon: ε ≥ 0, in nats.

    Returns:
        μ ≥ 0, in standard deviations; an upper bound.
    """
    if epsilon <= 1.0:
        mu = 2.0 * math.sqrt(2.0) * float(erfinv(math.tanh(0.5 * epsilon)))
    else:
        mu = -2.0 * float(ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))
    return math.nextafter(mu * (1.0 + 1e-12), math.inf) if epsilon > 0.0 else 0.0  # rounded up


def gaussian_minimum(mu: float, rate: float) -> float:
    """Return the threshold log γ of the likelihood ratio in the best test of N(μ, 1) against N(0, 1).

    Args:
        mu: distance μ > 0 of the means, in standard deviations.
        rate: false positive rate of the test, in (0, 1).

    Returns:
        log γ in nats, of any sign.
    """
    return -0.5 * mu * mu - mu * float(ndtri(rate))


def interpolated_minimum(
    points: FloatArray, values: FloatArray, *, low: float, high: float, rate: float
) -> tuple[float, float, float]:
    """Estimate the minimum of h(t) = α e^t + E(t) over an interval, from some values of E.

    The minimum is the true positive rate of the best test at the false positive rate α, with E the hockey-stick
    divergence at ε = t. E is interpolated by √−log E, which is nearly linear in t if E is small, or by log −log E, if E
    is near 1. The minimum is searched on a grid, and again on a grid between the neighbours of the least point.

    Args:
        points: t of the known points, the nearest to the minimum first.
        values: E there, in (0, 1).
        low: lower limit of the search, as t.
        high: upper limit of the search, as t.
        rate: false positive rate α.

    Returns:
        The minimiser t, h″/h there, and h there. h″/h is NaN if its denominator underflows.
    """
    # Choose the transformation in which E is nearly linear in t.
    exponent = -np.log(values)
    is_near_one = bool(exponent[0] < _LARGE)
    transformed = np.log(exponent) if is_near_one else np.sqrt(exponent)
    for _ in range(2):
        # h on the grid, from the interpolated exponent −log E.
        grid = low + (high - low) * _GRID
        with np.errstate(over="ignore", under="ignore"):
            interpolated = _interpolate(points, transformed, grid)
            interpolated_exponent = np.exp(interpolated) if is_near_one else interpolated * interpolated
            h = rate * np.exp(grid) + np.exp(-interpolated_exponent)
        least = min(max(int(h.argmin()), 1), grid.size - 2)
        low, high = float(grid[least - 1]), float(grid[least + 1])

    # The curvature by a second difference.
    spacing = grid[1] - grid[0]
    second_difference = float(h[least - 1] - 2.0 * h[least] + h[least + 1])
    scale = float(h[least] * spacing**2)
    curvature = second_difference / scale if scale > 0.0 else math.nan
    return float(grid[least]), curvature, float(h[least])


def _interpolate(nodes: FloatArray, values: FloatArray, points: FloatArray) -> FloatArray:
    """Evaluate the polynomial through the values at the nodes, at some points, by Newton's divided differences.

    Args:
        nodes: distinct arguments.
        values: one value for each node.
        points: arguments at which the polynomial is evaluated.

    Returns:
        The value of the polynomial at each point.
    """
    # Divided differences: the k-th round divides by the distance of nodes k places apart.
    coefficients = values.copy()
    for k in range(1, nodes.size):
        differences = coefficients[k:] - coefficients[k - 1 : -1]
        coefficients[k:] = differences / (nodes[k:] - nodes[:-k])
    # Horner's method for the Newton form of the polynomial.
    result = np.full_like(points, coefficients[-1])
    for k in range(nodes.size - 2, -1, -1):
        result = result * (points - nodes[k]) + coefficients[k]
    return result
