"""PPSGD beside its bounds: they hold over a hundred seeds where their assumptions do, and are not compared elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.ppsgd.ppsgd import simulate
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, steps_of
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.seeds import generators
from epsilond.witness.joins.ppsgd import JOIN, bounds, calibrate, calibration_problem

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
@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_bounds_hold_over_a_hundred_seeds_at_the_calibrated_noise(name, spread):
    problem = replace(HUBER, optimum_spread=spread).build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    assert answer.guarantee.epsilon.upper <= 4.0
    found = compared(bounds(problem, run))
    assert {"epsilond.personalized-sgd-excess-risk", "bietti.4.5.any-step"} & set(found)
    assert not {"bietti.5.2", "bietti.b.4"} & set(found)
    top = upper_end(measured(problem, run))
    assert all(top <= value for value in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 32.0])
def test_bounds_hold_on_larger_problems(name, epsilon):
    for seed in range(3):
        problem = replace(HUBER, dimension=20, optimum_norm=4.0, optimum_spread=0.1 * seed, seed=seed).build()
        run, _ = calibrate(problem, replace(RUNS[name], rounds=800), Target.of(epsilon, 1e-5, None))
        top = upper_end(measured(problem, run))
        assert all(top <= value for value in compared(bounds(problem, run)).values())


def test_the_squared_loss_keeps_its_bound_where_nothing_is_clipped():
    problem = PersonalizedLeastSquares(clients=12, dimension=4, optimum_norm=0.5).build()
    run = PpsgdRun(rounds=80, personalization=0.1, step_size=0.2, noise_std=0.3)
    found = compared(bounds(problem, run))
    assert set(found) == {"bietti.4.5.any-step"}  # the step is not the theorem's
    assert upper_end(measured(problem, run)) <= found["bietti.4.5.any-step"]


@pytest.mark.parametrize("name", RUNS)
def test_the_bound_is_the_calibrators_at_what_it_calibrated(name):
    problem = HUBER.build()
    run, answer = calibrate(problem, RUNS[name], TARGET)
    found = compared(bounds(problem, run))
    upper = answer.risk.upper
    assert found[upper.theorem] == pytest.approx(upper.value, rel=1e-12)
    assert upper.value <= found["epsilond.personalized-sgd-excess-risk"]


def test_the_bound_by_hand():
    """(7) with the corrected constants: W = 9 + 12, the largest message 4 gradients, q = 1/2, α = 1/10."""
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-2"], TARGET)
    known, alpha, drawn = problem.constants, 0.1, 0.5 * 21.0
    smooth = known.smoothness * max(alpha + alpha * 0.5 * 4.0 / drawn, 4.0 / drawn)
    squared = 12.0 / (alpha * 12.0 + 1.0)
    spread = known.shared_gradient_std**2
    variance = (1.0 + alpha) * spread / drawn + alpha * 4.0 * run.noise_std**2
    wanted = 4.0 * smooth * squared / 80.0 + 3.0 * math.sqrt(variance * squared / 80.0)
    assert compared(bounds(problem, run))["epsilond.personalized-sgd-excess-risk"] == pytest.approx(wanted, rel=1e-12)


def test_the_bounds_agree_where_they_are_one():
    """All clients, and the step of the theorem: 4.5 and ours are the same number, and (23) is below it."""
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    found = compared(bounds(problem, run))
    assert found["bietti.4.5"] == pytest.approx(found["epsilond.personalized-sgd-excess-risk"], rel=1e-12)
    assert found["bietti.4.5.any-step"] <= found["bietti.4.5"]


def test_the_limit_of_sharing_everything_is_the_bound_at_huge_alpha():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-global"], TARGET)
    near = replace(run, personalization=1e9, step_size=run.shared_step_size / 1e9, shared_step_size=None)
    limit, close = compared(bounds(problem, run)), {one.theorem: one.value for one in bounds(problem, near)}
    for theorem in ("epsilond.personalized-sgd-excess-risk", "bietti.4.5.any-step"):
        assert limit[theorem] == pytest.approx(close[theorem], rel=1e-6)


# Each assumption violated once ----------------------------------------------------------------------------------------
def test_clipping_that_may_bind_is_not_compared():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    found = bounds(problem, replace(run, clipping_norm=0.9 * problem.constants.lipschitz))
    assert compared(found) == {}
    assert failing(found, "bietti.4.5") == {"gradients-below-clipping"}
    assert failing(found, "epsilond.personalized-sgd-excess-risk") == {"nothing-is-clipped"}
    assert failing(found, "bietti.4.5.any-step") == {"nothing-is-clipped"}


def test_losses_that_are_not_smooth_have_no_bound():
    problem = PersonalizedLeastSquares(clients=12, dimension=4, features="gaussian").build()
    run = PpsgdRun(rounds=80, personalization=0.1, step_size=0.2, noise_std=0.3)
    assert bounds(problem, run) == ()


def test_another_step_is_not_the_theorems():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    found = bounds(problem, replace(run, step_size=run.step_size * 0.99))
    assert failing(found, "bietti.4.5") == {"step-of-the-theorem"}
    assert set(compared(found)) == {"bietti.4.5.any-step"}


def test_too_long_a_step_has_no_bound():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1-balanced"], TARGET)
    long = replace(run, step_size=0.51 / (problem.constants.smoothness / 12.0))
    found = bounds(problem, long)
    assert compared(found) == {}
    assert failing(found, "bietti.4.5.any-step") == {"step-below-half"}
    assert next(one.value for one in found if one.theorem == "bietti.4.5.any-step") == math.inf


@pytest.mark.parametrize(("name", "theorem"), [("algorithm-2", "bietti.5.2"), ("algorithm-3", "bietti.b.4")])
def test_a_refuted_bound_is_shown_with_its_conditions_and_never_compared(name, theorem):
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS[name], TARGET)
    found = bounds(problem, run)
    assert next(one.status for one in found if one.theorem == theorem) is Status.REFUTED
    assert "statement-smoothness" in failing(found, theorem)


def test_clients_that_differ_have_no_bound_where_everything_is_shared():
    problem = replace(HUBER, optimum_spread=0.1).build()
    run = replace(RUNS["algorithm-1-global"], shared_step_size=0.05, noise_std=0.1)
    assert [one.value for one in bounds(problem, run)] == [math.inf]


# Calibration ----------------------------------------------------------------------------------------------------------
def test_what_the_run_leaves_open_is_chosen_and_the_rest_is_kept():
    problem = HUBER.build()
    open_, answer = calibrate(problem, PpsgdRun(rounds=80), TARGET)
    assert open_.personalization == answer.parameters.personalization
    assert open_.noise_std == answer.parameters.noise_std
    assert open_.clipping_norm == problem.constants.lipschitz
    kept = PpsgdRun(rounds=80, personalization=0.3, step_size=0.01, clipping_norm=0.5)
    found, _ = calibrate(problem, kept, TARGET)
    assert replace(found, noise_std=None) == kept
    whole, _ = calibrate(problem, RUNS["algorithm-1-global"], TARGET)
    assert steps_of(problem, whole)[0] == 0.0


def test_nothing_is_clipped_at_the_largest_gradient():
    problem = HUBER.build()
    run, _ = calibrate(problem, RUNS["algorithm-1"], TARGET)
    found = simulate(problem, run, generators(0, range(10)), (80,)).diagnostics
    assert np.all(found["clipped_share"] == 0.0)
    assert found["largest_message"].max() == pytest.approx(run.clipping_norm, rel=1e-9)


def test_delta_survives_as_its_logarithm():
    asked = calibration_problem(HUBER.build(), PpsgdRun(rounds=80), Target.of(4.0, None, -400.0))
    assert asked.log10_delta == pytest.approx(-400.0, rel=1e-12)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({}, "/clipping_norm"),
        ({"clipping_norm": 1.0, "personalization": 0.1, "features": "gaussian"}, "/step_size"),
        ({"clipping_norm": 1.0, "step_size": 0.1, "features": "gaussian"}, "/personalization"),
    ],
)
def test_what_no_bound_would_choose_is_asked_for(fields, pointer):
    features = fields.pop("features", "sign")
    problem = PersonalizedLeastSquares(clients=12, dimension=4, features=features).build()
    with pytest.raises(InvalidInput) as caught:
        calibrate(problem, PpsgdRun(rounds=80, **fields), TARGET)
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(("personalization", "name"), [(0.1, "step_size"), ("unbounded", "shared_step_size")])
def test_where_the_optimum_is_the_start_the_step_is_asked_for(personalization, name):
    problem = replace(HUBER, optimum_norm=0.0).build()
    run = PpsgdRun(rounds=80, personalization=personalization)
    with pytest.raises(InvalidInput) as caught:
        calibrate(problem, run, TARGET)
    assert caught.value.faults[0].pointer == f"/{name}"
    given, _ = calibrate(problem, replace(run, **{name: 0.01}), TARGET)
    found = compared(bounds(problem, given))
    assert set(found) == {"bietti.4.5.any-step"}
    assert upper_end(measured(problem, given)) <= found["bietti.4.5.any-step"]


def test_one_client_of_one_coordinate_is_a_federation_too():
    problem = PersonalizedHuber(clients=1, dimension=1, optimum_norm=2.0).build()
    for sampling in ("full", "poisson", "without-replacement"):
        rate = None if sampling == "full" else 1.0
        run, _ = calibrate(problem, PpsgdRun(rounds=50, sampling=sampling, participation_rate=rate), TARGET)
        found = compared(bounds(problem, run))
        assert found
        assert all(upper_end(measured(problem, run)) <= value for value in found.values())


def test_local_learning_is_best_up_to_the_threshold_of_the_lemma():
    """At little noise sharing wins, at much noise it loses, as the bound says (E-B4)."""
    problem = HUBER.build()
    loose, _ = calibrate(problem, PpsgdRun(rounds=80), Target.of(1e4, 1e-5, None))
    strict, _ = calibrate(problem, PpsgdRun(rounds=80), Target.of(0.1, 1e-5, None))
    assert strict.personalization == 0.0
    assert loose.personalization != 0.0
    shared = replace(strict, personalization=loose.personalization)
    shared = replace(shared, step_size=loose.step_size, shared_step_size=loose.shared_step_size)
    assert measured(problem, strict).mean() < measured(problem, shared).mean()
    alone = replace(loose, personalization=0.0, step_size=strict.step_size, shared_step_size=None)
    assert measured(problem, loose).mean() < measured(problem, alone).mean()


def test_it_joins_the_calibrator_of_its_name():
    assert JOIN.algorithm == PpsgdRun(rounds=1).algorithm == "ppsgd"
