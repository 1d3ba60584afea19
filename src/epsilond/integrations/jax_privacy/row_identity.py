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
    """Compares the number of different rows so far with the number of different records that were drawn.

    Both grow equally if each row is a copy of its record. They differ if the rows are those of another loader, the same
    ones in each step, or changed by augmentation. No order of rows in a batch is assumed.

    Attributes:
        alarm: the observation; None if the rows are consistent with the records.
    """

    def __init__(self) -> None:
        self.alarm: str | None = None
        self._records: set[int] = set()
        self._rows: set[int] = set()
        self._repeated = self._pairs = 0

    def observe(self, records: NDArray[np.int64], rows: NDArray[np.uint64]) -> bool:
        """Take the records of the next batch and the fingerprints of its rows.

        Returns:
            Whether the rows so far are copies of the records.
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
