"""one-pass-accelerated-mb-sgd in a plan: the fields of accelerated-mb-sgd, each record used once."""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd.plan import ACCELERATED
from epsilond.calibrators.planning.adapter import PlanAdapter, on_each_message
from epsilond.calibrators.planning.limits import as_budget

PLANS = (
    PlanAdapter(
        definition="local",
        observer="server",
        units=("record", "client"),
        objective="population",
        mean_noise=on_each_message,
        computed=as_budget,
        copied=ACCELERATED,
    ),
)
