"""Clients that query jobs and wait for them. Running jobs report changes; others are read from the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

import anyio

from epsilond.app.http.problems import Problem, text_of
from epsilond.app.jobs.job import Job
from epsilond.app.jobs.looks import SharedReader
from epsilond.app.jobs.running import Running
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.store.record import Record, State

LOOK_SECONDS: Final = 1.0
"""Seconds between queries of the store for a job that waits, or that another replica (process of the service) runs."""
TELL_SECONDS: Final = 3.0
"""Seconds between reports about a job that runs here, because one step may take minutes."""
UNSTORED = Problem("unavailable", "The job has ended, and the store does not take its end. It is tried again.")


class Waiting:
    """Queries and waits for jobs on behalf of the clients of one service.

    Args:
        shelf: the store of jobs.
        running: the jobs that run in this service, by id.
    """

    def __init__(self, shelf: Shelf, running: Mapping[str, Running]) -> None:
        self._shelf = shelf
        self._running = running
        self._readers: WeakValueDictionary[tuple[str, str, bool], SharedReader] = WeakValueDictionary()
        self._news = anyio.Event()
        self.stopping = anyio.Event()
        """Event that is set when the service is to end, so that no client waits longer."""

    def tell(self) -> None:
        """Wake the clients that wait for jobs, so that jobs which do not run here are read from the store again."""
        self._news.set()
        self._news = anyio.Event()

    def stop(self) -> None:
        """End the waiting of all clients."""
        self.stopping.set()
        self.tell()

    async def glimpse(self, owner: str, identifier: str) -> Job:
        """Return a job at present, without its request, result and problem.

        Raises:
            Problem: this owner has no job with this id, or the store cannot be used.
        """
        return self._require(await self._read_record((owner, identifier, False)))

    async def page(
        self, owner: str, state: State | None, kind: str | None, before: int | None, limit: int
    ) -> Sequence[Job]:
        """Return the newest jobs of an owner.

        Args:
            owner: name of the caller who owns the jobs.
            state: state of the jobs; None for any.
            kind: kind of the jobs; None for any.
            before: only jobs older than the job with this sequence number; None for the newest.
            limit: most jobs to return.

        Returns:
            The jobs, newest first, without their requests and results.

        Raises:
            Problem: the store cannot be used.
        """
        records = await self._shelf.query(self._shelf.store.page, owner, state, kind, before, limit)
        return [self.as_of(record) for record in records]

    def as_of(self, record: Record) -> Job:
        """Return the job that a stored record describes, as its client sees it.

        If the recorded attempt to compute it runs in this service, the job has the progress of the computation. A job
        that has ended, although the store could not yet take its end, is shown as interrupted.

        Args:
            record: the stored job.

        Returns:
            The job, with its present progress if it runs in this service.
        """
        running = self._running.get(record.id)
        if record.ended is not None:
            return Job.of(record)
        if running is not None and running.record.attempt == record.attempt:
            return running.as_of(record)
        # The job has ended here, but the store has not taken its end yet.
        if self._shelf.is_unstored(record.id):
            return Job(record=replace(record, state="interrupted", problem=text_of(UNSTORED)))
        return Job.of(record)

    async def wait(self, owner: str, identifier: str, seconds: float) -> Job:
        """Return a job when it has ended, or its state after some seconds or when the service stops.

        Its request and result, which may be megabytes, are read once at the end.

        Args:
            owner: owner of the job.
            identifier: id of the job.
            seconds: longest wait [s].

        Returns:
            The job as it was read after the wait; it may not have ended.

        Raises:
            Problem: this owner has no job with this id, or the store cannot be used.
        """
        with anyio.move_on_after(seconds):
            async for _ in self.changes(owner, identifier):
                pass
        return self._require(await self._reader(owner, identifier, complete=True).since(anyio.current_time()))

    async def changes(self, owner: str, identifier: str) -> AsyncIterator[Job]:
        """Yield a job at present, and again after each change or some seconds, until it has ended.

        A job that does not run here comes without its request, result and problem. The changes end early if the store
        cannot be used, or the job was removed meanwhile.

        Args:
            owner: name of the caller who owns the job.
            identifier: id of the job.

        Yields:
            The job in its state at that time. The last one has ended, unless the changes end early.

        Raises:
            Problem: this owner has no job with this id, or the store cannot be used, at the first reading.
        """
        reader = self._reader(owner, identifier, complete=False)
        job = self._require(await reader.since(anyio.current_time()))
        yield job
        while not job.ended and not self.stopping.is_set():
            before = anyio.current_time()
            has_changed = await self._wait_for_change(identifier)
            running = self._running.get(identifier)
            try:
                if running is not None:
                    job = running.job
                else:  # after a change, only a record is recent enough that is read from now on
                    job = self._require(await reader.since(anyio.current_time() if has_changed else before))
            except Problem:
                return
            yield job

    async def _wait_for_change(self, identifier: str) -> bool:
        """Wait until a job may have changed, at most for some seconds, and return whether a change was reported.

        Args:
            identifier: id of the job, which may run in this service or in another process.

        Returns:
            True if a change was reported. False if the time was over first.
        """
        running = self._running.get(identifier)
        # A job of another process is known only from the store, which is read again after some seconds.
        changed = self._news if running is None else running.changed
        seconds = LOOK_SECONDS if running is None else TELL_SECONDS
        with anyio.move_on_after(seconds) as timeout:
            await changed.wait()
        return not timeout.cancelled_caught

    def _reader(self, owner: str, identifier: str, *, complete: bool) -> SharedReader:
        """Return the shared reader of a job, so that many clients that wait for one job cause one query of the store.

        The reader caches the job that was read last. It is held by a weak reference, because only the clients that wait
        need it.

        Args:
            owner: owner of the job.
            identifier: id of the job.
            complete: whether the request, the result and the problem are read too.

        Returns:
            The reader. Equal arguments give the same object while a client holds it.
        """
        key = owner, identifier, complete
        reader = self._readers.get(key)
        if reader is None:
            reader = self._readers[key] = SharedReader(partial(self._read_record, key))
        return reader

    async def _read_record(self, key: tuple[str, str, bool]) -> Record | None:
        """Read a job from the store; `key` is its owner, its id, and whether its large parts are read too."""
        owner, identifier, complete = key
        return await self._shelf.query(partial(self._shelf.store.get, complete=complete), owner, identifier)

    def _require(self, record: Record | None) -> Job:
        """Return the job of a record.

        Args:
            record: the stored job; None if the store has no such job.

        Returns:
            The job as its client sees it.

        Raises:
            Problem: there is no record.
        """
        if record is None:
            raise Problem("not-found", "There is no job of this id; it may have been removed.")
        return self.as_of(record)
