"""The mini-batch algorithms beside their calibrators and bounds: what is promised is measured, over many seeds."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms import (
    accelerated_mb_sgd,
    mb_sgd,
    one_pass_accelerated_mb_sgd,
    shuffled_mb_sgd,
)
from epsilond.simulators.algorithms.accelerated_mb_sgd import AcceleratedMbSgdRun
from epsilond.simulators.algorithms.acceleration import StageRequest
from epsilond.simulators.algorithms.algorithm import SimulatedAlgorithm
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.data_sets import DataSetProblem
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.problems.linear_model import LinearModelProblem
from epsilond.simulators.problems.problem import Records
from epsilond.simulators.seeds import generators
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins import accelerated_mb_sgd as accelerated_join
from epsilond.witness.joins import mb_sgd as mb_sgd_join
from epsilond.witness.joins import one_pass_accelerated_mb_sgd as one_pass_join
from epsilond.witness.joins import problem_fields
from epsilond.witness.joins import shuffled_mb_sgd as shuffled_join

KINDS = (MeanEstimationProblem, LinearProblem, LeastSquaresProblem, HuberProblem, LogisticProblem)
SHAPE: dict[str, Any] = {"clients": 8, "samples_per_client": 60, "dimension": 4}
TARGET = Target.of(2.0, 1e-5, None)
SEEDS = 100

Case = tuple[SimulatedAlgorithm, Join, Any]
MB_SGD: Case = (mb_sgd.ALGORITHM, mb_sgd_join.JOIN, MbSgdRun(rounds=30, batch_size=10, participants=5))
SHUFFLED: Case = (shuffled_mb_sgd.ALGORITHM, shuffled_join.JOIN, ShuffledMbSgdRun(rounds=10, batch_size=5))
ACCELERATED: Case = (
    accelerated_mb_sgd.ALGORITHM,
    accelerated_join.JOIN,
    AcceleratedMbSgdRun(rounds=30, batch_size=10, participants=5),
)
ONE_PASS: Case = (
    one_pass_accelerated_mb_sgd.ALGORITHM,
    one_pass_join.JOIN,
    OnePassAcceleratedMbSgdRun(rounds=6, batch_size=10, participants=5),
)


def compared(bound: PromisedBound) -> bool:
    """As the answer decides it: explicit, finite, and every condition holds."""
    holds = all(one.holds == Verdict.YES for one in bound.conditions)
    return bound.constant == "explicit" and holds and math.isfinite(bound.value)


def failing(bound: PromisedBound) -> set[str]:
    return {one.id for one in bound.conditions if one.holds != Verdict.YES}


def final_excess(problem: LinearModelProblem, algorithm: SimulatedAlgorithm, run: Any, seeds: int = SEEDS) -> float:
    last = algorithm.rounds(problem, run)
    return float(np.mean(algorithm.simulate(problem, run, generators(0, range(seeds)), (last,)).excess[:, -1]))


def check_bounds(problem: LinearModelProblem, case: Case, run: Any) -> int:
    """Every bound that is compared holds, with and without noise; how many there were."""
    algorithm, join, _ = case
    count = 0
    for one in (run, algorithm.alternatives(run)["non-private"]):
        excess = final_excess(problem, algorithm, one)
        for bound in join.bounds(problem, one):
            if compared(bound):
                count += 1
                assert excess <= bound.value, (bound.theorem, excess, bound.value)
    return count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", [MB_SGD, ACCELERATED, ONE_PASS], ids=lambda case: case[0].name)
def test_every_bound_whose_conditions_hold_is_held(kind: type, case: Case) -> None:
    objective = "empirical" if case is ACCELERATED else "population"
    problem = kind(**SHAPE, own_share=0.5, objective=objective).build()
    run, answer = case[1].calibrate(problem, case[2], TARGET)
    assert run.noise_std == answer.parameters.noise_std > 0.0
    assert answer.guarantee.epsilon.upper <= 2.0
    assert check_bounds(problem, case, run) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "own_share", "objective", "diameter"),
    list(product(KINDS, (0.0, 0.3, 1.0), ("population", "empirical"), (0.5, 4.0))),
)
def test_every_bound_is_held_on_every_kind_of_problem(
    kind: type, own_share: float, objective: str, diameter: float
) -> None:
    shape = {**SHAPE, "own_share": own_share, "objective": objective, "diameter": diameter}
    problems = [kind(**shape).build()]
    if kind is not MeanEstimationProblem:
        problems.append(kind(**shape, strong_convexity=0.2).build())
    wanted = {ACCELERATED[0].name: "empirical", ONE_PASS[0].name: "population"}
    for problem, case, (participants, epsilon) in product(
        problems, (MB_SGD, ACCELERATED, ONE_PASS), ((2, 8.0), (8, 0.5))
    ):
        run = dataclasses.replace(case[2], participants=participants)
        found = case[1].calibrate(problem, run, Target.of(epsilon, 1e-6, None))[0]
        compares = wanted.get(case[0].name, objective) == objective
        assert (check_bounds(problem, case, found) > 0) == compares


@pytest.mark.slow
@pytest.mark.parametrize("split", ["iid", "by-label"])
@pytest.mark.parametrize("objective", ["population", "empirical"])
@pytest.mark.parametrize("convexity", [0.0, 0.01])
def test_every_bound_is_held_on_real_records(split: str, objective: str, convexity: float) -> None:
    spec = DataSetProblem(clients=8, split=split, objective=objective, strong_convexity=convexity, diameter=4.0)
    problem = spec.build()
    for case in (MB_SGD, SHUFFLED, ACCELERATED, ONE_PASS):
        check_bounds(problem, case, case[1].calibrate(problem, case[2], TARGET)[0])


@pytest.mark.parametrize("objective", ["population", "empirical"])
def test_bounds_are_held_on_real_records(objective: str) -> None:
    problem = DataSetProblem(clients=8, split="by-label", objective=objective).build()
    run = MbSgdRun(rounds=20, batch_size=71, sampling="full", step_size=2.0, noise_std=0.05)
    assert check_bounds(problem, MB_SGD, run) == 2


@pytest.mark.parametrize("convexity", [0.0, 0.2])
def test_bounds_stand_at_steps_and_stages_of_one_s_own(convexity: float) -> None:
    spec = LeastSquaresProblem(**SHAPE, strong_convexity=convexity, objective="empirical", own_share=0.5)
    problem = spec.build()
    for step in (0.05, 0.4, 0.8):
        run = MbSgdRun(rounds=25, batch_size=60, step_size=step, noise_std=0.2, sampling="full")
        assert check_bounds(problem, MB_SGD, run) == 2
    plain = MbSgdRun(rounds=25, batch_size=10, step_size=0.4, noise_std=0.2, averaging_ratio=1.0)
    assert check_bounds(problem, MB_SGD, plain) == 2
    stages = (StageRequest(rounds=10, prox_weight=3.0), StageRequest(rounds=15, prox_weight=20.0))
    accelerated = AcceleratedMbSgdRun(rounds=25, batch_size=10, stages=stages, noise_std=0.2)
    assert check_bounds(problem, ACCELERATED, accelerated) == 2


def test_the_bound_of_mean_estimation_in_closed_form() -> None:
    """η = 1/2, β = μ = 1, R = 1: D₀²μ/(2(1/(1 − ημ) − 1)) + ηV²/(2(1 − ηβ)) = (D₀² + V²)/2."""
    problem = MeanEstimationProblem(**SHAPE, own_share=0.5, objective="empirical").build()
    run = MbSgdRun(rounds=1, batch_size=60, step_size=0.5, noise_std=0.3, sampling="full")
    (bound,) = mb_sgd_join.JOIN.bounds(problem, run)
    variance = 4 * 0.3**2 / 8
    assert bound.value == pytest.approx((problem.constants.optimum_norm**2 + variance) / 2, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("own_share", [0.0, 0.5, 1.0])
def test_statistics_of_the_data_at_hand_are_bounds(kind: type, own_share: float) -> None:
    problem = kind(**SHAPE, own_share=own_share, objective="empirical").build()
    records = Records(problem.population.features, problem.population.targets)
    for model in problem.project(np.random.default_rng(0).standard_normal((50, 4))):
        every = problem.gradients(model, records)
        apart = every - np.mean(every, axis=(0, 1))
        between = np.mean(every, axis=1) - np.mean(every, axis=(0, 1))
        assert np.sqrt(np.mean(np.sum(np.square(apart), axis=-1))) <= problem_fields.empirical_gradient_std(problem)
        spread = np.sqrt(np.mean(np.sum(np.square(between), axis=-1)))
        assert spread <= problem_fields.empirical_heterogeneity(problem) + 1e-14
    anew = kind(**SHAPE, own_share=own_share).build()
    assert (
        problem_fields.empirical_gradient_std(anew)
        == problem_fields.empirical_heterogeneity(anew)
        == anew.constants.lipschitz
    )


# Theorem 2.1 ----------------------------------------------------------------------------------------------------------
def printed_bound(problem: LinearModelProblem, run: MbSgdRun) -> PromisedBound:
    return next(one for one in mb_sgd_join.JOIN.bounds(problem, run) if one.theorem == "lowy.2.1")


def test_theorem_2_1_is_compared_at_the_step_that_it_prescribes() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=60, batch_size=60, step_size=1.0, noise_std=0.05)
    step = next(one.right for one in printed_bound(problem, run).conditions if one.id == "prescribed-step")
    assert step is not None
    prescribed = dataclasses.replace(run, step_size=step)
    found = printed_bound(problem, prescribed)
    assert compared(found)
    # 272 L D ν/√M with ν² = max{1/n, dσ²/(256 R L²)}, whatever ε and δ the noise is for.
    known = problem.constants
    rate = max(1 / 60, 4 * 0.05**2 / (256 * 60 * known.lipschitz**2))
    assert found.value == pytest.approx(272 * known.lipschitz * known.diameter * math.sqrt(rate / 8))
    assert final_excess(problem, mb_sgd.ALGORITHM, prescribed) <= found.value
    assert failing(printed_bound(problem, run)) == {"prescribed-step"}


@pytest.mark.parametrize(
    ("fields", "changes", "condition"),
    [
        ({"own_share": 0.5}, {}, "identical-clients"),
        ({}, {"rounds": 1}, "prescribed-rounds"),
        ({}, {"averaging_ratio": 1.5}, "averaged-output"),
        ({}, {"sampling": "with-replacement"}, "drawn-once"),
        ({}, {"sampling": "poisson"}, "sampling"),
        ({}, {"participants": 2, "rounds": 40}, "client-sampling"),
    ],
)
def test_theorem_2_1_is_not_compared_where_a_condition_fails(
    fields: dict[str, Any], changes: dict[str, Any], condition: str
) -> None:
    problem = LogisticProblem(**SHAPE, **fields).build()
    run = MbSgdRun(**{"rounds": 60, "batch_size": 60, "step_size": 1.0, "noise_std": 0.05, **changes})
    found = printed_bound(problem, run)
    assert condition in failing(found)
    assert not compared(found)


@pytest.mark.parametrize("noise_std", [0.0, 1e-99, 1e-15, 1e12, 1e50])
@pytest.mark.parametrize("step_size", [1e-50, 1.0, 1e50])
def test_bounds_are_there_at_the_ends_of_the_ranges(noise_std: float, step_size: float) -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=3, batch_size=60, step_size=step_size, noise_std=noise_std)
    found = mb_sgd_join.JOIN.bounds(problem, run)
    assert len(found) == (1 if noise_std == 0.0 else 2)
    assert all(one.value > 0.0 for one in found)
    assert final_excess(problem, mb_sgd.ALGORITHM, run, 5) <= found[0].value


def test_theorem_2_1_says_nothing_of_other_problems() -> None:
    run = MbSgdRun(rounds=60, batch_size=60, step_size=1.0, noise_std=0.05)
    for spec in (
        LogisticProblem(**SHAPE, strong_convexity=0.1),
        LogisticProblem(**SHAPE, objective="empirical"),
    ):
        assert [one.theorem for one in mb_sgd_join.JOIN.bounds(spec.build(), run)] == [
            "epsilond.mini-batch-sgd-excess-risk"
        ]


# A condition that fails -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({"sampling": "with-replacement"}, "fresh-sampling"),
        ({"sampling": "poisson"}, "fresh-sampling"),
        ({"averaging_ratio": 3.0}, "averaged-output"),
        ({"step_size": 1.1}, "step-size"),
    ],
)
def test_the_explicit_bound_is_not_compared_where_a_condition_fails(changes: dict[str, Any], condition: str) -> None:
    problem = LeastSquaresProblem(**SHAPE, strong_convexity=0.1).build()
    plain = MbSgdRun(rounds=20, batch_size=10, step_size=0.5, noise_std=0.2)
    assert compared(mb_sgd_join.JOIN.bounds(problem, plain)[0])
    found = mb_sgd_join.JOIN.bounds(problem, dataclasses.replace(plain, **changes))[0]
    assert failing(found) == {condition}
    assert not compared(found)


def test_accelerated_bounds_are_of_one_objective() -> None:
    population, empirical = (
        LeastSquaresProblem(**SHAPE, objective=objective).build() for objective in ("population", "empirical")
    )
    stages = (StageRequest(rounds=6, prox_weight=5.0),)
    again = AcceleratedMbSgdRun(rounds=6, batch_size=10, stages=stages, noise_std=0.2)
    once = OnePassAcceleratedMbSgdRun(rounds=6, batch_size=10, stages=stages, noise_std=0.2)
    assert [compared(accelerated_join.JOIN.bounds(one, again)[0]) for one in (population, empirical)] == [False, True]
    assert [compared(one_pass_join.JOIN.bounds(one, once)[0]) for one in (population, empirical)] == [True, False]
    poisson = dataclasses.replace(again, sampling="poisson")
    assert failing(accelerated_join.JOIN.bounds(empirical, poisson)[0]) == {"unbiased-gradients"}
    short = (StageRequest(rounds=6, prox_weight=0.1),)
    assert not compared(accelerated_join.JOIN.bounds(empirical, dataclasses.replace(again, stages=short))[0])


# Calibration ----------------------------------------------------------------------------------------------------------
def test_calibration_keeps_what_the_run_has_and_fills_in_the_rest() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run, answer = mb_sgd_join.JOIN.calibrate(problem, MB_SGD[2], TARGET)
    assert run == dataclasses.replace(
        MB_SGD[2], noise_std=answer.parameters.noise_std, step_size=answer.parameters.step_size
    )
    own = dataclasses.replace(MB_SGD[2], step_size=0.01)
    kept, _ = mb_sgd_join.JOIN.calibrate(problem, own, TARGET)
    assert kept == dataclasses.replace(own, noise_std=run.noise_std)
    accelerated, answer = accelerated_join.JOIN.calibrate(problem, ACCELERATED[2], TARGET)
    assert sum(stage.rounds for stage in accelerated.stages) == 30
    assert [stage.prox_weight for stage in accelerated.stages] == [one.prox_weight for one in answer.parameters.stages]
    again, _ = accelerated_join.JOIN.calibrate(problem, dataclasses.replace(accelerated, noise_std=None), TARGET)
    assert again == accelerated
    once, answer = one_pass_join.JOIN.calibrate(problem, ONE_PASS[2], TARGET)
    assert once.noise_std == answer.parameters.noise_std


def test_a_small_delta_survives() -> None:
    problem = LogisticProblem(**SHAPE).build()
    _, answer = one_pass_join.JOIN.calibrate(problem, ONE_PASS[2], Target.of(1.0, None, -400.0))
    assert answer.guarantee.target.log10_delta == -400.0


def test_without_a_bound_the_step_has_to_be_given() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=5, batch_size=10, sampling="poisson")
    with pytest.raises(InvalidInput) as refused:
        mb_sgd_join.JOIN.calibrate(problem, run, TARGET)
    assert [fault.pointer for fault in refused.value.faults] == ["/step_size"]
    given = dataclasses.replace(run, step_size=0.5)
    assert mb_sgd_join.JOIN.calibrate(problem, given, TARGET)[0].noise_std > 0.0
    stageless = AcceleratedMbSgdRun(rounds=5, batch_size=10, sampling="poisson")
    with pytest.raises(InvalidInput) as refused:
        accelerated_join.JOIN.calibrate(problem, stageless, TARGET)
    assert [fault.pointer for fault in refused.value.faults] == ["/stages"]


def test_the_shuffler_changes_the_noise_and_not_the_rounds() -> None:
    problem = LogisticProblem(clients=1000, samples_per_client=1, dimension=4).build()
    target = Target.of(0.3, 1e-5, None)
    run, answer = shuffled_join.JOIN.calibrate(problem, ShuffledMbSgdRun(rounds=1, batch_size=1), target)
    local, _ = mb_sgd_join.JOIN.calibrate(problem, MbSgdRun(rounds=1, batch_size=1), target)
    assert answer.guarantee.definition == "shuffle"
    assert run.noise_std < 0.5 * local.noise_std
    plain = MbSgdRun(rounds=1, batch_size=1, step_size=run.step_size, noise_std=run.noise_std)
    shuffled = shuffled_mb_sgd.simulate(problem, run, generators(1, range(3)), (1,))  # type: ignore[attr-defined]
    assert np.array_equal(shuffled.excess, mb_sgd.simulate(problem, plain, generators(1, range(3)), (1,)).excess)
    assert check_bounds(problem, SHUFFLED, run) == 2
