"""The risk of one pass over convex losses: in high precision, along runs of any losses, and by exact enumeration."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import harmonic, mp, mpf

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.asoodeh.convex_bound import CONVEX_STOPS

RUN: dict[str, Any] = {"clients": 100, "participants": 3, "dimension": 7, "lipschitz": 0.7, "radius": 1.5}


def found(**fields: Any) -> Any:
    return CONVEX_STOPS.evaluate(CONVEX_STOPS.request(**{"noise_std": 0.3, **RUN, **fields})).outputs


@pytest.mark.compares("epsilond.one-pass-convex-excess-risk")
@pytest.mark.parametrize(("clients", "stops"), [(3, None), (100, 9), (10**9, 10**4)])
@pytest.mark.parametrize("step_size", [None, 1e-3, 7.0])
def test_the_bounds_in_high_precision(clients: int, stops: int | None, step_size: float | None) -> None:
    outputs = found(clients=clients, stops=stops, step_size=step_size)
    steps = clients // 3
    with mp.workdps(40):
        squared = mpf(0.7) ** 2 + 7 * mpf(0.3) ** 2 / 3
        for name, count, factor in (
            ("at_random_stop", stops or steps, mpf(1)),
            ("of_last", steps, 1 + harmonic(steps - 1) if steps > 1 else mpf(1)),
        ):
            best = 2 * mpf(1.5) / mp.sqrt(squared * factor * count)
            step = best if step_size is None else mpf(step_size)
            value = 2 * mpf(1.5) ** 2 / (step * count) + step * squared * factor / 2
            assert outputs[f"excess_risk_{name}"] == pytest.approx(float(value), rel=1e-13)
            assert mpf(outputs[f"excess_risk_{name}"]) >= value
            assert outputs[f"step_size_{'of_random_stop' if name == 'at_random_stop' else name}"] == pytest.approx(
                float(step), rel=1e-13
            )


@pytest.mark.parametrize("step_size", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("noise_std", [0.0, 0.5])
def test_the_law_of_runs_on_coin_flips_keeps_both_bounds(step_size: float, noise_std: float) -> None:
    """Records ±1 with chance 5/8 of +1, losses −xw on [−1, 1] plus noise of ±σ: every path of 7 steps."""
    steps, chance = 7, 5 / 8
    laws = {0.0: 1.0}
    mean, last = 0.0, 0.0
    for _ in range(steps):
        after: dict[float, float] = {}
        for (model, mass), (record, share), sign in product(
            laws.items(), ((1.0, chance), (-1.0, 1 - chance)), (-1.0, 1.0)
        ):
            moved = min(1.0, max(-1.0, model + step_size * (record + sign * noise_std)))
            after[moved] = after.get(moved, 0.0) + mass * share / 2
        laws = after
        # F(w) = −w/4, least at w = 1.
        last = sum(mass * (1.0 - model) / 4 for model, mass in laws.items())
        mean += last / steps
    outputs = found(
        clients=steps, participants=1, dimension=1, lipschitz=1.0, radius=1.0, noise_std=noise_std, step_size=step_size
    )
    assert 0.0 < mean <= outputs["excess_risk_at_random_stop"]
    assert 0.0 < last <= outputs["excess_risk_of_last"]


def test_without_noise_the_last_of_alternating_losses_is_near_its_bound() -> None:
    """|w| from ρ down in steps of η: the mean is Θ(1) of the bound where η is the best step."""
    steps = 400
    eta = found(clients=steps, participants=1, dimension=1, lipschitz=1.0, radius=1.0, noise_std=0.0)
    model, excess = 1.0, []
    for _ in range(steps):
        model = np.clip(model - eta["step_size_of_random_stop"] * np.sign(model), -1.0, 1.0)
        excess.append(abs(float(model)))
    assert 0.25 * eta["excess_risk_at_random_stop"] < np.mean(excess) <= eta["excess_risk_at_random_stop"]


def test_four_times_the_users_halve_the_risk_of_a_random_stop() -> None:
    few, many = (found(clients=n)["excess_risk_at_random_stop"] for n in (300, 1200))
    assert many == pytest.approx(few / 2)
    assert math.isfinite(few)


def test_no_more_stops_than_steps() -> None:
    with pytest.raises(InvalidInput, match="steps of the pass"):
        found(stops=34)
    assert found(stops=33)["steps"] == 33
