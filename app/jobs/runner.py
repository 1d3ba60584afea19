"""The course of one simulation: prepared, run block by block, put together, each step in a worker.

Blocks are decided by the request alone, so one whose worker died is run once more and gives the same.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

import anyio
import structlog

from epsilond.accountants.errors import EpsilondError
from epsilond.app.answers.work import Computation
from epsilond.app.http.problems import Problem, problem_of, text_of
from epsilond.app.jobs import work
from epsilond.app.jobs.limits import MEGABYTE
from epsilond.app.jobs.records import End
from epsilond.app.jobs.running import RunningSimulation
from epsilond.app.jobs.workers import JobWorkers
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.witness.simulation import Kind

ATTEMPTS = 2
"""How often a step is run whose worker dies."""
OVERRUN = 10
"""A simulation that runs so many times longer than the limit on estimates is stopped."""


TELL_SECONDS = 3.0
"""Who watches is told so often how long it still takes, for one block may run for minutes."""


class SimulationRunner:
    """What runs simulations, between entering and leaving `running()`."""

    def __init__(self, settings: Settings, metrics: Metrics, kinds: tuple[Kind, ...]) -> None:
        self._settings = settings
        self._metrics = metrics
        modules = {kind.run_block.__module__ for kind in kinds}
        self._workers = JobWorkers(settings, tuple(sorted(modules)))
        self._log = structlog.get_logger()

    def running(self) -> AbstractContextManager[None]:
        """There are workers."""
        return self._workers.running()

    async def end_of(self, live: RunningSimulation) -> End:
        """Run it to its end, whatever that is. Cancelling kills its workers."""
        try:
            with anyio.fail_after(OVERRUN * self._settings.job_seconds):
                return End(status="done", blocks_done=live.plan.blocks, result=await self._result(live))
        except TimeoutError:
            problem = Problem("deadline-exceeded", "The simulation ran far longer than any may, and was stopped.")
        except (EpsilondError, Problem) as refusal:
            problem = problem_of(refusal)
        except Exception:  # noqa: BLE001 (one that fails must not end the others)
            self._log.exception("simulation failed", id=live.record.id)
            problem = Problem("internal-error", "The simulation failed; the service's logs have it under its id.")
        return End(status="failed", blocks_done=live.blocks_done, problem=text_of(problem))

    async def _result(self, live: RunningSimulation) -> bytes:
        kind, request = live.kind, live.request
        resolved = await self._step(partial(work.prepared, kind, request))
        blocks = await self._blocks(live, resolved)
        result = await self._step(partial(work.assembled, kind, request, resolved, blocks))
        self._require_bounded(len(result))
        return result

    async def _blocks(self, live: RunningSimulation, resolved: bytes) -> list[bytes]:
        """Every block, as many side by side as its concurrency allows; the first that fails stops the others."""
        blocks = [b""] * live.plan.blocks
        indices = iter(range(live.plan.blocks))
        failures: list[Exception] = []

        async def run_blocks(scope: anyio.CancelScope) -> None:
            try:
                for index in indices:
                    live.begins(index)
                    blocks[index] = await self._step(partial(work.block, live.kind, resolved, index))
                    seconds = live.measured(index, blocks[index])
                    self._metrics.simulation_blocks.labels(live.record.kind).observe(seconds)
                    self._require_bounded(live.bytes_held)
            except Exception as failure:  # noqa: BLE001 (a task group would wrap it)
                failures.append(failure)
                scope.cancel()

        async with anyio.create_task_group() as ticking:
            ticking.start_soon(_tell_often, live)
            async with anyio.create_task_group() as workers:
                for _ in range(live.concurrency):
                    workers.start_soon(run_blocks, workers.cancel_scope)
            ticking.cancel_scope.cancel()
        if failures:
            raise failures[0]
        return blocks

    async def _step(self, computation: Computation) -> bytes:
        """What one step answers. It is run once more if its worker dies."""
        for _ in range(ATTEMPTS):
            try:
                return (await self._workers.run(computation)).get().body
            except anyio.BrokenWorkerProcess:
                self._metrics.worker_deaths.labels("crashed").inc()
                self._log.warning("worker of a simulation lost")
        raise Problem("internal-error", f"Its worker died {ATTEMPTS} times at the same step; memory may be short.")

    def _require_bounded(self, size: int) -> None:
        limit = self._settings.job_megabytes
        if size > limit * MEGABYTE:
            raise Problem("beyond-budget", f"The blocks of the simulation, or its result, hold more than {limit} MB.")


async def _tell_often(live: RunningSimulation) -> None:
    while True:
        await anyio.sleep(TELL_SECONDS)
        live.tell()
