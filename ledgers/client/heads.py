"""Newest head of a service's log that this client has seen, kept in a file to notice a log that was changed.

A service with a database that was restored from a backup, or that shows different logs to different people, signs two
inconsistent logs. The client proves this with the head that it kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from epsilond.ledgers.client.errors import LogForked, Refused
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.keys import PublicKey
from epsilond.ledgers.log.proofs import Consistency
from epsilond.storage.replacing import replace_file

Prove = Callable[[int, int], Consistency]
"""Function that asks the service for the consistency proof from the first size to the second."""


class SeenHead:
    """File with the newest head (size and Merkle root) of a service's log that this client has seen.

    Every later head must continue it. Otherwise the log was rewritten, or it lost entries.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        """Choose the file for the head of one log. The folder is created when a head is first stored.

        Args:
            folder: folder of the file.
            origin: name of the log. The name of the file contains a part of its digest.
        """
        origin_digest = hashlib.sha256(origin.encode()).hexdigest()[:16]
        self._path = folder / f"seen-head-{origin_digest}"
        self._origin = origin

    def follow(self, note: str, keys: Iterable[PublicKey], prove: Prove) -> None:
        """Check that a new head of a service's log and the stored one belong to one growing log, and store the larger.

        A head is the log's size and Merkle root at some time. The first head of a service is stored without a check.

        Args:
            note: signed head from the service.
            keys: keys that sign the log.
            prove: function that requests a consistency proof between two sizes of the log from the service.

        Raises:
            LogForked: the service has no valid proof, or one of the heads is not validly signed.
            OSError: the head cannot be stored.
        """
        trusted = tuple(keys)
        head = self._verify(note, trusted)
        stored = self._read_head(trusted)
        if stored is None:
            self.accept(note)
            return

        # The larger log must begin with the smaller one. A service whose log lost entries cannot prove this.
        earlier, later = sorted((stored, head), key=lambda checkpoint: checkpoint.size)
        try:
            _require_consistent(earlier, later, prove)
        except (NotVerified, Refused) as error:
            raise LogForked(
                f"the log of {self._origin} has forked. Its head of {head.size} entries and the one of "
                f"{stored.size} in {self._path} are not of one log ({error}); nothing may be run"
            ) from None
        if head.size > stored.size:
            self.accept(note)

    def accept(self, note: str) -> None:
        """Store a head in place of the stored one, without a comparison.

        Args:
            note: signed head of the log (size and Merkle root).

        Raises:
            OSError: the file cannot be written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # only for its owner
        replace_file(self._path, note.encode())

    def _verify(self, note: str, keys: tuple[PublicKey, ...]) -> Checkpoint:
        """Verify a signed note, and return the head of the log (size and Merkle root) in it.

        Args:
            note: the signed note.
            keys: trusted keys of the log; the signature of one of them is enough.

        Returns:
            The head.

        Raises:
            LogForked: none of the keys has validly signed it for this log.
        """
        try:
            return checkpoints.verify(note, self._origin, keys)
        except NotVerified as error:
            raise LogForked(
                f"a head of the log of {self._origin} does not hold, so nothing may be run: {error}"
            ) from None

    def _read_head(self, keys: tuple[PublicKey, ...]) -> Checkpoint | None:
        """Return the stored head of the log (size and Merkle root), after verifying its signature.

        Args:
            keys: trusted keys of the log.

        Returns:
            The head; None if none is stored yet.

        Raises:
            LogForked: the stored note is not validly signed by one of the keys.
        """
        try:
            note = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return self._verify(note, keys)


def _require_consistent(earlier: Checkpoint, later: Checkpoint, prove: Prove) -> None:
    """Check by a proof that the log with the later of two heads (size and Merkle root) begins with the earlier log.

    Args:
        earlier: the smaller head.
        later: the larger head.
        prove: function that requests a consistency proof between two sizes. It is not called if both heads have the
            same size, or if the earlier log is empty, because such a proof has no hashes.

    Raises:
        NotVerified: the proof is not valid, or is about other sizes.
    """
    needs_no_hashes = earlier.size in (0, later.size)
    proof = Consistency(earlier.size, later.size, ()) if needs_no_hashes else prove(earlier.size, later.size)
    if proof.first != earlier.size or proof.second != later.size:
        raise NotVerified("the proof is about other sizes")
    proof.verify(earlier.root, later.root)
