"""The store as the event loop sees it: every call in a thread, every end kept until the store has taken it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
import structlog
from anyio import to_thread
from prometheus_client import Gauge

from epsilond.app.http.problems import Problem
from epsilond.app.store import Store, StoreFault
from epsilond.app.store.record import End, Record

THREADS = 4
"""Calls for requests that may be under way at one time in a shared store; an embedded one takes them one by one."""
OWN_THREADS = 2
"""Calls for the jobs themselves that may be: ends, leases and claims do not queue behind requests."""
P = ParamSpec("P")
T = TypeVar("T")


class Shelf:
    """The store of one service, while it is open."""

    def __init__(self, store: Store, replica: str, up: Gauge) -> None:
        self.store = store
        self.replica = replica
        self.fault: str | None = None
        """Why the last call failed; None after one that did not."""
        self._threads = anyio.CapacityLimiter(THREADS if store.shared else 1)
        self._own_threads = anyio.CapacityLimiter(OWN_THREADS if store.shared else 1)
        self._unstored: dict[str, tuple[Record, End]] = {}
        """Jobs that have ended and whose end the store has not taken yet."""
        self._storing = anyio.Lock()
        self._up = up
        self._log = structlog.get_logger()

    async def call(self, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """A method of the store for a request, in a thread.

        Raises:
            Problem: the store cannot be used at present: its disk is full, its file or its database is gone.
        """
        return await self._called(self._threads, partial(method, *arguments, **named))

    async def _called(self, threads: anyio.CapacityLimiter, method: Callable[[], T]) -> T:
        try:
            answer = await to_thread.run_sync(method, limiter=threads)
        except StoreFault as fault:
            if self.fault is None:
                self._log.error("the store of jobs cannot be used", reason=str(fault))
            self.fault = str(fault)
            self._up.set(0)
            headers = {"Retry-After": "10"}
            raise Problem("unavailable", "The store of jobs cannot be used at present.", headers=headers) from None
        self.fault = None
        self._up.set(1)
        return answer

    async def read(self, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """A method that reads, after what has ended was stored.

        Raises:
            Problem: the store cannot be used at present.
        """
        await self.store_again()
        return await self.call(method, *arguments, **named)

    async def quietly(self, method: Callable[..., T], *arguments: object, **named: object) -> T | None:
        """A method of the store for the jobs themselves, that is called again later; None if it cannot be used now."""
        try:
            return await self._called(self._own_threads, partial(method, *arguments, **named))
        except Problem:
            return None

    async def end(self, record: Record, end: End) -> None:
        """Keep how a job of this replica ended, now or as soon as the store takes it."""
        self._unstored[record.id] = record, end
        await self.store_again()

    def unstored(self, identifier: str) -> bool:
        """Whether the job has ended and the store does not know."""
        return identifier in self._unstored

    async def store_again(self) -> None:
        """Store what has ended and is not stored yet; what cannot be stays until the next time."""
        if not self._unstored:
            return
        async with self._storing:
            for identifier, (record, end) in list(self._unstored.items()):
                keep = partial(self.store.end, identifier, record.attempt, self.replica, end)
                with anyio.CancelScope(shield=True):  # a request that reads may be cancelled meanwhile
                    kept = await self.quietly(keep)
                if kept is None:
                    continue
                del self._unstored[identifier]
                if not kept:
                    self._log.warning("a job had ended otherwise, was removed, or is another replica's", id=identifier)
