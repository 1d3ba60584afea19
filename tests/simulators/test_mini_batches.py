"""Algorithms 1 and 2 against the papers' loops, one client and one record at a time, and against closed forms."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms import (
    accelerated_mb_sgd,
    mb_sgd,
    one_pass_accelerated_mb_sgd,
    shuffled_mb_sgd,
)
from epsilond.simulators.algorithms.accelerated_mb_sgd import AcceleratedMbSgdRun
from epsilond.simulators.algorithms.acceleration import StageRequest
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.algorithms.reports import RoundDraws, chunk_rounds, fresh_rounds, one_pass_rounds
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.kinds import LeastSquaresProblem, LogisticProblem, MeanEstimationProblem
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import generators
from epsilond.training.steps.acceleration import AcceleratedStep, Sequences, steps
from epsilond.training.steps.ball import on_ball

SHAPE: dict[str, Any] = {"clients": 5, "samples_per_client": 12, "dimension": 3, "population": 9, "own_share": 0.5}
STAGES = (StageRequest(rounds=3, prox_weight=2.5), StageRequest(rounds=5, prox_weight=4.0))
RUNS: list[tuple[ModuleType, Any]] = [
    (mb_sgd, MbSgdRun(rounds=8, batch_size=4, participants=3, step_size=0.7, noise_std=0.3)),
    (mb_sgd, MbSgdRun(rounds=8, batch_size=4, step_size=3.0, noise_std=0.3, sampling="with-replacement")),
    (mb_sgd, MbSgdRun(rounds=8, batch_size=4, participants=2, step_size=0.7, noise_std=0.3, sampling="poisson")),
    (mb_sgd, MbSgdRun(rounds=8, batch_size=12, step_size=0.7, noise_std=0.0, sampling="full", averaging_ratio=2.0)),
    (shuffled_mb_sgd, ShuffledMbSgdRun(rounds=8, batch_size=3, participants=4, step_size=0.2, noise_std=0.1)),
    (accelerated_mb_sgd, AcceleratedMbSgdRun(rounds=8, batch_size=4, participants=3, stages=STAGES, noise_std=0.3)),
    (one_pass_accelerated_mb_sgd, OnePassAcceleratedMbSgdRun(rounds=8, batch_size=1, stages=STAGES, noise_std=0.3)),
]
IDS = [f"{module.__name__.split('.')[-1]}-{getattr(run, 'sampling', '')}" for module, run in RUNS]
ROUNDS = (1, 3, 4, 8)


def squares(model: Floats, features: Floats, target: float, ridge: float) -> Floats:
    """∇[½(⟨x, w⟩ − y)² + (μ/2)‖w‖²], coordinate by coordinate."""
    residual = sum(x * w for x, w in zip(features, model, strict=True)) - target
    return np.array([residual * x + ridge * w for x, w in zip(features, model, strict=True)])


def rounds_of_one(problem: LinearModelProblem, module: ModuleType, run: Any, repetition: int) -> list[RoundDraws]:
    """The draws of one repetition: what the algorithm is to be checked on, being drawn."""
    draw = one_pass_rounds if module is one_pass_accelerated_mb_sgd else fresh_rounds
    reporting = (accelerated_mb_sgd if "accelerated" in module.__name__ else mb_sgd).reporting_of(problem, run)
    return list(draw(problem, reporting, generators(7, [repetition])))


def report(problem: LinearModelProblem, model: Floats, drawn: RoundDraws, run: Any) -> Floats:
    """The server's mean of the round, one client and one record at a time."""
    messages = []
    for client in range(drawn.clients.shape[1]):
        gradient = np.zeros(problem.dimension)
        for record in range(drawn.records.targets.shape[2]):
            if drawn.counted is None or drawn.counted[0, client, record]:
                features, target = drawn.records.features[0, client, record], drawn.records.targets[0, client, record]
                gradient = gradient + squares(model, features, float(target), problem.strong_convexity)
        messages.append(gradient / run.batch_size + run.noise_std * drawn.normal[0, client])
    return sum(messages, np.zeros(problem.dimension)) / len(messages)


def inside(problem: LinearModelProblem, model: Floats) -> Floats:
    norm = math.sqrt(sum(float(w) ** 2 for w in model))
    return model if norm <= problem.radius else model * problem.radius / norm


def algorithm_1(problem: LinearModelProblem, draws: list[RoundDraws], run: Any) -> list[Floats]:
    """The weighted average after each round."""
    model, iterates, outputs = np.zeros(problem.dimension), [], []
    ratio = run.averaging_ratio or 1.0 / (1.0 - run.step_size * problem.strong_convexity)
    for drawn in draws:
        model = inside(problem, model - run.step_size * report(problem, model, drawn, run))
        iterates.append(model)
        weights = [ratio**power for power in range(len(iterates))]
        outputs.append(sum(w * x for w, x in zip(weights, iterates, strict=True)) / sum(weights))
    return outputs


def algorithm_2(problem: LinearModelProblem, draws: list[RoundDraws], run: Any) -> list[Floats]:
    """w^ag after each round, from the lines of the paper's pseudo-code."""
    mu = problem.strong_convexity
    aggregate, outputs = np.zeros(problem.dimension), []
    for stage in run.stages:
        model = aggregate
        for r in range(1, stage.rounds + 1):
            alpha, eta = 2.0 / (r + 1), 4.0 * stage.prox_weight / (r * (r + 1))
            whole = eta + (1 - alpha**2) * mu
            middle = (1 - alpha) * (mu + eta) / whole * aggregate + alpha * ((1 - alpha) * mu + eta) / whole * model
            gradient = report(problem, middle, draws[len(outputs)], run)
            model = inside(
                problem, (alpha * mu * middle + ((1 - alpha) * mu + eta) * model - alpha * gradient) / (mu + eta)
            )
            aggregate = alpha * model + (1 - alpha) * aggregate
            outputs.append(aggregate)
    return outputs


@pytest.mark.parametrize(("module", "run"), RUNS, ids=IDS)
@pytest.mark.parametrize("convexity", [0.0, 0.3])
def test_a_run_is_the_paper_s_loop(module: ModuleType, run: Any, convexity: float) -> None:
    problem = LeastSquaresProblem(**SHAPE, diameter=1.0, strong_convexity=convexity).build()
    together = module.simulate(problem, run, generators(7, range(3)), ROUNDS)
    loop = algorithm_2 if hasattr(run, "stages") else algorithm_1
    for repetition in range(3):
        outputs = loop(problem, rounds_of_one(problem, module, run, repetition), run)
        expected = [float(problem.excess(outputs[number - 1])) for number in ROUNDS]
        assert together.excess[repetition] == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("module", "run"), RUNS, ids=IDS)
@pytest.mark.parametrize("dimension", [1, 3, 40])
def test_a_repetition_alone_is_what_it_is_beside_others(module: ModuleType, run: Any, dimension: int) -> None:
    problem = LogisticProblem(**{**SHAPE, "dimension": dimension}).build()
    together = module.simulate(problem, run, generators(3, range(7)), ROUNDS)
    for repetition in (0, 4, 6):
        alone = module.simulate(problem, run, generators(3, [repetition]), (8,))
        assert alone.excess[0, -1] == together.excess[repetition, -1]
        for name, values in together.diagnostics.items():
            assert alone.diagnostics[name][0] == values[repetition]
    other = module.simulate(problem, run, generators(4, [0]), (8,))
    assert run.noise_std == 0.0 or other.excess[0, -1] != together.excess[0, -1]


@pytest.mark.parametrize(("module", "run"), RUNS, ids=IDS)
def test_the_run_beside_it_has_no_noise_and_the_same_batches(module: ModuleType, run: Any) -> None:
    problem = LeastSquaresProblem(**SHAPE).build()
    quiet = module.ALGORITHM.alternatives(run)["non-private"]
    assert dataclasses.replace(quiet, noise_std=run.noise_std) == run
    assert quiet.noise_std == 0.0
    both = [rounds_of_one(problem, module, one, 0) for one in (run, quiet)]
    assert all(np.array_equal(a.records.features, b.records.features) for a, b in zip(*both, strict=True))


# What is drawn --------------------------------------------------------------------------------------------------------
def rounds_drawn(rounds: int, **fields: Any) -> tuple[LinearModelProblem, list[RoundDraws]]:
    problem = LeastSquaresProblem(
        clients=4, samples_per_client=10, dimension=2, population=10, own_share=1.0, objective="empirical"
    ).build()
    run = MbSgdRun(**{"rounds": rounds, "batch_size": 3, "participants": 2, **fields})
    return problem, list(fresh_rounds(problem, mb_sgd.reporting_of(problem, run), generators(0, range(2))))


def places_of(problem: LinearModelProblem, drawn: RoundDraws) -> list[list[list[int]]]:
    """Which record of its client's population each is: every record is different here."""
    found: list[Any] = []
    for repetition, clients in enumerate(drawn.clients):
        found.append([])
        for place, client in enumerate(clients):
            rows = {row.tobytes(): number for number, row in enumerate(problem.population.features[client])}
            found[-1].append([rows[row.tobytes()] for row in drawn.records.features[repetition, place]])
    return found


@pytest.mark.parametrize("sampling", ["without-replacement", "with-replacement", "poisson"])
def test_clients_and_records_are_drawn_uniformly_and_afresh(sampling: str) -> None:
    rounds = 3000
    problem, draws = rounds_drawn(rounds, sampling=sampling)
    assert len(draws) == rounds
    counts, pairs, doubles = np.zeros((4, 10)), np.zeros((4, 4)), 0
    sizes = []
    for drawn in draws:
        for repetition, batches in enumerate(places_of(problem, drawn)):
            clients = drawn.clients[repetition]
            assert len(set(clients)) == 2
            pairs[min(clients), max(clients)] += 1
            for place, (client, batch) in enumerate(zip(clients, batches, strict=True)):
                kept = batch if drawn.counted is None else np.array(batch)[drawn.counted[repetition, place]].tolist()
                sizes.append(len(kept))
                doubles += len(kept) - len(set(kept))
                for record in kept:
                    counts[client, record] += 1
    expected = 2 * rounds * 0.5 * 0.3
    assert np.max(np.abs(counts - expected)) < 5 * math.sqrt(expected)
    each = 2 * rounds / 6
    assert np.max(np.abs(pairs[np.triu_indices(4, 1)] - each)) < 5 * math.sqrt(each)
    if sampling == "poisson":
        assert np.mean(sizes) == pytest.approx(3.0, abs=0.07)
        assert np.var(sizes) == pytest.approx(2.1, abs=0.15)
    else:
        assert set(sizes) == {3}
    assert (doubles > 0) == (sampling == "with-replacement")


def test_full_batches_read_every_record() -> None:
    problem, draws = rounds_drawn(3, batch_size=10, sampling="full")
    for drawn in draws:
        assert all(sorted(batch) == list(range(10)) for batches in places_of(problem, drawn) for batch in batches)


def test_one_pass_uses_no_record_twice() -> None:
    problem, _ = rounds_drawn(1)
    run = OnePassAcceleratedMbSgdRun(rounds=3, batch_size=3)
    reporting = accelerated_mb_sgd.reporting_of(problem, run)
    orders = set()
    for seed in range(20):
        used: dict[int, list[int]] = {client: [] for client in range(4)}
        for drawn in one_pass_rounds(problem, reporting, generators(seed, [0])):
            for client, batch in zip(drawn.clients[0], places_of(problem, drawn)[0], strict=True):
                used[int(client)] += batch
        assert all(len(used[client]) == len(set(used[client])) == 9 for client in range(4))
        orders.add(tuple(used[0]))
    assert len(orders) > 15


def test_noise_is_standard_normal_and_independent() -> None:
    _, draws = rounds_drawn(4000)
    drawn = np.stack([one.normal for one in draws]).reshape(-1, 4)  # (round and repetition, client and coordinate)
    count = len(drawn)
    assert np.max(np.abs(np.mean(drawn, axis=0))) < 5 / math.sqrt(count)
    assert np.max(np.abs(np.cov(drawn.T) - np.eye(4))) < 5 * math.sqrt(2 / count)
    lagged = [np.mean(before * after) for before, after in pairwise(np.moveaxis(drawn.reshape(-1, 2, 4), 1, 0))]
    assert np.max(np.abs(lagged)) < 5 / math.sqrt(count / 2)


def test_a_long_run_is_drawn_in_chunks() -> None:
    problem, draws = rounds_drawn(900)
    run = MbSgdRun(rounds=900, batch_size=3, participants=2)
    assert chunk_rounds(problem, mb_sgd.reporting_of(problem, run)) > 1
    run = MbSgdRun(rounds=3000, batch_size=3, participants=2)
    assert chunk_rounds(problem, mb_sgd.reporting_of(problem, run)) < 3000
    assert len(draws) == 900


# One step in closed form ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sampling", "batch", "participants"),
    [
        ("without-replacement", 10, 4),
        ("without-replacement", 3, 4),
        ("without-replacement", 3, 2),
        ("with-replacement", 3, 2),
        ("poisson", 3, 2),
        ("full", 10, 1),
    ],
)
def test_one_step_has_the_variance_of_its_sampling(sampling: str, batch: int, participants: int) -> None:
    """Of ½‖w − x‖² with step 1 the first iterate is the noisy mean, and its excess half its squared error."""
    problem = MeanEstimationProblem(
        clients=4, samples_per_client=10, dimension=3, own_share=1.0, objective="empirical", diameter=50.0
    ).build()
    noise, repetitions = 0.4, 6000
    run = MbSgdRun(
        rounds=1, batch_size=batch, participants=participants, step_size=1.0, noise_std=noise, sampling=sampling
    )
    excess = mb_sgd.simulate(problem, run, generators(11, range(repetitions)), (1,)).excess[:, 0]
    points = problem.population.features
    means = np.mean(points, axis=1)
    within = float(np.mean(np.sum(np.square(points - means[:, None]), axis=-1)))
    between = float(np.mean(np.sum(np.square(means - np.mean(means, axis=0)), axis=-1)))
    factor = {
        "without-replacement": within * (10 - batch) / (9 * batch),
        "full": 0.0,
        "with-replacement": within / batch,
        "poisson": (1 - batch / 10) / batch * float(np.mean(np.sum(np.square(points), axis=-1))),
    }[sampling]
    variance = factor / participants + between / participants * (4 - participants) / 3 + 3 * noise**2 / participants
    standard_error = np.std(excess) / math.sqrt(repetitions)
    assert np.mean(excess) == pytest.approx(variance / 2, abs=5 * standard_error)
    assert standard_error < 0.02 * variance


# Without noise --------------------------------------------------------------------------------------------------------
def without_noise(convexity: float) -> LinearModelProblem:
    return LeastSquaresProblem(
        clients=4, samples_per_client=20, dimension=3, strong_convexity=convexity, objective="empirical", own_share=0.5
    ).build()


def test_without_noise_the_average_comes_as_near_as_promised() -> None:
    problem = without_noise(0.0)
    run = MbSgdRun(rounds=400, batch_size=20, step_size=0.9, noise_std=0.0, sampling="full")
    rounds = (1, 10, 100, 400)
    excess = mb_sgd.simulate(problem, run, generators(0, [0]), rounds).excess[0]
    squared = problem.constants.optimum_norm**2
    assert all(found <= squared / (2 * 0.9 * count) for found, count in zip(excess, rounds, strict=True))
    assert excess[-1] < 0.1 * excess[0]


def test_strong_convexity_makes_it_geometric() -> None:
    problem = without_noise(0.3)
    run = MbSgdRun(rounds=100, batch_size=20, step_size=0.7, noise_std=0.0, sampling="full")
    excess = mb_sgd.simulate(problem, run, generators(0, [0]), (20, 100)).excess[0]
    left = 1.0 - 0.7 * 0.3
    squared = problem.constants.optimum_norm**2
    for found, rounds in zip(excess, (20, 100), strict=True):
        assert found <= squared * 0.3 / (2 * (left**-rounds - 1)) + 2 * problem.constants.optimum_gap


def test_acceleration_is_quadratic_and_in_stages_geometric() -> None:
    problem = without_noise(0.0)
    rounds, known = 60, problem.constants
    weight = known.smoothness * rounds / (rounds + 1) * (1 + 1e-9)
    run = AcceleratedMbSgdRun(
        rounds=rounds,
        batch_size=20,
        stages=(StageRequest(rounds=rounds, prox_weight=weight),),
        noise_std=0.0,
        sampling="full",
    )
    excess = accelerated_mb_sgd.simulate(problem, run, generators(0, [0]), (rounds,)).excess[0, 0]
    assert excess <= 2 * weight * known.optimum_norm**2 / (rounds * (rounds + 1)) + 2 * known.optimum_gap
    bent = without_noise(0.1)
    stages = tuple(StageRequest(rounds=10, prox_weight=bent.constants.smoothness) for _ in range(12))
    run = AcceleratedMbSgdRun(rounds=120, batch_size=20, stages=stages, noise_std=0.0, sampling="full")
    excess = accelerated_mb_sgd.simulate(bent, run, generators(0, [0]), (10, 120)).excess[0]
    assert excess[1] <= 1e-9
    assert excess[0] > 1e-6


def test_an_accelerated_step_is_the_argmin_that_the_paper_has() -> None:
    generator = np.random.default_rng(2)
    mu, radius = 0.4, 1.0
    for step in steps(STAGES):
        output, iterate, gradient = (on_ball(generator.standard_normal((1, 3)), radius) for _ in range(3))
        state = Sequences(output, mu, lambda models: on_ball(models, radius))
        state.iterate = iterate
        kept = AcceleratedStep(step.share, step.pull, first=False)
        middle = state.middle(kept)
        state.move(kept, middle, 5.0 * gradient)
        alpha, eta = step.share, step.pull
        start = iterate

        def value(model: Floats) -> float:
            first = alpha * float(5.0 * gradient[0] @ model + mu / 2 * np.sum(np.square(middle[0] - model)))  # noqa: B023
            return first + ((1 - alpha) * mu + eta) / 2 * float(np.sum(np.square(start[0] - model)))  # noqa: B023

        least = value(state.iterate[0])
        others = on_ball(state.iterate[0] + 0.05 * generator.standard_normal((200, 3)), radius)
        assert all(value(other) >= least - 1e-12 for other in others)
        assert np.linalg.norm(middle) <= radius * (1 + 1e-12)


# Requests -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "fields", "pointer"),
    [
        (MbSgdRun, {"noise_std": 0.1}, "/step_size"),
        (MbSgdRun, {"noise_std": -0.1, "step_size": 1.0}, "/noise_std"),
        (MbSgdRun, {"averaging_ratio": 0.5}, "/averaging_ratio"),
        (ShuffledMbSgdRun, {"noise_std": 0.1}, "/step_size"),
        (AcceleratedMbSgdRun, {"noise_std": 0.1}, "/stages"),
        (AcceleratedMbSgdRun, {"stages": ()}, "/stages"),
        (OnePassAcceleratedMbSgdRun, {"stages": (StageRequest(rounds=1, prox_weight=1.0),)}, "/stages"),
    ],
)
def test_runs_that_cannot_be_are_refused(kind: type, fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        kind(rounds=2, batch_size=3, **fields)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


@pytest.mark.parametrize(
    ("module", "run", "pointer"),
    [
        (mb_sgd, MbSgdRun(rounds=2, batch_size=3, participants=6), "/participants"),
        (mb_sgd, MbSgdRun(rounds=2, batch_size=13), "/batch_size"),
        (mb_sgd, MbSgdRun(rounds=2, batch_size=3, sampling="full"), "/batch_size"),
        (shuffled_mb_sgd, ShuffledMbSgdRun(rounds=2, batch_size=13), "/batch_size"),
        (accelerated_mb_sgd, AcceleratedMbSgdRun(rounds=2, batch_size=13), "/batch_size"),
        (accelerated_mb_sgd, AcceleratedMbSgdRun(rounds=2, batch_size=3, strong_convexity=0.5), "/strong_convexity"),
        (one_pass_accelerated_mb_sgd, OnePassAcceleratedMbSgdRun(rounds=5, batch_size=3), "/rounds"),
    ],
)
def test_runs_that_do_not_fit_the_problem_are_refused(module: ModuleType, run: Any, pointer: str) -> None:
    problem = LeastSquaresProblem(**SHAPE).build()
    with pytest.raises(InvalidInput) as refused:
        module.ALGORITHM.rounds(problem, run)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


@pytest.mark.parametrize("module", [mb_sgd, shuffled_mb_sgd, accelerated_mb_sgd, one_pass_accelerated_mb_sgd])
def test_a_run_without_decided_noise_does_not_start(module: ModuleType) -> None:
    problem = LeastSquaresProblem(**SHAPE).build()
    with pytest.raises(InvalidInput) as refused:
        module.simulate(problem, module.ALGORITHM.run(rounds=2, batch_size=3), generators(0, [0]), (2,))
    assert [fault.pointer for fault in refused.value.faults] == ["/noise_std"]


@pytest.mark.parametrize(("module", "run"), RUNS, ids=IDS)
def test_work_grows_with_the_run(module: ModuleType, run: Any) -> None:
    problem = LeastSquaresProblem(**SHAPE).build()
    larger = LeastSquaresProblem(**{**SHAPE, "dimension": 30}).build()
    small, large = (module.ALGORITHM.work(one, run) for one in (problem, larger))
    assert 0 < small.operations < large.operations
    assert 0 < small.bytes < large.bytes
    assert small.calls == large.calls > 0
