"""Personalised problems: constants, optima and excess against sums over every record there is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.problems.problem import Records

HUBER = PersonalizedHuber(
    clients=4, dimension=3, optimum_norm=1.3, optimum_spread=0.4, target_noise_std=0.3, threshold=0.7, feature_vectors=6
)
SQUARES = PersonalizedLeastSquares(clients=3, dimension=3, optimum_norm=0.8, optimum_spread=0.2, target_noise_std=0.5)


def huber_records(client: int):
    """Every record of a client, all as likely."""
    problem: Any = HUBER.build()
    for vector, sign in itertools.product(problem.vectors, (-1.0, 1.0)):
        yield vector, float(vector @ problem.optima[client]) + sign * HUBER.target_noise_std


def huber_loss(residual: float) -> float:
    r, k = abs(residual), HUBER.threshold
    return 0.5 * r * r if r <= k else k * r - 0.5 * k * k


def huber_slope(residual: float) -> float:
    return max(-HUBER.threshold, min(HUBER.threshold, residual))


def test_optima_have_the_mean_and_the_spread_that_were_asked():
    for spec in (HUBER, SQUARES):
        problem = spec.build()
        mean = problem.optima.mean(axis=0)
        spread = math.sqrt(np.mean(np.sum((problem.optima - mean) ** 2, axis=1)))
        assert np.linalg.norm(mean) == pytest.approx(spec.optimum_norm, rel=1e-12)
        assert spread == pytest.approx(spec.optimum_spread, rel=1e-12)
        assert problem.constants.optimum_norm == spec.optimum_norm
        assert problem.constants.optimum_spread == spec.optimum_spread


def test_only_the_last_coordinates_are_personal():
    optima = PersonalizedLeastSquares(clients=5, dimension=6, optimum_spread=0.5, personal_dimension=2).build().optima
    assert np.all(optima[:, :4] == optima[0, :4])
    assert len(set(optima[:, 5])) == 5


def test_the_huber_optimum_is_one_and_its_gradients_vary_as_said():
    problem = HUBER.build()
    for client in range(HUBER.clients):
        gradients = np.array([huber_slope(float(x @ problem.optima[client]) - y) * x for x, y in huber_records(client)])
        assert np.allclose(gradients.mean(axis=0), 0.0, atol=1e-15)
        variance = float(np.mean(np.sum(gradients**2, axis=1)))
        assert math.sqrt(variance) == pytest.approx(problem.constants.shared_gradient_std, rel=1e-12)
        assert problem.constants.local_gradient_std == problem.constants.shared_gradient_std


def test_huber_excess_is_the_mean_over_every_record():
    problem = HUBER.build()
    models = np.random.default_rng(0).standard_normal((4, 3))
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    wanted = 0.0
    for client, share in enumerate(shares):
        records = list(huber_records(client))
        at = np.mean([huber_loss(float(x @ models[client]) - y) for x, y in records])
        best = np.mean([huber_loss(float(x @ problem.optima[client]) - y) for x, y in records])
        wanted += share * (at - best)
    assert problem.excess(models, shares) == pytest.approx(wanted, rel=1e-12)
    assert problem.excess(problem.optima, shares) == 0.0


def test_squared_excess_is_the_mean_over_every_sign_vector():
    problem = SQUARES.build()
    models = np.random.default_rng(1).standard_normal((3, 3))
    scale = np.sqrt(1.0 / np.arange(1.0, 4.0))
    wanted = np.mean(
        [
            np.mean(
                [
                    0.5 * float(np.array(signs) * scale @ (models[client] - problem.optima[client])) ** 2
                    for signs in itertools.product((-1.0, 1.0), repeat=3)
                ]
            )
            for client in range(3)
        ]
    )
    assert problem.excess(models, np.full(3, 1.0 / 3.0)) == pytest.approx(wanted, rel=1e-12)


def test_the_joint_smoothness_is_that_of_both_parts_together():
    """The largest eigenvalue of the Hessian of half the square of ⟨x, w + θ⟩, over all x."""
    for problem in (HUBER.build(), SQUARES.build()):
        drawn = problem.records(np.random.default_rng(2), np.zeros(50, dtype=np.intp), 1).features[:, 0]
        largest = max(np.linalg.eigvalsh(np.kron(np.ones((2, 2)), np.outer(x, x)))[-1] for x in drawn)
        assert largest == pytest.approx(problem.constants.smoothness, rel=1e-12)


def test_the_largest_huber_gradient_is_attained():
    problem = HUBER.build()
    records = problem.records(np.random.default_rng(3), np.zeros(200, dtype=np.intp), 1)
    models = 10.0 * np.random.default_rng(4).standard_normal((200, 3))
    norms = np.linalg.norm(problem.weighted_gradient(models, records, np.ones((200, 1))), axis=1)
    assert norms.max() == pytest.approx(problem.constants.lipschitz, rel=1e-12)


@pytest.mark.parametrize(
    "spec", [HUBER, SQUARES, PersonalizedLeastSquares(clients=3, dimension=3, features="gaussian")]
)
def test_gradients_are_slopes_of_the_loss(spec):
    """Against differences of the loss along random directions, one record at a time."""
    problem = spec.build()
    generator = np.random.default_rng(5)
    records = problem.records(generator, np.array([0, 1, 2]), 2)
    models, weights = generator.standard_normal((3, 3)), generator.random((3, 2))
    found = problem.weighted_gradient(models, records, weights)
    loss = huber_loss if spec is HUBER else lambda r: 0.5 * r * r

    def total(row: int, model: np.ndarray) -> float:
        each = zip(records.features[row], records.targets[row], weights[row], strict=True)
        return sum(weight * loss(float(x @ model) - y) for x, y, weight in each)

    for row, direction in itertools.product(range(3), np.eye(3)):
        slope = (total(row, models[row] + 1e-6 * direction) - total(row, models[row] - 1e-6 * direction)) / 2e-6
        assert found[row] @ direction == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("features", ["sign", "gaussian"])
def test_records_have_the_law_that_is_said(features):
    """Second moments of the features, and of the noise, within five standard errors."""
    spec = PersonalizedLeastSquares(clients=2, dimension=3, features=features, target_noise_std=0.5)
    problem, count = spec.build(), 40_000
    drawn = problem.records(np.random.default_rng(6), np.zeros(count, dtype=np.intp), 1)
    x = drawn.features[:, 0]
    noise = drawn.targets[:, 0] - x @ problem.optima[0]
    moments = x.T @ x / count
    assert np.allclose(moments, np.diag([1.0, 0.5, 1.0 / 3.0]), atol=5.0 * math.sqrt(2.0 / count))
    assert np.mean(noise**2) == pytest.approx(0.25, abs=5.0 * 0.25 * math.sqrt(2.0 / count))


def test_without_a_bound_the_constants_say_so():
    assert math.isinf(SQUARES.build().constants.lipschitz)
    assert math.isinf(
        PersonalizedLeastSquares(clients=3, dimension=3, features="gaussian").build().constants.smoothness
    )


def test_nothing_of_a_batch_beyond_its_weights_counts():
    problem = HUBER.build()
    records = problem.records(np.random.default_rng(7), np.array([0, 3]), 3)
    models = np.ones((2, 3))
    weights = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    cut = [
        Records(records.features[:1, :2], records.targets[:1, :2]),
        Records(records.features[1:, :1], records.targets[1:, :1]),
    ]
    whole = problem.weighted_gradient(models, records, weights)
    assert np.allclose(whole[0], problem.weighted_gradient(models[:1], cut[0], weights[:1, :2])[0])
    assert np.allclose(whole[1], problem.weighted_gradient(models[1:], cut[1], weights[1:, :1])[0])


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"clients": 10**6}, "/clients"),
        ({"dimension": 10**6}, "/dimension"),
        ({"personal_dimension": 4}, "/personal_dimension"),
        ({"clients": 1, "optimum_spread": 1.0}, "/optimum_spread"),
        ({"target_noise_std": -1.0}, "/target_noise_std"),
    ],
)
def test_what_no_problem_can_be_is_refused(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        PersonalizedLeastSquares(**({"clients": 3, "dimension": 3} | fields))
    assert caught.value.faults[0].pointer == pointer
