"""Terms of the trapezoidal rule for δ(ε) on a vertical line, and the errors that errors of the transform cause."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.part import ComplexArray, Line, LineValues
    from epsilond.accountants.numerics.special import FloatArray


def trapezoidal_terms(line: Line, values: LineValues) -> ComplexArray:
    """Return the terms of a trapezoidal sum for δ(ε), from the characteristic function on a vertical line.

    The term at the frequency t_k is:

        a_k = (Δt/π) φ(t_k)^T e^{−it_k c}/(z_k (1 + z_k)),

    and a_0 is half of this. φ^T is the characteristic function of the total privacy loss of T steps, after weighting by
    e^{lL}. The number c is near the mean of this loss.

    Args:
        line: tilt l and frequencies t_k with spacing Δt; z_k = l + it_k.
        values: the characteristic function φ^T of the total tilted loss at each frequency, centred at c.

    Returns:
        One complex term for each frequency, in units of e^{K(l) − lε}. K(l) is the cumulant log E[e^{lS}] of the total
        loss S. The sum of Re a_k e^{it_k(c − ε)} approximates δ(ε).
    """
    z = line.tilt + 1j * line.frequencies
    # φ^T e^{−itc} from its log modulus and phase.
    power = np.exp(values.log_modulus + 1j * values.phase)
    terms = np.asarray(line.spacing / math.pi * power / (z * (1.0 + z)), dtype=np.complex128)
    terms[0] *= 0.5  # the frequency 0 is an end of the interval of integration
    return terms


def transform_errors(line: Line, values: LineValues, moduli: FloatArray) -> FloatArray:
    """Bound the errors of the terms of a trapezoidal sum for δ(ε) that errors of the characteristic function cause.

    The terms are a_k (`trapezoidal_terms`). Let m be log |φ^T|, and g the growth of its error. The computed φ^T errs by
    at most e^m (e^g − 1), and a term by at most |a_k| (e^g − 1). For g ≥ 1 the bound is (Δt/π) e^{m + g}/|z|², the
    largest modulus that the true term may have.

    Args:
        line: tilt l and frequencies t_k with spacing Δt; z = l + it_k.
        values: m and g at each frequency.
        moduli: |a_k|, the modulus of each term.

    Returns:
        One bound for each frequency, in the unit of the terms.
    """
    growth = values.log_growth
    for_small_growth = moduli * np.expm1(np.minimum(growth, 1.0))

    # Exponents are cut at 700, where e^x is still a double.
    largest_power = np.exp(np.minimum(values.log_modulus + growth, 700.0))
    scale = line.spacing / math.pi
    for_large_growth = largest_power * scale / (line.frequencies**2 + line.tilt**2)
    return np.where(growth < 1.0, for_small_growth, for_large_growth)
