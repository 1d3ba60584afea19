"""Random draws of several rounds of one repetition: the clients of each round, their records, and the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.accountants.quantities import Sampling
from epsilond.simulators.algorithms.batches import poisson_batches, subsets
from epsilond.simulators.federations.draws import deal_records, draw_records
from epsilond.simulators.federations.groups import ClientArrays
from epsilond.simulators.problems.problem import Floats, Indices, SimulatedProblem


@dataclass(frozen=True, kw_only=True)
class Reporting:
    """Which clients and records take part in the rounds of a run: M random clients, and K records of each.

    The sampling `poisson` includes every record independently with probability K/n and divides the sum by K. `full`
    reads all records. The other samplings draw K fresh records in every round.

    Attributes:
        participants: number M of clients in a round.
        batch_size: number K of records of a client in a round; the largest one if clients differ.
        rounds: number of rounds.
        sampling: rule by which a client samples its batch.
        samples_per_client: number n of records of a client; the largest one if clients differ.
        client_arrays: sizes, batch sizes, noise and loss scale of each client; None if all clients are equal.
    """

    participants: int
    batch_size: int
    rounds: int
    sampling: Sampling
    samples_per_client: int
    client_arrays: ClientArrays | None = None

    @property
    def needs_record_gradients(self) -> bool:
        """True if the gradients of single records are needed, because some records of a batch may not count."""
        return self.sampling == "poisson" or self.client_arrays is not None


@dataclass(frozen=True)
class ChunkDraws:
    """Random draws of T rounds in one repetition: the participants, their records, and the noise.

    Attributes:
        clients: indices of the M participants of each round, (T, M).
        records: indices of their records in their populations, (T, M, K), for K records of a client.
        counted: True for a record that is in the batch, (T, M, K); None if all are.
        normal: standard normal variables for the noise, (T, M, d), for d coordinates.
    """

    clients: Indices
    records: Indices
    counted: npt.NDArray[np.bool_] | None
    normal: Floats


def draw_chunk(
    problem: SimulatedProblem, reporting: Reporting, generator: np.random.Generator, data: Indices, rounds: int
) -> ChunkDraws:
    """Draw the clients, then the batches, then the noise of some rounds of one repetition.

    Args:
        problem: learning problem.
        reporting: participation in the run.
        generator: generator of the repetition.
        data: indices of each client's n records in its population, (N, n), for N clients.
        rounds: number T of rounds to draw.

    Returns:
        The draws. The last axis of `records` is the batch size; for full batches and Poisson sampling it is n. With
        Poisson sampling, or if clients differ, `counted` is a mask of the records in the batch.
    """
    population, participants, batch_size = data.shape[1], reporting.participants, reporting.batch_size
    clients = subsets(generator, (rounds,), problem.clients, participants)
    reads_all = reporting.sampling == "full" or (
        reporting.sampling == "without-replacement" and batch_size == population
    )
    counted = None
    if reporting.client_arrays is not None:
        records, counted = draw_records(generator, data, clients, reporting.client_arrays, reporting.sampling)
    elif reads_all:
        records = data[clients]
    elif reporting.sampling == "poisson":
        counted = poisson_batches(generator, (rounds, participants, population), batch_size / population)
        records = data[clients]
    elif reporting.sampling == "with-replacement":
        positions = generator.integers(population, size=(rounds, participants, batch_size))
        records = data[clients[..., None], positions]
    else:
        positions = subsets(generator, (rounds, participants), population, batch_size)
        records = data[clients[..., None], positions]
    normal = generator.standard_normal((rounds, participants, problem.dimension))
    return ChunkDraws(clients, records, counted, normal)


def deal_chunk(
    problem: SimulatedProblem,
    reporting: Reporting,
    generator: np.random.Generator,
    data: Indices,
    numbers: range,
) -> ChunkDraws:
    """Draw the clients and the noise of some rounds, and take the batches from records that are already shuffled.

    Args:
        problem: learning problem.
        reporting: participation in the run.
        generator: generator of the repetition.
        data: indices of each client's records in its population, in shuffled order, (N, n), for N clients and n records
            of a client.
        numbers: numbers t of T consecutive rounds, from 0. Round t takes the records tK, …, (t + 1)K − 1 of a client,
            where K is its batch size.

    Returns:
        The draws. If clients differ, `counted` is a mask of the records in the batch.
    """
    participants, batch_size = reporting.participants, reporting.batch_size
    clients = subsets(generator, (len(numbers),), problem.clients, participants)
    counted = None
    if reporting.client_arrays is not None:
        records, counted = deal_records(data, clients, reporting.client_arrays, numbers)
    else:
        # Positions of the records of each round, (T, K), for all participants.
        positions = np.asarray(numbers)[:, None] * batch_size + np.arange(batch_size)
        records = data[clients[..., None], positions[:, None, :]]
    normal = generator.standard_normal((len(numbers), participants, problem.dimension))
    return ChunkDraws(clients, records, counted, normal)
