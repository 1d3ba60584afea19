"""(14) and (36) of Bietti et al.: from the statement, client by client, and as Theorems 5.2 and B.4 at that noise."""

from __future__ import annotations

from typing import Any

import pytest
from mpmath import log, mp, mpf, sqrt

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.bietti.sampled_participation import THEOREM_5_2, THEOREM_B_4
from epsilond.accountants.theorems.risk.bietti.sampled_privacy_cost import EQUATION_14, EQUATION_36

EXAMPLE: dict[str, Any] = dict(EQUATION_14.examples[0])
BATCHES = [2] * 90 + [8] * 10
NORMS = [0.2] * 90 + [0.0] * 10


def stated(*, samples: bool, printed: bool) -> dict[str, Any]:
    """The statement with every client written out: shared and local deviation 1 and 1/2, as in the example."""
    q, alpha, rounds, smooth = mpf("0.25"), mpf("0.3"), 400, mpf(2)
    n, records, largest, least = len(BATCHES), sum(BATCHES), max(BATCHES), min(BATCHES)
    squared, noisy = mpf(9), 5 * alpha * log(mpf(10) ** 5) * mpf(2) ** 2  # ‖z*‖², αd_w ln(1/δ) c₂²
    absent = q * (1 - q) if printed else 1 - q
    if samples:
        whole, share, bound = mpf(records), mpf(largest) / records, mpf(largest)
        sums = (sum(m for m in BATCHES), sum((m * mpf(g)) ** 2 for m, g in zip(BATCHES, NORMS, strict=True)))
        local = sum(m * mpf("0.25") for m in BATCHES)
    else:
        whole, share, bound = mpf(n), mpf(1) / n, mpf(1)
        sums = (sum(mpf(1) / m for m in BATCHES), sum(mpf(g) ** 2 for g in NORMS))
        local = sum(mpf("0.25") / m for m in BATCHES)
    mean = [value / whole for value in (*sums, local)]
    sampled = (alpha * mean[0] + alpha * absent * mean[1] + mean[2]) / (q * whole * rounds)
    private = noisy * bound**2 / whole**2
    slope = alpha + alpha * share if printed else alpha + alpha * (1 - q) * share / q
    smoothness = smooth * max(slope, share if printed else share / q)
    found = {
        "noise_std": 2 * bound * sqrt(rounds * log(mpf(10) ** 5)) / whole,
        "noise_multiplier": 2 * q * sqrt(rounds * log(mpf(10) ** 5)),
        "weighted_smoothness": smoothness,
        "variance": (sampled + private) * rounds,
        "step_size": min(1 / (4 * smoothness), sqrt(squared / (rounds * (sampled + private) * rounds))),
        "optimisation_term": 4 * smoothness * squared / rounds,
        "statistical_term": 3 * sqrt(squared * sampled),
        "privacy_term": 3 * sqrt(squared * private),
        "excess_risk": 4 * smoothness * squared / rounds + 3 * sqrt(squared * (sampled + private)),
    }
    if not samples:
        wider = (alpha * 1 + mpf("0.25")) / (q * n * least * rounds) + alpha * absent * mean[1] / (q * n * rounds)
        found["coarser_variance"] = (wider + private) * rounds
        found["coarser_excess_risk"] = found["optimisation_term"] + 3 * sqrt(squared * (wider + private))
    return {name: float(value) for name, value in found.items()}


@pytest.mark.compares("bietti.5.2.equation-14", "bietti.b.4.equation-36")
@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("samples", [True, False])
def test_the_bound_at_the_noise_of_a_target(samples: bool, reading: Any) -> None:
    theorem = EQUATION_14 if samples else EQUATION_36
    found = theorem.evaluate(theorem.request(**EXAMPLE), reading).outputs
    with mp.workdps(30):
        wanted = stated(samples=samples, printed=reading == "printed")
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("reading", ["printed", "corrected"])
def test_it_is_the_theorem_at_that_noise(reading: Any) -> None:
    for theorem, plain in ((EQUATION_14, THEOREM_5_2), (EQUATION_36, THEOREM_B_4)):
        found = theorem.evaluate(theorem.request(**EXAMPLE), reading).outputs
        left_out = {"lipschitz", "epsilon", "delta", "noise_constant"}
        run = {name: value for name, value in EXAMPLE.items() if name not in left_out}
        at_noise = plain.evaluate(plain.request(**run, noise_std=found["noise_std"]), reading).outputs
        for name in ("excess_risk", "variance", "step_size", "optimisation_term"):
            assert found[name] == pytest.approx(at_noise[name], rel=1e-12), name


def test_each_condition_of_the_target_can_fail() -> None:
    answer = EQUATION_14.evaluate(EQUATION_14.request(**EXAMPLE, range_constant=0.01))
    holds = {one.id: one.holds for one in answer.conditions}
    assert holds["epsilon-range"] == "no"
    assert holds["constant-suffices"] == "undecidable"
    assert (holds["statement-smoothness"], holds["statement-variance"]) == ("no", "no")
    everyone = EQUATION_14.request(**{**EXAMPLE, "participation_rate": 1.0})
    holds = {one.id: one.holds for one in EQUATION_14.evaluate(everyone).conditions}
    assert (holds["statement-smoothness"], holds["statement-variance"]) == ("yes", "yes")
    assert holds["epsilon-range"] == "undecidable"
    with pytest.raises(InvalidInput):
        EQUATION_14.request(**{**EXAMPLE, "client_groups": []})
