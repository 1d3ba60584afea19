"""Noise cancellation beside its bounds: they hold over a hundred seeds, and are not compared where they do not apply."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
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


def compared(found) -> dict:
    return {one.theorem: one.value for one in found if all(each.holds == Verdict.YES for each in one.conditions)}


def failing(found, theorem: str) -> set[str]:
    return {each.id for one in found if one.theorem == theorem for each in one.conditions if each.holds != Verdict.YES}


def upper_end(excess: np.ndarray) -> float:
    """Of the mean, four standard errors up."""
    return float(excess.mean() + 4.0 * excess.std(ddof=1) / math.sqrt(len(excess)))


def measured(problem, run, seeds: int = 100) -> np.ndarray:
    return simulate(problem, run, generators(0, range(seeds)), (run.rounds,)).excess[:, -1]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_over_a_hundred_seeds_at_the_calibrated_noise(name, kind):
    problem = kind(**SPEC, own_share=0.5).build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    assert answer.guarantee.epsilon.upper <= 10.0
    found = compared(bounds(problem, run))
    assert set(found) & BOUNDS[name]
    assert set(found) <= BOUNDS[name] | {"reshef.5.2"}
    top = upper_end(measured(problem, run))
    assert all(top <= value for value in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("epsilon", [1.0, 10.0, 100.0])
def test_bounds_hold_on_larger_problems(name, epsilon):
    for kind, own_share in zip(KINDS, (0.0, 0.3, 0.6, 1.0), strict=True):
        problem = kind(**(SPEC | {"clients": 20, "dimension": 10}), own_share=own_share).build()
        run, _ = calibrate(problem, replace(RUNS[name], rounds=1000), Target.of(epsilon, 1e-5, None))
        top = upper_end(measured(problem, run))
        assert all(top <= value for value in compared(bounds(problem, run)).values())


def test_the_bounds_are_the_calibrators_at_what_it_calibrated():
    problem = LogisticProblem(**SPEC, own_share=0.5).build()
    for name, theorem in (("untrusted", "epsilond.noise-cancellation-excess-risk"), ("trusted", "reshef.f.2")):
        run, answer = calibrate(problem, RUNS[name], TARGET)
        assert compared(bounds(problem, run))[theorem] == pytest.approx(answer.risk.upper.value, rel=1e-9)


def test_the_bounds_by_hand():
    """Linear losses, whose S is G: the displays before the step is picked, and R0 of fresh noise."""
    problem = LinearProblem(**SPEC, own_share=0.5).build()
    known, step, std, rounds = problem.constants, 2e-3, 0.8, 120
    run = Mu2SgdRun(rounds=rounds, participants=4, step_size=step, noise_std=std)
    d, steepest = known.diameter, known.lipschitz
    spread = known.gradient_std**2 + known.heterogeneity**2
    plain = 2 * d**2 / (step * rounds**2) + 4 * d * steepest / rounds + 4 * d * math.sqrt(spread / (4 * rounds))
    found = compared(bounds(problem, run))["reshef.5.2"]
    stated = plain + 2 * step * std**2 * 10 * 4 / 16 * (1 + 10 / (4 * rounds))
    assert found == pytest.approx(stated, rel=1e-9)
    trusted = compared(bounds(problem, replace(run, server="trusted")))["reshef.f.2"]
    assert trusted == pytest.approx(plain + 2 * step * 4 * std**2 / rounds, rel=1e-9)
    harmonic, roots = sum(1 / k for k in range(1, 121)), sum(math.sqrt(k) for k in range(1, 121))
    shared = known.gradient_std**2 + 6 / 9 * known.heterogeneity**2
    base = d**2 / (2 * step) + rounds * d * steepest + d * math.sqrt(shared / 4) * roots
    noise = d * math.sqrt(std**2 / harmonic * 4 / 4) * roots
    fresh = compared(bounds(problem, replace(run, method="independent-noise")))
    assert fresh["epsilond.independent-noise-excess-risk"] == pytest.approx((base + noise) / (60 * 121), rel=1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_one_client_is_a_federation_too(name):
    problem = HuberProblem(**(SPEC | {"clients": 1, "dimension": 1})).build()
    run, _ = calibrate(problem, replace(RUNS[name], participants=1), TARGET)
    found = compared(bounds(problem, run))
    assert found
    assert all(upper_end(measured(problem, run)) <= value for value in found.values())


def test_a_single_round_puts_out_the_start():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, replace(RUN, rounds=1), TARGET)
    start = problem.excess(np.zeros(4))
    assert np.all(measured(problem, run, seeds=3) == start)
    assert all(start <= value for value in compared(bounds(problem, run)).values())


def test_a_run_without_noise_has_the_bound_of_one_with_hardly_any():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, RUN, TARGET)
    none, hardly = (
        {one.theorem: one.value for one in bounds(problem, replace(run, noise_std=std))} for std in (0.0, 1e-9)
    )
    theorem = "epsilond.noise-cancellation-excess-risk"
    assert none[theorem] == pytest.approx(hardly[theorem], rel=1e-6)
    assert upper_end(measured(problem, replace(run, noise_std=0.0))) <= none[theorem]


# Each assumption violated once ----------------------------------------------------------------------------------------
def test_a_pattern_of_participation_is_not_what_the_bound_speaks_of():
    problem = LogisticProblem(**SPEC).build()
    groups = ({"clients": 4, "rounds": tuple(range(1, 61))}, {"clients": 6, "rounds": ()})
    pattern = replace(RUN, participation=RunParticipation(kind="pattern", groups=groups), step_size=1e-3)
    run, answer = calibrate(problem, pattern, TARGET)
    assert answer.parameters.schedule.most_participations == 60
    found = bounds(problem, run)
    assert compared(found) == {}
    assert failing(found, "epsilond.noise-cancellation-excess-risk") == {"uniform-participation"}


def test_everyone_always_is_uniform_whatever_it_is_called():
    problem = LogisticProblem(**SPEC).build()
    groups = ({"clients": 10, "rounds": tuple(range(1, 121))},)
    told = replace(RUN, participants=10, participation=RunParticipation(kind="pattern", groups=groups))
    run, _ = calibrate(problem, told, TARGET)
    assert compared(bounds(problem, run)) == compared(bounds(problem, replace(run, participation=None)))


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
def test_too_long_a_step_is_not_compared(name, theorem, condition):
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, RUNS[name], TARGET)
    found = bounds(problem, replace(run, step_size=1.01 / (2.0 * problem.constants.smoothness * 120)))
    assert condition in failing(found, theorem)
    assert theorem not in compared(found)


def test_the_stated_bound_is_proved_or_not_by_its_criterion():
    """M ≤ 2m: proved. One of many clients and few rounds: nothing is known, and nothing is compared (E-R1)."""
    problem = HuberProblem(**(SPEC | {"clients": 40})).build()
    status = {}
    for participants in (20, 1):
        run = Mu2SgdRun(rounds=50, participants=participants, noise_std=1.0, step_size=1.0 / (8.0 * 50))
        stated = next(one for one in bounds(problem, run) if one.theorem == "reshef.5.2")
        status[participants] = stated.status
        assert (stated.theorem in compared([stated])) == (participants == 20)
    assert status == {20: Status.PROVED, 1: Status.UNPROVED}


def test_fresh_noise_of_a_trusted_server_has_no_bound():
    problem = LogisticProblem(**SPEC).build()
    run, _ = calibrate(problem, replace(RUNS["trusted"], method="independent-noise"), TARGET)
    assert bounds(problem, run) == ()


# Calibration ----------------------------------------------------------------------------------------------------------
def test_a_given_step_is_kept_and_an_absent_one_chosen():
    problem = LogisticProblem(**SPEC).build()
    run, answer = calibrate(problem, RUN, TARGET)
    assert run.step_size == answer.parameters.step_size
    assert run.noise_std == answer.parameters.noise_std
    assert calibrate(problem, replace(RUN, step_size=1e-3), TARGET)[0].step_size == 1e-3
    assert calibrate(problem, RUNS["noisy-sgd"], TARGET)[0].step_size is None


def test_the_calibrator_clips_where_the_run_does():
    problem = LogisticProblem(**SPEC).build()
    known = problem.constants
    _, answer = calibrate(problem, RUN, TARGET)
    wanted = known.lipschitz + 2.0 * known.smoothness * known.diameter
    assert answer.parameters.clipping_norm == pytest.approx(wanted, rel=1e-12)


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
def test_what_cannot_be_calibrated_is_refused(spec, run, pointer):
    with pytest.raises(InvalidInput) as caught:
        calibrate(LogisticProblem(**(SPEC | spec)).build(), run, TARGET)
    assert caught.value.faults[0].pointer == pointer


def test_it_joins_the_calibrator_of_its_name():
    assert JOIN.algorithm == RUN.algorithm == "mu2-sgd"
