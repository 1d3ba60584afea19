"""Answers to questions: from the cache, or from the pool, where closed forms do not wait behind long computations.

Equal questions of one owner at one time share one computation. When no request waits for it any more, the pool decides
whether it may still finish. When a request has waited long enough, a job takes its place, and no work is lost.

An answer belongs to the owner of its question.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import anyio.lowlevel
import structlog
from anyio import to_thread

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs.turns import AGAIN_SECONDS, means_no_room
from epsilond.app.metrics import Metrics
from epsilond.app.questions.outcomes import OutcomeCache
from epsilond.app.questions.question import ParsedQuestions, PosedQuestions, Question, join_outcomes
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Lane, Task, TurnedAway
from epsilond.app.workers.work import Failed, Outcome, message_of


class Compute:
    """The computations of a service, and the cache of their outcomes; used within the context manager `running`.

    Attributes:
        parsed: cache of parsed requests.
        posed: digests of the questions that each caller has posed.
        closing: event that is set when the service is to end. Requests then stop waiting for their answers.
    """

    def __init__(self, settings: Settings, metrics: Metrics, pool: Pool) -> None:
        """Prepare to compute the answers to questions, that is, to requests with their problem, with an empty cache.

        Args:
            settings: size of the cache, and number of workers.
            metrics: metrics of the service, three of which read the state of this object.
            pool: worker processes that run the computations.
        """
        self._settings = settings
        self._metrics = metrics
        self._pool = pool
        self._cache = OutcomeCache(settings.cache_megabytes)
        self.parsed = ParsedQuestions()  # questions that were read from requests, so that they are not parsed again
        self.posed = PosedQuestions()  # digests of the questions that each caller has posed
        self.closing = anyio.Event()
        self._log = structlog.get_logger()

        # Computations that have not ended, by owner and digest of the question.
        self._shared: dict[tuple[str, str], SharedComputation] = {}
        metrics.under_way.set_function(lambda: len(self._shared))
        metrics.cache_bytes.set_function(lambda: self._cache.bytes)
        metrics.cache_entries.set_function(lambda: self._cache.entries)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept computations within this context, and drop unfinished computations at its end."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def close_after(self, seconds: float) -> None:
        """Let requests wait for unfinished computations for this many seconds, and then end their waiting."""
        await anyio.sleep(seconds)
        self.closing.set()

    def cached_outcome(self, question: Question, owner: str) -> Outcome | None:
        """Return the outcome of a question from the cache; None if the cache has none for this owner."""
        return self._cache.get(owner, question.digest)

    def join(
        self, question: Question, owner: str, caller: str, lane: Lane = "question"
    ) -> tuple[SharedComputation, bool]:
        """Return the running computation that answers a question, or start one. Call `leave` to end the wait for it.

        Equal questions thus cost CPU time only once. Each party that joins is counted in `waiting`.

        Args:
            question: the question to answer.
            owner: owner of the answer; equal questions of one owner share a computation.
            caller: identity of the caller. A new computation waits in the queue of this caller.
            lane: queue of the pool in which a new computation waits.

        Returns:
            The computation, and whether it is new.
        """
        shared = self._shared.get((owner, question.digest))
        is_new = shared is None
        if shared is None:
            shared = SharedComputation(question=question, owner=owner, caller=caller, lane=lane)
            self._shared[shared.key] = shared
            self._tasks.start_soon(self._run, shared)
        # No party waited any more, so that the pool would soon have stopped the task.
        elif shared.waiting == 0 and shared.task is not None:
            self._pool.keep(shared.task)
        shared.waiting += 1
        return shared, is_new

    def leave(self, shared: SharedComputation) -> None:
        """Note that a request, job or larger question does not wait for a computation any more.

        If no party is left, a computation with parts is stopped. Any other computation is abandoned: the pool decides
        whether it may still finish.

        Args:
            shared: the computation.
        """
        shared.waiting -= 1
        is_needed = shared.waiting > 0
        if is_needed or shared.done.is_set():
            return
        if shared.question.joins:
            self._forget(shared)
            shared.scope.cancel()
        elif shared.task is not None:
            self._pool.abandon(shared.task)

    def to_background(self, shared: SharedComputation) -> None:
        """Give a computation the lower priority of jobs, because no request waits for it any more, but a job does.

        The same happens to its parts, except those that other requests or jobs wait for. A running computation goes on.
        A queued one moves to the queue of jobs. If that is full, it is stopped, and later submitted again as a job.

        Args:
            shared: the computation.
        """
        if shared.lane == "job":
            return
        shared.lane = "job"

        # A part with a second waiting party keeps its priority.
        for part in shared.parts:
            if part.waiting == 1 and not part.done.is_set():
                self.to_background(part)
        if shared.task is None or shared.task.state == "ended":
            return
        goes_on = self._pool.to_background(shared.task)
        if not goes_on:
            # The task has not begun. `_run_in_pool` submits it again, in the queue of jobs.
            self._pool.stop(shared.task)

    async def _run(self, shared: SharedComputation) -> None:
        """Run a computation until it has an outcome, or until no party waits for it; then notify the parties.

        The outcome is cached. If the pool turns the computation away, `shared.problem` has the reason.

        Args:
            shared: the computation; its outcome or problem is set here.
        """
        try:
            with shared.scope:
                if shared.question.joins:
                    shared.outcome = await self._compute_joined(shared)
                else:
                    shared.outcome = await self._compute_single(shared)
        except Problem as problem:
            shared.problem = problem
        finally:
            # If the computation was cancelled, a worker may still run its task.
            if shared.task is not None and shared.task.state != "ended":
                self._pool.stop(shared.task)
            self._forget(shared)
            if shared.outcome is not None:
                self._cache.keep(*shared.key, shared.outcome)
            shared.end()

    async def _compute_single(self, shared: SharedComputation) -> Outcome | None:
        """Return the outcome of a question without parts; None if it was stopped because no party waits for it."""
        work = shared.question.work
        # Work that is not pickled yet was read from a small body, so that the event loop pickles it quickly.
        message = work if isinstance(work, bytes) else message_of(work)
        return await self._run_in_pool(shared, message, is_brief=shared.question.closed_form)

    async def _compute_joined(self, shared: SharedComputation) -> Outcome | None:
        """Compute the parts of a question, and join their outcomes.

        Args:
            shared: computation of a question with parts, such as a sweep.

        Returns:
            The answer or error of the whole question; None if no party waits for it.

        Raises:
            Problem: the pool has no room for a part, or the service is stopping.
        """
        outcomes = await self._compute_parts(shared)
        # The outcomes may be large, so they are pickled in a thread and joined by a worker.
        work = partial(join_outcomes, shared.question.pickled, outcomes)
        message = await to_thread.run_sync(message_of, work)
        return await self._run_in_pool(shared, message, is_brief=True)

    async def _run_in_pool(self, shared: SharedComputation, message: bytes, *, is_brief: bool) -> Outcome | None:
        """Run a pickled computation in the pool, and return its outcome.

        The computation of a job is submitted again until the pool has room, because the job was accepted already.

        Args:
            shared: the computation.
            message: the pickled computation.
            is_brief: whether it takes only milliseconds, so that it should not wait behind long questions.

        Returns:
            The answer or error of the computation; None if no party waits for it any more.

        Raises:
            Problem: the pool has no room for a computation that requests wait for, or the service is stopping.
        """
        while shared.waiting:
            try:
                outcome = await self._run_task(shared, message, is_brief=is_brief)
            except Problem as problem:
                can_wait = shared.lane == "job" and means_no_room(problem)
                if not can_wait:
                    raise
                await anyio.sleep(AGAIN_SECONDS)
            else:
                # A task without outcome was stopped. It is submitted again if a party waits for it.
                if outcome is not None:
                    return outcome
        return None

    async def _run_task(self, shared: SharedComputation, message: bytes, *, is_brief: bool) -> Outcome | None:
        """Submit a computation to the pool once, and return its outcome.

        The times of the task are added to the times of the computation.

        Args:
            shared: the computation.
            message: the pickled computation.
            is_brief: whether it takes only milliseconds, so that it waits in the queue of short tasks.

        Returns:
            The answer or error of the computation; None if the task was stopped before its end.

        Raises:
            Problem: the pool has no room, or the service is stopping.
        """
        lane: Lane = "read" if is_brief else shared.lane
        expensive = lane == "question" and shared.question.is_expensive
        task = self._pool.submit(message, caller=shared.caller, lane=lane, expensive=expensive)
        shared.task = task
        await task.done.wait()

        shared.cpu_seconds += task.cpu_seconds
        shared.queued_seconds += task.queued_seconds
        if isinstance(task.outcome, TurnedAway):
            raise task.outcome.problem
        return task.outcome

    async def _compute_parts(self, shared: SharedComputation) -> tuple[Outcome, ...]:
        """Return the outcomes of all parts of a question, in order; at most one part per worker runs at a time.

        A question with parts is, for example, a sweep: one calibration at each of many values of a field.

        Args:
            shared: computation of a question with parts.

        Returns:
            One outcome (answer or error) for each part, in the order of the parts.

        Raises:
            Problem: a part was turned away. The other parts are then stopped.
        """
        parts = shared.question.parts
        outcomes: dict[int, Outcome] = {}
        problems: list[Problem] = []
        limiter = anyio.CapacityLimiter(self._settings.workers)

        async def compute(index: int, scope: anyio.CancelScope) -> None:
            """Store the outcome of one part. If the pool has no room for it, store the problem and stop all parts."""
            async with limiter:
                try:
                    outcomes[index] = await self._compute_part(shared, parts[index])
                except Problem as problem:
                    problems.append(problem)
                    scope.cancel()

        async with anyio.create_task_group() as tasks:
            for index in range(len(parts)):
                tasks.start_soon(compute, index, tasks.cancel_scope)
        if problems:
            raise problems[0]
        return tuple(outcomes[index] for index in range(len(parts)))

    async def _compute_part(self, shared: SharedComputation, question: Question) -> Outcome:
        """Return the outcome of one part of a computation, and count the part as a finished step.

        Args:
            shared: the whole computation. The CPU time of the part is added to it.
            question: the question of the part.

        Returns:
            The answer of the part, or the error that it ended with.

        Raises:
            Problem: the part was turned away.
        """
        outcome = self.cached_outcome(question, shared.owner)
        if outcome is None:
            # Another question of the owner may have the same part. Both then share its computation.
            part, _ = self.join(question, shared.owner, shared.caller, shared.lane)
            shared.parts.append(part)
            try:
                await part.done.wait()
            finally:
                self.leave(part)
            if part.problem is not None:
                raise part.problem
            assert part.outcome is not None  # a computation is stopped only when no party waits for it
            outcome = part.outcome
            shared.cpu_seconds += part.cpu_seconds
        if isinstance(outcome, Failed):
            self._log.error("one of several failed", question=question.name, trace=outcome.trace)
        shared.step()
        return outcome

    def _forget(self, shared: SharedComputation) -> None:
        """Remove a computation from those that further questions can join, unless a newer one has its key."""
        if self._shared.get(shared.key) is shared:
            del self._shared[shared.key]


COMPUTE: ServicePart[Compute] = ServicePart("compute")


@dataclass(eq=False, kw_only=True)
class SharedComputation:
    """A computation with its progress, which all equal questions (requests) of one owner share.

    Attributes:
        question: the question.
        owner: owner of the answer.
        caller: identity of the first caller of the question; the computation waits in the queue of that caller.
        lane: queue of the pool of workers.
        waiting: number of HTTP requests, jobs and larger questions that wait for the outcome.
        task: the task that the pool has: the whole computation, or the step that joins the parts.
        parts: computations of the parts that have begun.
        parts_done: number of finished parts.
        began: start [s], on the monotonic clock.
        outcome: the outcome; None while the computation runs, and if it was stopped.
        problem: the reason why the computation was not tried; None if it was.
        done: event that is set at the end.
        changed: event that is set at the next step, and then replaced.
        scope: scope of the work; cancelling it stops the work.
        cpu_seconds: CPU seconds that workers spent on the computation, including its parts.
        queued_seconds: seconds that the computation waited for workers.
    """

    question: Question
    owner: str
    caller: str
    lane: Lane = "question"
    waiting: int = 0
    task: Task | None = None
    parts: list[SharedComputation] = field(default_factory=list)
    parts_done: int = 0
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    problem: Problem | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cpu_seconds: float = 0.0
    queued_seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """The key under which equal questions of one owner find this computation."""
        return self.owner, self.question.digest

    @property
    def steps(self) -> int:
        """The number of steps: the number of parts, or 1."""
        return max(1, len(self.question.parts))

    def step(self) -> None:
        """Count one more finished part, and notify the watchers."""
        self.parts_done += 1
        self.changed.set()
        self.changed = anyio.Event()

    def end(self) -> None:
        """Mark the computation as ended, and notify the waiting parties and the watchers."""
        self.done.set()
        self.changed.set()
