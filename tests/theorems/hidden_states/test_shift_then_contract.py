"""The bounds that shift and then contract at many ε at once, against each ε by itself."""

from __future__ import annotations

import numpy as np
import pytest

from epsilond.accountants.schedules import Constant
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.shift_then_contract import EqualSteps


def steps_of(clients: int) -> EqualSteps:
    """Half a unit a step, noise of three, in a small ball of strongly convex losses."""
    run = ProjectedSgd(
        clients=clients,
        participants=4,
        lipschitz=1.0,
        radius=0.3,
        smoothness=1.0,
        strong_convexity=0.2,
        step_schedule=Constant(value=0.5),
        noise_schedule=Constant(value=3.0),
    )
    return EqualSteps(ProjectedRun.of(run, "replace-one"))


@pytest.mark.parametrize("clients", [120, 40_000])
@pytest.mark.parametrize(("contracted", "switch"), [(False, None), (True, None), (True, 2.0)])
def test_many_epsilons_are_as_each_by_itself(clients: int, contracted: bool, switch: float | None) -> None:
    steps = steps_of(clients)
    epsilons = np.append(0.0, np.geomspace(1e-6, 30.0, 20))
    together = steps.log_bounds(epsilons, contracted=contracted, switch=switch)
    for epsilon, ends in zip(epsilons.tolist(), together, strict=True):
        alone = steps.log_bound(epsilon, contracted=contracted, switch=switch)
        assert alone.lower <= ends.upper
        assert ends.lower <= alone.upper
        assert ends.upper == pytest.approx(alone.upper, rel=1e-10, abs=1e-12)
