"""Theorems E.1 and 2.4 for clients that differ and a random number of them, client by client from the definitions."""

import math
from typing import Any

import pytest
from mpmath import mp

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_reused import THEOREM_2_4, THEOREM_E_1
from tests.oracles import lowy, lowy_reused

GROUPS = [
    {"clients": 3, "samples_per_client": 1000, "weight": 2.0},
    {"clients": 2, "samples_per_client": 500, "epsilon": 0.5, "delta": 1e-6, "lipschitz": 0.5},
    {"clients": 1, "samples_per_client": 4000, "epsilon": 2.0, "lipschitz": 3.0},
]
LAWS: list[list[dict[str, Any]]] = [
    [{"participants": 6, "probability": 1.0}],
    [{"participants": 1, "probability": 0.125}, {"participants": 4, "probability": 0.875}],
    [{"participants": 2, "probability": 0.5}, {"participants": 6, "probability": 0.5}],
]
BASE: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 6,
    "client_groups": GROUPS,
    "batch_size": 100,
    "dimension": 5,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "empirical_heterogeneity": 0.3,
}
SCALE = 6 / (3 * 2.0 + 2 + 1)
CLIENTS: list[lowy_reused.Client] = [
    *[(1000, 100, 1.0, math.log(1e-5), 2.0 * SCALE)] * 3,
    *[(500, 50, 0.5, math.log(1e-6), 0.5 * SCALE)] * 2,
    (4000, 400, 2.0, math.log(1e-5), 3.0 * SCALE),
]
LARGEST = 3.0 * SCALE


def evaluated(theorem: Any, reading: Reading, **changes: Any) -> Any:
    return theorem.evaluate(theorem.request(**{**BASE, **changes}), reading)


@pytest.mark.compares("lowy.e.1")
@pytest.mark.parametrize("law", range(3))
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("mu", [0.0, 0.02])
def test_theorem_e_1_client_by_client(law: int, reading: Reading, mu: float) -> None:
    found = evaluated(THEOREM_E_1, reading, participation=LAWS[law], strong_convexity=mu, smoothness=40.0).outputs
    expected = lowy_reused.statement(
        CLIENTS,
        [(one["participants"], one["probability"]) for one in LAWS[law]],
        d=5,
        D=2.0,
        beta=40.0 * 2.0 * SCALE,
        mu=mu * SCALE,
        gap=LARGEST * 2.0,
        phi=LARGEST,
        v=0.3,
        R=found["rounds"],
        printed=reading == "printed",
        own_noise=True,
    )
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), rel=1e-11), name
    assert found["rounds"] >= float(expected["prescribed_rounds"]) * (1 - 1e-12)


@pytest.mark.compares("lowy.2.4")
@pytest.mark.parametrize("law", range(3))
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("mu", [0.0, 0.02])
def test_theorem_2_4_client_by_client(law: int, reading: Reading, mu: float) -> None:
    found = evaluated(THEOREM_2_4, reading, participation=LAWS[law], strong_convexity=mu).outputs
    expected = lowy_reused.statement(
        CLIENTS,
        [(one["participants"], one["probability"]) for one in LAWS[law]],
        d=5,
        D=2.0,
        beta=None,
        mu=mu * SCALE,
        gap=LARGEST * 2.0,
        phi=LARGEST * (2 if reading == "printed" else 1),
        v=0.3,
        R=found["rounds"],
        printed=reading == "printed",
        own_noise=reading == "corrected",
    )
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), rel=1e-11), name


@pytest.mark.parametrize(("theorem", "more"), [(THEOREM_E_1, {"smoothness": 2.0}), (THEOREM_2_4, {})])
def test_every_client_adds_its_own_noise(theorem: Any, more: dict[str, Any]) -> None:
    """E.1 prints σ_i with L_i; 2.4 with the one L of its losses, which the largest bounds."""
    for reading in ("printed", "corrected"):
        found = evaluated(theorem, reading, rounds=40, **more).outputs
        own = theorem is THEOREM_E_1 or reading == "corrected"
        each = [CLIENTS[0], CLIENTS[3], CLIENTS[5]]
        for group, (n, K, epsilon, log_delta, slope) in zip(found["groups"], each, strict=True):
            L = slope if own else LARGEST
            expected = float(lowy.sigma(L, n, epsilon, log_delta, 40))
            assert group["noise_std"] == pytest.approx(expected, rel=1e-12)
            assert group["batch_size"] == K
            assert group["sensitivity"] == pytest.approx(2.0 * slope / K, rel=1e-12)
        assert found["noise_std"] == max(group["noise_std"] for group in found["groups"])


def test_equal_clients_as_groups_are_equal_clients() -> None:
    same = [{"clients": 4, "samples_per_client": 1000}, {"clients": 2, "samples_per_client": 1000, "weight": 1.0}]
    for theorem, more in ((THEOREM_E_1, {"smoothness": 2.0}), (THEOREM_2_4, {})):
        grouped = evaluated(theorem, "corrected", client_groups=same, participants=4, **more).outputs
        plain = evaluated(theorem, "corrected", client_groups=None, participants=4, **more).outputs
        for name, value in plain.items():
            assert grouped[name] == pytest.approx(value, rel=1e-12), name


def test_the_conditions_see_every_client() -> None:
    found = {one.id: one for one in evaluated(THEOREM_2_4, "printed", participation=LAWS[2]).conditions}
    everyone, equal, shares = found["all-participate"], found["equal-clients"], found["equal-shares"]
    assert (everyone.holds, everyone.left, everyone.right) == ("no", 2, 6)
    assert (equal.holds, equal.left, equal.right) == ("no", 500, 4000)
    assert shares.holds == "yes"
    apart = [{**GROUPS[0], "batch_size": 99}, *GROUPS[1:]]
    found = {one.id: one for one in evaluated(THEOREM_2_4, "printed", client_groups=apart).conditions}
    assert found["equal-shares"].holds == "no"


def test_full_batches_of_unlike_clients_have_no_sampling_variance() -> None:
    """The printed indicator takes the smallest batch for everyone's, and counts a variance that is not there."""
    full = [{**group, "batch_size": group["samples_per_client"]} for group in GROUPS]
    request = {"client_groups": full, "participants": 6, "smoothness": 2.0, "rounds": 30}
    printed, corrected = (evaluated(THEOREM_E_1, reading, **request).outputs for reading in ("printed", "corrected"))
    assert printed["minibatch_term"] > 0.0
    assert corrected["minibatch_term"] == corrected["clients_term"] == 0.0


def test_the_informal_statements_are_for_one_kind_of_client() -> None:
    for theorem, more in ((THEOREM_E_1, {"smoothness": 2.0}), (THEOREM_2_4, {})):
        with pytest.raises(InvalidInput, match="for equal clients"):
            evaluated(theorem, "printed", variant="informal", **more)
        law = [{"participants": 2, "probability": 0.5}, {"participants": 6, "probability": 0.5}]
        found = evaluated(theorem, "printed", variant="informal", client_groups=None, participation=law, **more)
        alike = evaluated(theorem, "printed", variant="informal", client_groups=None, participants=3, **more)
        assert found.outputs["excess_risk_scale"] == pytest.approx(alike.outputs["excess_risk_scale"])  # 1/E[1/M] = 3


@pytest.mark.parametrize("theorem", [THEOREM_E_1, THEOREM_2_4])
def test_clients_alike_only_in_epsilon_over_lipschitz_are_not_one_kind(theorem: Any) -> None:
    """ε = 1, L = 1 and ε = ½, L = ½ add the same noise, but are promised different things."""
    groups = [
        {"clients": 3, "samples_per_client": 1000},
        {"clients": 3, "samples_per_client": 1000, "epsilon": 0.5, "lipschitz": 0.5},
    ]
    more = {"smoothness": 2.0} if theorem is THEOREM_E_1 else {}
    if theorem is THEOREM_E_1:  # which adds the noise of ε_i and L_i in either reading
        found = evaluated(theorem, "printed", variant="informal", client_groups=groups, **more).outputs
        assert found["groups"][0]["noise_std"] == pytest.approx(found["groups"][1]["noise_std"], rel=1e-14)
    else:
        with pytest.raises(InvalidInput, match="for equal clients"):
            evaluated(theorem, "printed", variant="informal", client_groups=groups, **more)
    complete = evaluated(theorem, "corrected", client_groups=groups, **more).outputs
    assert complete["groups"][0]["noise_std"] == pytest.approx(complete["groups"][1]["noise_std"], rel=1e-14)
    assert complete["average_xi"] == pytest.approx(complete["largest_xi"], rel=1e-14)


def test_a_millionth_is_noticed() -> None:
    law = [(6, 1.0)]
    one = lowy_reused.statement(
        CLIENTS, law, d=5, D=2.0, beta=3.0, mu=0.0, gap=1.0, phi=1.0, v=0.0, R=9, printed=False, own_noise=True
    )
    moved = [(n, K, eps * (1 + 1e-6), log_delta, L) for n, K, eps, log_delta, L in CLIENTS]
    other = lowy_reused.statement(
        moved, law, d=5, D=2.0, beta=3.0, mu=0.0, gap=1.0, phi=1.0, v=0.0, R=9, printed=False, own_noise=True
    )
    assert abs(one["psi"] / other["psi"] - 1) > mp.mpf("1e-6")
