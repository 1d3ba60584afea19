"""accelerated-mb-sgd in a plan: the fields of mb-sgd, and what is known of the gradients; its risk is empirical."""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.plan import FIELDS
from epsilond.calibrators.planning.adapter import Planner, Way

ACCELERATED = (*FIELDS, "gradient_std", "empirical_gradient_std", "initial_gap")
"""Fields of the plan that the accelerated algorithms take."""

PLANNER = Planner(
    calibrator=CALIBRATOR,
    ways=(
        Way(
            definition="local",
            observer="server",
            units=("record", "client"),
            objective="empirical",
            takes=ACCELERATED,
        ),
    ),
)
