"""DP-NormFedAvg: clients send the direction of their update, rounded to a grid, with integer noise that is truncated.

Source: Das et al. 2021, Algorithm 1. Every client of a round descends E steps on its full gradient, its update is
normalised, each coordinate is rounded at random to a multiple of 1/s, and independent truncated discrete Laplace noise
is added; the server moves by β times the mean of the messages. Models are not projected, as the paper does not.
Rounding and noise are exact samplers: see `mechanisms`.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    DECAY_RATE,
    NOISE_LEVELS,
    OBSERVER,
    STEP_SIZE,
    Observer,
    Participants,
    Quantity,
    Rounds,
    request,
)
from epsilond.accountants.quantities.algorithms import QUANTIZATION_LEVELS, LocalSteps
from epsilond.mechanisms.discrete_laplace import MOST_NOISE_LEVELS
from epsilond.mechanisms.quantization import MOST_QUANTIZATION_LEVELS, quantized_messages, unit_vectors
from epsilond.mechanisms.randomness import RandomSource, seeded_side_by_side
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.federation import UNCONSTRAINED, ClientData, local_work, overflowed
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.normalised_updates import server_step

ALGORITHM_NAME = Quantity(description="which algorithm this is")
GRID = replace(QUANTIZATION_LEVELS, le=MOST_QUANTIZATION_LEVELS)
LEVELS = replace(NOISE_LEVELS, ge=0, le=MOST_NOISE_LEVELS)
SERVER_STEP_SIZE = replace(STEP_SIZE, symbol="β", unit="length", description="the server's step, times a unit update")


@request
class NormFedavgRun:
    """Absent noise is calibrated; `noise_levels` 0 is none, and with no grid either the unit update is sent as it is.

    Absent steps are those of the paper for the run's own noise: η = ζ/(4LE√(1 + γ/r)) with γ the mean squared error of
    a message, and β/η as makes its bound least; losses are convex, ζ = 1.
    `printed_noise_levels`, `printed_decay_rate` are the noise that the paper's Theorem 1 prescribes, set beside it as
    `as-printed`; `raised_noise_levels`, `raised_decay_rate` are its decay with as many levels as make it true:
    `as-printed-raised`. Both are computed where noise is calibrated.
    """

    algorithm: Annotated[Literal["norm-fedavg"], ALGORITHM_NAME] = "norm-fedavg"
    participants: Participants
    rounds: Rounds
    local_steps: LocalSteps
    local_step_size: Annotated[float | None, STEP_SIZE] = None
    server_step_size: Annotated[float | None, SERVER_STEP_SIZE] = None
    quantization_levels: Annotated[int | None, GRID] = None
    noise_levels: Annotated[int | None, LEVELS] = None
    decay_rate: Annotated[float | None, DECAY_RATE] = None
    printed_noise_levels: Annotated[int | None, LEVELS] = None
    printed_decay_rate: Annotated[float | None, DECAY_RATE] = None
    raised_noise_levels: Annotated[int | None, LEVELS] = None
    raised_decay_rate: Annotated[float | None, DECAY_RATE] = None
    observer: Annotated[Observer, OBSERVER] = "server"

    def check(self) -> None:
        """Noise needs a grid and a decay; levels and decays come together."""
        for kind in ("", "printed_", "raised_"):
            levels, decay = (getattr(self, f"{kind}{name}") for name in ("noise_levels", "decay_rate"))
            if (decay is not None) != bool(levels):
                raise InvalidInput.at(f"/{kind}decay_rate", f"goes with {kind}noise_levels ≥ 1, and these with it")
        if self.noise_levels != 0 and self.quantization_levels is None:
            raise InvalidInput.at("/quantization_levels", "is needed where there is noise")


@dataclass(frozen=True)
class StepSizes:
    """The clients' step η and the server's step β."""

    local: float
    server: float


def noise_variance(decay_rate: float, noise_levels: int) -> float:
    """E Y² of the noise in squared grid steps: Σ y² x^y in closed form, x = e^−α, carrying the digits it cancels."""
    lost = max(0.0, -math.log10(decay_rate)) + len(str(noise_levels))
    context = decimal.Context(prec=math.ceil(40 + 6 * lost), Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    with decimal.localcontext(context):
        x, m = (-Decimal(decay_rate)).exp(), noise_levels
        power, rest = (-Decimal(decay_rate) * m).exp(), 1 - x
        squares = x * (1 + x - power * ((m + 1) ** 2 - (2 * m * m + 2 * m - 1) * x + m * m * x * x)) / rest**3
        return float(2 * squares / (1 + 2 * x * (1 - power) / rest))


def compression(run: NormFedavgRun, dimension: int) -> float:
    """γ: bound on the mean squared error of one message, d/(4s²) + dV."""
    if run.quantization_levels is None:
        return 0.0
    variance = noise_variance(run.decay_rate, run.noise_levels) if run.decay_rate and run.noise_levels else 0.0
    return dimension * (0.25 + variance) / run.quantization_levels**2


def initial_distance(problem: SimulatedProblem) -> float:
    """From the start at 0 to the minimiser; where that is the start itself, the radius, which bounds it."""
    constants = problem.constants
    return constants.optimum_norm if constants.optimum_norm > 0.0 else 0.5 * constants.diameter


def step_sizes(problem: SimulatedProblem, run: NormFedavgRun) -> StepSizes:
    """As given, else as the paper has them."""
    smoothness = problem.constants.smoothness
    local = run.local_step_size
    if local is None:
        spread = math.sqrt(1.0 + compression(run, problem.dimension) / run.participants)
        local = 1.0 / (4.0 * smoothness * run.local_steps * spread)
    server = run.server_step_size
    if server is None:
        server = 4.0 * smoothness * initial_distance(problem) * run.local_steps / math.sqrt(run.rounds) * local
    return StepSizes(local, server)


def messages(run: NormFedavgRun, units: Floats, source: RandomSource) -> Floats:
    """What clients send of unit vectors, in units of the update: (repetitions, participants, d)."""
    if run.quantization_levels is None:
        return units
    levels, decay = run.noise_levels or 0, run.decay_rate or 1.0
    sent = quantized_messages(
        units, levels=run.quantization_levels, noise_levels=levels, decay_rate=decay, source=source
    )
    return sent / run.quantization_levels


def simulate(
    problem: SimulatedProblem, run: NormFedavgRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Excess of w_k, and of every repetition the mean and the least over k = 0, …, K − 1 of ‖∇f(w_k)‖.

    f is the mean of the clients' losses on the data at hand. Where a repetition's numbers overflow, they are infinite.
    """
    demand(problem, run)
    federation, steps = ClientData.of(problem, generators), step_sizes(problem, run)
    source = seeded_side_by_side(generators)
    models = np.zeros((len(generators), problem.dimension))
    excess = np.empty((len(generators), len(rounds)))
    norms = np.empty((len(generators), run.rounds))
    with np.errstate(over="ignore", invalid="ignore"):
        for done in range(run.rounds):
            norms[:, done] = federation.gradient_norms(models)
            records = federation.participants(run.participants)
            updates = federation.local_updates(models, records, steps=run.local_steps, step_size=steps.local)
            models = server_step(models, messages(run, unit_vectors(updates), source), steps.server)
            if done + 1 in rounds:
                excess[:, rounds.index(done + 1)] = overflowed(problem.excess(models))
    found = {"mean_gradient_norm": norms.mean(axis=1), "least_gradient_norm": norms.min(axis=1)}
    return Curves(rounds, excess, found, problem.scores(models), models)


def demand(problem: SimulatedProblem, run: NormFedavgRun) -> None:
    """Refuse more participants than clients, and noise that is not there yet.

    Raises:
        InvalidInput: at the field.
    """
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    if run.noise_levels is None:
        raise InvalidInput.at("/noise_levels", "is needed: give it, or a target to calibrate it to")


def rounds_of(problem: SimulatedProblem, run: NormFedavgRun) -> int:
    """K."""
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    return run.rounds


def work(problem: SimulatedProblem, run: NormFedavgRun) -> Work:
    """Gradients, and about thirty operations for every coordinate that is rounded and given noise."""
    gradients = local_work(problem, participants=run.participants, rounds=run.rounds, local_steps=run.local_steps)
    if run.quantization_levels is None:
        return gradients
    coordinates = float(run.participants * problem.dimension)
    return Work(
        operations=gradients.operations + run.rounds * (30.0 * coordinates + 300.0),
        calls=gradients.calls + 80.0 * run.rounds,
        bytes=gradients.bytes + 8.0 * (15.0 * coordinates + run.rounds),
    )


def alternatives(run: NormFedavgRun) -> Mapping[str, NormFedavgRun]:
    """NormFedAvg, and the printed noise where it is given."""
    alone = replace(
        run, printed_noise_levels=None, printed_decay_rate=None, raised_noise_levels=None, raised_decay_rate=None
    )
    exact = replace(alone, quantization_levels=None, noise_levels=0, decay_rate=None)
    found = {"non-private": exact}
    for name, levels, decay in (
        ("as-printed", run.printed_noise_levels, run.printed_decay_rate),
        ("as-printed-raised", run.raised_noise_levels, run.raised_decay_rate),
    ):
        if levels is not None:
            found[name] = replace(alone, noise_levels=levels, decay_rate=decay)
    return found


def planned(run: NormFedavgRun) -> Mapping[str, NormFedavgRun]:
    """Where noise is open, with printed noise of any size: it costs the same at every size."""
    if run.noise_levels is None:
        run = replace(run, printed_noise_levels=1, printed_decay_rate=1.0, raised_noise_levels=1, raised_decay_rate=1.0)
    return alternatives(run)


ALGORITHM = SimulatedAlgorithm(
    name="norm-fedavg",
    title="DP-NormFedAvg: normalised, quantised, noisy client updates",
    run=NormFedavgRun,
    problems=UNCONSTRAINED,
    simulate=simulate,
    rounds=rounds_of,
    work=work,
    alternatives=alternatives,
    beside=("non-private", "as-printed", "as-printed-raised"),
    planned=planned,
    titles={
        "non-private": "without noise and grid",
        "as-printed": "noise as printed, not private",
        "as-printed-raised": "as printed, levels raised until certified",
    },
)
