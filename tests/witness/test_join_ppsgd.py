"""The join of ppsgd: measured excess is below its bounds, and bounds are not compared where they do not apply."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.simulators.algorithms.ppsgd.ppsgd import simulate
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, steps_of
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.seeds import generators
from epsilond.witness.joins.ppsgd import JOIN, calibrate, calibration_problem
from epsilond.witness.joins.ppsgd_bounds import bounds
from tests.witness.promised import compared_values, failing_of, upper_band

TARGET = Target.of(4.0, 1e-5, None)
HUBER = PersonalizedHuber(clients=12, dimension=4, optimum_norm=1.0, feature_vectors=16)
GROUPS = ({"clients": 9}, {"clients": 3, "batch_size": 4})
RUNS = {
    "algorithm-1": PpsgdRun(rounds=80),
    "algorithm-1-balanced": PpsgdRun(rounds=80, personalization=1.0 / 12.0),
    "algorithm-1-local": PpsgdRun(rounds=80, personalization=0.0),
    "algorithm-1-global": PpsgdRun(rounds=80, personalization="unbounded"),
    "algorithm-2": PpsgdRun(
        rounds=80,
        sampling="poisson",
        participation_rate=0.5,
        weighting="samples",
        client_groups=GROUPS,
        personalization=0.1,
    ),
    "algorithm-3": PpsgdRun(
        rounds=80, sampling="poisson", participation_rate=0.5, client_groups=GROUPS, personalization=0.1
    ),
    "fixed-size": PpsgdRun(
        rounds=80, sampling="without-replacement", participation_rate=0.5, batch_size=2, personalization=0.1
    ),
}


def simulate_excess(problem, run, seeds: int = 100) -> np.ndarray:
    return simulate(problem, run, generators(0, range(seeds)), (run.rounds,)).excess[:, -1]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_measured_excess_is_below_the_bounds_at_calibrated_noise(name, spread):
    problem = replace(HUBER, optimum_spread=spread).build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    assert answer.guarantee.epsilon.upper <= 4.0
    values = compared_values(bounds(problem, run))
    assert {"epsilond.personalized-sgd-excess-risk", "bietti.4.5.any-step"} & set(values)
    assert not {"bietti.5.2", "bietti.b.4"} & set(values)
    top = upper_band(simulate_excess(problem, run))
    assert all(top <= value for value in values.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 32.0])
def test_measured_excess_is_below_the_bounds_on_larger_problems(name, epsilon):
    for seed in range(3):
        problem = replace(HUBER, dimension=20, optimum_norm=4.0, optimum_spread=0.1 * seed, seed=seed).build()
        run, _ = calibrate(problem, replace(RUNS[name], rounds=800), Target.of(epsilon, 1e-5, None))
        top = upper_band(simulate_excess(problem, run))
        assert all(top <= value for value in compared_values(bounds(problem, run)).values())


def test_bound_holds_for_squared_loss_without_clipping():
    problem = PersonalizedLeastSquares(clients=12, dimension=4, optimum_norm=0.5).build()
    run = PpsgdRun(rounds=80, personalization=0.1, step_size=0.2, noise_std=0.3)
    values = compared_values(bounds(problem, run))
    assert set(values) == {"bietti.4.5.any-step"}  # the step is not the theorem's
    assert upper_band(simulate_excess(problem, run)) <= values["bietti.4.5.any-step"]


@pytest.mark.parametrize("name", RUNS)
def test_bound_equals_that_of_the_calibrator(name):
    problem = HUBER.build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    values = compared_values(bounds(problem, run))
    upper = answer.risk.upper
    assert values[upper.theorem] == pytest.approx(upper.value, rel=1e-12)
    assert upper.value <= values["epsilond.personalized-sgd-excess-risk"]


def test_bound_equals_its_formula():
    """Compare (7) with the corrected constants: W = 9 + 12, the largest message 4 gradients, q = 1/2, α = 1/10."""
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-2"], TARGET)
    constants, alpha, weight = problem.constants, 0.1, 0.5 * 21.0
    smooth = constants.smoothness * max(alpha + alpha * 0.5 * 4.0 / weight, 4.0 / weight)
    squared = 12.0 / (alpha * 12.0 + 1.0)
    variance_of_gradients = constants.shared_gradient_std**2
    variance = (1.0 + alpha) * variance_of_gradients / weight + alpha * 4.0 * run.noise_std**2
    expected = 4.0 * smooth * squared / 80.0 + 3.0 * math.sqrt(variance * squared / 80.0)
    assert compared_values(bounds(problem, run))["epsilond.personalized-sgd-excess-risk"] == pytest.approx(
        expected, rel=1e-12
    )


def test_both_bounds_agree_at_full_participation():
    """Compare both bounds with all clients at the theorem's step: they are equal, and (23) is below them."""
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    values = compared_values(bounds(problem, run))
    assert values["bietti.4.5"] == pytest.approx(values["epsilond.personalized-sgd-excess-risk"], rel=1e-12)
    assert values["bietti.4.5.any-step"] <= values["bietti.4.5"]


def test_bound_for_shared_models_is_the_limit_of_large_alpha():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-global"], TARGET)
    near = replace(run, personalization=1e9, step_size=run.shared_step_size / 1e9, shared_step_size=None)
    limit, close = (
        compared_values(bounds(problem, run)),
        {bound.theorem: bound.value for bound in bounds(problem, near)},
    )
    for theorem in ("epsilond.personalized-sgd-excess-risk", "bietti.4.5.any-step"):
        assert limit[theorem] == pytest.approx(close[theorem], rel=1e-6)


# Each assumption violated once ----------------------------------------------------------------------------------------
def test_possible_clipping_is_not_compared():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    all_bounds = bounds(problem, replace(run, clipping_norm=0.9 * problem.constants.lipschitz))
    assert compared_values(all_bounds) == {}
    assert failing_of(all_bounds, "bietti.4.5") == {"gradients-below-clipping"}
    assert failing_of(all_bounds, "epsilond.personalized-sgd-excess-risk") == {"nothing-is-clipped"}
    assert failing_of(all_bounds, "bietti.4.5.any-step") == {"nothing-is-clipped"}


def test_losses_without_smoothness_have_no_bound():
    problem = PersonalizedLeastSquares(clients=12, dimension=4, features="gaussian").build()
    run = PpsgdRun(rounds=80, personalization=0.1, step_size=0.2, noise_std=0.3)
    assert bounds(problem, run) == ()


def test_other_step_fails_the_condition_of_the_theorem():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    all_bounds = bounds(problem, replace(run, step_size=run.step_size * 0.99))
    assert failing_of(all_bounds, "bietti.4.5") == {"step-of-the-theorem"}
    assert set(compared_values(all_bounds)) == {"bietti.4.5.any-step"}


def test_too_large_step_has_an_infinite_bound():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    long = replace(run, step_size=0.51 / (problem.constants.smoothness / 12.0))
    all_bounds = bounds(problem, long)
    assert compared_values(all_bounds) == {}
    assert failing_of(all_bounds, "bietti.4.5.any-step") == {"step-below-half"}
    assert next(bound.value for bound in all_bounds if bound.theorem == "bietti.4.5.any-step") == math.inf


@pytest.mark.parametrize(("name", "theorem"), [("algorithm-2", "bietti.5.2"), ("algorithm-3", "bietti.b.4")])
def test_refuted_bound_is_never_compared(name, theorem):
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS[name], TARGET)
    all_bounds = bounds(problem, run)
    assert next(bound.status for bound in all_bounds if bound.theorem == theorem) is Status.REFUTED
    assert "statement-smoothness" in failing_of(all_bounds, theorem)


def test_different_clients_with_shared_models_have_an_infinite_bound():
    problem = replace(HUBER, optimum_spread=0.1).build()
    run = replace(RUNS["algorithm-1-global"], shared_step_size=0.05, noise_std=0.1)
    assert [bound.value for bound in bounds(problem, run)] == [math.inf]


# Calibration ----------------------------------------------------------------------------------------------------------
def test_open_parameters_are_chosen_and_given_ones_are_kept():
    problem = HUBER.build()
    open_, answer = calibrate(problem, PpsgdRun(rounds=80), TARGET)
    assert open_.personalization == answer.parameters.personalization
    assert open_.noise_std == answer.parameters.noise_std
    assert open_.clipping_norm == problem.constants.lipschitz
    given_run = PpsgdRun(rounds=80, personalization=0.3, step_size=0.01, clipping_norm=0.5)
    calibrated, _ = calibrate(problem, given_run, TARGET)
    assert replace(calibrated, noise_std=None) == given_run
    shared, _ = calibrate(problem, RUNS["algorithm-1-global"], TARGET)
    assert steps_of(problem, shared)[0] == 0.0


def test_largest_gradient_is_not_clipped():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1"], TARGET)
    diagnostics = simulate(problem, run, generators(0, range(10)), (80,)).diagnostics
    assert np.all(diagnostics["clipped_share"] == 0.0)
    assert diagnostics["largest_message"].max() == pytest.approx(run.clipping_norm, rel=1e-9)


def test_delta_below_every_double_is_kept_as_its_logarithm():
    question = calibration_problem(HUBER.build(), PpsgdRun(rounds=80), Target.of(4.0, None, -400.0))
    assert question.log10_delta == pytest.approx(-400.0, rel=1e-12)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, "/clipping_norm"),
        ({"clipping_norm": 1.0, "personalization": 0.1, "features": "gaussian"}, "/step_size"),
        ({"clipping_norm": 1.0, "step_size": 0.1, "features": "gaussian"}, "/personalization"),
    ],
)
def test_parameter_without_a_bound_is_required(fields, pointer):
    features = fields.pop("features", "sign")
    problem = PersonalizedLeastSquares(clients=12, dimension=4, features=features).build()
    with pytest.raises(InvalidInput) as caught:
        calibrate(problem, PpsgdRun(rounds=80, **fields), TARGET)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(("personalization", "name"), [(0.1, "step_size"), ("unbounded", "shared_step_size")])
def test_step_is_required_if_the_optimum_is_the_start(personalization, name):
    problem = replace(HUBER, optimum_norm=0.0).build()
    run = PpsgdRun(rounds=80, personalization=personalization)
    with pytest.raises(InvalidInput) as caught:
        calibrate(problem, run, TARGET)
    assert caught.value.faults[0].pointer == f"/{name}"
    calibrated, _ = calibrate(problem, replace(run, **{name: 0.01}), TARGET)
    values = compared_values(bounds(problem, calibrated))
    assert set(values) == {"bietti.4.5.any-step"}
    assert upper_band(simulate_excess(problem, calibrated)) <= values["bietti.4.5.any-step"]


def test_bounds_hold_for_one_client_and_one_coordinate():
    problem = PersonalizedHuber(clients=1, dimension=1, optimum_norm=2.0).build()
    for sampling in ("full", "poisson", "without-replacement"):
        rate = None if sampling == "full" else 1.0
        run, _ = calibrate(problem, PpsgdRun(rounds=50, sampling=sampling, participation_rate=rate), TARGET)
        values = compared_values(bounds(problem, run))
        assert values
        assert all(upper_band(simulate_excess(problem, run)) <= value for value in values.values())


def test_sharing_helps_at_little_noise_and_harms_at_much_noise():
    """Compare the better personalization of the bound with the better one in simulations (E-B4)."""
    problem = HUBER.build()
    loose, _ = calibrate(problem, PpsgdRun(rounds=80), Target.of(1e4, 1e-5, None))
    strict, _ = calibrate(problem, PpsgdRun(rounds=80), Target.of(0.1, 1e-5, None))
    assert strict.personalization == 0.0
    assert loose.personalization != 0.0
    shared = replace(strict, personalization=loose.personalization)
    shared = replace(shared, step_size=loose.step_size, shared_step_size=loose.shared_step_size)
    assert simulate_excess(problem, strict).mean() < simulate_excess(problem, shared).mean()
    local = replace(loose, personalization=0.0, step_size=strict.step_size, shared_step_size=None)
    assert simulate_excess(problem, loose).mean() < simulate_excess(problem, local).mean()


def test_join_has_the_name_of_its_algorithm():
    assert JOIN.algorithm == PpsgdRun(rounds=1).algorithm == "ppsgd"
