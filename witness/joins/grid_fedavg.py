"""grid-fedavg: noise for any two updates of norm at most 1, truncated Laplace by the calibrator, Binomial by cpSGD.

Two vectors of the unit ball are no further apart than two unit vectors may be, so that clipped updates need the noise
of normalised ones. The sum of all messages moves by what one of them moves: noise that a trusted server adds once to
the sum has the certificate of one message, against whoever sees the models alone. No bound on the risk is known to us.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import NoCertificate
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
from epsilond.witness.joins.norm_fedavg import solved

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration

SLACK_SHARE = 0.5
"""Of δ, spent on composing rounds of Binomial noise; the rest is the rounds' own."""
DIGITS = 60
"""Halvings of an interval."""


def calibrate(problem: SimulatedProblem, run: GridFedavgRun, target: Target) -> tuple[GridFedavgRun, Calibration]:
    """The least certified truncated discrete Laplace noise.

    Raises:
        NoCertificate: as the calibrator.
    """
    delta = target.given_delta
    found = solved(
        NormFedavgProblem(
            epsilon=target.epsilon,
            delta=delta,
            log10_delta=None if delta is not None else target.log10_delta,
            dimension=problem.dimension,
            quantization_levels=run.quantization_levels,
            rounds=run.rounds,
            participants=run.participants,
            # Noise at the server is counted without the draw of clients, which would only add to privacy.
            clients=run.participants,
            relation="replace-one",
            unit="record" if run.noise_at == "clients" else "client",
            observer="server" if run.noise_at == "clients" else "released-models",
            smoothness=problem.constants.smoothness,
            quasar_convexity=1.0,
            initial_distance=0.5 * problem.constants.diameter,
            local_steps=run.local_steps,
        )
    )
    return replace(run, noise_levels=found.parameters.noise_levels, decay_rate=found.parameters.decay_rate), found


def certified_epsilon(problem: SimulatedProblem, run: GridFedavgRun, log_delta: float) -> Interval:
    """Of Binomial noise: from above alone.

    Raises:
        NoCertificate: the noise is not Binomial, or less than its theorem is proved for.
    """
    if run.trials is None:
        raise NoCertificate("only Binomial noise is accounted for here; truncated Laplace noise is calibrated")
    return Interval(
        0.0,
        binomial_rounds_epsilon(
            problem.dimension, run.quantization_levels, run.trials, run.rounds, math.exp(log_delta)
        ),
    )


@functools.lru_cache(maxsize=256)
def binomial_rounds_epsilon(dimension: int, levels: int, trials: int, rounds: int, delta: float) -> float:
    """ε at δ of so many rounds with N trials on every coordinate of a message, by cpSGD's Theorem 1 and composition.

    Raises:
        NoCertificate: a round's ε is above 1, where the theorem's proof ends, or N is too small for it.
    """
    inputs = _inputs(dimension, levels, rounds, delta, PROVED_EPSILON)
    one = binomial_epsilon(inputs, trials)
    if one > PROVED_EPSILON or trials < 4.0 * least_variance(inputs):
        raise NoCertificate("the Binomial mechanism's theorem is proved for ε ≤ 1 of a round alone")
    return best_composition(epsilon=one, delta=SLACK_SHARE * delta, rounds=rounds)


@functools.lru_cache(maxsize=256)
def binomial_trials(dimension: int, levels: int, rounds: int, epsilon: float, delta: float) -> int | None:
    """The least even N that this certifies for the target; None beyond 10^15.

    Where the target allows more than ε = 1 a round, N is that of 1.
    """
    low, high = 0.0, PROVED_EPSILON
    if best_composition(epsilon=high, delta=SLACK_SHARE * delta, rounds=rounds) > epsilon:
        for _ in range(DIGITS):
            middle = 0.5 * (low + high)
            fits = best_composition(epsilon=middle, delta=SLACK_SHARE * delta, rounds=rounds) <= epsilon
            low, high = (middle, high) if fits else (low, middle)
    else:
        low = high
    found = least_trials(_inputs(dimension, levels, rounds, delta, low))
    return None if found is None else found + found % 2


def _inputs(dimension: int, levels: int, rounds: int, delta: float, epsilon: float) -> BinomialInputs:
    movement = unit_vector_bounds(dimension, levels)
    assert movement.l2 is not None
    return BinomialInputs(
        epsilon=epsilon,
        delta=(1.0 - SLACK_SHARE) * delta / rounds,
        dimension=dimension,
        quantization_levels=levels,
        l1_sensitivity=movement.l1,
        l2_sensitivity=movement.l2,
        linf_sensitivity=movement.linf,
    )


def bounds(problem: SimulatedProblem, run: GridFedavgRun) -> tuple[PromisedBound, ...]:
    """None."""
    del problem, run
    return ()


JOIN = Join(
    algorithm="grid-fedavg",
    noise=("noise_levels", "decay_rate", "trials"),
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(2.5),
)
