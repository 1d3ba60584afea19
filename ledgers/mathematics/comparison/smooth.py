"""Whether a sum of Gaussian profiles stays below one by at most η at every ε: by values and two derivatives at points.

E of N(μ, 1) against N(0, 1) at e^x, x of any sign, is Φ(a) − t with a = μ/2 − x/μ and t = e^x Φ(a − μ). Its derivatives
in x are −t, then φ(a)/μ − t, and so on, each a Hermite polynomial more: all are bounded on the whole line. So between
two points a difference of such sums is at most the quintic that has its values and two derivatives at both, which is
nowhere above its control values, and w⁶/46080 times a bound of the sixth derivative (docs/ledger.md, "Step after
step").
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
"""Of η, what may be lost between two points."""
_QUINTIC = 46080.0
"""6! · 2⁶: |f − its quintic| is at most w⁶/46080 max |f⁗″|."""
_CRAMER = 0.4336
"""|He_j(a)| φ(a) ≤ 1.0865 √(j!)/√(2π)."""
_AT_ONCE = 2**17
"""Values of one pass: a megabyte an array."""


@dataclass(frozen=True)
class Jet:
    """At each point the value, two derivatives in ε, and a bound on the rounding of each of them."""

    value: FloatArray
    slope: FloatArray
    bend: FloatArray
    error: FloatArray


def largest_excess(order: Hinges, mu: float, slot: float, last: float, eta: float) -> float:
    """Above F ⊗ G_μ − G_slot at every ε ≥ 0: certified; math.inf where that would take too many cells.

    Beyond `last` it is what F ⊗ G_μ is there. `eta` only says how fine the cells are.
    """
    sixth = (_sixth(mu) * order.total + _sixth(slot)) * (1.0 + 64 * UNIT_ROUNDOFF)
    cells = max(math.ceil(last / (_BETWEEN * eta * _QUINTIC / sixth) ** (1.0 / 6.0)), _FEWEST_CELLS)
    if cells > MOST_CELLS:
        return math.inf
    at = np.linspace(0.0, last, cells + 1)
    here, whole = of_hinges(order, at, mu), of_gaussian(at, slot)
    width = np.diff(at) * (1.0 + 2 * UNIT_ROUNDOFF)
    between = width**6 / _QUINTIC * sixth * (1.0 + 16 * UNIT_ROUNDOFF)
    error = here.error + whole.error
    rounding = np.maximum(error[:-1], error[1:]) * (1.0 + width + width * width)
    controls = _controls(here.value - whole.value, here.slope - whole.slope, here.bend - whole.bend, width)
    inside = float(np.max(controls + rounding + between))
    return max(inside, float(here.value[-1] + here.error[-1]))


def of_gaussian(x: FloatArray, mu: float) -> Jet:
    """E(x) of N(μ, 1) against N(0, 1)."""
    value, slope, bend, error = _jet(x, mu)
    return Jet(value, slope, bend, UNIT_ROUNDOFF * error)


def of_hinges(order: Hinges, at: FloatArray, mu: float) -> Jet:
    """p_∞ + Σ p_i E(ε − l_i)."""
    rows = max(1, _AT_ONCE // max(order.losses.size, 1))
    parts = [
        np.stack([one @ order.masses for one in _jet(some[:, None] - order.losses, mu)])
        for some in (at[start : start + rows] for start in range(0, at.size, rows))
    ]
    value, slope, bend, error = np.concatenate(parts, axis=1)
    summed = (order.losses.size + 4) * (value - slope + bend - 2.0 * slope)  # of Φ(a), t and φ(a)/μ, each twice or more
    return Jet(value + order.infinite, slope, bend, UNIT_ROUNDOFF * (error + np.abs(summed) + 4.0 * order.infinite))


def _jet(x: FloatArray, mu: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """E, E′, E″ at x, and a bound on the error of each in units of roundoff.

    With s = |a| + μ the relative error of Φ(a), t and φ(a)/μ is at most 8 (3 + s²) units: a errs by 3s of them, a
    normal tail or density passes that on enlarged by s + 1, its own exponential errs by s²/2, and x by |x| ≤ s².
    """
    a = 0.5 * mu - x / mu
    above, t = ndtr(a), np.exp(np.minimum(x, 700.0)) * ndtr(a - mu)
    density = np.exp(-0.5 * a * a) * (1.0 / (mu * math.sqrt(2.0 * math.pi)))
    error = 8.0 * (3.0 + (np.abs(a) + mu) ** 2) * (above + t + density)
    return above - t, -t, density - t, error


def _sixth(mu: float) -> float:
    """Of the sixth derivative's size: it is Σ_{j ≤ 4} He_j(a) φ(a) μ^{−1−j} − t, up to signs, and t ≤ 1."""
    return 1.0 + sum(_CRAMER * math.sqrt(math.factorial(j)) * mu ** (-1 - j) for j in range(5))


def _controls(value: FloatArray, slope: FloatArray, bend: FloatArray, width: FloatArray) -> FloatArray:
    """Of each cell the largest control value of the quintic with these values and derivatives at its ends."""
    first, second = slice(None, -1), slice(1, None)
    fifth, bent = width / 5.0, width * width / 20.0
    inner = (
        value[first] + fifth * slope[first],
        value[first] + 2.0 * fifth * slope[first] + bent * bend[first],
        value[second] - 2.0 * fifth * slope[second] + bent * bend[second],
        value[second] - fifth * slope[second],
    )
    return np.asarray(np.max(np.stack([value[first], *inner, value[second]]), axis=0))
