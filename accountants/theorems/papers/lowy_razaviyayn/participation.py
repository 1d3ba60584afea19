"""Random participation and averages over clients (Assumption 3, Appendix E.1 and Remark E.1 of Lowy and Razaviyayn).

In round r a uniformly random set of M_r clients takes part; M_1, M_2, … are independent and identically distributed.
The bounds use M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. For a figure x_i of every client they use the largest x_i and
X = √E[(mean of the M_r largest)²]. X is Ξ for ξ_i, Ψ for ψ_i, Φ² for φ_i² and Σ² for σ_i².
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import (
    ParticipationCount,
    ParticipationMoments,
    group_count_faults,
    law_faults,
    participation_counts,
    read_members,
)
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import (
    CLIENT_GROUPS,
    PARTICIPANTS,
    PARTICIPATION,
    SQUARES,
    Clients,
    Quantity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.averages import average_of_largest, rms_average_of_largest
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import SECOND_MOMENT

_FIGURE = Quantity(symbol="x", ge=0, scale=SQUARES, description="a figure of each client, such as ξ_i or σ_i²")


@request
class GroupFigure:
    """A group of equal clients: their number, and the figure of each."""

    clients: Clients
    figure: Annotated[float, _FIGURE]


def _check_groups(record: FormulaRequest) -> None:
    """Check the groups of clients in a request, and the distribution of the number of participants.

    Args:
        record: the request, with `client_groups`, `participation` and `participants`.

    Raises:
        InvalidInput: there are too many groups, the distribution is not valid, or more clients participate than there
            are. The error lists all faults.
    """
    read_members(record, "client_groups", GroupFigure)
    faults: list[Fault] = group_count_faults(record.client_groups)
    clients = sum(group.clients for group in record.client_groups)
    if record.participation is not None:
        read_members(record, "participation", ParticipationCount)
        faults += law_faults(record.participation, participants=record.participants, clients=clients)
    if (record.participants or 0) > clients:
        faults.append(Fault("/participants", "exceeds the number of clients", f"≤ {clients}"))
    if faults:
        raise InvalidInput(*faults)


@formula(
    given="The clients, a figure of each, and how many take part in a round. Absent: all do.",
    checks=(_check_groups,),
)
def participation_and_averages(
    *,
    client_groups: Annotated[tuple[GroupFigure, ...], CLIENT_GROUPS],
    participants: Annotated[int | None, PARTICIPANTS] = None,
    participation: Annotated[tuple[ParticipationCount, ...] | None, PARTICIPATION] = None,
    reading: Reading = "printed",
) -> Outputs:
    """Compute averages over clients that the theorems of Lowy and Razaviyayn use for a random number of participants.

    Each client i has a value x_i (`figure`), and M_r clients take part in round r. The averages of M_r are
    M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. X is the root mean square, over the random M_r, of the mean of the M_r largest
    x_i. If x_i is the variance of client i's error, the mean over the participants, a uniform set, has an error of
    variance mean(x_i)/M. The paper bounds it by min{X/M', x_max/M}.

    Args:
        client_groups: groups of equal clients, with the value x of each client.
        participants: fixed number of participants, or None.
        participation: distribution of the number of participants, or None. If both are None, all clients take part.
        reading: version of M'. `printed` has 1/M' = E√(1/M_r²) as in the paper, which is 1/M (erratum E-09).

    Returns:
        `mean_participants` and `rms_participants`: M and M'.
        `average`, `largest`, `mean`: X, the largest x_i, and the mean of all x_i.
        `averages_of_largest`: the mean of the m largest x_i, for every possible m.
        `bound_over_participants` and `exact_over_participants`: the paper's bound, and the exact value.
        `client_sampling_share`: 1 − (M − 1)/(N − 1), the share of the variance between clients that remains; 0 for one
        client.
    """
    clients = sum(group.clients for group in client_groups)
    values = [(group.figure, group.clients) for group in client_groups]
    counts: tuple[tuple[int, float], ...] = ((participants or clients, 1.0),)
    if participation:
        counts = participation_counts(participation)

    # Averages of the number of participants.
    moments = ParticipationMoments.of(counts)
    rms = moments.mean if reading == "printed" else moments.rms  # M'

    # Averages of the clients' values.
    average = rms_average_of_largest(values, counts)
    largest = max(figure for figure, _ in values)
    mean = math.fsum(count / clients * figure for figure, count in values)
    averages_of_largest = [{"participants": count, "average": average_of_largest(values, count)} for count, _ in counts]

    client_sampling_share = 0.0
    if clients > 1:
        client_sampling_share = 1.0 - (moments.mean - 1.0) / (clients - 1.0)
    return {
        "mean_participants": moments.mean,
        "rms_participants": rms,
        "average": average,
        "largest": largest,
        "mean": mean,
        "averages_of_largest": averages_of_largest,
        "bound_over_participants": min(average / rms, largest / moments.mean),
        "exact_over_participants": mean / moments.mean,
        "client_sampling_share": client_sampling_share,
    }


REMARK_E_1 = Theorem(
    id="lowy.remark-e.1",
    title="A random number of participants, and averages over the clients that cost most",
    statement=(
        "Let M_r be the random number of participants, M = 1/E[1/M_r] and M' = 1/√E[1/M_r²]. Then 1 ≤ M' ≤ M ≤ N for N "
        "clients. X = √E[(mean of the M_r largest x_i)²] is between the mean and the largest of the clients' figures "
        "x_i. Let M_r uniform clients be averaged, with independent errors of variances x_i. The errors add the "
        "variance mean(x_i)/M to this average, which is at most min{X/M', x_max/M}"
    ),
    source=Source("lowy2023", "Assumption 3, Appendix E.1, Remark E.1"),
    status=Status.PROVED,
    conditions=(
        Condition("uniform-participants", "given their number, a round's participants are a uniform set of clients"),
    ),
    errata=(SECOND_MOMENT,),
    formula=participation_and_averages,
    examples=(
        {
            "client_groups": [{"clients": 20, "figure": 0.1}, {"clients": 5, "figure": 1.0}],
            "participation": [{"participants": 5, "probability": 0.5}, {"participants": 20, "probability": 0.5}],
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (REMARK_E_1,)
