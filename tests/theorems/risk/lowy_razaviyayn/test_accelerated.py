"""Theorems E.1 and 2.4: golden cases, errata, conditions, and both against the explicit bound."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import ClientGroup, Federation
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import with_own_lipschitz
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import accelerated_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_informal import speedup
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescriptions import (
    complete_prescription,
    envelope_figures,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_reused import (
    THEOREM_2_4,
    THEOREM_E_1,
    EnvelopedInputs,
    SmoothReusedInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.reused_run import ReusedRun
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases_by_id, number
from tests.theorems.lowy_noise import noise_stds

CASES = cases_by_id("lowy")
SMOOTH: dict[str, Any] = dict(THEOREM_E_1.examples[0])
ROUGH: dict[str, Any] = dict(THEOREM_2_4.examples[0])


def smooth(**changes: Any) -> SmoothReusedInputs:
    return SmoothReusedInputs(**{**SMOOTH, **changes})


def rough(**changes: Any) -> EnvelopedInputs:
    return EnvelopedInputs(**{**ROUGH, **changes})


# Golden cases -------------------------------------------------------------------------------------------------------
def golden_run(name: str) -> ReusedRun:
    given = CASES[name]["inputs"]
    groups = tuple(
        ClientGroup(
            clients=1,
            samples_per_client=client["n"],
            batch_size=client["K"],
            epsilon=number(client["eps"]),
            log_delta=math.log(number(client["delta"])),
        )
        for client in given["clients"]
    )
    federation = Federation(groups=groups, counts=tuple((int(m), number(p)) for m, p in given["pmf"].items()))
    if name.startswith("te1"):
        own = (
            with_own_lipschitz(group, number(client["L"]))
            for group, client in zip(groups, given["clients"], strict=True)
        )
        federation = replace(federation, groups=tuple(own))
    return ReusedRun(
        federation=federation,
        dimension=given["d"],
        lipschitz=number(given.get("L", 1)),
        diameter=number(given["D"]),
        smoothness=number(given["beta"]) if "beta" in given else math.inf,
        strong_convexity=number(given.get("mu", 0)),
        gap=number(given.get("Delta", 1)),
        empirical_gradient_std=math.sqrt(given.get("Phi_hat2", 4)),
    )


def agree(found: dict[str, Any], name: str) -> None:
    expected = CASES[name]["outputs"]
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, str):
            assert found[key] == value
        else:
            assert found[key] == pytest.approx(value, rel=2e-12, abs=0.0), key


@pytest.mark.parametrize("name", ["te1-03", "te1-04"])
def test_golden_theorem_e_1(name: str) -> None:
    run = golden_run(name)
    found = complete_prescription(run)
    figures = found.figures
    assert figures is not None
    agree(
        {
            "R": found.rounds,
            "sigma2": [std * std for std in noise_stds(run.federation, lipschitz=run.lipschitz, rounds=found.rounds)],
            "V2": figures.variance,
            "branch": figures.aggregates.branch,
            "indicator": int(run.leaves_records_out("printed")),
            "lambda_printed": figures.regularization,
            "lambda_lemma_e11": 2.0 * figures.regularization,
            "bound30": math.fsum(figures.terms.values()),
            "bound31": found.excess_risk,
            **{f"term_{term}": figures.terms[term] for term in ("optimisation", "minibatch", "privacy")},
        },
        name,
    )


def test_golden_theorem_2_4_convex() -> None:
    run = golden_run("t24-03")
    found = complete_prescription(run)
    figures = found.figures
    assert figures is not None
    assert figures.envelope_smoothness is not None
    agree(
        {
            "R": found.rounds,
            "sigma2": [std * std for std in noise_stds(run.federation, lipschitz=run.lipschitz, rounds=found.rounds)],
            "V2": figures.variance,
            "branch": figures.aggregates.branch,
            "lambda_printed": figures.regularization,
            "lambda_lemma_e11": 2.0 * figures.regularization,
            "beta": figures.envelope_smoothness,
            "smoothing_gap": envelope_figures(run, figures.envelope_smoothness)["smoothing_gap"],
            "bound34_pre": math.fsum(figures.terms.values()),
            "bound34": found.excess_risk,
        },
        "t24-03",
    )


def test_golden_theorem_2_4_strongly_convex() -> None:
    run = golden_run("t24-04")
    found = complete_prescription(run)
    figures = found.figures
    assert figures is not None
    assert figures.envelope_smoothness is not None
    envelope = envelope_figures(run, figures.envelope_smoothness)
    agree(
        {
            "R": found.rounds,
            "sigma2": [std * std for std in noise_stds(run.federation, lipschitz=run.lipschitz, rounds=found.rounds)],
            "V2": figures.variance,
            "branch": figures.aggregates.branch,
            "beta": figures.envelope_smoothness,
            "smoothing_gap": envelope["smoothing_gap"],
            "envelope_strong_convexity": envelope["envelope_strong_convexity"],
            "bound35": math.fsum(figures.terms.values()),
            "bound36": found.excess_risk,
        },
        "t24-04",
    )
    evaluated = THEOREM_2_4.evaluate(rough(), "corrected")
    assert evaluated.outputs["rounds"] == 323
    assert {one.id: one.holds for one in evaluated.conditions}["logarithm"] == "yes"


def test_golden_informal() -> None:
    shared = {"variant": "informal", "batch_size": 100}
    found = THEOREM_E_1.evaluate(smooth(empirical_gradient_std=2.0, **shared)).outputs
    agree(
        {"R_real": found["prescribed_rounds"], "R": found["rounds"], "risk_scale": found["excess_risk_scale"]},
        "te1-01",
    )
    found = THEOREM_2_4.evaluate(rough(strong_convexity=0.0, **shared)).outputs
    agree(
        {
            "R_real": found["prescribed_rounds"],
            "R": found["rounds"],
            "risk_scale": found["excess_risk_scale"],
            "speedup_over_GDD21": found["speedup"],
        },
        "t24-01",
    )
    run = rough(strong_convexity=0.0, **shared).run("printed")
    assert speedup(run) == found["speedup"]


# Errata -------------------------------------------------------------------------------------------------------------
@pytest.mark.erratum("E-10")
def test_the_printed_rounds_forget_the_batch() -> None:
    """E-10: 12 rounds, or 855, at K = 100, n = 1000, M = N = 10, d = 20, Φ̂ = 2; the participants weigh no more there."""
    run = {"smoothness": 1e-6, "batch_size": 100, "empirical_gradient_std": 2.0}
    found = {
        reading: THEOREM_E_1.evaluate(smooth(**run), reading).outputs["rounds"] for reading in ("printed", "corrected")
    }
    assert found == {"printed": 855, "corrected": 12}


@pytest.mark.erratum("E-36")
@pytest.mark.parametrize("rounds", [None, 7, 500])
def test_the_second_term_of_34_is_printed_without_a_factor_of_two(rounds: int | None) -> None:
    """E-36: (34) has LD/√(MKR) although the V² of its λ has (2L)² for Φ̂²."""
    for reading, slope in (("printed", 2.0), ("corrected", 1.0)):
        inputs = rough(batch_size=100, strong_convexity=0.0, lipschitz=1.5, rounds=rounds)
        found = THEOREM_2_4.evaluate(inputs, reading).outputs  # type: ignore[arg-type]
        expected = oracle.second_term_of_34(L=1.5, D=inputs.diameter, M=10, K=100, R=found["rounds"])
        assert abs(found["minibatch_term"] / expected - 1) < mpf("1e-12")
        noise = inputs.dimension * found["noise_std"] ** 2 / 10
        assert found["gradient_variance"] == pytest.approx((slope * 1.5) ** 2 / 1000 + noise, rel=1e-12)


@pytest.mark.erratum("E-11")
def test_unequal_clients_do_not_average_to_the_objective() -> None:
    """E-11: two clients with n = 1 and n = 3: the deviations from the objective's gradient do not add to 0."""
    gradients = [np.asarray([1.0]), np.asarray([0.0, 0.5, -2.0])]
    objective = np.mean([each.mean() for each in gradients])
    deviations = np.concatenate(gradients) - objective
    assert abs(deviations.sum()) > 0.1
    balanced = [np.asarray([1.0, 0.2, 0.3]), np.asarray([0.0, 0.5, -2.0])]
    objective = np.mean([each.mean() for each in balanced])
    assert (np.concatenate(balanced) - objective).sum() == pytest.approx(0.0, abs=1e-12)
    # Divided by N in place of ñ, a mean of squares is n times as big.
    squares = (np.concatenate(balanced) - objective) ** 2
    assert squares.sum() / 2 == pytest.approx(3 * squares.mean())
    # Half the records of each of two clients, both of which take part: ±1, and 200 zeros. Every draw is tried.
    small, large = [1.0, -1.0], [0.0] * 200
    variance = np.mean([((drawn + np.mean(large)) / 2) ** 2 for drawn in small])
    assert variance == 0.25
    mean_square = np.mean(np.square(small + large))
    clients, batch = 2, 1
    assert mean_square / (clients * batch) < 0.005 < variance  # Lemma E.5
    over_clients = np.sum(np.square(small + large)) / clients
    assert variance <= over_clients / (clients * batch)  # Theorem E.1


@pytest.mark.compares("lowy.e.1")
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_client_sampling_needs_rounds_that_the_statement_does_not_count(mu: float) -> None:
    """E-12: with M < N and clients that differ the corrected reading asks for more rounds, and V² has their part."""
    inputs = smooth(participants=4, empirical_heterogeneity=0.5, strong_convexity=mu)
    printed, corrected = (THEOREM_E_1.evaluate(inputs, reading).outputs for reading in ("printed", "corrected"))
    alike = THEOREM_E_1.evaluate(smooth(participants=4, strong_convexity=mu), "corrected").outputs
    assert corrected["rounds"] > 1.5 * alike["rounds"]
    share = 0.25 / 4 * 6 / 9
    at_once = smooth(participants=4, empirical_heterogeneity=0.5, strong_convexity=mu, rounds=100)
    before, after = (
        THEOREM_E_1.evaluate(at_once, reading).outputs["gradient_variance"] for reading in ("printed", "corrected")
    )
    assert after - before == pytest.approx(share, rel=1e-9)
    assert corrected["clients_term"] == pytest.approx(
        share / (mu * corrected["rounds"]) if mu else math.sqrt(share / corrected["rounds"]), rel=1e-12
    )
    assert printed["clients_term"] == 0.0
    verdicts = {one.id: one.holds for one in THEOREM_E_1.evaluate(inputs).conditions}
    assert verdicts["all-participate"] == "no"


@pytest.mark.parametrize("seed", range(40))
def test_the_explicit_bound_is_within_a_constant_of_the_claim(seed: int) -> None:
    """At the prescribed rounds (six times them if μ > 0) and the printed noise what is hidden is below 40 (1400)."""
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(1, 5))
    clients = int(10 ** rng.uniform(0.4, 3))
    lipschitz, diameter = float(10 ** rng.uniform(-2, 2)), float(10 ** rng.uniform(-2, 2))
    curved = lipschitz / diameter
    mu = 0.0 if seed % 2 else curved * float(10 ** rng.uniform(-2, 0))
    smoothness = max(mu, curved * float(10 ** rng.uniform(-1, 3))) if seed % 4 < 2 else None
    inputs: dict[str, Any] = {
        "epsilon": float(10 ** rng.uniform(-1, 1)), "delta": 1e-6, "samples_per_client": n, "clients": clients,
        "participants": clients if seed % 3 else max(1, clients // 2), "batch_size": max(1, n // int(rng.integers(1, 4))),
        "dimension": int(10 ** rng.uniform(0, 3)), "lipschitz": lipschitz, "diameter": diameter,
        "strong_convexity": mu, "empirical_heterogeneity": lipschitz,
    }  # fmt: skip
    if smoothness is None:
        theorem: Any = THEOREM_2_4
        make: Any = EnvelopedInputs
    else:
        theorem, make = THEOREM_E_1, SmoothReusedInputs
        inputs["smoothness"] = smoothness
    found = theorem.evaluate(make(**inputs), "corrected").outputs
    if mu:
        found = theorem.evaluate(make(rounds=6 * found["rounds"], **inputs), "corrected").outputs
    problem = AcceleratedProblem(
        clients=clients,
        participants=inputs["participants"],
        samples_per_client=n,
        batch_size=inputs["batch_size"],
        dimension=inputs["dimension"],
        lipschitz=lipschitz,
        smoothness=smoothness or 1.0,
        strong_convexity=mu,
        initial_distance=diameter,
        diameter=diameter,
        initial_gap=lipschitz * diameter,
        objective="empirical",
        envelope_smoothness=found.get("envelope_smoothness"),
    )
    risk = accelerated_risk(problem, noise_std=found["noise_std"], rounds=found["rounds"])
    unit = found["excess_risk_scale"]
    # The noise alone is 256 dΨ/M: 16 √… of the convex unit, 256 of the strongly convex one.
    assert risk.total <= (1400.0 if mu else 40.0) * unit


@pytest.mark.compares("lowy.2.4")
def test_both_lipschitz_constants_of_the_envelope() -> None:
    printed, corrected = (
        THEOREM_2_4.evaluate(rough(batch_size=100), reading).outputs for reading in ("printed", "corrected")
    )
    assert (printed["envelope_lipschitz"], corrected["envelope_lipschitz"]) == (2.0, 1.0)


# Conditions and inputs ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("condition", "broken"),
    [
        ("epsilon-range", {"epsilon": 13.0}),
        ("minimal-batch-size", {"batch_size": 1, "rounds": 10}),
        ("drawn-once", {"sampling": "with-replacement"}),
        ("prescribed-rounds", {"rounds": 1}),
        ("all-participate", {"participants": 5, "empirical_heterogeneity": 0.1}),
        ("logarithm", {"strong_convexity": 1e-9}),
        ("initial-gap", {"initial_gap": 1.1}),
    ],
)
@pytest.mark.parametrize("theorem", [THEOREM_E_1, THEOREM_2_4], ids=lambda one: one.id)
def test_each_condition_fails_where_it_should(theorem: Any, condition: str, broken: dict[str, Any]) -> None:
    make = smooth if theorem is THEOREM_E_1 else rough
    before, after = (
        {one.id: one.holds for one in theorem.evaluate(make(**changes)).conditions} for changes in ({}, broken)
    )
    assert before[condition] == "yes"
    assert after[condition] == "no"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 11}, "/participants"),
        ({"batch_size": 1001}, "/batch_size"),
        ({"strong_convexity": 2.1}, "/strong_convexity"),
        ({"log10_delta": -5.0}, "/delta"),
        ({"empirical_gradient_std": 1e200}, "/empirical_gradient_std"),
        ({"initial_gap": 1e-200}, "/initial_gap"),
    ],
)
def test_what_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        smooth(**changes)
    assert [fault.pointer for fault in raised.value.faults] == [pointer]


@pytest.mark.parametrize("seed", range(20))
def test_rounds_and_terms_against_forty_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, clients = int(10 ** rng.uniform(0, 6)), int(10 ** rng.uniform(0.4, 5))
    participants = int(rng.integers(1, clients + 1))
    batch = max(1, int(n ** rng.random()))
    mu = 0.0 if seed % 2 else float(10 ** rng.uniform(-3, 0))
    inputs = smooth(
        samples_per_client=n, clients=clients, participants=participants, batch_size=batch, strong_convexity=mu,
        epsilon=float(10 ** rng.uniform(-2, 1)), dimension=int(10 ** rng.uniform(0, 4)),
        smoothness=float(10 ** rng.uniform(0, 3)), empirical_heterogeneity=0.3, initial_gap=0.7,
    )  # fmt: skip
    found = THEOREM_E_1.evaluate(inputs, "corrected").outputs

    def needed(rounds: int) -> Any:
        psi = oracle.xi(n, inputs.epsilon, inputs.log_delta, rounds)
        private = inputs.dimension * psi
        rest = mpf("0.3") ** 2 * (mpf(clients) - participants) / (clients - 1)
        sampled = (1 / mpf(batch) if participants * batch < n * clients else 0) + rest
        if mu:
            log = mp.log(mpf("0.7") * mpf(mu) * participants / private)
            return max(mp.sqrt(mpf(inputs.smoothness) / mpf(mu)) * log, sampled / private), private
        return max(mp.sqrt(inputs.smoothness * mp.sqrt(participants / private)), sampled / private), private

    rounds = found["rounds"]
    at, private = needed(rounds)
    assert rounds >= at * (1 - mpf("1e-12"))
    assert rounds == 1 or rounds - 1 < needed(rounds - 1)[0] * (1 + mpf("1e-12"))
    expected = private / participants / mpf(mu) if mu else mp.sqrt(private / participants)
    assert abs(mpf(found["excess_risk_scale"]) - expected) <= mpf("1e-12") * expected
