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
    are only in memory, and are lost when the service stops.
    """

    def __init__(self, folder: Path | None, *, origin: str = "", secret: Path | None = None) -> None:
        """Open the keys in a folder, or make the folder and new keys.

        Args:
            folder: folder of the keys; None keeps new keys in memory.
            origin: name of the log. If empty, it is that of the keys in the folder, or a new one.
            secret: file of the private key that signs; None takes the one in the folder.

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
        """Return the keys of a service, which are in the folder that its settings name.

        Without such a folder, they are next to the store's file if the store is durable, and otherwise in memory.

        Args:
            settings: settings of the service.
            durable: whether the store outlives the process.

        Raises:
            KeysUnusable: a key is missing, retired, of another name, or readable by others.
            OSError: the folder cannot be read, made or written.
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
            # If the keys' file was removed, the present keys stay, because a new key must not sign this log.
            if _state_of(self._folder) not in (None, self._seen):
                try:
                    self._keyring = self._open_keyring()
                except OSError as error:
                    raise KeysUnusable(f"{self._folder}: {error.strerror}") from None
            return self._keyring

    def _open_keyring(self) -> SigningKeys:
        """Open the keys, or make them if there are none, and store the state of the folder for later comparisons.

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
        # Without a name in the settings, processes that start together invent different names. Only one is stored.
        retries = 0 if self._origin else RETRIES
        keyring = self._open_folder(self._folder, now, retries=retries)
        self._seen = _state_of(self._folder)
        return keyring

    def _open_folder(self, folder: Path, now: datetime, *, retries: int) -> SigningKeys:
        """Open the keys of a folder, or make them. Repeat a failed attempt, because another process may have made keys.

        Args:
            folder: folder of the keys.
            now: present time, from which a new key signs.
            retries: number of attempts after the first one.

        Returns:
            The private key that signs, with all published keys.

        Raises:
            KeysUnusable: the last attempt failed.
            OSError: the folder cannot be read or written.
        """
        try:
            return open_keyring(folder, self._choose_name(folder), now, secret=self._secret)
        except KeysUnusable:
            if retries == 0:
                raise
        return self._open_folder(folder, now, retries=retries - 1)

    def _choose_name(self, folder: Path) -> str:
        """Return the log's name: that of the settings, or of the keys in a folder, or a new random one."""
        if self._origin:
            return self._origin
        return origin_of(folder) or random_origin()


def _state_of(folder: Path) -> tuple[int, int] | None:
    """Return a value that changes when the file of published keys in a folder is replaced.

    Args:
        folder: folder of the keys.

    Returns:
        Inode and modification time of the file; None if there is no such file.
    """
    try:
        status = (folder / PUBLISHED).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def random_origin() -> str:
    """Return a new name of a log with 64 random bits, which make it practically unique."""
    return f"epsilond-{secrets.token_hex(8)}"
