"""Access of the routes to jobs: only to jobs of the caller, and only with a scope for their kind."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request

from epsilond.app.callers.caller import caller_of
from epsilond.app.jobs.attending import wait_attended
from epsilond.app.jobs.job import SIMULATION, Job
from epsilond.app.jobs.manager import JOBS


async def find_job(request: Request, identifier: str, seconds: float) -> Job:
    """Return a job of the caller of a request, after waiting for its end if requested.

    Args:
        request: the HTTP request.
        identifier: id of the job.
        seconds: longest wait [s]; 0 to return the job at once.

    Returns:
        The job, which may not have ended.

    Raises:
        Problem: the job does not exist; the caller's scopes do not include its kind; or the store cannot be used. For a
            wait also: too many requests wait, the client has gone, or its credentials are not accepted any more.
    """
    jobs = JOBS.of(request)
    wait = partial(jobs.waiting.wait, caller_of(request).name, identifier, seconds)
    job = await (wait_attended(request, wait) if seconds else wait())
    caller_of(request).require_scope("simulate" if job.record.kind == SIMULATION else "calibrate")
    return job


async def remove_and_wait(request: Request, identifier: str) -> Job | None:
    """Cancel a job of the caller and wait for its end, or delete the job if it has ended already.

    Args:
        request: the HTTP request.
        identifier: id of the job.

    Returns:
        The cancelled job; None if it was deleted.

    Raises:
        Problem: the job does not exist, the store cannot be used, too many requests wait, the client has disconnected,
            or its credentials are not accepted any more.
    """
    jobs = JOBS.of(request)
    return await wait_attended(request, partial(jobs.remove, caller_of(request).name, identifier))
