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
    """One pass over the sampler, as an iterator over its draws.

    Attributes:
        draws: draws that no step has used yet.
        loader: whether an iterator of a data loader reads this pass.
    """

    def __init__(self, source: Draws, batches: Iterator[list[int]]) -> None:
        self.draws: list[IndexBatch] = []
        self.loader = False
        self._source = source
        self._batches = batches
        self._place = 0
        self._returned: list[IndexBatch] = []
        self._parts = 0

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> list[int]:
        self._source.before_draw()
        indices = next(self._batches)
        draw = IndexBatch(self, self._place, len(indices), self._source.sampler.sample_rate)
        self._place += 1
        self.draws.append(draw)
        self._returned.append(draw)
        self._source.record(indices)
        return indices

    def hand_out(self, batch: object, largest: int | None) -> None:
        """Take a batch that the loader returns.

        Args:
            batch: tensors of the batch.
            largest: size of the parts that a memory manager makes of a draw; None where there is none.
        """
        self.loader = True
        if not self._returned:
            return
        draw = self._returned[0]
        self._parts += 1
        if largest is None or self._parts >= math.ceil(draw.size / largest):
            self._returned.pop(0)
            self._parts = 0
            draw.handed_out = True
        self._source.contents.hand_out(batch, draw)

    def use(self, draw: IndexBatch) -> int:
        """Mark a draw as used.

        Returns:
            Number of draws of this pass that were handed out earlier and not used.
        """
        draw.used = True
        skipped = [earlier for earlier in self.draws if earlier.place < draw.place and not earlier.skipped]
        for earlier in skipped:
            earlier.skipped = True
        self.draws = [unused for unused in self.draws if not unused.used]
        return len(skipped)


class Draws:
    """All draws of one sampler.

    Attributes:
        sampler: Opacus' sampler; its class records its draws from now on.
        epochs: the latest passes over the sampler.
        alarm: the observation that the draws are not those of Opacus' sampler; None if there is none.
        contents: the batches that the loader returned.
    """

    def __init__(
        self, sampler: UniformWithReplacementSampler, *, before_draw: Callable[[], None], after_draw: Callable[[], None]
    ) -> None:
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
        """Compare a draw with all earlier ones."""
        self._after_draw()
        if self.sampler.generator is not self._generator:
            self.alarm = self.alarm or "the random generator of the sampler was replaced"
        self._count += 1
        digest = (hash(tuple(indices)), len(indices))
        if digest in self._digests and self._log_probability(len(indices)) <= -log_threshold(
            self._count, hypotheses=len(self._digests)
        ):
            self.alarm = self.alarm or f"a draw of {len(indices)} records repeats an earlier draw"
        if len(self._digests) >= _MEMORY:
            self._digests.pop(next(reversed(self._digests)))
        self._digests[digest] = None

    def start(self, batches: Iterator[list[int]]) -> Epoch:
        """Start a pass over the sampler."""
        if UniformWithReplacementSampler.__iter__ is not _ORIGINAL:
            self.alarm = self.alarm or "the method __iter__ of the sampler was replaced"
        epoch = Epoch(self, batches)
        self.epochs = [*self.epochs[1 - _EPOCHS :], epoch]
        return epoch

    def match(self, size: int) -> IndexBatch | None:
        """Return an unused draw of this size; the one that was handed out last comes first."""
        for epoch in reversed(self.epochs):
            available = [draw for draw in epoch.draws if draw.handed_out or not epoch.loader]
            latest = available[-1] if epoch.loader and available else None
            if latest is not None and latest.size == size:
                return latest
            for draw in available:
                if draw.size == size:
                    return draw
        return None

    def latest(self) -> IndexBatch | None:
        """Return the unused draw that was handed out last, of any size."""
        for epoch in reversed(self.epochs):
            available = [draw for draw in epoch.draws if draw.handed_out or not epoch.loader]
            if available:
                return available[-1] if epoch.loader else available[0]
        return None

    def _log_probability(self, size: int) -> float:
        """Return the log-probability of one batch of this size."""
        rate, records = self.sampler.sample_rate, self.sampler.num_samples
        if rate >= 1.0:
            return 0.0
        return float(size * math.log(rate) + (records - size) * math.log1p(-rate))


class RecordedSampler(UniformWithReplacementSampler):
    """Opacus' sampler with a record of its draws. Samplers of a watched run get this class in place of Opacus'."""

    epsilond_draws: Draws

    def __iter__(self) -> Iterator[list[int]]:
        return self.epsilond_draws.start(super().__iter__())

    def __reduce__(
        self,
    ) -> tuple[Callable[[dict[str, object]], UniformWithReplacementSampler], tuple[dict[str, object]]]:
        """Return the sampler without its record, because a copy draws batches that no step of the run may use."""
        values = {name: value for name, value in self.__dict__.items() if name != "epsilond_draws"}
        return _plain_sampler, (values,)


def _plain_sampler(values: dict[str, object]) -> UniformWithReplacementSampler:
    """Return a sampler of Opacus with these attributes."""
    sampler = UniformWithReplacementSampler.__new__(UniformWithReplacementSampler)
    sampler.__dict__.update(values)
    return sampler


def record_draws(sampler: Sampler, *, before_draw: Callable[[], None], after_draw: Callable[[], None]) -> Draws | None:
    """Record the draws of a sampler from now on.

    Args:
        sampler: batch sampler of the loader that `make_private` returned.
        before_draw: called before each draw.
        after_draw: called after each draw.

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
    """Return the pass over a recorded sampler that an iterator of a data loader reads, and the size of its parts.

    Returns:
        None if the loader's sampler is not recorded.
    """
    source = iterator._sampler_iter  # noqa: SLF001  torch has no public name for it
    reader, reading = iterator.__dict__.get(_EPOCH, (None, None))
    if reading is not None and reader is source:
        return reading  # type: ignore[no-any-return]
    sampler, largest = iterator._index_sampler, None  # noqa: SLF001  as above
    if isinstance(sampler, BatchSplittingSampler):
        sampler, largest = sampler.sampler, sampler.max_batch_size
    if type(sampler) is not RecordedSampler:
        return None
    unread = [epoch for epoch in sampler.epsilond_draws.epochs if not epoch.loader]
    epoch = source if isinstance(source, Epoch) else unread[-1] if unread else None
    if epoch is None:
        return None
    iterator.__dict__[_EPOCH] = (source, (epoch, largest))
    return epoch, largest
