"""Contraction under a common kernel: the lemmas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.power_sums import geometric_sum
from epsilond.accountants.numerics.special import log_theta, log_theta_complement
from epsilond.accountants.theorems.hidden_states.contraction import (
    LEMMA_1,
    LEMMA_2,
    TWO_POINTS,
    FiniteChannel,
)
from tests.oracles.contraction import Law, hockey_stick, theta
from tests.oracles.golden import cases as golden_cases
from tests.oracles.hockey_stick import gaussian_mixture
from tests.oracles.hockey_stick import hockey_stick as exact_hockey_stick

CASES = golden_cases("contraction")
EPSILONS = (0.0, 0.05, 0.7, 2.0)


def cases(function: str) -> list[dict]:
    return [case for case in CASES if case["function"] == function]


@pytest.mark.parametrize("case", cases("theta") + cases("log_theta") + cases("theta_complement"), ids=lambda c: c["id"])
def test_golden_theta(case: dict) -> None:
    epsilon, shift, printed = case["inputs"]["eps"], case["inputs"]["r"], float(case["outputs"]["value"])
    if case["function"] == "log_theta":
        assert float(log_theta(epsilon, shift)) == pytest.approx(printed, rel=1e-13)
    elif case["function"] == "theta_complement":
        assert math.exp(float(log_theta_complement(epsilon, shift))) == pytest.approx(printed, rel=1e-12)
    else:
        assert math.exp(float(log_theta(epsilon, shift))) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("case", cases("geom"), ids=lambda c: c["id"])
def test_golden_geometric_sums(case: dict) -> None:
    found = geometric_sum(case["inputs"]["u"], case["inputs"]["T"])
    assert found == pytest.approx(float(case["outputs"]["value"]), rel=1e-13)


def test_golden_bad_channel() -> None:
    (case,) = cases("contraction_finite_channel")
    assert "error" in case["outputs"]
    with pytest.raises(InvalidInput) as caught:
        FiniteChannel(epsilon=case["inputs"]["eps"], rows=tuple(map(tuple, case["inputs"]["rows"])))
    assert caught.value.faults[0].pointer == "/rows/0"


@pytest.mark.compares("asoodeh.lemma-1")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_lemma_1_is_the_divergence_of_two_gaussians(epsilon: float) -> None:
    found = LEMMA_1.evaluate(LEMMA_1.request(epsilon=epsilon, distance=3.0, noise_std=2.0)).outputs
    truth = exact_hockey_stick(gaussian_mixture([1], [1.5]), gaussian_mixture([1], [0]), epsilon, -10, 12)
    assert found["theta"] == pytest.approx(float(truth), rel=1e-12)
    assert found["theta"] + found["complement"] == pytest.approx(1.0, rel=1e-14)


def test_theta_is_the_error_function_at_zero_and_monotone() -> None:
    assert theta(0.0, 1.3) == pytest.approx(math.erf(1.3 / math.sqrt(8)), rel=1e-14)
    shifts = [
        LEMMA_2.evaluate(LEMMA_2.request(epsilon=0.5, diameter=d, noise_std=1.0)).outputs["log10_theta"]
        for d in (0.1, 0.5, 1.0, 5.0)
    ]
    losses = [
        LEMMA_2.evaluate(LEMMA_2.request(epsilon=e, diameter=1.0, noise_std=1.0)).outputs["log10_theta"]
        for e in (0.0, 0.5, 2.0)
    ]
    assert shifts == sorted(shifts)
    assert losses == sorted(losses, reverse=True)


@pytest.mark.erratum("A-8")
def test_the_line_of_the_proof_holds_without_its_second_factor() -> None:
    """A-8: with the factor E_ε(μ‖ν) before the integral, which contains it already, the line is too small."""
    random = np.random.default_rng(3)
    exceeded = 0
    for epsilon in (0.0, 0.3, 1.0):
        gamma = math.exp(epsilon)
        for _ in range(50):
            rows = random.dirichlet(np.full(4, 0.5), size=3)
            p, q = random.dirichlet(np.full(3, 0.5), size=2)
            divergence = float(np.maximum(p - gamma * q, 0).sum())
            distance = float(np.abs((p - gamma * q) @ rows).sum())
            line = max(
                float(np.abs(divergence * here - (divergence + gamma - 1) * there).sum())
                for here in rows
                for there in rows
            )
            assert distance <= line + 1e-12
            exceeded += distance > divergence * line + 1e-12
    assert exceeded > 100


@pytest.mark.compares("asoodeh.1")
def test_no_pair_of_inputs_is_contracted_less() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        rows = random.dirichlet(np.full(4, 0.5), size=3)
        epsilon = float(random.uniform(0, 1.5))
        channel = FiniteChannel(epsilon=epsilon, rows=tuple(map(tuple, rows / rows.sum(axis=1, keepdims=True))))
        coefficient = TWO_POINTS.evaluate(channel).outputs["coefficient"]
        p, q = random.dirichlet(np.full(3, 0.5), size=(200, 2)).transpose(1, 0, 2)
        gamma = math.exp(epsilon)
        before = np.maximum(p - gamma * q, 0).sum(axis=1)
        after = np.maximum((p - gamma * q) @ rows, 0).sum(axis=1)
        assert (after <= coefficient * before + 1e-12).all()
        points = np.eye(3)
        pairs = [np.maximum((points[i] - gamma * points[j]) @ rows, 0).sum() for i in range(3) for j in range(3)]
        assert coefficient == pytest.approx(max(pairs), rel=1e-12)


@pytest.mark.erratum("A-8")
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_the_factor_of_the_lemma_is_attained(epsilon: float) -> None:
    """Point masses at both ends of the set, sent through y ↦ N(y, s²I), have divergence θ_ε(D/s), by quadrature."""
    diameter, std = 2.0, 1.5
    with mp.workdps(30):
        crossing = mpf(epsilon) * mpf(std) ** 2 / diameter + mpf(diameter) / 2

        def excess(y: Any) -> Any:
            return mp.npdf(y, diameter, std) - mp.exp(epsilon) * mp.npdf(y, 0, std)

        divergence = mp.quad(excess, [crossing, crossing + 5, crossing + 40])
    found = LEMMA_2.evaluate(LEMMA_2.request(epsilon=epsilon, diameter=diameter, noise_std=std)).outputs
    assert found["theta"] == pytest.approx(float(divergence), rel=1e-12)


def test_a_projection_contracts_further() -> None:
    # From the ends of [−1, 1], noise 0.5, projected back: below θ(2/0.5) once the threshold lies outside the ball.
    ends = [Law(1.0, 80, np.asarray([start]), np.ones(1), 0.5) for start in (1.0, -1.0)]
    for epsilon in (0.0, 1.0, 6.0):
        assert hockey_stick(ends[:1], ends[1:], epsilon) == pytest.approx(theta(epsilon, 4.0), abs=2e-6)
    assert hockey_stick(ends[:1], ends[1:], 10.0) < 0.9 * theta(10.0, 4.0)
