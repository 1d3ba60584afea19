"""One process of a service, as a drill needs it: a book on the drill's database, with keys and a file for the head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.ledgers.drills.stores import DrillStore
from epsilond.ledgers.log import receipts
from epsilond.ledgers.log.key_files import open_keyring
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.requests import CommitAsked, OpenLedger, ReserveAsked
from epsilond.reading import read
from epsilond.storage.transactions import Database

ORIGIN: Final = "drill.example/ledgers"
TENANT: Final = "drill"
PART: Final = "mu_squared"
"""Part of the slot that a run is charged to."""
LEDGER: Final = {
    "unit": "record",
    "relation": "add-or-remove-one",
    "observer": "released-models",
    "target": {"epsilon": 1.0, "delta": 1e-6},
    "slots": [{"kind": "gdp", "capacity": "largest"}],
    "declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": False},
}
"""A ledger with one slot."""
RUN: Final = {"slot": "gdp", "spec": {"kind": "gaussian", "noise_multiplier": 100.0}}
"""A run that costs a small part of the slot."""


class DrillProcess:
    """Replacement for a process of the service in a drill, a rehearsal of a fault. It runs in this process.

    Attributes:
        database: the open database.
        book: the ledgers in the database.
        keyring: the signing keys, as they were read last.
    """

    def __init__(self, store: DrillStore, database: Database, *, has_file: bool) -> None:
        """Open the ledgers in a database of a store. A signing key is made if there is none.

        Args:
            store: store of the drill.
            database: the open database.
            has_file: whether the log is compared with its head (size and Merkle root) in a file outside the database.
        """
        self._store = store
        self._has_file = has_file
        self.database = database
        self.keyring = self._read_keys()
        file = CheckpointFile(store.head, self._keys) if has_file else None
        self.book = Book(database, self._keys, file=file)
        self.book.continuity.begin(self.book.root, self.book.sign_as_it_is)

    def open_ledger(self, name: str) -> str:
        """Open a ledger with one Gaussian slot, a privacy budget in μ².

        Args:
            name: name of the ledger and of its data set.

        Returns:
            Id of the ledger.
        """
        request = read(OpenLedger, {"name": name, "dataset": name, **LEDGER})
        ledger = self.book.open(TENANT, request, _key())
        self.keep_head()
        return ledger.id

    def commit(self, ledger: str) -> Receipt:
        """Reserve one run in a ledger and commit it, so that its budget is spent.

        Args:
            ledger: id of the ledger.

        Returns:
            The receipt. The log's head (size and Merkle root) is then in its file, if the process has one.
        """
        reservation = self.book.reserve(TENANT, [ledger], read(ReserveAsked, RUN), _key())
        answer = self.book.commit(TENANT, reservation.id, CommitAsked(), _key())
        self.keep_head()
        (receipt,) = answer["receipts"]
        return Receipt.of_record(receipt)

    def keep_head(self) -> None:
        """Write the log's head (size and Merkle root) to the file, if the process has one."""
        if self._has_file:
            self.book.continuity.keep(self.book.checkpoint(), self.book.root)

    def reconcile(self) -> None:
        """Accept the present log, although it may lack entries, as an operator of the service would."""
        self.book.continuity.accept(self.book.sign_as_it_is())

    def reload_keys(self) -> None:
        """Read the folder of keys again, as a running service does after a change of the folder."""
        self.keyring = self._read_keys()

    def _keys(self) -> SigningKeys:
        """Return the keys that sign the log at present."""
        return self.keyring

    def _read_keys(self) -> SigningKeys:
        """Read the keys from the folder of the drill; a key is made if there is none."""
        return open_keyring(self._store.keys, ORIGIN, now())


@contextmanager
def start(store: DrillStore, *, has_file: bool = True) -> Iterator[DrillProcess]:
    """Open the store of a drill as a process of the service does, as a context manager.

    Args:
        store: store of the drill.
        has_file: whether the process stores the log's head (its size and root) in a file outside the database, and
            compares the log with it. Without the file, the process must notice a restored old copy by other means.

    Yields:
        The process, with the ledgers and the keys of the drill.

    Raises:
        KeysUnusable: the folder of keys has no private key that can sign, for example because it was lost.
    """
    database = store.open()
    try:
        yield DrillProcess(store, database, has_file=has_file)
    finally:
        database.close()


def commit_once(store: DrillStore, ledger: str) -> Receipt:
    """Start a process, commit one run, and stop the process.

    Args:
        store: store of the drill.
        ledger: id of the ledger.

    Returns:
        The receipt of the commit.
    """
    with start(store) as process:
        return process.commit(ledger)


def verify(receipt: Receipt, keys: Sequence[PublicKey]) -> None:
    """Verify a receipt of a drill's log with given public keys.

    Args:
        receipt: receipt of a commit.
        keys: trusted public keys.

    Raises:
        NotVerified: the receipt is not valid under these keys.
    """
    receipts.verify(receipt, ORIGIN, keys)


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def _key() -> str:
    """Return a new random idempotency key, the name of one request."""
    return uuid4().hex
