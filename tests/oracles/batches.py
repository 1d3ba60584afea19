"""Output distributions of noisy sums over random batches, written from the definition: one term for every batch."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Point = tuple[float, ...]

REACH = 9.0
"""How far a grid reaches beyond the outermost mean, in standard deviations of the noise."""


def batches(population: int, draws: int, *, repeats: bool) -> list[tuple[int, ...]]:
    """Every batch, each as likely as the others: ordered draws with repeats, or sets of members."""
    if repeats:
        return list(itertools.product(range(population), repeat=draws))
    return list(itertools.combinations(range(population), draws))


def means(contributions: Sequence[Point], draws: int, *, repeats: bool) -> dict[Point, float]:
    """The sums of all batches and their probabilities. Equal sums, up to 1e-12, are counted together."""
    chosen = batches(len(contributions), draws, repeats=repeats)
    sums: Counter[Point] = Counter()
    for batch in chosen:
        total = np.sum([contributions[member] for member in batch], axis=0)
        sums[tuple(float(round(value, 12)) for value in total)] += 1
    return {place: count / len(chosen) for place, count in sums.items()}


def densities(laws: Sequence[dict[Point, float]], steps: int) -> tuple[list[FloatArray], float]:
    """Densities of Gaussian mixtures on one grid of the line or the plane, and the size of a cell."""
    places = np.asarray([place for law in laws for place in law])
    axes = [
        np.linspace(low - REACH, high + REACH, steps)
        for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True)
    ]
    cell = float(np.prod([axis[1] - axis[0] for axis in axes]))
    grid = np.meshgrid(*axes, indexing="ij")
    tables = []
    for law in laws:
        table = np.zeros(grid[0].shape)
        for place, weight in law.items():
            squared = sum((axis - value) ** 2 for axis, value in zip(grid, place, strict=True))
            table += weight * np.exp(-0.5 * squared) / (2.0 * np.pi) ** (0.5 * len(axes))
        tables.append(table)
    return tables, cell


def divergence(first: FloatArray, second: FloatArray, cell: float, epsilon: float) -> float:
    """∫ (dP − e^ε dQ)₊ by the trapezoid rule."""
    return float(np.maximum(first - np.exp(epsilon) * second, 0.0).sum() * cell)


def twice(first: FloatArray, second: FloatArray, cell: float, epsilon: float) -> float:
    """The divergence of two independent releases, on the product grid."""
    joint = np.outer(first.ravel(), first.ravel()) - np.exp(epsilon) * np.outer(second.ravel(), second.ravel())
    return float(np.maximum(joint, 0.0).sum() * cell * cell)
