"""The reference rates of Section 3 and Figure 2: the golden case, printed and corrected, and free privacy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from epsilond.accountants.theorem import Reading
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.rates import (
    FIGURE_2,
    REFERENCE_RATES,
    ReferenceInputs,
)
from epsilond.accountants.verdict import Verdict
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases_by_id

CASES = cases_by_id("lowy")
ENTRIES = {
    "ldp_iid_convex": "identical_convex",
    "ldp_iid_sc": "identical_strongly_convex",
    "ldp_noniid_convex_upper": "different_convex_upper",
    "ldp_noniid_convex_lower": "different_convex_lower_sequential",
    "ldp_noniid_sc_upper": "different_strongly_convex_upper",
    "ldp_noniid_sc_lower": "different_strongly_convex_lower",
    "ldp_erm_convex": "empirical_convex",
    "ldp_erm_sc": "empirical_strongly_convex",
    "sdp_iid_convex": "shuffled_identical_convex",
    "sdp_iid_sc": "shuffled_identical_strongly_convex",
    "C2_one_pass_convex": "one_pass_compositionality_squared",
    "gap_8_over_4": "one_pass_excess_factor",
}


def figure(reading: Reading, **changes: Any) -> Any:
    return FIGURE_2.evaluate(FIGURE_2.request(**{**FIGURE_2.examples[0], **changes}), reading).outputs


def reference(reading: Reading = "corrected", **changes: Any) -> Any:
    return REFERENCE_RATES.evaluate(ReferenceInputs(**{**REFERENCE_RATES.examples[0], **changes}), reading)


def test_golden_figure() -> None:
    case = CASES["fig2-02"]
    assert case["inputs"] == {"n": 100, "N": 50, "d": 20, "eps": 1, "kappa": 16, "reading": "printed"}
    found = figure("printed")
    assert set(ENTRIES) == set(case["outputs"])
    for name, ours in ENTRIES.items():
        assert found[ours] == pytest.approx(case["outputs"][name], rel=1e-12)


@pytest.mark.parametrize("reading", ["printed", "corrected"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_lower_bound_for_different_clients_is_divided_by_the_compositionality(
    reading: Reading, epsilon: float
) -> None:
    """Theorem 3.1 has √d/(ε₀n√N C²); the figure's upper bound is one pass, whose C is not 1."""
    found = figure(reading, epsilon=epsilon)
    expected = oracle.figure_2_lower(n=100, N=50, d=20, eps=epsilon)
    assert abs(found["different_convex_lower"] / expected["lower"] - 1) < mpf("1e-12")
    assert abs(found["one_pass_compositionality_squared"] / expected["C2"] - 1) < mpf("1e-12")
    assert found["different_convex_lower"] < found["different_convex_lower_sequential"]
    if epsilon == 0.5:
        assert round(found["different_convex_lower"], 6) == 0.016344


@pytest.mark.erratum("E-25")
def test_the_figure_drops_a_root_of_the_dimension() -> None:
    printed, corrected = figure("printed"), figure("corrected")
    sampling = 1.0 / 5000.0
    ratio = (corrected["different_strongly_convex_upper"] - sampling) / (
        printed["different_strongly_convex_upper"] - sampling
    )
    assert ratio == pytest.approx(math.sqrt(20.0), rel=1e-12)
    assert corrected["different_strongly_convex_upper"] == pytest.approx(sampling + 4.0 * 20 / (1e4 * 50), rel=1e-12)
    assert figure("printed", condition_number=1.0)["different_strongly_convex_upper"] < sampling + 20 / (1e4 * 50)
    assert corrected["one_pass_excess_factor"] > 1.0


@pytest.mark.erratum("E-26")
def test_the_printed_central_rate_is_not_a_loss() -> None:
    """In other units of length, D and 1/L scale alike and a loss stays; the printed first term does not."""
    for reading, same in (("corrected", True), ("printed", False)):
        before = reference(reading).outputs["central_scale"]  # type: ignore[arg-type]
        after = reference(reading, lipschitz=0.1, gradient_std=0.05, diameter=20.0)  # type: ignore[arg-type]
        assert (after.outputs["central_scale"] == pytest.approx(before, rel=1e-12)) is same


@pytest.mark.compares("lowy.section-3")
def test_reference_rates_in_their_order() -> None:
    found = reference(epsilon=0.05).outputs
    assert found["non_private_scale"] < found["central_scale"] < found["one_record_scale"]
    assert found["one_record_scale"] == 2.0
    curved = reference(strong_convexity=0.5).outputs
    assert curved["non_private_scale"] == pytest.approx(0.25 / (0.5 * 5000), rel=1e-12)
    assert curved["central_scale"] == pytest.approx(curved["non_private_scale"] + 2.0 * 20 / 5000**2, rel=1e-12)


@pytest.mark.parametrize("strong_convexity", [0.0, 1e-8, 0.5])
@pytest.mark.parametrize("epsilon", [1e-6, 1e6])
def test_no_reference_rate_exceeds_the_largest_excess(strong_convexity: float, epsilon: float) -> None:
    found = reference(strong_convexity=strong_convexity, epsilon=epsilon).outputs
    for name in ("non_private_scale", "one_record_scale", "central_scale"):
        assert 0.0 < found[name] <= 2.0


@pytest.mark.parametrize("seed", range(40))
def test_no_lower_rate_exceeds_its_upper_rate(seed: int) -> None:
    """Corrected: everywhere, and C ≥ 1. Printed: where r ≤ 1, the condition that the figure needs."""
    rng = np.random.default_rng(seed)
    changes = {
        "samples_per_client": int(10 ** rng.uniform(0, 4)),
        "clients": int(10 ** rng.uniform(0, 4)),
        "dimension": int(10 ** rng.uniform(0, 5)),
        "epsilon": float(10 ** rng.uniform(-3, 2)),
        "condition_number": float(10 ** rng.uniform(0, 6)),
    }
    few = {**changes, "samples_per_client": 1, "clients": 1, "dimension": 10_000, "epsilon": 1e-3}
    for given in (changes, few):
        inputs = FIGURE_2.request(**given)
        printed, corrected = (FIGURE_2.evaluate(inputs, reading) for reading in ("printed", "corrected"))
        ratio = next(condition for condition in printed.conditions if condition.id == "ratio-at-most-one")
        checked = (printed.outputs, corrected.outputs) if ratio.holds == Verdict.YES else (corrected.outputs,)
        for rates in checked:
            assert rates["one_pass_compositionality_squared"] >= 1.0
            assert rates["one_pass_excess_factor"] >= 1.0
            assert rates["different_convex_lower"] <= rates["different_convex_lower_sequential"]
            assert rates["different_convex_lower_sequential"] <= rates["different_convex_upper"]
        upper = corrected.outputs["different_strongly_convex_upper"]
        assert corrected.outputs["different_strongly_convex_lower"] <= upper
        rates_only = [value for name, value in corrected.outputs.items() if not name.startswith("one_pass")]
        assert max(rates_only) <= 1.0
    assert printed.outputs["different_convex_lower_sequential"] > printed.outputs["different_convex_upper"]


def test_the_threshold_of_free_privacy_has_sides_but_no_verdict() -> None:
    found = reference()
    threshold = next(condition for condition in found.conditions if condition.id == "privacy-for-free")
    assert (threshold.holds, threshold.left, threshold.right) == ("undecidable", 20.0, 100)
    assert found.outputs["free_privacy_epsilon"] == pytest.approx(math.sqrt(0.2), rel=1e-14)
