"""qtdl in a plan: messages on a grid, of any two unit updates; it bounds no risk."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.qtdl.problem import SensitivityRule


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the participants, and the rule that updates are any two unit vectors."""
    return {"sensitivity_rule": SensitivityRule(kind="unit-vector"), "participants": plan.reporting}


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumption that updates are any two unit vectors and, without rounds, that there is one message."""
    yield Reason(message="updates are normalised, and neighbouring data may lead to any two of them")
    if plan.rounds is None:
        yield Reason(message="one message of each client", pointer="/rounds")


PLANS = (
    PlanAdapter(
        definition="local",
        observer="server",
        units=("record", "client"),
        objective=None,
        noise_added_to="unit-updates",
        copied=("dimension", "quantization_levels", "rounds"),
        read=("clients", "participants"),
        computed=computed_fields,
        assumptions=assumptions,
    ),
)
