"""gaussian in a plan: the records of all clients in one place, or clients as a whole, and a server that is trusted."""

from __future__ import annotations

from collections.abc import Iterable

from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.limits import CHOSEN, likely_rounds
from epsilond.calibrators.planning.problem import PlanProblem


def batch(plan: PlanProblem) -> tuple[int | None, int | None]:
    """Return the size of a round's batch and of the population from which it is drawn, in protected units.

    Args:
        plan: the plan of a training, with clients, participants, records and batch size.

    Returns:
        The two sizes. If clients are protected, they are numbers of clients, and None where the plan has none.
        Otherwise they are numbers of records, and both None if the plan lacks records, participants or clients.
    """
    if plan.unit == "client":
        return plan.reporting, plan.clients
    if plan.samples_per_client is None or plan.reporting is None or plan.clients is None:
        return None, None
    batch_of_client = plan.batch_size or plan.samples_per_client
    return batch_of_client * plan.reporting, plan.samples_per_client * plan.clients


def sampling(plan: PlanProblem) -> str:
    """Return the sampling of the plan, or `full` if a batch is the whole population.

    Args:
        plan: the planned training, which may name the sampling of clients or of records.

    Returns:
        The name of the sampling; `without-replacement` if the plan names none.
    """
    drawn, population = batch(plan)
    if drawn == population:
        return "full"
    requested = plan.client_sampling if plan.unit == "client" else plan.sampling
    return requested or "without-replacement"


def computed_fields(plan: PlanProblem) -> Fields:
    """Return the fields of a request for the noise multiplier of a Gaussian mechanism that follow from a plan.

    Args:
        plan: the plan, a training described without its algorithm.

    Returns:
        Values by the names of the fields. A full batch has neither a batch size nor a population.
    """
    drawn, population = batch(plan)
    is_full = sampling(plan) == "full"
    return {
        "solve_for": "noise_multiplier",
        "rounds": rounds_of(plan),
        "sampling": sampling(plan),
        "batch_size": None if is_full else drawn,
        "population": None if is_full else population,
    }


def rounds_of(plan: PlanProblem) -> int | None:
    """Return the rounds of the plan, or an estimate of the best number if the plan leaves it open.

    Args:
        plan: the plan of a training, with its rounds or with the sizes that the estimate needs.

    Returns:
        The number of rounds. None if the plan leaves it open, and lacks batch size, population or dimension.
    """
    drawn, population = batch(plan)
    if drawn is None or population is None or plan.dimension is None:
        return plan.rounds
    return likely_rounds(plan, drawn=drawn, population=population, dimension=plan.dimension, relation=plan.relation)


def mean_noise(plan: PlanProblem, parameters: JsonObject) -> float | None:
    """Return the standard deviation σ of the noise on the mean of a batch.

    It is the noise multiplier times the largest norm of a contribution, divided by the batch size.

    Args:
        plan: the plan. The largest norm is `lipschitz` for records. For clients it is `clipping_norm`, or `lipschitz`
            without it.
        parameters: the parameters of the calibrated mechanism.

    Returns:
        The standard deviation, or None if the batch size or the norm bound is unknown.
    """
    drawn, _ = batch(plan)
    norm_bound = plan.lipschitz
    if plan.unit == "client":
        norm_bound = plan.clipping_norm or plan.lipschitz
    if drawn is None or norm_bound is None:
        return None
    std: float = parameters["noise_multiplier"] * norm_bound / drawn
    return std


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """Yield a reason for each field that the calibration needs, and that neither the plan nor a default gives."""
    if plan.rounds is None and plan.dimension is None:
        yield Reason(message="needs rounds, or dimension to choose them by", pointer="/rounds")
    if plan.unit != "client" and plan.samples_per_client is None:
        yield Reason(message="needs samples_per_client", pointer="/samples_per_client")


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions of planning with a Gaussian mechanism on a trusted server.

    Args:
        plan: the plan of a training, in which the rounds and the batch size may be open.

    Yields:
        Sentences on the server, on the draw of batches, and on the values that the plan leaves open. Some have a
        pointer to a field of the plan.
    """
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
    yield Reason(message="noise is given as a multiple of one contribution's norm: see noise_multiplier")


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
        computed=computed_fields,
        refusals=refusals,
        assumptions=assumptions,
    ),
)
