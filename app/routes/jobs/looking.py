"""How the routes of jobs find one: of this caller only, and only where a scope opens its kind."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request

from epsilond.app.callers.caller import caller_of
from epsilond.app.jobs.attending import wait_attended
from epsilond.app.jobs.job import SIMULATION, Job
from epsilond.app.jobs.manager import JOBS


async def looked_for(request: Request, identifier: str, seconds: float) -> Job:
    """A job of this caller, after so long or when it has ended; a scope opens its own kinds.

    Raises:
        Problem: there is none, or this caller's scopes do not open it, or the store cannot be used; or it is waited
            for, and too many wait, or the client has gone or is not let in any more.
    """
    jobs = JOBS.of(request)
    wait = partial(jobs.waiting.wait, caller_of(request).name, identifier, seconds)
    job = await (wait_attended(request, wait) if seconds else wait())
    caller_of(request).require_scope("simulate" if job.record.kind == SIMULATION else "calibrate")
    return job


async def removed(request: Request, identifier: str) -> Job | None:
    """A job of this caller that was cancelled, once it has ended; None of one that had ended, and is forgotten.

    Raises:
        Problem: as `looked_for` does.
    """
    jobs = JOBS.of(request)
    return await wait_attended(request, partial(jobs.remove, caller_of(request).name, identifier))
