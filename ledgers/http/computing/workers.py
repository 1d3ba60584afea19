"""Computations of ledgers in worker processes, with a limit of their time."""

from __future__ import annotations

from collections.abc import Callable

import anyio
from anyio import to_thread

from epsilond.app.http.problems import Problem
from epsilond.app.workers.pool import Pool
from epsilond.app.workers.work import RenderedAnswer, message_of


async def run_in_worker(
    pool: Pool, computation: Callable[[], RenderedAnswer], caller: str, seconds: float
) -> RenderedAnswer:
    """Return the answer of a computation in a worker process, which is stopped if it takes too long.

    The worker is stopped as well if the calling task is cancelled meanwhile.

    Args:
        pool: worker processes.
        computation: picklable call without arguments.
        caller: name of the caller, among whom the workers are shared.
        seconds: longest time of the computation, in seconds.

    Returns:
        The answer that the worker sent, with its JSON text or other bytes.

    Raises:
        Problem: the computation takes longer than `seconds`, or the service is stopping.
    """
    message = await to_thread.run_sync(message_of, computation)
    task = pool.submit(message, caller=caller)
    try:
        with anyio.move_on_after(seconds):
            await task.done.wait()
    finally:
        is_late = task.state != "ended"
        if is_late:
            pool.stop(task)

    # Report why there is no answer, or return it.
    if is_late:
        detail = f"It did not end within {seconds:g} s and was stopped; nothing was moved."
        raise Problem("deadline-exceeded", detail, headers={"Retry-After": "10"})
    if task.outcome is None:
        raise Problem("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
    return task.outcome.get()
