"""The instance of hidden-state projected SGD on a line, against the laws of its models by dense quadrature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from epsilond.accountants.account import account
from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.hidden_states.projected_sgd_instances import last_model_instances

DENSE = 801


def run(**changes: Any) -> ProjectedSgd:
    fields: dict[str, Any] = {
        "clients": 6,
        "participants": 2,
        "lipschitz": 1.0,
        "radius": 1.0,
        "smoothness": 1.0,
        "step_schedule": Constant(value=0.5),
        "noise_schedule": Constant(value=1.0),
    }
    return ProjectedSgd(**(fields | changes))


def model(spec: ProjectedSgd, pulls: list[float]) -> np.ndarray:
    """Distribution function of the last model on a dense grid of the ball, the record pulling by `pulls`, step by step."""
    reach = min(spec.radius, 6.0)  # beyond it the model does not come
    grid = np.linspace(-reach, reach, DENSE)
    step, noise = spec.step_schedule.constant, spec.noise_schedule.constant
    assert step is not None
    assert noise is not None
    keep, spread = 1.0 - step * spec.strong_convexity, step * noise / math.sqrt(spec.participants)
    mass = np.zeros(DENSE)
    mass[DENSE // 2] = 1.0
    below = np.zeros(DENSE)
    for pull in pulls:
        moved = step * pull / spec.participants
        below = np.zeros(DENSE)
        for start in np.array_split(np.arange(DENSE), 12):
            kernel = ndtr((grid[None, :] - keep * grid[start, None] - moved) / spread)
            below += mass[start] @ kernel
        below[-1] = 1.0
        # A cell's mass in the middle of it: second order in the cell's width.
        inner = 0.5 * (below[1:] + below[:-1])
        mass = np.diff(inner, prepend=0.0, append=1.0)
    return below


def divergence(spec: ProjectedSgd, runs: list[tuple[float, list[float], list[float]]], epsilon: float) -> float:
    """Over half-lines: the likelihood ratio rises along the line."""
    first = sum(weight * model(spec, p) for weight, p, _ in runs)
    second = sum(weight * model(spec, q) for weight, _, q in runs)
    above = (1.0 - first) - math.exp(epsilon) * (1.0 - second)
    return float(max(above.max(), 0.0))


CASES: list[tuple[str, dict[str, Any], list[tuple[float, list[float], list[float]]]]] = [
    ("one full step", {"participants": 6, "rounds": 1}, [(1.0, [1.0], [-1.0])]),
    ("three full steps", {"participants": 6, "rounds": 3}, [(1.0, [1.0] * 3, [-1.0] * 3)]),
    ("cyclic", {"batches": "cyclic"}, [(1.0, [0.0, 0.0, 1.0], [0.0, 0.0, -1.0])]),
    (
        "shuffled",
        {},
        [(1 / 3, [float(t == at) for t in range(3)], [-float(t == at) for t in range(3)]) for at in range(3)],
    ),
    (
        "strongly convex, cyclic",
        {"batches": "cyclic", "strong_convexity": 0.4},
        [(1.0, [0.0, 0.0, 0.6], [0.0, 0.0, -0.6])],
    ),
]


@pytest.mark.parametrize("radius", [1.0, 40.0])
@pytest.mark.parametrize(("name", "changes", "runs"), CASES, ids=[case[0] for case in CASES])
def test_it_lies_below_its_instance_and_not_far(name: str, changes: dict[str, Any], runs: Any, radius: float) -> None:
    if "strong_convexity" in changes and radius > 1.0:
        pytest.skip("a strongly convex loss that is Lipschitz on a large ball has no room to pull")
    spec = run(radius=radius, **changes)
    (pair,) = last_model_instances(spec, "replace-one")
    for epsilon in (0.0, 0.1, 0.3):
        lower = float(pair.forward.log_delta(np.asarray([epsilon])).lower[0])
        exact = divergence(spec, runs, epsilon)
        assert math.exp(lower) <= exact * (1 + 1e-3) + 1e-6
        if exact > 0.02:
            assert math.exp(lower) >= 0.75 * exact


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batches": "cyclic", "rounds": 7},
        {"batches": "without-replacement", "rounds": 5},
        {"participants": 6, "rounds": 4},
    ],
)
def test_no_lower_end_is_zero(relation: Any, changes: dict[str, Any]) -> None:
    spec = run(radius=3.0, noise_schedule=Constant(value=0.5), **changes)
    guarantee = account(spec, relation=relation, observer="final-model").guarantee
    found = guarantee.curve.epsilon(math.log(1e-3))
    assert 0.0 < found.lower <= found.upper
    assert guarantee.tight != "unknown"


def test_where_it_is_not_worked_out_there_is_none() -> None:
    assert last_model_instances(run(strong_convexity=1.0), "replace-one") == ()
    assert last_model_instances(run(release="random-stop"), "replace-one") == ()
    assert last_model_instances(run(rounds=6), "replace-one") == ()


def test_a_zeroed_gradient_that_changes_the_contraction_too_has_no_instance() -> None:
    """A zeroed record loses its part of the strong convexity, so that its world's steps contract less."""
    assert last_model_instances(run(strong_convexity=0.5), "replace-one")
    assert last_model_instances(run(strong_convexity=0.5), "zero-out-one") == ()
    assert last_model_instances(run(), "zero-out-one")
