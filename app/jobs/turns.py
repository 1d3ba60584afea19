"""Steps of jobs in workers. A step waits while the pool has no room, because its job was accepted."""

from __future__ import annotations

from typing import Final

import anyio
from anyio import to_thread

from epsilond.app.http.problems import Problem
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Lane
from epsilond.app.workers.work import Computation, RenderedAnswer, message_of

AGAIN_SECONDS: Final = 2.0
"""Seconds between attempts to start a step that the pool has no room for."""
STOPPING = Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})


async def run_in_pool(pool: Pool, computation: Computation, *, caller: str, lane: Lane) -> RenderedAnswer:
    """Run one step of a job in a worker, and return its answer.

    While the pool has no room, the step is submitted again after a pause. If the worker dies, the pool runs the step
    again. Cancelling this call kills the worker.

    Args:
        pool: the workers.
        computation: the step.
        caller: identity of the job's caller.
        lane: queue of the pool in which the step waits.

    Returns:
        The answer of the step as bytes, as the worker rendered it.

    Raises:
        EpsilondError: the mathematics rejects the request.
        Problem: the service is stopping.
        WorkFailed: the service failed.
    """
    message = await to_thread.run_sync(message_of, computation)  # a step of a simulation may hold many megabytes
    while True:
        try:
            task = pool.submit(message, caller=caller, lane=lane)
            try:
                await task.done.wait()
            finally:
                pool.stop(task)
            if task.outcome is None:
                raise STOPPING
            return task.outcome.get()
        except Problem as problem:
            if not means_no_room(problem):
                raise
        await anyio.sleep(AGAIN_SECONDS)


def means_no_room(problem: Problem) -> bool:
    """Return whether a problem means that the pool has no room at present."""
    return problem.kind.slug == "too-many-requests"
