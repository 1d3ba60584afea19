"""one-pass-accelerated-mb-sgd in a plan: the fields of accelerated-mb-sgd, each record used once."""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd.plan import ACCELERATED
from epsilond.calibrators.one_pass_accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.planning.adapter import Planner, Way

PLANNER = Planner(
    calibrator=CALIBRATOR,
    ways=(
        Way(
            definition="local", observer="server", units=("record", "client"), objective="population", takes=ACCELERATED
        ),
    ),
)
