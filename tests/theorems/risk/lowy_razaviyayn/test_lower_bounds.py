"""Theorems 3.1, F.3, F.4 and F.5: every golden case, both sides of every condition, an oracle in mpmath."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorem import Evaluation, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds import statements as bounds
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.inputs import (
    CentralEmpiricalInputs,
    CentralInputs,
    LocalInputs,
    LossScales,
)
from epsilond.accountants.verdict import Verdict
from tests.oracles.golden import cases_by_id

CASES = cases_by_id("lowy")
THEOREMS: dict[str, Theorem] = {
    "thm31_lower_bound": bounds.LOCAL_POPULATION,
    "thmF3_cdp_sco_lower": bounds.CENTRAL_POPULATION,
    "thmF4_erm_lower": bounds.LOCAL_EMPIRICAL,
    "thmF5_cdp_erm_lower": bounds.CENTRAL_EMPIRICAL,
}
OURS = [name for name, case in CASES.items() if case["function"] in THEOREMS]
FIELDS = {
    "n": "samples_per_client",
    "N": "clients",
    "d": "dimension",
    "eps0": "epsilon",
    "eps": "epsilon",
    "eps0_round": "round_epsilon",
    "delta0_min": "round_delta",
    "L": "lipschitz",
    "D": "diameter",
    "phi": "gradient_std",
    "mu": "strong_convexity",
    "C": "compositionality",
}
VERDICTS = {
    "eps0 in (0, sqrt N]": "root-of-clients",
    "eps0^r <= 1/n": "one-over-records",
    "N large enough": "enough-clients",
    "delta0^r >= lower limit": "least-round-delta",
    "delta0 = o(1/(n N)^2)": "vanishing-delta",
    "sum_r delta0^r = o(1/(n N)^2)": "vanishing-delta",
    "delta = o(1/(nN)^2)": "vanishing-delta",
    "delta = o(1/(nN))": "vanishing-delta",
    "M = N (all clients participate)": "all-participate",
    "A in B (symmetric)": "symmetric",
    "L >= mu D/2": "steep-enough",
}


def evaluated(theorem: Theorem, **changes: Any) -> Evaluation:
    assert theorem.inputs is not None
    return theorem.evaluate(theorem.inputs(**{**theorem.examples[0], **changes}))


def holds(evaluation: Evaluation, name: str) -> Any:
    return next(condition.holds for condition in evaluation.conditions if condition.id == name)


@pytest.mark.compares("lowy.3.1")
@pytest.mark.parametrize("name", OURS)
def test_golden(name: str) -> None:
    case = CASES[name]
    theorem = THEOREMS[case["function"]]
    given = {FIELDS[key]: value for key, value in case["inputs"].items() if key in FIELDS}
    given = {key: value if isinstance(value, int) else float(Fraction(value)) for key, value in given.items()}
    if theorem is not bounds.LOCAL_POPULATION:
        given["radius"] = given.pop("diameter")
    assert theorem.inputs is not None
    found = theorem.evaluate(theorem.inputs(**given))
    assert found.outputs["excess_risk_scale"] == pytest.approx(case["outputs"]["scale"], rel=1e-12)
    if "delta0_lower" in case["outputs"]:
        least = 10.0 ** found.outputs["log10_least_round_delta"]
        assert least == pytest.approx(case["outputs"]["delta0_lower"], rel=1e-12)
    for condition in case["conditions"]:
        expected = "undecidable" if condition["holds"] is None else Verdict.of(condition["holds"])
        assert holds(found, VERDICTS[condition["name"]]) == expected


def test_every_golden_case_is_there() -> None:
    assert len(OURS) == 9


@pytest.mark.parametrize("strong_convexity", [0.0, 0.5])
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 40.0])
def test_the_scales_against_their_definition(strong_convexity: float, epsilon: float) -> None:
    n, clients, d, steep, size, phi = 70, 900, 33, mp.mpf(2), mp.mpf(3), mp.mpf("0.7")
    mu = mp.mpf(strong_convexity)
    largest = steep * size
    with mp.workdps(40):
        local = mp.sqrt(d) / (mp.mpf(epsilon) * n * mp.sqrt(clients) * 4)
        central = mp.sqrt(d) / (mp.mpf(epsilon) * n * clients)
        first = phi * size / mp.sqrt(n * clients)
        first = min(phi**2 / (mu * n * clients), first) if mu else first
        power = 2 if mu else 1
        local_cost, central_cost = (steep * size * min(1, ratio**power) for ratio in (local, central))
    given = {
        "samples_per_client": n,
        "clients": clients,
        "dimension": d,
        "lipschitz": 2.0,
        "strong_convexity": strong_convexity,
        "epsilon": epsilon,
    }
    nobody = bounds.local_population(
        LocalInputs(**given, round_delta=1e-9, diameter=3.0, gradient_std=0.7, compositionality=2.0)
    )
    server = bounds.central_population(CentralInputs(**given, radius=3.0, gradient_std=0.7))
    at_hand = bounds.central_empirical(CentralEmpiricalInputs(**given, radius=3.0))
    assert nobody["excess_risk_scale"] == pytest.approx(float(min(first + local_cost, largest)), rel=1e-13)
    assert server["excess_risk_scale"] == pytest.approx(float(min(first + central_cost, largest)), rel=1e-13)
    assert at_hand["excess_risk_scale"] == pytest.approx(float(central_cost), rel=1e-13)
    assert ("larger_scale" in server) == (strong_convexity > 0)
    if strong_convexity:
        larger = first + min(steep**2 / mu * min(1, central**2), largest * min(1, central))
        assert server["larger_scale"] == pytest.approx(float(min(larger, largest)), rel=1e-13)
        assert server["larger_scale"] >= server["excess_risk_scale"]


# The minimum with the largest possible excess ------------------------------------------------------------------------
@pytest.mark.erratum("E-37")
@pytest.mark.parametrize("strong_convexity", [1e-8, 1e-3, 1.0])
def test_no_lower_bound_exceeds_the_largest_excess(strong_convexity: float) -> None:
    """The scale is at most LD = 1; the printed first term φ²/(μnN) is 1e6 at μ = 1e-8 and the same at L = μD."""
    shared: dict[str, Any] = {"samples_per_client": 10, "clients": 10, "dimension": 1, "lipschitz": 1.0}
    shared |= {"strong_convexity": strong_convexity, "epsilon": 10.0}
    server = bounds.CENTRAL_POPULATION.evaluate(CentralInputs(**shared, radius=1.0))
    nobody = bounds.LOCAL_POPULATION.evaluate(LocalInputs(**shared, round_delta=1e-3, diameter=1.0))
    assert holds(server, "steep-enough") == Verdict.YES
    for outputs in (server.outputs, nobody.outputs):
        printed = 1.0 / (strong_convexity * 100)
        assert outputs["printed_statistical_term"] == pytest.approx(printed, rel=1e-12)
        assert outputs["statistical_term"] == pytest.approx(min(printed, 0.1), rel=1e-12)
        assert outputs["excess_risk_scale"] <= 1.0
    assert server.outputs["excess_risk_scale"] <= server.outputs["larger_scale"] <= 1.0


def test_a_deviation_above_the_lipschitz_constant_counts_as_that_constant() -> None:
    """|∇f − ∇F|² has mean at most L², so no L-Lipschitz loss has φ > L."""
    at_limit, beyond = (
        evaluated(bounds.LOCAL_POPULATION, gradient_std=phi).outputs["statistical_term"] for phi in (1.0, 1e9)
    )
    assert at_limit == beyond


def bayes_excess_risk(*, phi: float, diameter: float, mu: float, records: int) -> float:
    """Return the least mean excess risk for f(w, x) = −φxw + μw²/2, |w| ≤ D/2, where x = ±1 has mean ±1/(2√N).

    Both signs of the mean are equally likely. The sum over the number of positive records is exact up to rounding, and
    the best w for each number is the projection of φ/(2√N) (2π − 1)/μ, π the posterior probability of the plus sign.
    """
    mean, half = 0.5 / math.sqrt(records), 0.5 * diameter

    def least(slope: float) -> float:
        w = min(slope / mu, half)
        return -slope * w + 0.5 * mu * w * w

    positive = np.arange(records + 1)
    plus, minus = (scipy.stats.binom.pmf(positive, records, 0.5 + sign * 0.5 * mean) for sign in (1, -1))
    mass = 0.5 * (plus + minus)
    slopes = phi * mean * np.abs(plus - minus) / np.maximum(plus + minus, 1e-300)
    return math.fsum(map(float, mass * np.vectorize(least)(slopes))) - least(phi * mean)


@pytest.mark.parametrize("seed", range(25))
def test_the_statistical_term_is_attained_by_a_pair_of_problems(seed: int) -> None:
    """No algorithm does better than 1/20 of min{φ²/(μN), φD/√N} on both of two μ-strongly convex problems."""
    rng = np.random.default_rng(seed)
    records = int(10 ** rng.uniform(0, 3))
    diameter, phi = (float(10 ** rng.uniform(-2, 2)) for _ in range(2))
    mu = float(phi / diameter * 10 ** rng.uniform(-6, 1))
    lipschitz = phi + 0.5 * mu * diameter
    term = LossScales(lipschitz=lipschitz, diameter=diameter, strong_convexity=mu).statistical(phi, records)
    least = bayes_excess_risk(phi=phi, diameter=diameter, mu=mu, records=records)
    assert term / 20 <= least <= lipschitz * diameter


@pytest.mark.parametrize(
    ("theorem", "condition", "changes"),
    [
        (bounds.LOCAL_POPULATION, "root-of-clients", {"epsilon": 100.1, "round_epsilon": 0.1}),
        (bounds.LOCAL_POPULATION, "one-over-records", {"round_epsilon": 0.11}),
        (bounds.LOCAL_POPULATION, "enough-clients", {"clients": 800}),
        (bounds.LOCAL_POPULATION, "printed-enough-clients", {"clients": 400}),
        (bounds.LOCAL_POPULATION, "steep-enough", {"strong_convexity": 2.1}),
        (bounds.CENTRAL_POPULATION, "steep-enough", {"strong_convexity": 1.1}),
        (bounds.LOCAL_EMPIRICAL, "root-of-clients", {"epsilon": 100.1, "round_epsilon": 0.1}),
        (bounds.LOCAL_EMPIRICAL, "one-over-records", {"round_epsilon": 0.11}),
        (bounds.LOCAL_EMPIRICAL, "least-round-delta", {"round_delta": 1e-105}),
        (bounds.LOCAL_EMPIRICAL, "steep-enough", {"strong_convexity": 1.1}),
        (bounds.CENTRAL_EMPIRICAL, "steep-enough", {"strong_convexity": 1.1}),
    ],
)
def test_each_condition_holds_and_fails(theorem: Theorem, condition: str, changes: dict[str, Any]) -> None:
    assert holds(evaluated(theorem), condition) == "yes"
    assert holds(evaluated(theorem, **changes), condition) == "no"


@pytest.mark.parametrize("theorem", bounds.THEOREMS, ids=lambda theorem: theorem.id)
def test_what_is_about_a_sequence_of_problems_is_never_true(theorem: Theorem) -> None:
    assert theorem.constants == "hidden"
    found = evaluated(theorem)
    assert holds(found, "vanishing-delta") == "undecidable"
    assert holds(found, "hidden-constants") == "undecidable"


@pytest.mark.erratum("E-21")
def test_the_printed_number_of_clients_lacks_a_power_of_e() -> None:
    """(n, δ₀) = (10, 1e-12): 417 printed, 839 needed by Theorem F.2 at N = 500, which therefore does not apply."""
    found = evaluated(bounds.LOCAL_POPULATION, clients=500)
    assert math.ceil(found.outputs["printed_least_clients"]) == 417
    assert found.outputs["least_clients"] > 500
    assert holds(found, "printed-enough-clients") == "yes"
    assert holds(found, "enough-clients") == "no"
    at_hand = evaluated(bounds.LOCAL_EMPIRICAL).outputs
    assert at_hand["log10_least_round_delta"] > at_hand["printed_log10_least_round_delta"] + 100


@pytest.mark.erratum("E-27")
def test_a_compositionality_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput):
        evaluated(bounds.LOCAL_POPULATION, compositionality=0.5)
    once = evaluated(bounds.LOCAL_POPULATION).outputs["privacy_term"]
    assert evaluated(bounds.LOCAL_POPULATION, compositionality=2.0).outputs["privacy_term"] == pytest.approx(once / 4)


def test_scales_out_of_range_are_refused() -> None:
    for theorem in bounds.THEOREMS:
        with pytest.raises(InvalidInput):
            evaluated(theorem, lipschitz=1e200)
