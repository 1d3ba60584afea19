"""The kinds of clients of an mb-sgd run, and the family σ ↦ Spec of the release of one client.

Equal clients form one member, with their weight included in the Lipschitz constant. In each of R rounds a client sends
the mean of K per-record gradients plus N(0, σ²) per coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.estimates.batch_noise import likely_noise_of_batches, likely_slope_of_batches
from epsilond.accountants.estimates.noise import likely_noise, likely_slope
from epsilond.accountants.federation import ClientGroup, Federation
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Condition
from epsilond.calibrators.answer import Communication
from epsilond.calibrators.certificates import Certificates, Family
from epsilond.calibrators.mb_sgd.problem import BITS_PER_COORDINATE, PacedProblem, Run
from epsilond.calibrators.risk.baseline import Start, start_of
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.answer import Objective

FIXED_DIVISOR = Condition(
    "fixed-divisor",
    "if a record is added, removed or zeroed, the sum over its batch is still divided by batch_size",
)
DELTA_TOLERANCE = 1.0 + 1e-9
"""Factor on δ in a comparison that only chooses the start of a search; it absorbs rounding errors."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A kind of client of a run: clients with equal data sizes, batches, losses and targets.

    Attributes:
        place: index of the client group in the request, from 0; 0 if there are no groups.
        clients: number of clients of this kind.
        samples_per_client: number n of records of one of them.
        batch_size: number K of records that one of them uses per round.
        rounds: number R of rounds.
        lipschitz: Lipschitz constant L of the weighted loss: a bound on the norm of one record's gradient.
        target: the privacy target of the client: (ε, δ), or a bound on an attacker's risk.
    """

    place: int
    clients: int
    samples_per_client: int
    batch_size: int
    rounds: int
    lipschitz: float
    target: Target


def members_of(problem: PacedProblem, run: Run) -> tuple[Member, ...]:
    """Return the kinds of clients of a run: one for each client group of the request, or one for all clients.

    Clients of one kind have the same number of records, batch size, Lipschitz constant and target.

    Args:
        problem: the request, with its client groups or None.
        run: the batch size and the rounds of the run.

    Returns:
        The kinds in the order of the groups. A group without a Lipschitz constant or target has that of the request.
    """
    if problem.client_groups is None:
        all_clients = Member(
            place=0,
            clients=problem.clients,
            samples_per_client=problem.samples_per_client,
            batch_size=run.batch_size,
            rounds=run.rounds,
            lipschitz=problem.lipschitz,
            target=problem.target,
        )
        return (all_clients,)
    groups_and_scales = zip(problem.client_groups, problem.scales, strict=True)
    return tuple(
        Member(
            place=index,
            clients=group.clients,
            samples_per_client=group.samples_per_client,
            batch_size=problem.batch_of(group, run),
            rounds=run.rounds,
            # A client's loss is scaled by its weight in the objective, and so is its Lipschitz constant.
            lipschitz=scale * (group.lipschitz or problem.lipschitz),
            target=group.target_in(problem),
        )
        for index, (group, scale) in enumerate(groups_and_scales)
    )


def start_of_run(problem: PacedProblem, objective: Objective, *, gap: float | None = None) -> Start:
    """Return the bound on the excess risk of the initial model, before any training.

    The objective is the mean of the clients' weighted losses. Its Lipschitz constant is the mean of their constants.

    Args:
        problem: the request, with the constants of the losses and the domain.
        objective: whether the risk is the population's or the empirical one.
        gap: excess risk of the initial model, if the request states it.

    Returns:
        The bound, with the quantities that it is derived from.
    """
    any_run = Run(batch_size=1, rounds=1)  # Lipschitz constants do not depend on the run.
    members = members_of(problem, any_run)
    clients = sum(member.clients for member in members)
    # The mean Lipschitz constant is exact, because rounding it down could make the bound too small.
    total_lipschitz = sum((member.clients * Fraction(member.lipschitz) for member in members), Fraction(0))

    # The initial model is within the diameter of the minimiser, or closer if the request says so.
    distance = problem.diameter
    symbol = "D"
    if problem.initial_distance is not None and problem.initial_distance < problem.diameter:
        distance = problem.initial_distance
        symbol = "‖w₀ − w*‖"
    return start_of(
        objective,
        distance=distance,
        distance_symbol=symbol,
        lipschitz=total_lipschitz / clients,
        strong_convexity=min(problem.scales) * problem.strong_convexity,
        gap=gap,
    )


def spec_of(problem: PacedProblem, member: Member, noise_multiplier: float) -> Spec:
    """Return the mechanism by which one client releases its messages over the whole run.

    A message is a Gaussian mechanism on a random batch. If whole clients are protected, the batch gives no
    amplification by subsampling, because all records of the client may change.

    Args:
        problem: the request, with the sampling of batches and the protected unit.
        member: the kind of client.
        noise_multiplier: σ over the bound on the norm of one contribution to a message.

    Returns:
        The specification of the mechanism, from which its privacy is computed.
    """
    release = Gaussian(noise_multiplier=noise_multiplier)
    if problem.unit == "client":
        return Repeated(times=member.rounds, mechanism=release)
    if problem.sampling == "full":
        batch = Subsampled(sampling="full", batch_size=None, population=None, mechanism=release)
    else:
        batch = Subsampled(
            sampling=problem.sampling,
            batch_size=member.batch_size,
            population=member.samples_per_client,
            mechanism=release,
        )
    return Repeated(times=member.rounds, mechanism=batch)


def likely_noise_multiplier(problem: PacedProblem, member: Member) -> float:
    """Estimate the noise multiplier that meets a client's target, by the central limit theorem for privacy losses.

    The estimate only compares runs and starts searches. No certificate depends on it.

    Args:
        problem: the request, with its relation and its sampling of batches.
        member: the kind of client, with its target and rounds.

    Returns:
        The noise multiplier: σ over the bound on the norm of one contribution to a message.
    """
    distance = sensitivity_factor(problem.relation)
    return likely_noise(member.target, rate=_rate(problem, member), rounds=member.rounds, distance=distance)


def _first_noise(problem: PacedProblem, member: Member) -> float:
    """Return the noise multiplier at which the search for the smallest noise starts.

    If a record is drawn in any round with a probability of at most δ, no noise is needed. The search then starts at the
    smallest noise that is permitted.

    Args:
        problem: the request, with its neighbouring relation and its sampling of batches.
        member: the kind of client.

    Returns:
        The initial noise multiplier, above 0. A poor one costs time, but changes no guarantee.
    """
    rate = _rate(problem, member)
    most_draw_probability = rate * member.rounds  # the union bound
    if most_draw_probability <= math.exp(member.target.log_delta) * DELTA_TOLERANCE:
        return LEAST
    estimate = likely_noise_of_batches if _has_fixed_batches(problem) else likely_noise
    distance = sensitivity_factor(problem.relation)
    return estimate(member.target, rate=rate, rounds=member.rounds, distance=distance)


def _first_slope(problem: PacedProblem, member: Member, noise: float) -> float:
    """Estimate −d log |log δ|/d log σ, the slope with which the search for the smallest noise σ starts.

    A poor estimate costs time, but changes no guarantee.

    Args:
        problem: the request, with its relation and its sampling of batches.
        member: kind of client, with its target and rounds.
        noise: the noise multiplier at which the search starts, above 0.

    Returns:
        The estimated slope, without unit.
    """
    distance = sensitivity_factor(problem.relation)
    rate = _rate(problem, member)
    if not _has_fixed_batches(problem):
        return likely_slope(member.target, rate=rate, noise=noise, distance=distance)
    return likely_slope_of_batches(member.target, rate=rate, rounds=member.rounds, noise=noise, distance=distance)


def _has_fixed_batches(problem: PacedProblem) -> bool:
    """Return whether records are protected under replace-one, with batches of fixed size without replacement."""
    is_subsampled = problem.unit == "record" and problem.sampling == "without-replacement"
    return is_subsampled and problem.relation == "replace-one"


def _rate(problem: PacedProblem, member: Member) -> float:
    """Return the fraction of the protected units that a round draws: at most K/n of records, and 1 for a client."""
    if problem.unit == "client":
        return 1.0
    return min(member.batch_size / member.samples_per_client, 1.0)


def contribution_norm(problem: PacedProblem, member: Member) -> float:
    """Bound the ℓ2 norm of one protected contribution to the mean of a batch's gradients.

    For a record it is L/K, where L is the Lipschitz constant and K the batch size. For a client it is the bound on the
    norm of its whole message: L, or nL/K for Poisson batches, which may hold all n records.

    Args:
        problem: the request, with the protected unit and the sampling.
        member: the kind of client.

    Returns:
        The bound, in units of a gradient.
    """
    record_norm = member.lipschitz / member.batch_size
    if problem.unit == "record":
        return record_norm
    largest_batch = member.samples_per_client if problem.sampling == "poisson" else member.batch_size
    return record_norm * largest_batch


def divisor_conditions(problem: PacedProblem) -> tuple[Condition, ...]:
    """Return the condition that a batch mean has a fixed divisor, if neighbouring data may lack a record.

    If the divisor were the number of records in the batch, one record would change it.

    Args:
        problem: the request, with the protected unit and the relation.

    Returns:
        The condition; empty if whole clients are protected or if records are replaced.
    """
    if problem.unit == "record" and problem.relation != "replace-one":
        return (FIXED_DIVISOR,)
    return ()


FAMILY: Family[PacedProblem, Member] = Family(
    spec=spec_of,
    guess=_first_noise,
    slope=_first_slope,
    contribution=contribution_norm,
    target=lambda _, member: member.target,
)
"""The family of releases of one member."""


def likely_mean_noise_std(certificates: Certificates[PacedProblem, Member], run: Run) -> float:
    """Estimate the noise σ with which a run meets the target, root mean square over clients, to compare runs.

    Args:
        certificates: the certified noise of each kind of client, of which only the request is used.
        run: the batch size and the rounds of the run.

    Returns:
        The estimate of σ per coordinate, in units of a gradient.
    """
    problem = certificates.problem
    stds = []
    for member in members_of(problem, run):
        noise_std = likely_noise_multiplier(problem, member) * contribution_norm(problem, member)
        stds.append((noise_std, member))
    return root_mean_square(stds)


def root_mean_square(values: Iterable[tuple[float, Member]]) -> float:
    """Return the root mean square over all clients of a number that depends on the kind of client.

    Args:
        values: for each kind of client, the number, which is positive, and the kind.

    Returns:
        The root mean square, in the unit of the numbers.
    """
    values_and_counts = [(value, member.clients) for value, member in values]
    clients = sum(count for _, count in values_and_counts)
    largest = max(value for value, _ in values_and_counts)
    # Quotients by the largest value are squared, so that no square overflows.
    mean_square = math.fsum(count / clients * (value / largest) ** 2 for value, count in values_and_counts)
    return largest * math.sqrt(mean_square)


def mean_noise_std(certificates: Certificates[PacedProblem, Member], run: Run) -> float:
    """Return the certified σ of a run, root mean square over clients."""
    members = members_of(certificates.problem, run)
    return root_mean_square((certificates.noise_std(member), member) for member in members)


def federation_of(problem: PacedProblem, members: tuple[Member, ...]) -> Federation:
    """Return the clients in the form that the paper's theorems need: groups with equal records, batches and targets.

    The theorems depend on no other property of a client, so kinds of clients that agree in these are merged.

    Args:
        problem: the request, with the distribution of the number of participants.
        members: the kinds of clients.

    Returns:
        The groups, with the distribution of the number of participants.
    """
    # Count the clients with equal records, batch size and target.
    counts: dict[tuple[int, int, float, float], int] = {}
    for member in members:
        target = member.target
        key = (member.samples_per_client, member.batch_size, target.epsilon, target.log_delta)
        counts[key] = counts.get(key, 0) + member.clients

    groups = []
    for (samples_per_client, batch_size, epsilon, log_delta), clients in counts.items():
        group = ClientGroup(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            epsilon=epsilon,
            log_delta=log_delta,
        )
        groups.append(group)
    return Federation(groups=tuple(groups), counts=problem.counts)


def communication(problem: PacedProblem, run: Run) -> Communication:
    """Return the traffic of a run, with one single-precision float per coordinate of each participant's message.

    Args:
        problem: the request, with the dimension and the number of participants.
        run: the run, of which only the rounds are used.

    Returns:
        The bits per coordinate, per message and of the whole run. If the number of participants is random, the total is
        the largest possible one, and the expected total is given too.
    """
    is_random = len(problem.counts) > 1
    return Communication(
        bits_per_coordinate=float(BITS_PER_COORDINATE),
        bits_per_round_per_client=BITS_PER_COORDINATE * problem.dimension,
        total_bits=problem.bits_per_round * run.rounds,
        expected_total_bits=problem.expected_bits_per_round * run.rounds if is_random else None,
    )
