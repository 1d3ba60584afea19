"""The question that mu2-sgd answers: a target, a federation, who trusts whom, and who takes part how often."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import read_member, read_members
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    CLIENTS,
    LARGEST_COUNT,
    PARTICIPANTS,
    SQUARES,
    UNIT,
    Clients,
    Diameter,
    Dimension,
    Lipschitz,
    Quantity,
    Rounds,
    TargetedProblem,
    WindowedUnit,
    request,
)
from epsilond.accountants.quantities.algorithms import MOST_PARTICIPATIONS
from epsilond.accountants.theorems.papers.reshef_levy.conversions import GAUSSIAN_DP_MU
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import (
    CLIENT_SPREAD,
    GRADIENT_STD,
    SMOOTHNESS_HETEROGENEITY,
    SMOOTHNESS_STD,
    SmoothnessOrLinear,
)
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import OPTIMUM_GRADIENT_NORM, CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.trusted_server import SERVER, Server
from epsilond.calibrators.envelope import inputs_of

ParticipationKind = Literal["uniform", "counts", "pattern"]
Reading = Literal["statement", "corrected"]
READINGS: tuple[Reading, ...] = ("statement", "corrected")
MOST_GROUPS = 1000
MOST_LISTED = 10**6
BITS_PER_COORDINATE = 32
SPREADS = {
    "gradient_std": "lipschitz",
    "heterogeneity": "lipschitz",
    "smoothness_std": "smoothness",
    "smoothness_heterogeneity": "smoothness",
    "optimum_gradient_norm": "lipschitz",
}
"""Fields that may be absent, and the field that bounds each."""

REPORTS = Quantity(
    symbol="K", ge=0, le=LARGEST_COUNT, description="number of rounds in which each client of this group takes part"
)
REPORTED = Quantity(
    symbol="T_i",
    description="the rounds, counted from 1 and in ascending order, in which each client of this group takes part",
)
GROUPS = Quantity(
    description="groups of clients that take part equally, for the kinds `counts` and `pattern`. Absent for `uniform`"
)
PARTICIPATION = Quantity(
    description="which clients take part in a round. Absent: `participants` clients, drawn uniformly in each round"
)
KIND = Quantity(
    description="uniform: in each round participants are drawn uniformly from all clients. counts: each group "
    "states in how many rounds it takes part. pattern: each group states in which rounds"
)


@request
class ParticipatingGroup:
    """Clients with equal participation: their number, and how often (`counts`) or when (`pattern`) each reports."""

    clients: Annotated[int, CLIENTS]
    participations: Annotated[int | None, REPORTS] = None
    rounds: Annotated[tuple[Rounds, ...] | None, REPORTED] = None

    @property
    def reports(self) -> int:
        """Number K of reports of each client."""
        return len(self.rounds) if self.rounds is not None else self.participations or 0

    @property
    def given_fields(self) -> set[str]:
        """Names of the fields that state the participation, `participations` or `rounds`; one of them is expected."""
        return {name for name in ("participations", "rounds") if getattr(self, name) is not None}


@request
class Participation:
    """The clients that take part in each round: drawn uniformly, or in groups.

    No client reports more often than `most_participations`. If it is absent, the limit is the number of rounds T or,
    with groups, the most reports of any group.
    """

    kind: Annotated[ParticipationKind, KIND] = "uniform"
    most_participations: Annotated[int | None, MOST_PARTICIPATIONS] = None
    groups: Annotated[tuple[ParticipatingGroup, ...] | None, GROUPS] = None

    def check(self) -> None:
        """Check that client groups are given exactly if the kind of participation needs them.

        Each group must have the field of that kind: a number of reports, or their rounds.

        Raises:
            InvalidInput: groups are missing, superfluous or too many, or have the field of another kind.
        """
        if self.groups is not None:
            read_members(self, "groups", ParticipatingGroup)
        if self.groups is None and self.kind != "uniform":
            raise InvalidInput.at("/groups", "are needed for this kind")
        if self.groups is not None and self.kind == "uniform":
            raise InvalidInput.at("/groups", "belong to the other kinds")
        if self.groups is not None and len(self.groups) > MOST_GROUPS:
            raise InvalidInput.at("/groups", "has too few or too many groups", allowed=f"1 to {MOST_GROUPS}")
        # A pattern lists the rounds of every group's reports; counts give only their number.
        needed_field = "rounds" if self.kind == "pattern" else "participations"
        faults = [
            Fault(f"/groups/{index}/{needed_field}", "is needed for this kind, and the other field must be absent")
            for index, group in enumerate(self.groups or ())
            if group.given_fields != {needed_field}
        ]
        if faults:
            raise InvalidInput(*faults)


@request
class Mu2SgdProblem(TargetedProblem):
    """The target, the federation and the losses, who adds the noise, and who takes part.

    Give `epsilon` with one of `delta` and `log10_delta`, or a risk such as `gaussian_dp_mu`. With a risk, δ is only the
    point at which ε is returned.
    """

    epsilon: Annotated[float | None, ANY_EPSILON, SQUARES] = None
    gaussian_dp_mu: Annotated[float | None, GAUSSIAN_DP_MU, SQUARES] = None
    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    rounds: Rounds
    dimension: Dimension
    lipschitz: Lipschitz
    smoothness: Annotated[SmoothnessOrLinear, SQUARES]
    diameter: Diameter
    server: Annotated[Server, SERVER] = "untrusted"
    gradient_std: Annotated[float | None, GRADIENT_STD, SQUARES] = None
    heterogeneity: Annotated[float | None, CLIENT_SPREAD, SQUARES] = None
    smoothness_std: Annotated[float | None, SMOOTHNESS_STD, SQUARES] = None
    smoothness_heterogeneity: Annotated[float | None, SMOOTHNESS_HETEROGENEITY, SQUARES] = None
    optimum_gradient_norm: Annotated[float | None, OPTIMUM_GRADIENT_NORM, SQUARES] = None
    participation: Annotated[Participation | None, PARTICIPATION] = None
    unit: Annotated[
        Literal["record"] | WindowedUnit,
        UNIT.only("record", because="every report uses one new record, and the theorem is about that record"),
    ]
    readings: Annotated[
        tuple[Reading, ...] | None,
        Quantity(description="interpretations (readings) of the printed theorem to return; all if absent"),
    ] = None

    def check(self) -> None:
        """Check that the bounds on gradients, the participation and the observer fit the other fields.

        Raises:
            InvalidInput: some fields contradict each other.
        """
        if self.participation is not None:
            read_member(self, "participation", Participation)
        faults = [*self._crossing_faults(), *self._participation_faults()]
        if faults:
            raise InvalidInput(*faults)

    def _crossing_faults(self) -> Iterator[Fault]:
        """Yield a fault for each field that contradicts another one, and for unknown readings.

        A statistic of gradients may not exceed the constant that bounds it, for example the Lipschitz constant. A
        reading is an interpretation of a printed theorem.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        for name, bound in SPREADS.items():
            if (getattr(self, name) or 0.0) > getattr(self, bound):
                yield Fault(f"/{name}", f"cannot exceed {bound}", f"≤ {getattr(self, bound):g}")
        if (self.participants or 1) > self.clients:
            yield Fault("/participants", "cannot exceed clients", f"≤ {self.clients}")
        if not set(self.readings or ()) <= set(READINGS):
            yield Fault("/readings", "has an unknown reading", ", ".join(READINGS))
        if self.server == "trusted" and self.observer in ("server", "shuffled-server"):
            allowed = "released-models, final-model, other-clients"
            yield Fault("/observer", "sees every message: nothing hides these from a trusted server", allowed)

    def _participation_faults(self) -> list[Fault]:
        """Return the faults of the requested participation: of its limit on reports and of its groups of clients.

        Returns:
            Faults with the pointer to the field, the reason and the allowed values. Empty if the request has no
            participation or if it is consistent.
        """
        participation = self.participation
        if participation is None:
            return []
        faults = []
        if (participation.most_participations or 0) > self.rounds:
            faults.append(Fault("/participation/most_participations", "cannot exceed rounds", f"≤ {self.rounds}"))
        if participation.groups is not None:
            faults += self._groups_faults(participation, participation.groups, is_limit_valid=not faults)
        return faults

    def _groups_faults(
        self, participation: Participation, groups: Sequence[ParticipatingGroup], *, is_limit_valid: bool
    ) -> list[Fault]:
        """Return the faults of the groups of clients: their sizes, and how often or when they report.

        Args:
            participation: the requested participation, with the limit on the reports of a client.
            groups: its groups.
            is_limit_valid: whether that limit is valid. If not, the number of clients per round is not checked.

        Returns:
            Faults with the pointer to the field, the reason and the allowed values; empty if all checks pass.
        """
        rounds = self.rounds
        faults: list[Fault] = []
        if sum(group.clients for group in groups) != self.clients:
            faults.append(Fault("/participation/groups", "must add up to clients", f"{self.clients} clients"))
        if sum(len(group.rounds or ()) for group in groups) > MOST_LISTED:
            faults.append(Fault("/participation/groups", "list too many rounds", f"≤ {MOST_LISTED}"))
            return faults  # the other checks would read all of these rounds
        most_reports = min(participation.most_participations or rounds, rounds)
        for index, group in enumerate(groups):
            faults += _group_faults(group, f"/participation/groups/{index}", rounds, most_reports)
        if sum(group.clients * group.reports for group in groups) > self.reporting * rounds:
            faults.append(Fault("/participation/groups", "report more often in all than participants · rounds"))

        # Clients per round can only be counted if all listed rounds are valid.
        can_count_clients = participation.kind == "pattern" and is_limit_valid and not faults
        if can_count_clients and _most_clients_per_round(groups) > self.reporting:
            faults.append(Fault("/participation/groups", "more clients report in a round than participants"))
        return faults

    @property
    def reporting(self) -> int:
        """Number m of clients that report in a round, by default all clients."""
        return self.participants or self.clients

    @property
    def taking_part(self) -> Participation:
        """Requested participation, uniform by default."""
        return self.participation or Participation()

    @property
    def cap(self) -> int:
        """Largest number of reports that the request allows a client, at least 1."""
        participation = self.taking_part
        most = self.rounds
        if participation.groups:
            most = max(group.reports for group in participation.groups)
        return max(min(participation.most_participations or most, most), 1)

    @property
    def printed_participation(self) -> bool:
        """True if the printed theorems cover the participation.

        They are for participants drawn uniformly without a limit on a client's reports, or for rounds of all clients.
        """
        groups = self.taking_part.groups
        if groups is None:
            return self.cap == self.rounds
        return self.reporting == self.clients and all(group.reports == self.rounds for group in groups)

    @property
    def sees_all(self) -> bool:
        """True if the observer sees everything that is released, so that the bound on the privacy loss is attained."""
        if self.server == "untrusted":
            return self.observer == "server"
        return self.observer in ("released-models", "other-clients")

    @cached_property
    def federation(self) -> CancellationRun:
        """Quantities of the run that the formulas of privacy and risk bounds depend on."""
        return inputs_of(CancellationRun, self, participants=self.reporting)


def _group_faults(group: ParticipatingGroup, pointer: str, rounds: int, most_reports: int) -> Iterator[Fault]:
    """Yield the faults of one group of clients: too many reports, or rounds outside the run or out of order.

    Args:
        group: the group, with the rounds or only the number of its reports.
        pointer: JSON pointer to the group in the request.
        rounds: number of rounds of the run.
        most_reports: largest number of reports of a client, at least 1.

    Yields:
        At most two faults, each with the pointer to the field, the reason and the allowed values.
    """
    if group.reports > most_reports:
        name = "rounds" if group.rounds is not None else "participations"
        yield Fault(f"{pointer}/{name}", "are more than there may be", f"≤ {most_reports}")
    if group.rounds is not None and not _are_ascending_rounds(group.rounds, rounds):
        yield Fault(f"{pointer}/rounds", "must ascend within the run", f"1 to {rounds}")


def _are_ascending_rounds(numbers: Sequence[Any], last_round: int) -> bool:
    """Decide whether numbers are distinct integers from 1 to the last round, in ascending order."""
    # `bool` is a subclass of `int`, but true is not a round.
    if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
        return False
    numbers_with_limits = (0, *numbers, last_round + 1)
    return all(low < high for low, high in itertools.pairwise(numbers_with_limits))


def _most_clients_per_round(groups: Sequence[ParticipatingGroup]) -> int:
    """Return the largest number of clients that report in the same round.

    Args:
        groups: groups of clients, each with the rounds of its reports.

    Returns:
        The number of clients; 0 if no group reports.
    """
    clients_by_round: dict[int, int] = {}
    for group in groups:
        for number in group.rounds or ():
            clients_by_round[number] = clients_by_round.get(number, 0) + group.clients
    return max(clients_by_round.values(), default=0)
