"""The join of mu2-sgd: measured excess is below its bounds, and bounds are not compared where they do not apply."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.simulators.algorithms.mu2_sgd.mu2_sgd import simulate
from epsilond.simulators.algorithms.mu2_sgd.participation import RunParticipation
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun
from epsilond.simulators.problems.kinds import (
    HuberProblem,
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
)
from epsilond.simulators.seeds import generators
from epsilond.witness.joins.mu2_sgd import JOIN, bounds, calibrate
from tests.witness.promised import compared_values, failing_of, upper_band

TARGET = Target.of(10.0, 1e-5, None)
SPEC = {"clients": 10, "samples_per_client": 1, "dimension": 4, "population": 12}
KINDS = (LinearProblem, LogisticProblem, HuberProblem, LeastSquaresProblem)
RUN = Mu2SgdRun(rounds=120, participants=4)
RUNS = {
    "untrusted": RUN,
    "few": replace(RUN, participants=1),
    "everyone": replace(RUN, participants=None),
    "trusted": replace(RUN, server="trusted"),
    "independent": replace(RUN, method="independent-noise"),
    "noisy-sgd": replace(RUN, method="noisy-sgd"),
    "noisy-sgd-trusted": replace(RUN, method="noisy-sgd", server="trusted"),
}
BOUNDS = {
    "untrusted": {"epsilond.noise-cancellation-excess-risk", "reshef.5.2"},
    "few": {"epsilond.noise-cancellation-excess-risk"},
    "everyone": {"epsilond.noise-cancellation-excess-risk", "reshef.5.2"},
    "trusted": {"reshef.f.2"},
    "independent": {"epsilond.independent-noise-excess-risk"},
    "noisy-sgd": {"reshef.baseline"},
    "noisy-sgd-trusted": {"reshef.baseline"},
}


def simulate_excess(problem, run, seeds: int = 100) -> np.ndarray:
    return simulate(problem, run, generators(0, range(seeds)), (run.rounds,)).excess[:, -1]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_measured_excess_is_below_the_bounds_at_calibrated_noise(name, kind):
    problem = kind(**SPEC, own_share=0.5).build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    assert answer.guarantee.epsilon.upper <= 10.0
    values = compared_values(bounds(problem, run))
    assert set(values) & BOUNDS[name]
    assert set(values) <= BOUNDS[name] | {"reshef.5.2"}
    top = upper_band(simulate_excess(problem, run))
    assert all(top <= value for value in values.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("epsilon", [1.0, 10.0, 100.0])
def test_measured_excess_is_below_the_bounds_on_larger_problems(name, epsilon):
    for kind, own_share in zip(KINDS, (0.0, 0.3, 0.6, 1.0), strict=True):
        problem = kind(**(SPEC | {"clients": 20, "dimension": 10}), own_share=own_share).build()
        run, _ = calibrate(problem, replace(RUNS[name], rounds=1000), Target.of(epsilon, 1e-5, None))
        top = upper_band(simulate_excess(problem, run))
        assert all(top <= value for value in compared_values(bounds(problem, run)).values())


def test_bounds_equal_those_of_the_calibrator():
    problem = LogisticProblem(**SPEC, own_share=0.5).build()
    for name, theorem in (("untrusted", "epsilond.noise-cancellation-excess-risk"), ("trusted", "reshef.f.2")):
        run, answer = calibrate(problem, RUNS[name], TARGET)
        assert compared_values(bounds(problem, run))[theorem] == pytest.approx(answer.risk.upper.value, rel=1e-9)


def test_bounds_equal_their_formulas():
    """Compare linear losses, for which S equals G, with the displays before the step is chosen, and with R0 of fresh
    noise.
    """
    problem = LinearProblem(**SPEC, own_share=0.5).build()
    constants, step, std, rounds = problem.constants, 2e-3, 0.8, 120
    run = Mu2SgdRun(rounds=rounds, participants=4, step_size=step, noise_std=std)
    d, steepest = constants.diameter, constants.lipschitz
    variance = constants.gradient_std**2 + constants.heterogeneity**2
    without_noise = (
        2 * d**2 / (step * rounds**2) + 4 * d * steepest / rounds + 4 * d * math.sqrt(variance / (4 * rounds))
    )
    values = compared_values(bounds(problem, run))["reshef.5.2"]
    expected = without_noise + 2 * step * std**2 * 10 * 4 / 16 * (1 + 10 / (4 * rounds))
    assert values == pytest.approx(expected, rel=1e-9)
    trusted = compared_values(bounds(problem, replace(run, server="trusted")))["reshef.f.2"]
    assert trusted == pytest.approx(without_noise + 2 * step * 4 * std**2 / rounds, rel=1e-9)
    harmonic, roots = sum(1 / k for k in range(1, 121)), sum(math.sqrt(k) for k in range(1, 121))
    shared = constants.gradient_std**2 + 6 / 9 * constants.heterogeneity**2
    base = d**2 / (2 * step) + rounds * d * steepest + d * math.sqrt(shared / 4) * roots
    noise = d * math.sqrt(std**2 / harmonic * 4 / 4) * roots
    fresh = compared_values(bounds(problem, replace(run, method="independent-noise")))
    assert fresh["epsilond.independent-noise-excess-risk"] == pytest.approx((base + noise) / (60 * 121), rel=1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_bounds_hold_for_one_client(name):
    problem = HuberProblem(**(SPEC | {"clients": 1, "dimension": 1})).build()
    run, _ = calibrate(problem, replace(RUNS[name], participants=1), TARGET)
    values = compared_values(bounds(problem, run))
    assert values
    assert all(upper_band(simulate_excess(problem, run)) <= value for value in values.values())


def test_single_round_returns_the_start():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, replace(RUN, rounds=1), TARGET)
    start = problem.excess(np.zeros(4))
    assert np.all(simulate_excess(problem, run, seeds=3) == start)
    assert all(start <= value for value in compared_values(bounds(problem, run)).values())


def test_bound_without_noise_is_the_limit_of_small_noise():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, RUN, TARGET)
    none, hardly = (
        {bound.theorem: bound.value for bound in bounds(problem, replace(run, noise_std=std))} for std in (0.0, 1e-9)
    )
    theorem = "epsilond.noise-cancellation-excess-risk"
    assert none[theorem] == pytest.approx(hardly[theorem], rel=1e-6)
    assert upper_band(simulate_excess(problem, replace(run, noise_std=0.0))) <= none[theorem]


# Each assumption violated once ----------------------------------------------------------------------------------------
def test_pattern_of_participation_fails_the_condition():
    problem = LogisticProblem(**SPEC).build()
    groups = ({"clients": 4, "rounds": tuple(range(1, 61))}, {"clients": 6, "rounds": ()})
    pattern = replace(RUN, participation=RunParticipation(kind="pattern", groups=groups), step_size=1e-3)
    run, answer = calibrate(problem, pattern, TARGET)
    assert answer.parameters.schedule.most_participations == 60
    all_bounds = bounds(problem, run)
    assert compared_values(all_bounds) == {}
    assert failing_of(all_bounds, "epsilond.noise-cancellation-excess-risk") == {"uniform-participation"}


def test_pattern_with_all_clients_in_all_rounds_is_uniform():
    problem = LogisticProblem(**SPEC).build()
    groups = ({"clients": 10, "rounds": tuple(range(1, 121))},)
    with_pattern = replace(RUN, participants=10, participation=RunParticipation(kind="pattern", groups=groups))
    run, _ = calibrate(problem, with_pattern, TARGET)
    assert compared_values(bounds(problem, run)) == compared_values(bounds(problem, replace(run, participation=None)))


@pytest.mark.parametrize(
    ("name", "theorem", "condition"),
    [
        ("untrusted", "epsilond.noise-cancellation-excess-risk", "stable-step"),
        ("untrusted", "reshef.5.2", "small-step"),
        ("trusted", "reshef.f.2", "small-step"),
        ("independent", "epsilond.independent-noise-excess-risk", "stable-step"),
        ("noisy-sgd", "reshef.baseline", "step-of-the-theorem"),
    ],
)
def test_too_large_step_is_not_compared(name, theorem, condition):
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, RUNS[name], TARGET)
    all_bounds = bounds(problem, replace(run, step_size=1.01 / (2.0 * problem.constants.smoothness * 120)))
    assert condition in failing_of(all_bounds, theorem)
    assert theorem not in compared_values(all_bounds)


def test_printed_bound_is_proved_only_by_its_criterion():
    """Expect a proof for M ≤ 2m. With one of many clients and few rounds, nothing is proved and nothing compared
    (E-R1).
    """
    problem = HuberProblem(**(SPEC | {"clients": 40})).build()
    status = {}
    for participants in (20, 1):
        run = Mu2SgdRun(rounds=50, participants=participants, noise_std=1.0, step_size=1.0 / (8.0 * 50))
        printed = next(bound for bound in bounds(problem, run) if bound.theorem == "reshef.5.2")
        status[participants] = printed.status
        assert (printed.theorem in compared_values([printed])) == (participants == 20)
    assert status == {20: Status.PROVED, 1: Status.UNPROVED}


def test_fresh_noise_of_a_trusted_server_has_no_bound():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, replace(RUNS["trusted"], method="independent-noise"), TARGET)
    assert bounds(problem, run) == ()


# Calibration ----------------------------------------------------------------------------------------------------------
def test_given_step_is_kept_and_absent_step_is_chosen():
    problem = LogisticProblem(**SPEC).build()
    run, answer = calibrate(problem, RUN, TARGET)
    assert run.step_size == answer.parameters.step_size
    assert run.noise_std == answer.parameters.noise_std
    assert calibrate(problem, replace(RUN, step_size=1e-3), TARGET)[0].step_size == 1e-3
    assert calibrate(problem, RUNS["noisy-sgd"], TARGET)[0].step_size is None


def test_clipping_norm_is_the_largest_report():
    problem = LogisticProblem(**SPEC).build()
    constants = problem.constants
    _, answer = calibrate(problem, RUN, TARGET)
    expected = constants.lipschitz + 2.0 * constants.smoothness * constants.diameter
    assert answer.parameters.clipping_norm == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("spec", "run", "pointer"),
    [
        ({"objective": "empirical", "population": 1}, RUN, "/problem/objective"),
        (
            {},
            replace(RUN, participation=RunParticipation(kind="pattern", groups=({"clients": 10, "rounds": ()},))),
            "/step_size",
        ),
    ],
)
def test_impossible_calibration_is_rejected(spec, run, pointer):
    with pytest.raises(InvalidInput) as caught:
        calibrate(LogisticProblem(**(SPEC | spec)).build(), run, TARGET)
    assert caught.value.faults[0].pointer == pointer


def test_join_has_the_name_of_its_algorithm():
    assert JOIN.algorithm == RUN.algorithm == "mu2-sgd"
