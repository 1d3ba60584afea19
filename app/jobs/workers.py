"""Workers of simulations: processes of their own, so that a simulation never takes a place from a question.

They run at lower priority, and a process that has stepped back cannot step forward again. So they must never mix with
the workers of questions; processes are kept by event loop, so these have an event loop of their own, in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from epsilond.app.answers.work import ONE_THREAD, Computation, Outcome, Worker, in_worker, warm
from epsilond.app.answers.workers import in_process
from epsilond.app.settings import Settings

NICER = 15
"""Behind the event loop, and behind the workers of questions."""


class JobWorkers:
    """As many as are at work at once; each is started when it is needed, kept for the next step, killed to stop one."""

    def __init__(self, settings: Settings, modules: tuple[str, ...]) -> None:
        os.environ.update(ONE_THREAD)  # workers inherit it
        self._modules = modules
        self._memory_megabytes = settings.worker_memory_megabytes
        self._portal: BlockingPortal | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """The event loop turns; at the end its workers are killed."""
        self._worker = Worker(
            modules=self._modules, memory_megabytes=self._memory_megabytes, nicer=NICER, service=os.getpid()
        )
        with start_blocking_portal(name="simulations") as self._portal:
            yield
        self._portal = None

    async def run(self, computation: Computation) -> Outcome:
        """The outcome of a computation in a worker. Cancelling kills the worker.

        Raises:
            BrokenWorkerProcess: the worker died.
            Exception: what is asked or answered cannot be pickled.
        """
        assert self._portal is not None
        return await asyncio.wrap_future(self._portal.start_task_soon(self._run, computation))

    async def _run(self, computation: Computation) -> Outcome:
        with anyio.CancelScope(shield=True):  # a process that is just starting is not safely cancelled
            await in_process(partial(warm, self._worker))
        return await in_process(partial(in_worker, computation, self._worker))
