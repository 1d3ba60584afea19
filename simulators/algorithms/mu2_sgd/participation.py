"""Participation in a run of noise cancellation, and its random draws for several rounds at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import CLIENTS, Quantity, Rounds, request
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem

REPORTED = Quantity(
    symbol="T_i",
    description="the rounds, counted from 1 and in ascending order, in which each client of this group takes part",
)
GROUPS = Quantity(
    description="groups of clients that take part in the same rounds, for the kind `pattern`. Absent for `uniform`"
)
PARTICIPATION = Quantity(
    description="which clients take part in a round. Absent: `participants` clients, drawn uniformly in each round"
)
KIND = Quantity(
    description="uniform: in each round participants are drawn uniformly from all clients. pattern: each group "
    "states in which rounds it takes part"
)
ENTRIES = 2**14
"""Numbers that one repetition draws at a time, approximate."""
MOST_ROUNDS = 1024
"""Largest number of rounds drawn at a time."""


@request
class ReportingGroup:
    """A number of clients that all report in the same rounds of a run.

    `clients` is the number of clients in the group. `rounds` are the numbers of the rounds, from 1 on and ascending.
    """

    clients: Annotated[int, CLIENTS]
    rounds: Annotated[tuple[Rounds, ...], REPORTED]

    def check(self) -> None:
        """Check that the rounds are integers of at least 1 in ascending order, and store them as a tuple."""
        object.__setattr__(self, "rounds", tuple(self.rounds))
        rounds: Any = self.rounds
        are_integers = all(isinstance(number, int) and not isinstance(number, bool) for number in rounds)
        if not are_integers or any(low >= high for low, high in pairwise((0, *self.rounds))):
            raise InvalidInput.at("/rounds", "must ascend within the run", allowed="≥ 1")


@request
class RunParticipation:
    """Clients that report in each round: a uniform subset, or the groups that a pattern names.

    A uniform subset is drawn afresh in every round, and `groups` is None. A pattern has groups with given rounds. The
    first group is the first clients of the problem, the second group the next ones, and so on.
    """

    kind: Annotated[Literal["uniform", "pattern"], KIND] = "uniform"
    groups: Annotated[tuple[ReportingGroup, ...] | None, GROUPS] = None

    def check(self) -> None:
        """Check that a pattern has groups and uniform participation has none.

        Groups that are given as mappings, for example from JSON, are replaced by `ReportingGroup` objects.

        Raises:
            InvalidInput: a pattern has no groups, or uniform participation has groups.
        """
        groups: Any = self.groups
        if (groups is None) != (self.kind == "uniform"):
            message = "are needed for this kind" if groups is None else "belong to the other kind"
            raise InvalidInput.at("/groups", message)
        if groups is not None:
            requests = (ReportingGroup(**group) if isinstance(group, Mapping) else group for group in groups)
            object.__setattr__(self, "groups", tuple(requests))  # the class is frozen

    def require_fit(self, clients: int, participants: int) -> None:
        """Check that a pattern fits a run; uniform participation always does.

        Args:
            clients: number of clients of the problem.
            participants: largest number of reports in a round.

        Raises:
            InvalidInput: the groups do not add up to `clients`, or more than `participants` clients report in a round.
        """
        if self.groups is None:
            return
        faults = []
        if sum(group.clients for group in self.groups) != clients:
            faults.append(Fault("/participation/groups", "must add up to clients", f"{clients} clients"))
        reports: Counter[int] = Counter()  # number of reports, by the number of the round
        for group in self.groups:
            reports.update(dict.fromkeys(group.rounds, group.clients))
        if max(reports.values(), default=0) > participants:
            faults.append(Fault("/participation/groups", "more clients report in a round than participants"))
        if faults:
            raise InvalidInput(*faults)

    def most_reports(self, rounds: int) -> int:
        """Return the largest number of reports that a client may send in a run, at least 1.

        Args:
            rounds: number of rounds of the run. A client that is drawn uniformly may report in each of them.
        """
        if self.groups is None:
            return rounds
        return max(1, *(len(group.rounds) for group in self.groups))

    @property
    def last_round(self) -> int:
        """Last round in which a group reports; 0 for uniform participation."""
        return max((number for group in self.groups or () for number in group.rounds), default=0)


def chunk_size(clients: int, noises: int) -> int:
    """Return the number of rounds for which random numbers are drawn at a time, so that these fit into memory.

    The result does not depend on the number of repetitions. So a repetition has the same draws with any number of them.

    Args:
        clients: number of clients.
        noises: number of normal variables drawn in a round.

    Returns:
        A number from 1 to `MOST_ROUNDS`.
    """
    # About `ENTRIES` numbers in a chunk: two for each client, and the noise.
    return min(max(ENTRIES // (2 * clients + noises), 1), MOST_ROUNDS)


@dataclass(frozen=True)
class Reports:
    """Random draws for some rounds of all repetitions: the clients that report, their records, and the noise.

    Each round has m entries, the largest number of reports. If fewer clients report, the remaining entries are padding.

    Attributes:
        clients: indices of the clients that report, ascending, and then of padding, (rounds, repetitions, m).
        present: True for a client that reports, False for padding, (rounds, repetitions, m).
        places: index of the record in the client's population, (rounds, repetitions, m).
        noise: standard normal variables for the noise vectors of d coordinates, (rounds, repetitions, vectors, d).
    """

    clients: Indices
    present: npt.NDArray[np.bool_]
    places: Indices
    noise: Floats

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.clients)


def draw_reports(
    problem: SimulatedProblem,
    generators: Sequence[np.random.Generator],
    participation: RunParticipation,
    *,
    first: int,
    rounds: int,
    participants: int,
    noises: int,
) -> Reports:
    """Draw the reporting clients, their records and the noise of the next rounds, for all repetitions.

    Args:
        problem: learning problem.
        generators: one per repetition, so that its draws do not depend on the other repetitions.
        participation: which clients report.
        first: number of the first round to draw.
        rounds: number of rounds to draw.
        participants: largest number m of reports in a round.
        noises: number of noise vectors in a round.

    Returns:
        The draws; their first axis is the round.
    """
    clients, present, places, noise = [], [], [], []
    for generator in generators:
        # Another order of these draws would change the results of every seed.
        reporters, is_present = _draw_reporters(generator, problem.clients, participation, first, rounds, participants)
        records = problem.draw_fresh(generator, (rounds,))
        clients.append(reporters)
        present.append(is_present)
        places.append(np.take_along_axis(records, reporters, axis=1))
        noise.append(generator.standard_normal((rounds, noises, problem.dimension)))
    return Reports(
        np.stack(clients, axis=1), np.stack(present, axis=1), np.stack(places, axis=1), np.stack(noise, axis=1)
    )


def _draw_reporters(
    generator: np.random.Generator,
    clients: int,
    participation: RunParticipation,
    first: int,
    rounds: int,
    participants: int,
) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """Draw the clients that report in some rounds of one repetition.

    Args:
        generator: source of randomness; it is not used if the participation is a pattern.
        clients: number N of clients.
        participation: uniform draws, or a pattern: groups of clients with the numbers of their rounds, from 1 on.
        first: number of the first round to draw, from 1 on.
        rounds: number of rounds to draw.
        participants: largest number m of reports in a round.

    Returns:
        Indices of clients, (rounds, m), and a mask of the same shape. The mask is False for padding, that is, a client
        that does not report.
    """
    if participation.groups is not None:
        reports = _pattern(participation.groups, clients, range(first, first + rounds))
        # A stable sort puts the clients that report first, in ascending order, and then those that pad the row.
        reporters = np.argsort(~reports, axis=1, kind="stable")[:, :participants]
        return reporters, np.take_along_axis(reports, reporters, axis=1)
    all_report = np.ones((rounds, participants), dtype=np.bool_)
    if participants == clients:
        return np.broadcast_to(np.arange(clients), (rounds, clients)), all_report
    return np.sort(subsets(generator, (rounds,), clients, participants), axis=1), all_report


def _pattern(groups: Sequence[ReportingGroup], clients: int, numbers: range) -> npt.NDArray[np.bool_]:
    """Return a mask of the clients that report in some rounds of a pattern.

    Args:
        groups: groups of consecutive clients, with the numbers of the rounds in which they report.
        clients: number N of clients.
        numbers: numbers of consecutive rounds.

    Returns:
        True where a client reports, (rounds, N).
    """
    reports = np.zeros((len(numbers), clients), dtype=np.bool_)
    start = 0
    for group in groups:
        rows = [number - numbers.start for number in group.rounds if number in numbers]
        reports[rows, start : start + group.clients] = True
        start += group.clients
    return reports
