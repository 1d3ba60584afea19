"""Theorem 4.1 of Bietti et al.: the least noise, the constant it hides, and what its proof loses."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Gaussian, Repeated
from epsilond.accountants.theorems.composition.classical import advanced_composition
from epsilond.accountants.theorems.papers.bietti.closed_forms import sharp_constant, sufficient_noise_std
from epsilond.accountants.theorems.papers.bietti.noise import (
    ACHIEVED,
    LEAST_NOISE,
    THEOREM_4_1,
    least_constant,
    least_noise_std,
)
from tests.oracles.bietti import least_mu

TARGETS = [(0.01, 1e-5), (1.0, 1e-5), (8.0, 1e-6), (1.0, 0.3), (50.0, 1e-12), (3.0, 1e-60), (1.0, 1e-300)]


def printed(**changes: Any) -> Any:
    fields = {**THEOREM_4_1.examples[0], **changes}
    return THEOREM_4_1.evaluate(THEOREM_4_1.request(**fields))


def sufficient(evaluation: Any) -> Any:
    return next(one for one in evaluation.conditions if one.id == "constant-suffices")


@pytest.mark.compares("epsilond.personalized-sgd-noise")
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("zero-out-one", 1)])
def test_the_least_noise_against_the_oracle(epsilon: float, delta: float, relation: Any, factor: int) -> None:
    with mp.workdps(40):
        mu = least_mu(mp.mpf(epsilon), mp.mpf(delta))
        std = factor * mp.mpf("2.5") * mp.sqrt(70) / (300 * mu)
        constant = factor * mp.mpf(epsilon) / (mu * mp.sqrt(-mp.log(mp.mpf(delta))))
    found = LEAST_NOISE.evaluate(
        LEAST_NOISE.request(clients=300, rounds=70, clipping_norm=2.5, epsilon=epsilon, delta=delta, relation=relation)
    ).outputs
    assert found["noise_std"] == pytest.approx(float(std), rel=1e-11)
    assert found["noise_std"] >= float(std) * (1 - 1e-15)
    assert found["least_constant"] == pytest.approx(float(constant), rel=1e-11)
    assert found["sufficient_noise_std"] >= found["noise_std"]
    assert found["sensitivity"] == factor * 2.5 / 300


@pytest.mark.compares("epsilond.personalized-sgd-privacy")
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_what_is_achieved_inverts_the_least_noise_and_is_what_account_says(epsilon: float, delta: float) -> None:
    std = least_noise_std(
        clipping_norm=1.0, clients=50, rounds=9, epsilon=epsilon, log_delta=math.log(delta), sensitivity_factor=2.0
    )
    found = ACHIEVED.evaluate(
        ACHIEVED.request(clients=50, rounds=9, clipping_norm=1.0, noise_std=std, epsilon=epsilon, delta=delta)
    ).outputs
    assert found["epsilon"] == pytest.approx(epsilon, rel=1e-9)
    assert found["log10_delta"] == pytest.approx(math.log10(delta), rel=1e-10)
    spec = Repeated(times=9, mechanism=Gaussian(noise_multiplier=50 * std))
    curve = account(spec, relation="replace-one", unit="client", observer="other-clients").guarantee.curve
    assert curve.log_delta(epsilon).upper / math.log(10) == pytest.approx(found["log10_delta"], rel=1e-12)


@pytest.mark.erratum("E-B1")
def test_no_constant_serves_every_target() -> None:
    """E-B1: c = 2 + √2 is enough up to ε = ln(1/δ), and gives δ = 0.997 at ε = 100."""
    fine, broken = printed(), printed(epsilon=100.0)
    assert sufficient(fine).holds == "yes"
    assert sufficient(broken).holds == "no"
    assert sufficient(broken).left < sufficient(broken).right
    assert broken.outputs["achieved_delta"] == pytest.approx(0.997, abs=5e-4)
    constants = [
        least_constant(epsilon=ratio * 11.5, log_delta=-11.5, sensitivity_factor=2.0) for ratio in (1, 100, 10_000)
    ]
    assert constants[1] > 3 * constants[0]
    assert constants[2] / constants[1] == pytest.approx(10.0, rel=0.2)


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.5, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_the_sharp_constant_serves_its_range_and_is_approached(ratio: float, factor: float) -> None:
    sharp = sharp_constant(ratio=ratio, sensitivity_factor=factor)
    near = [
        least_constant(epsilon=share * ratio * size, log_delta=-size, sensitivity_factor=factor)
        for size in (1e-3, 0.7, 11.5, 27.6, 690.8)
        for share in (0.1, 1.0)
        if share * ratio * size > 1e-4
    ]
    assert max(near) < sharp
    assert near[-1] > 0.98 * sharp
    table = {0.01: 0.9174, 0.1: 1.1136, 0.5: 1.3418, 1.0: 1.5140, 4.0: 2.1511, 20.0: 3.8437}
    size = 5 * math.log(10)
    assert least_constant(epsilon=ratio * size, log_delta=-size, sensitivity_factor=1.0) == pytest.approx(
        table[ratio], abs=6e-5
    )


def test_the_closed_form_has_the_sharp_constant() -> None:
    for epsilon, size in ((0.3, 11.5), (11.5, 11.5), (200.0, 3.0)):
        run = {"clipping_norm": 1.0, "clients": 10, "rounds": 4, "epsilon": epsilon, "log_delta": -size}
        closed = sufficient_noise_std(**run, sensitivity_factor=2.0)
        constant = sharp_constant(ratio=epsilon / size, sensitivity_factor=2.0)
        assert closed == pytest.approx(constant * math.sqrt(4 * size) / (10 * epsilon), rel=1e-12)


@pytest.mark.erratum("E-B2")
def test_the_printed_proof_gives_more_than_it_claims() -> None:
    """E-B2: the update's own ε is 2.8 times the claimed one, and the printed composition misses the target."""
    constant, rounds, delta = 2 + math.sqrt(2), 1000, 1e-5
    claimed = 1.0 / math.sqrt(rounds * math.log(1 / delta))
    own = 2.0 * math.sqrt(2.0 * math.log(1.25 / delta)) * claimed / constant
    assert (claimed, own) == (pytest.approx(0.0093, abs=5e-5), pytest.approx(0.0264, abs=5e-5))
    composed = advanced_composition(
        epsilons=[own], log_deltas=[math.log(delta)], log_slack=math.log(delta / 2), drift="dwork-roth", times=rounds
    )
    assert composed.epsilon == pytest.approx(4.84, abs=5e-3)
    assert math.exp(composed.log_delta) == pytest.approx(1e-2, rel=1e-2)
    exact = printed(clients=100, rounds=rounds, epsilon=1.0, noise_constant=constant).outputs
    assert exact["achieved_epsilon"] == pytest.approx(0.618, abs=5e-4)


@pytest.mark.erratum("E-B3")
def test_the_sensitivity_is_that_of_a_replacement() -> None:
    """E-B3: σ_ζ for C/N is half of what Definition 3.2 needs."""
    zeroed = printed(relation="zero-out-one").outputs
    replaced = printed().outputs
    assert replaced["gaussian_dp_mu"] == 2 * zeroed["gaussian_dp_mu"]
    assert printed(clipping_norm=3.0).outputs["noise_std"] == pytest.approx(3 * replaced["noise_std"])


@pytest.mark.compares("bietti.4.1")
def test_the_corrected_reading_meets_the_target_and_no_constant_matters() -> None:
    for constant in (0.1, 10.0):
        inputs = THEOREM_4_1.request(**{**THEOREM_4_1.examples[0], "noise_constant": constant})
        found = THEOREM_4_1.evaluate(inputs, "corrected").outputs
        assert found["achieved_epsilon"] == pytest.approx(5.0, rel=1e-10)
        assert found["achieved_delta"] <= 1e-5


def test_without_noise_nothing_is_private() -> None:
    given = {"clients": 5, "rounds": 3, "clipping_norm": 1.0, "noise_std": 0.0}
    found = ACHIEVED.evaluate(ACHIEVED.request(**given, epsilon=1.0, delta=1e-5)).outputs
    assert (found["delta"], found["epsilon"]) == (1.0, math.inf)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"rounds": 0}, "/rounds"),
        ({"delta": 1.5}, "/delta"),
        ({"log10_delta": -5.0}, "/delta"),
        ({"clipping_norm": 1e200}, "/clipping_norm"),
        ({"relation": "remove"}, "/relation"),
        ({"epsilon": 0.0}, "/epsilon"),
    ],
)
def test_inputs_that_no_run_can_have(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        printed(**changes)
    assert pointer in {fault.pointer for fault in caught.value.faults}


def test_a_curve_is_read_somewhere() -> None:
    with pytest.raises(InvalidInput):
        ACHIEVED.request(clients=5, rounds=3, clipping_norm=1.0, noise_std=1.0)
