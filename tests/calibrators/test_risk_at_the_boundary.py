"""Risk bounds of projected-sgd below which a run may not fall: losses whose minimiser is on the boundary of the ball.

A record's loss is F(w) = λw²/2 − gw on [−1, 1], the same for all records. Its minimiser is min{1, g/λ}, with gradient
λ − g < 0 if g > λ. The law of the model is followed on a grid, step by step, so that the excess risk has no sampling
error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS
from epsilond.reading import read

(BOUNDER,) = [bounder for bounder in RISK_BOUNDS if bounder.name == "projected-sgd"]
POINTS = 401
GRID = np.linspace(-1.0, 1.0, POINTS)
INTERIOR = ["interior-minimiser"]


def excess_risk(*, curvature: float, slope: float, step_sizes: list[float], noise_std: float) -> float:
    """Return E F(W_T) − F* from the start −1, for steps whose noise is spread over several points of the grid."""
    edges = np.concatenate([[-np.inf], (GRID[1:] + GRID[:-1]) / 2.0, [np.inf]])  # clipping is in the outer cells
    law = np.zeros(POINTS)
    law[0] = 1.0
    moves: dict[float, Any] = {}
    for size in step_sizes:
        if size not in moves:
            assert size * noise_std > 3.0 * (GRID[1] - GRID[0])
            centre = GRID - size * (curvature * GRID - slope)
            moves[size] = np.diff(norm.cdf(edges[None, :], loc=centre[:, None], scale=size * noise_std), axis=1)
        law = law @ moves[size]
    best = min(1.0, slope / curvature)
    losses = curvature * GRID**2 / 2.0 - slope * GRID
    return float(law @ (losses - (curvature * best**2 / 2.0 - slope * best)))


def bounded(
    *, curvature: float, slope: float, steps: int, step_schedule: dict[str, Any], noise_std: float, **more: Any
) -> RiskBoundsAnswer:
    body = {
        "epsilon": 0.5,
        "delta": 1e-5,
        "relation": "replace-one",
        "unit": "record",
        "observer": "final-model",
        "lipschitz": curvature + slope,
        "radius": 1.0,
        "clients": steps,
        "participants": 1,
        "dimension": 1,
        "strong_convexity": curvature,
        "smoothness": curvature,
        "step_schedule": step_schedule,
        "noise_std": noise_std,
        **more,
    }
    answer: RiskBoundsAnswer = BOUNDER.solve(
        read(BOUNDER.problem, {name: value for name, value in body.items() if value is not None})
    )
    return answer


def test_a_known_smoothness_does_not_place_the_minimiser_in_the_interior() -> None:
    """4000 steps of 0.01 with noise 5: the bound for an interior minimiser is 0.065, and the risk 0.101."""
    run: dict[str, Any] = {"curvature": 0.1, "slope": 0.9, "noise_std": 5.0}
    constant = {"kind": "constant", "value": 0.01}
    measured = excess_risk(**run, step_sizes=[0.01] * 4000)
    assert measured == pytest.approx(0.1012, abs=3e-4)  # the mean of 20000 simulated runs, with standard error 9e-5
    answer = bounded(**run, steps=4000, step_schedule=constant)
    first, interior = answer.upper
    assert first.value is not None
    assert interior.value is not None
    assert interior.value < measured < first.value
    assert first.conditions == ()
    assert [(one.id, one.holds) for one in interior.conditions] == [("interior-minimiser", "undecidable")]
    assert "interior-minimiser" not in {one.id for one in answer.declared_conditions}
    (without,) = bounded(**run, steps=4000, step_schedule=constant, smoothness=None).upper
    assert without.value == first.value


@pytest.mark.parametrize(("curvature", "slope"), [(0.1, 0.9), (0.5, 0.6), (0.5, 0.5), (0.5, 0.2), (1.0, 0.0)])
@pytest.mark.parametrize(
    ("step_schedule", "noise_std"),
    [
        ({"kind": "constant", "value": 0.01}, 4.0),
        ({"kind": "constant", "value": 0.1}, 1.0),
        ({"kind": "explicit", "values": [0.1] * 100 + [0.02] * 300}, 1.0),
        ({"kind": "explicit", "values": [0.02] * 300 + [0.1] * 100}, 1.0),
    ],
)
def test_no_run_exceeds_a_bound_whose_conditions_it_meets(
    curvature: float, slope: float, step_schedule: dict[str, Any], noise_std: float
) -> None:
    sizes = step_schedule.get("values") or [step_schedule["value"]] * 400
    measured = excess_risk(curvature=curvature, slope=slope, step_sizes=sizes, noise_std=noise_std)
    answer = bounded(curvature=curvature, slope=slope, steps=400, step_schedule=step_schedule, noise_std=noise_std)
    unconditional = 0
    for bound in answer.upper:
        assert bound.value is not None
        names = [condition.id for condition in bound.conditions]
        assert names in ([], INTERIOR)
        unconditional += not names
        if not names or slope <= curvature:
            assert measured <= bound.value
    assert unconditional == 1


def test_corollary_1_is_served_with_its_condition() -> None:
    """At steps 1/(λt) on the boundary, Corollary 1 needs the interior minimiser as well."""
    inverse = {"kind": "inverse-time", "scale": 10.0}
    answer = bounded(curvature=0.1, slope=0.9, steps=400, step_schedule=inverse, noise_std=5.0)
    assert [bound.theorem for bound in answer.upper][-1] == "asoodeh.corollary-1"
    assert [[one.id for one in bound.conditions] for bound in answer.upper[1:]] == [INTERIOR] * (len(answer.upper) - 1)
    assert answer.upper[0].conditions == ()
