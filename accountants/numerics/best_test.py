"""Estimates of the minimum of h(t) = α e^t + E(t): the best test at a false positive rate α."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from epsilond.accountants.numerics.special import FloatArray

_GRID = np.linspace(0.0, 1.0, 65)
_LARGE = 0.7
"""Value of −log E below which E is near 1."""


def gaussian_mu(advantage: float) -> float:
    """Return the μ at which N(μ, 1) and N(0, 1) have a total variation distance of `advantage`."""
    return 2.0 * float(ndtri(0.5 + 0.5 * min(advantage, 1.0 - 1e-15)))


def gaussian_minimum(mu: float, rate: float) -> float:
    """Return log γ of the best test of N(μ, 1) against N(0, 1)."""
    return -0.5 * mu * mu - mu * float(ndtri(rate))


def interpolated_minimum(
    places: FloatArray, values: FloatArray, *, low: float, high: float, rate: float
) -> tuple[float, float, float]:
    """Estimate the minimum of h(t) = α e^t + E(t) over an interval, from some values of E.

    The minimum is the true positive rate of the best test, with E the hockey-stick divergence at ε = t. E is
    interpolated by √−log E, which is nearly linear in t if E is small, or by log −log E, if E is near 1.

    Args:
        places: t of the known points, the nearest to the minimum first.
        values: E there, in (0, 1).
        low: lower limit of the search, as t.
        high: upper limit of the search, as t.
        rate: false positive rate α.

    Returns:
        The minimiser t, h″/h there, and h there.
    """
    bent = -np.log(values)
    large = bool(bent[0] < _LARGE)
    straight = np.log(bent) if large else np.sqrt(bent)
    for _ in range(2):
        grid = low + (high - low) * _GRID
        with np.errstate(over="ignore", under="ignore"):
            curve = _interpolate(places, straight, grid)
            h = rate * np.exp(grid) + np.exp(-(np.exp(curve) if large else curve * curve))
        k = min(max(int(h.argmin()), 1), grid.size - 2)
        low, high = float(grid[k - 1]), float(grid[k + 1])
    bend = float(h[k - 1] - 2.0 * h[k] + h[k + 1]) / float(h[k] * (grid[1] - grid[0]) ** 2)
    return float(grid[k]), bend, float(h[k])


def _interpolate(at: FloatArray, values: FloatArray, places: FloatArray) -> FloatArray:
    """Evaluate the polynomial through the points, by divided differences."""
    coefficients = values.copy()
    for k in range(1, at.size):
        coefficients[k:] = (coefficients[k:] - coefficients[k - 1 : -1]) / (at[k:] - at[:-k])
    value = np.full_like(places, coefficients[-1])
    for k in range(at.size - 2, -1, -1):
        value = value * (places - at[k]) + coefficients[k]
    return value
