"""Keys that sign the ledgers' log, in a folder that is followed while the service runs, or in memory."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime
from pathlib import Path

from epsilond.app.settings import Settings
from epsilond.ledgers.log.errors import KeysUnusable
from epsilond.ledgers.log.key_files import PUBLISHED, open_keyring, origin_of
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.signing import SigningKeys

RETRIES = 3
"""Number of further attempts to open keys that several processes make at the same time."""


class Keys:
    """The present keys that sign the service's log of ledgers. Calling the object returns them, in any thread.

    They are in a folder, which an operator or another process may change while the service runs. Without a folder they
    are in memory, and are lost when the service stops.
    """

    def __init__(self, folder: Path | None, *, origin: str = "", secret: Path | None = None) -> None:
        """Use the keys that sign the log of ledgers, from a folder that is made at first use.

        Args:
            folder: folder of the keys; None keeps keys in memory.
            origin: name of the log; empty takes the name in the folder, or a new one.
            secret: file of the private key that signs.

        Raises:
            KeysUnusable: a key is missing, retired, of another name, or readable by others.
            OSError: the folder cannot be read, or made, or written.
        """
        self._folder = folder
        self._origin = origin
        self._secret = secret
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._keyring = self._open_keyring()

    @classmethod
    def of(cls, settings: Settings, *, durable: bool) -> Keys:
        """Return the keys of a service: in the folder of its settings, or next to the store's file, or in memory.

        Args:
            settings: settings of the service.
            durable: whether the store outlives the process.

        Returns:
            The keys of the log.
        """
        secret = Path(settings.ledger_key_file) if settings.ledger_key_file else None
        folder = None
        if settings.ledger_keys:
            folder = Path(settings.ledger_keys)
        elif durable:
            folder = Path(f"{settings.store_path}.keys")
        return cls(folder, origin=settings.ledger_origin, secret=secret)

    def __call__(self) -> SigningKeys:
        """Return the present keys that sign the log. They are read again if another process changed the folder.

        Returns:
            The private key that signs, with all published keys.

        Raises:
            KeysUnusable: a key is missing, retired or malformed, or the folder cannot be used.
        """
        if self._folder is None:
            return self._keyring
        with self._lock:
            # If the folder was removed, the keys stay: a new key must not sign this log.
            if _state_of(self._folder) not in (None, self._seen):
                try:
                    self._keyring = self._open_keyring()
                except OSError as error:  # such as a folder that cannot be written
                    raise KeysUnusable(f"{self._folder}: {error.strerror}") from None
            return self._keyring

    def _open_keyring(self) -> SigningKeys:
        """Open the keys, or make them if there are none, and remember the state of the folder.

        Several processes may make the keys of one folder at the same time. Each of them invents a name for the log, if
        the settings have none. Only the first of them writes its name, so the others try again.

        Returns:
            The private key that signs, with all published keys.

        Raises:
            KeysUnusable: a key is missing, retired, of another name, or readable by others.
            OSError: the folder cannot be read or written.
        """
        now = datetime.now(UTC)
        if self._folder is None:
            key = SigningKey.new(self._origin or random_origin())
            return SigningKeys.new(key, now)
        retries = 0 if self._origin else RETRIES  # a name in the settings cannot differ between processes
        keyring = self._open_folder(self._folder, now, retries=retries)
        self._seen = _state_of(self._folder)
        return keyring

    def _open_folder(self, folder: Path, now: datetime, *, retries: int) -> SigningKeys:
        """Open the keys of a folder, or make them. Repeat the attempt if the keys get another name meanwhile.

        Several services may start with an empty folder at the same time. The first of them gives the log its name.

        Args:
            folder: folder of the keys.
            now: present time, from which a new key signs.
            retries: number of further attempts.

        Returns:
            The keys of the log.

        Raises:
            KeysUnusable: the last attempt failed.
            OSError: the folder cannot be read or written.
        """
        try:
            return open_keyring(folder, self._name(folder), now, secret=self._secret)
        except KeysUnusable:
            if retries == 0:
                raise
        return self._open_folder(folder, now, retries=retries - 1)

    def _name(self, folder: Path) -> str:
        """Return the name of the log.

        Args:
            folder: folder of the keys.

        Returns:
            The name in the settings. Without one, the name of the keys in the folder, or a new random name.
        """
        if self._origin:
            return self._origin
        return origin_of(folder) or random_origin()


def _state_of(folder: Path) -> tuple[int, int] | None:
    """Return a value that changes when the published keys in a folder are replaced.

    Args:
        folder: folder of the keys.

    Returns:
        Inode and modification time of the file of keys; None if there is no such file.
    """
    try:
        status = (folder / PUBLISHED).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def random_origin() -> str:
    """Return a new name of a log, with 64 random bits, so that no other log has it."""
    return f"epsilond-{secrets.token_hex(8)}"
