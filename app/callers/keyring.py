"""The API keys of a running service, which follow changes of their file.

The file is checked once a second. If it cannot be read, or has an invalid line, the earlier keys remain in use, and the
reason is logged.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import structlog
from anyio import to_thread

from epsilond.app.callers import key_file
from epsilond.app.callers.caller import Budgets, Caller
from epsilond.app.callers.keys import KeyLine, digest, read_keys
from epsilond.app.callers.revocations import Revocations
from epsilond.app.http.record import ServicePart

LOOK_SECONDS = 1.0
"""Seconds between two checks of the file."""
SETTLED_NANOSECONDS = 2_000_000_000
"""Age of a file in nanoseconds below which another change may get the same time from the file system's clock."""

Signature = tuple[int, int, int, int]


@dataclass(frozen=True)
class KeyState:
    """Present state of an API key of this service.

    Attributes:
        line: line of the key in the file of keys, with its owner, its rights, and the time of its revocation.
        last_used: time of its last use in this service; None if it was not used.
    """

    line: KeyLine
    last_used: datetime | None


class Keyring:
    """API keys of a running service, which follow changes of their file within the context `following`."""

    def __init__(self, path: Path, budgets: Budgets) -> None:
        """Read the API keys of the service from a file.

        Args:
            path: file of API keys.
            budgets: limits and records of the CPU time of callers, for the callers that the keys identify.

        Raises:
            ValueError: the file cannot be read.
        """
        self._path = path
        self._budgets = budgets
        self._revocations = Revocations()
        self._last_used: dict[str, datetime] = {}
        self._looking = anyio.CapacityLimiter(1)
        self._complaint = ""
        self._log = structlog.get_logger()
        # The signature of the file is taken before it is read, so that a later change is noticed.
        self._signature = _signature(path)
        self._take(read_keys(path))

    @classmethod
    def of(cls, path: str, budgets: Budgets) -> Keyring | None:
        """Return the keyring of a file of API keys; None if no file is named.

        Args:
            path: path of the file; empty without one.
            budgets: limits and records of the CPU time of callers.

        Returns:
            The keys of the file, ready to identify callers; None if the path is empty.

        Raises:
            ValueError: the file cannot be read.
        """
        if not path:
            return None
        return cls(Path(path), budgets)

    def caller(self, key: str) -> Caller | None:
        """Return the caller with this key, and store the time of its use.

        Args:
            key: secret text of the API key, as the client sent it.

        Returns:
            The caller with the limits and permissions of the key. None if the key is unknown, expired or revoked.
        """
        key_digest = digest(key)
        match: KeyLine | None = None
        # Constant-time comparisons, and no early exit: the duration must not reveal which key matches.
        for line in self._lines:
            if hmac.compare_digest(line.sha256, key_digest):
                match = line
        now = datetime.now(UTC)
        if match is None or match.is_expired(now) or self._revocations.since(match) is not None:
            return None
        self._last_used[match.id] = now
        return Caller(
            name=match.name,
            identity=f"key:{match.name}",
            shown=match.name,
            scopes=match.allowed,
            limits=match.limits,
            budgets=self._budgets,
            organisation=match.belongs_to,
            roles=match.held_roles,
        )

    def organisations(self) -> dict[str, str]:
        """Return the organisation of each name in the file of keys, also if its keys are revoked.

        Returns:
            The organisation by name; empty for a name without one. If the lines of a name differ, the last line that is
            not revoked counts.
        """
        # In the dictionary, a later line of a name replaces an earlier one.
        in_force_last = sorted(self._lines, key=lambda line: line.revoked is None)
        return {line.name: line.belongs_to for line in in_force_last}

    def states(self) -> tuple[KeyState, ...]:
        """Return the state of every key of the file, in the order of the file."""
        return tuple(map(self._state, self._lines))

    async def revoke(self, identifier: str) -> KeyState | None:
        """Revoke a key, in this service at once and then in the file.

        Args:
            identifier: public id of the key, not its secret text.

        Returns:
            The state of the key after its revocation. None if no key has this id.

        Raises:
            OSError, ValueError: the file could not be changed. The key is revoked in this service nevertheless.
        """
        line = next((line for line in self._lines if line.id == identifier), None)
        if line is None:
            return None
        now = datetime.now(UTC).replace(microsecond=0)
        # The revocation is in force before the file is written, also if writing fails.
        self._revocations.add(line, now)
        if line.revoked is None:
            self._log.warning("key was revoked", name=line.name, key=line.id)
            await to_thread.run_sync(partial(key_file.revoke, self._path, line.id, now))
        return self._state(line)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Read the file again whenever it changes, while this context is open."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow)
            yield
            tasks.cancel_scope.cancel()

    async def look(self) -> None:
        """Read the file if it has changed. If it cannot be read, keep the present keys and log the reason once."""
        reading = await to_thread.run_sync(
            partial(_read_if_changed, self._path, self._signature), limiter=self._looking, abandon_on_cancel=True
        )
        self._signature = reading.signature
        if reading.complaint and reading.complaint != self._complaint:
            self._log.error("keys could not be read, those of before are kept", reason=reading.complaint)
        elif reading.lines and reading.lines != self._lines:
            self._take(reading.lines)
            self._log.info("keys were read", count=len(reading.lines))
        self._complaint = reading.complaint

    async def _follow(self) -> None:
        """Read the key file again every `LOOK_SECONDS` if it has changed, without end."""
        while True:
            await anyio.sleep(LOOK_SECONDS)
            await self.look()

    def _take(self, lines: tuple[KeyLine, ...]) -> None:
        """Use these lines of the key file from now on, and forget the last uses of keys that are not among them.

        Args:
            lines: the lines of the file, which are valid.
        """
        self._lines = lines
        identifiers = {line.id for line in lines}
        earlier_uses = self._last_used.items()
        self._last_used = {identifier: when for identifier, when in earlier_uses if identifier in identifiers}

    def _state(self, line: KeyLine) -> KeyState:
        """Return the state of a key, with the time of its revocation in the file or in this service."""
        revoked_since = self._revocations.since(line)
        return KeyState(replace(line, revoked=revoked_since), self._last_used.get(line.id))


KEYRING: ServicePart[Keyring | None] = ServicePart("keyring")


def _signature(path: Path) -> Signature | None:
    """Return the inode, the size and the times of a file, which differ after a change of the file.

    Args:
        path: path of the file.

    Returns:
        These values. None if the file cannot be accessed, or changed so recently that another change may have the same
        times.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    is_settled = time.time_ns() - status.st_mtime_ns > SETTLED_NANOSECONDS
    if not is_settled:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@dataclass(frozen=True)
class KeyFileReading:
    """Result of a check of a file of API keys, which is read only if it has changed.

    Attributes:
        signature: inode, size and times of the file; None if the next check must read the file in any case.
        lines: lines of the file; empty if it has not changed or cannot be read.
        complaint: reason why the file cannot be read; empty if it can be.
    """

    signature: Signature | None
    lines: tuple[KeyLine, ...] = ()
    complaint: str = ""


def _read_if_changed(path: Path, known: Signature | None) -> KeyFileReading:
    """Read a file of keys, if it has changed.

    Args:
        path: the file.
        known: signature of the file when it was last read; None to read it in any case.

    Returns:
        The signature of the file, with its lines if it has changed. If the file is invalid, a complaint and no
        signature, so that the next call reads the file again.
    """
    signature = _signature(path)
    if signature is not None and signature == known:
        return KeyFileReading(signature)
    try:
        return KeyFileReading(signature, read_keys(path))
    except ValueError as error:
        return KeyFileReading(None, complaint=str(error))
