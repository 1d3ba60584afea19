"""Certified comparison of Gaussian profiles: whether a sum of them exceeds a Gaussian profile by at most η at every ε.

The profile of N(μ, 1) against N(0, 1) at e^x is Φ(a) − t with a = μ/2 − x/μ and t = e^x Φ(a − μ). Here x has any sign.
Its derivatives in x are −t, then φ(a)/μ − t, and so on, each with a Hermite polynomial of one degree more. All are
bounded on the whole line. Let w be the distance of two points. Between them, a difference of such sums is at most the
quintic with the same values and two derivatives at both points, plus w⁶/46080 times a bound on the sixth derivative.
The quintic is at most the largest of its control values (docs/ledger.md, "Step after step").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.ledgers.mathematics.comparison.hinges import Hinges

MOST_CELLS = 3000
_FEWEST_CELLS = 48
_BETWEEN = 0.04
"""Largest error between two points, as a share of η."""
_QUINTIC = 46080.0
"""6! · 2⁶, as the error of the interpolating quintic is at most w⁶/46080 max |f⁗″|."""
_CRAMER = 0.4336
"""Constant of Cramér's inequality in the form |He_j(a)| φ(a) ≤ 0.4336 √(j!), which is 1.0865/√(2π) rounded up."""
_AT_ONCE = 2**17
"""Number of values in one pass, which is a megabyte for each array."""


@dataclass(frozen=True)
class Jet:
    """Values of a function at points, with two derivatives.

    Attributes:
        value: values of the function.
        slope: first derivatives in ε.
        bend: second derivatives in ε.
        error: bounds on the rounding error that value, slope and bend each have at most.
    """

    value: FloatArray
    slope: FloatArray
    bend: FloatArray
    error: FloatArray


def largest_excess(order: Hinges, mu: float, slot: float, last: float, eta: float) -> float:
    """Bound F ⊗ G_μ − G_slot at every ε ≥ 0.

    F is an upper bound on the profile of a step. G_m is the profile of N(m, 1) against N(0, 1), and ⊗ composes two
    profiles. Beyond `last` the bound is the value of F ⊗ G_μ at `last`.

    Args:
        order: F, the hinges of one direction of the step's pair.
        mu: μ of the Gaussian that remains after the step.
        slot: μ of the Gaussian slot before the step.
        last: largest ε that is evaluated, at least 0.
        eta: η of the step, which decides only how fine the cells are.

    Returns:
        A certified upper bound, or math.inf if it would take too many cells.
    """
    sixth = (_sixth(mu) * order.total + _sixth(slot)) * (1.0 + 64 * UNIT_ROUNDOFF)
    cells = max(math.ceil(last / (_BETWEEN * eta * _QUINTIC / sixth) ** (1.0 / 6.0)), _FEWEST_CELLS)
    if cells > MOST_CELLS:
        return math.inf
    at = np.linspace(0.0, last, cells + 1)
    step, before = of_hinges(order, at, mu), of_gaussian(at, slot)
    width = np.diff(at) * (1.0 + 2 * UNIT_ROUNDOFF)
    between = width**6 / _QUINTIC * sixth * (1.0 + 16 * UNIT_ROUNDOFF)
    error = step.error + before.error
    rounding = np.maximum(error[:-1], error[1:]) * (1.0 + width + width * width)
    controls = _controls(step.value - before.value, step.slope - before.slope, step.bend - before.bend, width)
    inside = float(np.max(controls + rounding + between))
    return max(inside, float(step.value[-1] + step.error[-1]))


def of_gaussian(x: FloatArray, mu: float) -> Jet:
    """Return the profile of N(μ, 1) against N(0, 1) and its derivatives at points x."""
    value, slope, bend, error = _jet(x, mu)
    return Jet(value, slope, bend, UNIT_ROUNDOFF * error)


def of_hinges(order: Hinges, at: FloatArray, mu: float) -> Jet:
    """Return p_∞ + Σ p_i E(ε − l_i), the profile bound of hinges composed with a Gaussian, and its derivatives.

    Args:
        order: the hinges, with losses l_i and masses p_i.
        at: the points ε.
        mu: μ of the Gaussian, whose profile is E.
    """
    rows = max(1, _AT_ONCE // max(order.losses.size, 1))
    parts = []
    for start in range(0, at.size, rows):
        jets = _jet(at[start : start + rows, None] - order.losses, mu)
        parts.append(np.stack([values @ order.masses for values in jets]))
    value, slope, bend, error = np.concatenate(parts, axis=1)
    summed = (order.losses.size + 4) * (value - slope + bend - 2.0 * slope)  # of Φ(a), t and φ(a)/μ, each twice or more
    return Jet(value + order.infinite, slope, bend, UNIT_ROUNDOFF * (error + np.abs(summed) + 4.0 * order.infinite))


def _jet(x: FloatArray, mu: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the Gaussian profile E, its derivatives E′ and E″ at x, and a bound on the error of each.

    E(x) = Φ(a) − t with a = μ/2 − x/μ and t = e^x Φ(a − μ), where Φ is the normal distribution function and φ its
    density. Errors are in units of roundoff. With s = |a| + μ the relative error of Φ(a), t and φ(a)/μ is at most
    8 (3 + s²) units. The error of a is 3s units, a normal tail or density multiplies it by at most s + 1, its own
    exponential adds s²/2, and x adds |x| ≤ s².
    """
    a = 0.5 * mu - x / mu
    above, t = ndtr(a), np.exp(np.minimum(x, 700.0)) * ndtr(a - mu)
    density = np.exp(-0.5 * a * a) * (1.0 / (mu * math.sqrt(2.0 * math.pi)))
    error = 8.0 * (3.0 + (np.abs(a) + mu) ** 2) * (above + t + density)
    return above - t, -t, density - t, error


def _sixth(mu: float) -> float:
    """Bound the sixth derivative of a Gaussian profile.

    Up to signs it is Σ_{j ≤ 4} He_j(a) φ(a) μ^{−1−j} − t, and t ≤ 1.
    """
    return 1.0 + sum(_CRAMER * math.sqrt(math.factorial(j)) * mu ** (-1 - j) for j in range(5))


def _controls(value: FloatArray, slope: FloatArray, bend: FloatArray, width: FloatArray) -> FloatArray:
    """Return for each cell an upper bound on its interpolating quintic: the largest Bernstein coefficient.

    Args:
        value: values of the quintics at the points that bound the cells.
        slope: first derivatives at the points.
        bend: second derivatives at the points.
        width: width of each cell.
    """
    first, second = slice(None, -1), slice(1, None)
    fifth, bent = width / 5.0, width * width / 20.0
    inner = (
        value[first] + fifth * slope[first],
        value[first] + 2.0 * fifth * slope[first] + bent * bend[first],
        value[second] - 2.0 * fifth * slope[second] + bent * bend[second],
        value[second] - fifth * slope[second],
    )
    return np.asarray(np.max(np.stack([value[first], *inner, value[second]]), axis=0))
