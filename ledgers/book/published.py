"""The public part of a log, for auditors: its signed head, proofs, roots and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from epsilond.ledgers.book.continuity import Continuity, roots
from epsilond.ledgers.book.desk import Desk
from epsilond.ledgers.book.errors import HeadUnavailable, NotFound, NotReconciled
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.store import entries, owners
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.transactions import looking
from epsilond.storage.transactions import Database


class PublishedLog:
    """Reader of the log of all ledgers in a database: its signed head, its proofs and its keys.

    Everything is for auditors, who trust only the keys. The methods may be called in any thread.

    Attributes:
        continuity: heads (size and Merkle root) of the log that are known from earlier; the log must continue them.
    """

    def __init__(
        self, database: Database, keyring: Callable[[], SigningKeys], desk: Desk, continuity: Continuity
    ) -> None:
        """Read the log in a database.

        Args:
            database: holds the ledgers and the log.
            keyring: returns the present signing keys of the log.
            desk: reads rows of the log, and signs heads and receipts.
            continuity: heads of the log that are known from earlier.
        """
        self._database = database
        self._keyring = keyring
        self._desk = desk
        self.continuity = continuity

    @contextmanager
    def _continuous_log(self) -> Iterator[Connection]:
        """Open a connection after checking that the log has lost no entries, as a context manager.

        The known heads are read before the log, so that a log that grows meanwhile still continues them.

        Yields:
            The connection, with which the log is read at one moment.

        Raises:
            NotReconciled: the log does not continue a head (size and Merkle root) that was signed before. Nothing may
                then be signed.
            HeadUnavailable: the file with a head outside the database cannot be read.
        """
        heads = self.continuity.known_heads()
        with looking(self._database) as connection:
            self.continuity.require(heads, roots(StoredNodes(connection), entries.size(connection)))
            yield connection

    def _signed_size(self, connection: Connection) -> int:
        """Return the number of entries of the log with the head (size, Merkle root) that the caller is about to sign.

        The head is noted in `continuity`: from now on the log must continue it.

        Args:
            connection: connection to read on.

        Returns:
            The number of entries.
        """
        size = entries.size(connection)
        self.continuity.see(self._desk.unsigned_head(connection, size))
        return size

    def require_continued(self) -> None:
        """Check that the log continues every head (size and Merkle root) of it that is known from earlier.

        Raises:
            NotReconciled: the log has lost or changed entries.
            HeadUnavailable: the file with a head outside the database cannot be read.
        """
        with self._continuous_log():
            pass

    def find_trouble(self) -> str | None:
        """Return why the log cannot be trusted at present.

        Returns:
            A sentence if the log lacks entries that it had before, or if this cannot be checked; otherwise None.
        """
        try:
            self.require_continued()
        except (HeadUnavailable, NotReconciled) as trouble:
            return str(trouble)
        return None

    def checkpoint(self) -> str:
        """Return the log's signed head: its number of entries and its Merkle root.

        Returns:
            Text of a signed note.

        Raises:
            NotReconciled: the log does not continue a head that is known from earlier.
            HeadUnavailable: the file with a head outside the database cannot be read.
        """
        with self._continuous_log() as connection:
            return self._desk.head(connection, self._signed_size(connection))

    def sign_as_it_is(self) -> str:
        """Return the log's signed head without comparing it with heads that are known from earlier.

        It is for an operator who accepts a log that may have lost entries.

        Returns:
            Text of a signed note with the number of entries and the Merkle root.
        """
        with looking(self._database) as connection:
            return self._desk.head(connection, entries.size(connection))

    def inclusion(self, tenant: str, seq: int) -> Receipt:
        """Return the receipt of a log entry: the proof that the log contains it, with the log's signed head.

        A receipt can be verified without the service, with the public keys of the log.

        Args:
            tenant: owner of the entry's ledger.
            seq: number of the entry in the log.

        Returns:
            The receipt: entry, inclusion proof, signed head of the log, and signature.

        Raises:
            NotFound: there is no such entry of this tenant.
            NotReconciled: the log lacks entries that it had before.
            HeadUnavailable: the file with a head outside the database cannot be read.
        """
        with self._continuous_log() as connection:
            row = entries.get(connection, seq)
            if row is None or row.ledger is None:
                raise NotFound(str(seq))
            if owners.organisations_of(connection, [row.ledger]) != {tenant}:  # of another owner
                raise NotFound(str(seq))
            return self._desk.receipt(connection, row, self._signed_size(connection))

    def consistency(self, earlier: int, later: int | None = None) -> Consistency:
        """Return the proof that the log of `earlier` entries is the beginning of the log of `later` entries (RFC 9162).

        A reader who kept an earlier head of the log can check with it that no entry was changed or removed.

        Args:
            earlier: number of entries of the earlier log.
            later: number of entries of the later log; None means the present log.

        Returns:
            The proof: both sizes, and hashes of subtrees of the log's Merkle tree.

        Raises:
            NotFound: not 0 ≤ `earlier` ≤ `later` ≤ the log's number of entries.
        """
        with looking(self._database) as connection:
            size = entries.size(connection)
            later_size = size if later is None else later
            if not 0 <= earlier <= later_size <= size:
                raise NotFound(str(earlier))
            return Consistency.of(Tree(StoredNodes(connection), later_size), earlier)

    def root(self, size: int) -> bytes | None:
        """Return the Merkle root of the first entries of the log.

        Args:
            size: number of these entries.

        Returns:
            The root, 32 bytes. None if the log has fewer entries, or if the number is negative.
        """
        with looking(self._database) as connection:
            if not 0 <= size <= entries.size(connection):
                return None
            return Tree(StoredNodes(connection), size).root()

    @property
    def keyring(self) -> SigningKeys:
        """The keys that sign and that have signed."""
        return self._keyring()
