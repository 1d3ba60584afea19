"""Choice of the number of rounds, by the noise that each number needs, the remaining excess risk, and the traffic.

More rounds average the noise better, but each needs more noise. By `epsilond.averaged-noisy-steps`, the excess risk
after R rounds of one gradient step is at most a share of clipping_norm · diameter (`run_of`), if gradients are not
clipped. The fewest rounds are chosen with a share of at most 1.1 times the least share within the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.numerics.outward import root_up, round_up
from epsilond.accountants.theorems.mechanisms.adaptive_clipping import update_noise_multiplier
from epsilond.accountants.theorems.risk.averaged_steps import second_moment
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Number, Served

if TYPE_CHECKING:
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.dp_fedavg.problem import DpFedavgProblem

WITHIN = Fraction(11, 10)
"""Largest ratio of the chosen run's remaining share to the least share."""
WORSE = Fraction(5, 2)
"""Ratio of the remaining share to the least share above which fewer rounds are not tried."""
STEPS = (10, 20, 30, 50)
"""Numbers of rounds that are tried in each power of ten, in tenths."""


@dataclass(frozen=True, kw_only=True)
class RoundsRun:
    """A number of rounds with its smallest certified noise, the bound on the remaining excess risk, and the traffic."""

    rounds: int
    noise_multiplier: Annotated[
        float,
        Served(
            "noise multiplier of the sum of updates: standard deviation of its noise per coordinate, "
            "divided by clipping_norm"
        ),
    ]
    noise_std_of_mean: Annotated[float, Served("standard deviation per coordinate of the noise in the mean of a round")]
    noise_norm_of_mean: Annotated[
        float,
        Served(
            "norm of the noise in the mean of a round: noise_std_of_mean times the root of dimension. "
            "Compare it with clipping_norm"
        ),
    ]
    remaining_share: Annotated[
        Number,
        Served(
            "bound on the excess risk after the run, divided by clipping_norm · diameter. It assumes one "
            "gradient step of a client per round. A value of 1 or more carries no information",
            may_be_unbounded=True,
        ),
    ]
    reports_per_client: Annotated[
        float,
        Served("number of rounds in which one client takes part; the expected number if clients are drawn at random"),
    ]
    bytes_per_client: Annotated[
        float,
        Served(
            "number of bytes that one client sends during the run; the expected number if clients are drawn at random"
        ),
    ]
    total_bits: Annotated[
        int,
        Served(
            "number of bits that all clients together send during the run; the expected number if the "
            "number of participants is random"
        ),
    ]
    chosen: Annotated[bool, Served("whether this is the run that the parameters of the answer describe")] = False


@dataclass(frozen=True)
class RoundNoise:
    """The noise multipliers of a round as a whole and of its updates. They differ only for adaptive clipping.

    Attributes:
        total: noise multiplier of the round as one mechanism, which the guarantee is for.
        updates: noise multiplier of the sum of the updates, at least `total`.
    """

    total: float
    updates: float


def noise_of(problem: DpFedavgProblem, multiplier: float) -> RoundNoise:
    """Split the noise multiplier of a round between the updates and the count of clipped updates.

    Without adaptive clipping, all of it belongs to the updates. With adaptive clipping, a round releases two noisy
    sums, one of the updates and one of the clipped bits. Together they have the noise multiplier of the round.

    Args:
        problem: the request, with the noise of the clipped bits.
        multiplier: noise multiplier z of a round as one mechanism.

    Returns:
        The noise multiplier of the round as one mechanism, and that of the sum of the updates.

    Raises:
        Infeasible: z ≥ 2 `count_std`, so that the bits exceed the target even without the updates. The error names a
            sufficient `count_std`.
    """
    if problem.adaptive_clipping is None:
        return RoundNoise(multiplier, multiplier)
    count_std = problem.adaptive_clipping.count_std
    largest_multiplier = 2.0 * count_std
    if multiplier >= largest_multiplier:
        statement = "the noise on the clipped bits leaves something for the updates: z < 2 count_std"
        condition = ConditionResult("count-noise-left", statement, Verdict.NO, multiplier, largest_multiplier)
        raise Infeasible("the noise on the clipped bits is too small", condition, {"count_std": multiplier})
    updates = update_noise_multiplier(noise_multiplier=multiplier, count_std=count_std)
    return RoundNoise(multiplier, updates)


def run_of(problem: DpFedavgProblem, rounds: int, noise: RoundNoise) -> RoundsRun:
    """Return the noise, the remaining share of the excess risk, and the traffic of a run.

    For R rounds of one gradient step, the excess risk is at most the clipping norm times the diameter times the
    remaining share:

        √((E K²/M² + ν²)/R).

    K is the number of participants, M its fixed or expected value, and ν the norm of the noise in the mean of a round,
    divided by the clipping norm.

    Args:
        problem: the request, with the clients, their sampling, the dimension and the clipping norm.
        rounds: number of rounds.
        noise: noise multipliers of one round.

    Returns:
        The figures of the run, rounded up.
    """
    std_of_sum = Fraction(noise.updates) * Fraction(problem.clipping_norm)
    std_of_mean = std_of_sum / problem.reporting
    squared_norm = problem.dimension * std_of_mean**2
    # Second moment of a round's mean, in units of the squared clipping norm.
    relative_second_moment = second_moment(
        sampling="poisson" if problem.sampling == "poisson" else "without-replacement",
        clients=problem.clients,
        participants=problem.reporting,
        dimension=problem.dimension,
        lipschitz=1.0,
        noise_std=round_up(std_of_mean / Fraction(problem.clipping_norm)),
    )
    reports = problem.reports_per_client(rounds)
    return RoundsRun(
        rounds=rounds,
        noise_multiplier=noise.updates,
        noise_std_of_mean=round_up(std_of_mean),
        noise_norm_of_mean=root_up(squared_norm),
        remaining_share=root_up(relative_second_moment / rounds),
        reports_per_client=round_up(reports),
        bytes_per_client=round_up(reports * problem.bits_per_report / 8),
        total_bits=problem.bits_per_report * problem.reporting * rounds,
    )


def ladder(most: int) -> tuple[int, ...]:
    """Return the numbers of rounds to try: 1, 2, 3, 5, 10, 20, … up to a largest one, which is included.

    Args:
        most: the largest number, at least 1.

    Returns:
        The numbers of rounds in descending order, without repetition.
    """
    numbers = {most}
    power_of_ten = 1
    while power_of_ten <= most:
        candidates = [power_of_ten * step // 10 for step in STEPS]
        numbers.update(number for number in candidates if number <= most)
        power_of_ten *= 10
    return tuple(sorted(numbers, reverse=True))


def choose(problem: DpFedavgProblem, certificates: Certificates[DpFedavgProblem, int]) -> tuple[RoundsRun, ...]:
    """Certify several numbers of rounds, and mark as chosen the fewest with a nearly least bound on the excess risk.

    The bound is compared as the remaining share. That of the chosen run is at most `WITHIN` times the least one.

    Args:
        problem: the request. Its limits bound the rounds.
        certificates: the certified noise of each number of rounds.

    Returns:
        The runs, fewest rounds first. Exactly one is marked as chosen.

    Raises:
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: for every number of rounds, no noise meets the target, or the noise on the count of clipped updates
            (adaptive clipping) is too small.
    """
    runs = _try_rounds(problem, certificates)
    least_share = min(Fraction(run.remaining_share) for run in runs)
    limit = WITHIN * least_share
    fewest = next(run for run in runs if Fraction(run.remaining_share) <= limit)
    return tuple(replace(run, chosen=run is fewest) for run in runs)


def _try_rounds(problem: DpFedavgProblem, certificates: Certificates[DpFedavgProblem, int]) -> list[RoundsRun]:
    """Certify decreasing numbers of rounds, until the bound on the excess risk is clearly above the least.

    The search ends above `WORSE` times the least bound. Numbers of rounds without certified noise are left out.

    Args:
        problem: the request, with the largest permitted number of rounds.
        certificates: the certified noise of each number of rounds.

    Returns:
        The runs, fewest rounds first.

    Raises:
        Infeasible: no noise is certified for any number of rounds; this is the error of the fewest.
    """
    runs: list[RoundsRun] = []
    last_error: Infeasible | None = None
    for rounds in ladder(problem.most_rounds):
        try:
            run = run_of(problem, rounds, noise_of(problem, certificates.of(rounds).noise))
        except Infeasible as error:  # fewer rounds need less noise
            last_error = error
            continue
        runs.insert(0, run)
        least_share = min(earlier.remaining_share for earlier in runs)
        if run.remaining_share > WORSE * Fraction(least_share):
            break
    if not runs:
        assert last_error is not None  # every number of rounds raised one
        raise last_error
    return runs
