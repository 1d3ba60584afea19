"""Who reports when, and what a run of noise cancellation draws, several rounds at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import CLIENTS, Quantity, Rounds, request
from epsilond.simulators.algorithms.batches import subsets
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem

REPORTED = Quantity(symbol="T_i", description="the rounds, from 1 on and ascending, in which each of them reports")
GROUPS = Quantity(description="clients that report in the same rounds, as counts (kind `pattern`)")
PARTICIPATION = Quantity(description="who reports: m uniformly in each round (default), or each client when told")
KIND = Quantity(description="uniform: m of N afresh in each round; pattern: in which rounds")
ENTRIES = 2**14
"""Numbers of one repetition that are drawn at a time, about."""
MOST_ROUNDS = 1024


@request
class ReportingGroup:
    """Clients that report in the same rounds."""

    clients: Annotated[int, CLIENTS]
    rounds: Annotated[tuple[Rounds, ...], REPORTED]

    def check(self) -> None:
        """Whole rounds that ascend from 1 on."""
        object.__setattr__(self, "rounds", tuple(self.rounds))
        given: Any = self.rounds
        whole = all(isinstance(one, int) and not isinstance(one, bool) for one in given)
        if not whole or any(low >= high for low, high in zip((0, *self.rounds), self.rounds, strict=False)):
            raise InvalidInput.at("/rounds", "must ascend within the run", allowed="≥ 1")


@request
class RunParticipation:
    """Uniform, or by a pattern of groups; the clients of a problem are those of the groups in their order."""

    kind: Annotated[Literal["uniform", "pattern"], KIND] = "uniform"
    groups: Annotated[tuple[ReportingGroup, ...] | None, GROUPS] = None

    def check(self) -> None:
        """Groups for a pattern alone."""
        given: Any = self.groups
        if (given is None) != (self.kind == "uniform"):
            needed = "are needed for this kind" if given is None else "belong to the other kind"
            raise InvalidInput.at("/groups", needed)
        if given is not None:
            read = (one if not isinstance(one, Mapping) else ReportingGroup(**one) for one in given)
            object.__setattr__(self, "groups", tuple(read))

    def fits(self, clients: int, participants: int) -> None:
        """Refuse a pattern of other clients, or with more than `participants` in a round.

        Raises:
            InvalidInput: as said.
        """
        if self.groups is None:
            return
        faults = []
        if sum(group.clients for group in self.groups) != clients:
            faults.append(Fault("/participation/groups", "must add up to clients", f"{clients} clients"))
        load: dict[int, int] = {}
        for group in self.groups:
            for each in group.rounds:
                load[each] = load.get(each, 0) + group.clients
        if max(load.values(), default=0) > participants:
            faults.append(Fault("/participation/groups", "more clients report in a round than participants"))
        if faults:
            raise InvalidInput(*faults)

    def most_reports(self, rounds: int) -> int:
        """The most that any client may report in so many rounds, at least 1."""
        return rounds if self.groups is None else max(1, *(len(group.rounds) for group in self.groups))


def chunk_size(clients: int, noises: int) -> int:
    """Rounds that are drawn at a time: the same however many repetitions there are."""
    return min(max(ENTRIES // (2 * clients + noises), 1), MOST_ROUNDS)


@dataclass(frozen=True)
class Reports:
    """Some rounds of all repetitions; m places for reports in each."""

    clients: Indices
    """(rounds, repetitions, m): who reports, ascending."""
    present: npt.NDArray[np.bool_]
    """(rounds, repetitions, m): whether that place is taken."""
    places: Indices
    """(rounds, repetitions, m): which record of the client's population."""
    noise: Floats
    """(rounds, repetitions, noises, d): standard normal."""

    @property
    def rounds(self) -> int:
        """How many."""
        return len(self.clients)


def draw(
    problem: SimulatedProblem,
    generators: Sequence[np.random.Generator],
    participation: RunParticipation,
    *,
    first: int,
    rounds: int,
    participants: int,
    noises: int,
) -> Reports:
    """Rounds first, first + 1, … of every repetition, each from its own generator."""
    clients, present, places, noise = [], [], [], []
    for generator in generators:
        who, there = _reporting(generator, problem.clients, participation, first, rounds, participants)
        drawn = problem.draw_fresh(generator, (rounds,))
        clients.append(who)
        present.append(there)
        places.append(np.take_along_axis(drawn, who, axis=1))
        noise.append(generator.standard_normal((rounds, noises, problem.dimension)))
    return Reports(
        np.stack(clients, axis=1), np.stack(present, axis=1), np.stack(places, axis=1), np.stack(noise, axis=1)
    )


def _reporting(
    generator: np.random.Generator,
    clients: int,
    participation: RunParticipation,
    first: int,
    rounds: int,
    participants: int,
) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """(rounds, m): clients, and whether the place is taken. Places that are not hold clients that do not report."""
    if participation.groups is not None:
        ends = np.cumsum([0, *(group.clients for group in participation.groups)])
        taking_part = np.zeros((rounds, clients), dtype=np.bool_)
        for group, low, high in zip(participation.groups, ends, ends[1:], strict=False):
            here = np.asarray(group.rounds, dtype=np.int64) - first
            taking_part[here[(here >= 0) & (here < rounds)], low:high] = True
        who = np.argsort(~taking_part, axis=1, kind="stable")[:, :participants]
        return who, np.take_along_axis(taking_part, who, axis=1)
    everyone = np.ones((rounds, participants), dtype=np.bool_)
    if participants == clients:
        return np.broadcast_to(np.arange(clients), (rounds, clients)), everyone
    return np.sort(subsets(generator, (rounds,), clients, participants), axis=1), everyone
