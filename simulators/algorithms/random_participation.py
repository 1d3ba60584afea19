"""A random number of participants: drawn from a distribution, followed by a uniform choice of that many clients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import PROBABILITY, Participants, request
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.problems.problem import Floats
from epsilond.simulators.seeds import own_stream

MOST_COUNTS = 1000
"""Largest number of entries of a distribution."""
OWN_STREAM = 1
"""Last part of the key of the stream for participation; other draws equal those of a run with a fixed number."""


@request
class ReportingCount:
    """How many clients may report in a round, and with what probability."""

    participants: Participants
    probability: Annotated[float, PROBABILITY]


CountDistribution = Sequence[ReportingCount]


def participation_faults(count_distribution: CountDistribution) -> list[Fault]:
    """Check a distribution of the number of participants, and return its faults for the field `participation`.

    Args:
        count_distribution: numbers of participants with their probabilities.

    Returns:
        At most one fault: the number of entries is not from 1 to `MOST_COUNTS`, or the probabilities do not sum to 1,
        up to 1e-9.
    """
    if not 1 <= len(count_distribution) <= MOST_COUNTS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_COUNTS}")]
    total_probability = math.fsum(count.probability for count in count_distribution)
    if abs(total_probability - 1.0) > 1e-9:
        return [Fault("/participation", "has probabilities that do not sum to 1")]
    return []


def read_participation(run: AnyRun) -> None:
    """Convert the field `participation` of a run, a distribution of the number of clients in a round, and check it.

    Entries that are mappings become `ReportingCount`s. The run is changed in place, unless the field is None.

    Args:
        run: the run.

    Raises:
        InvalidInput: the entries are not a probability distribution, or `participants` is given too.
    """
    if run.participation is None:
        return
    counts = []
    for entry in run.participation:
        is_converted = not isinstance(entry, Mapping)
        counts.append(entry if is_converted else ReportingCount(**entry))
    # The run is a frozen dataclass, which allows no assignment.
    object.__setattr__(run, "participation", tuple(counts))
    faults = participation_faults(counts)
    if run.participants is not None:
        faults.append(Fault("/participation", "give at most one of participants and participation"))
    if faults:
        raise InvalidInput(*faults)


def largest_count(count_distribution: CountDistribution) -> int:
    """Return the largest number of participants with positive probability."""
    return max(count.participants for count in count_distribution if count.probability > 0.0)


def harmonic_mean(count_distribution: CountDistribution) -> float:
    """Return the harmonic mean 1/E[1/M_r] of the random number M_r of participants, on which risk bounds depend."""
    return 1.0 / math.fsum(count.probability / count.participants for count in count_distribution)


def weights(
    count_distribution: CountDistribution, generators: Sequence[np.random.Generator], rounds: int
) -> Iterator[Floats]:
    """Yield weights for M clients, with which their weighted mean is the mean over the clients that report.

    In round r a random number M_r of the M clients report. Each of these has the weight M/M_r, and the others have 0.

    Args:
        count_distribution: distribution of M_r; M is its largest value.
        generators: one per repetition, from each of which a separate stream of random numbers is derived.
        rounds: number of rounds.

    Yields:
        Weights of one round, (repetitions, M).
    """
    largest = largest_count(count_distribution)
    probabilities = np.array([count.probability for count in count_distribution])
    counts = np.array([count.participants for count in count_distribution])
    normalised = probabilities / probabilities.sum()
    # With separate streams, all other draws are equal to those of a run with a fixed number of participants.
    streams = [own_stream(generator, OWN_STREAM) for generator in generators]
    for _ in range(rounds):
        reporting = np.array([stream.choice(counts, p=normalised) for stream in streams])
        # The clients with the smallest ranks of a random permutation report.
        ranks = np.stack([stream.permutation(largest) for stream in streams])
        yield np.where(ranks < reporting[:, None], largest / reporting[:, None], 0.0)
