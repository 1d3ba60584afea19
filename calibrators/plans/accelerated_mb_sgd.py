"""accelerated-mb-sgd in a plan: the fields of mb-sgd, and what is known of the gradients; its risk is empirical."""

from __future__ import annotations

from calibrators.accelerated_mb_sgd import CALIBRATOR
from calibrators.plan_ways import Planner, Way
from calibrators.plans.mb_sgd import FIELDS

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
