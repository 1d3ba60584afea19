"""Convergence bounds of Das et al. against one another, and against runs on quadratics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.truncated_laplace import largest_rate, least_levels, variance
from epsilond.accountants.theorems.papers.das.noise_law import update_error
from epsilond.accountants.theorems.papers.das.truncated_noise import PrintedInputs, printed_levels
from epsilond.accountants.theorems.risk.das.convergence import (
    EQUATION_39,
    LEMMA_3,
    THEOREM_2_UTILITY,
    THEOREM_4,
    ConvergenceInputs,
    best_ratio,
)
from epsilond.accountants.theorems.risk.das.fedavg import variance_constant

BASE: dict[str, Any] = dict(EQUATION_39.examples[0])


def bound(**changes: Any) -> Any:
    return EQUATION_39.evaluate(ConvergenceInputs(**{**BASE, **changes})).outputs


@pytest.mark.compares("das.2-utility", "das.equation-39")
def test_the_general_bound_is_theorem_2_at_root_steps() -> None:
    inputs = ConvergenceInputs(**BASE, client_optimum_distance=0.3)
    printed = THEOREM_2_UTILITY.evaluate(inputs)
    assert printed.conditions[0].holds == "yes"
    assert EQUATION_39.evaluate(inputs).outputs["gradient_norm"] == pytest.approx(
        printed.outputs["gradient_norm"], rel=1e-13
    )
    other = ConvergenceInputs(**{**BASE, "local_steps": 21})
    assert THEOREM_2_UTILITY.evaluate(other).conditions[0].holds == "no"


def test_the_best_ratio_is_the_best() -> None:
    fields = {name: BASE[name] for name in ("smoothness", "quasar_convexity", "initial_distance", "rounds")}
    best = best_ratio(**fields, local_steps=7)
    least = bound(local_steps=7, step_ratio=best)["gradient_norm"]
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert bound(local_steps=7, step_ratio=factor * best)["gradient_norm"] > least


@pytest.mark.parametrize("local_steps", [1, 5, 10])
def test_a_run_on_quadratics_stays_within_the_bound(local_steps: int) -> None:
    """NormFedAvg with noise of the same mean squared error γ on f_i = L‖w − w*‖²/2: convex, so ζ = 1."""
    rng = np.random.default_rng(5)
    smoothness, dimension, rounds, clients, gamma = 2.0, 4, 100, 5, 0.7
    inputs = ConvergenceInputs(
        smoothness=smoothness,
        quasar_convexity=1.0,
        initial_distance=3.0,
        rounds=rounds,
        local_steps=local_steps,
        compression=gamma,
        participants=clients,
    )
    steps = inputs.steps
    norms = []
    for _ in range(30):
        model = np.full(dimension, 1.5)
        for _ in range(rounds):
            norms.append(smoothness * np.linalg.norm(model))
            update = model * (1 - (1 - steps.local * smoothness) ** local_steps)
            unit = update / max(np.linalg.norm(update), 1e-300)
            noise = rng.normal(size=(clients, dimension)).mean(axis=0) * math.sqrt(gamma / dimension)
            model = model - steps.server * (unit + noise)
    found = EQUATION_39.evaluate(inputs).outputs
    assert np.mean(norms) <= found["gradient_norm"]


@pytest.mark.erratum("D-14")
def test_the_compression_depends_on_epsilon() -> None:
    def compression(epsilon: float) -> float:
        parts = [(52, 400)]
        rate = largest_rate(epsilon, 52 * 400)
        levels = least_levels(rate, parts, math.log(1e-6))
        return update_error(dimension=400, quantization_levels=512, variance_in_steps=variance(rate, levels))

    assert compression(0.1) > 50 * compression(1.0)

    def at_printed_levels(epsilon: float) -> float:
        levels = PrintedInputs(epsilon=epsilon, dimension=400, l1_sensitivity=52 * 400, linf_sensitivity=52)
        count = printed_levels(levels)
        assert count is not None
        noise = variance(levels.decay_rate, count)
        return update_error(dimension=400, quantization_levels=512, variance_in_steps=noise)

    # With the levels of Theorem 1 the error hardly depends on ε.
    assert at_printed_levels(0.1) == pytest.approx(at_printed_levels(1.0), rel=0.05)


def test_the_constant_of_theorem_4() -> None:
    assert variance_constant(clients=1, participants=1) == 64.0
    assert variance_constant(clients=50, participants=50) == 64.0
    for clients in (2, 3, 50, 10**6):
        values = [variance_constant(clients=clients, participants=r) for r in (1, clients // 2 or 1, clients)]
        assert min(values) >= 4.0
        assert max(values) <= 64.0 * clients / (clients - 1) + 25.0
    with pytest.raises(InvalidInput):
        THEOREM_4.inputs(**{**THEOREM_4.examples[0], "participants": 51})


@pytest.mark.erratum("D-13")
def test_the_steps_of_the_proof_give_half_the_factor() -> None:
    """D-13: gradients that meet (47) and (48) with equality at ηLE = 1/4, of which all but the first are half as long."""
    for steps in (5, 40, 10**6):
        squares = 1.0 + 0.25 * (steps - 1)
        least = steps * (1 - 0.25**2 / 2) * squares
        assert least < 31 / 64 * steps**2
        assert least < 4 / 9 * steps**2
    assert least == pytest.approx(31 / 128 * steps**2, rel=1e-5)
    inputs = LEMMA_3.inputs(**LEMMA_3.examples[0])
    found = LEMMA_3.evaluate(inputs, "corrected").outputs
    assert found["constant_of_the_printed_proof"] ** 2 == pytest.approx(31 / 128, rel=1e-14)


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_the_update_of_a_quadratic_is_long_enough(steps: int) -> None:
    smoothness = 1.7
    eta = 0.25 / (smoothness * steps)
    update = sum(smoothness * (1 - eta * smoothness) ** tau for tau in range(steps))
    inputs = LEMMA_3.inputs(gradient_norm=smoothness, local_steps=steps, step_size=eta, smoothness=smoothness)
    printed, better = (LEMMA_3.evaluate(inputs, reading).outputs["update_norm"] for reading in ("printed", "corrected"))
    assert printed <= 0.75 * steps * smoothness <= better * (1 + 1e-15) <= update * (1 + 1e-14)
    longer = LEMMA_3.inputs(gradient_norm=1.0, local_steps=steps, step_size=1.01 * eta, smoothness=smoothness)
    assert LEMMA_3.evaluate(longer).conditions[0].holds == "no"
