"""PPSGD, Algorithms 1 to 3 of Bietti et al.: clients take steps of their own, and a noisy mean moves what they share.

In a round, client i of those that take part sends a message: the mean of its records' gradients (`weighting` clients,
Algorithm 3; with all clients and one record each, Algorithm 1), or their sum (`samples`, Algorithm 2). With W the
total weight, N or Σm_i, and q the participation rate,

    θ_i ← θ_i − η/(qW) message_i,    w ← w − αη((1/(qW)) Σ clip_C(message_i) + N(0, σ_ζ² I)),

from w = θ_i = 0. What is put out after n rounds is the mean of the iterates before each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from accountants.errors import Fault, InvalidInput
from accountants.quantities import (
    BATCH_SIZE,
    CLIENT_GROUPS,
    CLIPPING_NORM,
    FINITE_PERSONALIZATION,
    PERSONALIZATION,
    RATE,
    SAMPLING,
    SHARED_NOISE_STD,
    STEP_SIZE,
    WEIGHTING,
    BatchSize,
    Clients,
    Quantity,
    Rounds,
    Weighting,
    personalization_value,
    request,
)
from simulators.algorithm import Algorithm, Curves, Work
from simulators.personalized_problem import PersonalizedProblem
from simulators.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from simulators.ppsgd_rounds import Rounds as RoundsOfRows
from simulators.ppsgd_rounds import chunk_size, draw
from simulators.problem import Floats

ClientSampling = Literal["full", "poisson", "without-replacement"]

NUMPY_CALLS = 40
"""Calls of numpy in one round, about."""
SHARED_STEP_SIZE = replace(STEP_SIZE, symbol="αη", description="step size of the shared part where nothing else learns")


@request
class ClientBatches:
    """Clients that are alike: how many, and the records of a batch."""

    clients: Clients
    batch_size: BatchSize = 1


@request
class PpsgdRun:
    """How the clients take part, what they send, and the steps.

    `noise_std` is σ_ζ per coordinate, on the mean that the server forms; absent, it is calibrated, and so are absent
    `personalization` and steps. Where it is given, so must they be: `step_size` η, or `shared_step_size` αη at
    "unbounded" personalization. Absent `clipping_norm` is the largest message there can be: nothing is clipped.
    """

    algorithm: Annotated[Literal["ppsgd"], Quantity(description="PPSGD")] = "ppsgd"
    rounds: Rounds
    sampling: Annotated[ClientSampling, SAMPLING] = "full"
    participation_rate: Annotated[float | None, RATE] = None
    weighting: Annotated[Weighting, WEIGHTING] = "clients"
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    client_groups: Annotated[tuple[ClientBatches, ...] | None, CLIENT_GROUPS] = None
    clipping_norm: Annotated[float | None, CLIPPING_NORM] = None
    personalization: Annotated[
        Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"] | None, PERSONALIZATION
    ] = None
    step_size: Annotated[float | None, STEP_SIZE] = None
    shared_step_size: Annotated[float | None, SHARED_STEP_SIZE] = None
    noise_std: Annotated[float | None, SHARED_NOISE_STD] = None

    def check(self) -> None:
        """Pairs of fields that no run can have."""
        if self.personalization is not None:
            personalization_value(self.personalization)
        if self.client_groups is not None:
            object.__setattr__(self, "client_groups", tuple(map(_read_group, self.client_groups)))
        faults = []
        if self.sampling == "full" and self.rate != 1.0:
            faults.append(Fault("/participation_rate", "is 1 where all clients take part", "= 1"))
        if self.sampling != "full" and self.participation_rate is None:
            faults.append(Fault("/participation_rate", "is needed unless all clients take part", RATE.allowed))
        if self.client_groups is not None and self.batch_size is not None:
            faults.append(Fault("/client_groups", "give at most one of batch_size and client_groups"))
        unbounded = self.personalization == "unbounded"
        if self.shared_step_size is not None and not unbounded:
            faults.append(Fault("/shared_step_size", "is for unbounded personalization; else step_size decides it"))
        if self.step_size is not None and unbounded:
            faults.append(Fault("/step_size", "is 0 at unbounded personalization; give shared_step_size"))
        if self.noise_std is not None and self.personalization is None:
            faults.append(Fault("/personalization", "is needed beside noise_std", PERSONALIZATION.allowed or None))
        if self.noise_std is not None and not unbounded and self.step_size is None:
            faults.append(Fault("/step_size", "is needed beside noise_std", STEP_SIZE.allowed))
        if self.noise_std is not None and unbounded and self.shared_step_size is None:
            faults.append(Fault("/shared_step_size", "is needed beside noise_std", STEP_SIZE.allowed))
        if faults:
            raise InvalidInput(*faults)

    @property
    def rate(self) -> float:
        """q."""
        return 1.0 if self.participation_rate is None else self.participation_rate

    @property
    def alpha(self) -> float:
        """α, inf for "unbounded"; of a run whose α is decided."""
        return personalization_value(self.personalization or 0.0)

    @property
    def steps(self) -> tuple[float, float]:
        """η of the clients' own parts and αη of the shared part; of a run whose steps are decided."""
        if self.personalization == "unbounded":
            return 0.0, self.shared_step_size or 0.0
        return self.step_size or 0.0, self.alpha * (self.step_size or 0.0)

    def batches(self, clients: int) -> tuple[ClientBatches, ...]:
        """The clients by their batches.

        Raises:
            InvalidInput: the groups do not add up to `clients`.
        """
        groups = self.client_groups or (ClientBatches(clients=clients, batch_size=self.batch_size or 1),)
        if sum(group.clients for group in groups) != clients:
            raise InvalidInput.at("/client_groups", "must add up to clients", allowed=f"{clients} clients")
        return groups

    def participants(self, clients: int) -> int | None:
        """Clients of one round, None where their number is random.

        Raises:
            InvalidInput: a fixed number that is not a whole one.
        """
        if self.sampling == "poisson":
            return None
        count = round(self.rate * clients)
        if count < 1 or abs(self.rate * clients - count) > 1e-9 * count:
            message = "times clients must be a whole number of participants"
            raise InvalidInput.at("/participation_rate", message, allowed=f"a multiple of 1/{clients}")
        return count


def _read_group(given: Any) -> ClientBatches:
    return given if not isinstance(given, Mapping) else ClientBatches(**given)


# What the run is on a problem -----------------------------------------------------------------------------------------
def batch_sizes(problem: PersonalizedProblem, run: PpsgdRun) -> Floats:
    """(N,): m_i."""
    groups = run.batches(problem.clients)
    return np.repeat([float(group.batch_size) for group in groups], [group.clients for group in groups])


def total_weight(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """W."""
    return float(problem.clients) if run.weighting == "clients" else math.fsum(batch_sizes(problem, run))


def largest_message(problem: PersonalizedProblem, run: PpsgdRun) -> float:
    """G, or G times the largest batch: what no message exceeds, inf if there is no such number."""
    added = 1.0 if run.weighting == "clients" else float(batch_sizes(problem, run).max())
    return problem.constants.lipschitz * added


def record_weights(problem: PersonalizedProblem, run: PpsgdRun) -> Floats:
    """(N, m_max): what each record of a client's batch counts for in its message; 0 beyond its batch."""
    sizes = batch_sizes(problem, run)
    counted = (np.arange(sizes.max()) < sizes[:, None]).astype(np.float64)
    return counted / sizes[:, None] if run.weighting == "clients" else counted


# The run ------------------------------------------------------------------------------------------------------------
class _State:
    """w and θ of every repetition, and what their means need: Σ t Δ_t of the changes Δ_t.

    Before each of rounds 1 to n there is an iterate; their mean is z_n − (1/n) Σ t Δ_t, so that clients that take no
    part in a round cost nothing.
    """

    def __init__(self, repetitions: int, clients: int, dimension: int) -> None:
        self.shared = np.zeros((repetitions, dimension))
        self.shared_late = np.zeros((repetitions, dimension))
        self.own = np.zeros((repetitions * clients, dimension))
        self.own_late = np.zeros((repetitions * clients, dimension))
        self.clients = clients

    def mean_models(self, rounds: int) -> Floats:
        """(repetitions, N, d): the mean iterates' w + θ_i after that many rounds."""
        shared = self.shared - self.shared_late / rounds
        own = self.own - self.own_late / rounds
        return own.reshape(len(shared), self.clients, -1) + shared[:, None, :]


def simulate(
    problem: PersonalizedProblem, run: PpsgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """One repetition for each generator, side by side; the excess is that of the mean iterates, at the weighting.

    Diagnostics: `clipped_share` of the messages, `largest_message` norm before clipping, and `mean_participants`.

    Raises:
        InvalidInput: steps or noise are not decided, or groups and rate do not fit the problem.
    """
    if run.noise_std is None:
        raise InvalidInput.at("/noise_std", "is calibrated before a run")
    state = _State(len(generators), problem.clients, problem.dimension)
    weights = record_weights(problem, run)
    sizes = batch_sizes(problem, run)
    shares = (np.ones_like(sizes) if run.weighting == "clients" else sizes) / total_weight(problem, run)
    measured: list[Floats] = []
    clipped, largest, messages = (np.zeros(len(generators)) for _ in range(3))
    done, last = 0, max(rounds)
    rate, participants = run.rate, run.participants(problem.clients)
    size = chunk_size(rate * problem.clients * weights.shape[1] * problem.dimension)
    while done < last:
        drawn = draw(
            problem,
            generators,
            rounds=min(size, run.rounds - done),
            batch_size=weights.shape[1],
            rate=rate,
            participants=participants,
        )
        for place in range(min(drawn.rounds, last - done)):
            norms = _round(problem, run, state, drawn, place, number=done + place + 1, weights=weights)
            if run.clipping_norm is not None:
                clipped += drawn.per_repetition(place, (norms > run.clipping_norm).astype(np.float64))
            messages += drawn.per_repetition(place, np.ones_like(norms))
            np.maximum.at(largest, drawn.repetition[drawn.rows(place)], norms)
            if done + place + 1 in rounds:
                models = state.mean_models(done + place + 1)
                measured.append(np.array([problem.excess(one, shares) for one in models]))
        done += drawn.rounds
    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured, axis=1),
        diagnostics={
            "clipped_share": clipped / np.maximum(messages, 1.0),
            "largest_message": largest,
            "mean_participants": messages / last,
        },
    )


def _round(
    problem: PersonalizedProblem,
    run: PpsgdRun,
    state: _State,
    drawn: RoundsOfRows,
    place: int,
    *,
    number: int,
    weights: Floats,
) -> Floats:
    """One round of all repetitions; the norms of the messages are returned."""
    rows = drawn.rows(place)
    repetition, client = drawn.repetition[rows], drawn.client[rows]
    at = slice(None) if drawn.everyone else repetition * state.clients + client
    models = state.shared[repetition] + state.own[at]
    message = problem.weighted_gradient(models, drawn.of(place), weights[client])
    norms = np.sqrt(np.einsum("kd,kd->k", message, message))
    step, shared_step = run.steps
    scale = 1.0 / (run.rate * total_weight(problem, run))
    sent = message
    if run.clipping_norm is not None:
        sent = message * np.minimum(1.0, run.clipping_norm / np.maximum(norms, 1e-300))[:, None]
    mean = scale * drawn.per_repetition(place, sent)
    change = -shared_step * (mean + (run.noise_std or 0.0) * drawn.noise[place])
    state.shared += change
    state.shared_late += number * change
    own_change = (-step * scale) * message
    state.own[at] += own_change
    state.own_late[at] += number * own_change
    return norms


# What the witness asks ----------------------------------------------------------------------------------------------
def rounds_of(problem: PersonalizedProblem, run: PpsgdRun) -> int:
    """T.

    Raises:
        InvalidInput: groups or rate do not fit the problem.
    """
    run.batches(problem.clients)
    run.participants(problem.clients)
    return run.rounds


def work_of(problem: PersonalizedProblem, run: PpsgdRun) -> Work:
    """Of one repetition."""
    groups = run.batches(problem.clients)
    most = max(group.batch_size for group in groups)
    entries = run.rate * problem.clients * most * problem.dimension
    chunk = min(chunk_size(entries), run.rounds)
    state = 6.0 * problem.clients * problem.dimension
    return Work(
        operations=run.rounds * (5.0 * entries + 8.0 * run.rate * problem.clients * problem.dimension),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0 * (state + 4.0 * chunk * entries + chunk * (problem.clients + problem.dimension)),
    )


def alternatives(run: PpsgdRun) -> Mapping[str, PpsgdRun]:
    """Without noise; learning alone; and, where something is shared, sharing everything, with the shared part's step.

    Of a run whose noise, α and steps are decided.
    """
    step, shared_step = run.steps
    found = {"non-private": replace(run, noise_std=0.0)}
    if run.personalization != "unbounded" and shared_step > 0.0:
        found["local-only"] = replace(run, personalization=0.0, step_size=step)
        found["global-only"] = replace(
            run, personalization="unbounded", step_size=None, shared_step_size=shared_step
        )
    return found


ALGORITHM = Algorithm(
    name="ppsgd",
    title="Personalised learning with a noisy shared part",
    run=PpsgdRun,
    problems=(PersonalizedLeastSquares, PersonalizedHuber),
    simulate=simulate,  # type: ignore[arg-type]
    rounds=rounds_of,  # type: ignore[arg-type]
    work=work_of,  # type: ignore[arg-type]
    alternatives=alternatives,
    beside=("non-private", "local-only", "global-only"),
)
