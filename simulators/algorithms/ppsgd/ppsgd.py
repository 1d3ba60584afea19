"""PPSGD, Algorithms 1 to 3 of Bietti et al.: personalised learning with a noisy shared part.

In a round, each participating client i sends a message. It is the mean of its records' gradients (`weighting` clients,
Algorithm 3; with all clients and one record each, Algorithm 1) or their sum (`samples`, Algorithm 2). With W the total
weight, N or Σm_i, and q the participation rate:

    θ_i ← θ_i − η/(qW) message_i,    w ← w − αη((1/(qW)) Σ clip_C(message_i) + N(0, σ_ζ² I)),

from w = θ_i = 0. The output after n rounds is the mean of the iterates before each round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.ppsgd.message_statistics import MessageStatistics
from epsilond.simulators.algorithms.ppsgd.rounds import Rounds, chunk_size, draw
from epsilond.simulators.algorithms.ppsgd.run import (
    PpsgdRun,
    batch_sizes,
    record_weights,
    steps_of,
    total_weight,
)
from epsilond.simulators.problems.personalized_digits import PersonalizedDigits
from epsilond.simulators.problems.personalized_problem import PersonalizedProblem
from epsilond.simulators.problems.personalized_problems import PersonalizedHuber, PersonalizedLeastSquares
from epsilond.simulators.problems.problem import Floats
from epsilond.training.steps.messages import clipping_factors
from epsilond.training.steps.shared_and_own import OwnParts, SharedPart

NUMPY_CALLS = 30
"""Calls of numpy in one round, approximate."""


@dataclass(frozen=True)
class _Plan:
    """Settings of a run of PPSGD on a problem with N clients: step sizes, noise, clipping and weights.

    Attributes:
        step: step size η of the own parts, before the factor `scale`.
        shared_step: step size of the shared part.
        noise_std: standard deviation per coordinate of the noise in the mean message.
        clipping_norm: largest norm of a message; inf for no clipping.
        scale: 1/(qW), with the participation rate q of a client and the total weight W of the clients.
        weights: weight of each record's gradient in its client's message, (N, largest batch); 0 beyond the client's
            batch.
        shares: weight of each client's loss in the objective, (N); the weights add up to 1.
    """

    step: float
    shared_step: float
    noise_std: float
    clipping_norm: float
    scale: float
    weights: Floats
    shares: Floats

    @classmethod
    def of(cls, problem: PersonalizedProblem, run: PpsgdRun) -> _Plan:
        """Derive the settings of a run on a problem.

        Args:
            problem: personalised problem, in which each of the N clients has its own model.
            run: parameters of the run. A `noise_std` of None means no noise, and a `clipping_norm` of None no clipping.
        """
        step, shared_step = steps_of(problem, run)
        sizes = batch_sizes(problem, run)
        total = total_weight(problem, run)
        client_weights = np.ones_like(sizes) if run.weighting == "clients" else sizes
        return cls(
            step=step,
            shared_step=shared_step,
            noise_std=run.noise_std or 0.0,
            clipping_norm=math.inf if run.clipping_norm is None else run.clipping_norm,
            scale=1.0 / (run.rate * total),
            weights=record_weights(problem, run),
            shares=client_weights / total,
        )

    @property
    def largest_batch(self) -> int:
        """Number of records of the largest batch."""
        return int(self.weights.shape[1])


# The run ------------------------------------------------------------------------------------------------------------
class _ModelState:
    """Current models of all clients in every repetition, each the sum of a shared part w and the client's own part θ_i.

    Attributes:
        shared: the shared part of each repetition.
        own: the own parts, in rows that are sorted by repetition and then by client.
        clients: number N of clients.
    """

    def __init__(self, plan: _Plan, repetitions: int, clients: int, dimension: int) -> None:
        """Start all parts at 0.

        Args:
            plan: step sizes and noise of the run.
            repetitions: number of repetitions.
            clients: number N of clients.
            dimension: number d of coordinates of a model.
        """
        self.shared = SharedPart(
            np.zeros((repetitions, dimension)), step_size=plan.shared_step, noise_std=plan.noise_std
        )
        self.own = OwnParts(np.zeros((repetitions * clients, dimension)), step_size=plan.step * plan.scale)
        self.clients = clients

    def mean_models(self, rounds: int) -> Floats:
        """Return the mean of each client's models w + θ_i before each round so far.

        Args:
            rounds: number of rounds so far.

        Returns:
            The mean models of N clients, (repetitions, N, d), for d coordinates.
        """
        shared = self.shared.mean(rounds)
        own = self.own.means(rounds).reshape(len(shared), self.clients, -1)
        return np.asarray(own + shared[:, None, :])


def simulate(
    problem: PersonalizedProblem, run: PpsgdRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run PPSGD once per generator, and measure the excess risk of the clients' averaged models.

    In a round each participating client computes a message, the weighted gradient of its records. The model of client i
    is w + θ_i, with the shared part w and the own part θ_i. The output is the mean of the models before each round.

    A repetition does not depend on the other repetitions or on the rounds that are measured. An excess beyond the range
    of doubles is infinite.

    Args:
        problem: personalised problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The measured excess risks, the scores on held-out records, and the last models. The diagnostics are:
            `clipped_share`: fraction of all messages that are clipped.
            `largest_message`: largest norm of a message before clipping.
            `mean_participants`: mean number of clients in a round.

    Raises:
        InvalidInput: steps or noise are missing, or groups and rate do not fit the problem.
    """
    plan = _Plan.of(problem, run)
    state = _ModelState(plan, len(generators), problem.clients, problem.dimension)
    statistics = MessageStatistics(len(generators), plan.clipping_norm)
    measured_excess: list[Floats] = []
    output = np.zeros((len(generators), problem.clients, 0))
    last = max(rounds)

    # A run that diverges has an infinite excess, which is reported.
    with np.errstate(over="ignore", invalid="ignore"):
        for number, draws, round_index in _draw_rounds(problem, run, plan, generators, last=last):
            norms = _run_round(problem, plan, state, draws, round_index, number=number)
            statistics.add(draws, round_index, norms)
            if number in rounds:
                output = state.mean_models(number)
                excess_of_repetitions = [_excess(problem, models, plan.shares) for models in output]
                measured_excess.append(np.array(excess_of_repetitions))

    return Curves(
        rounds=tuple(sorted(rounds)),
        excess=np.stack(measured_excess, axis=1),
        diagnostics=statistics.diagnostics(last),
        scores=_scores(problem, output),
        models=output,
    )


def _draw_rounds(
    problem: PersonalizedProblem,
    run: PpsgdRun,
    plan: _Plan,
    generators: Sequence[np.random.Generator],
    *,
    last: int,
) -> Iterator[tuple[int, Rounds, int]]:
    """Draw the rounds of all repetitions in chunks, up to a last round.

    Args:
        problem: personalised problem.
        run: parameters of the run.
        plan: steps, noise and weights of the run, of which the largest batch is used.
        generators: one per repetition.
        last: number of the last round that is needed.

    Yields:
        The number of a round, from 1; the random numbers of its chunk; and the index of the round in the chunk.
    """
    size = chunk_size(run.rate * problem.clients * plan.largest_batch * problem.dimension)
    for offset in range(0, last, size):
        draws = draw(
            problem,
            generators,
            rounds=min(size, run.rounds - offset),
            batch_size=plan.largest_batch,
            rate=run.rate,
            participants=run.participants(problem.clients),
        )
        for round_index in range(min(draws.rounds, last - offset)):
            yield offset + round_index + 1, draws, round_index


def _scores(problem: PersonalizedProblem, models: Floats) -> Mapping[str, Floats]:
    """Return the scores of each repetition's models on held-out records, which no client trains on.

    Repetitions are scored one by one, so that no score depends on other repetitions.

    Args:
        problem: personalised problem, in which each of the N clients has its own model.
        models: clients' models of all repetitions, (repetitions, N, d), for d coordinates.

    Returns:
        Scores by name, (repetitions).
    """
    scores = [problem.scores(models_of_repetition) for models_of_repetition in models]
    return {name: np.array([float(score[name]) for score in scores]) for name in scores[0]}


def _excess(problem: PersonalizedProblem, models: Floats, shares: Floats) -> float:
    """Return the excess risk of one repetition's models.

    Args:
        problem: personalised problem, in which each of the N clients has its own model.
        models: clients' models of the repetition, (N, d), for d coordinates.
        shares: weight of each client's loss in the objective, (N); the weights add up to 1.

    Returns:
        The weighted mean of the clients' losses minus its least value, which is at least 0 up to rounding. It is
        infinite if the run diverged to NaN.
    """
    excess = float(problem.excess(models, shares))
    if math.isnan(excess):
        return math.inf
    return excess


def _run_round(
    problem: PersonalizedProblem, plan: _Plan, state: _ModelState, draws: Rounds, round_index: int, *, number: int
) -> Floats:
    """Run one round of all repetitions, and update their models.

    A message is the weighted gradient of one participant's records. The shared part moves along the noisy mean of the
    clipped messages. Each participant's own part moves along its own message, without clipping and noise.

    Args:
        problem: personalised problem.
        plan: steps, noise, clipping and weights of the run.
        state: models before the round, which are updated.
        draws: random draws of a chunk of rounds.
        round_index: index of the round in the chunk.
        number: number of the round in the run, from 1.

    Returns:
        Norms of the messages before clipping, in one axis over the participants of all repetitions.
    """
    rows = draws.rows(round_index)
    repetition = draws.repetition[rows]
    client = draws.client[rows]
    own_rows = slice(None) if draws.everyone else repetition * state.clients + client
    models = state.shared.model[repetition] + state.own.models[own_rows]

    message = problem.weighted_gradient(models, draws.of(round_index), plan.weights[client])
    norms: Floats = np.sqrt(np.einsum("kd,kd->k", message, message))
    clipped_message = message * clipping_factors(norms, plan.clipping_norm)[:, None]

    mean = plan.scale * draws.per_repetition(round_index, clipped_message)
    state.shared.receive(mean, draws.noise[round_index], number)
    state.own.move(own_rows, message, number)
    return norms


# Rounds, work and alternatives --------------------------------------------------------------------------------------
def rounds_of(problem: PersonalizedProblem, run: PpsgdRun) -> int:
    """Check that a run fits the problem, and return its number of rounds T.

    Args:
        problem: personalised problem.
        run: the run. If its noise is unknown, its step sizes are not checked.

    Returns:
        The number T.

    Raises:
        InvalidInput: client groups or participation rate do not fit the problem, or noise is given without step sizes.
    """
    run.batches(problem.clients)
    run.participants(problem.clients)
    if run.noise_std is not None:
        steps_of(problem, run)
    return run.rounds


def work_of(problem: PersonalizedProblem, run: PpsgdRun) -> Work:
    """Estimate the computing work of one repetition of a run: array operations, numpy calls and memory.

    Args:
        problem: personalised problem.
        run: the run; its noise may be unknown.

    Returns:
        Rough estimates of the operations on array entries, the numpy calls, and the bytes of memory.
    """
    # Entries of the records that are drawn, in a round and in a chunk of rounds.
    groups = run.batches(problem.clients)
    largest_batch = max(group.batch_size for group in groups)
    round_entries = run.rate * problem.clients * largest_batch * problem.dimension
    chunk_rounds = min(chunk_size(round_entries), run.rounds)
    chunk_entries = 4.0 * chunk_rounds * round_entries

    # Entries of the models, of the participants' masks and of the noise.
    state_entries = 6.0 * problem.clients * problem.dimension
    mask_and_noise_entries = chunk_rounds * (problem.clients + problem.dimension)
    message_operations = 2.0 * problem.clients * (1.0 + run.rate * problem.dimension)
    return Work(
        operations=run.rounds * (2.0 * round_entries + message_operations),
        calls=float(NUMPY_CALLS) * run.rounds,
        bytes=8.0 * (state_entries + chunk_entries + mask_and_noise_entries),
    )


def alternatives(run: PpsgdRun) -> Mapping[str, PpsgdRun]:
    """Return the runs with which a run of PPSGD is compared, by name.

    Args:
        run: the private run.

    Returns:
        `non-private`: no noise.
        `local-only`: only the clients' own parts of the models learn.
        `global-only`: only the shared part learns.
    """
    return {
        "non-private": replace(run, noise_std=0.0),
        "local-only": replace(run, personalization=0.0),
        "global-only": replace(run, personalization="unbounded"),
    }


ALGORITHM = SimulatedAlgorithm(
    name="ppsgd",
    title="Personalised learning with a noisy shared part",
    run=PpsgdRun,
    problems=(PersonalizedLeastSquares, PersonalizedHuber, PersonalizedDigits),
    simulate=simulate,  # type: ignore[arg-type]
    rounds=rounds_of,  # type: ignore[arg-type]
    work=work_of,  # type: ignore[arg-type]
    alternatives=alternatives,
    alternative_names=("non-private", "local-only", "global-only"),
    titles={
        "non-private": "same steps, without noise",
        "local-only": "nothing shared",
        "global-only": "all shared",
    },
)
