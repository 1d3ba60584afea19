"""The batches that Opacus' sampler drew, and whether each step used one of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from opacus.utils.batch_memory_manager import BatchSplittingSampler
from opacus.utils.uniform_sampler import UniformWithReplacementSampler

from epsilond.integrations.opacus.watching.contents import Contents, IndexBatch
from epsilond.runs.false_alarms import log_threshold

if TYPE_CHECKING:
    from torch.utils.data import Sampler
    from torch.utils.data.dataloader import _BaseDataLoaderIter

_MEMORY: Final = 1 << 17
"""Number of draws with stored digests, about 20 MB; later draws are compared with the first and the latest of them."""

_ORIGINAL: Final = UniformWithReplacementSampler.__iter__
"""Opacus' sampling at the time of the import."""

_EPOCH: Final = "epsilond_epoch"
"""Attribute of an iterator of a data loader: the pass that it reads."""

_EPOCHS: Final = 8
"""Number of passes over the loader in which unused draws may still be used."""


class Epoch:
    """Iterator over the batches of indices of one pass over the sampler, which records each batch that it yields.

    A recorded batch of indices is called a draw.

    Args:
        source: record of the draws in all passes over the sampler.
        batches: Opacus' own iterator.

    Attributes:
        draws: draws of this pass that no optimizer step has used yet.
        loader: whether an iterator of a data loader reads this pass.
    """

    def __init__(self, source: Draws, batches: Iterator[list[int]]) -> None:
        self.draws: list[IndexBatch] = []
        self.loader = False
        self._source = source
        self._batches = batches
        self._count = 0
        # Draws that the loader has not returned completely, and the number of returned parts of the first of them.
        self._pending: list[IndexBatch] = []
        self._returned_parts = 0

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> list[int]:
        """Draw the next batch of indices with the original sampler, and record it.

        Returns:
            The indices of the records in the batch, which may be none.

        Raises:
            StopIteration: the pass over the data has ended.
        """
        self._source.before_draw()
        indices = next(self._batches)
        draw = IndexBatch(self, self._count, len(indices), self._source.sampler.sample_rate)
        self._count += 1
        self.draws.append(draw)
        self._pending.append(draw)
        self._source.record(indices)
        return indices

    def hand_out(self, batch: object, largest_part: int | None) -> None:
        """Match a batch of data that the loader returns with the draw (batch of indices) from which it was loaded.

        This is the earliest draw that was not returned completely. If there is none, nothing happens.

        Args:
            batch: tensors of the batch.
            largest_part: largest number of records in the parts into which Opacus' `BatchMemoryManager` splits a draw;
                None if it splits none.
        """
        self.loader = True
        if not self._pending:
            return
        draw = self._pending[0]
        self._returned_parts += 1
        is_complete = largest_part is None or self._returned_parts >= math.ceil(draw.size / largest_part)
        if is_complete:
            self._pending.pop(0)
            self._returned_parts = 0
            draw.handed_out = True
        self._source.contents.hand_out(batch, draw)

    def available_draws(self) -> list[IndexBatch]:
        """Return the unused draws that a step may use. If a data loader reads the pass, it must have returned them."""
        return [draw for draw in self.draws if draw.handed_out or not self.loader]

    def use(self, draw: IndexBatch) -> int:
        """Mark a draw (batch of indices) as used by an optimizer step, and the unused draws before it as skipped.

        Args:
            draw: a draw of this pass.

        Returns:
            The number of draws that were not marked as skipped before.
        """
        draw.used = True
        skipped = [earlier for earlier in self.draws if earlier.position < draw.position and not earlier.skipped]
        for earlier in skipped:
            earlier.skipped = True
        # Used draws are removed, so that a long run needs little memory.
        self.draws = [unused for unused in self.draws if not unused.used]
        return len(skipped)


class Draws:
    """Record of the draws (batches of indices) of one sampler, which tests that they are not repeated or replaced.

    Attributes:
        sampler: Opacus' sampler with the recorded draws.
        epochs: the latest passes over the sampler, at most `_EPOCHS`.
        alarm: first observation that the draws are not fresh draws of Opacus' sampler, in words; None if there is none.
        contents: the batches of data that the loader returned.
    """

    def __init__(
        self, sampler: UniformWithReplacementSampler, *, before_draw: Callable[[], None], after_draw: Callable[[], None]
    ) -> None:
        """Start an empty record of the draws of a sampler.

        Args:
            sampler: Opacus' sampler; its class records its draws from now on.
            before_draw: function that is called before each draw.
            after_draw: function that is called after each draw.
        """
        self.sampler = sampler
        self.epochs: list[Epoch] = []
        self.alarm: str | None = None
        self.contents = Contents()
        self.before_draw = before_draw
        self._after_draw = after_draw
        self._generator = sampler.generator
        self._count = 0
        self._digests: dict[tuple[int, int], None] = {}

    def record(self, indices: list[int]) -> None:
        """Record a draw, and set `alarm` if it equals an earlier draw, or if the random generator was replaced.

        A draw at rate q equals a given set of s of n records with the probability q^s (1 − q)^(n − s). A repetition
        sets the alarm only if this is improbable: if it is at most the significance level, divided by the number of
        stored draws.

        Args:
            indices: positions of the drawn records in the data set.
        """
        self._after_draw()
        if self.sampler.generator is not self._generator:
            self._raise_alarm("the random generator of the sampler was replaced")

        self._count += 1
        size = len(indices)
        digest = (hash(tuple(indices)), size)
        if digest in self._digests:
            log_level = -log_threshold(self._count, hypotheses=len(self._digests))
            if self._log_probability(size) <= log_level:
                self._raise_alarm(f"a draw of {size} records repeats an earlier draw")

        # If the memory is full, only the latest draw is replaced. A generator that is set back to its seed repeats the
        # earliest draws.
        if len(self._digests) >= _MEMORY:
            latest_digest = next(reversed(self._digests))
            del self._digests[latest_digest]
        self._digests[digest] = None

    def _raise_alarm(self, observation: str) -> None:
        """Set the alarm, unless there is an earlier one."""
        if self.alarm is None:
            self.alarm = observation

    def start(self, batches: Iterator[list[int]]) -> Epoch:
        """Start the record of a pass over the sampler, and drop the oldest pass if there are more than `_EPOCHS`.

        Args:
            batches: Opacus' own iterator, which draws the batches of this pass.

        Returns:
            An iterator over the same batches that records them.
        """
        if UniformWithReplacementSampler.__iter__ is not _ORIGINAL:
            self._raise_alarm("the method __iter__ of the sampler was replaced")
        epoch = Epoch(self, batches)
        latest_epochs = self.epochs[1 - _EPOCHS :]
        self.epochs = [*latest_epochs, epoch]
        return epoch

    def latest_unread(self) -> Epoch | None:
        """Return the latest pass over the sampler that no iterator of a data loader reads; None if there is none."""
        unread = [epoch for epoch in self.epochs if not epoch.loader]
        return unread[-1] if unread else None

    def match(self, size: int) -> IndexBatch | None:
        """Find the draw (batch of indices) that a step has probably used: an unused one with the size of its batch.

        Later passes over the sampler are searched first. Within a pass, the draw that the data loader returned last is
        preferred, then the earliest draw.

        Args:
            size: number of records in the batch of the step.

        Returns:
            The draw; None if no unused draw has this size.
        """
        for epoch in reversed(self.epochs):
            available = epoch.available_draws()
            if epoch.loader and available and available[-1].size == size:
                return available[-1]
            for draw in available:
                if draw.size == size:
                    return draw
        return None

    def latest(self) -> IndexBatch | None:
        """Return the draw (batch of indices) that the next step is expected to use.

        In the latest pass with unused draws, it is the one that a data loader returned last, or the first one if no
        loader reads the pass.

        Returns:
            The draw; None if there is no unused draw.
        """
        for epoch in reversed(self.epochs):
            available = epoch.available_draws()
            if available:
                return available[-1] if epoch.loader else available[0]
        return None

    def _log_probability(self, size: int) -> float:
        """Return the natural logarithm of the probability that Poisson sampling draws exactly a given set of records.

        For s of n records and the sampling rate q < 1 it is s log q + (n − s) log(1 − q).

        Args:
            size: number s of records in the set.

        Returns:
            The logarithm, at most 0. It is 0 for q = 1, so that repetitions are not improbable.
        """
        rate = self.sampler.sample_rate
        records = self.sampler.num_samples
        if rate >= 1.0:
            return 0.0
        return float(size * math.log(rate) + (records - size) * math.log1p(-rate))


class RecordedSampler(UniformWithReplacementSampler):
    """Opacus' sampler of batches of indices, which also records the batches that it draws.

    The draws are the same as without the record. To watch a training run, the class of its sampler is replaced by this
    one.

    Attributes:
        epsilond_draws: the recorded batches, which are compared with those that the model reads.
    """

    epsilond_draws: Draws

    def __iter__(self) -> Iterator[list[int]]:
        return self.epsilond_draws.start(super().__iter__())

    def __reduce__(
        self,
    ) -> tuple[Callable[[dict[str, object]], UniformWithReplacementSampler], tuple[dict[str, object]]]:
        """Copy and pickle the sampler as one of Opacus' class, because no step of the run may use draws of a copy."""
        values = {name: value for name, value in self.__dict__.items() if name != "epsilond_draws"}
        return _plain_sampler, (values,)


def _plain_sampler(values: dict[str, object]) -> UniformWithReplacementSampler:
    """Make a sampler of Opacus' own class with given attributes, without calling its constructor.

    Args:
        values: attributes of the sampler by name.
    """
    sampler = UniformWithReplacementSampler.__new__(UniformWithReplacementSampler)
    sampler.__dict__.update(values)
    return sampler


def record_draws(sampler: Sampler, *, before_draw: Callable[[], None], after_draw: Callable[[], None]) -> Draws | None:
    """Start to record the batches of indices that a sampler draws, without changing them.

    The class of the sampler becomes `RecordedSampler`. If it is this class already, its record is returned.

    Args:
        sampler: batch sampler of the loader that `make_private` returned.
        before_draw: function that is called before each draw.
        after_draw: function that is called after each draw.

    Returns:
        The record; None if the sampler is not Opacus' own.
    """
    if type(sampler) is RecordedSampler:
        return sampler.epsilond_draws
    if type(sampler) is not UniformWithReplacementSampler:
        return None
    sampler.__class__ = RecordedSampler
    sampler.epsilond_draws = draws = Draws(sampler, before_draw=before_draw, after_draw=after_draw)
    return draws


def recorded_epoch(iterator: _BaseDataLoaderIter) -> tuple[Epoch, int | None] | None:
    """Find the recorded pass over the sampler from which an iterator of a data loader takes its indices.

    The result is cached as an attribute of the iterator.

    Args:
        iterator: iterator over a data loader.

    Returns:
        The pass, and the largest number of records in the parts into which Opacus' `BatchMemoryManager` splits a draw
        (None if it splits none). None if the loader's sampler is not recorded, or if other iterators read all passes.
    """
    source = iterator._sampler_iter  # noqa: SLF001  torch has no public name for it
    cached_source, cached_result = iterator.__dict__.get(_EPOCH, (None, None))
    if cached_result is not None and cached_source is source:
        return cached_result  # type: ignore[no-any-return]
    sampler = iterator._index_sampler  # noqa: SLF001  torch has no public name
    largest_part: int | None = None
    if isinstance(sampler, BatchSplittingSampler):
        largest_part = sampler.max_batch_size
        sampler = sampler.sampler
    if type(sampler) is not RecordedSampler:
        return None
    epoch = source if isinstance(source, Epoch) else sampler.epsilond_draws.latest_unread()
    if epoch is None:
        return None
    iterator.__dict__[_EPOCH] = (source, (epoch, largest_part))
    return epoch, largest_part
