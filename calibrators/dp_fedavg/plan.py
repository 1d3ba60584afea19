"""dp-fedavg in a plan: clients as a whole, and a server that is trusted."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields
from epsilond.calibrators.planning.adapter import PlanAdapter, noise_of_mean
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import LIMITS, PlanProblem


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the sampling of clients, and the clipping norm, as fields of a request of dp-fedavg.

    The sampling is `full` if all clients take part, and otherwise that of the plan, or `poisson`. The clipping norm is
    that of the plan, or otherwise the Lipschitz constant, or 1.

    Args:
        plan: description of a training without its algorithm.

    Returns:
        Values by the names of the fields.
    """
    if plan.reporting == plan.clients:
        sampling: str = "full"
    else:
        sampling = plan.client_sampling or "poisson"
    return {"sampling": sampling, "clipping_norm": plan.clipping_norm or plan.lipschitz or 1.0}


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the value assumed for an absent clipping norm, and the absent fields that a bound on the risk needs."""
    if plan.clipping_norm is None:
        assumed_norm = "lipschitz, which binds no gradient" if plan.lipschitz else "1, with which all noise scales"
        yield Reason(message=f"updates are clipped to {assumed_norm}", pointer="/clipping_norm")
    for name in ("lipschitz", "diameter"):
        if getattr(plan, name) is None:
            yield Reason(message=f"a bound on its risk needs {name}", pointer=f"/{name}")


PLANS = (
    PlanAdapter(
        definition="central",
        observer="released-models",
        units=("client",),
        objective="empirical",
        noise_added_to="mean-of-updates",
        mean_noise=noise_of_mean,
        copied=("clients", "participants", "rounds", "dimension", "lipschitz", "diameter", *LIMITS),
        read=("client_sampling", "clipping_norm"),
        computed=computed_fields,
        assumptions=assumptions,
    ),
)
