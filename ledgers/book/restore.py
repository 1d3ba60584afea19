"""The newest signed head of a log, in a file on other storage than the database's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.storage.replacing import lock_folder, replace_file

ACCOUNTED_FOR: Final = "missing-entries-are-accounted-for"
"""Declaration of an operator who accepts a log that does not continue the kept head."""


class UnreadableCheckpoint(Exception):
    """The file has no checkpoint (signed size and Merkle root) of this log. The message states the reason."""


def read_checkpoint(note: str, keyring: SigningKeys) -> Checkpoint:
    """Return the checkpoint in a signed note, after verifying its signature.

    A checkpoint is the size of a log and the root of its Merkle tree.

    Args:
        note: text of the signed note.
        keyring: keys of the log.

    Returns:
        The size and the Merkle root.

    Raises:
        UnreadableCheckpoint: the note is not a checkpoint, or no key of this log has signed it.
    """
    try:
        return checkpoints.verify(note, keyring.signing.name, keyring.keys)
    except NotVerified as error:
        raise UnreadableCheckpoint(f"The checkpoint that is kept elsewhere is not this log's: {error}.") from None


class CheckpointFile:
    """A file with a signed checkpoint: the log's size and Merkle root at some time.

    The file is on other storage than the database, so that a database restored from an older copy is noticed. Every
    method blocks, and may be called in any thread.
    """

    def __init__(self, path: Path, keyring: Callable[[], SigningKeys]) -> None:
        """Set the path of the file, which need not exist.

        Args:
            path: path of the file.
            keyring: returns the keys of the log. One of them must have signed the checkpoint in the file.
        """
        self._path = path
        self._keyring = keyring
        self._writing = threading.Lock()
        self._verified: tuple[str, Checkpoint] | None = None
        """The note that was verified last, with its checkpoint."""

    @property
    def missing(self) -> bool:
        """True if the file does not exist."""
        return not self._path.exists()

    def load(self) -> Checkpoint | None:
        """Return the checkpoint in the file, after verifying its signature.

        The signature of an unchanged file is verified only once.

        Returns:
            The size and the Merkle root of the log; None if there is no file.

        Raises:
            UnreadableCheckpoint: the file has no checkpoint of this log.
            OSError: the file cannot be read.
        """
        try:
            note = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise UnreadableCheckpoint("The checkpoint that is kept elsewhere is not a text.") from None
        if self._verified is not None:
            verified_note, checkpoint = self._verified
            if verified_note == note:
                return checkpoint
        checkpoint = read_checkpoint(note, self._keyring())
        self._verified = note, checkpoint
        return checkpoint

    def advance(self, note: str) -> None:
        """Write a signed checkpoint to the file, unless the file has one of a log with at least as many entries.

        The caller must hold the lock of `alone()`. When that lock ends, the data is on the disk.

        Args:
            note: text of the signed checkpoint: size and Merkle root of the log.

        Raises:
            UnreadableCheckpoint: the file exists, and it or the note has no checkpoint of this log.
            OSError: the file cannot be read or written.
        """
        present = self.load()
        if present is None:
            self.replace(note)
            return
        new = read_checkpoint(note, self._keyring())
        if present.size < new.size:
            self.replace(note)

    def replace(self, note: str) -> None:
        """Write a signed checkpoint to the file in place of any other, and wait until it is on the disk.

        Args:
            note: text of the signed checkpoint: size and Merkle root of the log.

        Raises:
            OSError: the file cannot be written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, note.encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the file's folder for the block of a `with` statement; other threads and processes wait.

        The folder is created if it does not exist. When the block ends, all writes in it are on the disk.

        Yields:
            Nothing. The block runs while the folder is locked.

        Raises:
            OSError: the folder cannot be used.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._writing, lock_folder(self._path.parent, must_sync=True):
            yield
