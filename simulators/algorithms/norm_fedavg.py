"""DP-NormFedAvg: Algorithm 2 of Das et al. 2021.

Clients descend E steps on their full gradient (lines 6 to 8) and normalise their update. Each coordinate is rounded at
random to a multiple of 1/s, and independent truncated discrete Laplace noise is added (the QTDL operator, Algorithm 1).
The server moves by β times the mean of the messages (line 11). Models are not projected, as in the paper. Rounding and
noise are exact samplers of `mechanisms`.
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
from epsilond.simulators.algorithms.algorithm import Curves, ExcessCurve, SimulatedAlgorithm, Work
from epsilond.simulators.algorithms.federation import UNCONSTRAINED, ClientData, local_work
from epsilond.simulators.problems.problem import Floats, SimulatedProblem
from epsilond.training.steps.normalised_updates import server_step

ALGORITHM_NAME = Quantity(description="name of the algorithm")
GRID = replace(QUANTIZATION_LEVELS, le=MOST_QUANTIZATION_LEVELS)
LEVELS = replace(NOISE_LEVELS, ge=0, le=MOST_NOISE_LEVELS)
LARGEST = "largest absolute value of the integer noise of the comparison run"
RATE = "decay rate of the integer noise of the comparison run"
SERVER_STEP_SIZE = replace(
    STEP_SIZE,
    symbol="β",
    unit="length",
    description="step size of the server: it adds the mean of the normalised updates times this factor to the model",
)


@request
class NormFedavgRun:
    """A run of DP-NormFedAvg (Algorithm 2 of Das et al.): normalised client updates, rounded to a grid, with noise.

    If `noise_levels` is absent, the noise is calibrated; 0 means no noise. If `quantization_levels` is absent, updates
    are sent without rounding, which is possible only without noise. Absent step sizes have the values of Theorem 2 of
    Das et al.

    Two further kinds of noise are for comparison, and are computed when noise is calibrated. `printed_noise_levels` and
    `printed_decay_rate` are what Theorem 1 of Das et al. prescribes (`as-printed`). `raised_noise_levels` and
    `raised_decay_rate` keep that decay, with as many levels as its guarantee needs (`as-printed-raised`).
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
    printed_noise_levels: Annotated[int | None, replace(LEVELS, description=f"{LARGEST} `as-printed`")] = None
    printed_decay_rate: Annotated[float | None, replace(DECAY_RATE, description=f"{RATE} `as-printed`")] = None
    raised_noise_levels: Annotated[int | None, replace(LEVELS, description=f"{LARGEST} `as-printed-raised`")] = None
    raised_decay_rate: Annotated[float | None, replace(DECAY_RATE, description=f"{RATE} `as-printed-raised`")] = None
    observer: Annotated[Observer, OBSERVER] = "server"

    def check(self) -> None:
        """Check that each kind of noise has both levels and a decay rate or neither, and that noise has a grid.

        Raises:
            InvalidInput: a decay rate is given without levels, levels are given without a decay rate, or there may be
                noise without `quantization_levels`.
        """
        for kind in ("", "printed_", "raised_"):
            levels = getattr(self, f"{kind}noise_levels")
            decay = getattr(self, f"{kind}decay_rate")
            if (decay is not None) != bool(levels):
                raise InvalidInput.at(f"/{kind}decay_rate", f"goes with {kind}noise_levels ≥ 1, and these with it")
        if self.noise_levels != 0 and self.quantization_levels is None:
            raise InvalidInput.at("/quantization_levels", "is needed where there is noise")


@dataclass(frozen=True)
class StepSizes:
    """The step sizes of a round of federated averaging.

    Attributes:
        local: step size η of the clients' gradient steps.
        server: step size β, by which the server multiplies the mean of the clients' messages.
    """

    local: float
    server: float


def noise_variance(decay_rate: float, noise_levels: int) -> float:
    """Return the variance of truncated discrete Laplace noise Y, in squared grid steps.

    Y = y has a probability proportional to x^|y| for |y| ≤ m, with x = e^(−α). The variance is the sum of y² x^|y|
    divided by that of x^|y|. Both sums have closed forms, in which leading digits cancel. So they are computed with
    correspondingly more decimal digits.

    Args:
        decay_rate: decay rate α > 0.
        noise_levels: number of levels m ≥ 1.

    Returns:
        The variance.
    """
    # 40 digits, and a generous allowance for the cancelled ones, which grow with log(1/α) and log m.
    cancelled_digits = max(0.0, -math.log10(decay_rate)) + len(str(noise_levels))
    precision = math.ceil(40 + 6 * cancelled_digits)
    context = decimal.Context(prec=precision, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
    with decimal.localcontext(context):
        ratio = (-Decimal(decay_rate)).exp()  # x
        last_power = (-Decimal(decay_rate) * noise_levels).exp()  # x^m
        complement = 1 - ratio

        # Σ y² x^y = x (1 + x − x^m ((m + 1)² − (2m² + 2m − 1) x + m² x²))/(1 − x)³ over y = 1, …, m.
        linear_term = (2 * noise_levels * noise_levels + 2 * noise_levels - 1) * ratio
        quadratic_term = noise_levels * noise_levels * ratio * ratio
        subtracted = last_power * ((noise_levels + 1) ** 2 - linear_term + quadratic_term)
        sum_of_squares = ratio * (1 + ratio - subtracted) / complement**3

        # Σ x^y = x (1 − x^m)/(1 − x) over y = 1, …, m.
        sum_of_powers = ratio * (1 - last_power) / complement

        # Positive and negative y contribute equally. y = 0 contributes 1 to the sum of x^|y| only.
        return float(2 * sum_of_squares / (1 + 2 * sum_of_powers))


def compression(run: NormFedavgRun, dimension: int) -> float:
    """Return a bound on the mean squared error of a message that is rounded to a grid and gets noise.

    The bound is γ = d(1/4 + V)/s² for d coordinates and a grid of s = `quantization_levels` steps per unit. Random
    rounding has a variance of at most 1/4, and the noise has the variance V, both in squared grid steps.

    Args:
        run: the grid, and the noise by `noise_levels` and `decay_rate`; without noise V is 0.
        dimension: number of coordinates d.

    Returns:
        The bound γ; 0 if the run has no grid.
    """
    if run.quantization_levels is None:
        return 0.0
    variance = 0.0
    if run.decay_rate and run.noise_levels:
        variance = noise_variance(run.decay_rate, run.noise_levels)
    return dimension * (0.25 + variance) / run.quantization_levels**2


def initial_distance(problem: SimulatedProblem) -> float:
    """Return the ℓ2 distance from the start of a run, the model 0, to the minimiser of a problem.

    Args:
        problem: learning problem on a ball around 0.

    Returns:
        The distance. If it is 0, the radius of the ball, because step sizes must be positive.
    """
    constants = problem.constants
    if constants.optimum_norm > 0.0:
        return constants.optimum_norm
    return 0.5 * constants.diameter


def step_sizes(problem: SimulatedProblem, run: NormFedavgRun) -> StepSizes:
    """Return the requested step sizes of clients and server, with defaults from Theorem 2 of Das et al.

    The defaults are:

        η = 1/(4LE√(1 + γ/r))   for clients,   β = 4L‖w_0 − w*‖Eη/√K   for the server,

    for smoothness L, E local steps, r participants, K rounds, and γ = `compression`. This β minimises the bound of the
    theorem. It equals the paper's β if E = √K.

    Args:
        problem: learning problem, with L and the distance ‖w_0 − w*‖ of the start from the minimiser.
        run: parameters of the run.

    Returns:
        The step sizes: `local` is η and `server` is β.
    """
    smoothness = problem.constants.smoothness
    local = run.local_step_size
    if local is None:
        noise_factor = math.sqrt(1.0 + compression(run, problem.dimension) / run.participants)
        local = 1.0 / (4.0 * smoothness * run.local_steps * noise_factor)

    server = run.server_step_size
    if server is None:
        distance = initial_distance(problem)
        ratio = 4.0 * smoothness * distance * run.local_steps / math.sqrt(run.rounds)  # β/η
        server = ratio * local
    return StepSizes(local, server)


def make_messages(run: NormFedavgRun, units: Floats, source: RandomSource) -> Floats:
    """Round normalised updates at random to multiples of 1/s, and add noise that is a multiple of 1/s.

    Args:
        run: the number s = `quantization_levels` of grid steps per unit, and the noise. Without a grid, the updates are
            returned unchanged.
        units: updates of norm 1, (repetitions, participants, d), for d coordinates.
        source: random bits, from which rounding and noise are sampled exactly.

    Returns:
        The messages, of the shape and in the unit of the updates.
    """
    if run.quantization_levels is None:
        return units
    integers = quantized_messages(
        units,
        levels=run.quantization_levels,
        noise_levels=run.noise_levels or 0,
        decay_rate=run.decay_rate or 1.0,
        source=source,
    )
    return integers / run.quantization_levels


def simulate(
    problem: SimulatedProblem, run: NormFedavgRun, generators: Sequence[np.random.Generator], rounds: tuple[int, ...]
) -> Curves:
    """Run DP-NormFedAvg once per generator and measure the excess risk of the server's models.

    If the numbers of a repetition overflow, its excess is infinite.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risks and the last models. Diagnostics are the mean and the minimum of ‖∇f(w_k)‖ over the models
        w_0, …, w_{K−1} before each of the K rounds. Here f is the mean of all clients' losses on their data.

    Raises:
        InvalidInput: the noise is missing, or there are more participants than clients.
    """
    _require_noise(problem, run)
    federation = ClientData.of(problem, generators)
    steps = step_sizes(problem, run)
    source = seeded_side_by_side(generators)
    models = np.zeros((len(generators), problem.dimension))
    excess = ExcessCurve(problem, rounds)
    norms = np.empty((len(generators), run.rounds))

    # A run that diverges has infinite values, which are reported.
    with np.errstate(over="ignore", invalid="ignore"):
        for index in range(run.rounds):
            norms[:, index] = federation.gradient_norms(models)
            records = federation.participants(run.participants)
            updates = federation.local_updates(models, records, steps=run.local_steps, step_size=steps.local)
            messages = make_messages(run, unit_vectors(updates), source)
            models = server_step(models, messages, steps.server)
            excess.measure(index + 1, models)

    diagnostics = {"mean_gradient_norm": norms.mean(axis=1), "least_gradient_norm": norms.min(axis=1)}
    return excess.curves(models, diagnostics)


def _require_noise(problem: SimulatedProblem, run: NormFedavgRun) -> None:
    """Check before a simulation that a run has noise parameters, and not more participants than clients.

    Args:
        problem: learning problem with its clients.
        run: parameters of the run, with its participants and the levels of its noise.

    Raises:
        InvalidInput: there are more participants than clients, or `noise_levels` is None.
    """
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    if run.noise_levels is None:
        raise InvalidInput.at("/noise_levels", "is needed: give it, or a target to calibrate it to")


def rounds_of(problem: SimulatedProblem, run: NormFedavgRun) -> int:
    """Return the number of rounds K of a run, after a check of the number of participants.

    Args:
        problem: learning problem with its clients.
        run: parameters of the run, with its rounds and its participants per round.

    Returns:
        The number K.

    Raises:
        InvalidInput: there are more participants than clients.
    """
    if run.participants > problem.clients:
        raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {problem.clients}")
    return run.rounds


def work(problem: SimulatedProblem, run: NormFedavgRun) -> Work:
    """Estimate the work of one repetition: gradients, and rounding with noise.

    Args:
        problem: learning problem.
        run: parameters of the run; its noise may be unknown.

    Returns:
        Estimated operations, numpy calls and bytes of memory.
    """
    gradients = local_work(problem, participants=run.participants, rounds=run.rounds, local_steps=run.local_steps)
    if run.quantization_levels is None:
        return gradients

    # The numbers are rough estimates for one round. Memory is counted in doubles of 8 bytes.
    coordinates = float(run.participants * problem.dimension)
    rounding_operations = run.rounds * (30.0 * coordinates + 300.0)
    rounding_calls = 80.0 * run.rounds
    rounding_bytes = 8.0 * (15.0 * coordinates + run.rounds)
    return Work(
        operations=gradients.operations + rounding_operations,
        calls=gradients.calls + rounding_calls,
        bytes=gradients.bytes + rounding_bytes,
    )


def alternatives(run: NormFedavgRun) -> Mapping[str, NormFedavgRun]:
    """Return the runs with which a run of DP-NormFedAvg is compared, by name.

    Args:
        run: the private run, with the noise of the comparisons.

    Returns:
        `non-private`: no rounding and no noise.
        `as-printed`: noise as Theorem 1 of Das et al. prescribes it, with its known errors; absent if it is unknown.
        `as-printed-raised`: the same decay rate, with enough noise levels for the guarantee; absent if unknown.
    """
    plain = replace(
        run, printed_noise_levels=None, printed_decay_rate=None, raised_noise_levels=None, raised_decay_rate=None
    )
    runs = {"non-private": replace(plain, quantization_levels=None, noise_levels=0, decay_rate=None)}
    if run.printed_noise_levels is not None:
        runs["as-printed"] = replace(plain, noise_levels=run.printed_noise_levels, decay_rate=run.printed_decay_rate)
    if run.raised_noise_levels is not None:
        runs["as-printed-raised"] = replace(
            plain, noise_levels=run.raised_noise_levels, decay_rate=run.raised_decay_rate
        )
    return runs


def planned_alternatives(run: NormFedavgRun) -> Mapping[str, NormFedavgRun]:
    """Return runs with the same computing time as the `alternatives` of a run, even if its noise is unknown.

    The time of a run does not depend on its noise, so unknown noise is replaced by an arbitrary one.

    Args:
        run: the private run.

    Returns:
        Each run, by its name.
    """
    if run.noise_levels is not None:
        return alternatives(run)
    any_noise = replace(
        run, printed_noise_levels=1, printed_decay_rate=1.0, raised_noise_levels=1, raised_decay_rate=1.0
    )
    return alternatives(any_noise)


ALGORITHM = SimulatedAlgorithm(
    name="norm-fedavg",
    title="DP-NormFedAvg: normalised, quantised, noisy client updates",
    run=NormFedavgRun,
    problems=UNCONSTRAINED,
    simulate=simulate,
    rounds=rounds_of,
    work=work,
    alternatives=alternatives,
    alternative_names=("non-private", "as-printed", "as-printed-raised"),
    planned_alternatives=planned_alternatives,
    titles={
        "non-private": "without noise and grid",
        "as-printed": "noise as printed, not private",
        "as-printed-raised": "as printed, levels raised until certified",
    },
)
