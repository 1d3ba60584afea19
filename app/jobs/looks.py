"""Looks at the store that everybody shares who waits for the same job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.store.record import Record

Read = Callable[[str, str, bool], Awaitable[Record | None]]
"""Reads an owner's job by its id, whole or without its large parts."""


class Look:
    """What the store said last of one job. Whoever waits holds it; it is forgotten with the last of them."""

    def __init__(self, read: Callable[[], Awaitable[Record | None]]) -> None:
        self._read = read
        self._reading = anyio.Lock()
        self._began = -float("inf")
        self._record: Record | None = None
        self._fault: Problem | None = None

    async def since(self, moment: float) -> Record | None:
        """The job as a reading found it that began at this moment of the event loop's clock or later; None: no job.

        Of several who ask at a time one reads, and the others are told what was found, also that nothing could be.

        Raises:
            Problem: the store cannot be used.
        """
        async with self._reading:
            if self._began < moment:
                began, self._fault = anyio.current_time(), None
                try:
                    self._record = await self._read()
                except Problem as fault:
                    self._fault = fault
                self._began = began
            if self._fault is not None:
                raise Problem(self._fault.kind.slug, self._fault.detail, headers=self._fault.headers)
            return self._record


class Looks:
    """The looks of one service."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._looks: WeakValueDictionary[tuple[str, str, bool], Look] = WeakValueDictionary()

    def at(self, owner: str, identifier: str, *, whole: bool = False) -> Look:
        """The one look at this owner's job of this id."""
        key = owner, identifier, whole
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = Look(lambda: self._read(*key))
        return look
