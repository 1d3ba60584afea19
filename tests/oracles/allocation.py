"""The two hockey-stick divergences of random allocation, from their definitions and without the library's cells.

S = (X₁ + … + X_t)/t with X_i = e^{c z_i − c²/2}. Removing: E(S − e^ε)₊. Adding: E(1 − e^ε S)₊.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np


def two_batches(shift: float, epsilon: float) -> tuple[float, float]:
    """Both divergences of one of two batches, by one integral over the first ratio, in thirty digits."""
    with mp.workdps(30):
        c, gamma = mp.mpf(shift), mp.exp(mp.mpf(epsilon))

        def ratio(z: Any) -> Any:
            return mp.exp(c * z - c * c / 2)

        def call(strike: Any) -> Any:
            """E(X − strike)₊."""
            if strike <= 0:
                return 1 - strike
            edge = mp.log(strike) / c + c / 2
            return mp.ncdf(c - edge) - strike * mp.ncdf(-edge)

        def put(strike: Any) -> Any:
            """E(strike − X)₊."""
            return call(strike) - 1 + strike if strike > 0 else mp.mpf(0)

        points = [-12, -4, *sorted({(mp.log(2 * gamma) / c + c / 2), (mp.log(2 / gamma) / c + c / 2)}), c + 8, c + 30]
        points = sorted(mp.mpf(point) for point in points)
        remove = mp.quad(lambda z: mp.npdf(z) * call(2 * gamma - ratio(z)), points) / 2
        add = mp.quad(lambda z: mp.npdf(z) * gamma * put(2 / gamma - ratio(z)), points) / 2
        return float(remove), float(add)


def by_transform(shift: float, steps: int, epsilon: float) -> tuple[float, float]:
    """Both divergences of one of t batches, by inverting φ(z)^t with φ(z) = E e^{−zX/t} along a vertical line.

    E(κ − S)₊ = (1/π) ∫₀^∞ Re e^{zκ} φ(z)^t/z² du at z = l + iu. No bound on its errors; twelve digits where tried.
    """
    nodes, weights = np.polynomial.legendre.leggauss(600)
    z, density = 12.0 * nodes, 12.0 * weights * np.exp(-72.0 * nodes**2) / math.sqrt(2.0 * math.pi)
    ratio = np.exp(shift * z - 0.5 * shift * shift) / steps

    def put(strike: float, abscissa: float) -> float:
        line = abscissa + 1j * np.arange(0.0, 500.0, 0.05)
        blocks = np.array_split(line, 100)
        log_transform = np.concatenate([np.log(np.exp(-np.outer(block, ratio)) @ density) for block in blocks])
        values = np.real(np.exp(line * strike + steps * log_transform) / line**2)
        return float(0.05 * (values.sum() - 0.5 * values[0]) / math.pi)

    gamma = math.exp(epsilon)
    return 1.0 - gamma + put(gamma, 1.0), gamma * put(1.0 / gamma, 30.0)


Law = dict[Any, Fraction]


def divergence(first: Law, second: Law, gamma: Fraction) -> Fraction:
    """E_γ of two finite laws."""
    return sum((max(mass - gamma * second.get(o, Fraction(0)), Fraction(0)) for o, mass in first.items()), Fraction(0))


def mixture(laws: list[Law]) -> Law:
    """The uniform mixture."""
    total: Law = {}
    for law in laws:
        for outcome, mass in law.items():
            total[outcome] = total.get(outcome, Fraction(0)) + mass / len(laws)
    return total


def adaptive_run(contributions: Iterator[Any] | Any, law_of: Any) -> Law:
    """The law of a run of batches, each of which sees the outputs of earlier ones.

    `contributions` maps the number of a batch and the outputs so far to a sum. `law_of` maps a sum to a law of outputs.
    """
    runs: Law = {(): Fraction(1)}
    for step in itertools.count():
        following: Law = {}
        for outputs, mass in runs.items():
            total = contributions(step, outputs)
            if total is None:
                return runs
            for outcome, weight in law_of(total).items():
                following[(*outputs, outcome)] = mass * weight
        runs = following
    raise AssertionError
