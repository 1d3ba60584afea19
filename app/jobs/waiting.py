"""How clients find jobs and wait for them, wherever these run: here they are told, elsewhere the store is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import anyio

from epsilond.app.http.problems import Problem, text_of
from epsilond.app.jobs.job import Job
from epsilond.app.jobs.looks import Looks
from epsilond.app.jobs.running import Running
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.store.record import Record, State

LOOK_SECONDS = 1.0
"""How often the store is asked about a job that waits, or runs elsewhere."""
TELL_SECONDS = 3.0
"""Who watches is told so often how long it still takes, for one step may take minutes."""


class Waiting:
    """Everybody who looks for jobs of one service."""

    def __init__(self, shelf: Shelf, running: Mapping[str, Running]) -> None:
        self._shelf = shelf
        self._running = running
        self._looks = Looks(self._read)
        self._news = anyio.Event()
        self.stopping = anyio.Event()
        """Set when the service is to end: nobody should wait any more."""

    def tell(self) -> None:
        """A job begins here, or has ended: whoever waits for one that did not run here looks again."""
        self._news.set()
        self._news = anyio.Event()

    def stop(self) -> None:
        """Nobody waits any more."""
        self.stopping.set()
        self.tell()

    async def find(self, owner: str, identifier: str) -> Job:
        """A job as it is now, with its result if it is done.

        Raises:
            Problem: this owner has none of this id, or the store cannot be used.
        """
        return self._there(await self._read(owner, identifier, True))

    async def glimpse(self, owner: str, identifier: str) -> Job:
        """A job as it is now, without its request, result and problem.

        Raises:
            Problem: as `find` does.
        """
        return self._there(await self._read(owner, identifier, False))

    async def page(
        self, owner: str, state: State | None, kind: str | None, before: int | None, limit: int
    ) -> Sequence[Job]:
        """This owner's newest jobs, of this state and kind and older than this place in the order of creation.

        Raises:
            Problem: the store cannot be used.
        """
        found = await self._shelf.read(self._shelf.store.page, owner, state, kind, before, limit)
        return [self.as_of(record) for record in found]

    def as_of(self, record: Record) -> Job:
        """The job of a record just read: what runs here tells more; what could not be stored will not end otherwise."""
        running = self._running.get(record.id)
        if record.ended is None and running is not None and running.record.attempt == record.attempt:
            return running.as_of(record)
        if record.ended is None and self._shelf.unstored(record.id):
            return Job(record=replace(record, state="interrupted", problem=text_of(UNSTORED)))
        return Job.of(record)

    async def wait(self, owner: str, identifier: str, seconds: float) -> Job:
        """The job when it has ended, or as it is after so long, or when the service stops.

        All of it, which may be megabytes, is read once at the end; whoever waits for the same job shares what is read.

        Raises:
            Problem: this owner has none of this id, or the store cannot be used.
        """
        if seconds <= 0.0:
            return await self.find(owner, identifier)
        look = self._looks.at(owner, identifier)
        with anyio.move_on_after(seconds):
            job = self._there(await look.since(anyio.current_time()))
            while not job.ended and not self.stopping.is_set():
                running, news, before = self._running.get(identifier), self._news, anyio.current_time()
                with anyio.move_on_after(LOOK_SECONDS if running is None else None) as quiet:
                    await (news.wait() if running is None else running.done.wait())
                job = self._there(await look.since(before if quiet.cancelled_caught else anyio.current_time()))
        whole = self._looks.at(owner, identifier, whole=True)
        return self._there(await whole.since(anyio.current_time()))

    async def changes(self, owner: str, identifier: str) -> AsyncIterator[Job]:
        """The job as it is now, and again whenever it has changed or some seconds have passed, until it has ended.

        Its request, result and problem are left out where it does not run here. It is over early where the job has been
        forgotten meanwhile, or the store cannot be used: whoever watches asks again, and is told which.
        """
        look = self._looks.at(owner, identifier)
        job = self._there(await look.since(anyio.current_time()))
        yield job
        while not job.ended and not self.stopping.is_set():
            running, news, before = self._running.get(identifier), self._news, anyio.current_time()
            changed = news if running is None else running.changed
            with anyio.move_on_after(LOOK_SECONDS if running is None else TELL_SECONDS) as quiet:
                await changed.wait()
            running = self._running.get(identifier)
            since = before if quiet.cancelled_caught else anyio.current_time()
            try:
                job = running.job if running is not None else self._there(await look.since(since))
            except Problem:
                return
            yield job

    async def _read(self, owner: str, identifier: str, whole: bool) -> Record | None:
        return await self._shelf.read(partial(self._shelf.store.get, whole=whole), owner, identifier)

    def _there(self, record: Record | None) -> Job:
        if record is None:
            raise Problem("not-found", "There is no job of this id; it may have been removed.")
        return self.as_of(record)


UNSTORED = Problem("unavailable", "The job has ended, and the store does not take its end. It is tried again.")
