"""accelerated-mb-sgd in a plan: the fields of mb-sgd, and what is known of the gradients; its risk is empirical."""

from __future__ import annotations

from epsilond.calibrators.mb_sgd.plan import FIELDS
from epsilond.calibrators.planning.adapter import PlanAdapter, on_each_message
from epsilond.calibrators.planning.limits import as_budget

ACCELERATED = (*FIELDS, "gradient_std", "empirical_gradient_std", "initial_gap")
"""Fields of the plan that the accelerated algorithms take."""

PLANS = (
    PlanAdapter(
        definition="local",
        observer="server",
        units=("record", "client"),
        objective="empirical",
        mean_noise=on_each_message,
        computed=as_budget,
        copied=ACCELERATED,
    ),
)
