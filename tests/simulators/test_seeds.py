"""Streams of random numbers that must not meet: a problem's and the repetitions', also at the same seed."""

from typing import Any

import numpy as np
import pytest

from epsilond.simulators.problems import populations
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.seeds import generators


def first_words(seed, count=1000):
    """What repetitions draw first."""
    return {int(generator.integers(2**63)) for generator in generators(seed, range(count))}


@pytest.mark.parametrize("own", [0, 3])
def test_a_population_is_no_repetitions_stream(own):
    met = []

    def draw(generator, count, model):
        sequence = generator.bit_generator.seed_seq
        met.append(int(np.random.default_rng(sequence).integers(2**63)))
        return np.zeros((count, len(model))), np.zeros(count)

    populations.make_population(draw, clients=4, size=5, own=own, dimension=2, model_norm=1.0, seed=7)
    assert len({*met}) == len(met) == (5 if own else 1)
    assert {*met}.isdisjoint(first_words(7))


@pytest.mark.parametrize("kind", [PersonalizedLeastSquares, PersonalizedHuber])
def test_optima_are_not_drawn_from_a_repetitions_stream(kind):
    optima = kind(clients=2, dimension=6, seed=3).draw_optima()[0]
    for generator in generators(3, range(20)):
        drawn = generator.standard_normal(6)
        assert not np.allclose(optima, drawn / np.linalg.norm(drawn))


def test_feature_vectors_are_not_drawn_from_a_repetitions_stream():
    problem: Any = PersonalizedHuber(clients=2, dimension=6, seed=3).build()
    signs = np.sign(problem.vectors)
    for generator in generators(3, range(20)):
        drawn = generator.integers(0, 2, size=signs.shape, dtype=np.int8) * 2.0 - 1.0
        assert not np.array_equal(signs, drawn)
