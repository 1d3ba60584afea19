"""Softmax regression: gradients against differences, constants against models at random, and two closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from epsilond.simulators.problems.mean_softmax import steepest
from epsilond.simulators.problems.populations import Population, within_ball
from epsilond.simulators.problems.problem import Floats, Records
from epsilond.simulators.problems.softmax import SoftmaxProblem

CLASSES, CLIENTS, SIZE, FEATURES = 3, 4, 6, 2


def made(*, diameter: float = 3.0, convexity: float = 0.0, own: int = SIZE) -> SoftmaxProblem:
    generator = np.random.default_rng(5)
    features = within_ball(generator.standard_normal((CLIENTS, SIZE, FEATURES)))
    targets = generator.integers(CLASSES, size=(CLIENTS, SIZE)).astype(float)
    features[:, : SIZE - own], targets[:, : SIZE - own] = features[0, : SIZE - own], targets[0, : SIZE - own]
    return SoftmaxProblem.of(
        Population(features, targets, own),
        classes=CLASSES,
        samples_per_client=SIZE,
        diameter=diameter,
        strong_convexity=convexity,
        objective="empirical",
        described={},
    )


PROBLEMS = [made(), made(diameter=0.5), made(convexity=0.3), made(own=3), made(own=0, diameter=20.0)]
EACH = pytest.mark.parametrize("problem", PROBLEMS)


def plain_value(problem: SoftmaxProblem, model: Floats) -> float:
    """The mean of −log p_y, as it is written."""
    weights = [model[FEATURES * c : FEATURES * (c + 1)] for c in range(CLASSES)]
    losses = []
    for features, targets in zip(problem.population.features, problem.population.targets, strict=True):
        for x, y in zip(features, targets, strict=True):
            powers = [math.exp(float(row @ x)) for row in weights]
            losses.append(-math.log(powers[int(y)] / sum(powers)))
    return math.fsum(losses) / len(losses) + 0.5 * problem.strong_convexity * float(model @ model)


def models_of(problem: SoftmaxProblem, count: int = 60) -> Floats:
    drawn = np.random.default_rng(1).standard_normal((count, problem.dimension))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    drawn[::2] *= np.random.default_rng(2).random((len(drawn[::2]), 1))
    return drawn * problem.radius


def every_gradient(problem: SoftmaxProblem, model: Floats) -> Floats:
    return problem.gradients(model, Records(problem.population.features, problem.population.targets))


@EACH
def test_gradients_are_those_of_the_loss(problem: SoftmaxProblem) -> None:
    for model in models_of(problem, 4):
        mean = np.mean(every_gradient(problem, model), axis=(0, 1))
        for axis in range(problem.dimension):
            step = np.zeros(problem.dimension)
            step[axis] = 1e-6
            slope = (plain_value(problem, model + step) - plain_value(problem, model - step)) / 2e-6
            assert slope == pytest.approx(mean[axis], abs=1e-8)
        data = Records(problem.population.features, problem.population.targets)
        assert problem.mean_gradient(model, data) == pytest.approx(np.mean(every_gradient(problem, model), axis=1))


@EACH
def test_no_model_breaks_the_constants(problem: SoftmaxProblem) -> None:
    constants, models = problem.constants, models_of(problem)
    every = np.stack([every_gradient(problem, model) for model in models])
    clients = np.mean(every, axis=2)
    spread = np.sqrt(np.max(np.mean(np.sum(np.square(every - clients[:, :, None]), axis=-1), axis=2)))
    apart = np.sum(np.square(clients - np.mean(clients, axis=1, keepdims=True)), axis=-1)
    assert np.max(np.linalg.norm(every, axis=-1)) <= constants.lipschitz
    assert spread <= constants.gradient_std
    assert np.sqrt(np.max(np.mean(apart, axis=1))) <= constants.heterogeneity + 1e-14
    for first, second in zip(range(0, len(models), 2), range(1, len(models), 2), strict=True):
        way, change = models[second] - models[first], every[second] - every[first]
        length = np.linalg.norm(way)
        assert np.max(np.linalg.norm(change, axis=-1)) <= constants.smoothness * length * (1 + 1e-12) + 1e-14
        assert np.min(change @ way) >= constants.strong_convexity * length**2 * (1 - 1e-12) - 1e-14


def test_the_slope_is_attained_by_two_classes_and_tends_to_the_root_of_two() -> None:
    """Two classes: ‖p − e_y‖ = √2/(1 + e^(z_y − z_other)), least where W's rows point apart along x."""
    for reach in (0.0, 0.7, 5.0):
        half = reach / math.sqrt(2.0)
        p = 1.0 / (1.0 + math.exp(-2.0 * half))
        assert float(steepest(np.asarray(reach), 2)) == pytest.approx(math.sqrt(2.0) * p)
    assert float(steepest(np.asarray(50.0), 10)) == pytest.approx(math.sqrt(2.0))


@EACH
def test_the_minimum_is_that_of_an_independent_solver(problem: SoftmaxProblem) -> None:
    ball = {"type": "ineq", "fun": lambda w: problem.radius**2 - w @ w, "jac": lambda w: -2.0 * w}
    found = optimize.minimize(
        lambda w: plain_value(problem, w),
        0.3 * models_of(problem, 1)[0],
        constraints=[ball],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    constants = problem.constants
    assert constants.optimum_value <= found.fun + 1e-9
    assert constants.optimum_value == pytest.approx(found.fun, abs=1e-7)
    assert problem.excess(problem.minimiser) <= 2.0 * constants.optimum_gap
    assert problem.excess(np.zeros(problem.dimension)) <= constants.initial_gap


@EACH
def test_excess_is_the_value_above_the_minimum_whatever_stands_beside(problem: SoftmaxProblem) -> None:
    models = models_of(problem, 7)
    together = problem.excess(models)
    assert [float(problem.excess(model)) for model in models] == together.tolist()
    for model, found in zip(models, together, strict=True):
        assert found == pytest.approx(plain_value(problem, model) - problem.constants.optimum_value, abs=1e-12)
