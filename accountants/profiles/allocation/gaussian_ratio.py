"""Finite bounds, in the convex order, of the likelihood ratio X = e^{cz − c²/2} of N(c, 1) to N(0, 1), z ~ N(0, 1).

A cell a ≤ z ≤ b holds the masses ∫ φ(z) e^{cz − c²/2} dz of P and ∫ φ(z) dz of Q. Its shares are integrals of positive
functions, by Gauss–Legendre quadrature with `_NODES` nodes. A cell has Δz ≤ `_WIDEST`. On the ellipse of Bernstein
parameter 10 around it the integrand is at most e^60 times its mean over the cell, for |z| ≤ 37.5 and c ≤ 20. The
quadrature then errs by less than 1e-19, relative to the integral (docs/random-allocation.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.cells import spread_bounds
from epsilond.accountants.profiles.allocation.ratios import LEAST_LOG_PLACE, FiniteRatio

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.allocation.ratios import Side

LEAST_SHIFT = 1e-6
"""Least shift c with a finite bound. For a smaller one the ratio differs from 1 by too little."""
LARGEST_SHIFT = 20.0
"""Largest shift c with a finite bound. For a larger one the masses underflow."""
_FARTHEST = 37.5
"""Largest |z| of a cell: the density is a normal double up to there."""
_NODES = 24
"""Number of nodes of the Gauss–Legendre quadrature in each cell."""
_WIDEST = 0.37
"""Largest Δz of a cell, for which the quadrature's error is stated above."""
_WEIGHT_UNITS = 2 * _FARTHEST**2 + 96
"""Rounding of a weight in units of roundoff: 2z² of the density, and sums and quotients of `_NODES` terms."""


def gaussian_ratio(shift: float, cells: int, side: Side) -> FiniteRatio:
    """Return a finite distribution that bounds the likelihood ratio X of N(c, 1) to N(0, 1) in the convex order.

    "Above" means that expectations of nonnegative convex functions are at least those of X, "below" that they are at
    most those. Outputs are divided into cells (intervals). Above, the mass of a cell moves to the ratios at both ends
    of the cell, with the mean unchanged. Below, it moves to the mean ratio of the cell.

    Args:
        shift: c, in [`LEAST_SHIFT`, `LARGEST_SHIFT`]. It may err by four units of roundoff.
        cells: approximate number of cells.
        side: "above" or "below".

    Returns:
        Values of the ratio with their masses under N(0, 1), and bounds on the errors of both.
    """
    # The ratio increases with c in the convex order, so a shift that is rounded outward is valid.
    outward = 4 * UNIT_ROUNDOFF
    c = shift * (1.0 + outward) if side == "above" else shift * (1.0 - outward)
    z = _bounds(c, cells)
    low, high = z[:-1], z[1:]

    # The masses of the nodes of each cell under N(0, 1), with their distances from both ends of the cell.
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * (high - low)
    from_low, to_high = half[:, None] * (1.0 + nodes), half[:, None] * (1.0 - nodes)
    outputs = low[:, None] + from_low
    mass = np.exp(-0.5 * outputs * outputs) * (node_weights / math.sqrt(2.0 * math.pi)) * half[:, None]

    # The ratios at the bounds of the cells. Their logarithm c z − c²/2 has an error of a few units of roundoff of each
    # term, for which 4 units are counted. `_WEIGHT_UNITS` are the units of roundoff in a mass.
    ratios = np.exp(c * z - 0.5 * c * c)
    ratio_error = 4 * UNIT_ROUNDOFF * (c * _FARTHEST + 0.5 * c * c + 1.0)
    weight_error = _WEIGHT_UNITS * UNIT_ROUNDOFF

    if side == "below":
        weights = mass.sum(axis=1)
        rise_to_mean = (mass * np.expm1(c * from_low)).sum(axis=1) / weights
        means = ratios[:-1] * (1.0 + rise_to_mean)
        ratio_error += 2.0 * weight_error * float((rise_to_mean / (1.0 + rise_to_mean)).max())
        return FiniteRatio(means, weights, -math.inf, weight_error, ratio_error, side)

    # The masses that move to the upper and to the lower end of each cell.
    to_upper_end = (mass * np.expm1(c * from_low)).sum(axis=1) / np.expm1(c * (high - low))
    to_lower_end = (mass * np.expm1(-c * to_high)).sum(axis=1) / np.expm1(-c * (high - low))
    # weights[0] belongs to the ratio 0, and weights[i + 1] to the bound z[i].
    weights = np.zeros(z.size + 1)
    weights[2:] += to_upper_end
    weights[1:-1] += to_lower_end

    # Outward margin of the log probabilities beyond the cells; far larger than their error.
    rounding = 1e-9
    # Below the first cell, all mass of Q = N(0, 1) counts at 0. The mean is kept by a mass at the first bound.
    weights[0] = math.exp(float(log_ndtr(z[0])) + rounding)
    weights[1] += math.exp(float(log_ndtr(z[0] - c)) - math.log(ratios[0]) + rounding)
    # Above the last cell, the mass of Q counts at the last bound, and that of P = N(c, 1) at infinity.
    weights[-1] += math.exp(float(log_ndtr(-z[-1])) + rounding)
    log_infinite = float(log_ndtr(c - z[-1])) + rounding
    return FiniteRatio(np.append(0.0, ratios), weights, log_infinite, weight_error, ratio_error, side)


def _bounds(c: float, cells: int) -> FloatArray:
    """Choose bounds of cells, intervals of the output z, dense where N(0, 1) or N(c, 1) has most of its mass.

    Args:
        c: difference of the means of the two normal distributions, which have variance 1.
        cells: number of cells of the dense part. Evenly spaced bounds are added, so that no cell is wider than
            `_WIDEST`.

    Returns:
        The bounds, increasing, in standard deviations.
    """
    # The ratio e^{cz − c²/2} must be a normal double at the first bound.
    first = max(-_FARTHEST, (LEAST_LOG_PLACE + 0.5 * c * c) / c)

    # A histogram of the densities of N(0, 1) and N(c, 1), up to a factor. It only decides where the cells are dense.
    fine = np.linspace(first, _FARTHEST, 4097)
    middle = 0.5 * (fine[1:] + fine[:-1])
    masses = (np.exp(-0.5 * middle**2) + np.exp(-0.5 * (middle - c) ** 2)) * np.diff(fine)

    even = np.linspace(first, _FARTHEST, math.ceil((_FARTHEST - first) / _WIDEST) + 1)
    return np.unique(np.concatenate((even, spread_bounds(fine, masses, cells))))
