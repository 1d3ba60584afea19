"""Theorem 2.3: golden cases, errata, conditions, and its formulas against 40 digits."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import THEOREM_2_3, OnePassInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass_rates import (
    balanced_convex_terms,
    balanced_strongly_convex_terms,
    clients_needed,
    convex_batch,
    convex_terms,
    heterogeneity_threshold,
    informal_rounds,
    informal_terms,
    logarithm_argument,
    prescribed_batch,
    strongly_convex_batch,
    strongly_convex_terms,
    whole_batch,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.one_pass_run import (
    OnePassFacts,
    one_pass_noise_std,
    one_pass_rounds,
)
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases, number

CASES = {case["id"]: case for case in cases("lowy") if case["id"].startswith("t23-")}


def run_of(given: dict[str, Any]) -> OnePassFacts:
    def value(name: str, otherwise: float) -> float:
        return number(given.get(name, otherwise))

    participants = int(given.get("M", 1))
    return OnePassFacts(
        epsilon=value("eps", 1),
        log_delta=math.log(value("delta", 1e-6)),
        samples_per_client=int(given.get("n", 1)),
        clients=int(given.get("N", participants)),
        participants=participants,
        dimension=int(given.get("d", 1)),
        lipschitz=value("L", 1),
        diameter=value("D", 1),
        smoothness=value("beta", 1),
        strong_convexity=value("mu", 0),
        gradient_std=value("phi", 1),
        heterogeneity=value("v", 0),
        gap=value("Delta", 1),
    )


def request(**changes: Any) -> OnePassInputs:
    fields: dict[str, Any] = {**THEOREM_2_3.examples[0], **changes}
    return OnePassInputs(**{name: value for name, value in fields.items() if value is not None})


def verdicts(**changes: Any) -> dict[str, Any]:
    return {one.id: one.holds for one in THEOREM_2_3.evaluate(request(**changes)).conditions}


# Golden cases -------------------------------------------------------------------------------------------------------
def noise(given: dict[str, Any]) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "lipschitz": number(given["L"]),
        "batch_size": given["K"],
        "epsilon": number(given["eps"]),
        "log_delta": math.log(number(given["delta"])),
    }
    std = one_pass_noise_std(**shared)
    found = THEOREM_2_3.evaluate(
        request(epsilon=shared["epsilon"], delta=number(given["delta"]), lipschitz=1.0, batch_size=given["K"])
    )
    assert found.outputs["noise_std"] == std
    assert next(one.holds for one in found.conditions if one.id == "epsilon-range") == "no"
    return {
        "sigma2": std * std,
        "sigma": std,
        "sensitivity": found.outputs["sensitivity"],
        "sigma2_in_proof_of_risk": found.outputs["risk_proof_noise_std"] ** 2,
    }


def terms(given: dict[str, Any]) -> dict[str, Any]:
    run = run_of(given)
    found = (strongly_convex_terms if run.strong_convexity else convex_terms)(run, batch_size=given["K"])
    return {**found, "total": math.fsum(found.values())}


def batches(given: dict[str, Any]) -> dict[str, Any]:
    run = run_of(given)
    real = prescribed_batch(run)
    size = whole_batch(real, samples_per_client=run.samples_per_client)
    ran = one_pass_rounds(samples_per_client=run.samples_per_client, batch_size=size)
    if run.strong_convexity:
        argument = logarithm_argument(run)
        if argument <= 1.0:
            assert real == math.inf
            return {"K_real": None, "K": None, "R": None, "log_argument": argument}
        return {"K_real": real, "K": size, "R": ran, "R_real": given["n"] / real, "log_argument": argument}
    return {
        "K_real": real, "K": size, "R": ran, "R_real": given["n"] / real, "R_informal_scale": informal_rounds(run),
    }  # fmt: skip


def balanced(given: dict[str, Any]) -> dict[str, Any]:
    run = run_of(given)
    found = balanced_strongly_convex_terms(run, reading=given.get("reading", "corrected"))
    return {
        "bound38": math.fsum(found.values()),
        **{f"term_{name}": value for name, value in found.items()},
        "bound9": found["sampling"] + found["privacy"],
        "v2_threshold": heterogeneity_threshold(run) ** 2,
    }


FUNCTIONS = {
    "t23-03": noise,
    "t23-04": lambda given: {"R": one_pass_rounds(samples_per_client=given["n"], batch_size=given["K"])},
    "t23-07": terms,
    "t23-11": batches,
    "t23-12": batches,
    "t23-13": terms,
    "t23-14": balanced,
    "t23-15": balanced,
    "t23-16": batches,
    "t23-19": lambda given: {"M_scale": clients_needed(run_of(given))},
}


def test_every_case_of_the_theorem_is_here() -> None:
    assert CASES.keys() == FUNCTIONS.keys()


@pytest.mark.compares("lowy.2.3")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_golden(name: str) -> None:
    expected = CASES[name]["outputs"]
    found = FUNCTIONS[name](CASES[name]["inputs"])
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] is None if value is None else found[key] == pytest.approx(value, rel=2e-12, abs=0.0), key


# Errata -------------------------------------------------------------------------------------------------------------
def random_run(seed: int, **changes: Any) -> OnePassFacts:
    rng = np.random.default_rng(seed)
    clients = int(10 ** rng.uniform(0.3, 5))
    smoothness = float(10 ** rng.uniform(-3, 3))
    fields: dict[str, Any] = {
        "epsilon": float(10 ** rng.uniform(-2, 1)),
        "log_delta": -float(10 ** rng.uniform(0, 3)),
        "samples_per_client": int(10 ** rng.uniform(0, 7)),
        "clients": clients,
        "participants": int(rng.integers(1, clients)),
        "dimension": int(10 ** rng.uniform(0, 5)),
        "lipschitz": float(10 ** rng.uniform(-2, 2)),
        "diameter": float(10 ** rng.uniform(-2, 2)),
        "smoothness": smoothness,
        "strong_convexity": smoothness * float(10 ** rng.uniform(-4, 0)),
        "gradient_std": float(10 ** rng.uniform(-2, 2)),
        "heterogeneity": float(10 ** rng.uniform(-2, 2)),
        "gap": float(10 ** rng.uniform(-2, 2)),
    }
    return OnePassFacts(**(fields | changes))


@pytest.mark.erratum("E-07")
@pytest.mark.parametrize("seed", range(30))
def test_the_first_convex_term_balances_the_third_only_with_one_power_of_smoothness(seed: int) -> None:
    """E-07: at the real prescribed K the terms 1 and 3 are equal, and (37) is what the others add to."""
    run = random_run(seed, strong_convexity=0.0)
    batch: Any = convex_batch(run)
    found = convex_terms(run, batch_size=batch)
    assert found["optimisation"] == pytest.approx(found["privacy"], rel=1e-10)
    joined = balanced_convex_terms(run)
    for name in ("sampling", "privacy", "heterogeneity"):
        assert joined[name] == pytest.approx(found[name], rel=1e-10)
    printed = convex_terms(run, batch_size=batch, reading="printed")
    assert printed["optimisation"] == pytest.approx(run.smoothness * found["optimisation"], rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_at_the_threshold_client_sampling_costs_as_much_as_the_rest(seed: int) -> None:
    """The term of v at the threshold is the sum of the others, exactly."""
    for changes in ({"strong_convexity": 0.0}, {}):
        run = random_run(seed, **changes)
        at = random_run(seed, heterogeneity=heterogeneity_threshold(run), **changes)
        if run.strong_convexity:
            found = balanced_strongly_convex_terms(at)
            # The paper's threshold is (38) with the condition number in both other terms.
            others = found["sampling"] + found["privacy"]
        else:
            found = balanced_convex_terms(at)
            others = found["sampling"] + found["privacy"]
        assert found["heterogeneity"] == pytest.approx(others, rel=1e-10)
    assert heterogeneity_threshold(random_run(seed, clients=7, participants=7)) == math.inf


@pytest.mark.erratum("E-08")
def test_the_printed_strongly_convex_terms_are_not_losses() -> None:
    """E-08: with the loss in other units every term of (38) scales with it, but the printed first one by its square."""

    def scaled(unit: float, reading: Any) -> dict[str, float]:
        run = random_run(
            3, lipschitz=unit, smoothness=2.0 * unit, strong_convexity=0.5 * unit, gradient_std=0.3 * unit,
            heterogeneity=0.2 * unit,
        )  # fmt: skip
        return {**balanced_strongly_convex_terms(run, reading=reading)} | {
            f"informal_{name}": value for name, value in informal_terms(run, reading=reading).items()
        }

    for reading, wrong in (("corrected", set()), ("printed", {"sampling", "informal_privacy"})):
        small, large = scaled(1.0, reading), scaled(10.0, reading)
        for name, value in small.items():
            assert large[name] == pytest.approx(value * (100.0 if name in wrong else 10.0), rel=1e-12)


def true_epsilon(multiplier: float, log_delta: float) -> Any:
    spec = Gaussian(noise_multiplier=multiplier)
    return account(spec, relation="replace-one").guarantee.curve.epsilon(log_delta)


@pytest.mark.erratum("E-24")
def test_the_noise_in_the_proof_of_the_risk_is_not_private() -> None:
    """E-24 and Table 3 of the errata: 8 L² gives ε = 10.39 at δ = 1e-5 and ε = 10; 32 L² holds over its whole range."""
    found = THEOREM_2_3.evaluate(request(epsilon=10.0, delta=1e-5, batch_size=100)).outputs
    eight = true_epsilon(found["risk_proof_noise_std"] * 100, math.log(1e-5))
    assert eight.lower > 10.0
    assert eight.upper == pytest.approx(10.39, abs=0.005)
    for epsilon, truth in ((0.1, 0.0282), (1.0, 0.353), (10.0, 4.54), (46.05, 30.9), (8 * math.log(1e5), 84.9)):
        outputs = THEOREM_2_3.evaluate(request(epsilon=epsilon, delta=1e-5, batch_size=100)).outputs
        got = true_epsilon(outputs["noise_multiplier"], math.log(1e-5))
        assert got.upper == pytest.approx(truth, rel=4e-3)
        assert got.upper <= epsilon
        assert outputs["lower_exact_noise_std"] <= outputs["upper_exact_noise_std"] < outputs["noise_std"]


@pytest.mark.erratum("E-25")
def test_the_clients_that_the_remark_needs() -> None:
    """E-25: 6.2e5 clients, not 379, at ε = 1, n = 1000, d = 10, δ = 1e-6."""
    run = random_run(1, epsilon=1.0, samples_per_client=1000, dimension=10, log_delta=math.log(1e-6))
    assert clients_needed(run) == pytest.approx(6.158e5, rel=1e-3)
    assert clients_needed(run, reading="printed") == pytest.approx(379.0, rel=1e-3)
    # The term of (37) for clients that differ, at v = L, against the cost of privacy in (8).
    for reading, suffices in (("corrected", True), ("printed", False)):
        participants = math.ceil(clients_needed(run, reading=reading))  # type: ignore[arg-type]
        terms_there = balanced_convex_terms(
            random_run(
                1, epsilon=1.0, samples_per_client=1000, dimension=10, log_delta=math.log(1e-6), clients=10**9,
                participants=participants, heterogeneity=1.0, lipschitz=1.0, smoothness=1.0, diameter=1.0,
                strong_convexity=0.0,
            )
        )  # fmt: skip
        assert (terms_there["heterogeneity"] <= 1.01 * terms_there["privacy"]) is suffices


@pytest.mark.erratum("E-29")
def test_rounds_are_whole_and_the_rest_of_the_records_is_unused() -> None:
    """E-29: (λ/2)|w|² at λ = V/(2D√R) is half of the regulariser (V/(2D√R))|w − w₀|² of Lemma E.11 at w₀ = 0."""
    outputs = THEOREM_2_3.evaluate(request(samples_per_client=1000, batch_size=300)).outputs
    assert outputs["rounds"] == 3
    assert outputs["rounds"] < 1000 / 300
    expected = math.sqrt(outputs["gradient_variance"]) / (2 * 2.0 * math.sqrt(3))
    assert outputs["regularization"] == pytest.approx(expected, rel=1e-14)
    factor_of_the_square, factor_of_the_lemma = 0.5 * outputs["regularization"], expected
    assert factor_of_the_lemma == pytest.approx(2 * factor_of_the_square, rel=1e-14)


# Conditions and inputs ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("condition", "broken"),
    [
        ("epsilon-range", {"epsilon": 111.0}),
        ("prescribed-batch-positive", {"lipschitz": 1e-40, "gradient_std": 1e-40, "heterogeneity": 0.0}),
        ("prescribed-batch-available", {"smoothness": 1e-9}),
        ("logarithm", {"strong_convexity": 1e-9}),
    ],
)
def test_each_condition_fails_where_it_should(condition: str, broken: dict[str, Any]) -> None:
    held = {"participants": 50, "strong_convexity": 0.0}
    assert verdicts(**held)[condition] == "yes"
    assert verdicts(**{**held, **broken})[condition] == "no"


def test_the_informal_statement_wants_everyone_or_equal_clients() -> None:
    assert verdicts()["informal-participation"] == "no"
    assert verdicts(participants=50)["informal-participation"] == "yes"
    assert verdicts(heterogeneity=0.0)["informal-participation"] == "yes"


def test_a_logarithm_that_vanishes_prescribes_all_records_in_one_round() -> None:
    outputs = THEOREM_2_3.evaluate(request(strong_convexity=1e-9)).outputs
    assert outputs["prescribed_batch_size"] == math.inf
    assert (outputs["batch_size"], outputs["rounds"]) == (100_000, 1)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"participants": 51}, "/participants"),
        ({"batch_size": 100_001}, "/batch_size"),
        ({"strong_convexity": 1.1}, "/strong_convexity"),
        ({"log10_delta": -5.0}, "/delta"),
        ({"initial_gap": 1e200}, "/initial_gap"),
        ({"lipschitz": 0.0}, "/lipschitz"),
    ],
)
def test_what_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        request(**changes)
    assert [fault.pointer for fault in raised.value.faults] == [pointer]


@pytest.mark.parametrize("seed", range(30))
def test_against_forty_digits(seed: int) -> None:
    run = random_run(seed)
    ours = {
        "convex_batch": convex_batch(run),
        "strongly_convex_batch": strongly_convex_batch(run),
        **{f"convex_{name}": value for name, value in convex_terms(run, batch_size=7).items()},
        **{f"strongly_{name}": value for name, value in strongly_convex_terms(run, batch_size=7).items()},
    }
    theirs = oracle.one_pass(run, 7)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        close = max(mpf("1e-12") * theirs[name], mpf("1e-290"))  # an exponential may vanish
        assert value == theirs[name] or abs(mpf(value) - theirs[name]) <= close, name
