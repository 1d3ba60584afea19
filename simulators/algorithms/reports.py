"""What clients report in each round of the mini-batch algorithms: who is drawn, which records, and the noise.

Every repetition draws from its own generator: first its data set, then chunks of rounds, whose size the problem and
the run decide alone. So a repetition is the same, bit by bit, whichever others run beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.simulators.algorithms.batches import poisson_batches, subsets
from epsilond.simulators.federations.draws import dealt_places, fresh_places, shuffled
from epsilond.simulators.federations.groups import Unlike
from epsilond.simulators.problems.problem import Floats, Indices, Records, SimulatedProblem
from epsilond.training.steps.messages import batch_mean, norms_of, with_noise

CHUNK = 40_000
"""Numbers that one repetition draws at one time, about."""


@dataclass(frozen=True, kw_only=True)
class Reporting:
    """M clients in each round, uniformly drawn of all, and K records of each.

    `poisson`: every record by itself with probability K/n, and the sum over those drawn is divided by K all the same.
    `full`: all records. The other samplings draw K records afresh in every round. Of clients that differ n and K are
    the largest, and `unlike` has each one's own.
    """

    participants: int
    batch_size: int
    rounds: int
    sampling: Sampling
    samples_per_client: int
    unlike: Unlike | None = None

    @property
    def singly(self) -> bool:
        """Whether gradients are taken of single records, some of which may not count."""
        return self.sampling == "poisson" or self.unlike is not None


def reporting_for(
    problem: SimulatedProblem,
    *,
    participants: int | None,
    batch_size: int,
    rounds: int,
    sampling: Sampling,
    unlike: Unlike | None = None,
) -> Reporting:
    """On this problem; participants absent: all clients.

    Raises:
        InvalidInput: more participants than clients, or a batch that the client's records do not fill.
    """
    n = problem.samples_per_client
    faults = []
    if participants is not None and participants > problem.clients:
        faults.append(Fault("/participants", "cannot exceed clients", f"≤ {problem.clients}"))
    if unlike is None and batch_size > n:
        faults.append(Fault("/batch_size", "cannot exceed samples_per_client", f"≤ {n}"))
    if unlike is None and sampling == "full" and batch_size != n:
        faults.append(Fault("/batch_size", "is samples_per_client if all records are read", f"{n}"))
    if faults:
        raise InvalidInput(*faults)
    return Reporting(
        participants=participants or problem.clients,
        batch_size=batch_size if unlike is None else unlike.largest_batch,
        rounds=rounds,
        sampling=sampling,
        samples_per_client=n if unlike is None else unlike.most_records,
        unlike=unlike,
    )


@dataclass(frozen=True)
class RoundDraws:
    """Of S repetitions: clients (S, M), their records, whether each counts (None: all do), normal draws (S, M, d)."""

    clients: Indices
    records: Records
    counted: npt.NDArray[np.bool_] | None
    normal: Floats


@dataclass(frozen=True)
class _Drawn:
    """Of one repetition and a chunk of T rounds: clients (T, M), places (T, M, K), counted, normal (T, M, d)."""

    clients: Indices
    places: Indices
    counted: npt.NDArray[np.bool_] | None
    normal: Floats


def fresh_rounds(
    problem: SimulatedProblem, reporting: Reporting, generators: Sequence[np.random.Generator]
) -> Iterator[RoundDraws]:
    """Rounds whose batches are drawn afresh from each client's data, records being used again and again."""
    data = [problem.draw(generator) for generator in generators]
    yield from _rounds(problem, reporting, generators, data, dealt=False)


def one_pass_rounds(
    problem: SimulatedProblem, reporting: Reporting, generators: Sequence[np.random.Generator]
) -> Iterator[RoundDraws]:
    """Rounds whose batches are disjoint: each client shuffles its records once, and its t-th K are those of round t."""
    if reporting.unlike is not None:
        sizes = reporting.unlike.sizes
        own = [shuffled(generator, problem.draw(generator), sizes) for generator in generators]
        yield from _rounds(problem, reporting, generators, own, dealt=True)
        return
    used = reporting.batch_size * reporting.rounds
    data = [generator.permuted(problem.draw(generator), axis=1)[:, :used] for generator in generators]
    yield from _rounds(problem, reporting, generators, data, dealt=True)


def client_gradients(problem: SimulatedProblem, models: Floats, drawn: RoundDraws, reporting: Reporting) -> Floats:
    """Of each client of the round, its sum of gradients over K, times p_i N: models (S, d) → (S, M, d)."""
    if drawn.counted is None:
        gradients: Floats = problem.mean_gradient(models[:, None, :], drawn.records)
        return gradients
    each = problem.gradients(models[:, None, None, :], drawn.records)
    if reporting.unlike is None:
        return batch_mean(each, drawn.counted, reporting.batch_size)
    scaled = reporting.unlike.scales[drawn.clients] / reporting.unlike.batches[drawn.clients]
    return batch_mean(each, drawn.counted, 1) * scaled[..., None]


def messages_of(gradients: Floats, drawn: RoundDraws, reporting: Reporting, noise_std: float) -> Floats:
    """With each client's noise, σ of those that differ being their own: (S, M, d)."""
    if reporting.unlike is None:
        return with_noise(gradients, noise_std, drawn.normal)
    return with_noise(gradients, reporting.unlike.noise_stds[drawn.clients][..., None], drawn.normal)


def largest_norm(gradients: Floats, drawn: RoundDraws, reporting: Reporting) -> Floats:
    """Of the mean gradients of the round's batches: (S, M, d) → (S). Those of poisson batches are divided by K.

    Of losses as they are, before their weights p_i N.
    """
    norms, unlike = norms_of(gradients), reporting.unlike
    if drawn.counted is not None:
        batches = reporting.batch_size if unlike is None else unlike.batches[drawn.clients]
        norms = norms * (batches / np.maximum(np.sum(drawn.counted, axis=-1), 1.0))
    if unlike is not None:
        norms = norms / unlike.scales[drawn.clients]
    largest: Floats = np.max(norms, axis=1)
    return largest


def records_read(reporting: Reporting) -> int:
    """Of one client in one round."""
    whole = reporting.sampling in ("full", "poisson")
    return reporting.samples_per_client if whole else reporting.batch_size


def chunk_rounds(problem: SimulatedProblem, reporting: Reporting) -> int:
    """Rounds that are drawn at one time."""
    keys = reporting.samples_per_client if reporting.sampling != "with-replacement" else reporting.batch_size
    one = reporting.participants * (keys + records_read(reporting) + problem.dimension) + problem.clients
    return max(1, min(reporting.rounds, CHUNK // one))


def _rounds(
    problem: SimulatedProblem,
    reporting: Reporting,
    generators: Sequence[np.random.Generator],
    data: Sequence[Indices],
    *,
    dealt: bool,
) -> Iterator[RoundDraws]:
    chunk = chunk_rounds(problem, reporting)
    for start in range(0, reporting.rounds, chunk):
        wanted = range(start, min(start + chunk, reporting.rounds))
        drawn = [
            _dealt(problem, reporting, generator, own, wanted)
            if dealt
            else _drawn(problem, reporting, generator, own, len(wanted))
            for generator, own in zip(generators, data, strict=True)
        ]
        for place in range(len(wanted)):
            clients = np.stack([one.clients[place] for one in drawn])
            places = np.stack([one.places[place] for one in drawn])
            counted = [one.counted[place] for one in drawn if one.counted is not None]
            yield RoundDraws(
                clients,
                problem.records(clients[..., None], places),
                np.stack(counted) if counted else None,
                np.stack([one.normal[place] for one in drawn]),
            )


def _drawn(
    problem: SimulatedProblem, reporting: Reporting, generator: np.random.Generator, data: Indices, rounds: int
) -> _Drawn:
    """Clients, then batches, then noise."""
    n, m, k = data.shape[1], reporting.participants, reporting.batch_size
    clients = subsets(generator, (rounds,), problem.clients, m)
    counted = None
    if reporting.unlike is not None:
        places, counted = fresh_places(generator, data, clients, reporting.unlike, reporting.sampling)
    elif reporting.sampling == "full" or (reporting.sampling == "without-replacement" and k == n):
        places = data[clients]
    elif reporting.sampling == "poisson":
        counted = poisson_batches(generator, (rounds, m, n), k / n)
        places = data[clients]
    elif reporting.sampling == "with-replacement":
        places = data[clients[..., None], generator.integers(n, size=(rounds, m, k))]
    else:
        places = data[clients[..., None], subsets(generator, (rounds, m), n, k)]
    return _Drawn(clients, places, counted, generator.standard_normal((rounds, m, problem.dimension)))


def _dealt(
    problem: SimulatedProblem, reporting: Reporting, generator: np.random.Generator, data: Indices, wanted: range
) -> _Drawn:
    m, k = reporting.participants, reporting.batch_size
    clients = subsets(generator, (len(wanted),), problem.clients, m)
    if reporting.unlike is not None:
        places, counted = dealt_places(data, clients, reporting.unlike, wanted)
        normal = generator.standard_normal((len(wanted), m, problem.dimension))
        return _Drawn(clients, places, counted, normal)
    batches = np.asarray(wanted)[:, None] * k + np.arange(k)
    normal = generator.standard_normal((len(wanted), m, problem.dimension))
    return _Drawn(clients, data[clients[..., None], batches[:, None, :]], None, normal)
