"""Adapters of plans for mb-sgd and its accelerated variants, which have the fields of the plan."""

from __future__ import annotations

from dataclasses import replace

from epsilond.calibrators.planning.adapter import PlanAdapter, noise_of_messages
from epsilond.calibrators.planning.limits import limits_as_budget

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
ACCELERATED = (*FIELDS, "gradient_std", "empirical_gradient_std", "initial_gap")
"""Fields of the plan that the accelerated algorithms take: those of mb-sgd, and statistics of the gradients."""

LOCAL_PLAN = PlanAdapter(
    definition="local",
    observer="server",
    units=("record", "client"),
    objective="population",
    mean_noise=noise_of_messages,
    computed=limits_as_budget,
    copied=FIELDS,
)
PLANS = (LOCAL_PLAN,)
ACCELERATED_PLANS = (replace(LOCAL_PLAN, objective="empirical", copied=ACCELERATED),)
"""The plan of accelerated-mb-sgd. Records are used again and again, so that the risk is empirical."""
ONE_PASS_PLANS = (replace(LOCAL_PLAN, copied=ACCELERATED),)
"""The plan of one-pass-accelerated-mb-sgd, in which each record is used once."""
