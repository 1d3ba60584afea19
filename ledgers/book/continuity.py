"""The check that the log continues every known head: a log that fails it has lost or changed entries.

A database that was restored from a copy has lost commits with receipts, and their debits would be free again. The same
holds for a standby that was promoted without the newest transactions. Two heads reveal this: the newest that this
process wrote or signed, and the newest that any process wrote, in a file on other storage.

Every move compares the log with both in its own transaction, and so does everything that signs a head. A process that
runs while its database is restored therefore rejects the next move.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from epsilond.ledgers.book.errors import HeadUnavailable, NotReconciled
from epsilond.ledgers.book.restore import CheckpointFile, UnreadableCheckpoint
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.store.nodes import StoredNodes

Root = Callable[[int], bytes | None]
"""Returns the root of the first entries of the log; None if it has fewer."""
KEPT = "The checkpoint that is kept elsewhere"
"""Subject of sentences about the head in the file outside the database."""
ABSENT = "There is no checkpoint kept elsewhere, and the log has entries."


def discontinuity(head: Checkpoint, root: Root, head_name: str) -> str | None:
    """Check that a log continues an earlier signed head, and return the difference as a sentence.

    A head is the number of entries of an append-only log at some time, with the root of their Merkle tree. A log
    continues it if its first entries have this root.

    Args:
        head: the earlier head.
        root: returns the root of the log's first entries, by their number; None if the log has fewer.
        head_name: description of the head as a noun phrase, with which the sentence begins.

    Returns:
        The sentence; None if the log continues the head.
    """
    present_root = root(head.size)
    if present_root is None:
        return f"{head_name} has {head.size} entries, and the log has fewer."
    if present_root != head.root:
        return f"{head_name} is of {head.size} entries that are not the first of the log."
    return None


@dataclass(frozen=True)
class KnownHeads:
    """Signed heads of an append-only log, that is, its numbers of entries and Merkle roots at earlier times.

    The log must begin with the entries of each head. Otherwise it has lost or changed entries.

    Attributes:
        newest: the newest head that this process wrote or signed; None before its first.
        file_head: the head in a file outside the database of the log; None without a file.
        fault: why the file cannot be used, or why a witness (another party that signs heads) rejected the log.
        needs_file: whether a log with entries must have a file.
        cosigned: size of a head that a witness signed and that has more entries than the log, with a sentence about it;
            None without such a head.
    """

    newest: Checkpoint | None = None
    file_head: Checkpoint | None = None
    fault: str | None = None
    needs_file: bool = False
    cosigned: tuple[int, str] | None = None

    def trouble(self, root: Root) -> str | None:
        """Check that a log begins with the entries of each of these heads, and return the first difference.

        If it does not, entries were lost or changed, and the budgets in the log may be too large.

        Args:
            root: returns the Merkle root of the log's first entries, by their number; None if the log has fewer.

        Returns:
            The difference, or the reason why a head cannot be used, as a sentence; None if the log continues all heads.
        """
        if self.fault is not None:
            return self.fault
        if self.cosigned is not None:
            cosigned_size, sentence = self.cosigned
            if root(cosigned_size) is None:
                return sentence
        lacks_file = self.needs_file and self.file_head is None
        if lacks_file and root(1) is not None:  # the log has entries
            return ABSENT

        heads = ((KEPT, self.file_head), ("The newest head that this process wrote or signed", self.newest))
        for name, head in heads:
            trouble = None if head is None else discontinuity(head, root, name)
            if trouble is not None:
                return trouble
        return None


class Continuity:
    """The heads of one log that this process knows: numbers of entries and Merkle roots at earlier times.

    Every method may be called in any thread.

    Attributes:
        trouble: why the last check failed, as a sentence; None if it passed.
    """

    def __init__(self, file: CheckpointFile | None = None) -> None:
        """Begin without known heads of the log (numbers of entries with their Merkle roots), except for one in a file.

        Args:
            file: file outside the database with the newest signed head of the log; None without a file.
        """
        self.trouble: str | None = None
        self._file = file
        self._newest: Checkpoint | None = None
        self._witness_rejection: str | None = None
        self._cosigned_head: tuple[int, str] | None = None
        self._lock = threading.Lock()

    @property
    def has_file(self) -> bool:
        """True if the newest head is also stored in a file outside the database."""
        return self._file is not None

    def known_heads(self) -> KnownHeads:
        """Return the heads, that is, numbers of entries with their Merkle roots, that the log must continue.

        They are the newest head that this process wrote or signed, and the head in the file outside the database.

        Call this before the log is read, or while no other process can write it. Otherwise a head may be newer than the
        log that was read.

        Returns:
            Both heads. `fault` has the reason if the content of the file is no head, or if a witness rejected the log.

        Raises:
            HeadUnavailable: the file cannot be opened. `trouble` is set to the reason.
        """
        file_head = None
        file_fault = None
        try:
            file_head = self._load_file()
        except UnreadableCheckpoint as error:
            file_fault = str(error)
        with self._lock:
            return KnownHeads(
                newest=self._newest,
                file_head=file_head,
                fault=self._witness_rejection or file_fault,
                needs_file=self.has_file,
                cosigned=self._cosigned_head,
            )

    def _load_file(self) -> Checkpoint | None:
        """Return the head of the log, its number of entries and Merkle root, from the file outside the database.

        Returns:
            The head; None if no file is configured, or if it does not exist.

        Raises:
            UnreadableCheckpoint: the content of the file is not a head of this log.
            HeadUnavailable: the file cannot be opened. `trouble` is set to the reason.
        """
        if self._file is None:
            return None
        try:
            return self._file.load()
        except OSError as error:
            self.trouble = f"{KEPT} cannot be read: {error.strerror}."
            raise HeadUnavailable(self.trouble) from None

    def require(self, known: KnownHeads, root: Root) -> None:
        """Check that a log continues its earlier signed heads, that is, numbers of entries with their Merkle roots.

        The attribute `trouble` is set to the reason of a failure, or to None. A witness, another party that checks the
        log, may have cosigned a head with more entries. It is forgotten once the log has these entries.

        Args:
            known: the earlier heads.
            root: returns the root of the log's first entries, by their number; None if the log has fewer.

        Raises:
            NotReconciled: the log has fewer entries than a head, or different ones, a witness rejected it, or the file
                with the head is missing or unreadable.
        """
        trouble = known.trouble(root)
        self.trouble = trouble
        if trouble is not None:
            raise NotReconciled(trouble)
        with self._lock:
            if self._cosigned_head == known.cosigned:
                self._cosigned_head = None  # the log has these entries now

    def reject(self, sentence: str, size: int | None = None) -> None:
        """Block the log, because a witness has signed a head with more or other entries.

        A head is a number of entries with their Merkle root. A witness is another party, which signs only heads that
        continue its earlier ones. Checks of the log fail from now on, and so nothing is signed.

        Args:
            sentence: the reason.
            size: number of entries of the witness's head, if the log has fewer and does not contradict them. The block
                then ends once the log has as many. None if the log has other entries; then only `accept` ends it.
        """
        with self._lock:
            if size is None:
                self._witness_rejection = sentence
            else:
                self._cosigned_head = size, sentence
        self.trouble = sentence

    def see(self, head: Checkpoint) -> None:
        """Note a signed head that the log must continue from now on, unless a larger head is known.

        Args:
            head: number of entries of the log, with their Merkle root.
        """
        with self._lock:
            if self._newest is None or head.size > self._newest.size:
                self._newest = head

    def begin(self, root: Root, note: Callable[[], str]) -> None:
        """Write the signed head of an empty log to the file outside the database, if the file does not exist yet.

        If the file is missing later, it was lost. If the log has entries, nothing is written.

        Args:
            root: returns the root of the log's first entries, by their number; None if the log has fewer.
            note: returns the text of the signed head.

        Raises:
            OSError: the file cannot be written.
        """
        if self._file is not None and root(1) is None:
            with self._file.alone():
                if self._file.missing:
                    self._file.replace(note())

    def keep(self, note: str, root: Root) -> None:
        """Write a signed head of the log to the file outside the database, unless the head in it has more entries.

        Without a file nothing happens.

        Args:
            note: text of the signed head.
            root: returns the Merkle root of the log's first entries, by their number; None if the log has fewer.

        Raises:
            NotReconciled: the log does not continue a known head, such as the one in the file. The file does not
                change.
            HeadUnavailable: the file cannot be opened for reading.
            OSError: the file cannot be written, so that it does not cover the newest commits.
        """
        if self._file is not None:
            with self._file.alone():
                self.require(self.known_heads(), root)
                self._file.advance(note)

    def accept(self, note: str) -> None:
        """Accept a log that may have lost entries, on behalf of its operator, and forget its earlier heads.

        A head is a number of entries of the log with their Merkle root. Other processes may know a head with lost
        entries. They must accept the log too, or be started again.

        Args:
            note: text of the signed head of the present log, which replaces the one in the file.

        Raises:
            OSError: the file cannot be written.
        """
        if self._file is not None:
            with self._file.alone():
                self._file.replace(note)
        with self._lock:
            self._newest = None
            self._witness_rejection = None
            self._cosigned_head = None
        self.trouble = None


def roots(nodes: StoredNodes, size: int) -> Root:
    """Return a function that computes the Merkle root of a log's first n entries from the number n.

    Args:
        nodes: stored hashes of the log's Merkle tree.
        size: number of entries of the log.

    Returns:
        The function. It returns a hash of 32 bytes, or None if n is negative or above `size`.
    """

    def root_of(count: int) -> bytes | None:
        """Return the root hash of the first `count` log entries; None if the log has fewer entries."""
        if not 0 <= count <= size:
            return None
        return Tree(nodes, count).root()

    return root_of
