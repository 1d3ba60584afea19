"""Cache of the parts of answers about ledgers that take long to compute."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from epsilond.ledgers.book.promises.ledger import LedgerPromise
from epsilond.ledgers.store.records import LedgerRow

KEPT_PROMISES: Final = 256
"""Largest number of versions of ledgers whose values are cached."""


class PromiseCache:
    """Cache of those parts of answers about ledgers that take long to compute: conditions, privacy curve, certificate.

    The key is the id and the version of the ledger. Each change of a ledger gives it a new version, so that a cached
    value never is out of date.
    """

    def __init__(self) -> None:
        self._promises: OrderedDict[tuple[str, int], LedgerPromise] = OrderedDict()

    def get(self, row: LedgerRow) -> LedgerPromise | None:
        """Return the cached value of a version of a ledger.

        Args:
            row: stored fields of the ledger, with its id and version.

        Returns:
            The cached value; None if there is none.
        """
        return self._promises.get((row.id, row.version))

    def store(self, row: LedgerRow, promise: LedgerPromise) -> None:
        """Store the value of a version of a ledger. Beyond `KEPT_PROMISES` values, the one stored first is dropped.

        Args:
            row: stored fields of the ledger, with its id and version.
            promise: conditions, privacy curve and certificate of the ledger.
        """
        self._promises[row.id, row.version] = promise
        while len(self._promises) > KEPT_PROMISES:
            self._promises.popitem(last=False)
