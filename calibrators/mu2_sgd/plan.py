"""mu2-sgd in a plan: every report uses a new record; with an untrusted server, or with a trusted one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import Server
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import ConditionAnswer
from epsilond.calibrators.planning.adapter import PlanAdapter
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.limits import most_rounds
from epsilond.calibrators.planning.problem import PlanProblem

TAKES = ("clients", "participants", "dimension", "lipschitz", "smoothness", "diameter", "gradient_std")
READS = ("rounds", "samples_per_client", "identically_distributed", "heterogeneity")


def computed_fields(server: Server, plan: PlanProblem) -> Fields:
    """Compute the fields of a request of μ²-SGD that cannot be copied from a plan.

    If the plan has no number of rounds, there is one round for each record of a client, within the plan's limits.
    Clients with identically distributed records have no heterogeneity.

    Args:
        server: `untrusted` if the clients add the noise, `trusted` if the server does.
        plan: the plan of a training, with its rounds and the heterogeneity of the clients.

    Returns:
        Values by the names of the fields. A value is None if the plan does not determine it.
    """
    are_identical = plan.identically_distributed
    return {
        "server": server,
        "rounds": plan.rounds or default_rounds(plan),
        "heterogeneity": 0.0 if are_identical else plan.heterogeneity,
        "smoothness_heterogeneity": 0.0 if are_identical else None,
    }


def default_rounds(plan: PlanProblem) -> int | None:
    """Return the number of rounds for a plan that does not state it: one round for each record of a client.

    Args:
        plan: the plan, with the records of a client and limits on rounds and traffic.

    Returns:
        The number of records of a client, or the largest number of rounds within the plan's limits if that is smaller;
        at least 1. None if the number of records is unknown.
    """
    records = plan.samples_per_client
    limit = most_rounds(plan)
    if records is None or limit is None:
        return records
    return max(1, min(limit, records))


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the reason why μ²-SGD cannot run the plan: it has more rounds than a client has records.

    A client uses a new record in every round in which it reports.

    Args:
        plan: the plan of a training, with its rounds and the records of a client.

    Yields:
        At most one reason, with both sides of the failed condition.
    """
    rounds = plan.rounds
    records = plan.samples_per_client
    if rounds is not None and records is not None and rounds > records:
        statement = "every report uses a new record: rounds ≤ samples_per_client"
        condition = ConditionAnswer(
            id="new-records", statement=statement, holds=Verdict.NO, left=float(rounds), right=float(records)
        )
        yield Reason(message=f"{statement}, but {rounds} > {records}", pointer="/rounds", condition=condition)


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions of μ²-SGD in place of fields of a plan: its number of rounds, and batches of one record.

    Args:
        plan: the plan, which describes a training without its algorithm.

    Yields:
        At most two assumptions, each with the pointer to a field of the plan: `rounds` if it is absent, and
        `batch_size` if it is above 1.
    """
    if plan.rounds is None:
        message = "as many rounds as the limits allow, and no more than a client has records"
        if default_rounds(plan) == plan.samples_per_client:
            message = "as many rounds as a client has records"
        yield Reason(message=message, pointer="/rounds")
    if (plan.batch_size or 1) > 1:
        yield Reason(message="a report is of one record", pointer="/batch_size", allowed="1")


UNTRUSTED = PlanAdapter(
    variant="untrusted server",
    definition="local",
    observer="server",
    units=("record",),
    objective="population",
    copied=TAKES,
    read=READS,
    computed=partial(computed_fields, "untrusted"),
    refusals=refusals,
    assumptions=assumptions,
)
PLANS = (
    UNTRUSTED,
    replace(
        UNTRUSTED,
        variant="trusted server",
        definition="central",
        observer="released-models",
        computed=partial(computed_fields, "trusted"),
    ),
)
