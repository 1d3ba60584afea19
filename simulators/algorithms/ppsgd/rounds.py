"""What PPSGD draws, several rounds at a time: who takes part, fresh records, and the server's noise.

A row is one client that takes part in one round of one repetition. Rows are kept by round, then by repetition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.simulators.algorithms.batches import poisson_batches, without_replacement_batches
from epsilond.simulators.problems.personalized_problem import Numbers, PersonalizedProblem
from epsilond.simulators.problems.problem import Floats, Records

ENTRIES = 2**14
"""Features of one repetition that are drawn at a time, about: the cost of a call is then little beside them."""
MOST_ROUNDS = 1024


def chunk_size(entries: float) -> int:
    """Rounds that are drawn at a time, from the features of one round: the same however many repetitions there are."""
    return int(min(max(ENTRIES // max(entries, 1.0), 1), MOST_ROUNDS))


@dataclass(frozen=True)
class Rounds:
    """Some rounds of all repetitions."""

    starts: Numbers
    """(rounds, repetitions + 1): where each repetition's rows of each round begin, and where the round's end."""
    repetition: Numbers
    client: Numbers
    records: Records
    noise: Floats
    """(rounds, repetitions, d): standard normal."""
    everyone: bool
    """Whether all clients take part in all rounds, in their order."""

    @property
    def rounds(self) -> int:
        """How many."""
        return len(self.starts)

    def rows(self, place: int) -> slice:
        """Those of one round."""
        return slice(int(self.starts[place, 0]), int(self.starts[place, -1]))

    def of(self, place: int) -> Records:
        """Records of one round's rows."""
        rows = self.rows(place)
        return Records(self.records.features[rows], self.records.targets[rows])

    def per_repetition(self, place: int, values: Floats) -> Floats:
        """Sums of one round's values (rows, …) over each repetition's rows: (repetitions, …)."""
        starts = self.starts[place] - self.starts[place, 0]
        summed = np.zeros((len(starts) - 1, *values.shape[1:]))
        present = starts[1:] > starts[:-1]
        if present.any():
            summed[present] = np.add.reduceat(values, starts[:-1][present], axis=0)
        return summed


def draw(
    problem: PersonalizedProblem,
    generators: Sequence[np.random.Generator],
    *,
    rounds: int,
    batch_size: int,
    rate: float,
    participants: int | None,
) -> Rounds:
    """The next rounds of every repetition, each from its own generator; `participants` None: drawn independently."""
    masks, records, noise = [], [], []
    for generator in generators:
        mask = _taking_part(generator, rounds, problem.clients, rate, participants)
        masks.append(mask)
        records.append(problem.records(generator, np.nonzero(mask)[1], batch_size))
        noise.append(generator.standard_normal((rounds, problem.dimension)))
    taking_part = np.stack(masks, axis=1)  # (rounds, repetitions, N)
    _, repetition, client = np.nonzero(taking_part)
    counts = taking_part.sum(axis=2)
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    starts = np.concatenate([(ends[:, 0] - counts[:, 0])[:, None], ends], axis=1)
    by_round = None
    if rounds > 1 and len(masks) > 1:
        by_round = np.argsort(np.concatenate([np.nonzero(mask)[0] for mask in masks]), kind="stable")
    return Rounds(
        starts=starts,
        repetition=repetition,
        client=client,
        records=Records(
            _joined([one.features for one in records], by_round),
            _joined([one.targets for one in records], by_round),
        ),
        noise=np.stack(noise, axis=1),
        everyone=participants == problem.clients,
    )


def _joined(parts: Sequence[Floats], order: Numbers | None) -> Floats:
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return whole if order is None else whole[order]


def _taking_part(
    generator: np.random.Generator, rounds: int, clients: int, rate: float, participants: int | None
) -> npt.NDArray[np.bool_]:
    """(rounds, N): everyone, a uniform set of a fixed size, or each client by itself."""
    if participants == clients:
        return np.ones((rounds, clients), dtype=np.bool_)
    if participants is None:
        return poisson_batches(generator, (rounds, clients), rate)
    return without_replacement_batches(generator, rounds, clients, participants)
