"""Lemma E.5 at the minimiser and equation (16): enumeration of rounds, runs on quadratics, and what refutes them."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stationary_minimum import EQUATION_16, MINIMISER


def served(theorem: Any, reading: str = "printed", **fields: Any) -> Any:
    return theorem.evaluate(theorem.request(**fields), reading).outputs


def round_moment(data: Any, participants: int, batch: int, noise: float) -> float:
    """E|g|² over all sets of clients and all batches drawn with replacement, plus the noise of d = 1."""
    clients, records = data.shape
    values = []
    for chosen in combinations(range(clients), participants):
        for drawn in product(product(range(records), repeat=batch), repeat=participants):
            means = [data[client, list(picks)].mean() for client, picks in zip(chosen, drawn, strict=True)]
            values.append(np.mean(means) ** 2)
    return float(np.mean(values)) + noise * noise / participants


@pytest.mark.compares("lowy.lemma-e.5.minimiser")
@pytest.mark.parametrize("shift", [0.0, 0.8])
@pytest.mark.parametrize(("participants", "batch"), [(1, 2), (2, 1), (3, 1)])
def test_the_mean_square_at_the_minimiser_by_enumeration(shift: float, participants: int, batch: int) -> None:
    data = np.random.default_rng(4).normal(size=(3, 2))
    data += shift - data.mean()
    means = data.mean(axis=1)
    fields = {
        "clients": 3,
        "participants": participants,
        "batch_size": batch,
        "dimension": 1,
        "gradient_std": 0.0,
        "client_groups": [{"clients": 1, "gradient_std": float(row.std())} for row in data],
        "heterogeneity": float(np.sqrt((means**2).mean())),
        "noise_std": 0.3,
        "mean_gradient_norm": abs(float(data.mean())) if shift else 0.0,
    }
    exact = round_moment(data, participants, batch, 0.3)
    assert served(MINIMISER, "corrected", **fields)["mean_square"] == pytest.approx(exact, rel=1e-9)
    printed = served(MINIMISER, **fields)["mean_square"]
    if shift == 0.0:
        assert printed >= exact - 1e-12
    elif participants == 3:
        assert printed < 0.9 * exact  # E-13: the printed bound has no |∇F(w*)|²


def test_a_mean_gradient_above_the_mean_square_is_shown() -> None:
    fields = {"clients": 3, "batch_size": 1, "dimension": 1, "gradient_std": 1.0, "noise_std": 0.1}
    for norm, holds in ((0.4, "yes"), (0.6, "no")):
        request = MINIMISER.request(**fields, heterogeneity=0.5, mean_gradient_norm=norm)
        found = {each.id: each.holds for each in MINIMISER.evaluate(request).conditions}
        assert found["mean-within"] == holds


@pytest.mark.compares("lowy.equation-16")
@pytest.mark.parametrize("participants", [1, 2, 3])
@pytest.mark.parametrize("step_size", [0.25, 0.05])
def test_one_step_on_quadratics_by_enumeration(participants: int, step_size: float) -> None:
    """Records b(w − a)²/2 with b ≤ 1, minimum at 0 inside the line: E|w'|² over all clients and batches of one."""
    rng = np.random.default_rng(participants)
    curvatures, centres = rng.uniform(0.3, 1.0, size=(3, 2)), rng.normal(size=(3, 2))
    centres -= (curvatures * centres).sum() / curvatures.sum()
    gradients = -curvatures * centres  # at the minimiser 0, where they add up to 0
    w, mean_curvature = 0.7, float(curvatures.mean())
    after = []
    for chosen in combinations(range(3), participants):
        for picks in product(range(2), repeat=participants):
            slopes = [curvatures[i, j] * w + gradients[i, j] for i, j in zip(chosen, picks, strict=True)]
            after.append((w - step_size * float(np.mean(slopes))) ** 2)
    exact = float(np.mean(after)) + step_size**2 * 0.2**2 / participants
    fields = {
        "clients": 3,
        "participants": participants,
        "batch_size": 1,
        "dimension": 1,
        "gradient_std": 0.0,
        "client_groups": [{"clients": 1, "gradient_std": float(row.std())} for row in gradients],
        "heterogeneity": float(np.sqrt((gradients.mean(axis=1) ** 2).mean())),
        "noise_std": 0.2,
        "distance": w,
        "excess_risk": 0.5 * mean_curvature * w * w,
        "step_size": step_size,
        "smoothness": 1.0,
        "strong_convexity": mean_curvature,
    }
    found = served(EQUATION_16, **fields)
    spread = max(float(row.var()) for row in gradients)
    between = (3 - participants) / 2 / participants * float((gradients.mean(axis=1) ** 2).mean())
    largest = sorted((float(row.var()) for row in gradients), reverse=True)[:participants]
    within = min(spread, float(np.mean(largest))) / participants
    added = step_size**2 * (2 * (within + between) + 0.04 / participants)
    progress = 2 * step_size * (1 - 2 * step_size) * 0.5 * mean_curvature * w * w
    expected = {
        "squared_distance": (1 - mean_curvature * step_size) * w * w - progress + added,
        "contracted": (1 - mean_curvature * step_size) * w * w,
        "progress": progress,
        "added_variance": added,
    }
    assert found == pytest.approx(expected, rel=1e-12)
    assert exact <= found["squared_distance"] * (1 + 1e-12)


def test_a_constrained_minimum_refutes_16() -> None:
    """E-13: f(w) = w on [0, 1] from 0.1: the distance falls to 0.05, and (16) has less."""
    fields = {"clients": 1, "batch_size": 1, "dimension": 1, "gradient_std": 0.0, "noise_std": 1e-12}
    step, start, smoothness = 0.05, 0.1, 1e-3
    found = served(EQUATION_16, **fields, distance=start, excess_risk=start, step_size=step, smoothness=smoothness)
    assert (start - step) ** 2 > 1.5 * found["squared_distance"]


def test_a_long_step_and_too_much_convexity_are_shown() -> None:
    fields = {"clients": 1, "batch_size": 1, "dimension": 1, "gradient_std": 0.0, "noise_std": 0.1, "distance": 1.0}
    request = EQUATION_16.request(**fields, step_size=0.26, smoothness=1.0)
    assert EQUATION_16.evaluate(request).conditions[0].holds == "no"
    assert math.isclose(EQUATION_16.evaluate(request).conditions[0].left, 0.26)
    with pytest.raises(InvalidInput, match="/strong_convexity"):
        EQUATION_16.request(**fields, step_size=0.1, smoothness=1.0, strong_convexity=2.0)
