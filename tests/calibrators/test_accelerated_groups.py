"""Both accelerated algorithms for clients that differ, and for a random number of them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators import accelerated_mb_sgd, one_pass_accelerated_mb_sgd
from epsilond.calibrators.accelerated_mb_sgd.calibrator import CALIBRATOR as REUSED
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR as PLAIN
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem
from epsilond.calibrators.one_pass_accelerated_mb_sgd.calibrator import CALIBRATOR as ONE_PASS
from epsilond.calibrators.risk.bounder import RiskBounder
from tests.answers import codes, remembered, risk_of
from tests.oracles import lowy

BASE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 100,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}
GROUPS: list[dict[str, Any]] = [
    {"clients": 60, "samples_per_client": 1000},
    {"clients": 30, "samples_per_client": 130, "epsilon": 0.5},
    {"clients": 10, "samples_per_client": 5000, "delta": 1e-6, "weight": 3.0, "lipschitz": 0.5},
]
SCALE = 100 / (90 + 3 * 10)
SLOPES = (SCALE, SCALE, 3 * 0.5 * SCALE)
LAW = [{"participants": 20, "probability": 0.5}, {"participants": 60, "probability": 0.5}]


@remembered
def reused(**changes: Any) -> Calibration:
    fields = {**BASE, "batch_size": 1000, "rounds": 50, "sampling": "full", **changes}
    return REUSED.solve(REUSED.problem(**{name: value for name, value in fields.items() if value is not None}))


@remembered
def one_pass(**changes: Any) -> Calibration:
    fields = {**BASE, "batch_size": 50, "rounds": 20, **changes}
    return ONE_PASS.solve(ONE_PASS.problem(**{name: value for name, value in fields.items() if value is not None}))


def test_what_clients_add_is_what_they_add_in_mb_sgd() -> None:
    ours = reused(client_groups=GROUPS)
    theirs = PLAIN.solve(
        MbSgdProblem(**{**BASE, "batch_size": 1000, "rounds": 50, "sampling": "full", "client_groups": GROUPS})
    )
    assert ours.guarantee == theirs.guarantee
    assert ours.derivation == theirs.derivation
    for one, other in zip(ours.parameters.groups, theirs.parameters.groups, strict=True):
        assert (one.noise_std, one.batch_size, one.guarantee) == (other.noise_std, other.batch_size, other.guarantee)
    told = as_json(ours)
    assert not {"noise_std", "noise_multiplier"} & told["parameters"].keys()
    assert {"noise-per-group", "guarantee-per-group"} <= codes(ours)
    json.dumps(told, allow_nan=False)


def test_one_pass_certifies_every_group_for_its_own_target() -> None:
    answer = one_pass(client_groups=GROUPS)
    for group, slope, asked in zip(answer.parameters.groups, SLOPES, GROUPS, strict=True):
        epsilon, delta = asked.get("epsilon", 1.0), asked.get("delta", 1e-5)
        curve = account(Gaussian(noise_multiplier=group.noise_multiplier), relation="replace-one").guarantee.curve
        assert curve.log_delta(epsilon).upper <= math.log(delta)
        assert group.guarantee.target.epsilon == epsilon
        assert group.lipschitz == pytest.approx(slope)
        assert group.noise_std == pytest.approx(group.noise_multiplier * slope / group.batch_size)
        assert group.batch_size * answer.parameters.rounds <= group.samples_per_client
        printed = lowy.mp.sqrt(32 * lowy.mpf(slope) ** 2 * lowy.ln(lowy.mpf("1.25") / lowy.mpf(delta)))
        assert group.printed_noise_std == pytest.approx(float(printed / epsilon / group.batch_size), rel=1e-11)
    assert [group.batch_size for group in answer.parameters.groups] == [50, 6, 250]
    assert answer.readings == ()
    assert {"printed-for-equal-clients", "noise-per-group", "guarantee-per-group"} <= codes(answer)


@pytest.mark.parametrize("solved", [reused, one_pass])
@pytest.mark.parametrize("law", [{"participants": 40}, {"participation": LAW}])
@pytest.mark.parametrize("more", [{}, {"strong_convexity": 0.2}, {"smoothness": None}])
def test_the_risk_is_that_of_the_groups(solved: Any, law: dict[str, Any], more: dict[str, Any]) -> None:
    """The same bound, asked as a theorem."""
    if solved is one_pass and "smoothness" in more:
        return
    answer = solved(client_groups=GROUPS, **law, **more)
    runs = [
        {
            "clients": group.clients,
            "samples_per_client": group.samples_per_client,
            "batch_size": group.batch_size,
            "noise_std": group.noise_std,
            "lipschitz": asked.get("lipschitz", 1.0),
            "weight": asked.get("weight", 1.0),
        }
        for group, asked in zip(answer.parameters.groups, GROUPS, strict=True)
    ]
    request = FEDERATED_ACCELERATED_RISK.request(
        client_groups=runs,
        participation=law.get("participation", [{"participants": 40, "probability": 1.0}]),
        rounds=answer.parameters.rounds,
        dimension=20,
        smoothness=more.get("smoothness", 1.0),
        strong_convexity=more.get("strong_convexity", 0.0),
        diameter=2.0,
        objective="empirical" if solved is reused else "population",
    )
    found = FEDERATED_ACCELERATED_RISK.evaluate(request)
    assert risk_of(answer) == pytest.approx(found.outputs["excess_risk"], rel=1e-9)
    assert answer.risk.upper.theorem == FEDERATED_ACCELERATED_RISK.id  # type: ignore[union-attr]
    assert all(one.holds != "no" for one in found.conditions)
    assert found.outputs["stages"] == [
        {"rounds": one.rounds, "prox_weight": pytest.approx(one.prox_weight)} for one in answer.parameters.stages
    ]


@pytest.mark.parametrize("solved", [reused, one_pass])
def test_one_group_of_all_clients_is_the_request_without_groups(solved: Any) -> None:
    plain = solved(participants=40)
    grouped = solved(participants=40, client_groups=[{"clients": 100, "samples_per_client": 1000}])
    assert grouped.guarantee == plain.guarantee
    assert grouped.parameters.noise_std == plain.parameters.noise_std
    assert risk_of(grouped) == pytest.approx(risk_of(plain), rel=1e-9)
    assert [one.true for one in grouped.readings] == [one.true for one in plain.readings]
    for one, other in zip(grouped.readings, plain.readings, strict=True):
        for name, value in other.parameters.items():
            assert one.parameters[name] == pytest.approx(value, rel=1e-12), name


@pytest.mark.parametrize("solved", [reused, one_pass])
def test_a_random_number_of_participants(solved: Any) -> None:
    """Its harmonic mean, 30 of 20 and 60, is what the bound and the printed statements see; bits are for the most."""
    answer, at_mean = solved(participation=LAW), solved(participants=30)
    assert risk_of(answer) == pytest.approx(risk_of(at_mean), rel=1e-9)
    assert answer.communication is not None
    assert answer.communication.total_bits == 2 * at_mean.communication.total_bits
    assert answer.communication.expected_total_bits == pytest.approx(at_mean.communication.total_bits * 4 / 3)
    for one, other in zip(answer.readings, at_mean.readings, strict=True):
        name = "informal_excess_risk_scale" if "informal_excess_risk_scale" in other.parameters else "excess_risk_scale"
        assert one.parameters[name] == pytest.approx(other.parameters[name], rel=0.02), one.reading


def test_printed_statements_show_the_group_whose_promise_they_keep_least() -> None:
    for smoothness, theorem in ((1.0, "lowy.e.1"), (None, "lowy.2.4")):
        answer = reused(client_groups=GROUPS, smoothness=smoothness, participation=LAW)
        assert [one.reading for one in answer.readings] == ["complete", "corrected"]
        for reading in answer.readings:
            assert reading.theorem == theorem
            assert reading.parameters["group"] in (0, 1, 2)
            target = GROUPS[int(reading.parameters["group"])]
            assert reading.claims.epsilon == target.get("epsilon", 1.0)
            assert reading.true is not None
            assert reading.true.epsilon.upper < reading.claims.epsilon
            conditions = {one.id: one.holds for one in reading.conditions}
            assert conditions["equal-shares"] == "yes"
            assert conditions["equal-clients"] == conditions["all-participate"] == "no"
    corrected = answer.readings[1]
    place = int(corrected.parameters["group"])
    n = GROUPS[place]["samples_per_client"]
    epsilon, log_delta = GROUPS[place].get("epsilon", 1.0), math.log(GROUPS[place].get("delta", 1e-5))
    sigma = lowy.sigma(SLOPES[place], n, epsilon, log_delta, int(corrected.parameters["rounds"]))
    assert corrected.parameters["noise_std"] == pytest.approx(float(sigma), rel=1e-12)


def test_rounds_of_one_pass_are_those_that_every_client_has_records_for() -> None:
    chosen = one_pass(client_groups=GROUPS, rounds=None, batch_size=None)
    assert all(
        group.batch_size * chosen.parameters.rounds <= group.samples_per_client for group in chosen.parameters.groups
    )
    assert chosen.parameters.rounds <= 130
    with pytest.raises(InvalidInput, match="times batch_size cannot exceed"):
        one_pass(client_groups=GROUPS, batch_size=1, rounds=131)
    with pytest.raises(InvalidInput, match="times batch_size cannot exceed"):
        one_pass(client_groups=[{**GROUPS[0], "clients": 100, "batch_size": 51}])


def test_open_rounds_of_unlike_clients_are_chosen_within_the_budget() -> None:
    bits = 32 * 20 * 100
    answer = reused(client_groups=GROUPS, rounds=None, communication_budget=100 * bits)
    assert answer.parameters.rounds <= 100
    for rounds in (5, 30, 100):
        assert risk_of(answer) <= risk_of(reused(client_groups=GROUPS, rounds=rounds)) * 1.1 * 1.002


def test_identical_distributions_differ_by_their_weights() -> None:
    weighted = [{"clients": 50, "samples_per_client": 1000}, {"clients": 50, "samples_per_client": 1000, "weight": 3.0}]
    even = [{**group, "weight": 1.0} for group in weighted]
    assert one_pass(client_groups=even, participants=40).risk.upper.terms["client_sampling"] == 0.0  # type: ignore[union-attr]
    assert one_pass(client_groups=weighted, participants=40).risk.upper.terms["client_sampling"] > 0.0  # type: ignore[union-attr]


def test_a_gap_is_at_most_the_mean_lipschitz_constant_times_the_diameter() -> None:
    mean = sum(group["clients"] * slope for group, slope in zip(GROUPS, SLOPES, strict=True)) / 100
    assert mean == pytest.approx(0.875)
    reused(client_groups=GROUPS, initial_gap=2 * mean * 0.999)
    with pytest.raises(InvalidInput, match="/initial_gap"):
        reused(client_groups=GROUPS, initial_gap=2 * mean * 1.001)


@pytest.mark.parametrize("home", [accelerated_mb_sgd, one_pass_accelerated_mb_sgd])
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"client_groups": [{"clients": 99, "samples_per_client": 1000}]}, "/client_groups"),
        ({"participation": LAW, "participants": 5}, "/participation"),
        ({"participation": [{"participants": 101, "probability": 1.0}]}, "/participation/0/participants"),
    ],
)
def test_federations_that_there_cannot_be(home: Any, changes: dict[str, Any], pointer: str) -> None:
    solved = reused if home is accelerated_mb_sgd else one_pass
    with pytest.raises(InvalidInput) as caught:
        solved(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


@pytest.mark.parametrize("calibrator", [REUSED, ONE_PASS])
def test_risk_bounds_of_groups(calibrator: Any) -> None:
    """Its noise is the root mean square over clients, and its bound that of the calibration."""
    part = calibrator.risk_bounds
    fields = {**BASE, "client_groups": GROUPS, "participation": LAW, "batch_size": 50, "rounds": 20}
    objective = "empirical" if calibrator is REUSED else "population"
    answer = calibrator.solve(calibrator.problem(**fields))
    asked = part.problem(**fields, problem=objective)
    found = RiskBounder(calibrator, part).solve(asked)
    explicit = next(one for one in found.upper if one.constant == "explicit")
    assert explicit.theorem == FEDERATED_ACCELERATED_RISK.id
    assert explicit.value == pytest.approx(risk_of(answer), rel=1e-9)
    assert "lower-bound-for-equal-clients" in {one.code for one in found.warnings}
