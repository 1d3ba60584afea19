"""Revocations made in the running service: they hold at once and as long as it runs, whatever the file of keys says.

A key that was revoked is not opened again; its owner gets another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from epsilond.app.callers.keys import KeyLine


@dataclass(eq=False)
class Revocations:
    """Which keys were revoked here, and when, by their ids."""

    _since: dict[str, datetime] = field(default_factory=dict)

    def add(self, line: KeyLine, now: datetime) -> None:
        """This key opens nothing any more."""
        self._since.setdefault(line.id, now)

    def since(self, line: KeyLine) -> datetime | None:
        """When a key was revoked, in the file or here; None if it was not."""
        return line.revoked or self._since.get(line.id)
