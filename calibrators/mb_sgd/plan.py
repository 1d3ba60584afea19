"""mb-sgd in a plan: the plan's fields are its own."""

from __future__ import annotations

from epsilond.calibrators.planning.adapter import PlanAdapter, on_each_message
from epsilond.calibrators.planning.limits import as_budget

FIELDS = (
    "samples_per_client",
    "clients",
    "participants",
    "dimension",
    "lipschitz",
    "diameter",
    "rounds",
    "batch_size",
    "smoothness",
    "strong_convexity",
    "sampling",
    "initial_distance",
    "identically_distributed",
    "heterogeneity",
    "max_gradients",
    "communication_budget",
    "within",
)
"""Fields of the plan that noisy mini-batch SGD takes."""

PLANS = (
    PlanAdapter(
        definition="local",
        observer="server",
        units=("record", "client"),
        objective="population",
        mean_noise=on_each_message,
        computed=as_budget,
        copied=FIELDS,
    ),
)
