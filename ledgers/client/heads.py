"""The newest head of a service's log that this client has seen, in a file: a log that does not continue it was changed.

A service whose database was restored, or that shows different logs to different people, signs two logs of which neither
is the beginning of the other. A client shows that by the head that it kept.
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
"""Asks the service that its log of the first size is the beginning of the one of the second size."""


class SeenHead:
    """The newest head of one log, kept in a folder."""

    def __init__(self, folder: Path, origin: str) -> None:
        """Use the file of the log of this origin in a folder, which is made when a head is first kept."""
        self._path = folder / f"seen-head-{hashlib.sha256(origin.encode()).hexdigest()[:16]}"
        self._origin = origin

    def follow(self, note: str, keys: Iterable[PublicKey], prove: Prove) -> None:
        """Require that a head and the one that is kept are of one log, and keep the larger.

        Args:
            note: a signed head that the service has given.
            keys: the keys that sign the log.
            prove: asks the service for a proof.

        Raises:
            LogForked: the service cannot show it, or the head is not signed.
            OSError: the head cannot be kept.
        """
        trusted = tuple(keys)
        head, kept = self._verified(note, trusted), self._read(trusted)
        if kept is not None:
            try:
                earlier, later = sorted((kept, head), key=lambda each: each.size)
                _require_one_log(earlier, later, prove)
            except (NotVerified, Refused) as error:  # a log that lost entries has no proof to give
                raise LogForked(
                    f"the log of {self._origin} has forked: its head of {head.size} entries and the one of {kept.size}"
                    f" that is kept in {self._path} are not of one log ({error}); nothing may be run"
                ) from None
        if kept is None or head.size > kept.size:
            self.accept(note)

    def accept(self, note: str) -> None:
        """Keep a head in place of the one that is kept, whatever that is.

        Raises:
            OSError: it cannot be kept.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(self._path, note.encode())

    def _verified(self, note: str, keys: tuple[PublicKey, ...]) -> Checkpoint:
        try:
            return checkpoints.verify(note, self._origin, keys)
        except NotVerified as error:
            raise LogForked(
                f"a head of the log of {self._origin} does not hold, so nothing may be run: {error}"
            ) from None

    def _read(self, keys: tuple[PublicKey, ...]) -> Checkpoint | None:
        try:
            return self._verified(self._path.read_text(encoding="utf-8"), keys)
        except FileNotFoundError:
            return None


def _require_one_log(earlier: Checkpoint, later: Checkpoint, prove: Prove) -> None:
    """Verify that a head is the beginning of a later one.

    Raises:
        NotVerified: it is not shown.
    """
    at_once = earlier.size in (0, later.size)
    proof = Consistency(earlier.size, later.size, ()) if at_once else prove(earlier.size, later.size)
    if (proof.first, proof.second) != (earlier.size, later.size):
        raise NotVerified("the proof is about other sizes")
    proof.verify(earlier.root, later.root)
