"""Random draws of PPSGD, several rounds at a time: participants, fresh records and the server's noise.

A row is one client that participates in one round of one repetition. Rows are sorted by round, then by repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.simulators.algorithms.batches import poisson_batches, without_replacement_batches
from epsilond.simulators.problems.personalized_problem import Numbers, PersonalizedProblem
from epsilond.simulators.problems.problem import Floats, Records

ENTRIES = 2**14
"""Features of one repetition drawn at a time, approximate; large enough to make the cost of a call negligible."""
MOST_ROUNDS = 1024
"""Largest number of rounds drawn at a time."""


def chunk_size(entries: float) -> int:
    """Return the number of rounds to draw at a time, so that one repetition draws about `ENTRIES` features.

    It does not depend on the number of repetitions, so a repetition has the same random numbers in every simulation.

    Args:
        entries: number of features that a repetition draws in one round.

    Returns:
        The number of rounds, from 1 to `MOST_ROUNDS`.
    """
    rounds = max(ENTRIES // max(entries, 1.0), 1)
    return int(min(rounds, MOST_ROUNDS))


@dataclass(frozen=True)
class Rounds:
    """Random draws of some rounds of all repetitions: the participants, their records, and the noise.

    A row is one client that participates in one round of one repetition. Rows are sorted by round, then by repetition.

    Attributes:
        starts: first row of each repetition in each round and, in the last column, the row after the last one of the
            round; (rounds, repetitions + 1).
        repetition: index of the repetition of each row, (rows).
        client: index of the client of each row, (rows).
        records: fresh records of the client of each row, (rows, batch size, …).
        noise: standard normal variables, (rounds, repetitions, d), for d coordinates.
        everyone: True if all clients participate in all rounds, in order.
    """

    starts: Numbers
    repetition: Numbers
    client: Numbers
    records: Records
    noise: Floats
    everyone: bool

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.starts)

    def rows(self, round_index: int) -> slice:
        """Return the range of rows that belong to one round.

        Args:
            round_index: index of the round in these rounds, from 0.
        """
        return slice(int(self.starts[round_index, 0]), int(self.starts[round_index, -1]))

    def of(self, round_index: int) -> Records:
        """Return the records of all participants of one round.

        Args:
            round_index: index of the round in these rounds, from 0.

        Returns:
            The records, one batch for each row of the round.
        """
        rows = self.rows(round_index)
        return Records(self.records.features[rows], self.records.targets[rows])

    def per_repetition(self, round_index: int, values: Floats) -> Floats:
        """Sum values of one round over the participants of each repetition.

        Args:
            round_index: index of the round in these rounds, from 0.
            values: one value for each row of the round, (rows, …).

        Returns:
            The sums, (repetitions, …); 0 for a repetition without participants.
        """
        starts = self.starts[round_index] - self.starts[round_index, 0]
        sums = np.zeros((len(starts) - 1, *values.shape[1:]))
        has_participants = starts[1:] > starts[:-1]  # `reduceat` is only defined for ranges that are not empty
        if has_participants.any():
            sums[has_participants] = np.add.reduceat(values, starts[:-1][has_participants], axis=0)
        return sums


def draw(
    problem: PersonalizedProblem,
    generators: Sequence[np.random.Generator],
    *,
    rounds: int,
    batch_size: int,
    rate: float,
    participants: int | None,
) -> Rounds:
    """Draw the participants, their records and the noise of the next rounds, for all repetitions.

    Args:
        problem: personalised problem.
        generators: one per repetition.
        rounds: number of rounds.
        batch_size: number of records in a batch.
        rate: participation rate q, used only if `participants` is None.
        participants: number of clients in a round; None if each participates independently with probability q.

    Returns:
        The draws, with one row for each participant, sorted by round and then by repetition.
    """
    # Each repetition draws from its own generator in this order. Another order would change the results of a seed.
    masks, records, noise = [], [], []
    for generator in generators:
        mask = _draw_participants(generator, rounds, problem.clients, rate, participants)
        participating_clients = np.nonzero(mask)[1]
        masks.append(mask)
        records.append(problem.records(generator, participating_clients, batch_size))
        noise.append(generator.standard_normal((rounds, problem.dimension)))

    # The records are sorted by repetition first, but the rows by round first.
    participation = np.stack(masks, axis=1)  # (rounds, repetitions, N)
    _rounds, repetition, client = np.nonzero(participation)
    order = _order_by_round(masks)
    features = _concatenate([drawn.features for drawn in records], order)
    targets = _concatenate([drawn.targets for drawn in records], order)
    return Rounds(
        starts=_row_starts(participation.sum(axis=2)),
        repetition=repetition,
        client=client,
        records=Records(features, targets),
        noise=np.stack(noise, axis=1),
        everyone=participants == problem.clients,
    )


def _row_starts(counts: Numbers) -> Numbers:
    """Return where the rows of each repetition begin in each round.

    A row is a participant. The rows of all rounds form one table, sorted by round and then by repetition.

    Args:
        counts: number of participants, (rounds, repetitions).

    Returns:
        Index of the first row of each repetition and, in the last column, of the row after the last one of the round;
        (rounds, repetitions + 1).
    """
    # The rows of a repetition end where the rows of the next one begin.
    stops = np.cumsum(counts.ravel()).reshape(counts.shape)
    first_starts = stops[:, 0] - counts[:, 0]
    return np.concatenate([first_starts[:, None], stops], axis=1)


def _order_by_round(masks: Sequence[npt.NDArray[np.bool_]]) -> Numbers | None:
    """Return the order that sorts participants by round, if they are listed one repetition after the other.

    Args:
        masks: one mask per repetition, True for a client that participates in a round, (rounds, N), for N clients.

    Returns:
        Indices of the list in the new order; None for one round or one repetition, which are in order already.
    """
    if len(masks) == 1 or len(masks[0]) == 1:
        return None
    round_of_row = np.concatenate([np.nonzero(mask)[0] for mask in masks])
    return np.argsort(round_of_row, kind="stable")


def _concatenate(parts: Sequence[Floats], order: Numbers | None) -> Floats:
    """Concatenate the arrays of all repetitions along the first axis, and reorder this axis.

    Args:
        parts: one array per repetition.
        order: indices of the concatenated array in the new order; None to keep it as it is.
    """
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if order is None:
        return rows
    return rows[order]


def _draw_participants(
    generator: np.random.Generator, rounds: int, clients: int, rate: float, participants: int | None
) -> npt.NDArray[np.bool_]:
    """Draw the participants of each round of one repetition.

    Args:
        generator: source of randomness; it is not used if all clients participate.
        rounds: number of rounds.
        clients: number N of clients.
        rate: participation rate q, used only for independent draws.
        participants: clients in a round; None if each participates independently with probability q.

    Returns:
        A mask that is True for participants, (rounds, N).
    """
    if participants == clients:
        return np.ones((rounds, clients), dtype=np.bool_)
    if participants is None:
        return poisson_batches(generator, (rounds, clients), rate)
    return without_replacement_batches(generator, rounds, clients, participants)
