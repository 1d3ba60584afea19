"""The life of simulations in the service: taken in, queued, run, stopped, ended, remembered.

A simulation is told to be done only when its result is in the store.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import anyio
import structlog
from anyio import to_thread
from sqlalchemy.exc import InterfaceError, OperationalError

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.answers.work import render
from epsilond.app.http.keys import ANYBODY, Caller
from epsilond.app.http.problems import Problem, text_of
from epsilond.app.jobs.limits import MEGABYTE, require_within_limits
from epsilond.app.jobs.records import End, Record, Status
from epsilond.app.jobs.runner import SimulationRunner
from epsilond.app.jobs.running import RunningSimulation, State
from epsilond.app.jobs.store import Store
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.witness.simulation import Kind

SWEEP_SECONDS = 3600.0
DAY = 86_400.0
T = TypeVar("T")


class SimulationManager:
    """The simulations of one service, between entering and leaving `running()`."""

    def __init__(self, settings: Settings, metrics: Metrics, kinds: tuple[Kind, ...]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._kinds = kinds
        self._runner = SimulationRunner(settings, metrics, kinds)
        self._places = anyio.CapacityLimiter(settings.job_workers)
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._storing = anyio.Lock()
        self._live: dict[str, RunningSimulation] = {}
        self._unstored: dict[str, tuple[End, float]] = {}
        """How those ended, and when, whose end the store has not taken yet."""
        self._store: Store | None = None
        self._accepting = False
        self._log = structlog.get_logger()
        for status in ("queued", "running"):
            metrics.simulations_live.labels(status).set_function(partial(self._count, status))

    def open(self) -> None:
        """Open the store, if it is not open.

        Raises:
            StoreUnavailable: it cannot be used.
        """
        if self._store is None:
            self._store = Store.open(self._settings)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Simulations are taken in and run; at the end those that have not ended are interrupted."""
        await to_thread.run_sync(self.open)
        assert self._store is not None
        interrupted = await self._stored(self._store.interrupt, text_of(INTERRUPTED), time.time())
        if interrupted:
            self._log.warning("simulations were interrupted", count=interrupted)
        with self._runner.running():
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._sweep)
                self._accepting = True
                yield
                self.stop()
                for live in list(self._live.values()):
                    await live.done.wait()
                await self._store_again()
                self._tasks.cancel_scope.cancel()
        self._store.close()
        self._store = None

    def stop(self) -> None:
        """Take in no more, and interrupt what has not ended: those who wait are told at once."""
        self._accepting = False
        for live in self._live.values():
            live.stop("interrupted")

    async def submit(self, request: Any, key: str | None, caller: Caller = ANYBODY) -> State:
        """Take a simulation in, unless its idempotency key has brought it before and it was not interrupted.

        Raises:
            InvalidInput: what cannot be run.
            BeyondBudget: its estimate is beyond the service's limits.
            Problem: too many wait, or of this caller, the service is stopping, or the key came with another request.
        """
        rendered = render(request)
        fingerprint = hashlib.sha256(rendered).hexdigest()
        if not self._accepting:
            raise Problem("unavailable", "The service is stopping.")
        if key is not None and (earlier := await self._with_key(caller.name, key)) is not None:
            again = self._again(earlier, fingerprint)
            if again.status != "interrupted":
                return again
        kind = next(kind for kind in self._kinds if isinstance(request, kind.request))
        plan = kind.plan(request)
        require_within_limits(kind, request, plan, self._settings)
        self._require_room()
        caller.require_job(sum(live.record.owner == caller.name for live in self._live.values()))
        record = Record(
            id=f"sim_{secrets.token_urlsafe(16)}",
            kind=request.kind,
            created=time.time(),
            blocks=plan.blocks,
            seconds=plan.seconds,
            engine_version=ENGINE_VERSION,
            owner=caller.name,
            idempotency_key=key,
            fingerprint=fingerprint,
            request=rendered,
        )
        concurrency = max(1, min(self._settings.job_workers, plan.blocks))
        live = self._live[record.id] = RunningSimulation(
            record=record, kind=kind, request=request, plan=plan, concurrency=concurrency
        )
        try:
            with anyio.CancelScope(shield=True):
                kept = await self._stored(self._opened.add, record)
        except BaseException:
            self._forget(live)
            raise
        if kept.id != record.id:
            self._forget(live)
            return self._again(kept, fingerprint)
        live.record = kept
        self._tasks.start_soon(self._run, live)
        return live.state

    async def find(self, identifier: str, owner: str = "") -> State:
        """A simulation as it is now, with its result if it is done.

        Raises:
            Problem: this owner has none of this id.
        """
        await self._store_again()
        record = await self._stored(self._opened.get, owner, identifier)
        if record is None:
            raise Problem("not-found", "There is no simulation of this id; it may have been removed.")
        return self._state(record)

    async def page(self, owner: str, status: Status | None, before: int | None, limit: int) -> Sequence[State]:
        """This owner's newest simulations, of this status and older than this place in the order of creation."""
        await self._store_again()
        found = await self._stored(self._opened.page, owner, status, before, limit)
        return [self._state(record) for record in found]

    async def wait(self, identifier: str, seconds: float) -> None:
        """Wait until a simulation has ended, or so long."""
        live = self._live.get(identifier)
        if live is not None:
            with anyio.move_on_after(min(seconds, self._settings.job_wait_seconds)):
                await live.done.wait()

    async def states(self, identifier: str, owner: str = "") -> AsyncIterator[State]:
        """A simulation as it is now, and again whenever it has changed, until it has ended."""
        while (live := self._live.get(identifier)) is not None:
            changed = live.changed
            yield live.state
            await changed.wait()
        record = await self._stored(self._opened.get, owner, identifier)
        if record is not None:
            yield self._state(record)

    async def remove(self, identifier: str, owner: str = "") -> State | None:
        """Cancel a simulation that has not ended, and answer it; forget one that has.

        Raises:
            Problem: this owner has none of this id.
        """
        live = self._live.get(identifier)
        if live is not None and live.record.owner == owner:
            live.stop("cancelled")
            await live.done.wait()
            return await self.find(identifier, owner)
        await self._store_again()
        if identifier in self._unstored and (await self.find(identifier, owner)).ended:
            raise Problem("unavailable", "The store takes nothing at present.")
        if not await self._stored(self._opened.remove, owner, identifier):
            raise Problem("not-found", "There is no simulation of this id; it may have been removed.")
        return None

    @property
    def _opened(self) -> Store:
        assert self._store is not None
        return self._store

    async def _stored(self, method: Callable[..., T], *arguments: Any) -> T:
        """A method of the store, in a thread; one at a time, for in memory there is one connection.

        Raises:
            Problem: the store cannot be used at present: its disk is full, or its database is gone.
        """
        try:
            return await to_thread.run_sync(method, *arguments, limiter=self._one_at_a_time)
        except (OperationalError, InterfaceError):
            self._log.exception("the store of simulations cannot be used")
            raise Problem("unavailable", "The store of simulations cannot be used at present.") from None

    async def _with_key(self, owner: str, key: str) -> Record | None:
        await self._store_again()
        return await self._stored(self._opened.with_key, owner, key)

    def _again(self, earlier: Record, fingerprint: str) -> State:
        if earlier.fingerprint != fingerprint:
            raise Problem("idempotency-key-reused", "This Idempotency-Key came with another request before.")
        return self._state(earlier)

    def _state(self, record: Record) -> State:
        """Of a record just read: what is live tells more of itself, and what could not be stored will never end."""
        live = self._live.get(record.id)
        if record.ended is None and live is not None:
            return replace(live.state, record=record)
        if record.ended is None and record.id in self._unstored:
            return State(record=replace(record, problem=text_of(UNSTORED)), status="interrupted")
        return State.of(record)

    def _require_room(self) -> None:
        if len(self._live) >= self._settings.job_workers + self._settings.job_queue:
            running = [live for live in self._live.values() if live.status == "running"]
            soonest = min(live.seconds_left for live in running or self._live.values())
            raise Problem(
                "too-many-requests",
                "Too many simulations are waiting.",
                headers={"Retry-After": str(round(min(max(soonest, 1.0), 3600.0)))},
            )

    async def _run(self, live: RunningSimulation) -> None:
        """From the queue to the end, which is stored whatever happens."""
        end: End | None = None
        try:
            with live.scope:
                async with self._places:
                    await self._begin(live)
                    end = await self._runner.end_of(live)
        finally:
            with anyio.CancelScope(shield=True):
                await self._finish(live, end or _stopped(live))

    async def _begin(self, live: RunningSimulation) -> None:
        live.status, live.record = "running", replace(live.record, started=time.time())
        try:
            await self._stored(self._opened.start, live.record.id, live.record.started)
        except Exception:  # noqa: BLE001 (how it ends is what matters)
            self._log.exception("the start of a simulation could not be stored", id=live.record.id)
        live.tell()

    async def _finish(self, live: RunningSimulation, end: End) -> None:
        self._unstored[live.record.id] = end, time.time()
        await self._store_again()
        await self._prune()
        self._metrics.simulations.labels(live.record.kind, end.status).inc()
        self._log.info("simulation", id=live.record.id, kind=live.record.kind, status=end.status)
        self._forget(live)

    async def _store_again(self) -> None:
        """Store what has ended and is not stored yet; what cannot be stays until the next time."""
        async with self._storing:
            for identifier, (end, when) in list(self._unstored.items()):
                try:
                    kept = await self._stored(self._opened.end, identifier, end, when)
                except Exception:  # noqa: BLE001 (the service lives on; after a restart it is interrupted too)
                    self._log.exception("simulation could not be stored", id=identifier)
                    continue
                del self._unstored[identifier]
                if not kept:
                    self._log.warning("simulation had ended otherwise, or was removed", id=identifier)

    def _forget(self, live: RunningSimulation) -> None:
        self._live.pop(live.record.id, None)
        live.done.set()
        live.tell()

    def _count(self, status: Status) -> int:
        return sum(live.status == status for live in self._live.values())

    async def _sweep(self) -> None:
        while True:
            await self._store_again()
            await self._prune()
            await anyio.sleep(SWEEP_SECONDS)

    async def _prune(self) -> None:
        chosen = self._settings
        before, size = time.time() - chosen.store_days * DAY, chosen.store_megabytes * MEGABYTE
        try:
            await self._stored(partial(self._opened.prune, ended_before=before, jobs=chosen.store_jobs, size=size))
        except Exception:  # noqa: BLE001 (the next one tries again)
            self._log.exception("old simulations could not be removed")


INTERRUPTED = Problem("interrupted", "The service stopped before the simulation ended. Post it again with its seed.")
UNSTORED = Problem("unavailable", "The simulation has ended, and the store does not take its end. It is tried again.")


def _stopped(live: RunningSimulation) -> End:
    problem = text_of(INTERRUPTED) if live.stopped_as == "interrupted" else None
    return End(status=live.stopped_as, blocks_done=live.blocks_done, problem=problem)
