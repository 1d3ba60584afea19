"""The noise of an Opacus run for a target, certified."""

from __future__ import annotations

import math
import warnings

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.opacus.history import SETTING
from epsilond.integrations.opacus.pitfalls import LargeDelta
from epsilond.questions.calibrate import calibrate

LARGEST_DELTA = 1e-3
"""δ from which a target gives a warning.

Publishing one random record of n is (0, 1/n)-private. δ must therefore be far below 1/n, and training data usually have
more than 1,000 records.
"""


def get_noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float,
    epochs: float | None = None,
    steps: int | None = None,
    **ignored: object,
) -> float:
    """Return nearly the least noise multiplier that provably meets a target (ε, δ).

    The function replaces `opacus.accountants.utils.get_noise_multiplier`, which stops up to `epsilon_tolerance` = 0.01
    below the target ε. The result is the least one within the tolerance of the calibrator `gaussian`.

    Args:
        target_epsilon: ε of the target, in nats.
        target_delta: δ of the target. It should be far below 1 / (number of records).
        sample_rate: probability that a record is in a batch.
        epochs: number of epochs, that is, `epochs / sample_rate` steps, rounded up. None if `steps` is given.
        steps: number of steps. None if `epochs` is given.
        ignored: other arguments of Opacus' function, such as `accountant`, which have no effect.

    Guarantees:
        The upper bound of ε at the returned noise is at most `target_epsilon`.

    Warns:
        LargeDelta: the target δ is 1/1000 or more.

    Returns:
        The noise multiplier: the standard deviation of the noise divided by the clipping norm.

    Example:
        >>> from epsilond.integrations.opacus import get_noise_multiplier
        >>> f"{get_noise_multiplier(target_epsilon=1.0, target_delta=1e-5, sample_rate=0.01, steps=1000):.5f}"
        '1.41462'

    Raises:
        InvalidInput: neither or both of epochs and steps are given, or a number is out of range.
        Infeasible: no noise multiplier meets the target.
    """
    del ignored
    if (steps is None) == (epochs is None):
        raise InvalidInput.at("/steps", "give either steps or epochs")
    rounds = steps if epochs is None else _count_steps(epochs, sample_rate)
    # A δ near 1/(number of records) allows a mechanism to publish a whole record.
    if target_delta >= LARGEST_DELTA:
        warnings.warn(
            f"δ = {target_delta:g} is not a meaningful target: publishing one of {round(1 / target_delta)} records at "
            "random would meet it without noise. Choose a δ far below 1 / (number of records)",
            LargeDelta,
            stacklevel=2,
        )
    sampling = {"sampling": "full"} if sample_rate == 1.0 else {"sampling": "poisson", "rate": sample_rate}
    answer = calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        **SETTING,
        epsilon=target_epsilon,
        delta=target_delta,
        rounds=rounds,
        **sampling,
    )
    return float(answer.parameters.noise_multiplier)


def _count_steps(epochs: float, sample_rate: float) -> int:
    """Return the number of steps in these epochs: epochs / sample_rate, rounded up.

    A quotient that is an integer up to rounding errors is rounded to this integer.

    Args:
        epochs: expected number of times that each record is in a batch.
        sample_rate: probability of each record to be in a batch, in (0, 1].

    Returns:
        The number of steps.

    Raises:
        InvalidInput: an argument is out of range.
    """
    if not (0.0 < sample_rate <= 1.0 and epochs > 0.0):
        raise InvalidInput.at("/epochs", "are not steps", allowed="epochs > 0 and 0 < sample_rate ≤ 1")
    quotient = epochs / sample_rate
    nearest = round(quotient)
    # The tolerance is far above the error of a division, a relative 1e-16.
    is_whole = math.isclose(quotient, nearest, rel_tol=1e-9)
    return nearest if is_whole else math.ceil(quotient)
