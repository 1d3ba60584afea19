"""shuffled-mb-sgd in a plan: mb-sgd behind a shuffler; its bound on the risk is for equal clients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from epsilond.calibrators.mb_sgd.plan import FIELDS, LOCAL_PLAN
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem

IDENTICAL_CLIENTS = "identically_distributed"
LEFT_OUT = ("sampling", IDENTICAL_CLIENTS, "heterogeneity")


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """Yield a refusal if clients are not identically distributed, or if batches are not drawn without replacement."""
    if not plan.identically_distributed:
        message = "its bound on the risk is for clients that draw from one distribution"
        yield Reason(message=message, pointer=f"/{IDENTICAL_CLIENTS}", allowed="true")
    if plan.sampling not in (None, "without-replacement"):
        message = "its batches are drawn without replacement"
        yield Reason(message=message, pointer="/sampling", allowed="without-replacement")


PLANS = (
    replace(
        LOCAL_PLAN,
        definition="shuffle",
        observer="shuffled-server",
        copied=tuple(name for name in FIELDS if name not in LEFT_OUT),
        read=("sampling", IDENTICAL_CLIENTS),
        refusals=refusals,
    ),
)
