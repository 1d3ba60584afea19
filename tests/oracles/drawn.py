"""Batches without replacement from the definition of the pair: profiles by integration, of runs by inversion.

The profile of one step is H(α) = q E_γ(N(d, 1)‖N(0, 1)), γ = 1 + (α − 1)/q, for α ≥ 1, and 1 − α + α H(1/α) below. Of
more steps it is the mean, over the loss of one of them under the first law, of the profile of the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf


def one_step(rate: float, shift: float, epsilon: Any) -> Any:
    """δ(ε) of one step, ε of any sign."""
    q, d = mpf(rate), mpf(shift)
    if epsilon < 0:
        alpha = mp.exp(epsilon)
        return 1 - alpha + alpha * one_step(rate, shift, -epsilon)
    gamma = 1 + mp.expm1(epsilon) / q
    edge = mp.log(gamma) / d
    return q * (mp.ncdf(d / 2 - edge) - gamma * mp.ncdf(-d / 2 - edge))


def two_steps(rate: float, shift: float, epsilon: float) -> Any:
    """δ(ε) of two steps."""
    return _and_one_more(rate, shift, epsilon, lambda at: one_step(rate, shift, at))


def transform(rate: float, shift: float, z: complex) -> Any:
    """E e^{zL} of one step."""
    q, d, power = mpf(rate), mpf(shift), mp.mpmathify(z)

    def integrand(x: Any) -> Any:
        ratio = 1 - q + q * mp.exp(d * x - d * d / 2)
        return mp.npdf(x) * (ratio ** (1 + power) + ratio**-power)

    edge, far = d / 2, d * (1 + abs(power.real)) + 14
    marks = [edge + (far - edge) * k / 8 for k in range(9)]
    return (1 - q) * (1 - 2 * mp.ncdf(-d / 2)) + mp.quad(integrand, marks)


def by_inversion(
    rate: float, shift: float, count: int, epsilon: float, *, tilt: float, period: float, terms: int
) -> float:
    """log δ(ε) of a run by the sum of A0 on a line of so many terms in doubles, by Gauss's rule over the noise.

    The images a period away are left in it.
    """
    nodes, weights = np.polynomial.legendre.leggauss(600)
    far = shift * (1.5 + tilt) + 12.0
    u = 0.5 * far * (nodes + 1.0)
    loss = np.log1p(rate * np.expm1(shift * u))
    density = 0.5 * far * weights * np.exp(-0.5 * (u + 0.5 * shift) ** 2) / math.sqrt(2.0 * math.pi)
    z = tilt + 2j * math.pi / period * np.arange(terms)
    powers = [np.exp(np.outer(power, loss)) @ density for power in (1.0 + z, -z)]
    transform = (1.0 - rate) * math.erf(shift / math.sqrt(8.0)) + powers[0] + powers[1]
    log_scale = count * math.log(transform[0].real) - tilt * epsilon
    terms_of_sum = np.exp(count * np.log(transform) - z * epsilon - log_scale) / (z * (1.0 + z))
    terms_of_sum[0] *= 0.5
    return log_scale + math.log(2.0 / period * float(terms_of_sum.real.sum()))


def _and_one_more(rate: float, shift: float, epsilon: Any, others: Callable[[Any], Any]) -> Any:
    """The mean of the others' profile at ε less the loss of one step, split where either has an edge."""
    q, d, wanted = mpf(rate), mpf(shift), mpf(epsilon)

    def loss(u: Any) -> Any:
        return mp.log1p(q * mp.expm1(d * u))

    def integrand(u: Any) -> Any:
        at = loss(u)
        return mp.npdf(u + d / 2) * (mp.exp(at) * others(wanted - at) + others(wanted + at))

    # where the loss is |ε|, and beyond
    edge = mp.log1p(mp.expm1(abs(wanted)) / q) / d
    far = d + 13
    inner = [edge * k / 3 for k in range(4)] if edge < far else []
    start = inner[-1] if inner else mpf(0)
    marks = [*inner[:-1], *(start + (far - start) * k / 4 for k in range(5))]
    atom = (1 - q) * (1 - 2 * mp.ncdf(-d / 2))
    return atom * others(wanted) + mp.quad(integrand, marks)
