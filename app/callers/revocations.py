"""Revocations made in the running service: they hold at once and until it ends, regardless of the file of keys.

A revoked key is never restored; its owner gets another key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from epsilond.app.callers.keys import KeyLine


@dataclass(eq=False)
class Revocations:
    """The API keys that this process has revoked.

    A revocation holds here at once, even if the file of keys could not be changed. Other processes of the service learn
    of it only from the file.
    """

    _since: dict[str, datetime] = field(default_factory=dict)  # times of revocation by the id of the key

    def add(self, line: KeyLine, now: datetime) -> None:
        """Revoke a key from now on, unless it is revoked already.

        Args:
            line: line of the key.
            now: time of the revocation.
        """
        self._since.setdefault(line.id, now)

    def since(self, line: KeyLine) -> datetime | None:
        """Return the time when a key was revoked, in the file or in this service.

        Args:
            line: line of the key in the file of keys.

        Returns:
            The time, or None if the key is not revoked.
        """
        return line.revoked or self._since.get(line.id)
