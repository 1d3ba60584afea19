"""Readings of a job that all clients who wait for the job share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.store.record import Record


class Look:
    """The last reading of one job. All clients who wait for the job hold it."""

    def __init__(self, read: Callable[[], Awaitable[Record | None]]) -> None:
        self._read = read
        self._reading = anyio.Lock()
        self._began = -float("inf")
        self._record: Record | None = None
        self._fault: Problem | None = None

    async def since(self, moment: float) -> Record | None:
        """Return the job by a reading that began at `moment` of the event loop's clock or later; None if there is none.

        One of several callers reads, and the others share the record or the fault.

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
