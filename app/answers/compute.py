"""Where a question gets its answer: from the cache, in the event loop if it is a closed form, else in a worker.

Identical concurrent requests share one computation. It ends at its deadline, or when the last of those who
wait for it has gone; either way its worker is killed.
"""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import anyio
from cachetools import LRUCache
from starlette.requests import Request

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.answers.work import Answered, Computation, Failed, Outcome, outcome_of
from epsilond.app.answers.workers import Workers
from epsilond.app.http.keys import caller_of
from epsilond.app.http.problems import Problem
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

ENTRY_BYTES = 1024
"""Rough size of a cache entry beside its body."""

CacheUse = Literal["hit", "miss", "shared"]


@dataclass(frozen=True)
class Job:
    """A computation and the question it answers."""

    kind: Literal["calibration", "evaluation", "account", "risk-bounds", "figure", "reach", "report"]
    name: str
    question: Any
    computation: Computation
    closed_form: bool = False

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Equal for equal questions to one version of the mathematics. A repr tells apart all that differs."""
        return (self.kind, self.name, repr(self.question), ENGINE_VERSION)


@dataclass(eq=False)
class SharedComputation:
    """A computation under way, and how many wait for it."""

    job: Job
    waiting: int = 0
    started: bool = False
    outcome: Outcome | None = None
    done: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def start(self) -> None:
        """It has left the queue."""
        self.started = True


class Compute:
    """The service's one place of computation, between entering and leaving `running()`."""

    def __init__(self, settings: Settings, metrics: Metrics, modules: tuple[str, ...]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._modules = modules
        self._workers: Workers | None = None
        self._cache: LRUCache[tuple[str, ...], Outcome] = LRUCache(settings.cache_megabytes * 1_048_576, _size)
        self._shared: dict[tuple[str, ...], SharedComputation] = {}
        metrics.under_way.set_function(lambda: len(self._shared))

    @property
    def ready(self) -> bool:
        """Whether a worker has imported the mathematics, and the service is not stopping."""
        return self._workers is not None and self._workers.ready

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Workers are started and kept until the end, when they are killed."""
        async with anyio.create_task_group() as self._tasks:
            self._workers = Workers(self._settings, self._metrics, self._modules)
            self._tasks.start_soon(self._workers.keep)
            yield
            self._workers = None
            self._tasks.cancel_scope.cancel()

    async def answer(self, job: Job, request: Request) -> tuple[Answered, CacheUse]:
        """The answer to a job, from the cache, the event loop or a worker.

        Raises:
            EpsilondError: the mathematics' refusal.
            Problem: too many wait, or of this caller, the deadline passed, or the client has gone.
            WorkFailed: a fault of ours.
        """
        key = job.key
        outcome, use = self._cache.get(key), _HIT
        if outcome is None and job.closed_form:
            outcome, use = outcome_of(job.computation), _MISS
            self._remember(key, outcome)
        if outcome is None:
            use = _SHARED if key in self._shared else _MISS
            with caller_of(request).computation():
                outcome = await self._wait_for(self._join_or_start(job), request)
        self._metrics.cache.labels(use).inc()
        answer = outcome.get()
        if use == _MISS and answer.relative_width is not None:
            self._metrics.widths.labels(job.name).observe(answer.relative_width)
        return answer, use

    def _join_or_start(self, job: Job) -> SharedComputation:
        """The computation that answers this job: one under way, or a new one if there is room."""
        if self._workers is None:
            raise Problem("unavailable", "The service is stopping.")
        shared = self._shared.get(job.key)
        if shared is None:
            if len(self._shared) >= self._settings.workers + self._settings.queue:
                raise Problem("too-many-requests", "Too many computations are waiting.", headers={"Retry-After": "5"})
            shared = self._shared[job.key] = SharedComputation(job)
            self._tasks.start_soon(self._run, shared, self._workers)
        shared.waiting += 1
        return shared

    async def _wait_for(self, shared: SharedComputation, request: Request) -> Outcome:
        """Wait for a computation as long as the client does; the last client to leave cancels it."""
        try:
            async with anyio.create_task_group() as both:
                both.start_soon(_until_gone, request, both.cancel_scope)
                await shared.done.wait()
                both.cancel_scope.cancel()
        finally:
            shared.waiting -= 1
            if shared.waiting == 0 and not shared.done.is_set():
                self._forget(shared)
                shared.scope.cancel()
        if not shared.done.is_set():
            raise Problem("client-closed-request", "The client went away.")
        if shared.outcome is None:
            limit = f"{self._settings.deadline_seconds:g} s"
            raise Problem("deadline-exceeded", f"The computation did not end within {limit} and was stopped.")
        return shared.outcome

    async def _run(self, shared: SharedComputation, workers: Workers) -> None:
        """Run a job in a worker. Without an outcome it was stopped: by its deadline, or since every client left."""
        try:
            with shared.scope, anyio.move_on_after(self._settings.deadline_seconds):
                shared.outcome = await workers.run(shared.job.computation, shared.start)
        except anyio.BrokenWorkerProcess:
            shared.outcome = Failed("The worker died.")
            workers.lost("crashed")
        except Exception:  # noqa: BLE001 (what cannot be pickled, either way: a fault of ours)
            shared.outcome = Failed(traceback.format_exc())
        finally:
            if shared.outcome is None and shared.started:
                workers.lost("abandoned" if shared.scope.cancel_called else "deadline")
            self._forget(shared)
            shared.done.set()
        if shared.outcome is not None:
            self._remember(shared.job.key, shared.outcome)

    def _forget(self, shared: SharedComputation) -> None:
        if self._shared.get(shared.job.key) is shared:
            del self._shared[shared.job.key]

    def _remember(self, key: tuple[str, ...], outcome: Outcome) -> None:
        """Answers and refusals are functions of the question; a fault of ours may pass."""
        if not isinstance(outcome, Failed) and _size(outcome) <= self._cache.maxsize:
            self._cache[key] = outcome


_HIT: CacheUse = "hit"
_MISS: CacheUse = "miss"
_SHARED: CacheUse = "shared"


def _size(outcome: Outcome) -> int:
    return ENTRY_BYTES + len(outcome.body) if isinstance(outcome, Answered) else 2 * ENTRY_BYTES


async def _until_gone(request: Request, scope: anyio.CancelScope) -> None:
    """Cancel `scope` when the client disconnects. The body has been read, so nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
