"""The store for the event loop: every call runs in a thread, and ends of jobs are kept until they are stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
import structlog
from anyio import to_thread
from prometheus_client import Gauge

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.http.problems import Problem, text_of
from epsilond.app.store import Store, StoreFault
from epsilond.app.store.record import End, Record

THREADS = 4
"""Calls for requests at one time in a shared store; an embedded store takes one at a time."""
OWN_THREADS = 2
"""Calls for the jobs themselves at one time: ends, leases and claims do not wait behind requests."""
EXHAUSTED = Problem("internal-error", "The replicas that ran this job were gone each time; it may be the reason.")
"""The end of a job that has lost its replica too often."""
P = ParamSpec("P")
T = TypeVar("T")


class Shelf:
    """Asynchronous access of one process of the service to the store of jobs."""

    def __init__(self, store: Store, replica: str, up: Gauge) -> None:
        """Prepare the access of one process of the service to the store of jobs.

        Args:
            store: the store; its methods block, and are therefore called in threads.
            replica: name by which this process claims jobs in the store.
            up: gauge of the metrics that is 1 if the last call of the store succeeded, and 0 otherwise.
        """
        self.store = store
        self.replica = replica
        self.fault: str | None = None
        """Reason of the last call's failure; None after a success."""
        self._threads = anyio.CapacityLimiter(THREADS if store.shared else 1)
        self._own_threads = anyio.CapacityLimiter(OWN_THREADS if store.shared else 1)
        self._unstored: dict[str, tuple[Record, End]] = {}
        """Jobs that have ended and whose end the store has not taken yet."""
        self._storing = anyio.Lock()
        self._up = up
        self._log = structlog.get_logger()

    async def call(self, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a method of the store for a request, in a thread.

        Raises:
            Problem: the store cannot be used at present: its disk is full, or its file or database is gone.
        """
        return await self._call_in_thread(self._threads, partial(method, *arguments, **named))

    async def _call_in_thread(self, threads: anyio.CapacityLimiter, method: Callable[[], T]) -> T:
        """Call a method of the store in a thread, and note in `fault` and in the gauge whether it succeeded.

        The methods of the store block, so the event loop must not call them itself.

        Args:
            threads: limit on the number of such calls at one time.
            method: the method, with its arguments bound.

        Returns:
            The value that the method returns.

        Raises:
            Problem: the store cannot be used at present.
        """
        try:
            answer = await to_thread.run_sync(method, limiter=threads)
        except StoreFault as fault:
            # A failure that continues is logged once, not at every call.
            if self.fault is None:
                self._log.error("the store of jobs cannot be used", reason=str(fault))
            self.fault = str(fault)
            self._up.set(0)
            headers = {"Retry-After": "10"}
            raise Problem("unavailable", "The store of jobs cannot be used at present.", headers=headers) from None
        self.fault = None
        self._up.set(1)
        return answer

    async def query(self, method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Call a method that reads, after storing the ends of jobs.

        Args:
            method: method of the store.
            *arguments: its positional arguments.
            **named: its keyword arguments.

        Returns:
            The value that the method returns.

        Raises:
            Problem: the store cannot be used at present.
        """
        await self.store_again()
        return await self.call(method, *arguments, **named)

    async def quietly(self, method: Callable[..., T], *arguments: object, **named: object) -> T | None:
        """Call a method of the store for the jobs themselves; return None if the store cannot be used at present."""
        try:
            return await self._call_in_thread(self._own_threads, partial(method, *arguments, **named))
        except Problem:
            return None

    async def claim(self, limit: int, *, held: Sequence[str], lease_seconds: float) -> list[Record]:
        """Take jobs from the store to run them in this replica; none if the store cannot be used at present.

        A replica is one process of the service. Only jobs of the present version of the mathematics are taken.

        Args:
            limit: largest number of jobs.
            held: ids of the jobs that run in this replica already.
            lease_seconds: time in seconds after which other replicas may take the jobs, unless it is renewed.

        Returns:
            The jobs, as they are in the store after the claim.
        """
        claim = partial(
            self.store.claim,
            engine_version=ENGINE_VERSION,
            limit=limit,
            lease_seconds=lease_seconds,
            exhausted=text_of(EXHAUSTED),
            held=held,
        )
        return await self.quietly(claim, self.replica) or []

    async def end(self, record: Record, end: End) -> None:
        """Store the end of a job of this replica, now or as soon as the store takes it."""
        self._unstored[record.id] = record, end
        await self.store_again()

    def is_unstored(self, identifier: str) -> bool:
        """Return whether a job has ended here, and the store has not taken its end yet."""
        return identifier in self._unstored

    async def store_again(self) -> None:
        """Store the ends of jobs that could not be stored before. Those that fail again are kept for the next call.

        A result is thus not lost if the store cannot be used for some time.
        """
        if not self._unstored:
            return
        async with self._storing:
            for identifier, (record, end) in list(self._unstored.items()):
                keep = partial(self.store.end, identifier, record.attempt, self.replica, end)
                with anyio.CancelScope(shield=True):  # a request that reads may be cancelled meanwhile
                    stored = await self.quietly(keep)
                if stored is None:
                    continue
                del self._unstored[identifier]
                if not stored:
                    self._log.warning("a job had ended otherwise, was removed, or is another replica's", id=identifier)
