"""The life of jobs in the service: taken in, claimed, run, stopped, ended, remembered.

Every job stands in the store from the moment its client is told of it. A replica claims what waits there and has a
lease on it that it renews; whatever it leaves behind is claimed by another, or by itself at its next start. A job is
told to be done only when its result is in the store.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import structlog
from anyio import to_thread

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.callers.caller import Caller
from epsilond.app.health import Health
from epsilond.app.http.problems import Problem, text_of
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs.job import SIMULATION, Job
from epsilond.app.jobs.questions import QuestionRunner
from epsilond.app.jobs.running import Ending, Running, RunningQuestion, RunningSimulation
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.jobs.simulations import SimulationRunner
from epsilond.app.jobs.upkeep import BEATS, Upkeep
from epsilond.app.jobs.waiting import Waiting
from epsilond.app.metrics import Metrics
from epsilond.app.questions.compute import Shared
from epsilond.app.questions.question import Reading
from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store import Store, StoreLocked
from epsilond.app.store.record import End, Ended, Record


class Jobs:
    """The jobs of one service, between entering and leaving `running()`."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        health: Health,
        questions: QuestionRunner,
        simulations: SimulationRunner,
        reading: Callable[[str, str], Reading | None],
    ) -> None:
        """`reading` finds how the body of a job of a kind and name is read; None where this service has no such."""
        self._settings = settings
        self._metrics = metrics
        self._health = health
        self._questions = questions
        self._simulations = simulations
        self._reading = reading
        self._live: dict[str, Running] = {}
        self._claimed = 0
        self._accepting = False
        self._leasing = 0
        """Calls of the store under way that may give this replica jobs."""
        self._leased = anyio.Event()
        """Set when one of them has come back, and replaced."""
        self._work = anyio.Event()
        self._store: Store | None = None
        self.forgets = f"{PREFIX}STORE_PATH is {settings.store_path}, which keeps nothing."
        """Why the store does not outlive this service, if it does not."""
        self._log = structlog.get_logger()
        metrics.jobs_running.set_function(lambda: len(self._live))

    def open(self) -> None:
        """Open the store, if it is not open. A second service of one user gets a store of its own, in memory.

        Raises:
            StoreUnavailable: it cannot be used.
        """
        if self._store is not None:
            return
        try:
            self._store = Store.open(self._settings)
        except StoreLocked:
            if self._settings.store_url or "store_path" in self._settings.model_fields_set:
                raise
            self._store, self.forgets = Store.fallback(self._settings)
            self._log.error(self.forgets)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Jobs are taken in and run; at the end those that have not ended go back to the store."""
        await to_thread.run_sync(self.open)
        assert self._store is not None
        store = self._store
        replica = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.shelf = Shelf(store, replica, self._metrics.store_up)
        self.waiting = Waiting(self.shelf, self._live)
        self._upkeep = Upkeep(self._settings, self._metrics, self.shelf, self._live)
        self._health.register("store", self._store_trouble)
        async with anyio.create_task_group() as self._tasks:
            for forever in (self._claim, self._upkeep.beat, self._upkeep.sweep):
                self._tasks.start_soon(forever)
            self._accepting = True
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    self.stop()
                    while self._leasing:
                        await self._leased.wait()
                    for running in list(self._live.values()):
                        await running.done.wait()
                    await self.shelf.store_again()
                    if self.survives:
                        await self.shelf.quietly(store.release, self.shelf.replica)
                self._tasks.cancel_scope.cancel()
        store.close()
        self._store = None

    def stop(self) -> None:
        """Take in no more and stop what runs: those who wait are told at once. Once more is nothing more."""
        if self._accepting:
            self._accepting = False
            self.waiting.stop()
        for running in list(self._live.values()):
            running.stop(self._ending)

    @property
    def _ending(self) -> Ending:
        """What becomes of jobs that run when the service stops."""
        return "released" if self.survives else "interrupted"

    @property
    def survives(self) -> bool:
        """Whether the store outlives this service."""
        return self._store is not None and self._store.durable

    def _store_trouble(self) -> str | None:
        """Why a load balancer should not send requests here: only a shared store can be the reason."""
        if self._store is None or not self._store.shared or self.shelf.fault is None:
            return None
        return "The shared store of jobs cannot be used."

    # Taken in.

    async def submit(
        self, kind: str, name: str, request: bytes, *, caller: Caller, steps: int, seconds: float | None, **more: object
    ) -> Job:
        """Take a job in, to be run when its turn comes; `more` are further fields of its record.

        Raises:
            Problem: too many wait, or of this caller; the service is stopping; the idempotency key came with another
                request; or the store cannot be used.
        """
        if not self._accepting:
            raise STOPPING
        await self._require_room(caller)
        record = _record(kind, name, request, caller, steps=steps, seconds=seconds, **more)
        job = await self._added(record, None)
        self._work.set()
        return job

    async def adopt(self, shared: Shared, request: bytes, *, caller: Caller, **more: object) -> Job:
        """Let a job wait for a computation in the place of a request that cannot wait any longer.

        While the service stops it is only written down, for the next start or another replica; so it is if the stop
        comes while the store takes it in. A store in memory remembers that one as interrupted.

        Raises:
            Problem: as `submit` does.
        """
        question = shared.question
        steps = max(1, len(question.parts))
        record = _record(question.kind, question.name, request, caller, steps=steps, seconds=None, **more)
        if self._accepting:
            await self._require_room(caller)
        if not self._accepting:
            if not self.survives:
                raise STOPPING
            return await self._added(record, None)
        with self._may_lease():
            job = await self._added(record, self.shelf.replica)
        reading = self._reading(question.kind, question.name)
        assert reading is not None
        if job.record.id == record.id and job.record.replica == self.shelf.replica:
            shared.waiting += 1
            running = RunningQuestion(record=job.record, began=shared.began, shared=shared)
            self._start(running, partial(self._questions.end_of, running, reading))
            if running.ending is None:
                return running.job
            if not self.survives:
                raise STOPPING
            return Job.of(replace(job.record, state="queued", started=None, replica=None))
        return job

    async def with_key(self, owner: str, key: str, fingerprint: str) -> Job | None:
        """The job that this owner's idempotency key has brought before, unless it was interrupted.

        Raises:
            Problem: it came with another request.
        """
        earlier = await self.shelf.read(self.shelf.store.with_key, owner, key)
        return None if earlier is None else self._again(earlier, fingerprint)

    async def remove(self, owner: str, identifier: str) -> Job | None:
        """Cancel a job that has not ended, and answer it; forget one that has.

        Raises:
            Problem: this owner has none of this id, or the store cannot be used.
        """
        job = await self.waiting.glimpse(owner, identifier)
        if not job.ended:
            running = self._live.get(identifier)
            if running is not None:
                running.stop("cancelled")
                await running.done.wait()
            else:
                await self.shelf.call(self.shelf.store.cancel, owner, identifier)
                self.waiting.tell()
            return await self.waiting.wait(owner, identifier, self._settings.lease_seconds)
        if self.shelf.unstored(identifier):
            raise Problem("unavailable", "The store takes nothing at present.", headers={"Retry-After": "10"})
        await self.shelf.call(self.shelf.store.remove, owner, identifier)
        return None

    async def _added(self, record: Record, replica: str | None) -> Job:
        with anyio.CancelScope(shield=True):  # a client that leaves must not leave a job that nobody knows of
            add = partial(self.shelf.store.add, record, replica=replica, lease_seconds=self._settings.lease_seconds)
            kept = await self.shelf.call(add)
        if kept.id == record.id:
            return Job.of(kept)
        again = self._again(kept, record.fingerprint)
        assert again is not None  # an interrupted one has let go of its key
        return again

    def _again(self, earlier: Record, fingerprint: str) -> Job | None:
        if earlier.fingerprint != fingerprint:
            raise Problem("idempotency-key-reused", "This Idempotency-Key came with another request before.")
        return None if earlier.state == "interrupted" else self.waiting.as_of(earlier)

    async def _require_room(self, caller: Caller) -> None:
        counts = await self.shelf.call(self.shelf.store.counts)
        free = max(0, self._settings.job_workers - self._claimed)
        if counts.get("queued", 0) >= self._settings.job_queue + free:
            left = [each.seconds_left for each in self._live.values() if each.seconds_left is not None]
            after = str(round(min(max(min(left, default=10.0), 1.0), 3600.0)))
            raise Problem("too-many-requests", "Too many jobs are waiting.", headers={"Retry-After": after})
        caller.require_job(await self.shelf.call(self.shelf.store.live, caller.identity))

    # Run.

    def _start(self, running: Running, course: Callable[[], Awaitable[End]]) -> None:
        """Run it; what the store gave out while the service began to stop is stopped before it does anything."""
        self._live[running.record.id] = running
        if not self._accepting:
            running.stop(self._ending)
        self._tasks.start_soon(self._run, running, course)
        self.waiting.tell()

    async def _run(self, running: Running, course: Callable[[], Awaitable[End]]) -> None:
        """To its end, which is stored whatever happens; a released one goes back to the queue with the others."""
        end: End | None = None
        try:
            with running.scope:
                end = await course()
        finally:
            with anyio.CancelScope(shield=True):
                end = end or _stopped(running)
                if end is not None:
                    await self.shelf.end(running.record, replace(end, when=time.time()))
                    self._metrics.jobs.labels(running.record.kind, end.state).inc()
                    self._upkeep.ended()
                    self._log.info("job", id=running.record.id, kind=running.record.kind, state=end.state)
                self._live.pop(running.record.id, None)
                running.done.set()
                running.tell()
                self.waiting.tell()
                self._work.set()

    async def _claim(self) -> None:
        """Run what waits in the store, as much at a time as there are places, for ever."""
        while True:
            self._work = anyio.Event()
            free = self._settings.job_workers - self._claimed
            await self.shelf.store_again()
            if free > 0 and self._accepting:
                claim = partial(
                    self.shelf.store.claim,
                    engine_version=ENGINE_VERSION,
                    limit=free,
                    lease_seconds=self._settings.lease_seconds,
                    exhausted=text_of(EXHAUSTED),
                    held=tuple(self._live),
                )
                with self._may_lease():
                    found = await self.shelf.quietly(claim, self.shelf.replica)
                for record in found or ():
                    self._claimed += 1
                    self._tasks.start_soon(self._claimed_one, record)
            with anyio.move_on_after(self._settings.lease_seconds / BEATS):
                await self._work.wait()

    @contextmanager
    def _may_lease(self) -> Iterator[None]:
        """Around calls that may give this replica jobs: it gives back what it has after the last of them is back."""
        self._leasing += 1
        try:
            yield
        finally:
            self._leasing -= 1
            self._leased.set()
            self._leased = anyio.Event()

    async def _claimed_one(self, record: Record) -> None:
        try:
            if not self._accepting:
                return
            await self._run_claimed(record)
        finally:
            self._claimed -= 1
            self._work.set()

    async def _run_claimed(self, record: Record) -> None:
        if record.kind == SIMULATION:
            simulation = RunningSimulation(record=record)
            self._start(simulation, partial(self._simulations.end_of, simulation))
            await simulation.done.wait()
            return
        question, reading = RunningQuestion(record=record), self._reading(record.kind, record.name)
        course = _unknown if reading is None else partial(self._questions.end_of, question, reading)
        self._start(question, course)
        await question.done.wait()


JOBS: ServicePart[Jobs] = ServicePart("jobs")


STOPPING = Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
EXHAUSTED = Problem("internal-error", "The replicas that ran this job were gone each time; it may be the reason.")
INTERRUPTED = Problem("interrupted", "The service stopped before the job ended. Post it again.")


def _record(kind: str, name: str, request: bytes, caller: Caller, **more: Any) -> Record:
    prefix = "sim" if kind == SIMULATION else "job"
    return Record(
        id=f"{prefix}_{secrets.token_urlsafe(16)}",
        kind=kind,
        name=name,
        created=time.time(),
        engine_version=ENGINE_VERSION,
        owner=caller.name,
        caller=caller.identity,
        request=request,
        **more,
    )


async def _unknown() -> End:
    """How a job ends that another version took in, and this one cannot read."""
    problem = Problem("not-found", "This service does not answer such questions any more.")
    return End(state="failed", steps_done=0, problem=text_of(problem))


def _stopped(running: Running) -> End | None:
    """How a job ends that was stopped; None if it does not."""
    if running.ending in (None, "released"):
        return None
    state: Ended = "cancelled" if running.ending == "cancelled" else "interrupted"
    problem = text_of(INTERRUPTED) if state == "interrupted" else None
    return End(state=state, steps_done=running.steps_done, problem=problem)
