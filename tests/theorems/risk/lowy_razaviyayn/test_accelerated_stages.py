"""Algorithm 2: its weights against the minimisation they stand for, and its schedule against an explicit bound."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import READINGS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import (
    DescentFacts,
    stage_factors,
    stages_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import (
    ALGORITHM_2,
    StagesInputs,
    round_weights,
)
from tests.oracles.golden import cases_by_id

CASES = cases_by_id("lowy")


FIRST: dict[str, Any] = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_gap": 1.0, "gradient_variance": 0.5}


def test_golden_schedule() -> None:
    expected = CASES["te1-10"]["outputs"]
    stages = [StagesInputs(**FIRST, rounds=853).stage(k, "printed") for k in (1, 2, 3)]
    assert [stage.rounds for stage in stages] == [stage["R_k"] for stage in expected["stages"]]
    assert [stage.prox_weight for stage in stages] == [stage["v_k"] for stage in expected["stages"]]
    assert sum(stage.rounds for stage in stages) == expected["total_rounds"]
    assert [0.5**k for k in (1, 2, 3)] == [stage["gap_after"] for stage in expected["stages"]]


@pytest.mark.compares("lowy.algorithm-2")
def test_golden_number_of_stages() -> None:
    given, expected = CASES["te1-11"]["inputs"], CASES["te1-11"]["outputs"]
    inputs = StagesInputs(
        smoothness=given["beta"],
        strong_convexity=float(given["mu"]),
        initial_gap=given["Delta"],
        gradient_variance=float(given["V2"]),
        rounds=given["R"],
    )
    found = ALGORITHM_2.evaluate(inputs)
    assert len(found.outputs["stages"]) == expected["U"]
    assert found.outputs["used_rounds"] == expected["used"]
    assert found.outputs["aimed_excess_risk"] == 0.25
    assert found.conditions[0].holds == "yes"
    few = ALGORITHM_2.evaluate(StagesInputs(**{**vars(inputs), "rounds": 853}))
    assert (few.conditions[0].holds, few.conditions[0].right) == ("no", 854)
    assert few.outputs["stages"] == []


@pytest.mark.parametrize("seed", range(20))
def test_the_weights_are_the_minimiser_and_stay_in_the_domain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mu = 0.0 if seed % 4 == 0 else float(10 ** rng.uniform(-3, 1))
    v, r = float(10 ** rng.uniform(-1, 2)), int(rng.integers(1, 30))
    made = round_weights(round_number=r, prox_weight=v, strong_convexity=mu)
    assert made["aggregate_weight"] + made["iterate_weight"] == pytest.approx(1.0, rel=1e-14)
    assert made["middle_weight"] + made["kept_weight"] == pytest.approx(1.0, rel=1e-14)
    assert min(made["aggregate_weight"], made["middle_weight"]) >= 0.0
    alpha, eta = 2 / (r + 1), 4 * v / (r * (r + 1))
    below = eta + (1 - alpha**2) * mu
    assert made["aggregate_weight"] == pytest.approx((1 - alpha) * (mu + eta) / below, rel=1e-12)
    assert made["iterate_weight"] == pytest.approx(alpha * ((1 - alpha) * mu + eta) / below, rel=1e-12)
    before, middle, gradient = rng.uniform(-1, 1, 3)

    def objective(w: float) -> float:
        near = gradient * w + mu / 2 * (middle - w) ** 2
        return float(alpha * near + ((1 - alpha) * mu / 2 + eta / 2) * (before - w) ** 2)

    found = made["middle_weight"] * middle + made["kept_weight"] * before - made["step_size"] * gradient
    best = minimize_scalar(objective, bracket=(found - 1, found + 1.3), tol=1e-12).x
    assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_every_stage_reaches_the_gap_it_aims_at(seed: int) -> None:
    """The corrected schedule, with explicit constants, whether or not the inner loop uses μ; the printed one if it does."""
    rng = np.random.default_rng(seed)
    smoothness = float(10 ** rng.uniform(-3, 3))
    mu = smoothness * float(10 ** rng.uniform(-5, 0))
    gap, variance = float(10 ** rng.uniform(-3, 3)), float(10 ** rng.uniform(-6, 3))
    schedule = StagesInputs(
        smoothness=smoothness, strong_convexity=mu, initial_gap=gap, gradient_variance=variance, rounds=10**12
    )
    descent = DescentFacts(
        smoothness=smoothness, strong_convexity=mu, initial_distance=math.inf, diameter=math.inf, initial_gap=gap
    )
    for reading in READINGS:
        stages = schedule.stages(reading)[:12]
        assert len(stages) >= 2
        for count in range(1, len(stages) + 1):
            assert stages_bound(stages[:count], descent, variance=variance).at(variance) <= gap * 0.5**count
    for number, stage in enumerate(schedule.stages()[:12], start=1):
        plain = stage_factors(stage, smoothness=smoothness, strong_convexity=0.0)
        start = gap * 0.5 ** (number - 1)
        assert plain.optimisation * 2 * start / mu + plain.variance_factor * variance <= 0.5 * start


def stage_by_simulation(v: float, rounds: int, *, inner: float, mu: float, start: float, std: float) -> float:
    """Mean excess of F(w) = μw²/2 after one stage whose inner loop uses `inner` for μ."""
    rng = np.random.default_rng(5)
    w = np.full(4000, start)
    ag = w.copy()
    for r in range(1, rounds + 1):
        made = round_weights(round_number=r, prox_weight=v, strong_convexity=inner)
        middle = made["aggregate_weight"] * ag + made["iterate_weight"] * w
        gradient = mu * middle + std * rng.standard_normal(w.shape)
        w = made["middle_weight"] * middle + made["kept_weight"] * w - made["step_size"] * gradient
        ag = made["alpha"] * w + (1 - made["alpha"]) * ag
    return float(np.mean(mu * ag * ag / 2))


@pytest.mark.erratum("E-15")
def test_the_printed_prox_weight_misses_where_the_inner_loop_knows_no_convexity() -> None:
    """E-15: μ = 0.1, V² = 0.5, Δ = 1. The first stage aims at 0.5; without μ the printed v_k is far above it."""
    schedule = StagesInputs(**FIRST, rounds=853)
    start = math.sqrt(2 * 1.0 / 0.1)
    results = {
        (reading, inner): stage_by_simulation(
            schedule.stage(1, reading).prox_weight, 854, inner=inner, mu=0.1, start=start,
            std=math.sqrt(0.5),
        )
        for reading in READINGS
        for inner in (0.0, 0.1)
    }  # fmt: skip
    assert results["printed", 0.0] > 0.5
    assert max(results["corrected", 0.0], results["corrected", 0.1], results["printed", 0.1]) < 0.25


@pytest.mark.parametrize("mu", [0.0, 1.5])
def test_what_no_problem_can_have(mu: float) -> None:
    with pytest.raises(InvalidInput, match="/strong_convexity"):
        StagesInputs(smoothness=1.0, strong_convexity=mu, initial_gap=1.0, gradient_variance=0.5, rounds=10)
