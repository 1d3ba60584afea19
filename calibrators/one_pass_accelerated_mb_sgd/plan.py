"""one-pass-accelerated-mb-sgd in a plan: the fields of accelerated-mb-sgd, each record used once."""

from __future__ import annotations

from epsilond.calibrators.accelerated_mb_sgd.plan import ACCELERATED
from epsilond.calibrators.planning.adapter import PlanAdapter

PLANS = (
    PlanAdapter(
        definition="local", observer="server", units=("record", "client"), objective="population", copied=ACCELERATED
    ),
)
