"""Problems with exact constants: against models at random, an independent solver, and closed forms."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy import optimize

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import (
    PROBLEMS,
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.problem import Floats, Records
from epsilond.simulators.problems.synthetic import Synthetic

SHAPE = {"clients": 4, "samples_per_client": 20, "dimension": 3, "population": 12}
SPECS = [
    kind(**SHAPE, own_share=own, diameter=diameter)
    for kind in (MeanEstimationProblem, LinearProblem, LeastSquaresProblem, HuberProblem, LogisticProblem)
    for own, diameter in ((0.0, 2.0), (0.5, 0.6), (1.0, 5.0))
]
RIDGED = [LeastSquaresProblem(**SHAPE, strong_convexity=0.3), LogisticProblem(**SHAPE, strong_convexity=0.1)]
REAL = [
    DataSetProblem(clients=7),
    DataSetProblem(clients=4, split="by-label", strong_convexity=0.01, diameter=8.0),
    DataSetProblem(data_set="diabetes", clients=5, split="by-label", held_out=0.2, diameter=4.0),
]
ALL = [*SPECS, *RIDGED, *REAL]
MODELS = 200


def name_of(spec: Synthetic | DataSetProblem) -> str:
    return f"{spec.kind}-{getattr(spec, 'own_share', '')}-{spec.diameter}-{getattr(spec, 'strong_convexity', '')}"


@pytest.fixture(params=ALL, ids=name_of)
def problem(request: pytest.FixtureRequest) -> LinearModelProblem:
    built: LinearModelProblem = request.param.build()
    return built


def models_of(problem: LinearModelProblem, count: int = MODELS) -> Floats:
    """Inside the ball and on its sphere, in every direction."""
    generator = np.random.default_rng(1)
    drawn = generator.standard_normal((count, problem.dimension))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    drawn[::2] *= generator.random((len(drawn[::2]), 1))
    return drawn * problem.radius


def gradients_at(problem: LinearModelProblem, model: Floats) -> Floats:
    """Of every record of every client: (N, P, d)."""
    population = problem.population
    return problem.gradients(model, Records(population.features, population.targets))


def plain_value(problem: LinearModelProblem, model: Floats) -> float:
    """The objective as it is written: a mean over clients of means over records."""
    population = problem.population
    means = [
        np.mean(problem.loss.value(features @ model, targets))
        for features, targets in zip(population.features, population.targets, strict=True)
    ]
    return float(np.mean(means) + 0.5 * problem.strong_convexity * model @ model)


def test_gradients_are_those_of_the_loss(problem: LinearModelProblem) -> None:
    step = 1e-6
    for model in models_of(problem, 5):
        mean = np.mean(gradients_at(problem, model), axis=(0, 1))
        for axis in range(min(problem.dimension, 5)):
            ahead, behind = model.copy(), model.copy()
            ahead[axis] += step
            behind[axis] -= step
            slope = (plain_value(problem, ahead) - plain_value(problem, behind)) / (2.0 * step)
            assert slope == pytest.approx(mean[axis], abs=1e-6)


def test_no_model_breaks_the_constants(problem: LinearModelProblem) -> None:
    constants, models = problem.constants, models_of(problem, MODELS if problem.dimension < 10 else 20)
    every = np.stack([gradients_at(problem, model) for model in models])  # (models, N, P, d)
    clients = np.mean(every, axis=2)
    spread = np.sqrt(np.max(np.mean(np.sum(np.square(every - clients[:, :, None]), axis=-1), axis=2)))
    apart = np.sum(np.square(clients - np.mean(clients, axis=1, keepdims=True)), axis=-1)
    assert np.max(np.linalg.norm(every, axis=-1)) <= constants.lipschitz
    assert spread <= constants.gradient_std
    # Equal clients have equal means up to rounding, and the bound for them is exactly 0.
    assert np.sqrt(np.max(np.mean(apart, axis=1))) <= constants.heterogeneity + 1e-14
    for first, second in zip(range(0, len(models), 2), range(1, len(models), 2), strict=True):
        way = models[second] - models[first]
        change = every[second] - every[first]
        length = np.linalg.norm(way)
        assert np.max(np.linalg.norm(change, axis=-1)) <= constants.smoothness * length * (1 + 1e-12) + 1e-14
        assert np.min(change @ way) >= constants.strong_convexity * length**2 * (1 - 1e-12) - 1e-14


def test_records_are_of_the_class_that_the_constants_speak_of(problem: LinearModelProblem) -> None:
    """Any record of norm at most 1 may replace another: L and β hold for it, not for the population's alone."""
    assert np.max(np.linalg.norm(problem.population.features, axis=-1)) <= 1.0
    assert np.max(np.abs(problem.population.targets)) <= problem.loss.largest_target
    generator = np.random.default_rng(3)
    features = generator.standard_normal((500, problem.dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    targets = generator.choice([-1.0, 1.0], 500) * problem.loss.largest_target
    along = -np.sign(targets)[:, None] * features * problem.radius
    worst = problem.gradients(along, Records(features, targets))
    largest = float(np.max(np.linalg.norm(worst, axis=-1)))
    assert largest <= problem.constants.lipschitz * (1 + 1e-12)
    if problem.strong_convexity == 0.0:
        assert largest == pytest.approx(problem.constants.lipschitz)


def test_the_minimum_is_that_of_an_independent_solver(problem: LinearModelProblem) -> None:
    constants, radius = problem.constants, problem.radius
    best = min(
        optimize.minimize(
            lambda model: plain_value(problem, model),
            start,
            jac=lambda model: np.mean(gradients_at(problem, model), axis=(0, 1)),
            constraints=[
                {"type": "ineq", "fun": lambda model: radius**2 - model @ model, "jac": lambda model: -2.0 * model}
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        ).fun
        for start in models_of(problem, 3 if problem.dimension < 10 else 1) * 0.5
    )
    assert constants.optimum_value == pytest.approx(best, abs=1e-7)
    assert plain_value(problem, problem.minimiser) <= best + 1e-9
    assert np.linalg.norm(problem.minimiser) <= radius * (1 + 1e-15)


def test_excess_is_exact_and_never_negative(problem: LinearModelProblem) -> None:
    constants, models = problem.constants, np.vstack([models_of(problem), problem.minimiser])
    excess = problem.excess(models)
    assert np.min(excess) >= 0.0
    assert excess[-1] <= 2.0 * constants.optimum_gap
    assert constants.optimum_gap <= 1e-11 * max(1.0, constants.lipschitz * constants.diameter)
    for model, found in zip(models[:10], excess, strict=False):
        assert found == pytest.approx(plain_value(problem, model) - constants.optimum_value, abs=1e-12)
    assert problem.excess(np.zeros(problem.dimension)) <= constants.initial_gap


def test_excess_of_a_model_does_not_depend_on_others(problem: LinearModelProblem) -> None:
    models = models_of(problem, 37)
    together = problem.excess(models)
    assert [float(problem.excess(model)) for model in models] == together.tolist()
    assert problem.excess(models[:36].reshape(6, 6, -1)).reshape(-1).tolist() == together[:36].tolist()


def test_projection_is_the_nearest_point(problem: LinearModelProblem) -> None:
    inside = models_of(problem, 20)
    outside = inside * 3.0 + 0.1
    projected = problem.project(outside)
    assert np.max(np.linalg.norm(projected, axis=-1)) <= problem.radius * (1 + 1e-15)
    for point, near in zip(outside, projected, strict=True):
        distance = np.linalg.norm(point - near)
        assert all(distance <= np.linalg.norm(point - other) + 1e-12 for other in inside)
    assert np.array_equal(problem.project(inside * 0.5), inside * 0.5)


def test_mean_estimation_has_its_closed_form() -> None:
    problem = MeanEstimationProblem(**SHAPE, own_share=1.0).build()
    points = problem.population.features
    mean = np.mean(points, axis=(0, 1))
    assert problem.minimiser == pytest.approx(mean, abs=1e-7)
    plain = 0.5 * np.mean(np.sum(np.square(points - mean), axis=-1))
    assert problem.constants.optimum_value == pytest.approx(plain, abs=1e-11)
    assert problem.constants.lipschitz == pytest.approx(2.0)
    assert problem.constants.smoothness == problem.constants.strong_convexity == 1.0
    within = np.mean(np.sum(np.square(points - np.mean(points, axis=1, keepdims=True)), axis=-1), axis=1)
    assert problem.constants.gradient_std == pytest.approx(np.sqrt(np.max(within)))
    apart = np.sum(np.square(np.mean(points, axis=1) - mean), axis=-1)
    assert problem.constants.heterogeneity == pytest.approx(np.sqrt(np.mean(apart)))


def test_a_linear_loss_is_least_where_its_slope_points() -> None:
    problem = LinearProblem(**SHAPE, own_share=0.5, diameter=3.0).build()
    mean = np.mean(problem.population.features, axis=(0, 1))
    assert problem.minimiser == pytest.approx(1.5 * mean / np.linalg.norm(mean), abs=1e-9)


def test_huber_beyond_every_residual_is_least_squares() -> None:
    huber = HuberProblem(**SHAPE, threshold=100.0).build()
    squares = LeastSquaresProblem(**SHAPE).build()
    models = models_of(huber, 10)
    assert huber.excess(models) == pytest.approx(squares.excess(models), abs=1e-11)
    assert huber.constants.lipschitz == squares.constants.lipschitz


def test_data_is_drawn_from_the_client_s_own_population() -> None:
    problem = LeastSquaresProblem(**SHAPE, own_share=1.0).build()
    data = problem.data(np.random.default_rng(0))
    assert data.features.shape == (4, 20, 3)
    assert data.targets.shape == (4, 20)
    for client in range(4):
        own = {row.tobytes() for row in problem.population.features[client]}
        assert {row.tobytes() for row in data.features[client]} <= own
    fresh = problem.fresh(np.random.default_rng(0), (2, 5))
    assert fresh.features.shape == (2, 5, 4, 3)
    assert fresh.targets.shape == (2, 5, 4)
    for client in range(4):
        own = {row.tobytes() for row in problem.population.features[client]}
        assert {row.tobytes() for row in fresh.features[:, :, client].reshape(-1, 3)} <= own


def test_drawing_is_uniform() -> None:
    problem = LinearProblem(clients=2, samples_per_client=60_000, dimension=1, population=3).build()
    counts = np.apply_along_axis(np.bincount, 1, problem.draw(np.random.default_rng(5)))
    assert np.max(np.abs(counts - 20_000)) < 5 * np.sqrt(60_000 * 2 / 9)


def test_an_empirical_objective_is_of_the_data_at_hand() -> None:
    problem = LogisticProblem(clients=3, samples_per_client=7, dimension=2, objective="empirical").build()
    first, second = (problem.data(np.random.default_rng(seed)) for seed in (0, 1))
    assert np.array_equal(first.features, second.features)
    model = np.array([0.3, -0.2])
    mean = problem.mean_gradient(model, Records(first.features, first.targets))
    assert np.mean(mean, axis=0) == pytest.approx(np.mean(gradients_at(problem, model), axis=(0, 1)))


def test_own_share_is_what_clients_do_not_share() -> None:
    problem = LeastSquaresProblem(**SHAPE, own_share=0.25).build()
    features = problem.population.features
    assert all(np.array_equal(features[0, :9], features[client, :9]) for client in range(4))
    assert not any(np.array_equal(features[0, 9:], features[client, 9:]) for client in range(1, 4))
    assert problem.constants.heterogeneity > 0.0
    assert LeastSquaresProblem(**SHAPE).build().constants.heterogeneity == 0.0
    more = LeastSquaresProblem(**{**SHAPE, "clients": 6}, own_share=0.25).build()
    assert np.array_equal(more.population.features[:4], features)


def test_real_records_are_dealt_once() -> None:
    iid = DataSetProblem(clients=5).build()
    sorted_ = DataSetProblem(clients=5, split="by-label").build()
    assert iid.population.features.shape == (5, 113, 30)
    rows = iid.population.features.reshape(-1, 30)
    assert len({row.tobytes() for row in rows}) == 565
    digits = DataSetProblem(data_set="digits", clients=10, samples_per_client=5, objective="population").build()
    assert digits.population.features.shape == (10, 179, 64)
    assert digits.constants.optimum_gap < 1e-10
    labels = np.mean(sorted_.population.targets > 0, axis=1)
    assert np.count_nonzero((labels > 0) & (labels < 1)) <= 1
    assert np.all(np.mean(iid.population.targets > 0, axis=1) > 0.4)


def test_the_same_problem_is_built_once_and_another_seed_is_another() -> None:
    assert LinearProblem(**SHAPE).build() is LinearProblem(**SHAPE).build()
    assert not np.array_equal(
        LinearProblem(**SHAPE).build().population.features, LinearProblem(**SHAPE, seed=1).build().population.features
    )


@pytest.mark.parametrize(
    ("kind", "fields", "pointer"),
    [
        (LinearProblem, {**SHAPE, "objective": "empirical"}, "/population"),
        (LinearProblem, {**SHAPE, "population": 400_000}, "/population"),
        (LinearProblem, {**SHAPE, "clients": 50_000, "own_share": 1.0}, "/population"),
        (LinearProblem, {**SHAPE, "samples_per_client": 10**7}, "/samples_per_client"),
        (LinearProblem, {**SHAPE, "own_share": 1.5}, "/own_share"),
        (LinearProblem, {**SHAPE, "diameter": 0.0}, "/diameter"),
        (HuberProblem, {**SHAPE, "threshold": 0.0}, "/threshold"),
        (DataSetProblem, {"clients": 570}, "/clients"),
        (DataSetProblem, {"clients": 5, "samples_per_client": 10}, "/samples_per_client"),
        (DataSetProblem, {"clients": 5, "objective": "population", "samples_per_client": 10**7}, "/samples_per_client"),
        (DataSetProblem, {"clients": 5, "data_set": "iris"}, "/data_set"),
        (DataSetProblem, {"clients": 5, "data_set": "diabetes", "loss": "logistic"}, "/loss"),
        (DataSetProblem, {"clients": 5, "loss": "squared"}, "/loss"),
        (DataSetProblem, {"clients": 5, "held_out": 0.95}, "/held_out"),
        (DataSetProblem, {"clients": 569, "held_out": 0.2}, "/held_out"),
        (DataSetProblem, {"clients": 100, "held_out": 0.4, "samples_per_client": 5}, "/samples_per_client"),
        (DataSetProblem, {"clients": 25, "split": "odd-even-pairs"}, "/split"),
        (DataSetProblem, {"clients": 24, "data_set": "digits", "split": "odd-even-pairs"}, "/clients"),
    ],
)
def test_what_cannot_be_built_is_refused(kind: type, fields: dict[str, object], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        kind(**fields)
    assert pointer in {fault.pointer for fault in refused.value.faults}


def test_kinds_are_distinct() -> None:
    kinds = [next(f.default for f in fields(kind) if f.name == "kind") for kind in PROBLEMS]
    assert len(set(kinds)) == len(PROBLEMS)
