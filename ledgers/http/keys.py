"""The keys that sign the ledgers' log: in a folder that is followed while the service runs, or in memory."""

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

TRIES = 3


class Keys:
    """The keyring as it is now. Any thread may ask for it."""

    def __init__(self, folder: Path | None, *, origin: str = "", secret: Path | None = None) -> None:
        """Of a folder, made at first use; without one the keys live as long as this does.

        Raises, as asking for the keys does:
            KeysUnusable: a key is missing, retired, of another name, or can be read by others.
            OSError: the folder cannot be read, or made, or written.
        """
        self._folder = folder
        self._origin = origin
        self._secret = secret
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._keyring = self._opened()

    @classmethod
    def of(cls, settings: Settings, *, durable: bool) -> Keys:
        """Those of the settings: in the folder they name, else beside the store's file, else in memory."""
        secret = Path(settings.ledger_key_file) if settings.ledger_key_file else None
        if settings.ledger_keys:
            folder: Path | None = Path(settings.ledger_keys)
        else:
            folder = Path(f"{settings.store_path}.keys") if durable else None
        return cls(folder, origin=settings.ledger_origin, secret=secret)

    def __call__(self) -> SigningKeys:
        """The keys as they are now: one that was made by another process meanwhile signs from now on."""
        if self._folder is None:
            return self._keyring
        with self._lock:
            # A folder that is gone changes no key: a new one would sign a log that it does not belong to.
            if self._state() not in (None, self._seen):
                try:
                    self._keyring = self._opened()
                except OSError as error:  # such as a folder that cannot be written, beside a secret it does not know
                    raise KeysUnusable(f"{self._folder}: {error.strerror}") from None
            return self._keyring

    def _opened(self) -> SigningKeys:
        now = datetime.now(UTC)
        if self._folder is None:
            return SigningKeys.new(SigningKey.new(self._origin or made_up()), now)
        for _ in range(TRIES):
            try:
                keyring = open_keyring(self._folder, self._name(self._folder), now, secret=self._secret)
                break
            except KeysUnusable:
                if self._origin:  # else another replica may have given the log its name meanwhile
                    raise
        else:
            keyring = open_keyring(self._folder, self._name(self._folder), now, secret=self._secret)
        self._seen = self._state()
        return keyring

    def _name(self, folder: Path) -> str:
        """The log's origin: as the settings say, else as it was called before, else a new name of its own."""
        if self._origin:
            return self._origin
        return origin_of(folder) or made_up()

    def _state(self) -> tuple[int, int] | None:
        assert self._folder is not None
        try:
            status = (self._folder / PUBLISHED).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns


def made_up() -> str:
    """Return a random name that no other log has."""
    return f"epsilond-{secrets.token_hex(8)}"
