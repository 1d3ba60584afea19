"""Projected SGD against a loop over clients with the same draws, for every kind of batch, schedule and release."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.simulators.algorithms import projected_sgd
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.algorithms.projected_sgd import ProjectedSgdRun, stopping_steps
from epsilond.simulators.problems.kinds import LeastSquaresProblem, LinearProblem, MeanEstimationProblem
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators

PROBLEM = LeastSquaresProblem(
    clients=11, samples_per_client=1, dimension=3, own_share=0.5, strong_convexity=0.2, diameter=0.8
).build()
RUN = ProjectedSgdRun(participants=3, step_schedule=InverseTime(scale=2.0), noise_std=0.5)


def literal(problem, run, generator, rounds):
    """Steps as Algorithm 1 has them; the released model after each of `rounds`."""
    size, steps = run.participants, run.rounds or problem.clients // run.participants
    data = problem.data(generator)
    order = None
    if run.batches == "shuffled":
        order = generator.permutation(problem.clients)
    elif run.batches == "cyclic":
        order = np.arange(problem.clients)
    uniform = None if run.release == "last" else generator.random()
    models, model = [], np.zeros(problem.dimension)
    shape = [1.0] * steps if run.noise_schedule is None else run.noise_schedule.at(1, steps)
    largest = 0.0
    for t in range(1, steps + 1):
        if order is None:
            batch = subsets(generator, (), problem.clients, size)
        else:
            place = (t - 1) % (problem.clients // size)
            batch = order[place * size : (place + 1) * size]
        total = np.zeros(problem.dimension)
        for client in batch:
            gradient = problem.gradients(model, Records(data.features[client, 0], data.targets[client, 0]))
            largest = max(largest, math.hypot(*gradient))
            total += gradient
        noise = np.zeros(problem.dimension)
        if run.noise_std > 0:
            # The mean of m independent Gaussians of standard deviation σ.
            noise = (
                run.noise_std
                * shape[t - 1]
                / min(shape)
                * generator.standard_normal(problem.dimension)
                / math.sqrt(size)
            )
        moved = model - run.step_schedule.at(t, t)[0] * (total / size + noise)
        length, radius = math.hypot(*moved), problem.constants.diameter / 2
        model = moved if length <= radius else moved * radius / length
        models.append(model)
    excess = []
    for last in rounds:
        stop = last
        if run.release == "random-stop":
            stop = 1 + int(uniform * last)
        elif run.release == "suffix":
            first = math.ceil(run.suffix_fraction * last - 1e-12)
            stop = first + int(uniform * (last - first + 1))
        excess.append(float(problem.excess(models[stop - 1])))
    first = {"last": steps, "random-stop": 1, "suffix": math.ceil((run.suffix_fraction or 0) * steps - 1e-12)}[
        run.release
    ]
    mean = sum(float(problem.excess(one)) for one in models[first - 1 :]) / len(models[first - 1 :])
    return excess, largest, mean


@pytest.mark.parametrize("batches", ["shuffled", "cyclic", "without-replacement"])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"rounds": 8, "release": "random-stop"},
        {"rounds": 10, "release": "suffix", "suffix_fraction": 0.3, "step_schedule": Constant(value=0.4)},
        {"noise_std": 0.0, "participants": 11, "rounds": 4},
        {"noise_schedule": InverseTime(scale=7.0), "step_schedule": Explicit(values=(0.5, 1.0, 0.25))},
        {"participants": 1, "noise_schedule": Explicit(values=tuple(range(1, 12)))},
    ],
)
def test_a_run_is_algorithm_1(batches, fields):
    run = replace(RUN, batches=batches, **fields)
    steps = projected_sgd.steps_of(PROBLEM, run)
    rounds = (1, 2, steps) if steps > 2 else (1, steps)
    found = projected_sgd.simulate(PROBLEM, run, generators(3, range(4)), rounds)
    for number in range(4):
        excess, largest, mean = literal(PROBLEM, run, generators(3, [number])[0], rounds)
        assert found.excess[number] == pytest.approx(excess, rel=1e-9, abs=1e-13)
        assert found.diagnostics["largest_gradient_norm"][number] == pytest.approx(largest, rel=1e-12)
        if run.release == "last":
            assert "mean_excess" not in found.diagnostics
        else:
            assert found.diagnostics["mean_excess"][number] == pytest.approx(mean, rel=1e-9)
    assert found.diagnostics["largest_gradient_norm"].max() <= PROBLEM.constants.lipschitz


@pytest.mark.parametrize("batches", ["shuffled", "cyclic", "without-replacement"])
@pytest.mark.parametrize("release", ["last", "random-stop"])
def test_a_repetition_is_the_same_alone_and_beside_others(batches, release):
    run = replace(RUN, batches=batches, release=release, rounds=6)
    together = projected_sgd.simulate(PROBLEM, run, generators(1, range(6)), (1, 4, 6))
    for few in ([4], [2, 5], [0, 1, 2, 3]):
        alone = projected_sgd.simulate(PROBLEM, run, generators(1, few), (1, 4, 6))
        assert (alone.excess == together.excess[few]).all()
        for name, values in alone.diagnostics.items():
            assert (values == together.diagnostics[name][few]).all()


def test_what_is_measured_at_some_rounds_does_not_depend_on_the_others():
    run = replace(RUN, rounds=9, release="random-stop")
    few = projected_sgd.simulate(PROBLEM, run, generators(1, range(5)), (3, 9))
    many = projected_sgd.simulate(PROBLEM, run, generators(1, range(5)), tuple(range(1, 10)))
    assert (few.excess == many.excess[:, [2, 8]]).all()


def test_stops_are_uniform_on_the_steps_they_may_fall_on():
    run = replace(RUN, release="suffix", suffix_fraction=0.5)
    stops = stopping_steps(run, (1, 10, 20), generators(0, range(6000)))
    assert (stops[:, 0] == 1).all()
    for column, first, last in ((1, 5, 10), (2, 10, 20)):
        counts = np.bincount(stops[:, column], minlength=last + 1)
        assert counts[:first].sum() == 0
        expected = 6000 / (last - first + 1)
        assert np.abs(counts[first:] - expected).max() <= 5 * math.sqrt(expected)


def test_the_noise_of_a_mean_of_clients_is_that_of_one_over_the_root_of_their_number():
    # Linear losses and a wide ball: W_1 = η(mean x − σ/√m Z), so that the spread of W_1 is known.
    problem = MeanEstimationProblem(clients=4, samples_per_client=1, dimension=6, diameter=100.0, population=1).build()
    run = ProjectedSgdRun(participants=4, step_schedule=Constant(value=1.0), noise_std=2.0)
    found = projected_sgd.simulate(problem, run, generators(0, range(4000)), (1,)).excess[:, 0]
    # One record in all: ½‖W_1 − x‖² = ½ (σ²/m) χ²_6.
    assert found.mean() == pytest.approx(0.5 * (4.0 / 4) * 6, rel=5 * math.sqrt(2 / 6 / 4000))


def test_alternatives_and_work():
    assert projected_sgd.alternatives(RUN) == {"non-private": replace(RUN, noise_std=0.0)}
    assert projected_sgd.work(PROBLEM, RUN).operations < projected_sgd.work(PROBLEM, replace(RUN, rounds=30)).operations
    assert (
        projected_sgd.work(PROBLEM, RUN).operations
        < projected_sgd.work(PROBLEM, replace(RUN, release="random-stop")).operations
    )


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"participants": 12}, "/participants"),
        ({"noise_std": None}, "/noise_std"),
        ({"step_schedule": Explicit(values=(1.0, 2.0))}, "/step_schedule/values"),
        ({"noise_schedule": Explicit(values=(1.0,) * 4)}, "/noise_schedule/values"),
        ({"release": "suffix"}, "/suffix_fraction"),
        ({"suffix_fraction": 0.5}, "/suffix_fraction"),
    ],
)
def test_runs_that_cannot_be_are_refused(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        projected_sgd.simulate(PROBLEM, replace(RUN, **fields), generators(0, [0]), (3,))
    assert caught.value.faults[0].pointer == pointer


def test_clients_with_more_records_are_refused():
    problem = LinearProblem(clients=11, samples_per_client=2, dimension=3).build()
    with pytest.raises(InvalidInput, match="one record"):
        projected_sgd.steps_of(problem, RUN)
