"""gaussian in a plan: the records of all clients in one place, or clients as a whole, and a server that is trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.problem import PlanProblem


def batch(plan: PlanProblem) -> tuple[int | None, int | None]:
    """What is drawn in a round, and of how many: records of all clients, or clients."""
    if plan.unit == "client":
        return plan.reporting, plan.clients
    if plan.batch_size is None or plan.samples_per_client is None or plan.reporting is None or plan.clients is None:
        return None, None
    return plan.batch_size * plan.reporting, plan.samples_per_client * plan.clients


def sampling(plan: PlanProblem) -> str:
    """As the plan has it; a full batch where everything is used."""
    drawn, of = batch(plan)
    if drawn == of:
        return "full"
    return plan.client_sampling if plan.unit == "client" else plan.sampling or "without-replacement"


def computed(plan: PlanProblem) -> Mapping[str, Any]:
    """The noise is what is solved for."""
    drawn, of = batch(plan)
    full = sampling(plan) == "full"
    return {
        "solve_for": "noise_multiplier",
        "sampling": sampling(plan),
        "batch_size": None if full else drawn,
        "population": None if full else of,
    }


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """What has to be given, because nothing chooses it."""
    needed = ("rounds",) if plan.unit == "client" else ("rounds", "samples_per_client", "batch_size")
    for name in needed:
        if getattr(plan, name) is None:
            yield Reason(message=f"needs {name}", pointer=f"/{name}")


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Where the data is, and what is drawn from it."""
    if plan.unit == "client":
        yield Reason(
            message="a trusted server draws participants of clients in each round, and adds noise to their sum"
        )
    else:
        yield Reason(message="a trusted server draws batch_size · participants of all clients' records in each round")
    yield Reason(message="noise is told as a multiple of one contribution's norm: see noise_multiplier")


PLANS = (
    PlanAdapter(
        definition="central",
        observer="released-models",
        units=("record", "client"),
        objective=None,
        copied=("rounds",),
        read=("clients", "samples_per_client", "participants", "batch_size", "sampling", "client_sampling"),
        computed=computed,
        refusals=refusals,
        assumptions=assumptions,
    ),
)
