"""mb-sgd for clients that differ, and for a random number of them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1, SmoothInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK, FederatedInputs, GroupRun
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.members import members_of, spec_of
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Run
from tests.answers import codes, remembered
from tests.oracles.golden import cases

CASES = cases("lowy")
BASE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 100,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "batch_size": 1000,
    "rounds": 100,
    "sampling": "full",
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}
GROUPS: list[dict[str, Any]] = [
    {"clients": 60, "samples_per_client": 1000},
    {"clients": 30, "samples_per_client": 100, "epsilon": 0.5},
    {"clients": 10, "samples_per_client": 5000, "delta": 1e-6, "weight": 3.0, "lipschitz": 0.5},
]


def problem_of(**changes: Any) -> MbSgdProblem:
    fields = {**BASE, **changes}
    return MbSgdProblem(**{name: value for name, value in fields.items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem_of(**changes))


def test_every_group_is_certified_for_its_own_target() -> None:
    answer = solved(client_groups=GROUPS)
    problem = problem_of(client_groups=GROUPS)
    members = members_of(problem, Run(batch_size=1000, rounds=100))
    for member, group in zip(members, answer.parameters.groups, strict=True):
        guarantee = group.guarantee
        assert guarantee.target.epsilon == member.target.epsilon
        assert guarantee.epsilon.upper <= member.target.epsilon
        assert guarantee.log10_delta.upper <= member.target.log10_delta
        spec = spec_of(problem, member, group.noise_multiplier)
        true = account(spec, relation="replace-one").guarantee.curve.log_delta(member.target.epsilon)
        assert true.upper <= member.target.log_delta
        # σ is for the weighted loss: p N L over the batch, per unit of the noise multiplier (E-30).
        assert group.noise_std == pytest.approx(group.noise_multiplier * group.lipschitz / group.batch_size)
        assert guarantee.sensitivity == pytest.approx(2.0 * group.lipschitz / group.batch_size)
    scale = 100 / (90 + 3 * 10)
    assert [group.lipschitz for group in answer.parameters.groups] == pytest.approx(
        [scale, scale, 3.0 * 0.5 * scale], rel=1e-12
    )
    assert [group.batch_size for group in answer.parameters.groups] == [1000, 100, 5000]
    json.dumps(as_json(answer), allow_nan=False)


def test_the_headline_never_mixes_groups() -> None:
    """The noise of one group beside the ε of another would be true of nobody: what differs is left to the groups."""
    differing = solved(client_groups=GROUPS)
    told = as_json(differing)
    assert not {"noise_std", "noise_multiplier"} & told["parameters"].keys()
    assert "sensitivity" not in told["guarantee"]
    assert "noise-per-group" in codes(differing)
    assert all({"noise_std", "noise_multiplier"} <= group.keys() for group in told["parameters"]["groups"])
    assert all("sensitivity" in group["guarantee"] for group in told["parameters"]["groups"])
    alike = solved(client_groups=[{"clients": 60, "samples_per_client": 1000}, {**GROUPS[0], "clients": 40}])
    assert alike.parameters.noise_std == alike.parameters.groups[0].noise_std
    assert alike.guarantee.sensitivity == alike.parameters.groups[0].guarantee.sensitivity
    assert "noise-per-group" not in codes(alike)


def test_the_guarantee_of_all_is_the_weakest_and_encloses_the_worst_client() -> None:
    answer = solved(client_groups=GROUPS)
    assert "guarantee-per-group" in codes(answer)
    whole, groups = answer.guarantee, answer.parameters.groups
    assert (whole.target.epsilon, whole.target.log10_delta) == (1.0, -5.0)
    assert whole.epsilon.upper <= 1.0
    assert whole.log10_delta.upper <= -5.0
    problem = problem_of(client_groups=GROUPS)
    members = members_of(problem, Run(batch_size=1000, rounds=100))
    curves = [
        account(spec_of(problem, member, group.noise_multiplier), relation="replace-one").guarantee.curve
        for member, group in zip(members, groups, strict=True)
    ]
    worst = max(curve.epsilon(math.log(1e-5)).upper for curve in curves)
    assert whole.epsilon.lower <= worst * (1 + 1e-12)
    assert max(curve.epsilon(math.log(1e-5)).lower for curve in curves) <= whole.epsilon.upper
    assert max(curve.log_delta(1.0).lower for curve in curves) / math.log(10) <= whole.log10_delta.upper
    assert whole.log10_delta.lower <= max(curve.log_delta(1.0).upper for curve in curves) / math.log(10) + 1e-12
    assert (whole.tight, whole.minimal) == ("witnessed", "proved")
    alike = solved(
        client_groups=[{"clients": 50, "samples_per_client": 1000}, {"clients": 50, "samples_per_client": 9}]
    )
    assert alike.guarantee.tight == "proved"
    assert "guarantee-per-group" not in codes(alike)


def test_one_group_of_all_clients_is_the_request_without_groups() -> None:
    for smoothness in (1.0, None):
        plain = solved(smoothness=smoothness)
        grouped = solved(smoothness=smoothness, client_groups=[{"clients": 100, "samples_per_client": 1000}])
        assert grouped.guarantee == plain.guarantee
        assert grouped.parameters.noise_std == plain.parameters.noise_std
        assert grouped.risk is not None
        assert grouped.risk.upper is not None
        assert plain.risk is not None
        assert plain.risk.upper is not None
        assert grouped.risk.upper.value == pytest.approx(plain.risk.upper.value, rel=1e-9)
        assert [one.true for one in grouped.readings] == [one.true for one in plain.readings]


def test_the_risk_is_that_of_the_groups() -> None:
    answer = solved(client_groups=GROUPS, participants=40, sampling="without-replacement", batch_size=100)
    assert answer.risk is not None
    assert answer.risk.upper is not None
    groups = answer.parameters.groups
    found = FEDERATED_RISK.evaluate(
        FederatedInputs(
            client_groups=tuple(
                GroupRun(
                    clients=group.clients,
                    samples_per_client=group.samples_per_client,
                    batch_size=group.batch_size,
                    noise_std=group.noise_std,
                    lipschitz=asked.get("lipschitz", 1.0),
                    weight=asked.get("weight", 1.0),
                )
                for group, asked in zip(groups, GROUPS, strict=True)
            ),
            participation=[{"participants": 40, "probability": 1.0}],  # type: ignore[arg-type]
            rounds=100,
            dimension=20,
            smoothness=1.0,
            initial_distance=2.0,
            step_size=answer.parameters.step_size,
        )
    ).outputs
    assert answer.risk.upper.value == pytest.approx(found["excess_risk"], rel=1e-12)
    assert answer.risk.upper.terms["noise"] == pytest.approx(found["noise_term"], rel=1e-12)


def test_shares_of_the_batch_are_equal_unless_given() -> None:
    """F-07: K_i/n_i as in the request, to the nearest record; a share of its own fails the printed condition."""
    groups = [{"clients": 60, "samples_per_client": 1000}, {"clients": 40, "samples_per_client": 14}]
    shared: dict[str, Any] = {"sampling": "without-replacement", "batch_size": 250, "readings": ("complete",)}
    uneven = solved(client_groups=groups, **shared)
    assert [group.batch_size for group in uneven.parameters.groups] == [250, 4]
    (reading,) = uneven.readings
    share = next(one for one in reading.conditions if one.id == "equal-shares")
    assert (share.holds, share.left, share.right) == ("no", 0.25, 4 / 14)
    assert "printed-condition-fails" in codes(uneven)
    even = solved(client_groups=[groups[0], {**groups[1], "samples_per_client": 16}], **shared)
    share = next(one for one in even.readings[0].conditions if one.id == "equal-shares")
    assert (share.holds, share.left, share.right) == ("yes", 0.25, 0.25)
    own = solved(client_groups=[{**groups[0], "batch_size": 20}, groups[1]], **shared)
    assert [group.batch_size for group in own.parameters.groups] == [20, 4]


def test_the_complete_statement_for_unequal_clients_and_a_random_number_of_them() -> None:
    """Golden case t21-07, through the calibrator."""
    (case,) = (case for case in CASES if case["id"] == "t21-07")
    given, expected = case["inputs"], case["outputs"]
    answer = solved(
        clients=4,
        samples_per_client=1000,
        batch_size=100,
        sampling="without-replacement",
        dimension=given["d"],
        diameter=float(given["D"]),
        rounds=expected["R"],
        client_groups=[
            {
                "clients": 1,
                "samples_per_client": one["n"],
                "batch_size": one["K"],
                "epsilon": float(one["eps"]),
                "delta": float(one["delta"]),
            }
            for one in given["clients"]
        ],
        participation=[{"participants": int(m), "probability": float(p)} for m, p in given["pmf"].items()],
    )
    assert [one.reading for one in answer.readings] == ["complete", "proof", "experimental", "corrected"]
    *_, complete = answer.readings  # the golden case has M~ without its printed root
    assert complete.parameters["step_size"] == pytest.approx(expected["eta"], rel=1e-12)
    assert complete.claims.excess_risk == pytest.approx(expected["bound"], rel=1e-12)
    (asked,) = complete.evaluations
    found = THEOREM_2_1.evaluate(SmoothInputs(**asked.inputs), "corrected").outputs
    assert found["proof_excess_risk"] == pytest.approx(expected["bound_eq27"], rel=1e-12)
    assert found["mean_participants"] == pytest.approx(expected["M"], rel=1e-12)
    assert found["rms_participants"] == pytest.approx(expected["M_prime"], rel=1e-12)
    assert found["effective_participants"] == pytest.approx(expected["M_tilde"], rel=1e-12)
    assert found["xi"] == pytest.approx(expected["Xi_tilde"], rel=1e-12)
    assert [group.printed_noise_std**2 for group in answer.parameters.groups] == pytest.approx(
        expected["sigma2"], rel=1e-12
    )
    place = int(complete.parameters["group"])
    assert complete.parameters["noise_std"] ** 2 == pytest.approx(expected["sigma2"][place], rel=1e-12)
    assert all(
        one.holds == "yes" for one in complete.conditions if one.id not in ("prescribed-rounds", "client-sampling")
    )
    # The reading shows the group that is promised least well; none of the others comes closer to its ε.
    assert complete.true is not None
    assert complete.claims.epsilon == float(given["clients"][place]["eps"])


def test_random_participation_costs_what_it_costs_at_most_and_on_average() -> None:
    law = [{"participants": 10, "probability": 0.25}, {"participants": 50, "probability": 0.75}]
    answer, fixed = solved(participation=law), solved(participants=50)
    assert answer.communication is not None
    assert fixed.communication is not None
    assert answer.communication.total_bits == fixed.communication.total_bits == 32 * 20 * 50 * 100
    assert answer.communication.expected_total_bits == 32 * 20 * 40 * 100
    assert fixed.communication.expected_total_bits is None
    assert answer.guarantee == fixed.guarantee
    assert answer.risk is not None
    assert fixed.risk is not None
    assert answer.risk.upper is not None
    assert fixed.risk.upper is not None
    assert answer.risk.upper.value > fixed.risk.upper.value
    sure = solved(participation=[{"participants": 50, "probability": 1.0}])
    assert sure.risk == fixed.risk
    with pytest.raises(InvalidInput, match="does not pay for the rounds"):
        solved(participation=law, communication_budget=32 * 20 * 50 * 100 - 1)


def test_a_client_that_is_a_unit_and_batches_drawn_twice_are_certified_by_group() -> None:
    client = solved(unit="client", client_groups=GROUPS[:2], clients=90, sampling="poisson", batch_size=100)
    assert client.readings == ()
    assert client.guarantee.unit == "client"
    twice = solved(
        client_groups=GROUPS[:2], clients=90, sampling="with-replacement", batch_size=20, rounds=5, readings=()
    )
    assert twice.risk is None
    for group in twice.parameters.groups:
        assert group.guarantee.epsilon.upper <= group.guarantee.target.epsilon


def test_clients_that_differ_in_their_losses_are_said_to_fail_the_printed_premise() -> None:
    answer = solved(identically_distributed=False)
    for reading in answer.readings[:2]:
        assert next(one for one in reading.conditions if one.id == "identical-clients").holds == "no"
        assert reading.claims.excess_risk is None


def test_distinct_groups_are_searched_once() -> None:
    """Alike in n, K and target, and nothing else, is what a release is; full batches do not even see n and K."""
    problem = problem_of(client_groups=GROUPS)
    releases = {
        (spec_of(problem, member, 1.0), member.target) for member in members_of(problem, Run(batch_size=1000, rounds=9))
    }
    assert releases == {
        (spec_of(problem, member, 1.0), member.target) for member in members_of(problem, Run(batch_size=1, rounds=9))
    }
    assert {target for _, target in releases} == {
        Target.of(1.0, 1e-5, None),
        Target.of(0.5, 1e-5, None),
        Target.of(1.0, 1e-6, None),
    }
    assert CALIBRATOR.cost(problem) == "search"
    assert CALIBRATOR.cost(problem_of(client_groups=[{**GROUPS[0], "clients": 100}])) == "closed-form"
    assert CALIBRATOR.cost(problem_of(rounds=None)) == "search"


def test_a_million_clients_are_counts_and_no_rows() -> None:
    """What is certified of a group does not depend on how many it has."""
    many = solved(client_groups=[{**GROUPS[0], "clients": 10**15 - 40}, *GROUPS[1:]], clients=10**15, participants=1000)
    few = solved(client_groups=GROUPS, participants=100)
    assert [one.noise_multiplier for one in many.parameters.groups] == [
        one.noise_multiplier for one in few.parameters.groups
    ]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"client_groups": []}, "/client_groups"),
        ({"client_groups": GROUPS[:2]}, "/client_groups"),
        ({"client_groups": [{"clients": 100, "samples_per_client": 0}]}, "/client_groups/0/samples_per_client"),
        (
            {"client_groups": [{"clients": 100, "samples_per_client": 9, "delta": 0.1, "log10_delta": -1.0}]},
            "/client_groups/0/delta",
        ),
        (
            {"client_groups": [{"clients": 100, "samples_per_client": 9, "batch_size": 8}]},
            "/client_groups/0/batch_size",
        ),
        (
            {
                "sampling": "without-replacement",
                "client_groups": [{"clients": 100, "samples_per_client": 9, "batch_size": 10}],
            },
            "/client_groups/0/batch_size",
        ),
        ({"client_groups": [{"clients": 100, "samples_per_client": 9, "weight": 0.0}]}, "/client_groups/0/weight"),
        ({"client_groups": [{"clients": 100, "samples_per_client": 9, "colour": 1}]}, "/client_groups/0"),
        ({"participation": []}, "/participation"),
        ({"participation": [{"participants": 5, "probability": 0.9}]}, "/participation"),
        ({"participation": [{"participants": 101, "probability": 1.0}]}, "/participation/0/participants"),
        ({"participation": [{"participants": 5, "probability": 1.5}]}, "/participation/0/probability"),
        ({"participation": [{"participants": 5, "probability": 1.0}], "participants": 5}, "/participation"),
        (
            {
                "strong_convexity": 0.5,
                "client_groups": [{"clients": 100, "samples_per_client": 9, "lipschitz": 0.4}],
            },
            "/strong_convexity",
        ),
    ],
)
def test_groups_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem_of(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}
