"""Clients that differ in a run: their data, batches, weights and noise, one client and one record at a time."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.simulators.algorithms import accelerated_mb_sgd, mb_sgd, one_pass_accelerated_mb_sgd
from epsilond.simulators.algorithms.accelerated_mb_sgd import AcceleratedMbSgdRun
from epsilond.simulators.algorithms.acceleration import StageRequest
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.algorithms.random_participation import weights
from epsilond.simulators.algorithms.reports import fresh_rounds, one_pass_rounds
from epsilond.simulators.federations.groups import RunGroup, client_arrays_of
from epsilond.simulators.federations.weighted_data import build_for
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import LeastSquaresProblem
from epsilond.simulators.seeds import generators
from epsilond.training.steps.acceleration import Sequences, steps

SPEC = LeastSquaresProblem(clients=5, samples_per_client=12, dimension=3, own_share=0.5, strong_convexity=0.2)
GROUPS = (
    RunGroup(clients=2, samples_per_client=12, batch_size=4),
    RunGroup(clients=3, samples_per_client=6, batch_size=3, weight=3.0, noise_std=0.7),
)
SIZES, BATCHES = [12, 12, 6, 6, 6], [4, 4, 3, 3, 3]
SCALES = [5 / 11] * 2 + [15 / 11] * 3
NOISE = [0.3, 0.3, 0.7, 0.7, 0.7]
LAW = ({"participants": 2, "probability": 0.5}, {"participants": 4, "probability": 0.5})
STAGES = (StageRequest(rounds=1, prox_weight=9.0), StageRequest(rounds=1, prox_weight=12.0))
SHAPE: dict[str, Any] = {"rounds": 2, "batch_size": 4, "noise_std": 0.3, "participation": LAW}


def unlike(run: Any, spec: Any = SPEC, groups: tuple[RunGroup, ...] = GROUPS) -> tuple[Any, Any]:
    run = dataclasses.replace(run, client_groups=groups)
    return build_for(spec, run), run


def report(problem: Any, model: Any, drawn: Any, shares: Any) -> Any:
    """The mean over those that report, from the draws, one record at a time."""
    total, reporting = np.zeros(problem.dimension), 0
    for place, client in enumerate(drawn.clients[0]):
        if shares[0, place] == 0.0:
            continue
        gradient, counted = np.zeros(problem.dimension), 0
        for record in range(drawn.records.targets.shape[2]):
            if drawn.counted[0, place, record]:
                counted += 1
                features = drawn.records.features[0, place, record]
                residual = features @ model - drawn.records.targets[0, place, record]
                gradient += residual * features + problem.strong_convexity * model
        assert counted == BATCHES[client]
        total += SCALES[client] * gradient / BATCHES[client] + NOISE[client] * drawn.normal[0, place]
        reporting += 1
    return total / reporting


def draws(problem: Any, module: Any, run: Any) -> list[Any]:
    one_pass = module is one_pass_accelerated_mb_sgd
    source = one_pass_rounds if one_pass else fresh_rounds
    reporting = (mb_sgd if module is mb_sgd else accelerated_mb_sgd).reporting_of(problem, run)
    rounds = list(source(problem, reporting, generators(7, [3])))
    return list(zip(rounds, weights(run.participation, generators(7, [3]), run.rounds), strict=True))


def test_algorithm_1_takes_each_client_s_own_batch_weight_and_noise() -> None:
    problem, run = unlike(MbSgdRun(**SHAPE, step_size=0.5))
    model, iterates = np.zeros(3), []
    for drawn, shares in draws(problem, mb_sgd, run):
        model = problem.project(model - 0.5 * report(problem, model, drawn, shares))
        iterates.append(model)
    # The least weighted loss is 5/11 · 0.2-strongly convex.
    growth = 1.0 / (1.0 - 0.5 * 0.2 * 5 / 11)
    output = (iterates[0] + growth * iterates[1]) / (1.0 + growth)
    found = mb_sgd.simulate(problem, run, generators(7, [3]), (2,))
    assert found.models[0] == pytest.approx(output, rel=1e-12)
    assert found.diagnostics["largest_gradient_norm"][0] <= problem.constants.lipschitz


@pytest.mark.parametrize(
    ("module", "kind"),
    [(accelerated_mb_sgd, AcceleratedMbSgdRun), (one_pass_accelerated_mb_sgd, OnePassAcceleratedMbSgdRun)],
)
def test_algorithm_2_takes_each_client_s_own_batch_weight_and_noise(module: Any, kind: Any) -> None:
    problem, run = unlike(kind(**SHAPE, stages=STAGES))
    state = Sequences(np.zeros((1, 3)), 0.2, problem.project)
    for step, (drawn, shares) in zip(steps(STAGES), draws(problem, module, run), strict=True):
        middle = state.middle(step)
        state.move(step, middle, report(problem, middle[0], drawn, shares)[None, :])
    found = module.simulate(problem, run, generators(7, [3]), (2,))
    assert found.models == pytest.approx(state.output, rel=1e-12)


@pytest.mark.parametrize("objective", ["population", "empirical"])
def test_the_objective_is_the_weighted_mean_of_the_clients_own_losses(objective: str) -> None:
    spec = dataclasses.replace(SPEC, objective=objective, population=12)
    problem, _ = unlike(MbSgdRun(rounds=1, batch_size=2, noise_std=0.1, step_size=0.5), spec)
    features, targets = problem.population.features, problem.population.targets
    kept = SIZES if objective == "empirical" else [12] * 5
    models = problem.project(np.random.default_rng(0).standard_normal((40, 3)))

    def value(model: Any) -> float:
        losses = 0.5 * np.square(features @ model - targets)
        means = [scale * np.mean(losses[i, 12 - n :]) for i, (scale, n) in enumerate(zip(SCALES, kept, strict=True))]
        return float(np.mean(means) + 0.1 * model @ model)

    least = value(problem.minimiser)
    assert problem.excess(models) == pytest.approx([value(one) - least for one in models], abs=1e-9)
    assert min(value(one) for one in models) >= problem.constants.optimum_value
    assert value(problem.minimiser) - problem.constants.optimum_value <= problem.constants.optimum_gap + 1e-12
    assert value(np.zeros(3)) - least <= problem.constants.initial_gap


@pytest.mark.parametrize("spec", [SPEC, DataSetProblem(clients=5, split="by-label", diameter=4.0)])
def test_clients_of_an_empirical_objective_read_their_own_records_alone(spec: Any) -> None:
    spec = dataclasses.replace(spec, objective="empirical")
    groups = tuple(dataclasses.replace(group, noise_std=None) for group in GROUPS)
    problem, run = unlike(MbSgdRun(rounds=300, batch_size=4), spec, groups)
    size = problem.population.targets.shape[1]
    reporting = mb_sgd.reporting_of(problem, run)
    read: Counter[tuple[int, bytes]] = Counter()
    for drawn in fresh_rounds(problem, reporting, generators(0, [0])):
        for place, client in enumerate(drawn.clients[0]):
            records = drawn.records.features[0, place][drawn.counted[0, place]]
            read.update((int(client), one.tobytes()) for one in records)
    for client, (n, batch) in enumerate(zip(SIZES, BATCHES, strict=True)):
        counts = [read.pop((client, one.tobytes())) for one in problem.population.features[client, size - n :]]
        # Every record in a share K/n of 300 rounds: five standard deviations.
        share = 300 * batch / n
        assert counts == pytest.approx([share] * n, abs=5 * share**0.5)
    assert not read


@pytest.mark.parametrize("sampling", ["poisson", "with-replacement", "full"])
def test_every_sampling_draws_each_client_s_own_share(sampling: str) -> None:
    groups = tuple(
        dataclasses.replace(group, noise_std=None, batch_size=None if sampling == "full" else group.batch_size)
        for group in GROUPS
    )
    problem, run = unlike(MbSgdRun(rounds=400, batch_size=4, sampling=sampling), groups=groups)
    reporting = mb_sgd.reporting_of(problem, run)
    counts: dict[int, list[int]] = {client: [] for client in range(5)}
    for drawn in fresh_rounds(problem, reporting, generators(1, [0])):
        for place, client in enumerate(drawn.clients[0]):
            counts[client].append(int(np.sum(drawn.counted[0, place])))
    for client, (n, batch) in enumerate(zip(SIZES, BATCHES, strict=True)):
        wanted = n if sampling == "full" else batch
        if sampling == "poisson":
            assert np.mean(counts[client]) == pytest.approx(wanted, abs=5 * (wanted / 400) ** 0.5)
            assert max(counts[client]) <= n
            assert len(set(counts[client])) > 2
        else:
            assert set(counts[client]) == {wanted}


def test_one_pass_reads_no_record_twice() -> None:
    spec = LeastSquaresProblem(clients=5, samples_per_client=12, dimension=3, own_share=1.0, objective="empirical")
    problem, run = unlike(OnePassAcceleratedMbSgdRun(rounds=2, batch_size=4, noise_std=0.1, stages=STAGES), spec)
    reporting = accelerated_mb_sgd.reporting_of(problem, run)
    for repetition in range(20):
        seen = set()
        for drawn in one_pass_rounds(problem, reporting, generators(2, [repetition])):
            for place, client in enumerate(drawn.clients[0]):
                for one in drawn.records.features[0, place][drawn.counted[0, place]][:, 0]:
                    assert one in problem.population.features[client, 12 - SIZES[client] :, 0]
                    seen.add((int(client), float(one)))
        assert len(seen) == 2 * sum(BATCHES)


def test_like_clients_in_groups_are_like_clients() -> None:
    plain = MbSgdRun(rounds=6, batch_size=12, sampling="full", step_size=0.5, noise_std=0.2)
    alike = (RunGroup(clients=1, samples_per_client=12), RunGroup(clients=4, samples_per_client=12))
    problem, run = unlike(plain, groups=alike)
    assert problem.constants == SPEC.build().constants
    found, wanted = (
        mb_sgd.simulate(seen, one, generators(4, range(3)), (6,))
        for seen, one in ((problem, run), (SPEC.build(), plain))
    )
    assert found.excess == pytest.approx(wanted.excess, rel=1e-10)


def test_absent_batches_are_the_share_of_the_records() -> None:
    groups = (RunGroup(clients=2, samples_per_client=24), RunGroup(clients=3, samples_per_client=7))
    problem, run = unlike(MbSgdRun(rounds=1, batch_size=6), groups=groups)
    # 24 · 6/12 = 12, and 7 · 6/12 = 3.5 to the nearest, halves up.
    assert client_arrays_of(problem, run, "without-replacement").batches.tolist() == [12, 12, 4, 4, 4]


@pytest.mark.parametrize(
    ("changes", "groups", "pointer"),
    [
        ({}, [{"clients": 4, "samples_per_client": 3}], "/client_groups"),
        ({}, [{"clients": 5, "samples_per_client": 3, "batch_size": 4}], "/client_groups/0/batch_size"),
        (
            {"sampling": "full"},
            [{"clients": 5, "samples_per_client": 3, "batch_size": 2}],
            "/client_groups/0/batch_size",
        ),
        (
            {"sampling": "with-replacement"},
            [{"clients": 5, "samples_per_client": 3, "batch_size": 4}],
            "/client_groups/0/batch_size",
        ),
        ({}, [{"clients": 5, "samples_per_client": 3, "noise_std": 0.1}], "/client_groups/0/noise_std"),
        (
            {"noise_std": 0.1, "step_size": 1.0},
            [{"clients": 5, "samples_per_client": 3, "epsilon": 1.0}],
            "/client_groups/0/epsilon",
        ),
        ({}, [], "/client_groups"),
    ],
)
def test_groups_that_no_run_can_have_are_refused(changes: dict[str, Any], groups: list[Any], pointer: str) -> None:
    def rounds() -> int:
        run = MbSgdRun(rounds=2, batch_size=3, client_groups=tuple(groups), **changes)
        return mb_sgd.rounds_of(build_for(SPEC, run), run)

    with pytest.raises(InvalidInput) as refused:
        rounds()
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_more_records_than_the_data_at_hand_has_are_refused() -> None:
    run = MbSgdRun(rounds=2, batch_size=3, client_groups=({"clients": 5, "samples_per_client": 13},))
    assert build_for(SPEC, run).sizes.tolist() == [13] * 5
    with pytest.raises(InvalidInput) as refused:
        build_for(dataclasses.replace(SPEC, objective="empirical"), run)
    assert refused.value.faults[0].pointer == "/client_groups/0/samples_per_client"
    once = OnePassAcceleratedMbSgdRun(rounds=5, batch_size=3, client_groups=run.client_groups)
    with pytest.raises(InvalidInput) as refused:
        one_pass_accelerated_mb_sgd.rounds_of(build_for(SPEC, once), once)
    assert refused.value.faults[0].pointer == "/rounds"
