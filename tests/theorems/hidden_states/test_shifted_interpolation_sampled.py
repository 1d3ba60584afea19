"""Fresh batches in every step: the window that is composed, against the laws themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_sampled import (
    StepWindow,
    best_window,
    dominating_mechanism,
    sampled_square,
    shift_square,
)
from tests.oracles.contraction import gradient_step, run, worst


def sampled_run(steps: int, **changes: object) -> ProjectedRun:
    fields: dict[str, object] = {
        "clients": 4,
        "participants": 1,
        "steps": steps,
        "first_stop": steps,
        "sensitivity": 2.0,
        "lipschitz": 1.0,
        "radius": 0.5,
        "smoothness": 1.0,
        "strong_convexity": 0.0,
        "convex": True,
        "step_schedule": Constant(value=0.4),
        "noise_schedule": Constant(value=3.0),
    }
    return ProjectedRun(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("steps", "window", "share"), [(6, 5, 0.3), (6, 3, 0.5), (6, 1, 0.8), (12, 9, 0.2)])
@pytest.mark.parametrize("curvature", [0.0, 0.8])
def test_the_laws_lie_inside_every_window(steps: int, window: int, share: float, curvature: float) -> None:
    given = sampled_run(steps, lipschitz=1.0 + curvature * 0.5, strong_convexity=curvature)
    mu = math.sqrt(float(shift_square(given, np.asarray(float(window)))) / share)
    spec = dominating_mechanism(given, StepWindow(window, share, mu, 0.0, 0.0))
    curve = account(spec, relation="replace-one", effort="coarse").guarantee.curve
    laws = []
    for slope in (1.0, -1.0):
        maps = [(0.25, gradient_step(0.4, curvature, slope)), (0.75, gradient_step(0.4, curvature, 1.0))]
        laws.append(run(0.5, -0.5, [(maps, 0.4 * 3.0)] * steps, nodes=60))
    for epsilon in (0.0, 0.1, 0.3):
        assert worst(laws[:1], laws[1:], epsilon) <= math.exp(curve.log_delta(epsilon).upper) + 1e-6


@pytest.mark.erratum("E-S1")
def test_the_distance_left_needs_every_sampled_step() -> None:
    """Full batches are batches too: with the quoted c^{v+1} the distance left at t = v + 1 would be nothing."""
    steps, c = 6, 0.5
    given = sampled_run(
        steps, clients=1, radius=1e9, step_schedule=Constant(value=0.5), smoothness=1.0, strong_convexity=1.0
    )
    (shift,), _ = given.shifts(1, 1)
    for window in (1, 3, 5):
        ours = math.sqrt(float(shift_square(given, np.asarray(float(window)))))
        distance = shift * (c**window - c**steps) / (1 - c)
        room = math.sqrt(sum(c ** (2 * k) for k in range(window)))
        assert ours == pytest.approx(distance / room, rel=1e-9)
        quoted = shift * (c ** (window + 1) - c**steps) / (1 - c)
        # What the run really is at distance of, with the same batches and noise in both, v steps before its end.
        apart = 0.0
        for _ in range(steps - window):
            apart = c * apart + shift
        assert apart * c**window == pytest.approx(distance, rel=1e-12)
        assert quoted < distance


def test_the_search_promises_what_the_limit_says_and_only_then_helps() -> None:
    short, long = best_window(sampled_run(5)), best_window(sampled_run(10**6))
    assert not short.helps
    assert long.helps
    assert long.expected_square < 1e-2 * long.composed_square
    assert 1 <= long.steps < 10**6
    assert float(sampled_square(1.0, np.asarray(1e-3))) == pytest.approx(1e-6, rel=1e-2)


def test_a_long_run_in_a_small_ball_is_better_than_its_composition() -> None:
    spec = ProjectedSgd(
        clients=200,
        participants=10,
        rounds=20_000,
        batches="without-replacement",
        lipschitz=1.0,
        radius=0.1,
        smoothness=1.0,
        step_schedule=Constant(value=0.5),
        noise_schedule=Constant(value=20.0),
    )
    found = account(spec, relation="replace-one", observer="final-model", effort="coarse")
    gave = {tried.theorem: tried.curve for tried in found.considered if tried.curve is not None}
    composed, ours = gave["epsilond.hidden-is-composed"], gave["epsilond.sampled-shifted-interpolation"]
    assert ours.log_delta(0.5).upper < composed.log_delta(0.5).upper - 1.0
    assert found.guarantee.curve.log_delta(0.5).upper == ours.log_delta(0.5).upper
    zeroed = account(spec, relation="zero-out-one", observer="final-model", effort="coarse").guarantee
    assert "epsilond.zeroed-is-replaced" in zeroed.theorems()
    assert zeroed.curve.log_delta(0.5).upper <= composed.log_delta(0.5).upper
