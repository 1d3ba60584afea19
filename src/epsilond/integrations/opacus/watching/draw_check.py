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
"""Number of first forward passes on a device with inputs compared by value."""

_DEVICE_INTERVAL: Final = 16
"""Number of later forward passes on a device for each one with inputs compared by value."""

_LOOP_REMEDY: Final = (
    "Loop over the loader that make_private returned, and take one step for each whole batch; "
    "split large batches with BatchMemoryManager."
)


class DrawCheck:
    """A check that each optimizer step uses one draw of the sampler (a batch of indices), and each draw only once.

    Attributes:
        draws: draws of the loader; None if the loader is not known or its sampler is not Opacus' own.
        records: number of records of a loader that returns all of them in each batch; None for other loaders.
        explanation: reason why the draws are not observed, for the case that they are not.
    """

    def __init__(self, reporter: Reporter, loader: DataLoader | None) -> None:
        """Start the check of a run's batches, before the first step.

        Args:
            reporter: collects deviations from the recorded steps.
            loader: the loader that `make_private` returned; None if it is not known.
        """
        self.draws: Draws | None = None
        self.records: int | None = None
        self.explanation = "the sampling rate was typed, and the loader is not known"
        self._reporter = reporter
        self._loader = weakref.ref(loader) if loader is not None else None
        self._sizes = BatchSizes()
        self._waiting_sizes: list[tuple[int, int, float]] = []
        self._forward_passes = 0
        # Since the last step: batches that the model read, whether all inputs were compared by value, and whether the
        # model read data that no batch contains.
        self._read: list[HandedBatch] = []
        self._all_compared = True
        self._read_other_data = False

    def see_forward(self, inputs: list[object], *, starts_rows: Callable[[], bool]) -> None:
        """Record which batch of the loader a model reads in a forward pass, and whether it reads other data.

        Args:
            inputs: arguments of the model, which is in training mode.
            starts_rows: returns whether this is the first forward pass since the last optimizer step.
        """
        if self.draws is None:
            return
        by_value = self._compares_values(inputs)
        batch, reads_other_data = self.draws.contents.recognise(inputs, by_value=by_value)

        # Data that were read before the last step do not matter for the present one.
        if self._read_other_data and starts_rows():
            self._read_other_data = False
        if reads_other_data:
            self._read_other_data = True

        if batch is not None:
            is_new = all(batch is not earlier for earlier in self._read)
            if is_new:
                self._read.append(batch)
        elif not by_value:
            # The inputs may be a copy of a batch, as their values were not compared.
            self._all_compared = False
        elif has_numbers(inputs):
            # The values were compared with the batches, and agree with none of them.
            self._read_other_data = True

    def _compares_values(self, inputs: list[object]) -> bool:
        """Count a forward pass, and decide whether its inputs are compared with the batches by value.

        The comparison is slow on a device such as a GPU. There it is done in the first passes, and then at intervals.

        Args:
            inputs: arguments of the model.

        Returns:
            True if all tensors are on the CPU. Otherwise true in the first `_DEVICE_LOOKS` passes and in every
            `_DEVICE_INTERVAL`-th pass.
        """
        self._forward_passes += 1
        is_first = self._forward_passes <= _DEVICE_LOOKS
        if is_first or self._forward_passes % _DEVICE_INTERVAL == 0:
            return True
        return all(tensor.device.type == "cpu" for tensor in inputs if isinstance(tensor, torch.Tensor))

    # Steps ------------------------------------------------------------------------------------------------------------
    def check_draw(self, rows: ClippedRows, rate: float) -> bool:
        """Check that a step used one draw of the sampler, a batch of indices, which no other step used.

        A deviation is reported. If the loader's sampler is not known, only the size of the batch is checked. The result
        is then False, except for batches of all records.

        Args:
            rows: the per-sample gradients that the step summed.
            rate: sampling rate of one batch for which the privacy loss is computed.

        Returns:
            True if the step was observed to use such a draw.
        """
        # Batches that the model has read: those that no step has used before, and whether there are others.
        fresh, reads_used = self._take_batches()
        draws = self.draws
        if draws is None:
            return self._check_size(rows.count, rate)
        self._observe_size(rows.count, draws.sampler.num_samples, draws.sampler.sample_rate)

        # If the model's batch does not show the draw, the size of the batch may.
        draw = _only_unused_draw(fresh) or draws.match(rows.count)
        if draw is None or draw.size != rows.count:
            self._report_mismatch(draw or draws.latest(), rows.count)
            return False
        is_next = self._is_next_draw(draws, draw, rows, rate)
        return is_next and self._is_read(rows, fresh, reads_used=reads_used)

    def check_rows(self, rows: ClippedRows) -> bool:
        """Check that each record of the batch gave exactly one gradient of the sum, and report a deviation.

        The noise covers one clipped gradient of each record. Two gradients of one record would have twice the
        influence.

        Args:
            rows: the per-sample gradients that the step summed.

        Returns:
            True if one gradient of each record was observed. False also if the observation is not possible.
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
        """Test the sizes of the batches since the last test, and report sizes that Poisson sampling does not give."""
        sizes = self._waiting_sizes
        self._waiting_sizes = []
        for size, records, rate in sizes:
            alarm = self._test_size(size, records, rate)
            if alarm is not None:
                self._reporter.contradict(FRESH_DRAW, "sizes", alarm, remedy=_LOOP_REMEDY)

    def _test_size(self, size: int, records: int, rate: float) -> str | None:
        """Test the size of a batch, and return the alarm that it raises.

        Args:
            size: number of records in the batch.
            records: number of records in the data set.
            rate: sampling rate of the draw.

        Returns:
            The alarm as a sentence. None if there is none, or if an earlier batch raised one.
        """
        if self._sizes.alarm is not None:
            return None
        self._sizes.observe(size, records=records, rate=rate)
        return self._sizes.alarm

    # Parts of the check -----------------------------------------------------------------------------------------------
    def _take_batches(self) -> tuple[list[HandedBatch], bool]:
        """Return the batches that the model has read since the last step, and mark them as used by this step.

        If the model read only batches of earlier steps, this is reported as a contradiction.

        Returns:
            The batches that no earlier step used, and whether the model also read batches that an earlier step used.
        """
        fresh = [batch for batch in self._read if not batch.used]
        reads_used = len(fresh) < len(self._read)
        for batch in self._read:
            batch.used = True
        self._read = []

        if reads_used and not fresh:
            self._reporter.contradict(
                FRESH_DRAW,
                "reused",
                "the model read a batch that an earlier step had used",
                remedy="Use each batch of the returned loader for one step.",
            )
        return fresh, reads_used

    def _report_mismatch(self, draw: IndexBatch | None, rows: int) -> None:
        """Report that a step has no draw, or a draw with another number of records than it summed gradients.

        The amplification by sampling holds only if each step uses the records of a fresh draw.

        Args:
            draw: the draw that the step has probably used; None if there is none. It is marked as used.
            rows: number of per-sample gradients that the step summed.
        """
        if draw is None:
            message = "a step used a batch that the returned loader did not hand out for it"
            self._reporter.contradict(FRESH_DRAW, "no-draw", message, remedy=_LOOP_REMEDY)
        else:
            draw.epoch.use(draw)
            message = f"a step summed {rows} per-sample gradients, and its batch has {draw.size} records"
            self._reporter.contradict(ROWS, "rows", message, remedy=_LOOP_REMEDY)

    def _is_next_draw(self, draws: Draws, draw: IndexBatch, rows: ClippedRows, rate: float) -> bool:
        """Check that a draw (batch of indices) has the recorded sampling rate and comes next in order.

        The first deviation is reported.

        Args:
            draws: all draws of the loader's sampler.
            draw: the draw of the step, which is marked as used.
            rows: the per-sample gradients that the step summed.
            rate: recorded sampling rate of one batch.

        Returns:
            True if there is no deviation.
        """
        report = self._reporter
        skipped = draw.epoch.use(draw)

        # The rate of the draw must not exceed the recorded one, for all batches that the step summed.
        passes_per_batch = rows.passes / max(rows.calls, 1)
        if draw.rate > rate * passes_per_batch * (1.0 + _RELATIVE):
            message = f"the sampler drew at rate {draw.rate:.6g}, and the record has {rate:.6g}"
            remedy = "Call make_private again after a change of the sampler, and leave the hook as it was attached."
            report.contradict(FRESH_DRAW, "rate", message, remedy=remedy)
            return False

        # The sampler must have drawn as expected, from a data set of constant length.
        if draws.alarm is not None:
            remedy = "Leave the sampler of the returned loader and its random generator alone."
            report.contradict(FRESH_DRAW, "draws", draws.alarm, remedy=remedy)
            return False
        loader = self._loader() if self._loader is not None else None
        if loader is not None and len(loader.dataset) != draws.sampler.num_samples:
            report.rest_on_caller(FRESH_DRAW, "the data set changed its length during the run")
            return False

        # No earlier draw of the same pass may have been left out.
        if skipped:
            reason = "batches were skipped, or used in another order than they were drawn"
            report.rest_on_caller(FRESH_DRAW, reason)
        return not skipped

    def _is_read(self, rows: ClippedRows, fresh: list[HandedBatch], *, reads_used: bool) -> bool:
        """Check that the model read the batch of the step and no further data.

        If further data were read, the caller must vouch for the draw. The observations of the forward passes are
        cleared for the next step.

        Args:
            rows: the per-sample gradients that the step summed.
            fresh: batches that the model read, and that no earlier step used.
            reads_used: whether the model also read a batch of an earlier step.

        Returns:
            False if the model was observed to read data outside the batch.
        """
        all_compared = self._all_compared
        read_other_data = self._read_other_data
        self._all_compared = True
        self._read_other_data = False

        if reads_used:
            if fresh:  # otherwise `_take_batches` has reported the batch
                reason = "the model read a batch of an earlier step next to the present one"
                self._reporter.rest_on_caller(FRESH_DRAW, reason)
            return False
        if fresh and read_other_data:
            reason = "the model read other inputs next to the batch"
            self._reporter.rest_on_caller(FRESH_DRAW, reason)
            return False

        reads_no_batch = all_compared and not fresh
        if rows.count and reads_no_batch:
            reason = "the model read inputs that the loop computed from the batch"
            self._reporter.rest_on_caller(FRESH_DRAW, reason)
            return False
        return True

    def _check_size(self, rows: int, rate: float) -> bool:
        """Check the size of a batch if the sampler is not known.

        For a loader that returns all records, and a rate of 1, the size must be the number of records. For a rate below
        1 the size is tested against Poisson sampling. A passed test does not prove that the batch was drawn at random.
        So the report then says that the user of the run must declare it.

        Args:
            rows: number of per-sample gradients that the step summed.
            rate: sampling rate of one batch for which the privacy loss is computed.

        Returns:
            True if the batch was observed to have all records.
        """
        if rate >= 1.0 and self.records is not None:
            self._observe_size(rows, self.records, 1.0)
            return rows == self.records
        if rows and rate < 1.0:
            # The number of records is not known. The observed size is most probable for this number.
            likely_records = max(rows, int(rows / rate))
            self._observe_size(rows, likely_records, rate)
        self._reporter.rest_on_caller(FRESH_DRAW, self.explanation)
        return False

    def _observe_size(self, size: int, records: int, rate: float) -> None:
        """Store the size of a batch for the test of Poisson sampling, and run the test once `_CHUNK` sizes are stored.

        Args:
            size: number of records in the batch.
            records: number of records in the data set. If it is 0, nothing is tested.
            rate: sampling rate of the draw.
        """
        if records > 0:
            self._waiting_sizes.append((size, records, rate))
        if len(self._waiting_sizes) >= _CHUNK:
            self.flush()


def _only_unused_draw(batches: list[HandedBatch]) -> IndexBatch | None:
    """Return the draw to which all batches belong, if no optimizer step has used it.

    Args:
        batches: batches that the model has read.

    Returns:
        The draw; None if it was used, if the batches belong to several draws or to none, or if there is no batch.
    """
    draws = {id(batch.draw): batch.draw for batch in batches}
    if len(draws) != 1:
        return None
    (draw,) = draws.values()
    if draw is None or draw.used:
        return None
    return draw
