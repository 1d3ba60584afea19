"""The join of projected-sgd: calibrated noise, compared bounds, and measured excess below them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.target import Target
from epsilond.simulators.algorithms import projected_sgd as algorithm
from epsilond.simulators.algorithms.projected_sgd import ProjectedSgdRun
from epsilond.simulators.problems.kinds import (
    LeastSquaresProblem,
    LinearProblem,
    LogisticProblem,
    MeanEstimationProblem,
)
from epsilond.simulators.seeds import generators
from epsilond.witness.joins import projected_sgd
from tests.witness.promised import failing_conditions

SHAPE = {"clients": 200, "samples_per_client": 1, "dimension": 4}
MEANS = MeanEstimationProblem(**SHAPE)
RIDGE = LeastSquaresProblem(**SHAPE, strong_convexity=0.5)
LABELS = LogisticProblem(**SHAPE, strong_convexity=0.25, diameter=10.0)
RUN = ProjectedSgdRun(participants=10, step_schedule=InverseTime(scale=1.0), noise_std=1.5)
TARGET = Target.of(2.0, 1e-5, None)


def spec_of(problem, run, noise_std):
    constants = problem.constants
    return ProjectedSgd(
        clients=problem.clients,
        participants=run.participants,
        lipschitz=constants.lipschitz,
        radius=constants.diameter / 2,
        smoothness=constants.smoothness or None,
        strong_convexity=constants.strong_convexity,
        step_schedule=run.step_schedule,
        noise_schedule=Constant(value=noise_std),
        release=run.release,
        suffix_fraction=run.suffix_fraction,
    )


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (MEANS, {}),
        (LABELS, {"release": "random-stop", "step_schedule": Constant(value=0.3)}),
        (LinearProblem(**SHAPE), {"release": "suffix", "suffix_fraction": 0.5}),
    ],
)
def test_calibrated_noise_is_the_least_certified_noise(spec, fields):
    problem, run = spec.build(), replace(RUN, noise_std=None, **fields)
    noisy, answer = projected_sgd.calibrate(problem, run, TARGET)
    assert replace(noisy, noise_std=None) == run
    assert answer.guarantee.epsilon.upper <= 2.0
    for factor, meets in ((1.0, True), (0.98, False)):
        guarantee = account(
            spec_of(problem, run, factor * noisy.noise_std), relation="replace-one", observer="final-model"
        ).guarantee
        assert (guarantee.curve.bound_log_delta(2.0).upper <= math.log(1e-5)) == meets


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"batches": "cyclic"}, "/batches"),
        ({"batches": "without-replacement"}, "/batches"),
        ({"rounds": 40}, "/rounds"),
    ],
)
def test_run_other_than_one_shuffled_pass_is_rejected(fields, pointer):
    with pytest.raises(InvalidInput) as caught:
        projected_sgd.calibrate(MEANS.build(), replace(RUN, noise_std=None, **fields), TARGET)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(
    ("spec", "fields", "conditions"),
    [
        (MEANS, {}, set()),
        (MEANS, {"batches": "cyclic"}, set()),
        (MEANS, {"batches": "without-replacement"}, {"one-pass"}),
        (MEANS, {"rounds": 40}, {"one-pass"}),
        (MEANS, {"step_schedule": InverseTime(scale=1.5)}, {"inverse-steps"}),
        (MEANS, {"step_schedule": Constant(value=1.0)}, {"inverse-steps"}),
        (replace(MEANS, objective="empirical"), {}, {"independent-records"}),
        (replace(MEANS, own_share=0.5), {}, {"independent-records"}),
        (
            LinearProblem(**SHAPE, strong_convexity=0.1),
            {"step_schedule": InverseTime(scale=10.0)},
            {"interior-minimiser"},
        ),
    ],
)
def test_each_violated_condition_is_reported(spec, fields, conditions):
    bound, *_ = projected_sgd.bounds(spec.build(), replace(RUN, **fields))
    assert failing_conditions(bound) == conditions
    assert (bound.theorem, bound.constant, bound.quantity) == ("asoodeh.corollary-1", "explicit", "excess")


def test_bound_is_that_of_the_corrected_corollary():
    problem = RIDGE.build()
    constants, run = problem.constants, replace(RUN, step_schedule=InverseTime(scale=2.0))
    (bound,) = projected_sgd.bounds(problem, run)
    squares = 10 * constants.lipschitz**2 + constants.gradient_std**2 + 4 * 1.5**2
    assert bound.value == pytest.approx(2 * constants.smoothness * squares / (0.25 * 200), rel=1e-12)


@pytest.mark.parametrize("spec", [MEANS, RIDGE, LABELS])
@pytest.mark.parametrize("participants", [1, 10])
@pytest.mark.parametrize("noise_std", [0.2, 3.0])
def test_measured_excess_is_below_the_bound(spec, participants, noise_std):
    problem = spec.build()
    scale = 1.0 / problem.constants.strong_convexity
    run = replace(RUN, participants=participants, noise_std=noise_std, step_schedule=InverseTime(scale=scale))
    (bound,) = projected_sgd.bounds(problem, run)
    assert failing_conditions(bound) == set()
    steps = algorithm.steps_of(problem, run)
    values = algorithm.simulate(problem, run, generators(0, range(100)), (steps,)).excess[:, -1]
    assert values.mean() + 4 * values.std() / 10.0 <= bound.value
    assert values.mean() > 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", [replace(MEANS, clients=4000), replace(RIDGE, clients=4000), replace(LABELS, clients=4000)]
)
@pytest.mark.parametrize("participants", [1, 40])
def test_measured_excess_is_below_the_bound_over_longer_passes(spec, participants):
    problem = spec.build()
    scale = 1.0 / problem.constants.strong_convexity
    for noise_std in (0.2, 1.0, 10.0):
        run = replace(RUN, participants=participants, noise_std=noise_std, step_schedule=InverseTime(scale=scale))
        (bound,) = projected_sgd.bounds(problem, run)
        steps = algorithm.steps_of(problem, run)
        values = algorithm.simulate(problem, run, generators(0, range(100)), (steps,)).excess[:, -1]
        assert failing_conditions(bound) == set()
        assert values.mean() <= bound.value


def test_random_stop_has_a_hidden_constant_and_suffix_has_no_bound():
    problem = MEANS.build()
    (bound,) = projected_sgd.bounds(problem, replace(RUN, release="random-stop"))
    assert (bound.theorem, bound.constant, bound.status) == ("asoodeh.corollary-2", "hidden", "unproved")
    assert (
        bound.quantity
        in algorithm.simulate(problem, replace(RUN, release="random-stop"), generators(0, range(2)), (20,)).diagnostics
    )
    assert projected_sgd.bounds(problem, replace(RUN, release="suffix", suffix_fraction=0.5)) == ()
    assert projected_sgd.bounds(LinearProblem(**SHAPE).build(), RUN) == ()
    assert projected_sgd.bounds(problem, replace(RUN, noise_std=0.0)) == ()


@pytest.mark.parametrize("spec", [LinearProblem(**SHAPE), LogisticProblem(**SHAPE, diameter=6.0), RIDGE])
@pytest.mark.parametrize("release", ["last", "random-stop", "suffix"])
@pytest.mark.parametrize("step_size", [0.05, 0.6])
def test_constant_steps_have_a_bound_without_strong_convexity(spec, release, step_size):
    problem = spec.build()
    fraction = {"suffix_fraction": 0.5} if release == "suffix" else {}
    run = replace(RUN, release=release, step_schedule=Constant(value=step_size), noise_std=0.7, **fraction)
    bound = projected_sgd.bounds(problem, run)[-1]
    assert bound.theorem == "epsilond.one-pass-convex-excess-risk"
    assert (bound.constant, failing_conditions(bound)) == ("explicit", set())
    curves = algorithm.simulate(problem, run, generators(0, range(100)), (20,))
    values = curves.excess[:, -1] if release == "last" else curves.diagnostics[bound.quantity]
    assert 0.0 < values.mean() <= bound.value
    radius, count = problem.constants.diameter / 2, 11 if release == "suffix" else 20
    squared = problem.constants.lipschitz**2 + 4 * 0.7**2 / 10
    grown = 1 + sum(1 / k for k in range(1, 20)) if release == "last" else 1.0
    value = 2 * radius**2 / (step_size * count) + step_size * squared * grown / 2
    assert bound.value == pytest.approx(value, rel=1e-12)
    assert failing_conditions(projected_sgd.bounds(problem, replace(run, rounds=21, batches="cyclic"))[-1]) == {
        "one-pass"
    }


def test_explicit_steps_are_calibrated():
    run = replace(RUN, noise_std=None, participants=50, step_schedule=Explicit(values=(1.0, 0.5, 0.4, 0.1)))
    noisy, _ = projected_sgd.calibrate(MEANS.build(), replace(run, noise_schedule=InverseTime(scale=3.0)), TARGET)
    assert noisy.noise_stds(4)[-1] == pytest.approx(noisy.noise_std)
    assert noisy.noise_stds(4)[0] == pytest.approx(4 * noisy.noise_std)
