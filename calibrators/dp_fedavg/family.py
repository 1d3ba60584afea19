"""The releases of dp-fedavg as a function of the noise, and estimates at which the search for the noise starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.estimates.batch_noise import likely_noise_of_batches, likely_slope_of_batches
from epsilond.accountants.estimates.noise import likely_noise, likely_slope
from epsilond.accountants.json_types import Fields
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.structure import sees_clients_drawn, sensitivity_factor
from epsilond.calibrators.certificates import Family
from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec


def spec(problem: DpFedavgProblem, rounds: int, noise_multiplier: float) -> Spec:
    """Return the mechanism by which the server releases the noisy sums of all rounds.

    With adaptive clipping, a round has a second noisy sum, which counts the clipped updates. Both sums together are one
    Gaussian mechanism. Its noise multiplier is smaller than that of the updates.

    Args:
        problem: the request, with the clients, the participants and their sampling.
        rounds: number of rounds.
        noise_multiplier: noise multiplier of a round as one mechanism.

    Returns:
        The specification of the mechanism, from which its privacy is computed.
    """
    release = Gaussian(noise_multiplier=noise_multiplier)
    if problem.reporting == problem.clients:
        return Repeated(times=rounds, mechanism=release)
    if problem.sampling == "without-replacement":
        draw: Fields = {"batch_size": problem.reporting, "population": problem.clients}
    else:
        draw = {"rate": problem.rate}
    batch = Subsampled(sampling=problem.sampling, **draw, level="clients", mechanism=release)
    return Repeated(times=rounds, mechanism=batch)


def guess(problem: DpFedavgProblem, rounds: int) -> float:
    """Return an estimate of the noise multiplier for a number of rounds, at which the search starts.

    Args:
        problem: the request, with its target and its sampling of clients.
        rounds: number of rounds, at least 1.

    Returns:
        The noise multiplier of a round, whose noisy sums count as one Gaussian mechanism. A poor estimate costs time,
        but changes no guarantee.
    """
    # Another estimate is better for batches of a fixed size that the adversary does not see.
    estimate = likely_noise_of_batches if _has_hidden_batches(problem) else likely_noise
    sensitivity = sensitivity_factor(problem.relation)  # in clipping norms
    return estimate(problem.target, rate=problem.rate, rounds=rounds, distance=sensitivity)


def slope(problem: DpFedavgProblem, rounds: int, noise: float) -> float:
    """Estimate the negative derivative of log |log δ| with respect to log noise.

    The search for the noise uses it as its initial slope. A poor estimate costs time, but changes no guarantee.

    Args:
        problem: the request, with its target and its sampling of clients.
        rounds: number of rounds, at least 1.
        noise: the noise multiplier at which the search starts, above 0.

    Returns:
        The estimated slope, without unit.
    """
    distance = sensitivity_factor(problem.relation)
    rate = problem.rate
    if _has_hidden_batches(problem):
        return likely_slope_of_batches(problem.target, rate=rate, rounds=rounds, noise=noise, distance=distance)
    return likely_slope(problem.target, rate=rate, noise=noise, distance=distance)


def _has_hidden_batches(problem: DpFedavgProblem) -> bool:
    """Return whether neighbours replace a client, and rounds have a fixed size with participants that are not seen."""
    has_fixed_size = problem.sampling == "without-replacement"
    is_hidden = not sees_clients_drawn(problem.observer, problem.sampling)
    return has_fixed_size and is_hidden and problem.relation == "replace-one"


FAMILY: Family[DpFedavgProblem, int] = Family(
    spec=spec, guess=guess, slope=slope, contribution=lambda problem, _: problem.clipping_norm
)
"""The releases of a run as a function of its rounds and its noise multiplier."""
