"""Whether each step used a draw of its own, with one row for each record."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

import torch

from epsilond.integrations.opacus.watching.contents import has_numbers
from epsilond.runs.batch_sizes import BatchSizes
from epsilond.runs.premises import FRESH_DRAW, ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.utils.data import DataLoader

    from epsilond.integrations.opacus.watching.contents import HandedBatch, IndexBatch
    from epsilond.integrations.opacus.watching.draws import Draws
    from epsilond.integrations.opacus.watching.reporting import Reporter
    from epsilond.integrations.opacus.watching.rows import ClippedRows

_RELATIVE: Final = 1e-9
"""Relative tolerance of sampling rates, which Opacus computes as reciprocals."""

_CHUNK: Final = 16
"""Sizes of batches that are tested together, because tests one by one cost more time."""

_DEVICE_LOOKS: Final = 3
"""Number of first forward passes on a device with inputs compared by value; later ones are compared once in 16."""

_LOOP_REMEDY: Final = (
    "Loop over the loader that make_private returned, and take one step for each whole batch; "
    "split large batches with BatchMemoryManager."
)


class DrawCheck:
    """Checks that each optimizer step uses one draw of the sampler (a batch of indices), and each draw only once.

    Args:
        reporter: takes contradictions of the recorded run.
        loader: the loader that `make_private` returned; None if it is not known.

    Attributes:
        draws: draws of the loader; None if the loader is not known or its sampler not Opacus' own.
        records: number of records of a loader that returns all of them in each batch; None for other loaders.
        explanation: why the draws are not observed, where they are not.
    """

    def __init__(self, reporter: Reporter, loader: DataLoader | None) -> None:
        self.draws: Draws | None = None
        self.records: int | None = None
        self.explanation = "the sampling rate was typed, and the loader is not known"
        self._reporter = reporter
        self._loader = weakref.ref(loader) if loader is not None else None
        self._sizes = BatchSizes()
        self._waiting: list[tuple[int, int, float]] = []
        self._handed: list[HandedBatch] = []
        self._compared = True
        self._unknown = False
        self._looks = 0

    def see_forward(self, inputs: list[object], *, starts_rows: Callable[[], bool]) -> None:
        """Note which batch of the loader the model reads in a forward pass, and whether it reads other data too.

        Args:
            inputs: arguments of the model, which is in training mode.
            starts_rows: returns whether this is the first forward pass since the last optimizer step.
        """
        if self.draws is None:
            return
        by_value = self._compares_values(inputs)
        handed, foreign = self.draws.contents.recognise(inputs, by_value=by_value)
        self._unknown = (self._unknown and not starts_rows()) or foreign
        if handed is None:
            self._compared = self._compared and by_value
            self._unknown = self._unknown or (by_value and has_numbers(inputs))
        elif all(handed is not earlier for earlier in self._handed):
            self._handed.append(handed)

    def _compares_values(self, inputs: list[object]) -> bool:
        self._looks += 1
        if self._looks <= _DEVICE_LOOKS or self._looks % 16 == 0:
            return True
        return all(tensor.device.type == "cpu" for tensor in inputs if isinstance(tensor, torch.Tensor))

    # Steps ------------------------------------------------------------------------------------------------------------
    def shows_draw(self, rows: ClippedRows, rate: float) -> bool:
        """Return whether a step used a draw of the sampler that no other step used. Deviations are reported.

        If the loader's sampler is not known, only the size of the batch is checked, and the result is False, except for
        batches of all records.

        Args:
            rows: the per-sample gradients that the step summed.
            rate: recorded sampling rate of one batch.
        """
        fresh, used = self._read_batches()
        if self.draws is None:
            return self._shows_size(rows.count, rate)
        sampler = self.draws.sampler
        self._observe_size(rows.count, sampler.num_samples, sampler.sample_rate)
        draw = _draw_of(fresh) or self.draws.match(rows.count)
        if not self._matches(draw, rows.count) or draw is None:
            return False
        return self._is_regular(draw, rows, rate) and self._is_read(rows, fresh, used)

    def shows_rows(self, rows: ClippedRows) -> bool:
        """Return whether each record of the batch gave exactly one gradient of the sum. Deviations are reported.

        Args:
            rows: the per-sample gradients that the step summed.
        """
        if rows.unequal:
            self._reporter.contradict(
                ROWS,
                "unequal",
                "parameters had different numbers of per-sample gradients in one step",
                remedy="Let each record pass through each layer, and keep the records in the first dimension.",
            )
            return False
        if rows.passes > max(rows.calls, 1):
            message = f"one step summed the gradients of {rows.passes} backward passes"
            self._reporter.contradict(ROWS, "accumulated", message, remedy=_LOOP_REMEDY)
            return False
        if rows.rewritten:
            reason = "the loop changed per-sample gradients between the backward pass and the clipping"
            self._reporter.rest_on_caller(ROWS, reason)
            return False
        return rows.calls > 0 and (self.draws is not None or rows.count == self.records)

    def flush(self) -> None:
        """Test the sizes of batches that wait."""
        waiting, self._waiting = self._waiting, []
        for size, records, rate in waiting:
            alarm = self._test_size(size, records, rate)
            if alarm is not None:
                self._reporter.contradict(FRESH_DRAW, "sizes", alarm, remedy=_LOOP_REMEDY)

    def _test_size(self, size: int, records: int, rate: float) -> str | None:
        """Return the alarm that the size of a batch raises; None if there is none, or an earlier one."""
        if self._sizes.alarm is not None:
            return None
        self._sizes.observe(size, records=records, rate=rate)
        return self._sizes.alarm

    # Parts of the check -----------------------------------------------------------------------------------------------
    def _read_batches(self) -> tuple[list[HandedBatch], bool]:
        """Take the batches that the model has read since the last step, and mark them as used.

        If the model read only batches of earlier steps, this is reported.

        Returns:
            The batches that no earlier step used, and whether the model also read batches of earlier steps.
        """
        fresh = [candidate for candidate in self._handed if not candidate.used]
        used = len(fresh) < len(self._handed)
        for handed in self._handed:
            handed.used = True
        self._handed = []
        if used and not fresh:
            self._reporter.contradict(
                FRESH_DRAW,
                "reused",
                "the model read a batch that an earlier step had used",
                remedy="Use each batch of the returned loader for one step.",
            )
        return fresh, used

    def _matches(self, draw: IndexBatch | None, rows: int) -> bool:
        """Return whether the draw of a step has as many records as the step summed gradients. Otherwise report it.

        Args:
            draw: the draw that the model read; if None, the latest unused one.
            rows: number of per-sample gradients that the step summed.
        """
        assert self.draws is not None
        draw = draw or self.draws.latest()
        if draw is None:
            message = "a step used a batch that the returned loader did not hand out for it"
            self._reporter.contradict(FRESH_DRAW, "no-draw", message, remedy=_LOOP_REMEDY)
            return False
        if draw.size == rows:
            return True
        draw.epoch.use(draw)
        message = f"a step summed {rows} per-sample gradients, and its batch has {draw.size} records"
        self._reporter.contradict(ROWS, "rows", message, remedy=_LOOP_REMEDY)
        return False

    def _is_regular(self, draw: IndexBatch, rows: ClippedRows, rate: float) -> bool:
        """Return whether a draw has the recorded sampling rate and comes next in order. Otherwise report the reason.

        Args:
            draw: the draw of the step, which is marked as used.
            rows: the per-sample gradients that the step summed.
            rate: recorded sampling rate of the step.
        """
        assert self.draws is not None
        draws = self.draws
        report = self._reporter
        skipped = draw.epoch.use(draw)
        if draw.rate > rate * rows.passes / max(rows.calls, 1) * (1.0 + _RELATIVE):
            message = f"the sampler drew at rate {draw.rate:.6g}, and the record has {rate:.6g}"
            remedy = "Call make_private again after a change of the sampler, and leave the hook as it was attached."
            report.contradict(FRESH_DRAW, "rate", message, remedy=remedy)
            return False
        if draws.alarm is not None:
            remedy = "Leave the sampler of the returned loader and its random generator alone."
            report.contradict(FRESH_DRAW, "draws", draws.alarm, remedy=remedy)
            return False
        loader = self._loader() if self._loader is not None else None
        if loader is not None and len(loader.dataset) != draws.sampler.num_samples:
            report.rest_on_caller(FRESH_DRAW, "the data set changed its length during the run")
            return False
        if skipped:
            reason = "batches were skipped, or used in another order than they were drawn"
            report.rest_on_caller(FRESH_DRAW, reason)
        return not skipped

    def _is_read(self, rows: ClippedRows, fresh: list[HandedBatch], used: bool) -> bool:
        """Return whether the model read the batch of the step and no other data. Otherwise report it.

        The notes of the forward passes are cleared, for the next step.

        Args:
            rows: the per-sample gradients that the step summed.
            fresh: batches that the model read, and that no earlier step used.
            used: whether the model also read a batch of an earlier step.
        """
        compared = self._compared
        unknown = self._unknown
        self._compared = True
        self._unknown = False
        if used and fresh:
            reason = "the model read a batch of an earlier step next to the present one"
            self._reporter.rest_on_caller(FRESH_DRAW, reason)
        elif rows.count and compared and not fresh and not used:
            reason = "the model read inputs that the loop computed from the batch"
            self._reporter.rest_on_caller(FRESH_DRAW, reason)
        elif fresh and unknown:
            reason = "the model read other inputs next to the batch"
            self._reporter.rest_on_caller(FRESH_DRAW, reason)
            return False
        return not used and (bool(fresh) or not rows.count or not compared)

    def _shows_size(self, rows: int, rate: float) -> bool:
        """Check the size of a batch of an unknown sampler."""
        if rate >= 1.0 and self.records is not None:
            self._observe_size(rows, self.records, 1.0)
            return rows == self.records
        if rows and rate < 1.0:  # the most probable size at the number of records rows / rate, whatever the true number
            self._observe_size(rows, max(rows, int(rows / rate)), rate)
        self._reporter.rest_on_caller(FRESH_DRAW, self.explanation)
        return False

    def _observe_size(self, size: int, records: int, rate: float) -> None:
        if records > 0:
            self._waiting.append((size, records, rate))
        if len(self._waiting) >= _CHUNK:
            self.flush()


def _draw_of(handed: list[HandedBatch]) -> IndexBatch | None:
    """Return the unused draw of these batches; None if they belong to several draws or to none."""
    draws = {id(batch.draw): batch.draw for batch in handed}
    if len(draws) != 1:
        return None
    draw = next(iter(draws.values()))
    return None if draw is None or draw.used else draw
