"""Bounds on the excess risk of SGD at a step size, as in Theorem 4.5 of Bietti et al. and its proof."""

from __future__ import annotations

import math
from typing import NamedTuple


class FullParticipationBound(NamedTuple):
    """An upper bound on the excess risk of SGD, as two summands in units of the loss.

    Attributes:
        optimisation: the optimisation error, due to the distance of the initial model from the minimiser.
        variance: the cost of the variance of the steps.
    """

    optimisation: float
    variance: float

    @property
    def total(self) -> float:
        """The bound on the excess risk, the sum of both summands."""
        return self.optimisation + self.variance


def theorem_bound(*, smooth: float, variance: float, rounds: int, factor: float = 3.0) -> FullParticipationBound:
    """Return the bound of Theorem 4.5 of Bietti et al. on the excess risk of SGD.

    The excess risk is the expected loss of the mean of n models, minus the least expected loss. It is at most:

        4L_α‖z*‖²/n + 3σ‖z*‖/√n,

    with the smoothness L_α, the minimiser z*, the initial model 0 and the variance σ² of a step.

    Args:
        smooth: L_α‖z*‖², in units of the loss.
        variance: σ²‖z*‖², in squared units of the loss.
        rounds: number n of rounds.
        factor: constant of the second term. It is 3 in the paper, and 2√2 with the shorter step size of erratum E-B11.

    Returns:
        The two summands of the bound, in units of the loss.
    """
    optimisation = 4.0 * smooth / rounds
    variance_term = factor * math.sqrt(variance / rounds)
    return FullParticipationBound(optimisation=optimisation, variance=variance_term)


def theorem_step(*, smoothness: float, norm: float, variance: float, rounds: int) -> float:
    """Return the step size of SGD in Theorem 4.5 of Bietti et al.

    It is:

        η = min{1/(4L_α), ‖z*‖/(√n σ)},

    or 1/(4L_α) if σ = 0. The second value makes the bound ‖z*‖²/(ηn) + 2ησ² on the excess risk equal 3σ‖z*‖/√n. A step
    size that is shorter by the factor √2 would make it least, 2√2 σ‖z*‖/√n (erratum E-B11).

    Args:
        smoothness: smoothness L_α of the expected loss.
        norm: distance ‖z*‖ of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        The step size, in units of a model per unit of its gradient.
    """
    largest_step = 0.25 / smoothness
    if variance == 0.0:
        return largest_step
    balanced_step = norm / math.sqrt(rounds * variance)
    return min(largest_step, balanced_step)


def bound_at_step(*, step: float, smoothness: float, squared_norm: float, variance: float, rounds: int) -> float:
    """Return a bound on the excess risk of SGD after n rounds at any step size η.

    The excess risk is the expected loss of the mean of the n models, minus the least expected loss. It is at most:

        (‖z*‖²/n + 2η²σ²)/(2η(1 − 2ηL_α)).

    Args:
        step: step size η > 0.
        smoothness: smoothness L_α.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        The bound in units of the loss; infinite if η ≥ 1/(2L_α).
    """
    margin = 1.0 - 2.0 * step * smoothness
    if margin <= 0.0:
        return math.inf
    numerator = squared_norm / rounds + 2.0 * step * step * variance
    return numerator / (2.0 * step * margin)


def parts_at_step(
    *, step: float, smoothness: float, squared_norm: float, variance: float, rounds: int
) -> FullParticipationBound:
    """Return a bound on the excess risk of SGD after n rounds at any step size η, as two summands.

    By inequality (22) of Bietti et al., the excess risk is at most:

        ‖z*‖²/(2ηn(1 − 2ηL_α)) + ησ²/(1 − 2ηL_α).

    For η ≤ 1/(4L_α) this is at most `simple_bound_at_step`, because 1 − 2ηL_α is then at least 1/2.

    Args:
        step: step size η. It is 0 only if the initial model is a minimiser; the bound is then 0.
        smoothness: smoothness L_α.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        Both summands in units of the loss; infinite if η ≥ 1/(2L_α).
    """
    if step == 0.0:
        return FullParticipationBound(optimisation=0.0, variance=0.0)
    margin = 1.0 - 2.0 * step * smoothness
    if margin <= 0.0:
        return FullParticipationBound(optimisation=math.inf, variance=math.inf)
    optimisation = 0.5 * squared_norm / (step * rounds) / margin
    variance_term = step * variance / margin
    return FullParticipationBound(optimisation=optimisation, variance=variance_term)


def simple_bound_at_step(*, step: float, squared_norm: float, variance: float, rounds: int) -> float:
    """Return the bound ‖z*‖²/(ηn) + 2ησ² on the excess risk of SGD after n rounds, valid for step sizes η ≤ 1/(4L_α).

    It is inequality (23) of Bietti et al., with the smoothness L_α of the loss.

    Args:
        step: step size η. It is 0 only if the initial model is a minimiser; the bound is then 0.
        squared_norm: squared distance ‖z*‖² of the initial model from the minimiser.
        variance: variance σ² of a step.
        rounds: number n of rounds.

    Returns:
        The bound, in units of the loss.
    """
    if step == 0.0:
        return 0.0
    optimisation = squared_norm / (step * rounds)
    variance_term = 2.0 * step * variance
    return optimisation + variance_term
