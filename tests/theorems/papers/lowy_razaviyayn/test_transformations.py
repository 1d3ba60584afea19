"""Appendices B and D.1 and Definition 4: golden cases, conditions, and noise that weights demand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.theorems.papers.lowy_razaviyayn import transformations as ours
from epsilond.accountants.verdict import Verdict
from tests.oracles import lowy as oracle
from tests.oracles.golden import cases_by_id

CASES = cases_by_id("lowy")


def weights(case: dict[str, Any]) -> ours.WeightInputs:
    given = {key: tuple(float(Fraction(value)) for value in values) for key, values in case["inputs"].items()}
    return ours.WeightInputs(
        weights=given["p"], lipschitz=given["L"], smoothness=given["beta"], strong_convexity=given["mu"]
    )


@pytest.mark.compares("lowy.appendix-b")
def test_golden_weights() -> None:
    case = CASES["b-01"]
    found = ours.WEIGHTED.evaluate(weights(case)).outputs
    for name, value in {
        "lipschitz": "L",
        "strong_convexity": "mu",
        "smoothness": "beta",
        "largest_lipschitz": "L_max",
        "smallest_strong_convexity": "mu_min",
        "largest_smoothness": "beta_max",
    }.items():
        assert found[name] == pytest.approx(case["outputs"][value], rel=1e-12)


def test_golden_weights_that_do_not_sum_to_one() -> None:
    with pytest.raises(InvalidInput, match="sum to 1"):
        weights(CASES["b-03"])


@pytest.mark.parametrize(
    "changes",
    [{"weights": ()}, {"lipschitz": (1.0,)}, {"smoothness": (1.0, -1.0)}, {"weights": (0.5, math.nan)}],
)
def test_lists_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    pair = dict.fromkeys(("weights", "lipschitz", "smoothness", "strong_convexity"), (0.5, 0.5))
    with pytest.raises(InvalidInput):
        ours.WeightInputs(**{**pair, **changes})


def test_a_weight_of_zero_ends_strong_convexity() -> None:
    def verdict(strong: float) -> Any:
        inputs = ours.WeightInputs(
            weights=(1.0, 0.0), lipschitz=(1.0, 1.0), smoothness=(1.0, 1.0), strong_convexity=(strong, strong)
        )
        return ours.WEIGHTED.evaluate(inputs).conditions[0].holds

    assert verdict(0.1) == "no"
    assert verdict(0.0) == "yes"


@pytest.mark.erratum("E-30")
def test_noise_for_the_unweighted_gradient_is_too_little() -> None:
    """A client of weight 3/4 among 2 sends gradients 1.5 times as long: at σ for L its ε exceeds the target."""
    spec = Gaussian(noise_multiplier=8.0)
    right = account(spec, relation="replace-one").guarantee.curve.epsilon(math.log(1e-5))
    found = ours.weighted_constants(
        ours.WeightInputs(
            weights=(0.75, 0.25), lipschitz=(1.0, 1.0), smoothness=(1.0, 1.0), strong_convexity=(0.0, 0.0)
        )
    )
    short = Gaussian(noise_multiplier=8.0 / found["lipschitz"][0])
    assert account(short, relation="replace-one").guarantee.curve.epsilon(math.log(1e-5)).lower > 1.4 * right.upper
    assert found["sensitivity_factors"] == [3.0, 1.0]


@pytest.mark.compares("lowy.appendix-d.1")
def test_who_sees_less_learns_no_more() -> None:
    found = ours.OBSERVED.evaluate(ours.OBSERVED.request(local_epsilon=0.7, log10_delta=-400.0)).outputs
    assert found["central_epsilon"] == found["shuffled_epsilon"] == 0.7
    assert found["log10_delta"] == pytest.approx(-400.0, rel=1e-14)
    assert "delta" not in found


@pytest.mark.compares("lowy.definition-4.one-pass")
def test_one_pass_algorithms() -> None:
    found = ours.ONE_PASS.evaluate(ours.ONE_PASS.request(local_epsilon=1.0, rounds=49)).outputs
    assert found == {"compositionality": 7.0, "round_epsilon": 1.0}


@pytest.mark.parametrize(("slack", "small"), [(0.6, True), (0.61, False)])
def test_advanced_composition_makes_algorithms_one_compositional(slack: float, small: bool) -> None:
    inputs = ours.COMPOSED.request(local_epsilons=(1e-5,) * 3, delta=slack)
    found = ours.COMPOSED.evaluate(inputs)
    assert found.conditions[0].holds == Verdict.of(small)
    assert (found.outputs["compositionality"] <= 1.0) is small
    with pytest.raises(InvalidInput):
        ours.COMPOSED.request(local_epsilons=(), delta=slack)


@pytest.mark.erratum("E-35")
@pytest.mark.compares("lowy.definition-4.advanced-composition")
@pytest.mark.parametrize("epsilons", [(0.1, 0.2, 0.3), (1e-6,), (2.0, 0.5)])
def test_the_printed_drift_is_that_of_dwork_and_roth(epsilons: tuple[float, ...]) -> None:
    """E-35: Σ ε(e^ε − 1) as printed, Σ ε tanh(ε/2) corrected."""
    inputs = ours.COMPOSED.request(local_epsilons=epsilons, delta=1e-5)
    squares = mp.sqrt(mp.fsum(mpf(each) ** 2 for each in epsilons))
    for reading, drift in (("printed", "dwork-roth"), ("corrected", "tanh")):
        found = ours.COMPOSED.evaluate(inputs, reading).outputs  # type: ignore[arg-type]
        expected, _ = oracle.composed(epsilons, [0.0] * len(epsilons), 1e-5, drift)
        assert abs(found["local_epsilon"] / expected - 1) < mpf("1e-12")
        assert abs(found["compositionality"] * expected / squares - 1) < mpf("1e-12")
    if epsilons == (0.1, 0.2, 0.3):
        printed = ours.COMPOSED.evaluate(inputs).outputs
        assert (round(printed["local_epsilon"], 5), round(printed["compositionality"], 5)) == (1.95520, 0.19137)
