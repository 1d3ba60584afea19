"""The life of jobs in the service: accepted, claimed, run, stopped, ended.

Every job is in the store from the moment at which its client gets the job's address. A replica claims jobs that wait
there, and renews its leases on them. Jobs that it leaves are claimed by another replica, or by itself at its next
start. A job is reported as done only when its result is in the store.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio
import structlog
from anyio import to_thread

from epsilond.app.callers.caller import Caller
from epsilond.app.health import Health
from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs.ends import Course, end_of_stop, end_unreadable
from epsilond.app.jobs.job import SIMULATION, Job, new_record
from epsilond.app.jobs.questions import QuestionRunner
from epsilond.app.jobs.running import Ending, Running, RunningQuestion, RunningSimulation, seconds_until_place
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.jobs.simulations import SimulationRunner
from epsilond.app.jobs.turns import STOPPING
from epsilond.app.jobs.upkeep import BEATS, Upkeep
from epsilond.app.jobs.waiting import Waiting
from epsilond.app.metrics import Metrics
from epsilond.app.questions.compute import SharedComputation
from epsilond.app.questions.question import Reading
from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store import Store, StoreLocked
from epsilond.app.store.record import End, Record


class Jobs:
    """The jobs of one service: questions that are answered after their requests, within the context `running`."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        health: Health,
        questions: QuestionRunner,
        simulations: SimulationRunner,
        reading: Callable[[str, str], Reading | None],
    ) -> None:
        """Make the jobs of a service, without opening the store.

        Args:
            settings: location of the store, and limits on its size.
            metrics: metrics of the service.
            health: checks for load balancers.
            questions: runner of jobs of questions.
            simulations: runner of jobs of simulations.
            reading: returns the function that reads bodies of a kind and name of question; None for unknown ones.
        """
        self._settings = settings
        self._metrics = metrics
        self._health = health
        self._questions = questions
        self._simulations = simulations
        self._reading = reading
        self._live: dict[str, Running] = {}
        self._accepting = False
        self._work = anyio.Event()  # set when there may be a job to claim, and then replaced
        self._store: Store | None = None
        self.forgets = f"{PREFIX}STORE_PATH is {settings.store_path}, which keeps nothing."
        """Reason why the store does not outlive this service, if it does not."""
        self._log = structlog.get_logger()
        metrics.jobs_running.set_function(lambda: len(self._live))

    def open(self) -> None:
        """Open the store of jobs, in memory if a service has locked the default file; `forgets` then has the reason.

        Raises:
            StoreUnavailable: the store cannot be used.
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
        """Accept and run jobs within this context.

        At its end, running jobs are stopped and stored. Unfinished ones go back to the queue if the store is durable.
        """
        await to_thread.run_sync(self.open)
        assert self._store is not None
        store = self._store
        # The name by which this service claims jobs in the store.
        replica = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.shelf = Shelf(store, replica, self._metrics.store_up)
        self.waiting = Waiting(self.shelf, self._live)
        self._upkeep = Upkeep(self._settings, self._metrics, self.shelf, self._live)
        self._health.register("store", self._store_trouble)
        # The inner tasks claim jobs and renew leases. The outer ones run jobs, which end after the inner ones.
        async with anyio.create_task_group() as self._tasks:
            try:
                async with anyio.create_task_group() as loops:
                    for forever in (self._claim, self._upkeep.beat, self._upkeep.sweep):
                        loops.start_soon(forever)
                    self._accepting = True
                    try:
                        yield
                    finally:
                        self.stop()
                        loops.cancel_scope.cancel()  # a claim that is under way is waited for
            finally:
                # Even a cancelled service waits until the ends of its jobs are stored.
                with anyio.CancelScope(shield=True):
                    for running in list(self._live.values()):
                        await running.done.wait()
                    await self.shelf.store_again()
                    if self.survives:
                        await self.shelf.quietly(store.release, replica)
        store.close()
        self._store = None

    def stop(self) -> None:
        """Accept no more jobs, and stop running jobs; waiting clients are answered at once."""
        if self._accepting:
            self._accepting = False
            self.waiting.stop()
        for running in list(self._live.values()):
            running.stop(self._ending)

    @property
    def _ending(self) -> Ending:
        """The way in which running jobs end when the service stops."""
        return "released" if self.survives else "interrupted"

    @property
    def ready(self) -> bool:
        """True while jobs are accepted and the store can be used."""
        return self._accepting and self.shelf.fault is None

    @property
    def survives(self) -> bool:
        """True if the store outlives this service."""
        return self._store is not None and self._store.durable

    def _store_trouble(self) -> str | None:
        """Return the reason why load balancers should avoid this service; only a shared store can be a reason."""
        if self._store is None or not self._store.shared or self.shelf.fault is None:
            return None
        return "The shared store of jobs cannot be used."

    async def submit(
        self, kind: str, name: str, request: bytes, *, caller: Caller, steps: int, seconds: float | None, **more: object
    ) -> Job:
        """Store a new job, which runs when its turn comes.

        Args:
            kind: kind of the question, such as "simulation".
            name: name of the question among the questions of its kind.
            request: body of the HTTP request.
            caller: owner of the job.
            steps: number of steps.
            seconds: estimated CPU seconds of the job; None without an estimate.
            more: further fields of the stored record, such as the idempotency key.

        Returns:
            The new job, or the earlier job with the same idempotency key.

        Raises:
            Problem: too many jobs wait, in total or of this caller; the service is stopping; the idempotency key came
                with another request; or the store cannot be used.
        """
        if not self._accepting:
            raise STOPPING
        await self._require_room(caller)
        record = new_record(kind, name, request, caller, steps=steps, seconds=seconds, **more)
        job = await self._add(record, None)
        self._work.set()
        return job

    async def adopt(self, shared: SharedComputation, request: bytes, *, caller: Caller, **more: object) -> Job:
        """Make a job that waits for a computation in place of a request that cannot wait any longer.

        If the service is stopping, the job is stored as queued, for another replica or the next start. If the store is
        in memory, and would lose the job, it is rejected.

        Args:
            shared: the computation, which may already be running.
            request: body of the HTTP request.
            caller: owner of the job.
            more: further fields of the stored record, such as the idempotency key.

        Returns:
            The new job, or the earlier job with the same idempotency key.

        Raises:
            Problem: in the cases of `submit`.
        """
        question = shared.question
        steps = max(1, len(question.parts))
        seconds = question.seconds
        record = new_record(question.kind, question.name, request, caller, steps=steps, seconds=seconds, **more)
        if self._accepting:
            await self._require_room(caller)
        if not self._accepting:  # the service may also have begun to stop during the call before
            self._require_survival()
            return await self._add(record, None)
        job = await self._add(record, self.shelf.replica)
        is_new = job.record.id == record.id and job.record.replica == self.shelf.replica
        return self._follow(shared, job.record) if is_new else job

    def _follow(self, shared: SharedComputation, record: Record) -> Job:
        """Start a new job, the stored `record`, that waits for a computation which already runs.

        If the service is stopping, the job is queued, so that it runs after the next start or elsewhere.

        Returns:
            The job as its client sees it: running, or queued.

        Raises:
            Problem: the service is stopping, and would lose the job.
        """
        reading = self._reading(record.kind, record.name)
        assert reading is not None  # the question of the computation was read by it
        shared.waiting += 1  # one more job waits for the computation
        running = RunningQuestion(record=record, began=shared.began, shared=shared, on_place=False)
        self._start(running, partial(self._questions.end_of, running, reading))
        if running.ending is None:
            return running.job
        self._require_survival()
        return Job.of(replace(record, state="queued", started=None, replica=None))

    def _require_survival(self) -> None:
        """Raise a `Problem` if the store does not outlive this service, so that a new job would be lost."""
        if not self.survives:
            raise STOPPING

    async def with_key(self, owner: str, key: str, fingerprint: str) -> Job | None:
        """Find the job that an owner posted with an idempotency key, by which repeated requests are recognised.

        Args:
            owner: owner of the job.
            key: idempotency key.
            fingerprint: digest of the present request.

        Returns:
            The job in its present state; None if the owner has no such job, or if it was interrupted.

        Raises:
            Problem: the key came with another request, or the store cannot be used.
        """
        earlier = await self.shelf.query(self.shelf.store.with_key, owner, key)
        return None if earlier is None else self._repeat(earlier, fingerprint)

    async def remove(self, owner: str, identifier: str) -> Job | None:
        """Cancel a job that has not ended, or delete a job that has ended.

        Args:
            owner: owner of the job.
            identifier: id of the job.

        Returns:
            The cancelled job, usually after its end; None if it was deleted.

        Raises:
            Problem: this owner has no job with this id, or the store cannot be used.
        """
        job = await self.waiting.glimpse(owner, identifier)
        if not job.ended:
            running = self._live.get(identifier)
            if running is not None:
                running.stop("cancelled")
                await running.done.wait()
            # The job waits in the store, or another replica runs it.
            else:
                await self.shelf.call(self.shelf.store.cancel, owner, identifier)
                self.waiting.tell()
            return await self.waiting.wait(owner, identifier, self._settings.lease_seconds)
        if self.shelf.is_unstored(identifier):
            raise Problem("unavailable", "The store takes nothing at present.", headers={"Retry-After": "10"})
        await self.shelf.call(self.shelf.store.remove, owner, identifier)
        return None

    async def _add(self, record: Record, replica: str | None) -> Job:
        """Store a job, or return the earlier job of its owner with the same idempotency key.

        Args:
            record: the job.
            replica: name of the replica that runs the job at once; None to queue the job.

        Returns:
            The stored job or the earlier one, in its present state.

        Raises:
            Problem: the earlier job is of a different request, or the store cannot be used.
        """
        with anyio.CancelScope(shield=True):  # a client that leaves must not leave a job without an address
            add = partial(self.shelf.store.add, record, replica=replica, lease_seconds=self._settings.lease_seconds)
            stored = await self.shelf.call(add)
        if stored.id == record.id:
            return Job.of(stored)
        earlier = self._repeat(stored, record.fingerprint)
        assert earlier is not None  # an interrupted job has lost its key
        return earlier

    def _repeat(self, earlier: Record, fingerprint: str) -> Job | None:
        """Return the job of an equal earlier request, or None if it was interrupted; raise if the requests differ."""
        if earlier.fingerprint != fingerprint:
            raise Problem("idempotency-key-reused", "This Idempotency-Key came with another request before.")
        return None if earlier.state == "interrupted" else self.waiting.as_of(earlier)

    async def _require_room(self, caller: Caller) -> None:
        """Raise a `Problem` if too many jobs wait, of all callers or of this caller, or if the store cannot be used."""
        counts = await self.shelf.call(self.shelf.store.counts)
        room = self._settings.job_queue + max(0, self._free_places())
        if counts.get("queued", 0) >= room:
            after = str(round(seconds_until_place(self._live.values())))
            raise Problem("too-many-requests", "Too many jobs are waiting.", headers={"Retry-After": after})
        caller.require_job(await self.shelf.call(self.shelf.store.live, caller.identity))

    def _free_places(self) -> int:
        """Return the number of jobs that this replica may claim."""
        return self._settings.job_workers - sum(running.on_place for running in self._live.values())

    async def _claim(self) -> None:
        """Repeat without end: take waiting jobs from the store, as many as there are free places, and run them."""
        while True:
            self._work = anyio.Event()
            free = self._free_places()
            await self.shelf.store_again()
            if free > 0 and self._accepting:
                lease_seconds = self._settings.lease_seconds
                for record in await self.shelf.claim(free, held=tuple(self._live), lease_seconds=lease_seconds):
                    running, course = self._course_of(record)
                    self._start(running, course)
            # Jobs of other replicas do not set the event, so the store is also asked at intervals.
            with anyio.move_on_after(self._settings.lease_seconds / BEATS):
                await self._work.wait()

    def _course_of(self, record: Record) -> tuple[Running, Course]:
        """Prepare the run of a job that was taken from the store.

        Returns:
            The job in its running form, and the function that runs it to its end.
        """
        if record.kind == SIMULATION:
            simulation = RunningSimulation(record=record)
            return simulation, partial(self._simulations.end_of, simulation)
        question = RunningQuestion(record=record)
        reading = self._reading(record.kind, record.name)
        if reading is None:  # this version of the service does not answer such questions
            return question, end_unreadable
        return question, partial(self._questions.end_of, question, reading)

    def _start(self, running: Running, course: Course) -> None:
        """Run a job. A job that comes from the store while the service stops is stopped before it begins."""
        self._live[running.record.id] = running
        if not self._accepting:
            running.stop(self._ending)
        self._tasks.start_soon(self._run, running, course)
        self.waiting.tell()

    async def _run(self, running: Running, course: Course) -> None:
        """Run a job, and store how it ended, also if it was stopped or failed.

        Only a job that is released, because the service stops, has no end: it goes back to the queue.
        """
        end: End | None = None
        try:
            with running.scope:
                end = await course()
        finally:
            with anyio.CancelScope(shield=True):  # the end is stored even while the service is stopping
                end = end or end_of_stop(running)
                if end is not None:
                    await self.shelf.end(running.record, replace(end, when=time.time()))
                    self._metrics.jobs.labels(running.record.kind, end.state).inc()
                    self._upkeep.count_end()
                    self._log.info("job", id=running.record.id, kind=running.record.kind, state=end.state)
                self._live.pop(running.record.id, None)
                running.done.set()
                running.tell()
                self.waiting.tell()
                self._work.set()  # a place is free for another job


JOBS: ServicePart[Jobs] = ServicePart("jobs")
