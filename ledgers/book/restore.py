"""After a restore: the log is compared with a checkpoint that is kept elsewhere, and moves are refused until it agrees.

A database that was restored from a copy, or promoted without its newest transactions, has forgotten commits whose
receipts exist: what they debited would be free again. The newest signed checkpoint, in a file on other storage, shows
that: the log must be a continuation of it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.signing import SigningKeys

if sys.platform != "win32":
    import fcntl

ACCOUNTED_FOR: Final = "missing-entries-are-accounted-for"
"""What an operator declares who accepts a log that is no continuation of what was kept."""
Root = Callable[[int], bytes | None]
"""The root of the first entries of the log that is in use; None if it does not have so many."""


def not_continued(note: str, keyring: SigningKeys, root: Root) -> str | None:
    """Why the log of these keys does not continue a checkpoint, in one sentence; None where it does."""
    try:
        kept = checkpoints.verify(note, keyring.signing.name, keyring.keys)
    except NotVerified as error:
        return f"The checkpoint that is kept elsewhere is not this log's: {error}."
    found = root(kept.size)
    if found is None:
        return f"The checkpoint that is kept elsewhere has {kept.size} entries, and the log has fewer."
    if found != kept.root:
        return f"The first {kept.size} entries of the log are not those that were signed."
    return None


class CheckpointFile:
    """The newest checkpoint in a file kept elsewhere. Every method blocks, and may be called in any thread."""

    def __init__(self, path: Path, keyring: Callable[[], SigningKeys]) -> None:
        """Of this file, whose checkpoints one of these keys has signed."""
        self._path = path
        self._keyring = keyring
        self._writing = threading.Lock()
        self._agreed = False

    def agrees(self, root: Root) -> bool:
        """Whether the log continues what the file says; asked of the file until it did once."""
        if not self._agreed:
            self._agreed = self.trouble(root) is None
        return self._agreed

    @property
    def missing(self) -> bool:
        """Whether there is no such file."""
        return not self._path.exists()

    def begin(self, root: Root, head: Callable[[], str]) -> None:
        """Put the checkpoint of an empty log into a file that is not there yet: from then on one that is gone shows.

        Raises:
            OSError: it cannot be written.
        """
        if self.missing and root(1) is None:
            self.keep(head())

    def trouble(self, root: Root) -> str | None:
        """Why the log does not continue the file's checkpoint, in one sentence; None where it does.

        A log without entries needs no file. One with entries has had a file since its first.
        """
        try:
            note = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None if root(1) is None else "There is no checkpoint kept elsewhere, and the log has entries."
        except UnicodeDecodeError:
            return "The checkpoint that is kept elsewhere is no text."
        except OSError as error:
            return f"The checkpoint that is kept elsewhere cannot be read: {error.strerror}."
        return not_continued(note, self._keyring(), root)

    def keep(self, note: str) -> None:
        """Put a signed checkpoint into the file, on the disk, unless a larger one is there.

        Raises:
            OSError: it cannot be written: what was committed since is not covered by it.
        """
        told = self._read(note)
        with self._writing, self._alone():
            try:
                if self._read(self._path.read_text(encoding="utf-8")).size >= told.size:
                    return
            except (FileNotFoundError, UnicodeDecodeError, NotVerified):
                pass
            self._replace(note)

    def accept(self, note: str) -> None:
        """The log as it is is right, says its operator: this, its head, takes the place of what the file says.

        Raises:
            OSError: it cannot be written.
        """
        self._read(note)
        with self._writing, self._alone():
            self._replace(note)
            self._agreed = True

    def _read(self, note: str) -> Checkpoint:
        keyring = self._keyring()
        return checkpoints.verify(note, keyring.signing.name, keyring.keys)

    def _replace(self, note: str) -> None:
        descriptor, beside = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
                opened.write(note)
                opened.flush()
                os.fsync(opened.fileno())
            Path(beside).replace(self._path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process writes the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if sys.platform == "win32":  # no such lock: whoever is last wins
            yield
            return
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
            os.fsync(folder)
        finally:
            os.close(folder)
