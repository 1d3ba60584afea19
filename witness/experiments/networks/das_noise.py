"""The noise of Das et al.'s experiments with networks, by their formulas, and certified noise for the same target.

Experiments (i) have a target for each round, ε = 10, and sensitivities by the paper's equation (6) with μ = 0.1. The
paper assumes these; they are not bounds for all data. Experiments (ii) and (iii) have the target (0.1, 10⁻⁹) for all
rounds, and the sensitivities of any two updates. At r = n/2 of n clients in a round, the paper's amplification factor
2r/n is 1.

In (iii) the noise is for the mean of r updates. It is added to the sum of the messages, on the grid of a message with s
steps in a unit. In grid steps the sensitivities are those of one client, which corresponds to the paper's 2s/r for the
mean.
"""

from __future__ import annotations

import functools
import math
from typing import Final, Literal

from epsilond.accountants.account import account
from epsilond.accountants.quantities import Observer, Unit
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.accountants.theorems.mechanisms.binomial import BinomialInputs, least_trials
from epsilond.accountants.theorems.papers.das.composed_rounds import InverseInputs, equation_22, round_epsilon
from epsilond.accountants.theorems.papers.das.sensitivity import Movement, relative_bounds, trivial_bounds
from epsilond.accountants.theorems.papers.das.truncated_noise import PrintedInputs, printed_levels
from epsilond.calibrators.answer import Ends
from epsilond.calibrators.qtdl.calibrator import CALIBRATOR
from epsilond.calibrators.qtdl.problem import QtdlProblem
from epsilond.simulators.networks.updates import BinomialTrials, LaplaceLevels

NoiseChoice = Literal["none", "printed-round", "binomial-round", "certified-round", "printed-run"]
"""Noise of a message: none, or for the target of a round or of the whole run, by the paper or certified."""
ROUND_EPSILON: Final = 10.0
ROUND_DELTA: Final = 3e-6
"""δ of Binomial and of certified noise. The paper claims δ = 2^−d for its own noise, with d weights."""
RELATIVE_MOVEMENT: Final = 0.1
"""μ of equation (6)."""
RUN_EPSILON: Final = 0.1
RUN_DELTA: Final = 1e-9
RESULTS_KEPT: Final = 32


def round_movement(dimension: int, levels: int) -> Movement:
    """Return the sensitivities of a message in one round, by equations (6) and (121) of Das et al.

    A message is an update that is rounded to a grid. The sensitivity in a norm is the largest norm of its change
    between neighbouring data sets. The paper assumes these values. They are not bounds for all data.

    Args:
        dimension: number d of weights.
        levels: grid steps s in a unit.

    Returns:
        The sensitivities in the ℓ1, ℓ2 and ℓ∞ norm, in grid steps.
    """
    return relative_bounds(dimension, levels, RELATIVE_MOVEMENT)


@functools.lru_cache(maxsize=RESULTS_KEPT)
def noise_of(choice: NoiseChoice, *, dimension: int, levels: int, rounds: int) -> LaplaceLevels | BinomialTrials | None:
    """Return the noise that is added to each message: truncated discrete Laplace or Binomial noise, or none.

    A message is a client's update of the model, rounded to a grid. Results are kept in memory.

    Args:
        choice: kind of the noise; "printed-…" for the paper's formula, "certified-round" for proved noise, or "none".
        dimension: number d of weights.
        levels: grid steps s in a unit.
        rounds: number K of rounds, for noise with a target for all rounds.

    Returns:
        The largest absolute value and the decay rate of Laplace noise, or the number of trials of Binomial noise; None
        without noise.

    Raises:
        NoCertificate: no noise is certified for the target.
    """
    if choice == "none":
        return None
    if choice == "printed-run":
        # Divide the target of all rounds among the rounds, by the paper's composition.
        composed = equation_22(InverseInputs(composed_epsilon=RUN_EPSILON, delta=RUN_DELTA))
        epsilon = round_epsilon(epsilon=float(composed["epsilon"]), delta=RUN_DELTA, rounds=rounds)
        return _printed_noise(epsilon, dimension, trivial_bounds(dimension, levels))

    # The other choices have a target for each round.
    movement = round_movement(dimension, levels)
    if choice == "printed-round":
        return _printed_noise(ROUND_EPSILON, dimension, movement)
    if choice == "binomial-round":
        return _binomial_noise(dimension, levels, movement)
    return _certified_noise(dimension, levels, movement)


def _binomial_noise(dimension: int, levels: int, movement: Movement) -> BinomialTrials:
    """Return the least Binomial noise, of an even number of trials, that the cpSGD theorem states for one round.

    The target is ε = `ROUND_EPSILON` at δ = `ROUND_DELTA`. The theorem is proved only for ε ≤ 1, which is less than
    this target.

    Args:
        dimension: number d of weights.
        levels: grid steps s in a unit.
        movement: sensitivities of a message in grid steps.

    Returns:
        The number of fair coin tosses that are summed for each coordinate.
    """
    assert movement.l2 is not None  # equation (6) bounds all three norms
    inputs = BinomialInputs(
        epsilon=ROUND_EPSILON,
        delta=ROUND_DELTA,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
    )
    trials = least_trials(inputs)
    assert trials is not None  # fewer than 10^15 trials, the limit of the search, meet this target
    return BinomialTrials(trials=trials + trials % 2)  # even, so that the mean of the noise is an integer


def _certified_noise(dimension: int, levels: int, movement: Movement) -> LaplaceLevels:
    """Return the least truncated discrete Laplace noise that is certified for the target of a round.

    The noise is added to integers: updates that are rounded to a grid with s steps in a unit. It is certified for the
    given sensitivities, which the paper only assumes.

    Args:
        dimension: number d of weights.
        levels: grid steps s in a unit.
        movement: sensitivities of a message in grid steps, in the ℓ1, ℓ2 and ℓ∞ norm.

    Returns:
        Largest absolute value of the noise in grid steps, and its decay rate.

    Raises:
        NoCertificate: no noise is certified for the target.
    """
    assert movement.l2 is not None  # equation (6) bounds all three norms
    problem = QtdlProblem(
        epsilon=ROUND_EPSILON,
        delta=ROUND_DELTA,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
        relation="replace-one",
        unit="record",
        observer="server",
    )
    parameters = CALIBRATOR.solve(problem).parameters
    return LaplaceLevels(noise_levels=parameters.noise_levels, decay_rate=parameters.decay_rate)


def _printed_noise(epsilon: float, dimension: int, movement: Movement) -> LaplaceLevels:
    """Return the truncated discrete Laplace noise that Theorem 1 of Das et al. prescribes for the ε of a message.

    The decay rate follows from ε and the ℓ1 sensitivity. The largest value depends on the ℓ∞ sensitivity too.

    Args:
        epsilon: ε of a message.
        dimension: number d of weights.
        movement: sensitivities of a message, in grid steps.

    Returns:
        Largest absolute value of the noise in grid steps, and its decay rate.
    """
    inputs = PrintedInputs(
        epsilon=epsilon, dimension=dimension, l1_sensitivity=movement.l1, linf_sensitivity=movement.linf
    )
    levels = printed_levels(inputs)
    assert levels is not None  # the formula is defined at every target of the experiments
    return LaplaceLevels(noise_levels=levels, decay_rate=inputs.decay_rate)


@functools.lru_cache(maxsize=RESULTS_KEPT)
def certified_epsilon(
    choice: NoiseChoice, *, dimension: int, levels: int, rounds: int, at_server: bool = False
) -> Ends | None:
    """Return certified bounds on the ε of truncated discrete Laplace noise, at the δ of its target.

    Args:
        choice: kind of the noise; "printed-…" for the paper's formula, or "certified-round" for proved noise.
        dimension: number d of weights.
        levels: grid steps s in a unit.
        rounds: number K of rounds, for noise with a target for all rounds.
        at_server: True if the server adds the noise. A client is then protected from observers of the models. Otherwise
            a record is protected from the server.

    Returns:
        A lower and an upper bound on ε, for one round or for all rounds like the target; None for other noise.
    """
    noise = noise_of(choice, dimension=dimension, levels=levels, rounds=rounds)
    if not isinstance(noise, LaplaceLevels):
        return None

    is_for_whole_run = choice == "printed-run"
    movement = round_movement(dimension, levels)
    delta = ROUND_DELTA
    if is_for_whole_run:
        movement = trivial_bounds(dimension, levels)
        delta = RUN_DELTA
    message = TruncatedDiscreteLaplace(
        noise_levels=noise.noise_levels,
        decay_rate=noise.decay_rate,
        dimension=dimension,
        l1_sensitivity=movement.l1,
        linf_sensitivity=movement.linf,
        l2_sensitivity=movement.l2,
    )
    mechanism: Repeated | TruncatedDiscreteLaplace = message
    if is_for_whole_run:
        mechanism = Repeated(times=rounds, mechanism=message)

    unit: Unit = "record"
    observer: Observer = "server"
    if at_server:
        unit, observer = "client", "released-models"
    answer = account(mechanism, relation="replace-one", unit=unit, observer=observer)
    return Ends.of(answer.guarantee.curve.epsilon(math.log(delta)))
