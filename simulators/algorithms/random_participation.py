"""A random number of clients that report in a round: drawn from a law, then that many of the clients, uniformly."""

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
OWN_STREAM = 1
"""Last part of the key of a repetition's draws of who reports: all its other draws are those of a fixed number."""


@request
class ReportingCount:
    """How many clients may report in a round, and with what probability."""

    participants: Participants
    probability: Annotated[float, PROBABILITY]


Law = Sequence[ReportingCount]


def law_faults(law: Law) -> list[Fault]:
    """What is wrong with a law, as pointers under /participation."""
    if not 1 <= len(law) <= MOST_COUNTS:
        return [Fault("/participation", "has too few or too many entries", f"1 to {MOST_COUNTS}")]
    if abs(math.fsum(one.probability for one in law) - 1.0) > 1e-9:
        return [Fault("/participation", "has probabilities that do not sum to 1")]
    return []


def read_law(run: AnyRun) -> None:
    """Make the entries of a run's `participation` requests where they are mappings, and check them.

    Raises:
        InvalidInput: they are no law, or a number of participants stands beside it.
    """
    if run.participation is None:
        return
    read = tuple(ReportingCount(**one) if isinstance(one, Mapping) else one for one in run.participation)
    object.__setattr__(run, "participation", read)
    faults = law_faults(read)
    if run.participants is not None:
        faults.append(Fault("/participation", "give at most one of participants and participation"))
    if faults:
        raise InvalidInput(*faults)


def most(law: Law) -> int:
    """The largest count that has a probability."""
    return max(one.participants for one in law if one.probability > 0.0)


def harmonic_mean(law: Law) -> float:
    """1/E[1/M_r]: what bounds see of the law."""
    return 1.0 / math.fsum(one.probability / one.participants for one in law)


def weights(law: Law, generators: Sequence[np.random.Generator], rounds: int) -> Iterator[Floats]:
    """For each round (S, most): M/M_r of each of M_r of the M clients that were drawn, 0 of the others.

    The mean over M clients of messages times these weights is the mean over those that report.
    """
    largest = most(law)
    shares = np.array([one.probability for one in law])
    counts = np.array([one.participants for one in law])
    streams = [own_stream(generator, OWN_STREAM) for generator in generators]
    for _ in range(rounds):
        reporting = np.array([stream.choice(counts, p=shares / shares.sum()) for stream in streams])
        ranks = np.stack([stream.permutation(largest) for stream in streams])
        yield np.where(ranks < reporting[:, None], largest / reporting[:, None], 0.0)
