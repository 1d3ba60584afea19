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
    """Return the fields of the algorithm's request that a plan states in another way or not at all.

    Without given rounds there is one round for each record of a client, within the plan's limits. Clients with
    identically distributed records have no heterogeneity.

    Args:
        server: whether the clients (`untrusted`) or the server (`trusted`) add the noise.
        plan: the plan.
    """
    are_identical = plan.identically_distributed
    return {
        "server": server,
        "rounds": plan.rounds or within_limits(plan),
        "heterogeneity": 0.0 if are_identical else plan.heterogeneity,
        "smoothness_heterogeneity": 0.0 if are_identical else None,
    }


def within_limits(plan: PlanProblem) -> int | None:
    """Return the number of records of a client, cut to the rounds that the plan's limits allow, but at least 1.

    If the plan has no limits, the result is the number of records. It is None if that number is unknown.
    """
    most, records = most_rounds(plan), plan.samples_per_client
    return records if most is None or records is None else max(1, min(most, records))


def refusals(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the reason why the algorithm does not apply if there are more rounds than a client has records.

    A client uses a new record in every round that it reports in.
    """
    rounds, records = plan.rounds, plan.samples_per_client
    if rounds is not None and records is not None and rounds > records:
        statement = "every report uses a new record: rounds ≤ samples_per_client"
        condition = ConditionAnswer(
            id="new-records", statement=statement, holds=Verdict.NO, left=float(rounds), right=float(records)
        )
        yield Reason(message=f"{statement}, but {rounds} > {records}", pointer="/rounds", condition=condition)


def assumptions(plan: PlanProblem) -> Iterable[Reason]:
    """Yield the assumptions on rounds that were chosen, and on batches of one record."""
    if plan.rounds is None:
        most = " as the limits allow, and no more than a client has records"
        all_records = within_limits(plan) == plan.samples_per_client
        yield Reason(
            message="as many rounds" + (" as a client has records" if all_records else most), pointer="/rounds"
        )
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
