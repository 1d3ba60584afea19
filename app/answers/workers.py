"""Worker processes: as many at work as there are cores, each killed if it must stop, always some warm ahead."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeVar

import anyio
import structlog
from anyio import to_process

from epsilond.app.answers.work import ONE_THREAD, Computation, Outcome, Worker, in_worker, warm
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

REFRESH_SECONDS = 60.0
"""Workers idle for five minutes are dropped by anyio; they are used, or replaced, before."""

NICER = 5
"""How far behind the event loop computations are that somebody waits for."""

Cause = Literal["crashed", "deadline", "abandoned"]
T = TypeVar("T")


class Workers:
    """The workers of one event loop. They live while `keep` runs."""

    def __init__(self, settings: Settings, metrics: Metrics, modules: tuple[str, ...]) -> None:
        os.environ.update(ONE_THREAD)  # workers inherit it
        self.ready = False
        self._settings = settings
        self._metrics = metrics
        self._log = structlog.get_logger()
        self._worker = Worker(
            modules=modules, memory_megabytes=settings.worker_memory_megabytes, nicer=NICER, service=os.getpid()
        )
        self._places = anyio.CapacityLimiter(settings.workers)
        self._wanting = anyio.Event()

    async def run(self, computation: Computation, started: Callable[[], None]) -> Outcome:
        """The outcome of a computation, as soon as there is a place for it; `started` is called when there is.

        Cancelling kills the worker, because nothing else stops a computation in C.

        Raises:
            BrokenWorkerProcess: the worker died.
            Exception: what is asked or answered cannot be pickled.
        """
        async with self._places:
            started()
            return await in_process(partial(in_worker, computation, self._worker))

    def lost(self, cause: Cause) -> None:
        """A worker has died; have it replaced before somebody needs it."""
        self._metrics.worker_deaths.labels(cause).inc()
        self._metrics.all_warm.set(0)
        self._wanting.set()
        self._log.warning("worker lost", cause=cause)

    async def keep(self) -> None:
        """Keep a warm worker for every place and some to spare, for ever.

        As many tasks as there should be idle workers, side by side, take every idle one and start every missing one.
        """
        while True:
            self._wanting = anyio.Event()
            idle = self._settings.workers + self._settings.spare_workers - self._places.borrowed_tokens
            async with anyio.create_task_group() as side_by_side:
                for _ in range(idle):
                    side_by_side.start_soon(self._warm_one)
            self._metrics.all_warm.set(0 if self._wanting.is_set() else 1)
            with anyio.move_on_after(REFRESH_SECONDS):
                await self._wanting.wait()

    async def _warm_one(self) -> None:
        try:
            with anyio.CancelScope(shield=True):  # a process that is just starting is not safely cancelled
                await in_process(partial(warm, self._worker))
            self.ready = True
        except Exception:  # noqa: BLE001 (the service lives on, unready, and tries again)
            self._log.exception("worker cannot start")


async def in_process(command: Callable[[], T]) -> T:
    """Run a command in an idle worker, or in a new one; cancelling kills it.

    Raises:
        BrokenWorkerProcess: the worker died.
    """
    try:
        # Places are ours to give, so that we know when work starts; anyio's own limit must not interfere.
        return await to_process.run_sync(command, cancellable=True, limiter=anyio.CapacityLimiter(1))
    except ProcessLookupError as error:  # it died while it was starting, and anyio wanted to kill it
        raise anyio.BrokenWorkerProcess from error
