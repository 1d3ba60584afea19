"""mu2-sgd: exact noise for any participation, kinds of clients, the stated and the certified risk."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.power_sums import harmonic
from epsilond.accountants.specs import Composed, Gaussian, Repeated
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.theorems.risk.reshef_levy.certified_bound import certified_risk
from epsilond.calibrators.answer import Calibration, as_json
from epsilond.calibrators.mu2_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mu2_sgd.problem import Mu2SgdProblem
from tests.answers import codes, remembered

BASE: dict[str, Any] = {
    "epsilon": 4.0,
    "delta": 1e-5,
    "clients": 20,
    "participants": 4,
    "rounds": 2000,
    "dimension": 10,
    "lipschitz": 1.0,
    "smoothness": 0.25,
    "diameter": 2.0,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}
PATTERN: dict[str, Any] = {
    "kind": "pattern",
    "groups": [
        {"clients": 2, "rounds": [1, 2, 3]},
        {"clients": 1, "rounds": [2, 6]},
        {"clients": 1, "rounds": [4, 5, 6]},
        {"clients": 1, "rounds": []},
    ],
}
SMALL: dict[str, Any] = {"clients": 5, "participants": 3, "rounds": 6, "participation": PATTERN}


def problem(**changes: Any) -> Mu2SgdProblem:
    adversary = {"observer": "released-models"} if changes.get("server") == "trusted" else {}
    fields = {**BASE, **adversary, **changes}
    return Mu2SgdProblem(**{name: value for name, value in fields.items() if value is not None})


@remembered
def solved(**changes: Any) -> Calibration:
    return CALIBRATOR.solve(problem(**changes))


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one", "add-or-remove-one"])
def test_the_base_is_the_least_by_the_engines_own_composition(relation: Any) -> None:
    """A client of K reports, composed by account(): meets the target at the base, and misses it with a hair less."""
    answer = solved(rounds=40, relation=relation)
    assert answer.guarantee.minimal == "proved"
    assert answer.guarantee.tight == "proved"
    for scale, meets in ((1.0, True), (1.0 - 1e-9, False)):
        base = answer.parameters.noise_multiplier * scale
        spec = Composed(mechanisms=tuple(Gaussian(noise_multiplier=base * math.sqrt(k)) for k in range(1, 41)))
        upper = account(spec, relation=relation).guarantee.curve.bound_log_delta(4.0).upper
        assert (upper <= math.log(1e-5)) is meets
    factor = 2.0 if relation == "replace-one" else 1.0
    assert answer.guarantee.sensitivity == factor * 2.0
    exact = gaussian_noise_std_bounds(epsilon=4.0, log_delta=math.log(1e-5), sensitivity=factor * 2.0)
    assert answer.parameters.noise_std == pytest.approx(exact.upper * math.sqrt(harmonic(40)), rel=1e-11)
    assert ("absent-record-sends-noise" in {one.id for one in answer.all_declared}) is (factor == 1.0)


def test_a_trusted_server_adds_what_its_released_models_need() -> None:
    answer = solved(server="trusted", rounds=40)
    spec = Repeated(times=39, mechanism=Gaussian(noise_multiplier=answer.parameters.noise_multiplier))
    assert account(spec, relation="replace-one").guarantee.curve.bound_log_delta(4.0).upper <= math.log(1e-5)
    assert answer.guarantee.sensitivity == 2 * 2.0 / 4
    assert answer.parameters.noise_std == pytest.approx(answer.parameters.noise_multiplier * 2.0 / 4)
    assert answer.parameters.schedule.rule == "base_std"
    assert (answer.guarantee.definition, answer.guarantee.observer) == ("central", "released-models")
    assert answer.risk is not None
    assert answer.risk.upper is not None
    assert answer.risk.upper.theorem == "reshef.f.2"
    assert answer.risk.upper.value == pytest.approx(math.fsum(answer.risk.upper.terms.values()))
    assert answer.risk.upper.value < solved(rounds=40).risk.upper.value  # type: ignore[union-attr]
    with pytest.raises(InvalidInput):
        problem(server="trusted", observer="server")


def test_what_exactness_saves_is_said() -> None:
    for changes in ({}, {"epsilon": 0.1}, {"epsilon": 60.0, "delta": 1e-12}, {"server": "trusted"}):
        answer = solved(**changes)
        found = answer.parameters.conversion
        assert found.gaussian_dp_mu.lemma < found.gaussian_dp_mu.zcdp < found.gaussian_dp_mu.exact
        assert found.epsilon.exact < found.epsilon.zcdp < found.epsilon.lemma
        assert found.epsilon.exact == pytest.approx(answer.guarantee.target.epsilon, rel=1e-9)
        assert found.noise_over_exact > found.zcdp_noise_over_exact > 1.0
        statement, corrected = answer.readings
        assert statement.parameters["noise_std"] / corrected.parameters["noise_std"] == pytest.approx(
            found.noise_over_exact
        )
        assert corrected.parameters["noise_std"] > answer.parameters.noise_std


def test_a_target_mu_is_taken_as_it_is() -> None:
    answer = solved(epsilon=None, delta=None, gaussian_dp_mu=8.0)
    assert answer.parameters.gaussian_dp_mu == pytest.approx(8.0, rel=1e-13)
    assert answer.guarantee.epsilon.upper == pytest.approx(65.319, rel=1e-4)
    assert {"assumed-delta", "gaussian-dp-mu-is-not-zcdp-rho"} <= codes(answer)
    assert answer.readings[0].parameters["gaussian_dp_mu"] == 8.0
    told = solved(epsilon=None, delta=1e-9, gaussian_dp_mu=8.0)
    assert told.guarantee.target.delta == 1e-9
    assert "assumed-delta" not in codes(told)
    assert told.parameters.noise_std == answer.parameters.noise_std
    back = solved(epsilon=answer.guarantee.target.epsilon)
    assert back.parameters.noise_std == pytest.approx(answer.parameters.noise_std, rel=1e-9)


def test_every_kind_of_client_is_accounted_for() -> None:
    """Each group's ρ_i and ε are those of its own reports, composed by account()."""
    answer = solved(
        clients=60,
        participants=30,
        rounds=12,
        participation={
            "kind": "counts",
            "groups": [{"clients": 10, "participations": k} for k in (0, 1, 3, 6, 9, 10)],
        },
    )
    base, norm = answer.parameters.schedule.base_std, answer.parameters.clipping_norm
    assert answer.parameters.schedule.most_participations == 10
    for report in answer.parameters.client_reports:
        if report.participations == 0:
            assert (report.gaussian_dp_mu, report.epsilon.upper) == (0.0, 0.0)
            continue
        noises = [base / norm * math.sqrt(k) for k in range(1, report.participations + 1)]
        spec = Composed(mechanisms=tuple(Gaussian(noise_multiplier=z) for z in noises))
        true = account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(1e-5))
        assert report.epsilon.lower <= true.upper
        assert true.lower <= report.epsilon.upper
        assert report.epsilon.upper == pytest.approx(true.upper, rel=1e-9)
        assert report.epsilon.upper <= 4.0 * (1 + 1e-9)
        assert report.last_noise_std == base * math.sqrt(report.participations)
        assert report.least_noise_std == pytest.approx(base * math.sqrt(harmonic(report.participations) / harmonic(10)))
    assert "no-risk-for-this-participation" in codes(answer)
    assert answer.parameters.step_size is None


def test_drop_outs_break_cancellation_and_nothing_else() -> None:
    answer = solved(**SMALL)
    gone, late, new, absent = answer.parameters.client_reports
    assert (gone.last_round, gone.uncancelled_rounds, gone.longest_gap) == (3, 3, 1)
    assert (late.first_round, late.uncancelled_rounds, late.longest_gap) == (2, 0, 4)
    assert (new.first_round, new.participations) == (4, 3)
    assert gone.gaussian_dp_mu == new.gaussian_dp_mu == answer.parameters.gaussian_dp_mu
    assert any("never cancelled" in text for text in gone.not_protected)
    assert not any("never cancelled" in text for text in late.not_protected)
    assert absent.protected == ("everything: such a client sends nothing",)
    warning = next(one for one in answer.warnings if one.code == "noise-is-never-cancelled")
    assert warning.message.startswith("2 clients report no more")
    # The sum after the last round, simulated: each client's last noise is left.
    draw, base = np.random.default_rng(3), answer.parameters.schedule.base_std
    total = np.zeros(20_000)
    for group in PATTERN["groups"]:
        for _ in range(group["clients"]):
            held = np.zeros(20_000)
            for count, _ in enumerate(group["rounds"], start=1):
                fresh = base * math.sqrt(count) * draw.standard_normal(20_000)
                total += (fresh - held) / 3
                held = fresh
    assert total.std() == pytest.approx(answer.parameters.residual_noise_std, rel=0.03)


def test_a_trusted_server_and_clients_that_come_late() -> None:
    early, _, late, absent = solved(server="trusted", **SMALL).parameters.client_reports
    assert late.gaussian_dp_mu == pytest.approx(early.gaussian_dp_mu * math.sqrt(2 / 5), rel=1e-12)
    assert absent.gaussian_dp_mu == 0.0
    assert any("against the server" in text for text in early.not_protected)
    last = solved(
        server="trusted",
        clients=1,
        participants=1,
        rounds=3,
        participation={
            "kind": "pattern",
            "groups": [{"clients": 1, "rounds": [3]}],
        },
    )
    assert last.parameters.client_reports[0].gaussian_dp_mu == 0.0


def test_the_certified_risk_is_the_theorems_and_the_stated_one_is_judged() -> None:
    answer = solved()
    assert answer.risk is not None
    upper = answer.risk.upper
    assert upper is not None
    run = problem().federation
    there = certified_risk(run, step_size=answer.parameters.step_size, noise_variance=answer.parameters.noise_std**2)  # type: ignore[arg-type]
    assert there.total < upper.value < there.total * (1.0 + 1e-12)
    assert sum(upper.terms[name] for name in ("optimisation", "statistical", "noise")) == pytest.approx(upper.value)
    for reading in answer.readings:
        assert reading.status == "proved"
        assert reading.claims.excess_risk is not None
        assert upper.value < reading.parameters["certified_excess_risk"] < reading.claims.excess_risk
    open_ = solved(clients=10**6)
    assert all(reading.status == "unproved" for reading in open_.readings)
    assert {"stated-bound-unproved", "printed-condition-fails"} <= codes(open_)
    assert "stated-bound-unproved" not in codes(answer)
    always = solved(
        participants=20, rounds=9, participation={"kind": "counts", "groups": [{"clients": 20, "participations": 9}]}
    )
    assert always.risk is not None
    assert always.risk.upper is not None


def test_a_cap_needs_less_noise_and_says_so() -> None:
    capped = solved(participation={"kind": "uniform", "most_participations": 500})
    assert capped.parameters.noise_std == pytest.approx(
        solved().parameters.noise_std * math.sqrt(harmonic(500) / harmonic(2000)), rel=1e-12
    )
    assert {"participations-are-capped", "no-risk-for-this-participation"} <= codes(capped)


def test_rare_reports_are_said_not_to_be_worth_cancelling() -> None:
    assert "cancellation-does-not-pay" in codes(solved(rounds=30))
    assert "cancellation-does-not-pay" not in codes(solved())
    assert "cancellation-does-not-pay" not in codes(solved(rounds=30, server="trusted"))


def test_the_reason_to_clip_is_declared() -> None:
    answer = solved()
    assert answer.parameters.clipping_norm == 1.0 + 2 * 0.25 * 2.0
    clip = next(one for one in answer.all_declared if one.id == "client-clips")
    assert "an untrusted server need not send" in clip.statement


def test_a_million_clients_are_counts() -> None:
    groups = [{"clients": 1000, "participations": k} for k in range(1000)]
    asked = problem(clients=10**6, participants=10**6, rounds=10**6, participation={"kind": "counts", "groups": groups})
    answer = CALIBRATOR.solve(asked)
    assert sum(report.clients for report in answer.parameters.client_reports) == 10**6
    assert CALIBRATOR.cost(asked) == "search"
    assert CALIBRATOR.cost(problem(server="trusted")) == "closed-form"


def test_hard_corners_answer_in_json() -> None:
    corners: list[dict[str, Any]] = [
        {"rounds": 1},
        {"rounds": 1, "server": "trusted"},
        {"clients": 10**15, "participants": 10**6, "rounds": 10**15},
        {"epsilon": 1e-6, "delta": 0.5},
        {"epsilon": 1e6, "delta": None, "log10_delta": -300.0},
        {"epsilon": None, "delta": 0.999999, "gaussian_dp_mu": 1e-8},
        {"smoothness": 0.0, "optimum_gradient_norm": 0.0, "gradient_std": 0.0, "heterogeneity": 0.0},
        {"participants": None},
    ]
    for corner in corners:
        answer = solved(**corner)
        json.dumps(as_json(answer), allow_nan=False)
        assert answer.guarantee.log10_delta.upper <= answer.guarantee.target.log10_delta
        assert answer.risk is not None
        assert answer.risk.upper is not None
        assert answer.risk.upper.value > 0.0


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"gaussian_dp_mu": 1.0}, "/epsilon"),
        ({"epsilon": None}, "/epsilon"),
        ({"delta": None}, "/delta"),
        ({"log10_delta": -3.0}, "/delta"),
        ({"participants": 21}, "/participants"),
        ({"gradient_std": 1.5}, "/gradient_std"),
        ({"smoothness_heterogeneity": 0.3}, "/smoothness_heterogeneity"),
        ({"optimum_gradient_norm": 1.5}, "/optimum_gradient_norm"),
        ({"lipschitz": 1e110}, "/lipschitz"),
        ({"readings": ("proof",)}, "/readings"),
        ({"participation": {"kind": "counts"}}, "/participation/groups"),
        ({"participation": {"kind": "uniform", "groups": []}}, "/participation/groups"),
        ({"participation": {"kind": "uniform", "most_participations": 2001}}, "/participation/most_participations"),
        ({"participation": {"colour": 1}}, "/participation"),
        (
            {"participation": {"kind": "counts", "groups": [{"clients": 19, "participations": 1}]}},
            "/participation/groups",
        ),
        (
            {"participation": {"kind": "counts", "groups": [{"clients": 20, "rounds": [1]}]}},
            "/participation/groups/0/participations",
        ),
        (
            {"participation": {"kind": "counts", "groups": [{"clients": 20, "participations": 2001}]}},
            "/participation/groups/0/participations",
        ),
        (
            {"participation": {"kind": "counts", "groups": [{"clients": 20, "participations": 2000}]}},
            "/participation/groups",
        ),
        ({**SMALL, "participants": 2}, "/participation/groups"),
        ({**SMALL, "rounds": 5}, "/participation/groups/1/rounds"),
        (
            {"participation": {"kind": "pattern", "groups": [{"clients": 20, "rounds": [2, 2]}]}},
            "/participation/groups/0/rounds",
        ),
    ],
)
def test_problems_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}
