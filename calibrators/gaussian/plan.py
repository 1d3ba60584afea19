"""gaussian in a plan: the records of all clients in one place, or clients as a whole, and a server that is trusted."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.limits import CHOSEN, likely_rounds
from epsilond.calibrators.planning.problem import PlanProblem


def batch(plan: PlanProblem) -> tuple[int | None, int | None]:
    """What is drawn in a round, and of how many: records of all clients, or clients."""
    if plan.unit == "client":
        return plan.reporting, plan.clients
    if plan.samples_per_client is None or plan.reporting is None or plan.clients is None:
        return None, None
    return (plan.batch_size or plan.samples_per_client) * plan.reporting, plan.samples_per_client * plan.clients


def sampling(plan: PlanProblem) -> str:
    """As the plan has it; a full batch where everything is used."""
    drawn, of = batch(plan)
    if drawn == of:
        return "full"
    asked = plan.client_sampling if plan.unit == "client" else plan.sampling
    return asked or "without-replacement"


def computed(plan: PlanProblem) -> Fields:
    """The noise is what is solved for."""
    drawn, of = batch(plan)
    full = sampling(plan) == "full"
    return {
        "solve_for": "noise_multiplier",
        "rounds": rounds_of(plan),
        "sampling": sampling(plan),
        "batch_size": None if full else drawn,
        "population": None if full else of,
    }


def rounds_of(plan: PlanProblem) -> int | None:
    """Those given, or what the noise suits."""
    drawn, of = batch(plan)
    if drawn is None or of is None or plan.dimension is None:
        return plan.rounds
    return likely_rounds(plan, drawn=drawn, population=of, dimension=plan.dimension, relation=plan.relation)


def mean_noise(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """z contributions of the largest norm on the sum of a batch, of which the mean is released."""
    drawn, _ = batch(plan)
    bound = plan.clipping_norm or plan.lipschitz if plan.unit == "client" else plan.lipschitz
    return None if drawn is None or bound is None else parameters["noise_multiplier"] * bound / drawn


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """What has to be given, because nothing chooses it."""
    if plan.rounds is None and plan.dimension is None:
        yield Reason(message="needs rounds, or dimension to choose them by", pointer="/rounds")
    if plan.unit != "client" and plan.samples_per_client is None:
        yield Reason(message="needs samples_per_client", pointer="/samples_per_client")


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Where the data is, and what is drawn from it."""
    if plan.unit == "client":
        yield Reason(
            message="a trusted server draws participants of clients in each round, and adds noise to their sum"
        )
    else:
        yield Reason(message="a trusted server draws batch_size · participants of all clients' records in each round")
    if plan.rounds is None:
        yield CHOSEN
    if plan.unit != "client" and plan.batch_size is None:
        yield Reason(message="batch_size is all records of a client", pointer="/batch_size")
    yield Reason(message="noise is told as a multiple of one contribution's norm: see noise_multiplier")


PLANS = (
    PlanAdapter(
        definition="central",
        observer="released-models",
        units=("record", "client"),
        objective=None,
        copied=(),
        mean_noise=mean_noise,
        read=(
            "rounds",
            "dimension",
            "clients",
            "samples_per_client",
            "participants",
            "batch_size",
            "sampling",
            "client_sampling",
            "lipschitz",
            "clipping_norm",
        ),
        computed=computed,
        refusals=refusals,
        assumptions=assumptions,
    ),
)
