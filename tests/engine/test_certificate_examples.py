"""What docs/engine-certificate.md proves about pairs of laws, on numbers: exact fractions and random instances."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

Law = dict[tuple[int, ...], Fraction]


def hockey_stick(p: Law, q: Law, gamma: Fraction) -> Fraction:
    """Σ (p − γ q)₊."""
    return sum((max(p[outcome] - gamma * q[outcome], Fraction(0)) for outcome in p), Fraction(0))


def product(first: Law, second: Law) -> Law:
    return {a + b: first[a] * second[b] for a, b in itertools.product(first, second)}


def bit(one: Fraction) -> Law:
    return {(1,): one, (0,): 1 - one}


def drawn(records: list[tuple[int, int]], place: int) -> Law:
    """Randomised response, truthful with probability 3/4, on one bit of a record drawn at random."""
    ones = [Fraction(3, 4) if record[place] else Fraction(1, 4) for record in records]
    return bit(sum(ones, Fraction(0)) / len(records))


def test_the_larger_of_two_one_sided_compositions_understates_delta() -> None:
    gamma, other = Fraction(7, 4), (0, 1)
    with_ones, with_zeros = [(1, 1), other], [(0, 0), other]
    rounds = [(drawn(with_ones, place), drawn(with_zeros, place)) for place in (0, 1)]
    truth = hockey_stick(product(rounds[0][0], rounds[1][0]), product(rounds[0][1], rounds[1][1]), gamma)
    one_sided = [hockey_stick(product(p, p), product(q, q), gamma) for p, q in rounds]
    symmetrised: Law = {(1,): Fraction(1, 2), (0,): Fraction(1, 4), (-1,): Fraction(1, 4)}
    mirrored: Law = {(1,): Fraction(1, 4), (0,): Fraction(1, 4), (-1,): Fraction(1, 2)}
    bound = hockey_stick(product(symmetrised, symmetrised), product(mirrored, mirrored), gamma)
    assert (one_sided, truth, bound) == ([Fraction(9, 64), Fraction(8, 64)], Fraction(10, 64), Fraction(11, 64))
    for alpha in (Fraction(n, 16) for n in range(49)):
        for p, q in [*rounds, *((q, p) for p, q in rounds)]:
            assert hockey_stick(p, q, alpha) <= hockey_stick(symmetrised, mirrored, alpha)


def test_two_level_sampling_is_bounded_by_a_public_symbol() -> None:
    generator = random.Random(5)

    def law() -> Law:
        masses = [generator.randint(1, 20) for _ in range(4)]
        return {(i,): Fraction(mass, sum(masses)) for i, mass in enumerate(masses)}

    for _ in range(60):
        away, p, q, rate = law(), law(), law(), Fraction(generator.randint(1, 9), 10)
        mixed = [{k: (1 - rate) * away[k] + rate * local[k] for k in away} for local in (p, q)]
        public = [{(9,): 1 - rate, **{k: rate * v for k, v in local.items()}} for local in (p, q)]
        for alpha in (Fraction(n, 8) for n in range(33)):
            bound = (1 - rate) * max(1 - alpha, Fraction(0)) + rate * hockey_stick(p, q, alpha)
            assert hockey_stick(mixed[0], mixed[1], alpha) <= bound
            assert hockey_stick(public[0], public[1], alpha) == bound


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
def test_poisson_replace_one_is_worst_at_opposite_contributions(rate: float) -> None:
    # In the plane spanned by both contributions, on a grid; norms at most 1.5 standard deviations of the noise.
    axis = np.arange(-8.0, 8.0, 0.08)
    first, second = np.meshgrid(axis, axis)
    cell = 0.08**2 / (2 * np.pi)

    def mixture(x: tuple[float, float]) -> np.ndarray:
        sampled = np.exp(-0.5 * ((first - x[0]) ** 2 + (second - x[1]) ** 2))
        return cell * ((1 - rate) * np.exp(-0.5 * (first**2 + second**2)) + rate * sampled)

    worst = mixture((1.5, 0.0)), mixture((-1.5, 0.0))
    generator = np.random.default_rng(11)
    for _ in range(25):
        radii, angles = 1.5 * np.sqrt(generator.random(2)), 2 * np.pi * generator.random(2)
        pair = [mixture((r * np.cos(a), r * np.sin(a))) for r, a in zip(radii, angles, strict=True)]
        for alpha in (0.3, 0.8, 1.0, 1.3, 2.5):
            value, bound = (np.maximum(p - alpha * q, 0.0).sum() for p, q in (pair, worst))
            assert value <= bound + 1e-9
