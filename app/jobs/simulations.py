"""The course of one simulation: prepared, run block by block, and assembled, each step in a worker.

Blocks depend on the request only. If a worker dies, its block is run again, with the same result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart
from epsilond.app.jobs import work
from epsilond.app.jobs.ends import end_of
from epsilond.app.jobs.limits import MEGABYTE, SimulationLimits
from epsilond.app.jobs.running import RunningSimulation
from epsilond.app.jobs.turns import run_in_pool
from epsilond.app.metrics import Metrics
from epsilond.app.questions.simulations import SimulationAsked, read_simulation
from epsilond.app.settings import Settings
from epsilond.app.store.record import End, Record
from epsilond.app.workers.cluster import Cluster
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import Computation, RenderedAnswer, pickle_result, unpickle
from epsilond.witness.kind import SimulationKind

OVERRUN = 10
"""Multiple of the limit on estimates after which a simulation is stopped: estimates are rough."""
TELL_SECONDS = 3.0
"""Seconds between reports of the time that is left, because one block may run for minutes."""


class SimulationRunner:
    """The reader and runner of simulations, which run as jobs in workers of the service or on a cluster.

    Args:
        settings: settings of the service, with the limits of one simulation.
        metrics: metrics of the service.
        pool: the worker processes.
        kinds: kinds of simulation that the service offers.
    """

    def __init__(self, settings: Settings, metrics: Metrics, pool: Pool, kinds: tuple[SimulationKind, ...]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._pool = pool
        self._kinds = kinds
        self._limits = SimulationLimits.of(settings)
        self._cluster = Cluster(settings.dask, metrics, self._run_here) if settings.dask else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run steps on the cluster, if there is one, within this context."""
        async with AsyncExitStack() as until_stopped:
            if self._cluster is not None:
                await until_stopped.enter_async_context(self._cluster.running())
            yield

    def reading(self, body: bytes) -> Computation:
        """Return the function call by which a worker reads the body of a request."""
        read = partial(read_simulation, self._kinds, self._limits, body, runs_here=self._cluster is None)
        return partial(pickle_result, read)

    async def end_of(self, running: RunningSimulation) -> End:
        """Run a simulation, and return its end. Cancelling kills its workers."""
        return await end_of(running, partial(self._simulate, running), OVERRUN * self._settings.job_seconds)

    async def _simulate(self, running: RunningSimulation) -> End:
        """Run a simulation, and return the end of a successful job."""
        result = await self._result(running)
        return End(state="done", steps_done=running.blocks, result=result, media_type="application/json")

    async def _result(self, running: RunningSimulation) -> bytes:
        """Run a simulation in three steps, and return its result as JSON: prepare, run all blocks, assemble.

        The three steps and the blocks run in worker processes, or on a cluster if there is one.

        Args:
            running: the job, in which the simulation and its concurrency are noted.

        Returns:
            The result of the simulation as JSON, in UTF-8.

        Raises:
            Problem: the result is too large.
            Exception: the failure of a step.
        """
        caller = running.record.caller
        simulation = await self._read_simulation(running.record)
        running.simulation = simulation
        running.concurrency = await self._concurrency(simulation.plan.blocks)
        kind = next(kind for kind in self._kinds if kind.request.kind == simulation.kind)
        request = simulation.request
        # Each step runs in a worker process. Its pickled result is passed on without unpickling it here.
        resolved = (await self._step(partial(work.prepare, kind, request), caller)).body
        blocks = await self._run_blocks(running, kind, resolved)
        result = (await self._step(partial(work.assemble, kind, request, resolved, blocks), caller)).body
        self._require_bounded(len(result))
        return result

    async def _read_simulation(self, record: Record) -> SimulationAsked:
        """Read the request of a stored job in a worker, and check it again: another version may have other limits."""
        reading = self.reading(record.request)
        return unpickle(await run_in_pool(self._pool, reading, caller=record.caller, lane="read"), SimulationAsked)

    async def _concurrency(self, blocks: int) -> int:
        """Return the number of blocks that run at one time, of the given number of all blocks."""
        places = self._settings.job_workers
        if self._cluster is not None:
            places = max(places, await self._cluster.places())
        return max(1, min(places, blocks))

    async def _run_blocks(self, running: RunningSimulation, kind: SimulationKind, resolved: bytes) -> list[bytes]:
        """Run all blocks of a simulation, and return their pickled results in order.

        At most `running.concurrency` blocks are computed at one time. The first failure stops all of them.

        Args:
            running: the job; the start and the end of each block are noted in it.
            kind: kind of the simulation.
            resolved: the prepared simulation with all default values, pickled for the workers.

        Returns:
            One pickled result for each block (group of repetitions), in the order of the blocks.

        Raises:
            Exception: the first failure of a block.
        """
        blocks = [b""] * running.blocks
        indices = iter(range(running.blocks))
        failures: list[Exception] = []

        async def take_blocks(scope: anyio.CancelScope) -> None:
            """Run one block after another, each the next that no other task has taken.

            All tasks take their blocks from one iterator. A failure is added to `failures` and stops all tasks.

            Args:
                scope: scope of all tasks, which a failure cancels.
            """
            try:
                for index in indices:
                    # The start and the end of a block are noted, because they give the remaining time.
                    running.begin_block(index)
                    step = partial(work.block, kind, resolved, index)
                    blocks[index] = (await self._step(step, running.record.caller)).body
                    seconds = running.end_block(index, blocks[index])
                    self._metrics.simulation_blocks.labels(running.record.name).observe(seconds)
                    self._require_bounded(running.bytes_held)
            except Exception as failure:  # noqa: BLE001 (a task group would wrap it)
                failures.append(failure)
                scope.cancel()

        async with anyio.create_task_group() as ticking:
            ticking.start_soon(_tell_often, running)
            async with anyio.create_task_group() as workers:
                for _ in range(running.concurrency):
                    workers.start_soon(take_blocks, workers.cancel_scope)
            ticking.cancel_scope.cancel()
        if failures:
            raise failures[0]
        return blocks

    async def _step(self, computation: Computation, caller: str) -> RenderedAnswer:
        """Return the answer of one step, on the cluster or here; cancelling stops it."""
        if self._cluster is None:
            return await self._run_here(computation, caller)
        return (await self._cluster.run(computation, caller)).get()

    async def _run_here(self, computation: Computation, caller: str) -> RenderedAnswer:
        """Return the answer of one step, which a worker process of this service computes."""
        return await run_in_pool(self._pool, computation, caller=caller, lane="job")

    def _require_bounded(self, size: int) -> None:
        """Reject a size in bytes above the limit of a job.

        Args:
            size: size of the blocks held or of the result [bytes], at least 0.

        Raises:
            Problem: the size exceeds the limit.
        """
        limit = self._settings.job_megabytes
        if size > limit * MEGABYTE:
            raise Problem("beyond-budget", f"The blocks of the simulation, or its result, hold more than {limit} MB.")


SIMULATIONS: ServicePart[SimulationRunner] = ServicePart("simulations")


async def _tell_often(running: RunningSimulation) -> None:
    """Wake the watchers of a simulation every `TELL_SECONDS`, without end, so that they see the remaining time."""
    while True:
        await anyio.sleep(TELL_SECONDS)
        running.tell()
