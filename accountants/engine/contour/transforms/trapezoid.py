"""The trapezoidal rule with exact nodes, and the constants of error bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_STEP_BITS = 7


def exact_step(step: float) -> float:
    """The largest float with few significant bits that does not exceed `step` > 0.

    Its multiples by integers below 2^45 are exact, so that a grid of them is equispaced to the last bit.
    """
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_BITS)), exponent - _STEP_BITS)


def summation_error(terms: int) -> float:
    """γ_n = nu/(1 − nu): relative error of a sum of n products, in any order, against the sum of their moduli."""
    product = (terms + 10) * UNIT_ROUNDOFF
    return product / (1.0 - product)


def normal_quantile(nats: float) -> float:
    """A c ≥ 0 with Φ(−c) ≤ e^{−nats}."""
    return max(-float(ndtri_exp(-nats)), 0.0) * (1.0 + 1e-9) + 1e-9


def upper_normal_tail(c: float) -> float:
    """Φ(−c), rounded up."""
    return math.exp(float(log_ndtr(-c)) * (1.0 - 1e-12)) * (1.0 + 1e-12)


def log_strip_error(heights: FloatArray, log_growth: FloatArray, step: float) -> FloatArray:
    """log of 2E/(e^{2πa/h} − 1): error of the trapezoidal rule for a function analytic in |Im x| < a.

    E = e^{log_growth} bounds ∫ |f(x + iy)| dx for |y| < a (Trefethen and Weideman 2014, Theorem 5.1; any offset).
    """
    exponent = 2.0 * math.pi * heights / step
    return np.asarray(math.log(2.0) + log_growth - exponent - np.log(-np.expm1(-exponent)) + 1e-9)


def widest_step(heights: FloatArray, log_growth: FloatArray, nats: float) -> float:
    """The largest step for which some strip gives an error of at most e^{−nats}."""
    return float(np.max(2.0 * math.pi * heights / np.logaddexp(0.0, log_growth + nats + math.log(2.0))))
