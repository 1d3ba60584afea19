"""δ of a composition of finite laws by direct convolution of exact losses: no transform, no lattice, no tilt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

import mpmath as mp
import numpy as np

Law = tuple[Sequence[tuple[mp.mpf, mp.mpf]], mp.mpf]
"""((loss, first-law mass), …) and the mass of an infinite loss."""


def delta(law: Law, times: int, epsilon: float) -> mp.mpf:
    """E[(1 − e^{ε − L})₊] over `times` independent losses; an infinite loss counts as 1.

    Equal sums of losses are merged after rounding to 25 digits, far below anything that is compared.
    """
    atoms, infinite = law
    level = mp.mpf(epsilon)
    sums = convolved(tuple(atoms), times, mp.mp.prec)
    finite = mp.fsum(mass * (1 - mp.e ** (level - loss)) for loss, mass in sums if loss > level)
    return finite + 1 - (1 - infinite) ** times


@cache
def convolved(
    atoms: tuple[tuple[mp.mpf, mp.mpf], ...], times: int, precision: int
) -> tuple[tuple[mp.mpf, mp.mpf], ...]:
    """(loss, mass) of `times` losses together, computed once in this precision for every ε that is asked."""
    del precision
    sums: dict[str, tuple[mp.mpf, mp.mpf]] = {"0": (mp.mpf(0), mp.mpf(1))}
    for _ in range(times):
        merged: dict[str, list[mp.mpf]] = defaultdict(list)
        places: dict[str, mp.mpf] = {}
        for loss, mass in sums.values():
            for step, weight in atoms:
                total = loss + step
                key = mp.nstr(total, 25)
                places[key] = total
                merged[key].append(mass * weight)
        sums = {key: (places[key], mp.fsum(masses)) for key, masses in merged.items()}
    return tuple(sums.values())


def log_delta_float(masses: np.ndarray, lowest: int, span: float, times: int, epsilon: float) -> float:
    """log δ of losses span · (lowest, lowest + 1, …) in float64: sums of positive terms, good to about 1e-12."""
    total, base, left = np.ones(1), masses, times
    while left:
        if left & 1:
            total = np.convolve(total, base)
        left >>= 1
        if left:
            base = np.convolve(base, base)
    losses = span * (lowest * times + np.arange(total.size))
    return float(np.log(np.sum(total * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0))))
