"""The joins of the mini-batch algorithms: their calibrations, and measured excess below their bounds."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
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
from tests.witness.promised import failing_conditions

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


def is_compared(bound: PromisedBound) -> bool:
    """Return whether the answer compares the bound: it is explicit and finite, and every condition holds."""
    holds = not failing_conditions(bound)
    return bound.constant == "explicit" and holds and math.isfinite(bound.value)


def final_excess(problem: LinearModelProblem, algorithm: SimulatedAlgorithm, run: Any, seeds: int = SEEDS) -> float:
    last = algorithm.rounds(problem, run)
    return float(np.mean(algorithm.simulate(problem, run, generators(0, range(seeds)), (last,)).excess[:, -1]))


def check_bounds(problem: LinearModelProblem, case: Case, run: Any) -> int:
    """Check that measured excess is below every compared bound, with and without noise.

    Args:
        problem: the simulated problem.
        case: algorithm and join of the run.
        run: the run with its noise.

    Returns:
        The number of compared bounds.
    """
    algorithm, join, _ = case
    count = 0
    for noisy_or_not in (run, algorithm.alternatives(run)["non-private"]):
        excess = final_excess(problem, algorithm, noisy_or_not)
        for bound in join.bounds(problem, noisy_or_not):
            if is_compared(bound):
                count += 1
                assert excess <= bound.value, (bound.theorem, excess, bound.value)
    return count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", [MB_SGD, ACCELERATED, ONE_PASS], ids=lambda case: case[0].name)
def test_measured_excess_is_below_every_compared_bound(kind: type, case: Case) -> None:
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
def test_measured_excess_is_below_the_bounds_on_every_problem(
    kind: type, own_share: float, objective: str, diameter: float
) -> None:
    shape = {**SHAPE, "own_share": own_share, "objective": objective, "diameter": diameter}
    problems = [kind(**shape).build()]
    if kind is not MeanEstimationProblem:
        problems.append(kind(**shape, strong_convexity=0.2).build())
    objectives = {ACCELERATED[0].name: "empirical", ONE_PASS[0].name: "population"}
    for problem, case, (participants, epsilon) in product(
        problems, (MB_SGD, ACCELERATED, ONE_PASS), ((2, 8.0), (8, 0.5))
    ):
        run = dataclasses.replace(case[2], participants=participants)
        calibrated = case[1].calibrate(problem, run, Target.of(epsilon, 1e-6, None))[0]
        compares = objectives.get(case[0].name, objective) == objective
        assert (check_bounds(problem, case, calibrated) > 0) == compares


@pytest.mark.slow
@pytest.mark.parametrize("split", ["iid", "by-label"])
@pytest.mark.parametrize("objective", ["population", "empirical"])
@pytest.mark.parametrize("convexity", [0.0, 0.01])
def test_measured_excess_is_below_the_bounds_on_every_real_data_set(
    split: str, objective: str, convexity: float
) -> None:
    spec = DataSetProblem(clients=8, split=split, objective=objective, strong_convexity=convexity, diameter=4.0)
    problem = spec.build()
    for case in (MB_SGD, SHUFFLED, ACCELERATED, ONE_PASS):
        check_bounds(problem, case, case[1].calibrate(problem, case[2], TARGET)[0])


@pytest.mark.parametrize("objective", ["population", "empirical"])
def test_measured_excess_is_below_the_bounds_on_real_records(objective: str) -> None:
    problem = DataSetProblem(clients=8, split="by-label", objective=objective).build()
    run = MbSgdRun(rounds=20, batch_size=71, sampling="full", step_size=2.0, noise_std=0.05)
    assert check_bounds(problem, MB_SGD, run) == 2


@pytest.mark.parametrize("convexity", [0.0, 0.2])
def test_bounds_hold_at_given_steps_and_stages(convexity: float) -> None:
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


def test_bound_of_mean_estimation_has_its_closed_form() -> None:
    """Check η = 1/2, β = μ = 1, R = 1: D₀²μ/(2(1/(1 − ημ) − 1)) + ηV²/(2(1 − ηβ)) = (D₀² + V²)/2."""
    problem = MeanEstimationProblem(**SHAPE, own_share=0.5, objective="empirical").build()
    run = MbSgdRun(rounds=1, batch_size=60, step_size=0.5, noise_std=0.3, sampling="full")
    (bound,) = mb_sgd_join.JOIN.bounds(problem, run)
    variance = 4 * 0.3**2 / 8
    assert bound.value == pytest.approx((problem.constants.optimum_norm**2 + variance) / 2, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("own_share", [0.0, 0.5, 1.0])
def test_empirical_statistics_are_bounded(kind: type, own_share: float) -> None:
    problem = kind(**SHAPE, own_share=own_share, objective="empirical").build()
    records = Records(problem.population.features, problem.population.targets)
    for model in problem.project(np.random.default_rng(0).standard_normal((50, 4))):
        gradients = problem.gradients(model, records)
        deviations = gradients - np.mean(gradients, axis=(0, 1))
        between = np.mean(gradients, axis=1) - np.mean(gradients, axis=(0, 1))
        assert np.sqrt(np.mean(np.sum(np.square(deviations), axis=-1))) <= problem_fields.empirical_gradient_std(
            problem
        )
        heterogeneity = np.sqrt(np.mean(np.sum(np.square(between), axis=-1)))
        assert heterogeneity <= problem_fields.empirical_heterogeneity(problem) + 1e-14
    fresh = kind(**SHAPE, own_share=own_share).build()
    assert (
        problem_fields.empirical_gradient_std(fresh)
        == problem_fields.empirical_heterogeneity(fresh)
        == fresh.constants.lipschitz
    )


# Theorem 2.1 ----------------------------------------------------------------------------------------------------------
def printed_bound(problem: LinearModelProblem, run: MbSgdRun) -> PromisedBound:
    return next(bound for bound in mb_sgd_join.JOIN.bounds(problem, run) if bound.theorem == "lowy.2.1")


def test_theorem_2_1_is_compared_at_its_prescribed_step() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=60, batch_size=60, step_size=1.0, noise_std=0.05)
    step = next(
        condition.right for condition in printed_bound(problem, run).conditions if condition.id == "prescribed-step"
    )
    assert step is not None
    prescribed = dataclasses.replace(run, step_size=step)
    bound = printed_bound(problem, prescribed)
    assert is_compared(bound)
    # 272 L D ν/√M with ν² = max{1/n, dσ²/(256 R L²)}, whatever ε and δ the noise is for.
    constants = problem.constants
    rate = max(1 / 60, 4 * 0.05**2 / (256 * 60 * constants.lipschitz**2))
    assert bound.value == pytest.approx(272 * constants.lipschitz * constants.diameter * math.sqrt(rate / 8))
    assert final_excess(problem, mb_sgd.ALGORITHM, prescribed) <= bound.value
    assert failing_conditions(printed_bound(problem, run)) == {"prescribed-step"}


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
def test_theorem_2_1_is_not_compared_if_a_condition_fails(
    fields: dict[str, Any], changes: dict[str, Any], condition: str
) -> None:
    problem = LogisticProblem(**SHAPE, **fields).build()
    run = MbSgdRun(**{"rounds": 60, "batch_size": 60, "step_size": 1.0, "noise_std": 0.05, **changes})
    bound = printed_bound(problem, run)
    assert condition in failing_conditions(bound)
    assert not is_compared(bound)


@pytest.mark.parametrize("noise_std", [0.0, 1e-99, 1e-15, 1e12, 1e50])
@pytest.mark.parametrize("step_size", [1e-50, 1.0, 1e50])
def test_bounds_exist_at_extreme_noise_and_steps(noise_std: float, step_size: float) -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=3, batch_size=60, step_size=step_size, noise_std=noise_std)
    bounds = mb_sgd_join.JOIN.bounds(problem, run)
    assert len(bounds) == (1 if noise_std == 0.0 else 2)
    assert all(bound.value > 0.0 for bound in bounds)
    assert final_excess(problem, mb_sgd.ALGORITHM, run, 5) <= bounds[0].value


def test_theorem_2_1_is_absent_for_other_problems() -> None:
    run = MbSgdRun(rounds=60, batch_size=60, step_size=1.0, noise_std=0.05)
    for spec in (
        LogisticProblem(**SHAPE, strong_convexity=0.1),
        LogisticProblem(**SHAPE, objective="empirical"),
    ):
        assert [bound.theorem for bound in mb_sgd_join.JOIN.bounds(spec.build(), run)] == [
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
def test_explicit_bound_is_not_compared_if_a_condition_fails(changes: dict[str, Any], condition: str) -> None:
    problem = LeastSquaresProblem(**SHAPE, strong_convexity=0.1).build()
    plain = MbSgdRun(rounds=20, batch_size=10, step_size=0.5, noise_std=0.2)
    assert is_compared(mb_sgd_join.JOIN.bounds(problem, plain)[0])
    bound = mb_sgd_join.JOIN.bounds(problem, dataclasses.replace(plain, **changes))[0]
    assert failing_conditions(bound) == {condition}
    assert not is_compared(bound)


def test_accelerated_bounds_are_compared_for_one_objective() -> None:
    population, empirical = (
        LeastSquaresProblem(**SHAPE, objective=objective).build() for objective in ("population", "empirical")
    )
    stages = (StageRequest(rounds=6, prox_weight=5.0),)
    again = AcceleratedMbSgdRun(rounds=6, batch_size=10, stages=stages, noise_std=0.2)
    once = OnePassAcceleratedMbSgdRun(rounds=6, batch_size=10, stages=stages, noise_std=0.2)
    assert [is_compared(accelerated_join.JOIN.bounds(problem, again)[0]) for problem in (population, empirical)] == [
        False,
        True,
    ]
    assert [is_compared(one_pass_join.JOIN.bounds(problem, once)[0]) for problem in (population, empirical)] == [
        True,
        False,
    ]
    poisson = dataclasses.replace(again, sampling="poisson")
    assert failing_conditions(accelerated_join.JOIN.bounds(empirical, poisson)[0]) == {"unbiased-gradients"}
    short = (StageRequest(rounds=6, prox_weight=0.1),)
    assert not is_compared(accelerated_join.JOIN.bounds(empirical, dataclasses.replace(again, stages=short))[0])


# Calibration ----------------------------------------------------------------------------------------------------------
def test_calibration_keeps_given_parameters_and_adds_the_others() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run, answer = mb_sgd_join.JOIN.calibrate(problem, MB_SGD[2], TARGET)
    assert run == dataclasses.replace(
        MB_SGD[2], noise_std=answer.parameters.noise_std, step_size=answer.parameters.step_size
    )
    own = dataclasses.replace(MB_SGD[2], step_size=0.01)
    calibrated, _ = mb_sgd_join.JOIN.calibrate(problem, own, TARGET)
    assert calibrated == dataclasses.replace(own, noise_std=run.noise_std)
    accelerated, answer = accelerated_join.JOIN.calibrate(problem, ACCELERATED[2], TARGET)
    assert sum(stage.rounds for stage in accelerated.stages) == 30
    assert [stage.prox_weight for stage in accelerated.stages] == [
        stage.prox_weight for stage in answer.parameters.stages
    ]
    again, _ = accelerated_join.JOIN.calibrate(problem, dataclasses.replace(accelerated, noise_std=None), TARGET)
    assert again == accelerated
    once, answer = one_pass_join.JOIN.calibrate(problem, ONE_PASS[2], TARGET)
    assert once.noise_std == answer.parameters.noise_std


def test_delta_below_every_double_is_kept() -> None:
    problem = LogisticProblem(**SHAPE).build()
    _, answer = one_pass_join.JOIN.calibrate(problem, ONE_PASS[2], Target.of(1.0, None, -400.0))
    assert answer.guarantee.target.log10_delta == -400.0


def test_step_and_stages_are_required_without_a_bound() -> None:
    problem = LogisticProblem(**SHAPE).build()
    run = MbSgdRun(rounds=5, batch_size=10, sampling="poisson")
    with pytest.raises(InvalidInput) as rejected:
        mb_sgd_join.JOIN.calibrate(problem, run, TARGET)
    assert [fault.pointer for fault in rejected.value.faults] == ["/step_size"]
    with_step = dataclasses.replace(run, step_size=0.5)
    assert mb_sgd_join.JOIN.calibrate(problem, with_step, TARGET)[0].noise_std > 0.0
    stageless = AcceleratedMbSgdRun(rounds=5, batch_size=10, sampling="poisson")
    with pytest.raises(InvalidInput) as rejected:
        accelerated_join.JOIN.calibrate(problem, stageless, TARGET)
    assert [fault.pointer for fault in rejected.value.faults] == ["/stages"]


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
