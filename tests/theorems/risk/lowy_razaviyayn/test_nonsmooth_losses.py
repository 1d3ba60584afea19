"""Theorem 2.2: what it prescribes against 40-digit formulas, its conditions at their edges, errata and golden cases."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroup, Federation
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import aggregates, epsilon_limit
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import DescentRun, informal
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.nonsmooth_losses import (
    THEOREM_2_2,
    NonsmoothInputs,
    complete_convex_envelope,
    complete_strongly_convex_envelope,
)
from epsilond.accountants.verdict import Verdict
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases
from tests.theorems.lowy_noise import proved_risk

CASES = cases("lowy")
INFORMAL = [case for case in CASES if case["function"].startswith("thm22")]
EXAMPLE: dict[str, Any] = dict(THEOREM_2_2.examples[0])
LOG_DELTA = math.log(1e-5)
LOSS: dict[str, Any] = {"dimension": 20, "lipschitz": 1.0, "diameter": 1.0}


def equal_clients(**changes: Any) -> Federation:
    given = {"clients": 10, "participants": 10, "samples_per_client": 1000, "batch_size": 100, "epsilon": 1.0}
    return Federation.of_equal_clients(**{**given, "log_delta": LOG_DELTA, **changes})


def random_instance(seed: int) -> tuple[Federation, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    clients, n = int(10 ** rng.uniform(0, 4)), int(10 ** rng.uniform(0, 6))
    federation = Federation.of_equal_clients(
        clients=clients,
        participants=clients if seed % 2 else int(rng.integers(1, clients + 1)),
        samples_per_client=n,
        batch_size=max(1, int(n ** rng.random())),
        epsilon=float(10 ** rng.uniform(-2, 1)),
        log_delta=-float(10 ** rng.uniform(0, 3)),
    )
    loss = {
        "dimension": int(10 ** rng.uniform(0, 4)),
        "lipschitz": float(10 ** rng.uniform(-2, 2)),
        "diameter": float(10 ** rng.uniform(-2, 2)),
    }
    return federation, loss


@pytest.mark.compares("lowy.2.2")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in INFORMAL])
def test_golden(case: dict[str, Any]) -> None:
    """t22-01 and t22-02: the informal statements; the batch is free there, and R does not depend on it."""
    given, expected = case["inputs"], case["outputs"]
    inputs = NonsmoothInputs(
        variant="informal",
        epsilon=given["eps"],
        delta=float(given["delta"]),
        samples_per_client=given["n"],
        clients=given["M"],
        participants=given["M"],
        batch_size=given["n"],
        dimension=given["d"],
        lipschitz=given["L"],
        diameter=given["D"],
        strong_convexity=float(given.get("mu", 0)),
    )
    evaluation = THEOREM_2_2.evaluate(inputs)
    found = evaluation.outputs
    assert found["prescribed_rounds"] == pytest.approx(expected["R_real"], rel=1e-12)
    assert found["rounds"] == expected["R"]
    assert found["excess_risk_scale"] == pytest.approx(expected["risk_scale"], rel=1e-12)
    if "log_argument" in expected:
        assert found["logarithm_argument_term"] == pytest.approx(expected["log_argument"], rel=1e-12)
    assert all(condition.holds != "no" for condition in evaluation.conditions)


def test_both_golden_cases_are_there() -> None:
    assert len(INFORMAL) == 2


@pytest.mark.erratum("E-17")
@pytest.mark.parametrize("seed", range(40))
def test_half_of_545_stands_and_174_and_a_half_is_proved(seed: int) -> None:
    """E-17: 272.5 with the L-Lipschitz envelope; ours on the envelope, client sampling included, plus the gap."""
    federation, loss = random_instance(seed)
    found = complete_convex_envelope(DescentRun(federation=federation, **loss))
    printed = complete_convex_envelope(
        DescentRun(federation=federation, **loss), rounds=found.rounds, reading="printed"
    )
    unit = found.terms["unit"]
    assert found.excess_risk == pytest.approx(272.5 * unit, rel=1e-12)
    printed_unit = printed.terms["unit"]
    assert printed.excess_risk_at_effective_participants == pytest.approx(545.0 * printed_unit, rel=1e-12)
    assert found.envelope_smoothness is not None
    risk = proved_risk(federation, loss, found, smoothness=found.envelope_smoothness)
    gap = envelope_gap(lipschitz=loss["lipschitz"], envelope_smoothness=found.envelope_smoothness)
    assert gap == pytest.approx(0.5 * unit, rel=1e-12)
    assert risk + gap <= 174.5 * unit < found.excess_risk


@pytest.mark.parametrize("seed", range(40))
def test_the_convex_statement_in_forty_digits(seed: int) -> None:
    federation, loss = random_instance(seed)
    found = complete_convex_envelope(DescentRun(federation=federation, **loss))
    (group,) = federation.groups
    participants, length, slope = federation.participation.mean, loss["diameter"], loss["lipschitz"]

    def squared_rate(rounds: int) -> Any:
        value = oracle.xi(group.samples_per_client, group.epsilon, group.log_delta, rounds)
        return max(1 / mpf(group.samples_per_client), loss["dimension"] * value)

    nu = mp.sqrt(squared_rate(found.rounds))
    close = mpf("1e-12")
    assert found.envelope_smoothness is not None
    smoothness = slope * mp.sqrt(participants) / (length * nu)
    assert abs(found.envelope_smoothness / smoothness - 1) < close
    step = min(1 / (4 * smoothness), length * mp.sqrt(participants) / (slope * found.rounds * nu))
    assert found.step_size is not None
    assert abs(found.step_size / step - 1) < close
    assert found.rounds >= participants / squared_rate(found.rounds) * (1 - close)
    if found.rounds > 1:
        assert found.rounds - 1 < participants / squared_rate(found.rounds - 1) * (1 + close)


@pytest.mark.parametrize("seed", range(30))
def test_the_strongly_convex_statement_in_forty_digits(seed: int) -> None:
    federation, loss = random_instance(seed)
    mu = 2.0 * loss["lipschitz"] / loss["diameter"] * float(np.random.default_rng(seed).random())
    found = complete_strongly_convex_envelope(DescentRun(federation=federation, strong_convexity=mu, **loss))
    (group,) = federation.groups
    participants = mpf(federation.participation.mean)
    n, d, slope, length = group.samples_per_client, loss["dimension"], loss["lipschitz"], loss["diameter"]

    def needed(rounds: int) -> tuple[Any, Any]:
        value = oracle.xi(n, group.epsilon, group.log_delta, rounds)
        smoothness = mu * participants / max(1 / mpf(n), d * value)
        argument = smoothness * length**2 * mu * participants / (d * mpf(slope) ** 2 * value)
        return smoothness, max(8 * smoothness / mu * mp.log(argument), 1 / (d * value))

    smoothness, right = needed(found.rounds)
    close = mpf("1e-11")
    assert found.envelope_smoothness is not None
    assert abs(found.envelope_smoothness / smoothness - 1) < close
    assert found.rounds >= right * (1 - close)
    if found.rounds > 1:
        assert found.rounds - 1 < needed(found.rounds - 1)[1] * (1 + close)
    assert found.terms["smoothing_gap"] == pytest.approx(float(slope**2 / (2 * smoothness)), rel=1e-12)


@pytest.mark.erratum("E-34")
@pytest.mark.parametrize("seed", range(40))
def test_the_printed_bound_has_the_plain_number_of_participants(seed: int) -> None:
    """E-34: 545 L D ν/√M as printed, in forty digits; √M~ stands in b and η, and in the corrected bound."""
    rng = np.random.default_rng(seed)
    equal, loss = random_instance(seed)
    (group,) = equal.groups
    few = max(1, group.clients // 7)
    federation = replace(equal, counts=((few, 0.3), (group.clients, 0.7)) if group.clients > few else ((few, 1.0),))
    rounds = int(10 ** rng.uniform(0, 6))
    found = complete_convex_envelope(DescentRun(federation=federation, **loss), rounds=rounds, reading="printed")
    expected = oracle.complete_convex_envelope_printed(
        groups=[(group.clients, group.samples_per_client, group.epsilon, group.log_delta)],
        law=federation.counts,
        d=loss["dimension"],
        D=loss["diameter"],
        L=loss["lipschitz"],
        R=rounds,
    )
    assert found.envelope_smoothness is not None
    assert found.excess_risk_at_effective_participants is not None
    assert abs(found.excess_risk / expected["bound"] - 1) < mpf("1e-12")
    assert abs(found.excess_risk_at_effective_participants / expected["bound_at_tilde"] - 1) < mpf("1e-12")
    assert abs(found.envelope_smoothness / expected["b"] - 1) < mpf("1e-12")
    corrected = complete_convex_envelope(DescentRun(federation=federation, **loss), rounds=rounds)
    assert abs(corrected.excess_risk / expected["corrected_bound"] - 1) < mpf("1e-12")


@pytest.mark.erratum("E-17")
def test_the_steps_use_the_strong_convexity_of_the_envelope() -> None:
    """E-17: weights grow by 1/(1 − ημ_b), μ_b = μb/(μ + b), and printed by 1/(1 − ημ)."""
    for reading in ("printed", "corrected"):
        found = complete_strongly_convex_envelope(
            DescentRun(
                federation=equal_clients(participants=2, clients=2, samples_per_client=3, batch_size=3),
                strong_convexity=0.5,
                **LOSS,
            ),
            reading=reading,  # type: ignore[arg-type]
        )
        assert found.step_size is not None
        assert found.envelope_smoothness is not None
        kept = envelope_strong_convexity(strong_convexity=0.5, envelope_smoothness=found.envelope_smoothness)
        used = kept if reading == "corrected" else 0.5
        assert kept < 0.45
        assert found.averaging_ratio == pytest.approx(1.0 / (1.0 - found.step_size * used), rel=1e-12)


@pytest.mark.erratum("E-29")
def test_the_printed_logarithm_has_the_other_participants() -> None:
    """E-29: where ξ_max is chosen, M~ is M, and M' < M stands in the printed logarithm."""
    few = ClientGroup(clients=1, samples_per_client=900, batch_size=9, epsilon=1.0, log_delta=LOG_DELTA)
    many = replace(few, clients=99, samples_per_client=1000, batch_size=10)
    federation = Federation(groups=(few, many), counts=((1, 0.5), (100, 0.5)))
    assert aggregates(federation, 100).branch == "largest"
    arguments = {}
    for reading in ("printed", "corrected"):
        found = complete_strongly_convex_envelope(
            DescentRun(federation=federation, strong_convexity=0.1, **LOSS),
            rounds=10**5,
            reading=reading,  # type: ignore[arg-type]
        )
        assert found.envelope_smoothness is not None
        arguments[reading] = found.terms["logarithm_argument"] / found.envelope_smoothness
    moments = federation.participation
    assert moments.rms < moments.mean
    assert arguments["printed"] / arguments["corrected"] == pytest.approx(moments.rms / moments.mean, rel=1e-12)


def test_an_informal_envelope_has_no_step() -> None:
    found = informal(DescentRun(federation=equal_clients(), **LOSS))
    assert (found.step_size, found.envelope_smoothness) == (None, None)


FEW = {**EXAMPLE, "rounds": 2, "batch_size": 1000}
LIMIT = epsilon_limit(log_delta=LOG_DELTA, reading="complete")
EDGES = [
    ("epsilon-range", {**EXAMPLE, "epsilon": LIMIT}, {**EXAMPLE, "epsilon": LIMIT * (1 + 1e-12)}),
    ("minimal-batch-size", {**FEW, "batch_size": 36}, {**FEW, "batch_size": 35}),
    (
        "drawn-once",
        {**EXAMPLE, "batch_size": 1, "sampling": "with-replacement"},
        {**EXAMPLE, "batch_size": 2, "sampling": "with-replacement"},
    ),
    ("prescribed-rounds", {**EXAMPLE, "rounds": 684}, {**EXAMPLE, "rounds": 683}),
    (
        "equal-shares",
        {**EXAMPLE, "client_groups": [{"clients": 5, "samples_per_client": n} for n in (1000, 2000)]},
        {
            **EXAMPLE,
            "client_groups": [
                {"clients": 5, "samples_per_client": 1000},
                {"clients": 5, "samples_per_client": 2000, "batch_size": 201},
            ],
        },
    ),
    ("claim-proved", {**EXAMPLE, "rounds": 12}, {**EXAMPLE, "rounds": 11}),
    (
        "logarithm",
        {**EXAMPLE, "variant": "informal", "strong_convexity": 1.0001e-3 / math.sqrt(5000)},
        {**EXAMPLE, "variant": "informal", "strong_convexity": 0.9999e-3 / math.sqrt(5000)},
    ),
]


@pytest.mark.parametrize(("name", "holding", "failing"), EDGES, ids=[edge[0] for edge in EDGES])
def test_a_condition_holds_up_to_its_edge_and_fails_beyond(
    name: str, holding: dict[str, Any], failing: dict[str, Any]
) -> None:
    for fields, holds in ((holding, True), (failing, False)):
        evaluation = THEOREM_2_2.evaluate(NonsmoothInputs(**fields))
        (result,) = (one for one in evaluation.conditions if one.id == name)
        assert result.holds == Verdict.of(holds)
        assert result.left is not None
        assert result.right is not None


def test_every_checked_condition_has_its_edge() -> None:
    assert {one.id for one in THEOREM_2_2.conditions if one.checked} == {edge[0] for edge in EDGES}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 11}, "/participants"),
        ({"batch_size": 1001}, "/batch_size"),
        ({"strong_convexity": 2.1}, "/strong_convexity"),
        ({"log10_delta": -3.0}, "/delta"),
        ({"lipschitz": 1e-101}, "/lipschitz"),
    ],
)
def test_inputs_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        NonsmoothInputs(**{**EXAMPLE, **changes})
    assert pointer in {fault.pointer for fault in caught.value.faults}
