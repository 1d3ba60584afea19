"""Several questions of one request: side by side over the workers, under one deadline, each kept like a question alone.

No more of them wait at a time than there are workers, so that one request does not fill the queue for the others.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import anyio
import structlog
from starlette.requests import Request

from epsilond.accountants.errors import EpsilondError
from epsilond.app.answers.compute import Compute, Job
from epsilond.app.answers.work import Answered
from epsilond.app.http.problems import Problem
from epsilond.app.settings import Settings

Settled = Answered | EpsilondError | Problem
"""An answer, the mathematics' refusal, or a problem of kind deadline-exceeded or internal-error."""
OF_THE_WHOLE = frozenset({"client-closed-request", "too-many-requests", "unavailable"})
"""Problems that are not of one question. What is answered by then is kept for the next time it is asked."""


async def answers(jobs: Sequence[Job], request: Request) -> list[Settled]:
    """What became of each job, in their order. They are begun in it too; all end by the service's deadline.

    Raises:
        Problem: the client has gone, too many wait, or the service is stopping.
    """
    settings: Settings = request.app.state.settings
    limit = f"{settings.deadline_seconds:g} s"
    late = Problem(
        "deadline-exceeded", f"It was not computed within the {limit} of the whole request; what was is kept."
    )
    settled: list[Settled] = [late] * len(jobs)
    problem: Problem | None = None
    places = anyio.CapacityLimiter(settings.workers)

    async def settle(place: int, all_of_them: anyio.CancelScope) -> None:
        nonlocal problem
        async with places:
            try:
                settled[place] = await _settled(jobs[place], request)
            except Problem as whole:
                problem = whole
                all_of_them.cancel()

    with anyio.move_on_after(settings.deadline_seconds):
        async with anyio.create_task_group() as tasks:
            for place in range(len(jobs)):
                tasks.start_soon(settle, place, tasks.cancel_scope)
    if problem is not None:
        raise problem
    return settled


async def _settled(job: Job, request: Request) -> Settled:
    compute: Compute = request.app.state.compute
    try:
        answer, _ = await compute.answer(job, request)
    except EpsilondError as refusal:
        return refusal
    except Problem as problem:
        if problem.kind.slug in OF_THE_WHOLE:
            raise
        return problem
    except Exception:  # noqa: BLE001 (a fault of ours in one question is told there; the others stand)
        structlog.get_logger().error("one of several failed", question=job.name, trace=traceback.format_exc())
        return Problem("internal-error", "The service failed; its logs have this request under its X-Request-ID.")
    return answer
