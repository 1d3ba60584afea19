"""grid-fedavg: truncated Laplace noise from the calibrator, and Binomial noise accounted by cpSGD's theorem.

The largest distance of two vectors in the unit ball is that of two unit vectors. Clipped updates therefore need the
same noise as normalised updates. The sum of all messages changes by as much as one message. Noise that a trusted
server adds once to the sum therefore has the certificate of one message, against an observer of the models. No bound on
the risk of this algorithm is known.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.quantities import Observer, Unit
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.mechanisms.binomial import (
    PROVED_EPSILON,
    BinomialInputs,
    binomial_epsilon,
    least_trials,
    least_variance,
)
from epsilond.accountants.theorems.papers.das.composed_rounds import best_composition
from epsilond.accountants.theorems.papers.das.sensitivity import unit_vector_bounds
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, PromisedBound
from epsilond.witness.joins.norm_fedavg import solve

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration

SLACK_SHARE = 0.5
"""Share of δ for the composition of rounds with Binomial noise. The rounds share the remainder equally."""
BISECTIONS = 60
"""Number of bisections for the ε of a round; 60 halvings of [0, 1] reach the resolution of doubles."""
ACCOUNTS_KEPT = 256
"""Number of results in the cache of each function of this module."""
SECONDS = 2.5
"""Expected time of a calibration on one core, in seconds, for every target."""
LEAST_TRIALS_PER_VARIANCE = 4.0
"""Quotient of the trials N and the variance N/4 of a Binomial variable with probability 1/2."""


def calibrate(problem: SimulatedProblem, run: GridFedavgRun, target: Target) -> tuple[GridFedavgRun, Calibration]:
    """Give a run the least truncated discrete Laplace noise that is certified to meet a target.

    If the clients add the noise, a record is protected from the server. If the server adds it, a client is protected
    from an observer of the released models.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with the calibrated noise; and the calibrator's answer, with the certified guarantee.

    Raises:
        NoCertificate: the calibrator certifies no noise for the target.
    """
    delta = target.given_delta
    log10_delta = None
    if delta is None:  # a δ too small for a double is given by its logarithm
        log10_delta = target.log10_delta
    unit: Unit = "client"
    observer: Observer = "released-models"
    if run.noise_at == "clients":
        unit, observer = "record", "server"
    answer = solve(
        NormFedavgProblem(
            epsilon=target.epsilon,
            delta=delta,
            log10_delta=log10_delta,
            dimension=problem.dimension,
            quantization_levels=run.quantization_levels,
            rounds=run.rounds,
            participants=run.participants,
            # Client sampling is not counted for noise at the server. Counting it would only lower ε.
            clients=run.participants,
            relation="replace-one",
            unit=unit,
            observer=observer,
            smoothness=problem.constants.smoothness,
            quasar_convexity=1.0,
            initial_distance=0.5 * problem.constants.diameter,
            local_steps=run.local_steps,
        )
    )
    noise = answer.parameters
    return replace(run, noise_levels=noise.noise_levels, decay_rate=noise.decay_rate), answer


def certified_epsilon(problem: SimulatedProblem, run: GridFedavgRun, log_delta: float) -> Interval:
    """Return certified bounds on ε at δ for a run with Binomial noise; the lower bound is 0.

    The upper bound composes all rounds, each by the theorem of cpSGD (Agarwal et al. 2018).

    Args:
        problem: the simulated learning problem.
        run: the run with Binomial noise.
        log_delta: natural logarithm of δ.

    Returns:
        The interval from 0 to the upper bound, in nats.

    Raises:
        NoCertificate: the noise is not Binomial, or is smaller than its theorem requires.
    """
    if run.trials is None:
        raise NoCertificate("only Binomial noise is accounted for here; truncated Laplace noise is calibrated")
    delta = math.exp(log_delta)
    upper = binomial_rounds_epsilon(problem.dimension, run.quantization_levels, run.trials, run.rounds, delta)
    return Interval(0.0, upper)


@functools.lru_cache(maxsize=ACCOUNTS_KEPT)
def binomial_rounds_epsilon(dimension: int, levels: int, trials: int, rounds: int, delta: float) -> float:
    """Return an upper bound on the ε of all rounds together, at δ, if each round adds Binomial noise.

    The ε of a round is that of Theorem 1 of Agarwal et al. 2018 (cpSGD). The rounds are composed by Theorem 3.4 of
    Kairouz, Oh and Viswanath, which uses `SLACK_SHARE` of δ.

    Args:
        dimension: coordinates of a message.
        levels: quantization levels of a coordinate.
        trials: number N of trials of the Binomial noise on each coordinate.
        rounds: number of rounds.
        delta: δ of all rounds together.

    Returns:
        The bound, in nats.

    Raises:
        NoCertificate: the theorem is not proved for these inputs, because ε of a round exceeds 1 or N is too small.
    """
    inputs = _inputs(dimension, levels, rounds, delta, PROVED_EPSILON)
    round_epsilon = binomial_epsilon(inputs, trials)
    # The theorem is proved only for variances N/4 of at least `least_variance`.
    needed_trials = LEAST_TRIALS_PER_VARIANCE * least_variance(inputs)
    if round_epsilon > PROVED_EPSILON or trials < needed_trials:
        raise NoCertificate("the Binomial mechanism's theorem is proved for ε ≤ 1 of a round alone")
    return best_composition(epsilon=round_epsilon, delta=SLACK_SHARE * delta, rounds=rounds)


@functools.lru_cache(maxsize=ACCOUNTS_KEPT)
def binomial_trials(dimension: int, levels: int, rounds: int, epsilon: float, delta: float) -> int | None:
    """Return the smallest even number N of trials with which Binomial noise is certified to meet a target.

    The theorem is proved only for ε ≤ 1 of a round. If the target allows a larger ε of a round, N is that for ε = 1.

    Args:
        dimension: coordinates of a message.
        levels: quantization levels of a coordinate.
        rounds: number of rounds.
        epsilon: target ε of all rounds together.
        delta: target δ of all rounds together.

    Returns:
        N; None if it would exceed 10^15.
    """
    round_epsilon = _round_epsilon(rounds, epsilon, delta)
    trials = least_trials(_inputs(dimension, levels, rounds, delta, round_epsilon))
    if trials is None:
        return None
    return trials + trials % 2  # even, so that the mean of the noise is an integer


def _round_epsilon(rounds: int, epsilon: float, delta: float) -> float:
    """Return the largest ε ≤ 1 of a round with which the composition of all rounds meets the target.

    The composed ε increases with that of a round, so it is computed by bisection.

    Args:
        rounds: number of rounds.
        epsilon: target ε of all rounds together.
        delta: target δ of all rounds together.

    Returns:
        The ε of a round in nats, which meets the target; 0 if no positive ε that meets it is found.
    """
    slack = SLACK_SHARE * delta
    if best_composition(epsilon=PROVED_EPSILON, delta=slack, rounds=rounds) <= epsilon:
        return PROVED_EPSILON
    # Invariant: `lower` meets the target if it is positive, and `upper` misses it.
    lower, upper = 0.0, PROVED_EPSILON
    for _ in range(BISECTIONS):
        middle = 0.5 * (lower + upper)
        if best_composition(epsilon=middle, delta=slack, rounds=rounds) <= epsilon:
            lower = middle
        else:
            upper = middle
    return lower


def _inputs(dimension: int, levels: int, rounds: int, delta: float, epsilon: float) -> BinomialInputs:
    """Return the inputs of Theorem 1 of Agarwal et al. 2018 (cpSGD) for one round.

    Neighbouring messages are two arbitrary unit vectors, rounded to the grid. The δ of a round is an equal part of the
    δ that remains after the composition has used `SLACK_SHARE` of it.

    Args:
        dimension: number of coordinates.
        levels: quantization levels of a coordinate.
        rounds: number of rounds.
        delta: δ of all rounds together.
        epsilon: ε of the round, from which the theorem computes the noise.

    Returns:
        The inputs, with the sensitivities of a message in grid steps.
    """
    sensitivity = unit_vector_bounds(dimension, levels)
    assert sensitivity.l2 is not None
    round_delta = (1.0 - SLACK_SHARE) * delta / rounds
    return BinomialInputs(
        epsilon=epsilon,
        delta=round_delta,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=sensitivity.l1,
        l2_sensitivity=sensitivity.l2,
        linf_sensitivity=sensitivity.linf,
    )


def bounds(problem: SimulatedProblem, run: GridFedavgRun) -> tuple[PromisedBound, ...]:
    """Return no bounds, because none is known on the excess risk of this algorithm."""
    del problem, run
    return ()


JOIN = Join(
    algorithm="grid-fedavg",
    noise=("noise_levels", "decay_rate", "trials"),
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(SECONDS),
)
