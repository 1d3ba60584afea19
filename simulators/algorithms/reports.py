"""Reports of the mini-batch algorithms in each round: participants, records and noise.

Every repetition draws from its own generator: first its data set, then chunks of rounds. The chunk size depends on the
problem and the run only. The bits of a repetition therefore do not depend on the other repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.simulators.algorithms.report_chunks import ChunkDraws, Reporting, deal_chunk, draw_chunk
from epsilond.simulators.federations.draws import shuffle_records
from epsilond.simulators.federations.groups import ClientArrays
from epsilond.simulators.problems.problem import Floats, Indices, Records, SimulatedProblem
from epsilond.training.steps.messages import batch_mean, norms_of, with_noise

CHUNK = 40_000
"""Approximate number of numbers that one repetition draws at a time, which limits the memory."""


def reporting_for(
    problem: SimulatedProblem,
    *,
    participants: int | None,
    batch_size: int,
    rounds: int,
    sampling: Sampling,
    client_arrays: ClientArrays | None = None,
) -> Reporting:
    """Build the participation of a run on a problem.

    Args:
        problem: learning problem.
        participants: clients M in a round; None for all clients.
        batch_size: records K of a batch.
        rounds: number of rounds.
        sampling: sampling of a client's batches.
        client_arrays: sizes and noise of each client, if clients differ.

    Returns:
        The numbers of participants, records and rounds, and the sampling of batches.

    Raises:
        InvalidInput: there are more participants than clients, or a batch exceeds the client's records.
    """
    # Batches are checked only for clients that do not differ.
    records = problem.samples_per_client
    faults = []
    if participants is not None and participants > problem.clients:
        faults.append(Fault("/participants", "cannot exceed clients", f"≤ {problem.clients}"))
    if client_arrays is None and batch_size > records:
        faults.append(Fault("/batch_size", "cannot exceed samples_per_client", f"≤ {records}"))
    if client_arrays is None and sampling == "full" and batch_size != records:
        faults.append(Fault("/batch_size", "is samples_per_client if all records are read", f"{records}"))
    if faults:
        raise InvalidInput(*faults)

    # If clients differ, arrays have the size for the largest client.
    if client_arrays is not None:
        batch_size, records = client_arrays.largest_batch, client_arrays.most_records
    return Reporting(
        participants=participants or problem.clients,
        batch_size=batch_size,
        rounds=rounds,
        sampling=sampling,
        samples_per_client=records,
        client_arrays=client_arrays,
    )


@dataclass(frozen=True)
class RoundDraws:
    """Random draws of one round in S repetitions: who participates, with which records, and the noise.

    Attributes:
        clients: the M participants, (S, M).
        records: their records, looked up in the problem.
        counted: whether each record is in the batch, one entry for each record; None if all are.
        normal: standard normal variables for the noise, (S, M, d), for d coordinates.
    """

    clients: Indices
    records: Records
    counted: npt.NDArray[np.bool_] | None
    normal: Floats


def fresh_rounds(
    problem: SimulatedProblem, reporting: Reporting, generators: Sequence[np.random.Generator]
) -> Iterator[RoundDraws]:
    """Yield rounds with batches drawn afresh from each client's data, so that several rounds may use the same record.

    Args:
        problem: learning problem, with its clients and their records.
        reporting: which clients take part in a round, and how many of their records.
        generators: sources of randomness, one per repetition.

    Yields:
        The participants, the records and the normal draws of each round, for all repetitions.
    """
    data = [problem.draw(generator) for generator in generators]
    yield from _draw_rounds(problem, reporting, generators, data, one_pass=False)


def one_pass_rounds(
    problem: SimulatedProblem, reporting: Reporting, generators: Sequence[np.random.Generator]
) -> Iterator[RoundDraws]:
    """Yield rounds with disjoint batches, so that a run uses a record at most once.

    Each client shuffles its records once, and reads new ones in every round.

    Args:
        problem: learning problem, with its clients and their records.
        reporting: which clients take part in a round, and how many of their records.
        generators: sources of randomness, one per repetition.

    Yields:
        The participants, the records and the normal draws of each round, for all repetitions.
    """
    if reporting.client_arrays is not None:
        sizes = reporting.client_arrays.sizes
        shuffled_data = [shuffle_records(generator, problem.draw(generator), sizes) for generator in generators]
        yield from _draw_rounds(problem, reporting, generators, shuffled_data, one_pass=True)
        return
    record_count = reporting.batch_size * reporting.rounds
    data = [generator.permuted(problem.draw(generator), axis=1)[:, :record_count] for generator in generators]
    yield from _draw_rounds(problem, reporting, generators, data, one_pass=True)


def client_gradients(problem: SimulatedProblem, models: Floats, draws: RoundDraws, reporting: Reporting) -> Floats:
    """Return each participant's sum of gradients over its batch, divided by the batch size K.

    If clients differ, the gradients of a client are multiplied by the scale of its loss: its weight in the objective
    times the number of clients.

    Args:
        problem: learning problem.
        models: server models of S repetitions, (S, d), for d coordinates.
        draws: the round's M participants and their records.
        reporting: participation in the run, with batch sizes and weights.

    Returns:
        Gradients, (S, M, d).
    """
    if draws.counted is None:
        gradients: Floats = problem.mean_gradient(models[:, None, :], draws.records)
        return gradients
    record_gradients = problem.gradients(models[:, None, None, :], draws.records)
    if reporting.client_arrays is None:
        return batch_mean(record_gradients, draws.counted, reporting.batch_size)
    sums = batch_mean(record_gradients, draws.counted, 1)
    factors = reporting.client_arrays.scales[draws.clients] / reporting.client_arrays.batches[draws.clients]
    return sums * factors[..., None]


def messages_of(gradients: Floats, draws: RoundDraws, reporting: Reporting, noise_std: float) -> Floats:
    """Return the messages that the participants of a round send: each client's mean gradient plus its noise.

    Args:
        gradients: mean gradients of the participants, (S, M, d), for S repetitions, M participants and d coordinates.
        draws: draws of the round.
        reporting: participation in the run, with σ of each client if clients differ.
        noise_std: standard deviation of the noise in each coordinate, if clients are equal.

    Returns:
        The messages, (S, M, d).
    """
    if reporting.client_arrays is None:
        return with_noise(gradients, noise_std, draws.normal)
    own_noise_stds = reporting.client_arrays.noise_stds[draws.clients]
    return with_noise(gradients, own_noise_stds[..., None], draws.normal)


def largest_norm(gradients: Floats, draws: RoundDraws, reporting: Reporting) -> Floats:
    """Return the largest norm of a batch's mean gradient in a round, to compare with the Lipschitz constant.

    A client's gradient is a sum over its batch, divided by the nominal batch size K and scaled by the client's weight.
    The norm is of the unscaled sum, divided by the number of records that were drawn.

    Args:
        gradients: scaled gradients of M participants in S repetitions, (S, M, d), for d coordinates.
        draws: the round's participants and their records.
        reporting: participation in the run, with batch sizes and weights.

    Returns:
        The norms, (S).
    """
    norms = norms_of(gradients)
    client_arrays = reporting.client_arrays
    if draws.counted is not None:
        batches = reporting.batch_size if client_arrays is None else client_arrays.batches[draws.clients]
        drawn_records = np.maximum(np.sum(draws.counted, axis=-1), 1.0)  # not 0, for the division
        norms = norms * (batches / drawn_records)
    if client_arrays is not None:
        norms = norms / client_arrays.scales[draws.clients]
    largest: Floats = np.max(norms, axis=1)
    return largest


def records_read(reporting: Reporting) -> int:
    """Return the number of records that a client reads in a round: all of them, or those of a batch.

    Args:
        reporting: participation in the run. With Poisson sampling, records outside the batch are read too.
    """
    reads_all = reporting.sampling in ("full", "poisson")
    if reads_all:
        return reporting.samples_per_client
    return reporting.batch_size


def chunk_rounds(problem: SimulatedProblem, reporting: Reporting) -> int:
    """Return the number of rounds that are drawn at a time: about `CHUNK` random numbers for each repetition.

    Args:
        problem: learning problem.
        reporting: clients and records that take part in the rounds.

    Returns:
        The number, at least 1 and at most the number of rounds.
    """
    is_with_replacement = reporting.sampling == "with-replacement"
    selecting_numbers = reporting.batch_size if is_with_replacement else reporting.samples_per_client
    numbers_per_client = selecting_numbers + records_read(reporting) + problem.dimension
    numbers_per_round = reporting.participants * numbers_per_client + problem.clients
    return max(1, min(reporting.rounds, CHUNK // numbers_per_round))


def _draw_rounds(
    problem: SimulatedProblem,
    reporting: Reporting,
    generators: Sequence[np.random.Generator],
    data: Sequence[Indices],
    *,
    one_pass: bool,
) -> Iterator[RoundDraws]:
    """Yield the rounds of all repetitions, drawn in chunks so that the draws fit into memory.

    Args:
        problem: learning problem.
        reporting: participation in the run.
        generators: one per repetition.
        data: for each repetition, indices of the clients' records in their populations, (N, n), for N clients and n
            records of a client.
        one_pass: True to take disjoint batches from the records in order; False to draw batches afresh.

    Yields:
        The participants, their records and the normal draws of each round.
    """
    chunk = chunk_rounds(problem, reporting)
    for start in range(0, reporting.rounds, chunk):
        numbers = range(start, min(start + chunk, reporting.rounds))
        chunks = []
        for generator, data_set in zip(generators, data, strict=True):
            if one_pass:
                chunks.append(deal_chunk(problem, reporting, generator, data_set, numbers))
            else:
                chunks.append(draw_chunk(problem, reporting, generator, data_set, len(numbers)))
        for index in range(len(numbers)):
            yield _stack_round(problem, chunks, index)


def _stack_round(problem: SimulatedProblem, chunks: Sequence[ChunkDraws], index: int) -> RoundDraws:
    """Join the draws of one round from all repetitions into arrays.

    Args:
        problem: learning problem, which looks up the drawn records.
        chunks: draws of some consecutive rounds, one entry for each repetition.
        index: index of the round in the chunks, from 0.

    Returns:
        The draws of the round, with the repetitions as the first axis. The mask of counted records is None if no
        repetition has one.
    """
    clients = np.stack([chunk.clients[index] for chunk in chunks])
    positions = np.stack([chunk.records[index] for chunk in chunks])
    masks = [chunk.counted[index] for chunk in chunks if chunk.counted is not None]
    return RoundDraws(
        clients=clients,
        records=problem.records(clients[..., None], positions),
        counted=np.stack(masks) if masks else None,
        normal=np.stack([chunk.normal[index] for chunk in chunks]),
    )
