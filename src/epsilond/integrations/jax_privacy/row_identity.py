"""Whether the rows of a run are those of the records that its sampler drew."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

_LARGEST_RATIO: Final = 1.02
"""Largest number of different rows for each different record, where rows are copies of records."""
_LEAST_RATIO: Final = 0.9
"""Least number of different rows for each different record, where few records are equal."""
_REPEATING_RATIO: Final = 0.5
"""Number of different rows for each different record below which either rows repeat or many records are equal."""
_VALUES_PER_RECORD: Final = 0.63
"""Number v of different values for each record at which equal records explain this ratio: v (1 − e^(−1/v)) = 0.5."""
_LEAST_EXPECTED_PAIRS: Final = 60.0
"""Expected number of pairs of equal rows, if many records are equal, from which the observed number is compared."""
_MOST_OBSERVED_PAIRS: Final = 15
"""Number of pairs that excludes equal records: at most 15 where 60 are expected have probability 1e-11."""


class RowIdentity:
    """Checks that the rows from which gradients are computed are copies of the records that the sampler drew.

    It counts the different records and the different rows so far. Both numbers agree if each row is a copy of its
    record. There are fewer rows if the program uses the same rows in each step, and more rows if augmentation changes
    them. The order of the rows in a batch does not matter.

    Attributes:
        alarm: statement that the same rows were used in each step; None if this was not observed.
    """

    def __init__(self) -> None:
        self.alarm: str | None = None
        self._records: set[int] = set()
        self._rows: set[int] = set()
        self._repeated = self._pairs = 0

    def observe(self, records: NDArray[np.int64], rows: NDArray[np.uint64]) -> bool:
        """Count the records and the rows of the next batch, and set `alarm` if the same rows were used again and again.

        Args:
            records: indices of the records that the sampler drew.
            rows: fingerprints of the rows from which gradients were computed.

        Returns:
            Whether the numbers of different rows and of different records so far agree: 0.9 to 1.02 rows for each
            record. True without any record.
        """
        different_rows = set(rows.tolist())
        self._records.update(records.tolist())
        self._rows |= different_rows
        self._repeated += len(rows) - len(different_rows)
        self._pairs += len(rows) * (len(rows) - 1) // 2  # pairs of rows within the batch
        if not self._records:
            return True
        ratio = len(self._rows) / len(self._records)
        if ratio < _REPEATING_RATIO and not self._may_have_equal_records():
            counts = f"{len(self._rows)} different rows for {len(self._records)} different records"
            self.alarm = self.alarm or f"the gradient function saw the same rows again and again: {counts}"
        return _LEAST_RATIO <= ratio <= _LARGEST_RATIO

    def _may_have_equal_records(self) -> bool:
        """Return whether few different rows may be due to equal records instead of rows that repeat in each step.

        If records had only `_VALUES_PER_RECORD` values for each record, batches would contain equal rows. Two rows of a
        batch are equal with probability at least 1 over the number of values.
        """
        expected_pairs = self._pairs / (_VALUES_PER_RECORD * len(self._records))
        return expected_pairs < _LEAST_EXPECTED_PAIRS or self._repeated > _MOST_OBSERVED_PAIRS
