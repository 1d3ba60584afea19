"""GET /v1/jobs/{id}/events: the progress of a job, as server-sent events, until it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, FastAPI, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_again, caller_of
from epsilond.app.callers.scopes import ScopeName
from epsilond.app.http.problems import Problem
from epsilond.app.jobs.documents import PATH, JobSummary
from epsilond.app.jobs.job import SIMULATION, Job
from epsilond.app.jobs.manager import JOBS
from epsilond.app.jobs.places import STREAMS
from epsilond.app.workers.work import render


class NothingMore(Exception):
    """Error for a client that has already seen the end of the job; the answer is 204 without content.

    A browser that gets such an answer does not connect again.
    """


async def _changes(
    request: Request,
    id: str,  # noqa: A002 (the name of the path parameter)
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            description="id of the last event that the client has seen; only later events are sent",
            max_length=64,
        ),
    ] = None,
) -> AsyncIterator[AsyncIterator[Job]]:
    """Check that a client may follow a job, and yield the iterator over the states of the job.

    FastAPI calls this as a dependency. It counts the stream against the limits until the response ends. The state that
    the client has already seen is skipped.

    Args:
        request: the HTTP request.
        id: id of the job.
        last_event_id: id of the last event that the client received before it reconnected; None for a first connection.

    Yields:
        An iterator over the states of the job from now on, until its end.

    Raises:
        Problem: the job does not exist, the caller lacks the scope for it, or too many streams are open, of all callers
            or of this caller.
        NothingMore: the job has ended, and the client has received its last event.
    """
    streams = STREAMS.of(request)
    waiting = JOBS.of(request).waiting
    caller = caller_of(request)
    # The place in the limits is held until FastAPI ends this generator, after the response.
    with streams.place(caller.identity):
        job = await waiting.glimpse(caller.name, id)
        scope: ScopeName = "simulate" if job.record.kind == SIMULATION else "calibrate"
        caller.require_scope(scope)
        if job.ended and last_event_id == _id(job):
            raise NothingMore
        states = waiting.changes(caller.name, id)
        allowed_states = _while_allowed(states, request, scope)
        yield _skip_repeated(allowed_states, last_event_id)


async def follow_job(jobs: Annotated[AsyncIterator[Job], Depends(_changes)]) -> AsyncIterator[ServerSentEvent]:
    """Send the job without its request and result in each event. A slow client misses steps, never the end.

    \f

    Args:
        jobs: the states of the job, of which the last one is its end.

    Yields:
        One event for each state.
    """
    async for job in jobs:
        # The last event has the name of the final state.
        name = job.record.state if job.ended else "progress"
        summary = JobSummary.of(job)
        yield ServerSentEvent(event=name, id=_id(job), raw_data=render(summary).decode())


def add(app: FastAPI) -> None:
    """Add the route GET /v1/jobs/{id}/events, which streams the progress of a job.

    A client that has seen the end of the job (`NothingMore`) gets 204, so that a browser does not connect again.

    Args:
        app: the application, which is changed.
    """
    app.add_exception_handler(NothingMore, _no_content)
    app.add_api_route(
        f"{PATH}/{{id}}/events",
        follow_job,
        operation_id="follow_job",
        summary="The progress of a job, as server-sent events",
        response_class=EventSourceResponse,
        response_description="`progress` now, every few seconds and after each step,"
        " then `done`, `failed`, `cancelled` or `interrupted`",
        responses={204: {"description": "Last-Event-ID says that the client has seen the end"}},
        openapi_extra={"x-problems": [429, 503]},
        tags=["jobs"],
    )


async def _while_allowed(jobs: AsyncIterator[Job], request: Request, scope: ScopeName) -> AsyncIterator[Job]:
    """Yield states of a job while the credentials are accepted and have this scope; they may expire or be revoked.

    Args:
        jobs: states of the job.
        request: the HTTP request with the credentials.
        scope: the scope that the caller must have.

    Yields:
        The states, until the credentials are rejected.
    """
    async for job in jobs:
        # The credentials are checked again before each event.
        try:
            caller = await caller_again(request)
            caller.require_scope(scope)
        except Problem:
            return
        yield job


async def _skip_repeated(jobs: AsyncIterator[Job], last_id: str | None) -> AsyncIterator[Job]:
    """Yield each state of a job that has another event id than the state before it.

    Args:
        jobs: states of the job.
        last_id: event id of the state that the client has received last; None if it has received none.

    Yields:
        A state that the client has not received yet.
    """
    async for job in jobs:
        if _id(job) != last_id:
            yield job
        last_id = _id(job)


def _id(job: Job) -> str:
    """Return the event id of a state of a job, which is the same in all processes of the service.

    It consists of the state and the finished steps and, before the end of the job, the seconds left and spent.

    Args:
        job: the job in one of its states.

    Returns:
        The id as text, with hyphens between its parts.
    """
    state = job.record.state
    progress = job.progress
    if progress is None:
        return f"{state}-0"
    if job.ended:
        return f"{state}-{progress.done}"
    # A time that is not known is left out.
    known_times = [seconds for seconds in (progress.seconds_left, progress.seconds_spent) if seconds is not None]
    rounded_times = [f"{seconds:.1f}" for seconds in known_times]
    return "-".join([state, str(progress.done), *rounded_times])


async def _no_content(_: Request, __: Exception) -> Response:
    """Answer `NothingMore` with status 204, which has no content."""
    return Response(status_code=204)
