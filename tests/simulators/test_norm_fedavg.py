"""DP-NormFedAvg and FedAvg against loops that are written as the paper writes them, with the same draws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.quantization import unit_vectors
from epsilond.simulators.algorithms import fedavg, norm_fedavg
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.algorithms.fedavg import FedavgRun
from epsilond.simulators.algorithms.norm_fedavg import (
    NormFedavgRun,
    compression,
    noise_variance,
    step_sizes,
)
from epsilond.simulators.problems.kinds import HuberProblem, LeastSquaresProblem, MeanEstimationProblem
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators

PROBLEMS = {
    "population": LeastSquaresProblem(clients=4, samples_per_client=3, dimension=3, own_share=0.4, target_noise=0.3),
    "empirical": MeanEstimationProblem(
        clients=4, samples_per_client=3, dimension=3, own_share=1.0, objective="empirical"
    ),
    "all-clients": HuberProblem(clients=2, samples_per_client=5, dimension=1, strong_convexity=0.1),
}
NOISY = NormFedavgRun(
    participants=2,
    rounds=5,
    local_steps=3,
    quantization_levels=8,
    noise_levels=3,
    decay_rate=0.7,
    local_step_size=0.3,
    server_step_size=0.05,
)
PLAIN = replace(NOISY, quantization_levels=None, noise_levels=0, decay_rate=None)
ROUNDED = replace(NOISY, noise_levels=0, decay_rate=None)
ONE = 1 << 64


def literal_rounding(value, levels, word):
    """Away from zero with the share, which one word of a uniform number decides."""
    whole, share = divmod(abs(Fraction(value)) * levels, 1)
    moved = whole + (Fraction(word, ONE) < share)
    return -int(moved) if value < 0 else int(moved)


def literal_noise(decay_rate, noise_levels, word):
    """The least y with F(y) above the uniform number."""
    total = mp.fsum(mp.e ** (-mp.mpf(decay_rate) * abs(y)) for y in range(-noise_levels, noise_levels + 1))
    reached = mp.mpf(0)
    for y in range(-noise_levels, noise_levels + 1):
        reached += mp.e ** (-mp.mpf(decay_rate) * abs(y)) / total
        if mp.mpf(word) / ONE < reached:
            return y
    raise AssertionError


def words(generator, shape):
    return generator.integers(0, ONE - 1, endpoint=True, dtype=np.uint64, size=shape).tolist()


def client_gradient(problem, data, client, model):
    total = np.zeros(problem.dimension)
    for features, target in zip(data.features[client], data.targets[client], strict=True):
        total += problem.gradients(model, Records(features, target))
    return total / len(data.targets[client])


def literal_norm_fedavg(problem, run, generator, rounds):
    data = problem.data(generator)
    model, excess, norms = np.zeros(problem.dimension), [], []
    for k in range(1, run.rounds + 1):
        mean = sum(client_gradient(problem, data, i, model) for i in range(problem.clients)) / problem.clients
        norms.append(math.hypot(*mean))
        drawn = range(problem.clients)
        if run.participants < problem.clients:
            drawn = subsets(generator, (), problem.clients, run.participants)
        units = []
        for client in drawn:
            local = model.copy()
            for _ in range(run.local_steps):
                local = local - run.local_step_size * client_gradient(problem, data, client, local)
            change = model - local
            length = math.hypot(*change)
            units.append(change / length if length > 0 else 0 * change)
        if run.quantization_levels is None:
            sent = units
        else:
            shape = (len(units), problem.dimension)
            first = words(generator, shape)
            sent = [
                [literal_rounding(u, run.quantization_levels, w) for u, w in zip(*row, strict=True)]
                for row in zip(units, first, strict=True)
            ]
            if run.noise_levels:
                second = words(generator, shape)
                sent = [
                    [value + literal_noise(run.decay_rate, run.noise_levels, w) for value, w in zip(*row, strict=True)]
                    for row in zip(sent, second, strict=True)
                ]
            sent = [np.array(row) / run.quantization_levels for row in sent]
        model = model - run.server_step_size * sum(sent) / len(units)
        if k in rounds:
            excess.append(float(problem.excess(model)))
    return excess, sum(norms) / len(norms), min(norms)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("run", [NOISY, ROUNDED, PLAIN], ids=["noisy", "rounded", "plain"])
def test_a_run_is_the_papers_algorithm(name, run):
    problem, rounds = PROBLEMS[name].build(), (2, 3, 5)
    found = norm_fedavg.simulate(problem, run, generators(7, range(3)), rounds)
    for number in range(3):
        excess, mean, least = literal_norm_fedavg(problem, run, generators(7, [number])[0], rounds)
        assert found.excess[number] == pytest.approx(excess, rel=1e-9, abs=1e-12)
        assert found.diagnostics["mean_gradient_norm"][number] == pytest.approx(mean, rel=1e-9)
        assert found.diagnostics["least_gradient_norm"][number] == pytest.approx(least, rel=1e-9)
    assert found.rounds == rounds


def literal_fedavg(problem, run, generator, rounds):
    data = problem.data(generator)
    model, excess, squares = np.zeros(problem.dimension), [], []
    for k in range(1, run.rounds + 1):
        mean = sum(client_gradient(problem, data, i, model) for i in range(problem.clients)) / problem.clients
        squares.append(float(mean @ mean))
        drawn = range(problem.clients)
        if run.participants < problem.clients:
            drawn = subsets(generator, (), problem.clients, run.participants)
        locals_ = []
        for client in drawn:
            local = model.copy()
            for _ in range(run.local_steps):
                local = local - run.local_step_size * client_gradient(problem, data, client, local)
            locals_.append(local)
        model = sum(locals_) / len(locals_)
        if k in rounds:
            excess.append(float(problem.excess(model)))
    return excess, min(squares)


@pytest.mark.parametrize("name", PROBLEMS)
def test_fedavg_is_the_mean_of_its_clients_models(name):
    problem, rounds = PROBLEMS[name].build(), (1, 4)
    run = FedavgRun(participants=2, rounds=4, local_steps=3, local_step_size=0.2)
    found = fedavg.simulate(problem, run, generators(7, range(3)), rounds)
    for number in range(3):
        excess, least = literal_fedavg(problem, run, generators(7, [number])[0], rounds)
        assert found.excess[number] == pytest.approx(excess, rel=1e-9, abs=1e-12)
        assert found.diagnostics["least_squared_gradient_norm"][number] == pytest.approx(least, rel=1e-9)
    assert fedavg.alternatives(run) == {}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    ("simulate", "run"),
    [
        (norm_fedavg.simulate, NOISY),
        (norm_fedavg.simulate, replace(NOISY, noise_levels=6000, decay_rate=1e-3)),
        (fedavg.simulate, FedavgRun(participants=2, rounds=5, local_steps=3)),
    ],
)
def test_a_repetition_is_the_same_alone_and_beside_others(name, simulate, run):
    problem = PROBLEMS[name].build()
    together = simulate(problem, run, generators(1, range(6)), (1, 5))
    for few in ([4], [2, 5], [0, 1, 2, 3]):
        alone = simulate(problem, run, generators(1, few), (1, 5))
        assert (alone.excess == together.excess[few]).all()
        for name_, values in alone.diagnostics.items():
            assert (values == together.diagnostics[name_][few]).all()


def test_another_seed_gives_other_numbers():
    problem = PROBLEMS["empirical"].build()
    first, second = (norm_fedavg.simulate(problem, NOISY, generators(seed, range(6)), (5,)).excess for seed in (1, 2))
    assert not np.isin(first, second).any()


def test_a_zero_update_is_sent_as_zeros_and_a_unit_vector_is_never_longer():
    updates = np.array(
        [[0.0, 0.0], [3.0, 4.0], [1e-200, 0.0], [1e300, 1e300], [math.inf, 1.0], [5e-324, 0.0], [math.nan, 1.0]]
    )
    units = unit_vectors(updates)
    root = math.sqrt(0.5)
    assert units == pytest.approx(
        np.array([[0, 0], [0.6, 0.8], [1, 0], [root, root], [0, 0], [1, 0], [0, 0]]), rel=1e-15
    )
    many = unit_vectors(np.random.default_rng(0).standard_normal((20000, 3)))
    assert np.abs(many).max() <= 1.0
    assert np.linalg.norm(many, axis=1) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize(("decay_rate", "noise_levels"), [(0.7, 3), (1e-3, 500), (2.0, 1), (1e-9, 40), (30.0, 5)])
def test_the_variance_is_that_of_the_law(decay_rate, noise_levels):
    with mp.workdps(50):
        weights = [mp.e ** (-mp.mpf(decay_rate) * abs(y)) for y in range(-noise_levels, noise_levels + 1)]
        squares = [y * y for y in range(-noise_levels, noise_levels + 1)]
        truth = mp.fdot(weights, squares) / mp.fsum(weights)
        assert noise_variance(decay_rate, noise_levels) == pytest.approx(float(truth), rel=1e-14)


def test_absent_steps_are_the_papers_for_the_runs_own_noise():
    problem = PROBLEMS["population"].build()
    run = replace(NOISY, local_step_size=None, server_step_size=None)
    gamma = 3 * (0.25 + noise_variance(0.7, 3)) / 64
    assert compression(run, 3) == pytest.approx(gamma, rel=1e-14)
    steps = step_sizes(problem, run)
    smoothness, distance = problem.constants.smoothness, problem.constants.optimum_norm
    assert steps.local == pytest.approx(1 / (4 * smoothness * 3 * math.sqrt(1 + gamma / 2)), rel=1e-14)
    assert steps.server / steps.local == pytest.approx(4 * smoothness * distance * 3 / math.sqrt(5), rel=1e-14)
    assert step_sizes(problem, replace(PLAIN, local_step_size=None)).local == pytest.approx(1 / (12 * smoothness))
    given = step_sizes(problem, NOISY)
    assert (given.local, given.server) == (0.3, 0.05)


def test_what_is_set_beside_a_run():
    run = replace(NOISY, printed_noise_levels=2, printed_decay_rate=0.5, raised_noise_levels=9, raised_decay_rate=0.25)
    beside = norm_fedavg.alternatives(run)
    assert tuple(beside) == norm_fedavg.ALGORITHM.alternative_names
    assert beside["non-private"] == PLAIN
    assert (beside["as-printed"].noise_levels, beside["as-printed"].decay_rate) == (2, 0.5)
    assert (beside["as-printed-raised"].noise_levels, beside["as-printed-raised"].decay_rate) == (9, 0.25)
    assert tuple(norm_fedavg.alternatives(NOISY)) == ("non-private",)


def test_more_noise_is_worse_and_none_is_best():
    problem = PROBLEMS["empirical"].build()
    run = replace(NOISY, rounds=30, participants=4)
    means = [
        norm_fedavg.simulate(problem, each, generators(0, range(200)), (30,)).excess.mean()
        for each in (replace(PLAIN, rounds=30, participants=4), run, replace(run, noise_levels=60, decay_rate=0.01))
    ]
    assert means[0] < means[1] < means[2]


def test_a_run_that_diverges_says_so_in_infinities():
    problem = PROBLEMS["population"].build()
    wild = FedavgRun(participants=2, rounds=400, local_steps=20, local_step_size=1e3)
    found = fedavg.simulate(problem, wild, generators(0, range(3)), (1, 400))
    assert np.isfinite(found.excess[:, 0]).all()
    assert np.isposinf(found.excess[:, 1]).all()
    assert np.isfinite(found.diagnostics["least_squared_gradient_norm"]).all()
    # Updates of unit length cannot: what has no direction is sent as zeros.
    found = norm_fedavg.simulate(
        problem, replace(NOISY, local_steps=400, local_step_size=1e3), generators(0, range(3)), (5,)
    )
    assert np.isfinite(found.excess).all()


def test_work_grows_with_every_part_of_it():
    problem = PROBLEMS["population"].build()
    whole = norm_fedavg.work(problem, NOISY)
    assert norm_fedavg.work(problem, replace(NOISY, rounds=10)).operations == pytest.approx(2 * whole.operations)
    assert norm_fedavg.work(problem, replace(NOISY, participants=4)).operations > whole.operations
    assert norm_fedavg.work(problem, replace(NOISY, local_steps=6)).calls > whole.calls
    assert fedavg.work(problem, FedavgRun(participants=2, rounds=5, local_steps=3)).operations < whole.operations


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"decay_rate": None}, "/decay_rate"),
        ({"noise_levels": 0}, "/decay_rate"),
        ({"noise_levels": None}, "/decay_rate"),
        ({"quantization_levels": None}, "/quantization_levels"),
        ({"printed_noise_levels": 3}, "/printed_decay_rate"),
        ({"raised_decay_rate": 0.1}, "/raised_decay_rate"),
        ({"noise_levels": 2**41}, "/noise_levels"),
    ],
)
def test_noise_that_is_none_is_refused(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        replace(NOISY, **fields)
    assert caught.value.faults[0].pointer == pointer


def test_runs_that_no_problem_has_are_refused():
    problem = PROBLEMS["population"].build()
    for call in (
        lambda: norm_fedavg.simulate(problem, replace(NOISY, participants=5), generators(0, [0]), (5,)),
        lambda: norm_fedavg.rounds_of(problem, replace(NOISY, participants=5)),
        lambda: norm_fedavg.simulate(
            problem, replace(NOISY, noise_levels=None, decay_rate=None), generators(0, [0]), (5,)
        ),
        lambda: fedavg.simulate(problem, FedavgRun(participants=5, rounds=5, local_steps=1), generators(0, [0]), (5,)),
    ):
        with pytest.raises(InvalidInput):
            call()
