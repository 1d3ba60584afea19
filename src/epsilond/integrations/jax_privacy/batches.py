"""The batches that a plan's sampler gave, checked one by one against the sampling of the event."""

from __future__ import annotations

import hashlib
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilond.accountants.specs import Spec, Subsampled
from epsilond.integrations.jax_privacy.samplers import SamplerDraws, is_independent
from epsilond.runs.batch_sizes import BatchSizes
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import EVENT, FRESH_DRAW, ROWS

if TYPE_CHECKING:
    from jax_privacy.batch_selection import BatchSelectionStrategy, RngType

_REMEDY: Final = "Take each batch of one iterator of the plan's batch_selection_strategy, in order and once."
_UNSEEN: Final = -1
"""Phase of a record that has been in no batch yet. The phase is the iteration within a cycle in which it takes part."""


@dataclass(frozen=True, kw_only=True)
class SampledBatch:
    """A batch that the sampler returned, with a checksum that identifies its random numbers.

    Attributes:
        start: checksum of the state of the random generator before the batch was drawn.
        members: indices of its records; indices of its users if the sampler draws users.
        rows: a number for each row, by which equal rows are recognised. It is the index of the record, or a hash of the
            indices of all records of a user.
    """

    start: str
    members: NDArray[np.integer]
    rows: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of records or users."""
        return len(self.members)


class BatchesState(TypedDict):
    """State of the checks of a run's batches (`ObservedBatches`), as JSON values for a checkpoint.

    Attributes:
        starts: checksums of the random generator's states before the batches that updates have used.
        phases: for each record, the iteration within a cycle in which it takes part; −1 if it has been in no batch.
        count: number of batches that updates have used.
    """

    starts: Sequence[str]
    phases: Sequence[int]
    count: int


class ObservedBatches:
    """A wrapper of a plan's sampler, with the same `batch_iterator`, which checks and stores each batch.

    A batch is a replay if the random generator was in the same state before an earlier batch. A program that resumes
    from a checkpoint replays the batches before the checkpoint. So a replay is only counted. It contradicts the record
    of the run when the program uses it.

    Attributes:
        strategy: the plan's own sampler.
        waiting: fresh batches that no update has used yet, in order.
        replays: number of replays.
        before_draw: called before each batch.
    """

    def __init__(
        self, strategy: BatchSelectionStrategy, draws: SamplerDraws, mechanism: Spec, evidence: Evidence
    ) -> None:
        """Wrap a sampler before its first batch is drawn.

        Args:
            strategy: the sampler of the plan.
            draws: parameters of the sampler.
            mechanism: mechanism of one iteration, as the plan's event describes it, with its sampling.
            evidence: record of the observations, to which contradictions are reported.
        """
        self.strategy = strategy
        self.waiting: deque[SampledBatch] = deque()
        self.replays = 0
        self.before_draw: Callable[[], None] | None = None
        self._draws, self._mechanism, self._evidence = draws, mechanism, evidence
        self._sizes = BatchSizes()
        self._starts: set[str] = set()
        # The iteration within a cycle in which each record takes part.
        self._phases: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["strategy"], name)

    def batch_iterator(self, examples: int | NDArray[np.generic], rng: RngType = None) -> Iterator[NDArray[np.integer]]:
        """Yield the batches of the sampler's own `batch_iterator`, after checking and storing each.

        Args:
            examples: number of records; for a `UserSelectionStrategy`, the user of each record.
            rng: seed or random generator, as for `numpy.random.default_rng`.

        Yields:
            The indices of the records of one batch.
        """
        generator = np.random.default_rng(rng)
        owners: NDArray[np.int64] | None = None
        if self._draws.users:
            _, owners = np.unique(examples, return_inverse=True)
            population = int(owners.max(initial=-1)) + 1
        else:
            population = int(examples)
        self._check_population(population)
        batches = self.strategy.batch_iterator(examples, generator)
        while True:
            if self.before_draw is not None:
                self.before_draw()
            # A generator in the same state draws the same batch again.
            start = _digest(generator)
            try:
                batch = next(batches)
            except StopIteration:
                return
            rows = np.asarray(batch)
            members = rows
            if owners is not None and len(rows):
                members = owners[rows[:, 0]]  # all records in a row belong to one user
            self._note(SampledBatch(start=start, members=members, rows=_identify_rows(rows)), population)
            yield batch

    def _check_population(self, records: int) -> None:
        """Report a contradiction if the sampler does not draw from as many records as the accounted mechanism states.

        `_phases`, which has an entry for each record, is extended or cut to this number.

        Args:
            records: number of records, or of users if the sampler draws users.
        """
        if len(self._phases) != records:
            new_records = np.full(records, _UNSEEN)
            self._phases = np.concatenate([self._phases, new_records])[:records]
        spec = self._mechanism
        if not isinstance(spec, Subsampled) or spec.population is None:
            return
        if spec.population != records:
            message = f"the sampler draws from {records} records, and the event says {spec.population}"
            self._evidence.contradict(EVENT, message, remedy="Make the plan for the number of records of this run.")

    def _note(self, batch: SampledBatch, records: int) -> None:
        """Check a batch of the sampler, and put it in the queue of batches that no update has used.

        A batch is a replay if the random generator had the same state before an earlier batch. A replay is only
        counted. A batch that may have needed no random numbers is never a replay.

        A contradiction is reported if the batch has a wrong size, has a record twice, or has a record that belongs to
        another iteration of the cycle.

        Args:
            batch: the batch that the sampler returned.
            records: number of records, or of users, that it was drawn from.
        """
        members = batch.members
        is_replay = batch.start in self._starts and not self._is_certain(len(members), records)
        if is_replay:
            self.replays += 1
            return

        self._starts.add(batch.start)
        self._check_size(len(members), records)
        is_with_replacement = getattr(self._draws.sampler, "replace", False)
        if not is_with_replacement and len(np.unique(members)) < len(members):
            self._evidence.contradict(ROWS, "a batch has a record twice", remedy=_REMEDY)
        self._check_phase(members)
        self.waiting.append(batch)
        self._count += 1

    def _is_certain(self, size: int, records: int) -> bool:
        """Return whether a batch may have been drawn without random numbers.

        The random generator then keeps its state. An equal state does not prove that the batch is repeated.

        Args:
            size: number of records, or of users, in the batch.
            records: number of records, or of users, that it was drawn from.

        Returns:
            True for a batch of no record or of all records, and if the sampler takes each record with probability 1.
        """
        sampling_rate = float(getattr(self._draws.sampler, "sampling_prob", 0.0))
        return size in (0, records) or sampling_rate >= 1.0

    def _check_size(self, size: int, records: int) -> None:
        """Report a contradiction if the size of a batch does not agree with the sampler's parameters.

        A sampler with a fixed batch size must return this size. The sizes of Poisson batches are tested statistically
        if they are independent of each other.

        Args:
            size: number of records, or of users, in the batch.
            records: number of records, or of users, that it was drawn from.
        """
        sampler = self._draws.sampler
        cycle = self._draws.cycle
        rate = getattr(sampler, "sampling_prob", None)
        if rate is None:
            expected = int(sampler.batch_size)
            if size != expected:
                message = f"a batch has {size} records where the recorded sampling draws {expected}"
                self._evidence.contradict(FRESH_DRAW, message, remedy=_REMEDY)
            return
        # Groups of random sizes make the sizes of their batches dependent.
        has_independent_sizes = cycle == 1 or not is_independent(sampler)
        if rate > 0.0 and has_independent_sizes:
            self._sizes.observe(size, records=records // cycle, rate=float(rate))
            if self._sizes.alarm is not None:
                self._evidence.contradict(FRESH_DRAW, self._sizes.alarm, remedy=_REMEDY, declarable=False)

    def _check_phase(self, members: NDArray[np.integer]) -> None:
        """Report a contradiction if a record does not take part in the same iteration of every cycle.

        Cyclic sampling deals the records to groups. Each iteration of a cycle draws from a group of its own.

        Args:
            members: indices of the records, or users, in the next batch.
        """
        cycle = self._draws.cycle
        if cycle == 1 or not len(members):
            return
        phase = self._count % cycle
        earlier_phases = self._phases[members]
        has_moved = (earlier_phases != _UNSEEN) & (earlier_phases != phase)
        moved_count = int(np.count_nonzero(has_moved))
        self._phases[members] = phase
        if moved_count:
            message = f"records took part again after fewer than {cycle} iterations"
            remedy = "Use one batch_iterator for the whole run: a second one forms other groups."
            self._evidence.contradict(FRESH_DRAW, message, remedy=remedy, count=moved_count)

    def state_dict(self) -> BatchesState:
        """Return the state of the checks as JSON values, for a checkpoint.

        Batches that no update has used yet are not counted, because a resumed program draws them again.
        """
        unused = {batch.start for batch in self.waiting}
        return {
            "starts": sorted(self._starts - unused),
            "phases": self._phases.tolist(),
            "count": self._count - len(self.waiting),
        }

    def load_state_dict(self, state: BatchesState) -> None:
        """Continue the checks after the batches of a checkpoint.

        Batches that no update has used are forgotten. They count as fresh if they are drawn again.

        Args:
            state: value that `state_dict` returned.
        """
        self._starts = {str(start) for start in state["starts"]}
        self._count = int(state["count"])
        self._phases = np.asarray(state["phases"], dtype=np.int64)
        self.waiting.clear()


def _identify_rows(rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a number for each row of a batch, which is equal for equal rows.

    Args:
        rows: index of the record in each row, (rows,); or indices of the records of a user, (rows, records).

    Returns:
        The index of the record, or a hash of the indices of the user's records, (rows,).
    """
    if rows.ndim == 1:
        return rows.astype(np.int64)
    return np.asarray([hash(row.tobytes()) for row in np.ascontiguousarray(rows)], dtype=np.int64)


def _digest(generator: np.random.Generator) -> str:
    """Return a checksum of the state of a random generator, to recognise a repeated state.

    Args:
        generator: generator of numpy.

    Returns:
        A BLAKE2b checksum of 64 bits, as 16 hexadecimal digits.
    """
    state = pickle.dumps(generator.bit_generator.state)
    return hashlib.blake2b(state, digest_size=8).hexdigest()
