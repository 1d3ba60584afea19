"""A job's steps in workers: one that the pool has no room for waits until it has, for a job was accepted before."""

from __future__ import annotations

from typing import Final

import anyio
from anyio import to_thread

from epsilond.app.http.problems import Problem
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.process import Lane
from epsilond.app.workers.work import Computation, RenderedAnswer, message_of

AGAIN_SECONDS: Final = 2.0
"""How long a job waits that the pool has no room for."""
STOPPING = Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})


async def in_turn(pool: Pool, computation: Computation, *, caller: str, lane: Lane) -> RenderedAnswer:
    """What a computation answers; leaving early kills it. The pool runs it once more if its worker dies.

    Raises:
        EpsilondError: the mathematics' refusal.
        Problem: the service is stopping.
        WorkFailed: a fault of ours.
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
            if not turned_away(problem):
                raise
        await anyio.sleep(AGAIN_SECONDS)


def turned_away(problem: Problem) -> bool:
    """Whether it says that the pool has no room at present."""
    return problem.kind.slug == "too-many-requests"
