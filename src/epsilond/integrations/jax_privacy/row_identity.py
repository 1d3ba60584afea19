"""Whether the rows of a run are those of the records that its sampler drew."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

_MORE: Final = 1.02
"""Largest number of different rows for each different record, where rows are copies of records."""
_FEWER: Final = 0.9
"""Least number of different rows for each different record, where few records are equal."""
_STUCK: Final = 0.5
"""Largest number of different rows for each different record that counts as too few, and ..."""
_VALUES: Final = 0.63
"""... largest number of values for each record that equal records then have: 0.63 (1 − e^(−1/0.63)) = 0.5, and ..."""
_EXPECTED: Final = 60.0
"""... least number of pairs of equal rows that batches of such records are expected to have, ..."""
_SEEN: Final = 15
"""... and largest number that excludes them: at most 15 pairs where 60 are expected have probability 1e-11."""


class RowIdentity:
    """Checks that the rows from which gradients are computed are copies of the records that the sampler drew.

    It counts the different records so far and the different rows. Both numbers agree if each row is a copy of its
    record. There are fewer rows if the program uses the same rows in each step, and more rows if augmentation changes
    them. The order of the rows in a batch does not matter.

    Attributes:
        alarm: sentence about rows that repeat in each step, for the caller; None if they do not.
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
            Whether the numbers of different rows and records so far agree, within 10 % below and 2 % above.
        """
        different = set(rows.tolist())
        self._records.update(records.tolist())
        self._rows |= different
        self._repeated += len(rows) - len(different)
        self._pairs += len(rows) * (len(rows) - 1) // 2
        if not self._records:
            return True
        ratio = len(self._rows) / len(self._records)
        expected = self._pairs / (_VALUES * len(self._records))
        if ratio < _STUCK and expected >= _EXPECTED and self._repeated <= _SEEN:
            counts = f"{len(self._rows)} different rows for {len(self._records)} different records"
            self.alarm = self.alarm or f"the gradient function saw the same rows again and again: {counts}"
        return _FEWER <= ratio <= _MORE
