"""Both ends of a composition by enumeration of cells: outcomes put together tell less, outcomes told apart tell more.

An outcome line is cut into cells of known masses under both laws, on each of which the loss runs between its values at
the two ends. Seeing the cell alone is post-processing, which bounds every divergence and every test from below. A cell
whose masses are laid on its two extreme losses instead, with the same sums under both laws, is a finer experiment: the
hockey stick is convex in the likelihood ratio, so that it bounds them from above. Runs are enumerated one by one: no
transform, no lattice, no tilt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import ndtr

Masses = tuple[np.ndarray, np.ndarray]
"""Of all outcomes under the first and the second law."""
Distribution = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Cells:
    """Masses of the cells under both laws, and the least and the largest loss on each."""

    first: np.ndarray
    second: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def between(cls, edges: np.ndarray, first: Distribution, second: Distribution, loss: Distribution) -> Cells:
        """Of two distribution functions with a monotone loss; the two outer cells reach to ±∞."""
        masses = [np.diff(np.concatenate(([0.0], law(edges), [1.0]))) for law in (first, second)]
        ends = loss(np.concatenate(([-np.inf], edges, [np.inf])))
        return cls(masses[0], masses[1], np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:]))

    @classmethod
    def atoms(cls, first: Sequence[float], second: Sequence[float]) -> Cells:
        """Finitely many outcomes, each a cell."""
        p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        losses = np.log(p) - np.log(q)
        return cls(p, q, losses, losses)

    def reversed(self) -> Cells:
        """With the two laws in each other's place."""
        return Cells(self.second, self.first, -self.most, -self.least)

    def together(self) -> Masses:
        """The law of the cell alone."""
        return self.first, self.second

    def apart(self) -> Masses:
        """The masses p, q of a cell on its extreme losses a < b: p_a + p_b = p, p_a e^{−a} + p_b e^{−b} = q."""
        p, q, a, b = self.first, self.second, self.least, self.most
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            high = np.where(b > a, (p - np.exp(a) * q) / -np.expm1(a - b), 0.0)
        high = np.clip(np.where(np.isneginf(a), p, high), 0.0, p)
        low = np.where(b > a, p - high, p)
        there = high * np.exp(-np.where(high > 0.0, b, 0.0))
        here = np.maximum(q - there, 0.0)
        return np.concatenate((low, high)), np.concatenate((here, there))


def both_ends(parts: Sequence[Cells]) -> tuple[Masses, Masses]:
    """All runs of one part after another, from below and from above."""
    return _runs([part.together() for part in parts]), _runs([part.apart() for part in parts])


def _runs(parts: Sequence[Masses]) -> Masses:
    first, second = (
        reduce(lambda left, right: np.multiply.outer(left, right).ravel(), [part[law] for part in parts])
        for law in (0, 1)
    )
    return first, second


def divergence(masses: Masses, epsilon: float) -> float:
    """Σ (p − e^ε q)₊."""
    first, second = masses
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def power(masses: Masses, size: float) -> float:
    """The first law's mass of the best randomised test that has `size` under the second."""
    first, second = masses
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(first > 0.0, first / np.where(second > 0.0, second, 1e-300), 0.0)
    order = np.argsort(-ratio, kind="stable")
    spent, gained = np.cumsum(second[order]), np.cumsum(first[order])
    whole = int(np.searchsorted(spent, size, side="right"))
    before = float(gained[whole - 1]) if whole else 0.0
    left = size - (float(spent[whole - 1]) if whole else 0.0)
    return before + (left * float(ratio[order[whole]]) if whole < spent.size else 0.0)


# Mechanisms from their definitions -----------------------------------------------------------------------------------
def laplace(scale: float, distance: float, count: int) -> Cells:
    """Densities e^{−|x|/b}/2b around 0 and around the distance."""
    edges = np.linspace(0.0, distance, count)

    def around(centre: float) -> Distribution:
        return lambda x: np.where(
            x < centre, 0.5 * np.exp(-np.abs(x - centre) / scale), 1.0 - 0.5 * np.exp(-np.abs(x - centre) / scale)
        )

    def loss(x: np.ndarray) -> np.ndarray:
        return (distance - 2.0 * np.clip(x, 0.0, distance)) / scale

    return Cells.between(edges, around(0.0), around(distance), loss)


def normal_mixtures(
    first: Sequence[tuple[float, float]], second: Sequence[tuple[float, float]], noise: float, count: int
) -> Cells:
    """Σ w N(m, noise²) of pairs (w, m), two of them, with a monotone likelihood ratio."""
    means = [mean for _, mean in (*first, *second)]
    edges = np.linspace(min(means) - 9.0 * noise, max(means) + 9.0 * noise, count)

    def law(mixture: Sequence[tuple[float, float]]) -> Distribution:
        return lambda x: sum(weight * ndtr((x - mean) / noise) for weight, mean in mixture)

    def log_density(mixture: Sequence[tuple[float, float]], x: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce([math.log(weight) - 0.5 * ((x - mean) / noise) ** 2 for weight, mean in mixture])

    def loss(x: np.ndarray) -> np.ndarray:
        inside = np.clip(x, edges[0], edges[-1])
        found = log_density(first, inside) - log_density(second, inside)
        # Beyond the edges nothing is said of it.
        return np.where(np.isinf(x), np.where((x > 0) == (found[-1] > found[0]), np.inf, -np.inf), found)

    return Cells.between(edges, law(first), law(second), loss)


def response(odds: float, categories: int) -> Cells:
    """k-ary randomised response on two of its categories."""
    total = odds + categories - 1
    others = [1.0] * (categories - 2)
    first, second = [odds, 1.0, *others], [1.0, odds, *others]
    return Cells.atoms([weight / total for weight in first], [weight / total for weight in second])


def discrete_laplace(decay: float, distance: int) -> Cells:
    """Integers with weights e^{−decay |x|} around 0 and around the distance; those outside of both count as two."""
    inner, ratio = np.arange(1, distance), math.exp(-decay)
    scale = (1.0 - ratio) / (1.0 + ratio)
    tail = scale / (1.0 - ratio)

    def weights(centre: int) -> list[float]:
        left, right = tail * ratio**centre, tail * ratio ** (distance - centre)
        return [left, *(scale * ratio ** np.abs(inner - centre)), right]

    return Cells.atoms(weights(0), weights(distance))
