"""Certified comparison of Gaussian profiles: whether a sum of them exceeds a Gaussian profile by at most η at every ε.

The profile of N(μ, 1) against N(0, 1) at e^x is Φ(a) − t with a = μ/2 − x/μ and t = e^x Φ(a − μ). Here x has any sign.
Its derivatives in x are −t, then φ(a)/μ − t, and so on, each with a Hermite polynomial of one degree more. All are
bounded on the whole line. Let w be the distance of two points. Between them, a difference of such sums is at most the
quintic with the same values and two derivatives at both points, plus w⁶/46080 times a bound on the sixth derivative.
The quintic is at most the largest of its control values (docs/ledger.md, "Step after step").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.ledgers.mathematics.comparison.hinges import Hinges

MOST_CELLS = 3000
"""Largest number of cells, which bounds the time of one comparison."""
# Smallest number of cells of a comparison.
_FEWEST_CELLS = 48
_INTERPOLATION_ERROR = 0.04
"""Largest error of the interpolation between two points, as a share of η."""
_INTERPOLATION_DIVISOR = 46080.0
"""6! · 2⁶, as the error of the interpolating quintic is at most w⁶/46080 max |f⁗″|."""
_CRAMER = 0.4336
"""Constant of Cramér's inequality in the form |He_j(a)| φ(a) ≤ 0.4336 √(j!), which is 1.0865/√(2π) rounded up."""
_VALUES_PER_PASS = 2**17
"""Number of values in one pass, which is a megabyte for each array."""


@dataclass(frozen=True)
class Jet:
    """Values of a function of ε at several points, with its first two derivatives and an error bound.

    Attributes:
        value: values of the function.
        slope: first derivatives in ε.
        curvature: second derivatives in ε.
        error: bounds on the rounding error that value, slope and curvature each have at most.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    error: FloatArray

    def minus(self, subtracted: Jet) -> Jet:
        """Return the difference of two functions at the same points, with their derivatives. The errors add up.

        Args:
            subtracted: values and derivatives of the function to subtract.

        Returns:
            The difference at each point, with its two derivatives and the bounds on their rounding errors.
        """
        return Jet(
            value=self.value - subtracted.value,
            slope=self.slope - subtracted.slope,
            curvature=self.curvature - subtracted.curvature,
            error=self.error + subtracted.error,
        )


def largest_excess(hinges: Hinges, mu: float, slot_mu: float, last: float, eta: float) -> float:
    """Return an upper bound on δ(ε) after a step minus δ(ε) of the Gaussian budget before it, over all ε ≥ 0.

    The first δ is that of the step, bounded by `hinges`, composed with N(μ, 1) against N(0, 1). The second one is that
    of N(m, 1) against N(0, 1) with m = `slot_mu`. The interval from 0 to `last` is divided into cells of width w. On
    each, the difference f is at most the largest value of a quintic with the same values and two derivatives at both
    ends, plus w⁶/46080 max |f⁗″|. Beyond `last` it is at most the first δ at `last`.

    Args:
        hinges: piecewise linear upper bound on the δ of the step as a function of e^ε, in one direction.
        mu: μ of the Gaussian that remains after the step.
        slot_mu: m, the μ of the Gaussian slot before the step.
        last: largest ε of a cell, at least 0.
        eta: δ that the step may add. It only decides how fine the cells are.

    Returns:
        The upper bound, all rounding included; math.inf if it would take more than `MOST_CELLS` cells.
    """
    # Choose the width w so that the interpolation error w⁶/46080 max |f⁗″| is a small share of η.
    sixth_derivative = _bound_sixth_derivative(mu) * hinges.total + _bound_sixth_derivative(slot_mu)
    sixth_derivative *= 1.0 + 64 * UNIT_ROUNDOFF  # errors of the two bounds
    widest_cell = (_INTERPOLATION_ERROR * eta * _INTERPOLATION_DIVISOR / sixth_derivative) ** (1.0 / 6.0)
    cells = max(math.ceil(last / widest_cell), _FEWEST_CELLS)
    if cells > MOST_CELLS:
        return math.inf

    epsilon = np.linspace(0.0, last, cells + 1)
    after_step = of_hinges(hinges, epsilon, mu)
    excess = after_step.minus(of_gaussian(epsilon, slot_mu))
    # Rounded up: 2 units of roundoff exceed the rounding of the difference and the product.
    width = np.diff(epsilon) * (1.0 + 2 * UNIT_ROUNDOFF)
    beyond_last = float(after_step.value[-1] + after_step.error[-1])
    return max(_largest_in_cells(excess, width, sixth_derivative), beyond_last)


def _largest_in_cells(function: Jet, width: FloatArray, sixth_derivative: float) -> float:
    """Return an upper bound on a function between the points of a grid.

    In a cell of width w, a quintic interpolates the values and two derivatives of the function at both ends. The
    function exceeds it by at most w⁶/46080 times a bound on its sixth derivative.

    Args:
        function: values, derivatives and rounding errors at the points.
        width: widths of the cells.
        sixth_derivative: bound on the absolute sixth derivative.

    Returns:
        The bound over all cells.
    """
    quintic = _largest_of_quintics(function.value, function.slope, function.curvature, width)
    # An error of the values and derivatives at the ends changes a control value by at most this multiple of it.
    rounding_error = np.maximum(function.error[:-1], function.error[1:]) * (1.0 + width + width * width)
    # Rounded up: 16 units of roundoff exceed the rounding of the power and the products.
    interpolation_error = width**6 / _INTERPOLATION_DIVISOR * sixth_derivative * (1.0 + 16 * UNIT_ROUNDOFF)
    return float(np.max(quintic + rounding_error + interpolation_error))


def of_gaussian(epsilon: FloatArray, mu: float) -> Jet:
    """Return the privacy profile δ(ε) of N(μ, 1) against N(0, 1) and its two derivatives at points ε of any sign.

    Args:
        epsilon: the points.
        mu: μ, positive.

    Returns:
        The values and the two derivatives at each point, with bounds on their rounding errors.
    """
    jet = _jet(epsilon, mu)
    return replace(jet, error=UNIT_ROUNDOFF * jet.error)  # `_jet` has the errors in units of roundoff


def of_hinges(hinges: Hinges, epsilon: FloatArray, mu: float) -> Jet:
    """Bound the privacy profile of a mechanism composed with a Gaussian, and differentiate the bound twice.

    The mechanism is given by a piecewise linear bound on its profile. Composed with the Gaussian profile E, the bound
    is p_∞ + Σ p_i E(ε − l_i). Derivatives are in ε.

    Args:
        hinges: the piecewise linear bound: its losses l_i, their masses p_i, and the mass p_∞ at infinite loss.
        epsilon: the points ε.
        mu: μ of the Gaussian with the profile E.

    Returns:
        The values of the bound and its two derivatives at each point.
    """
    # Sum over the hinges in passes of limited memory. Arrays have points as rows, and hinges as columns.
    rows_per_pass = max(1, _VALUES_PER_PASS // max(hinges.losses.size, 1))
    passes = []
    for first_row in range(0, epsilon.size, rows_per_pass):
        rows = epsilon[first_row : first_row + rows_per_pass, None]
        jet = _jet(rows - hinges.losses, mu)
        summands = (jet.value, jet.slope, jet.curvature, jet.error)
        passes.append(np.stack([values @ hinges.masses for values in summands]))
    value, slope, curvature, error_units = np.concatenate(passes, axis=1)

    # Rounding of the sums over the hinges. With E = Φ(a) − t, slope −t and curvature φ(a)/μ − t as in `_jet`, the
    # absolute values of all terms that are summed are Φ(a) + 2t + φ(a)/μ. The last sum adds p_∞.
    size_of_terms = value - slope + curvature - 2.0 * slope
    sum_units = (hinges.losses.size + 4) * size_of_terms
    error = UNIT_ROUNDOFF * (error_units + np.abs(sum_units) + 4.0 * hinges.infinite)
    return Jet(value + hinges.infinite, slope, curvature, error)


def _jet(x: FloatArray, mu: float) -> Jet:
    """Return the privacy profile E of N(μ, 1) against N(0, 1) at ε = x, two derivatives, and an error bound.

    E(x) = Φ(a) − t with a = μ/2 − x/μ and t = e^x Φ(a − μ). Φ is the normal distribution function, and φ its density.
    Let s = |a| + μ. The relative error of Φ(a), t and φ(a)/μ is at most 8 (3 + s²) units of roundoff: the error of a is
    3s units, and a normal tail or density multiplies it by at most s + 1. Its own exponential adds s²/2, and x adds
    |x| ≤ s².

    Args:
        x: points of any sign.
        mu: μ, positive.

    Returns:
        Values, two derivatives, and bounds on the rounding errors. Here `error` is in units of roundoff.
    """
    argument = 0.5 * mu - x / mu  # a
    probability = ndtr(argument)  # Φ(a)
    weighted_tail = np.exp(np.minimum(x, 700.0)) * ndtr(argument - mu)  # t; e^710 would overflow
    density = np.exp(-0.5 * argument * argument) * (1.0 / (mu * math.sqrt(2.0 * math.pi)))  # φ(a)/μ
    error_units = 8.0 * (3.0 + (np.abs(argument) + mu) ** 2) * (probability + weighted_tail + density)
    # dE/dx = −t, because e^x φ(a − μ) = φ(a) cancels the derivative of Φ(a). Likewise d²E/dx² = φ(a)/μ − t.
    return Jet(
        value=probability - weighted_tail,
        slope=-weighted_tail,
        curvature=density - weighted_tail,
        error=error_units,
    )


def _bound_sixth_derivative(mu: float) -> float:
    """Bound the sixth derivative in ε of the privacy profile of N(μ, 1) against N(0, 1).

    Let a = μ/2 − ε/μ and t = e^ε Φ(a − μ). Up to signs, the derivative is:

        Σ_{j ≤ 4} He_j(a) φ(a) μ^{−1−j} − t,

    with Hermite polynomials He_j and the normal density φ. Cramér's inequality bounds He_j(a) φ(a) (see `_CRAMER`), and
    t ≤ 1.

    Args:
        mu: μ, positive.

    Returns:
        The upper bound on the absolute value.
    """
    return 1.0 + sum(_CRAMER * math.sqrt(math.factorial(degree)) * mu ** (-1 - degree) for degree in range(5))


def _largest_of_quintics(value: FloatArray, slope: FloatArray, curvature: FloatArray, width: FloatArray) -> FloatArray:
    """Return upper bounds on quintics that have given values and two derivatives at the start and end of their cells.

    A polynomial on an interval is at most its largest Bernstein coefficient, which is returned. Let f, f′ and f″ be the
    value and the derivatives at the start of a cell of width w. The first three of its six coefficients are:

        f,  f + w f′/5,  f + 2 w f′/5 + w² f″/20.

    The last three are the same with the value and derivatives at the end of the cell, and f′ negated.

    Args:
        value: values of the quintics at the points that bound the cells.
        slope: first derivatives at the points.
        curvature: second derivatives at the points.
        width: width of each cell.

    Returns:
        One bound for each cell.
    """
    start = slice(None, -1)
    end = slice(1, None)
    fifth = width / 5.0
    twentieth = width * width / 20.0
    coefficients = (
        value[start],
        value[start] + fifth * slope[start],
        value[start] + 2.0 * fifth * slope[start] + twentieth * curvature[start],
        value[end] - 2.0 * fifth * slope[end] + twentieth * curvature[end],
        value[end] - fifth * slope[end],
        value[end],
    )
    return np.asarray(np.max(np.stack(coefficients), axis=0))
