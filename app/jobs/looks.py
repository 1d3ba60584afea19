"""Queries of the store for one job, which all clients that wait for the job share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.store.record import Record


class SharedReader:
    """Reader of one job in the store, which keeps its last reading for all clients that wait for the job.

    Many waiting clients thus cause one query of the store.

    Args:
        read: reads the job from the store.
    """

    def __init__(self, read: Callable[[], Awaitable[Record | None]]) -> None:
        self._read = read
        self._lock = anyio.Lock()
        self._began = -float("inf")  # start of the last query
        self._record: Record | None = None
        self._fault: Problem | None = None

    async def since(self, moment: float) -> Record | None:
        """Return the job as it was in the store at some time not before `moment`.

        The record that was read last is returned if it is recent enough. Otherwise one caller reads the store, and the
        others that wait share its result or its error.

        Args:
            moment: earliest start of the query, in seconds of the event loop's clock.

        Returns:
            The stored job; None if the store does not have it.

        Raises:
            Problem: the store cannot be used.
        """
        async with self._lock:
            if self._began < moment:
                began, self._fault = anyio.current_time(), None
                try:
                    self._record = await self._read()
                except Problem as fault:
                    self._fault = fault
                self._began = began
            if self._fault is not None:  # each caller raises an exception of its own, with its own traceback
                raise Problem(self._fault.kind.slug, self._fault.detail, headers=self._fault.headers)
            return self._record
