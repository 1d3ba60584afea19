"""Quantised noisy updates: the baselines that Das et al. compare with DP-NormFedAvg (their Algorithm 2).

Clients descend as in Algorithm 2. An update u is scaled to u/‖u‖ (`normalised`) or to u/max(C, ‖u‖) (`clipped`), so
that its norm is at most 1. It is then rounded to the grid with step 1/s. Integer noise is added to each message
(`clients`) or once to their sum (`server`). The server moves by β times the mean of the messages, and by βC times the
mean if updates are clipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import DECAY_RATE, STEP_SIZE, Participants, Quantity, Rounds, request
from epsilond.accountants.quantities.algorithms import CLIPPING_NORM, TRIALS, LocalSteps
from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.quantization import stochastic_rounding, unit_vectors
from epsilond.mechanisms.randomness import RandomSource, seeded_side_by_side
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.federation import UNCONSTRAINED, ClientData, local_work
from epsilond.simulators.algorithms.norm_fedavg import GRID, LEVELS, SERVER_STEP_SIZE
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.normalised_updates import server_step

Scaling = Literal["normalised", "clipped"]
NoiseAt = Literal["clients", "server"]
SCALING = Quantity(
    description="scaling of an update before rounding. normalised: to norm 1. clipped: to norm at most "
    "clipping_norm, and then divided by clipping_norm"
)
NOISE_AT = Quantity(
    description="who adds the noise. clients: each client adds noise to its own message. server: the server "
    "adds noise once, to the sum"
)
COINS = replace(TRIALS, ge=2, le=2**50)


@request
class GridFedavgRun:
    """A run of FedAvg whose clients send updates rounded to a grid, with integer noise.

    The noise of a coordinate is one of two kinds. It is truncated discrete Laplace noise if `noise_levels` and
    `decay_rate` are given, and Binomial noise if `trials`, its number of coin flips, is given. If all three are absent,
    discrete Laplace noise is calibrated. The run has no noise if `noise_levels` is 0.
    """

    algorithm: Annotated[Literal["grid-fedavg"], Quantity(description="name of the algorithm")] = "grid-fedavg"
    participants: Participants
    rounds: Rounds
    local_steps: LocalSteps
    local_step_size: Annotated[float, STEP_SIZE]
    server_step_size: Annotated[float, SERVER_STEP_SIZE]
    quantization_levels: Annotated[int, GRID]
    scaling: Annotated[Scaling, SCALING] = "normalised"
    clipping_norm: Annotated[float | None, CLIPPING_NORM] = None
    noise_at: Annotated[NoiseAt, NOISE_AT] = "clients"
    noise_levels: Annotated[int | None, LEVELS] = None
    decay_rate: Annotated[float | None, DECAY_RATE] = None
    trials: Annotated[int | None, COINS] = None

    def check(self) -> None:
        """Check that the fields for clipping and for noise fit together.

        Raises:
            InvalidInput: one of these requirements is violated. A clipping norm is given if and only if updates are
                clipped. A decay rate is given if and only if `noise_levels` is positive. `trials` is even, and is not
                given with `noise_levels`.
        """
        if (self.scaling == "clipped") != (self.clipping_norm is not None):
            raise InvalidInput.at("/clipping_norm", "goes with scaling clipped, and it with a clipping_norm")
        if (self.decay_rate is not None) != bool(self.noise_levels):
            raise InvalidInput.at("/decay_rate", "goes with noise_levels ≥ 1, and these with it")
        if self.trials is not None and self.noise_levels is not None:
            raise InvalidInput.at("/trials", "and noise_levels cannot be given together")
        if self.trials is not None and self.trials % 2:
            raise InvalidInput.at("/trials", "is odd", allowed="even")


def scale_updates(run: GridFedavgRun, updates: Floats) -> Floats:
    """Scale updates to norm at most 1, up to rounding.

    An update u becomes u/‖u‖ without a clipping norm, and u/max(C, ‖u‖) with the clipping norm C.

    Args:
        run: parameters with the clipping norm, which may be None.
        updates: client updates, (…, d), for d coordinates. An update with NaN or infinite entries becomes zeros.

    Returns:
        The scaled updates, (…, d).
    """
    units = unit_vectors(updates)
    if run.clipping_norm is None:
        return units
    norms = np.linalg.norm(np.where(np.isfinite(updates), updates, 0.0), axis=-1, keepdims=True)
    return np.asarray(units * np.minimum(1.0, norms / run.clipping_norm))


def draw_noise(
    run: GridFedavgRun, shape: tuple[int, ...], source: RandomSource, generators: Sequence[np.random.Generator]
) -> Floats:
    """Draw integer noise in grid steps: Binomial noise with mean 0, or truncated discrete Laplace noise.

    Args:
        run: parameters of the noise: the number of trials, or the noise levels and the decay rate.
        shape: shape of the noise; the first axis counts repetitions.
        source: exact sampler of the discrete Laplace noise.
        generators: one per repetition, for Binomial noise.

    Returns:
        Integers, as floats, of the given shape. They are 0 if the run has 0 noise levels.
    """
    if run.trials is not None:
        draws = np.stack([generator.binomial(run.trials, 0.5, size=shape[1:]) for generator in generators])
        return np.asarray(draws - run.trials // 2, dtype=np.float64)
    draws = truncated_discrete_laplace(run.decay_rate or 1.0, run.noise_levels or 0, shape, source)
    return np.asarray(draws, dtype=np.float64)


def simulate(
    problem: SimulatedProblem, run: GridFedavgRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run FedAvg with rounded, noisy updates once per generator, and measure the server's excess risk.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risks after the given rounds. The diagnostic `clipped_share` of a repetition is the share of updates
        longer than the clipping norm or, for normalised updates, the share of updates that are not 0.

    Raises:
        InvalidInput: neither `noise_levels` nor `trials` (of Binomial noise) is given, or the run does not fit the
            problem.
    """
    rounds_of(problem, run)  # checks the number of participants
    if run.noise_levels is None and run.trials is None:
        raise InvalidInput.at("/noise_levels", "is needed: give it or trials, or a target to calibrate it to")
    federation = ClientData.of(problem, generators)
    source = seeded_side_by_side(generators)
    models = np.zeros((len(generators), problem.dimension))
    excess = ExcessCurve(problem, rounds)
    clipped_share = np.zeros(len(generators))

    # Messages count grid steps of 1/s, and clipped updates were divided by the clipping norm.
    step_size = run.server_step_size * (run.clipping_norm or 1.0) / run.quantization_levels
    # A diverging repetition overflows, which is no error.
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(1, run.rounds + 1):
            records = federation.participants(run.participants)
            updates = federation.local_updates(models, records, steps=run.local_steps, step_size=run.local_step_size)
            is_clipped = np.linalg.norm(updates, axis=-1) > (run.clipping_norm or 0.0)
            clipped_share += np.mean(is_clipped, axis=1)
            messages = _noisy_messages(run, updates, source, generators)
            models = server_step(models, messages, step_size)
            excess.measure(number, models)
    return excess.curves(models, {"clipped_share": clipped_share / run.rounds})


def _noisy_messages(
    run: GridFedavgRun, updates: Floats, source: RandomSource, generators: Sequence[np.random.Generator]
) -> Floats:
    """Scale updates, round them to the grid, and add noise.

    Args:
        run: parameters of the run.
        updates: updates of the m participants of each repetition, (repetitions, m, d), for d coordinates.
        source: exact sampler of the rounding and of discrete Laplace noise.
        generators: one per repetition, for Binomial noise.

    Returns:
        Messages in grid steps, of the shape of the updates. Noise of the server belongs to the sum of the messages: a
        share of 1/m is added to each message.
    """
    messages = stochastic_rounding(scale_updates(run, updates), run.quantization_levels, source).astype(np.float64)
    if run.noise_at == "clients":
        return messages + draw_noise(run, messages.shape, source, generators)
    repetitions, _, dimension = updates.shape
    return messages + draw_noise(run, (repetitions, 1, dimension), source, generators) / run.participants


def rounds_of(problem: SimulatedProblem, run: GridFedavgRun) -> int:
    """Return the number of rounds of a run, after a check of the number of participants.

    Args:
        problem: learning problem with its clients.
        run: parameters of the run.

    Raises:
        InvalidInput: there are more participants than clients.
    """
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    return run.rounds


def work_of(problem: SimulatedProblem, run: GridFedavgRun) -> Work:
    """Estimate the work of one repetition: gradients, and the rounding and the noise of messages.

    The factors are rough estimates. `operations` counts array entries, and `calls` counts numpy calls.

    Args:
        problem: learning problem.
        run: parameters of the run; its noise may be unknown.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    gradients = local_work(problem, participants=run.participants, rounds=run.rounds, local_steps=run.local_steps)
    # Coordinates of all messages of one round. Rounding and noise take about 40 array entries for each, and need about
    # 15 doubles of 8 bytes.
    coordinates = float(run.participants * problem.dimension)
    return Work(
        operations=gradients.operations + run.rounds * (40.0 * coordinates + 300.0),
        calls=gradients.calls + 80.0 * run.rounds,
        bytes=gradients.bytes + 8.0 * 15.0 * coordinates,
    )


def alternatives(run: GridFedavgRun) -> Mapping[str, GridFedavgRun]:
    """Return the run to compare with, by name: the same run on the same grid without noise."""
    return {"non-private": replace(run, noise_levels=0, decay_rate=None, trials=None)}


ALGORITHM = SimulatedAlgorithm(
    name="grid-fedavg",
    title="Quantised noisy updates: clipped, or with other noise",
    run=GridFedavgRun,
    problems=UNCONSTRAINED,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
    titles={"non-private": "on the grid, without noise"},
)
