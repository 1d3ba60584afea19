"""norm-fedavg in a plan: seen message by message, or model by model where the server is trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from epsilond.accountants.json_types import Fields
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem

TAKES = ("dimension", "quantization_levels", "clients", "rounds", "smoothness")
READS = ("participants", "initial_distance", "diameter")


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the fields of a request of norm-fedavg that are not copied from a training plan, by name.

    The losses of a plan are convex, so their quasar-convexity is 1. The initial distance is the plan's, or the diameter
    of the domain if the plan states none.

    Args:
        plan: the plan of a training, with the participants and the diameter.
    """
    return {
        "participants": plan.reporting,
        "quasar_convexity": 1.0,
        "initial_distance": plan.initial_distance or plan.diameter,
    }


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions on the sensitivities, the losses and an absent distance."""
    yield Reason(message="updates are normalised, and neighbouring data may lead to any two of them")
    yield Reason(message="losses are convex, so that their quasar-convexity is 1")
    if plan.initial_distance is None:
        yield Reason(message="the start is as far from a minimiser as the diameter", pointer="/initial_distance")


UNTRUSTED = PlanAdapter(
    variant="untrusted server",
    definition="local",
    observer="server",
    units=("record", "client"),
    objective="empirical",
    noise_added_to="unit-updates",
    copied=TAKES,
    read=READS,
    computed=computed_fields,
    assumptions=assumptions,
)
PLANS = (
    UNTRUSTED,
    replace(
        UNTRUSTED,
        variant="trusted server",
        definition="central",
        observer="released-models",
        units=("client", "record"),
    ),
)
