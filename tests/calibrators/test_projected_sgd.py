"""projected-sgd: the noise, step size or batch size, certified; printed bounds told apart; what it costs to hide."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import BeyondBudget, ConditionViolated, Infeasible, InvalidInput
from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.accountants.specs import ProjectedSgd
from epsilond.calibrators.answer import Calibration, PrintedReading
from epsilond.calibrators.projected_sgd.batch_search import Feasible
from epsilond.calibrators.projected_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem
from tests.answers import codes, remembered
from tests.oracles.contraction import theta
from tests.oracles.golden import cases_by_id
from tests.theorems.hidden_states.test_projected_sgd import Instance

GOLDEN = cases_by_id("contraction")
BASE: dict[str, Any] = {
    "epsilon": 0.5,
    "delta": 1e-5,
    "clients": 100,
    "participants": 10,
    "dimension": 20,
    "lipschitz": 1.0,
    "radius": 1.0,
    "smoothness": 2.0,
    "step_schedule": Constant(value=0.5),
    "relation": "replace-one",
    "unit": "record",
    "observer": "final-model",
}
CURVED: dict[str, Any] = {"strong_convexity": 0.5, "smoothness": 2.0, "step_schedule": InverseTime(scale=2.0)}
BATCHES: dict[str, Any] = {"solve_for": "participants", "participants": None}
STEPS: dict[str, Any] = {"solve_for": "step_size", "step_schedule": None}


def problem(**changes: Any) -> ProjectedSgdProblem:
    return ProjectedSgdProblem(**{name: value for name, value in (BASE | changes).items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


def read(answer: Calibration, name: str, theorem: str = "") -> PrintedReading:
    return next(one for one in answer.readings if one.reading == name and one.theorem.startswith(theorem))


def log_delta(answer: Calibration, at: float, **changes: Any) -> float:
    """log δ of what the answer says to run, accounted for anew."""
    given, found = BASE | changes, answer.parameters
    names = ("clients", "lipschitz", "radius", "smoothness", "strong_convexity", "convex", "release")
    spec = ProjectedSgd(
        participants=found.participants,
        step_schedule=found.step_schedule,
        noise_schedule=found.noise_schedule,
        suffix_fraction=given.get("suffix_fraction"),
        **{name: given[name] for name in names if name in given},
    )
    relation = given.get("relation", "replace-one")
    return account(spec, relation=relation, observer="final-model").guarantee.curve.log_delta(at).upper


# The noise ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"strong_convexity": 0.5},
        {"smoothness": None},
        {"convex": False},
        {"smoothness": 10.0},
        {"release": "random-stop"},
        {"release": "suffix", "suffix_fraction": 0.3},
        {"relation": "zero-out-one"},
        {"noise_schedule": InverseTime(scale=7.0)},
        {"step_schedule": InverseTime(scale=0.9)},
        {"noise_schedule": Explicit(values=tuple(1.0 + k / 10 for k in range(10)))},
        {"participants": 100},
        {"participants": 30, "lipschitz": 3.0},
        {"delta": None, "log10_delta": -400.0},
    ],
    ids=str,
)
def test_the_noise_meets_the_target_and_hardly_less_does(changes: dict[str, Any]) -> None:
    answer = solved(**changes)
    target = problem(**changes).target
    assert log_delta(answer, 0.5, **changes) <= target.log_delta
    assert log_delta(answer, 0.5, **changes) >= target.log_delta - 2e-5 * (1.0 + abs(target.log_delta))
    assert answer.guarantee.minimal == "proved"
    found = answer.parameters
    assert found.noise_std == found.noise_schedule.least(found.rounds)
    assert found.mean_noise_std == pytest.approx(found.noise_std / math.sqrt(found.participants), rel=1e-15)
    assert found.noise_multiplier == pytest.approx(found.noise_std / changes.get("lipschitz", 1.0), rel=1e-15)


def test_the_golden_noise_of_theorem_2_stands_beside_a_smaller_one() -> None:
    case = GOLDEN["sigma-for"]
    printed = read(solved(), "statement", "asoodeh.2")
    assert printed.parameters["noise_std"] == pytest.approx(float(case["outputs"]["value"]), rel=1e-12)
    assert printed.status == "proved"
    answer = solved()
    assert answer.parameters.noise_std < 0.9 * printed.parameters["noise_std"]
    assert printed.true is not None
    assert printed.true.delta.upper < 1e-5


@pytest.mark.parametrize("curvature", [0.0, 0.7])
@pytest.mark.parametrize("release", ["last", "random-stop"])
def test_the_laws_on_a_line_lie_inside_what_is_certified(curvature: float, release: Any) -> None:
    # Slopes 1 and a curvature, on a ball of radius 1: gradients reach 1 + curvature.
    given = {
        "epsilon": 0.05,
        "delta": 0.1,
        "clients": 3,
        "participants": 1,
        "lipschitz": 1.0 + curvature,
        "smoothness": max(curvature, 0.1),
        "strong_convexity": curvature,
        "release": release,
    }
    answer = solved(**given)
    spec = ProjectedSgd(
        clients=3,
        participants=1,
        lipschitz=1.0 + curvature,
        radius=1.0,
        step_schedule=answer.parameters.step_schedule,
        noise_schedule=answer.parameters.noise_schedule,
        release=release,
    )
    truth = Instance({}, curvature, 0.0).truth(spec, 0.05)
    assert 0.0 < truth <= 0.1


# Printed bounds -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "refuted"),
    [
        ({}, set()),
        ({"strong_convexity": 0.5}, set()),
        ({"smoothness": 10.0}, {"statement"}),
        ({"smoothness": None}, {"statement"}),
        ({"convex": False}, {"statement", "strongly-convex"}),
        ({"step_schedule": InverseTime(scale=3.0)}, {"statement"}),
        ({"release": "random-stop", "smoothness": 10.0}, {"statement"}),
    ],
    ids=lambda value: str(sorted(value)),  # a set has no order of its own, and every process must list the same names
)
def test_radii_that_are_not_the_truth_are_refuted(changes: dict[str, Any], refuted: set[str]) -> None:
    answer = solved(**changes)
    smooth = changes.get("smoothness", 2.0) is not None
    assert {one.reading for one in answer.readings} == {"statement", "lipschitz"} | (
        {"smooth", "strongly-convex"} if smooth else set()
    )
    assert {one.reading for one in answer.readings if one.status == "refuted"} == refuted
    for one in answer.readings:
        assert one.true is not None
        if one.status == "proved":
            # What is proved is claimed with at least the noise that is certified, and holds there.
            assert one.parameters["noise_std"] >= answer.parameters.noise_std
            assert one.true.log10_delta.upper <= one.claims.log10_delta + 1e-12
        assert (one.status == "refuted") == any(
            condition.holds == "no" for condition in one.conditions if condition.id != "whole-steps"
        )
    assert ("printed-condition-fails" in codes(answer)) == bool(refuted)


def test_the_contraction_of_each_radius() -> None:
    answer = solved(strong_convexity=0.5, smoothness=3.0, noise_schedule=Constant(value=1.0))
    # η = 0.5, ρ = L = 1: 2ρ, 2(ρ + ηL), 2 min(ρ(1 + ηβ), ρ + ηL) and 2ρ max(|1 − ηλ|, |1 − ηβ|).
    diameters = {"statement": 2.0, "lipschitz": 3.0, "smooth": 3.0, "strongly-convex": 1.5}
    for name, diameter in diameters.items():
        found = read(answer, name).parameters
        assert found["image_diameter"] == pytest.approx(diameter, rel=1e-14)
        shift = diameter * math.sqrt(10) / (0.5 * found["noise_std"])
        assert found["contraction"] == pytest.approx(theta(0.5, shift), rel=1e-12)


def test_a_fraction_of_a_step_fails_a_condition_and_refutes_nothing() -> None:
    answer = solved(participants=30)
    printed = read(answer, "statement")
    assert printed.status == "proved"
    assert {one.id: one.holds for one in printed.conditions}["whole-steps"] == "no"
    assert {"printed-condition-fails", "clients-left-over"} <= codes(answer)


def test_a_refuted_radius_promises_what_nothing_certifies() -> None:
    # Steps of 0.5 on losses of smoothness 10: the image of the ball is four times as wide.
    printed = read(solved(smoothness=10.0, radius=0.5), "statement")
    assert printed.status == "refuted"
    assert printed.true is not None
    assert printed.claims.delta == 1e-5
    assert printed.true.delta.upper > 2e-5


def test_the_misprint_of_corollary_1_and_its_bound_11() -> None:
    answer = solved(**CURVED, clients=400)
    misprint, eleven = (read(answer, name, "asoodeh.corollary-1") for name in ("statement", "proof"))
    assert misprint.status == "refuted"
    assert eleven.status == "refuted"  # η_1 = 2 > 2/β: neither is proved here
    answer = solved(**(CURVED | {"smoothness": 1.0}), clients=400)
    misprint, eleven = (read(answer, name, "asoodeh.corollary-1") for name in ("statement", "proof"))
    assert (misprint.status, eleven.status) == ("refuted", "proved")
    assert misprint.parameters["noise_std"] < eleven.parameters["noise_std"]
    assert eleven.claims.excess_risk is not None
    assert answer.risk is not None
    assert answer.risk.upper is not None


def test_the_prescribed_noise_of_corollary_3() -> None:
    answer = solved(**(CURVED | {"smoothness": 1.0}), clients=10_000, participants=100, release="random-stop")
    printed = read(answer, "experimental")
    assert printed.parameters["noise_std"] == pytest.approx(10.0, rel=1e-12)
    assert printed.status == "proved"


def test_only_the_readings_that_are_asked_for_are_given() -> None:
    assert [one.reading for one in solved(readings=("smooth",)).readings] == ["smooth"]
    assert solved(readings=()).readings == ()


# Bounds side by side ------------------------------------------------------------------------------------------------
def test_the_least_bound_is_named_among_all_that_were_considered() -> None:
    answer = solved(strong_convexity=0.5)
    assert answer.considered is not None
    own = [one for one in answer.considered if one.observer == "final-model"]
    assert {one.theorem for one in own} == {
        "epsilond.hidden-is-composed",
        "asoodeh.2",
        "epsilond.projected-contraction",
        "epsilond.shifted-interpolation",
        "epsilond.shift-then-contract",
        "epsilond.sampled-shifted-interpolation",
    }
    values = {one.theorem: one.log10_delta for one in own if one.applies == "yes" and one.log10_delta is not None}
    winners = {one.theorem for one in own if one.least}
    assert winners
    assert all(values[name] == min(values.values()) for name in winners)
    assert answer.derivation[-1].theorem in winners
    assert values["epsilond.hidden-is-composed"] > min(values.values()) + 0.5
    assert all(one.reason for one in own if one.applies == "no")
    (beside,) = (one for one in answer.considered if one.observer != "final-model")
    assert (beside.observer, beside.applies, beside.least) == ("released-models", "yes", False)


def test_one_step_is_the_gaussian_mechanism_and_hides_nothing() -> None:
    answer = solved(participants=100)
    assert answer.considered is not None
    values = [one.log10_delta for one in answer.considered if one.applies == "yes"]
    assert values == pytest.approx([-5.0] * len(values), abs=1e-4)
    assert answer.guarantee.sampling == "full"


# The step size ------------------------------------------------------------------------------------------------------
def test_the_smallest_step_size() -> None:
    given = STEPS | {"epsilon": 0.01, "delta": 1e-4, "clients": 1000, "noise_schedule": Constant(value=20.0)}
    answer = solved(**given)
    step = answer.parameters.step_size
    assert answer.guarantee.minimal == "proved"
    assert log_delta(answer, 0.01, **given) <= math.log(1e-4)
    smaller = solved(**(given | {"solve_for": "noise_std", "step_schedule": Constant(value=step * 0.999)}))
    assert smaller.parameters.noise_std > 20.0
    falling = solved(**(given | {"step_schedule": InverseTime(scale=1.0), "noise_schedule": Constant(value=30.0)}))
    assert falling.parameters.step_schedule == InverseTime(scale=falling.parameters.step_size)
    assert falling.guarantee.log10_delta.upper <= -4.0


def test_any_step_size_where_the_noise_alone_hides() -> None:
    answer = solved(**STEPS, noise_schedule=Constant(value=5.0))
    assert "any-step-size" in codes(answer)
    assert answer.guarantee.minimal == "searched"


def test_no_step_size_where_the_noise_is_too_small() -> None:
    with pytest.raises(Infeasible) as caught:
        solved(**STEPS, noise_schedule=Constant(value=2.0))
    assert caught.value.nearest["epsilon"] > 0.5
    assert caught.value.condition is not None


# The batch size -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [
        {"noise_schedule": Constant(value=2.2)},
        {"noise_schedule": Constant(value=3.5), "step_schedule": InverseTime(scale=0.9)},
        {"noise_schedule": Constant(value=2.0), "smoothness": 10.0},
        {"noise_schedule": Constant(value=2.2), "release": "random-stop"},
        {"noise_schedule": Constant(value=2.2), "release": "suffix", "suffix_fraction": 0.3, "strong_convexity": 1.0},
        {"noise_schedule": Constant(value=2.4), "convex": False, "relation": "zero-out-one"},
        # Contraction is strong: small batches hide, and so do large ones.
        {"noise_schedule": Constant(value=6.0), "step_schedule": Constant(value=2.0), "smoothness": 1.0, "delta": 2e-3},
        {
            "noise_schedule": Constant(value=9.0),
            "step_schedule": Constant(value=3.0),
            "smoothness": 0.5,
            "epsilon": 0.05,
            "delta": 4e-3,
        },
    ],
    ids=str,
)
def test_every_batch_size_is_decided_as_one_by_one(changes: dict[str, Any]) -> None:
    given = {"clients": 60} | changes
    target = problem(**BATCHES, **given).target
    wanted = []
    for m in range(1, 61):
        spec = problem(**BATCHES, **given).spec(problem(**BATCHES, **given).plan(participants=m))
        relation = given.get("relation", "replace-one")
        curve = account(spec, relation=relation, observer="final-model").guarantee.curve
        if curve.bound_log_delta(target.epsilon).upper <= target.log_delta:
            wanted.append(m)
    answer = solved(**BATCHES, **given)
    ranges = answer.parameters.feasible_participants
    assert ranges is not None
    assert [m for one in ranges for m in range(one.least, one.most + 1)] == wanted
    assert answer.parameters.participants == wanted[0]
    assert answer.parameters.every_batch_size_tried is True
    assert answer.guarantee.minimal == "proved"


def test_batches_that_meet_the_target_need_not_be_an_interval() -> None:
    # Contraction is strong: small batches hide by it, large ones by their mean, those between do not.
    answer = solved(
        **BATCHES,
        clients=1024,
        epsilon=0.01,
        delta=5e-5,
        noise_schedule=Constant(value=20.0),
        step_schedule=Constant(value=2.0),
        smoothness=1.0,
    )
    ranges = answer.parameters.feasible_participants
    assert ranges == (Feasible(least=1, most=2), Feasible(least=229, most=1024))
    assert answer.parameters.participants == 1


def test_batches_of_a_million_clients() -> None:
    answer = solved(**BATCHES, epsilon=0.3, delta=1e-9, clients=10**6, noise_schedule=Constant(value=1.0))
    least = answer.parameters.participants
    assert answer.parameters.feasible_participants == (Feasible(least=least, most=10**6),)
    fewer = solved(epsilon=0.3, delta=1e-9, clients=10**6, participants=least - 1)
    enough = solved(epsilon=0.3, delta=1e-9, clients=10**6, participants=least)
    assert enough.parameters.noise_std <= 1.0 + 2e-6
    assert fewer.parameters.noise_std > 1.0


def test_many_batches_of_a_falling_schedule_are_tried_on_a_grid_and_said_to_be() -> None:
    given = {"epsilon": 0.3, "delta": 1e-9, "clients": 2000, "step_schedule": InverseTime(scale=0.5), "readings": ()}
    answer = solved(**BATCHES, **given, noise_schedule=Constant(value=1.0))
    assert answer.parameters.every_batch_size_tried is False
    assert answer.guarantee.minimal == "searched"
    assert {"participants-not-all-tried", "minimality-not-proved"} <= codes(answer)
    least = answer.parameters.participants
    noises = [solved(**given, participants=m).parameters.noise_std for m in (least - 1, least)]
    assert noises[1] <= 1.0 + 2e-6 < noises[0]


def test_no_batch_where_the_noise_is_too_small() -> None:
    with pytest.raises(Infeasible):
        solved(**BATCHES, noise_schedule=Constant(value=0.3))


# The risk -----------------------------------------------------------------------------------------------------------
def test_the_risk_of_corollary_1_counts_every_coordinate() -> None:
    answer = solved(**CURVED, gradient_bound=0.5, gradient_std=0.25, participants=30)
    assert answer.risk is not None
    upper = answer.risk.upper
    assert upper is not None
    # 2β(mD² + G² + dσ²)/(λ² mT), T = ⌊100/30⌋: ten clients take no part.
    noise = answer.parameters.noise_std
    expected = 2 * 2.0 * (30 * 0.25 + 0.0625 + 20 * noise**2) / (0.25 * 90)
    assert upper.value == pytest.approx(expected, rel=1e-12)
    assert (upper.constant, upper.theorem) == ("explicit", "asoodeh.corollary-1")
    assert "interior-minimiser" in {one.id for one in answer.all_declared}
    assert {"clients-left-over"} <= codes(answer)
    assert "assumed-gradient-bound" not in codes(answer)


def test_the_risk_of_corollary_2_is_a_rate_without_its_constant() -> None:
    given = CURVED | {"release": "random-stop", "clients": 50, "participants": 1}
    hidden, known = solved(**given), solved(**given, shamir_constant=3.0)
    bounds = [one.risk.upper for one in (hidden, known) if one.risk is not None]
    assert [one.constant for one in bounds if one] == ["hidden", "explicit"]
    assert "hidden-constant" in codes(hidden)
    first, second = (one.terms for one in bounds if one)
    assert second["optimisation"] == pytest.approx(3 * first["optimisation"], rel=1e-12)
    noise = hidden.parameters.noise_std
    harmonic = math.fsum(1 / t for t in range(1, 51))
    assert first["noise"] == pytest.approx(0.5 * 20 * 2.0 * harmonic * noise**2 / 50, rel=1e-12)
    batches = solved(**(given | {"participants": 5}), shamir_constant=3.0)
    assert batches.risk is not None
    assert batches.risk.upper is not None
    assert batches.risk.upper.constant == "hidden"
    assert "risk-unproved-for-batches" in codes(batches)


@pytest.mark.parametrize(
    "changes",
    [{}, {"strong_convexity": 0.5}, CURVED | {"release": "suffix", "suffix_fraction": 0.5}, {"convex": False}],
    ids=str,
)
def test_without_a_statement_there_is_no_risk(changes: dict[str, Any]) -> None:
    answer = solved(**changes)
    assert answer.risk is None
    assert "no-risk-for-this-run" in codes(answer)


# Problems that cannot be --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": None}, "/participants"),
        ({"participants": 101}, "/participants"),
        ({"step_schedule": None}, "/step_schedule"),
        ({"solve_for": "step_size"}, "/noise_schedule"),
        ({"solve_for": "participants", "noise_schedule": Constant(value=1.0)}, "/participants"),
        (BATCHES | {"noise_schedule": Explicit(values=(1.0,))}, "/noise_schedule/kind"),
        (BATCHES, "/noise_schedule"),
        ({"step_schedule": Explicit(values=(0.5,) * 9)}, "/step_schedule/values"),
        ({"release": "suffix"}, "/suffix_fraction"),
        ({"strong_convexity": 3.0}, "/strong_convexity"),
        ({"strong_convexity": 0.5, "convex": False}, "/strong_convexity"),
        ({"delta": None}, "/delta"),
        ({"readings": ("informal",)}, "/readings"),
        ({"radius": 0.0}, "/radius"),
    ],
    ids=str,
)
def test_problems_that_cannot_be(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.parametrize("changes", [{"relation": "add-or-remove-one"}, {"observer": "server"}], ids=str)
def test_what_no_theorem_covers_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConditionViolated):
        solved(**changes)


def test_too_long_schedules_are_refused_before_they_are_made() -> None:
    with pytest.raises(BeyondBudget):
        solved(clients=10**7, participants=1, step_schedule=InverseTime(scale=1.0))
    with pytest.raises(BeyondBudget):
        solved(clients=10**6, participants=1, step_schedule=InverseTime(scale=1.0), release="random-stop")
