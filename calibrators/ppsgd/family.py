"""The privacy of ppsgd: every client against all other clients, and the figures for a draw that no observer sees."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.estimates.noise import likely_noise, likely_slope
from epsilond.accountants.estimates.runs import nearer_noise
from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.binomial_law import Binomial
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorems.papers.bietti.billboard import to_other_clients
from epsilond.accountants.theorems.papers.bietti.noise import least_noise_std
from epsilond.calibrators.answer import Ends, Served
from epsilond.calibrators.search import LEAST, LIKELY_SLOPE, MOST, Certified, confirm, guarantee_of, smallest_noise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Relation
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorems.papers.bietti.sampled_noise import ClientSampling
    from epsilond.calibrators.ppsgd.problem import PpsgdProblem

MARGINS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "full": ((0.0, 1e-6),),
    "without-replacement": ((5e-6, 1e-5), (5e-5, 1e-4)),
}
"""Relative increases of an estimated noise at which it is certified, each with the slack that is then proved.

Several are tried, because the bound on δ is computed on a lattice and is slightly above its exact value.
"""
MOST_COUNTED = 5000
"""Largest number of rounds of a client over which an estimate is summed."""


@dataclass(frozen=True, kw_only=True)
class ParticipationFigures:
    """ε of a client at the certified noise and the target δ, if a fixed number of clients is drawn in each round.

    The observer is all other clients together. They know who was drawn, so that the draw does not amplify privacy.
    """

    epsilon_against_other_clients: Annotated[
        Ends,
        Served(
            "certified ε of a client against all other clients together. They know the rounds in which it "
            "took part; the number of these rounds is random"
        ),
    ]
    epsilon_of_expected_rounds: Annotated[
        Ends,
        Served("ε of a client that took part in the expected number of rounds, if the other clients know this number"),
    ]
    epsilon_if_unseen: Annotated[
        Ends, Served("ε if clients were drawn independently and nobody saw the draw. It does not hold for this run")
    ]
    expected_rounds: Annotated[float, Served("expected number of rounds in which a client takes part")]


def run_spec(problem: PpsgdProblem, noise_multiplier: float, sampling: ClientSampling | None = None) -> Spec:
    """Return the mechanism by which the server releases the noisy averages of all rounds.

    Args:
        problem: the request, with the clients, their sampling and the rounds.
        noise_multiplier: σ over the bound on the norm of one client's message.
        sampling: sampling of clients; None for that of the request.

    Returns:
        The specification of the mechanism, from which its privacy is computed.
    """
    sampling_of_clients = sampling or problem.sampling
    draw: Fields = {}
    if sampling_of_clients == "poisson":
        draw = {"rate": problem.rate}
    elif sampling_of_clients == "without-replacement":
        draw = {"batch_size": problem.participants, "population": problem.clients}
    mechanism = Gaussian(noise_multiplier=noise_multiplier)
    batch = Subsampled(sampling=sampling_of_clients, **draw, level="clients", mechanism=mechanism)
    return Repeated(times=problem.rounds, mechanism=batch)


def guarantee_at(
    problem: PpsgdProblem,
    noise_multiplier: float,
    effort: Effort = "default",
    *,
    sampling: ClientSampling | None = None,
    relation: Relation | None = None,
) -> Guarantee:
    """Return the guarantee of a client against all other clients together (joint differential privacy).

    The server releases noisy averages to all clients. A client's own model is a function of these and of its own data.

    Args:
        problem: the request, with the clients, their sampling, the rounds and the neighbouring relation.
        noise_multiplier: σ over the bound on the norm of one client's message.
        effort: the work that compositions may take.
        sampling: sampling of clients; None for that of the request.
        relation: neighbouring relation; None for that of the request.

    Returns:
        δ of the whole run as a certified function of ε.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
    """
    shared = guarantee_of(problem, run_spec(problem, noise_multiplier, sampling), effort, relation=relation)
    return to_other_clients(shared)


def certify(
    problem: PpsgdProblem, *, sampling: ClientSampling | None = None, relation: Relation | None = None
) -> Certified:
    """Find the smallest noise multiplier that is certified to meet the target.

    Unless clients are drawn independently, the noise is known closely, and exactly if all clients take part in every
    round. It is then certified with a small margin. The noise is only searched if that fails.

    Args:
        problem: the request, with the clients, the rounds and the privacy target.
        sampling: sampling of clients; None for that of the request.
        relation: neighbouring relation; None for that of the request.

    Returns:
        The noise multiplier with its guarantee.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no noise in the range of the search meets the target.
    """

    @functools.cache
    def family(noise_multiplier: float, effort: Effort) -> Guarantee:
        """Return the privacy guarantee of the run at a noise multiplier, for all ε."""
        return guarantee_at(problem, noise_multiplier, effort, sampling=sampling, relation=relation)

    target = problem.target
    relation_of_run = relation or problem.relation
    factor = sensitivity_factor(relation_of_run)
    sampling_of_run = "full" if problem.rate == 1.0 else sampling or problem.sampling

    if sampling_of_run == "poisson":
        estimate = _likely_poisson_noise(problem, relation_of_run)
        slope = likely_slope(target, rate=problem.rate, noise=estimate, distance=factor)
        return smallest_noise(family, target, guess=min(max(estimate, LEAST), MOST), slope=slope)

    estimate = _likely_gaussian_noise(problem, factor, is_full=sampling_of_run == "full")
    # The noise with the margin must meet the target, and noise that is less by the slack must provably miss it.
    for margin, slack in MARGINS[sampling_of_run]:
        noise = estimate * (1.0 + margin)
        confirmed = confirm(family, target, noise, slack) if LEAST < noise < MOST else None
        if confirmed is not None:
            return confirmed
    return smallest_noise(family, target, guess=min(max(estimate, LEAST), MOST), slope=LIKELY_SLOPE)


def _likely_poisson_noise(problem: PpsgdProblem, relation: Relation) -> float:
    """Estimate the noise multiplier that meets the target, if clients are drawn independently and no client sees it.

    Args:
        problem: the request, with the target, the rate and the rounds.
        relation: the neighbouring relation.

    Returns:
        The estimate by the central limit theorem, improved by a second one. A poor estimate costs time, but changes no
        guarantee.
    """
    target = problem.target
    distance = sensitivity_factor(relation)
    estimate = likely_noise(target, rate=problem.rate, rounds=problem.rounds, distance=distance)
    return nearer_noise(
        target, estimate, sampling="poisson", relation=relation, rate=problem.rate, rounds=problem.rounds
    )


def _likely_gaussian_noise(problem: PpsgdProblem, factor: float, *, is_full: bool) -> float:
    """Estimate the noise multiplier that meets the target if the other clients know who takes part in each round.

    The result is exact if the client takes part in all rounds.

    Args:
        problem: the request, with the rounds and the privacy target.
        factor: sensitivity of one round in units of the bound on a message.
        is_full: whether all clients take part in every round.

    Returns:
        The estimate. A poor one costs time, but changes no guarantee.
    """
    exact = least_noise_std(
        clipping_norm=1.0,
        clients=1,
        rounds=problem.rounds if is_full else 1,
        epsilon=problem.target.epsilon,
        log_delta=problem.target.log_delta,
        sensitivity_factor=factor,
    )
    if is_full:
        return exact
    return _likely_seen_noise(problem, exact, factor)


def _likely_seen_noise(problem: PpsgdProblem, noise_of_one_round: float, factor: float) -> float:
    """Estimate the noise multiplier that meets the target if the other clients see who takes part in each round.

    A client takes part in a binomial number k of rounds. Let δ_k(ε) be the δ of k Gaussian mechanisms. The estimate is
    the noise at which the mean of δ_k(ε) over k is the target δ. If the largest likely k exceeds `MOST_COUNTED`, the
    estimate is the noise for this k.

    Args:
        problem: the request, with the rounds, the participation rate and the privacy target.
        noise_of_one_round: exact noise multiplier of one round; k rounds need √k times that.
        factor: sensitivity of one round in units of the bound on a message.

    Returns:
        The estimate. A poor one costs time, but changes no guarantee.
    """
    target = problem.target
    expected = problem.rounds * problem.rate
    # By Bernstein's inequality, more rounds than this have a probability of about δ at most.
    likely_most = expected + math.sqrt(-2.0 * target.log_delta * expected) - target.log_delta / 3.0
    most = min(likely_most, float(problem.rounds))
    noise_of_most = noise_of_one_round * math.sqrt(max(most, 1.0))
    if most > MOST_COUNTED:
        return noise_of_most

    # Average δ_k(ε) over the binomial number k of rounds.
    counts = np.arange(1.0, math.ceil(most) + 1.0)
    log_probabilities = Binomial(np.asarray(float(problem.rounds)), problem.rate, 1.0 - problem.rate).log_mass(counts)

    def excess(log_noise: float) -> float:
        """Return the logarithm of the mean of δ_k(ε) at this noise, minus that of the target δ."""
        mus = factor * np.sqrt(counts) * math.exp(-log_noise)
        return float(logsumexp(log_probabilities + log_theta(target.epsilon, mus))) - target.log_delta

    # The mean is below the δ of the largest k, so the root is hardly above the noise for that k.
    low = math.log(noise_of_most) - 6.0
    high = math.log(noise_of_most) + 1.0
    if not excess(low) > 0.0 > excess(high):
        return noise_of_most
    return math.exp(brent_root(excess, low, high, absolute=1e-12))  # an absolute tolerance of log noise


def noise_std_of(problem: PpsgdProblem, noise_multiplier: float) -> float:
    """Convert a noise multiplier z to the standard deviation zC/(qW) of the noise in the average of the messages.

    C is the clipping norm, q the participation rate, and W the total weight of all clients. The sum of the messages has
    noise of standard deviation zC, and is divided by its expected weight qW.

    Args:
        problem: the request, with C, q and W.
        noise_multiplier: the noise multiplier z.

    Returns:
        The standard deviation per coordinate, in units of a message.
    """
    expected_weight = problem.rate * problem.federation.weight
    return noise_multiplier * problem.clipping_norm / expected_weight


def participation_figures(problem: PpsgdProblem, certified: Certified) -> ParticipationFigures | None:
    """Compare the certified ε with the ε of secret independent draws of clients, at the same noise.

    The figures are for rounds with a fixed number of participants: all other clients together then know who takes part.

    Args:
        problem: the request, with the clients, their sampling, the rounds and the privacy target.
        certified: the certified noise, with the guarantee against all other clients.

    Returns:
        The figures at the target's δ; None if the number of participants is random, or if all clients take part.
    """
    if problem.sampling != "without-replacement" or problem.participants == problem.clients:
        return None
    target = problem.target

    expected_rounds = problem.rounds * problem.rate
    if_unseen = guarantee_at(problem, certified.noise, sampling="poisson")
    release = Gaussian(noise_multiplier=certified.noise)
    rounds_of_client = Repeated(times=max(1, round(expected_rounds)), mechanism=release)
    of_expected_rounds = guarantee_of(problem, rounds_of_client)

    # The certificate meets the target, so the true ε is at most that of the target.
    epsilon = certified.guarantee.curve.epsilon(target.log_delta)
    within_target = Interval(min(epsilon.lower, target.epsilon), min(epsilon.upper, target.epsilon))
    return ParticipationFigures(
        epsilon_against_other_clients=Ends.of(within_target),
        epsilon_of_expected_rounds=Ends.of(of_expected_rounds.curve.epsilon(target.log_delta)),
        epsilon_if_unseen=Ends.of(if_unseen.curve.epsilon(target.log_delta)),
        expected_rounds=expected_rounds,
    )
