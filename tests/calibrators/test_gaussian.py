"""gaussian: each of the five unknowns, certified on the safe side, against published figures."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated, Infeasible, InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.gaussian.calibrator import CALIBRATOR
from epsilond.calibrators.gaussian.problem import GaussianProblem
from epsilond.calibrators.gaussian.risk_bounds import GaussianRiskProblem
from tests.answers import remembered
from tests.oracles.golden import stored

GOLDEN = stored("accounting")
POISSON: dict[str, Any] = {"relation": "add-or-remove-one", "sampling": "poisson"}
SETTING: dict[str, Any] = {"unit": "record", "observer": "server"}


@remembered
def solved(**fields: Any) -> Calibration:
    return CALIBRATOR.solve(GaussianProblem(**SETTING | fields))


@pytest.mark.parametrize("case", GOLDEN["calibrations"], ids=lambda case: case["id"])
def test_noise_against_the_golden_values(case: dict[str, Any]) -> None:
    names = ("epsilon", "delta", "rate", "rounds", "sampling", "relation")
    answer = solved(solve_for="noise_multiplier", **{name: case[name] for name in names})
    assert answer.parameters.noise_multiplier == pytest.approx(case["noise_multiplier"], rel=1e-4)
    assert answer.parameters.noise_multiplier >= case["noise_multiplier"] * (1 - 1e-9)
    assert answer.guarantee.minimal == "proved"


def test_rounds_are_rounded_to_the_safe_side() -> None:
    run = {**POISSON, "rate": 0.01, "noise_multiplier": 1.0}
    rounds = solved(solve_for="rounds", epsilon=2.13, delta=1e-6, **run).parameters.rounds
    within = solved(solve_for="epsilon", delta=1e-6, rounds=rounds, **run)
    beyond = solved(solve_for="epsilon", delta=1e-6, rounds=rounds + 1, **run)
    assert within.guarantee.epsilon.upper <= 2.13 < beyond.guarantee.epsilon.upper


def test_the_rate_of_a_fixed_size_batch_is_a_batch_size() -> None:
    run = {"relation": "replace-one", "sampling": "without-replacement", "noise_multiplier": 2.0, "rounds": 100}
    target = {"epsilon": 1.0, "delta": 1e-6}
    size = solved(solve_for="rate", population=1000, **target, **run).parameters.batch_size
    assert size is not None
    for batch_size, meets in ((size, True), (size + 1, False)):
        answer = solved(solve_for="delta", epsilon=1.0, batch_size=batch_size, population=1000, **run)
        assert (answer.guarantee.log10_delta.upper <= -6.0) == meets


def test_a_batch_with_replacement_is_no_larger_than_can_be_certified() -> None:
    """So much noise allows any batch, and no theorem covers more than 1e5 draws of each record."""
    run = {"relation": "replace-one", "sampling": "with-replacement", "noise_multiplier": 1e15, "rounds": 1}
    size = solved(solve_for="rate", population=2, epsilon=1.0, delta=1e-3, **run).parameters.batch_size
    assert size == 200_000


def test_a_poisson_rate_inverts_the_noise() -> None:
    run = {**POISSON, "rounds": 1000, "epsilon": 1.0, "delta": 1e-6}
    rate = solved(solve_for="rate", noise_multiplier=1.562665601448628, **run).parameters.rate
    assert rate == pytest.approx(0.01, rel=1e-3)


def test_a_full_batch_of_one_release_is_the_exact_mechanism() -> None:
    answer = solved(
        solve_for="epsilon",
        relation="add-or-remove-one",
        sampling="full",
        rounds=1,
        noise_multiplier=5.0,
        delta=1e-6,
    )
    assert answer.guarantee.epsilon.upper == pytest.approx(0.8341175486240523, rel=1e-9)
    assert answer.guarantee.epsilon.lower == pytest.approx(0.8341175486240523, rel=1e-9)


def test_the_relation_sets_the_sensitivity() -> None:
    run = {"sampling": "full", "rounds": 1, "epsilon": 1.0, "delta": 1e-5, "solve_for": "noise_multiplier"}
    added, replaced = solved(relation="add-or-remove-one", **run), solved(relation="replace-one", **run)
    assert replaced.parameters.noise_multiplier == pytest.approx(2 * added.parameters.noise_multiplier, rel=1e-8)
    assert (added.guarantee.sensitivity, replaced.guarantee.sensitivity) == (1.0, 2.0)


def test_a_delta_of_1e_300() -> None:
    run = {"relation": "replace-one", "sampling": "full", "rounds": 100, "noise_multiplier": 50.0}
    answer = solved(solve_for="epsilon", log10_delta=-300.0, **run)
    back = solved(solve_for="delta", epsilon=answer.parameters.epsilon, **run)
    assert back.guarantee.log10_delta.upper == pytest.approx(-300.0, rel=1e-9)


def test_rounds_of_a_rate_near_the_smallest_double_are_found() -> None:
    problem = GaussianProblem(
        relation="replace-one",
        unit="record",
        observer="server",
        solve_for="rounds",
        sampling="poisson",
        noise_multiplier=0.5,
        rate=1e-300,
        epsilon=10.5,
        delta=1e-9,
    )
    assert CALIBRATOR.solve(problem).guarantee.epsilon.upper <= 10.5


def test_no_round_meets_the_target() -> None:
    with pytest.raises(Infeasible) as caught:
        solved(
            solve_for="rounds",
            relation="replace-one",
            sampling="full",
            noise_multiplier=0.5,
            epsilon=0.1,
            delta=1e-9,
        )
    condition = caught.value.condition
    assert condition is not None
    assert condition.left is not None
    assert condition.right == pytest.approx(-9.0)
    assert condition.left > condition.right


@pytest.mark.parametrize(
    "run",
    [
        {"solve_for": "rounds", "sampling": "full", "noise_multiplier": 0.5, "epsilon": 0.1},
        {"solve_for": "rounds", "sampling": "poisson", "rate": 0.1, "noise_multiplier": 0.5, "epsilon": 0.1},
        {
            "solve_for": "rate",
            "sampling": "with-replacement",
            "population": 10,
            "rounds": 9,
            "noise_multiplier": 0.5,
            "epsilon": 0.1,
        },
    ],
)
def test_the_nearest_target_is_met(run: dict[str, Any]) -> None:
    with pytest.raises(Infeasible) as caught:
        solved(relation="replace-one", delta=1e-9, **run)
    nearest = dict(caught.value.nearest)
    assert nearest["epsilon"] > 0.1
    asked = {"relation": "replace-one", "delta": 1e-9, **run, **nearest}
    answer = solved(**asked)
    assert (answer.parameters.batch_size or answer.parameters.rounds) == 1


def test_where_no_epsilon_is_met_the_nearest_delta_is_told() -> None:
    run = {"solve_for": "epsilon", "relation": "replace-one", "sampling": "full", "noise_multiplier": 1.0}
    with pytest.raises(Infeasible) as caught:
        solved(rounds=499_999_329_000_000, log10_delta=-300.0, **run)
    nearest = dict(caught.value.nearest)
    assert -300.0 < nearest["log10_delta"] < -100.0
    assert solved(rounds=499_999_329_000_000, **run, **nearest).parameters.epsilon <= 1e15


def test_no_theorem_for_a_fixed_size_batch_under_add_or_remove() -> None:
    with pytest.raises(ConditionViolated):
        solved(
            solve_for="epsilon",
            relation="add-or-remove-one",
            sampling="without-replacement",
            batch_size=3,
            population=9,
            rounds=1,
            noise_multiplier=1.0,
            delta=1e-6,
        )


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"noise_multiplier": 1.0}, "/noise_multiplier"),
        ({"rounds": None}, "/rounds"),
        ({"delta": None}, "/delta"),
        ({"rate": None}, "/rate"),
        ({"rate": None, "batch_size": 3}, "/rate"),
        ({"sampling": "with-replacement"}, "/rate"),
        ({"sampling": "full"}, "/rate"),
        ({"sampling": "without-replacement", "rate": None, "batch_size": 11, "population": 10}, "/batch_size"),
        ({"relation": "swap-two"}, "/relation"),
    ],
)
def test_problems_that_are_not_posed(changes: dict[str, Any], pointer: str) -> None:
    fields = {
        **POISSON,
        "solve_for": "noise_multiplier",
        "rate": 0.1,
        "rounds": 10,
        "epsilon": 1.0,
        "delta": 1e-5,
    }
    merged = {name: value for name, value in {**fields, **changes}.items() if value is not None}
    with pytest.raises(InvalidInput) as caught:
        solved(**merged)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_what_the_observer_s_sight_of_the_draw_costs_is_told(sampling: str) -> None:
    counts = {"rate": 0.01} if sampling == "poisson" else {"batch_size": 10_000, "population": 1_000_000}
    run: dict[str, Any] = {"relation": "replace-one", "unit": "client", "sampling": sampling, "rounds": 2000, **counts}
    asked: dict[str, Any] = {"solve_for": "noise_multiplier", "epsilon": 2.0, "delta": 1e-8, **run}
    seen, unseen = (solved(observer=observer, **asked) for observer in ("server", "released-models"))
    (warning,) = [each for each in seen.warnings if each.code == "amplification-not-counted"]
    told = [float(figure) for figure in re.findall(r"noise_multiplier = ([0-9.]*[0-9])", warning.message)]
    assert told == pytest.approx([each.parameters.noise_multiplier for each in (seen, unseen)], rel=1e-3)
    assert all(figure >= each.parameters.noise_multiplier for figure, each in zip(told, (seen, unseen), strict=True))
    assert not [each for each in unseen.warnings if each.code == "amplification-not-counted"]
    assert (seen.guarantee.definition, unseen.guarantee.definition) == ("local", "central")


@pytest.mark.parametrize("unknown", ["rounds", "epsilon", "delta", "rate"])
def test_every_unknown_is_told_of_both_observers(unknown: str) -> None:
    run: dict[str, Any] = {"relation": "replace-one", "unit": "client", "sampling": "poisson", "noise_multiplier": 30.0}
    run |= {"rounds": 100, "rate": 0.01, "epsilon": 1.0, "delta": 1e-6}
    run.pop(unknown)
    seen, unseen = (solved(solve_for=unknown, observer=observer, **run) for observer in ("server", "released-models"))
    (warning,) = [each for each in seen.warnings if each.code == "amplification-not-counted"]
    name = {"epsilon": "ε", "delta": "log10 δ"}.get(unknown, unknown)
    here, there = (float(figure) for figure in re.findall(rf"{name} [=≤] (-?[0-9.e+-]*[0-9])", warning.message))
    field = "log10_delta" if unknown == "delta" else unknown
    figures = [getattr(each.parameters, field) for each in (seen, unseen)]
    assert [here, there] == pytest.approx(figures, rel=1e-3)
    safer = min if unknown in ("rounds", "rate") else max
    assert [safer(pair) for pair in zip((here, there), figures, strict=True)] == [here, there]


def test_a_draw_of_records_is_counted_before_every_observer() -> None:
    asked: dict[str, Any] = {**POISSON, "rate": 0.01, "rounds": 100, "epsilon": 1.0, "delta": 1e-6}
    asked["solve_for"] = "noise_multiplier"
    answers = [solved(observer=observer, **asked) for observer in ("server", "released-models")]
    assert len({each.parameters.noise_multiplier for each in answers}) == 1
    assert not [warning for each in answers for warning in each.warnings if "amplification" in warning.code]


def test_a_missing_field_names_the_unknown() -> None:
    with pytest.raises(InvalidInput, match="/rounds: is needed to solve for noise_multiplier"):
        solved(solve_for="noise_multiplier", sampling="full", epsilon=1.0, delta=1e-5, relation="replace-one")


TRUNCATED: dict[str, Any] = {
    **POISSON,
    "unit": "record",
    "observer": "released-models",
    "population": 10_000,
    "largest_batch": 120,
    "delta": 1e-6,
}


def account_of(answer: Calibration, relation: Any) -> Any:
    """Account for the run of an answer, as a spec that is written out here."""
    numbers = answer.parameters
    batch = Subsampled(
        sampling="poisson",
        rate=numbers.rate,
        population=numbers.population,
        largest_batch=numbers.largest_batch,
        mechanism=Gaussian(noise_multiplier=numbers.noise_multiplier),
    )
    run = Repeated(times=numbers.rounds, mechanism=batch)
    return account(run, relation=relation, unit="record", observer="released-models").guarantee


@pytest.mark.parametrize(
    "relation",
    [
        "add-or-remove-one",
        *(pytest.param(relation, marks=pytest.mark.slow) for relation in ("zero-out-one", "replace-one")),
    ],
)
@pytest.mark.parametrize(
    ("unknown", "given"),
    [
        ("noise_multiplier", {"rate": 0.01, "rounds": 200, "epsilon": 1.0}),
        ("rounds", {"rate": 0.01, "noise_multiplier": 2.0, "epsilon": 1.0}),
        ("rate", {"rounds": 200, "noise_multiplier": 2.0, "epsilon": 1.0}),
        ("epsilon", {"rate": 0.01, "rounds": 200, "noise_multiplier": 2.0}),
        ("delta", {"rate": 0.01, "rounds": 200, "noise_multiplier": 2.0, "epsilon": 1.0}),
    ],
)
def test_truncated_batches_are_certified_by_their_own_account(unknown: str, given: Any, relation: str) -> None:
    fields = TRUNCATED | given | {"relation": relation, "solve_for": unknown}
    if unknown == "delta":
        del fields["delta"]
    answer = solved(**fields)
    guarantee = account_of(answer, relation)
    assert "epsilond.truncated-poisson" in guarantee.theorems()
    log_delta = math.log(10.0) * answer.parameters.log10_delta
    certified = guarantee.curve.upper_log_delta(answer.parameters.epsilon)
    assert certified <= log_delta * (1.0 - 1e-9)
    assert certified >= log_delta - 0.1  # nothing is given away
    assert answer.parameters.largest_batch == 120


def test_truncation_needs_more_noise_than_poisson_batches_and_less_than_full_ones() -> None:
    run: dict[str, Any] = {"rate": 0.01, "rounds": 200, "epsilon": 1.0}
    few, plain = (
        solved(**TRUNCATED | run | change).parameters.noise_multiplier
        for change in ({"largest_batch": 100}, {"largest_batch": None, "population": None})
    )
    full = solved(
        **TRUNCATED | {"sampling": "full", "largest_batch": None, "population": None} | {"rounds": 200, "epsilon": 1.0}
    ).parameters.noise_multiplier
    assert plain < few < full
    whole = solved(**TRUNCATED | run | {"largest_batch": 10_000}).parameters.noise_multiplier
    assert whole == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"sampling": "without-replacement"}, "/largest_batch"),
        ({"sampling": "full"}, "/largest_batch"),
        ({"population": None}, "/population"),
        ({"batch_size": 100}, "/population"),
        ({"rate": None}, "/rate"),
        ({"solve_for": "rate", "noise_multiplier": 1.0}, "/rate"),
        ({"largest_batch": 0}, "/largest_batch"),
    ],
)
def test_a_largest_batch_needs_a_poisson_draw_from_a_known_number(change: Any, pointer: str) -> None:
    fields = TRUNCATED | {"rate": 0.01, "rounds": 200, "epsilon": 1.0} | change
    with pytest.raises(InvalidInput) as caught:
        GaussianProblem(**fields)
    assert pointer in [fault.pointer for fault in caught.value.faults]


def test_the_error_of_a_mean_is_not_bounded_for_truncated_batches() -> None:
    fields = TRUNCATED | {"rate": 0.01, "rounds": 200, "epsilon": 1.0, "dimension": 3}
    with pytest.raises(InvalidInput, match="biases the mean"):
        GaussianRiskProblem(**fields)
    GaussianRiskProblem(**fields | {"largest_batch": 10_000})
    GaussianRiskProblem(**fields | {"largest_batch": None, "population": None, "records": 10_000})


def test_other_clients_see_who_is_left_out() -> None:
    fields = TRUNCATED | {"rate": 0.01, "rounds": 200, "epsilon": 1.0}
    with pytest.raises(ConditionViolated, match="sees"):
        solved(**fields | {"unit": "client", "observer": "other-clients"})
