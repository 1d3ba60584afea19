"""one-pass-accelerated-mb-sgd in a plan: the fields of accelerated-mb-sgd, each record used once."""

from __future__ import annotations

from calibrators.one_pass_accelerated_mb_sgd import CALIBRATOR
from calibrators.plan_ways import Planner, Way
from calibrators.plans.accelerated_mb_sgd import ACCELERATED

PLANNER = Planner(
    calibrator=CALIBRATOR,
    ways=(
        Way(
            definition="local", observer="server", units=("record", "client"), objective="population", takes=ACCELERATED
        ),
    ),
)
