"""δ of one and of two different steps of the sampled Gaussian, in plain numpy: no transform, no lattice, no tilt."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from epsilond.accountants.curve.facts import SampledGaussianLaw

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_REACH = 16.0


def mixtures(law: SampledGaussianLaw) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """(weight, mean) of the noise under both laws, turned so that the loss rises."""
    q, s = law.rate, law.shift
    sampled, bare = [(1.0 - q, 0.0), (q, s)], [(1.0, 0.0)]
    turned = [(1.0 - q, 0.0), (q, -s)]
    return {"remove": (sampled, bare), "add": (bare, turned), "replace": (sampled, turned)}[law.direction]


def log_density(mixture: list[tuple[float, float]], x: Array) -> Array:
    """Up to that of N(0, 1)."""
    return np.logaddexp.reduce([np.log(weight) + mean * (x - 0.5 * mean) for weight, mean in mixture], axis=0)


def loss(law: SampledGaussianLaw, x: Array) -> Array:
    """log dP/dQ at a noise."""
    first, second = mixtures(law)
    return log_density(first, x) - log_density(second, x)


def above(mixture: list[tuple[float, float]], x: Array) -> Array:
    """Mass above x."""
    return np.asarray(sum(weight * ndtr(mean - x) for weight, mean in mixture))


def once(law: SampledGaussianLaw, epsilon: Array) -> Array:
    """E[(1 − e^{ε−L})₊] of one step at any real ε: the half-line where L > ε, its end by bisection."""
    low, high = np.full_like(epsilon, -60.0), np.full_like(epsilon, 60.0)
    for _ in range(80):
        middle = 0.5 * (low + high)
        exceeds = loss(law, middle) > epsilon
        low, high = np.where(exceeds, low, middle), np.where(exceeds, middle, high)
    first, second = mixtures(law)
    return above(first, high) - np.exp(epsilon) * above(second, high)


def log_delta_of_two(first: SampledGaussianLaw, second: SampledGaussianLaw, epsilon: float) -> float:
    """log δ of both, to about 1e-9: E over the first step's noise of δ(ε − L₁) of the second."""
    ends = np.linspace(-_REACH, _REACH + first.shift, 6001)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    x = (middle[:, None] + half[:, None] * nodes).ravel()
    density = np.exp(log_density(mixtures(first)[0], x) - 0.5 * x * x) / np.sqrt(2.0 * np.pi)
    masses = (half[:, None] * weights).ravel() * density
    return float(np.log(masses @ np.maximum(once(second, epsilon - loss(first, x)), 0.0)))
