"""GET …/{id}/events: how far a job is, as it happens, until it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from enum import Enum
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_again, caller_of
from epsilond.app.callers.scopes import ScopeName
from epsilond.app.http.problems import Problem
from epsilond.app.jobs.job import Job
from epsilond.app.jobs.manager import SIMULATION
from epsilond.app.jobs.places import Places
from epsilond.app.jobs.waiting import Waiting
from epsilond.app.workers.work import render


class NothingMore(Exception):
    """The client has seen the end. A browser that gets an answer without content does not connect again."""


async def _changes(
    request: Request,
    id: str,  # noqa: A002 (the name of the path parameter)
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="the last that was seen; it is not sent again", max_length=64),
    ] = None,
) -> AsyncIterator[AsyncIterator[Job]]:
    """The job as it changes, found to be there before the answer begins; its place is kept until the answer ends.

    Raises:
        Problem: there is no such job, or too many streams are open, or of this caller.
        NothingMore: it has ended, and the client knows.
    """
    streams: Places = request.app.state.streams
    waiting: Waiting = request.app.state.jobs.waiting
    caller = caller_of(request)
    with streams.place(caller.identity):
        job = await waiting.glimpse(caller.name, id)
        scope: ScopeName = "simulate" if job.record.kind == SIMULATION else "calibrate"
        caller.require_scope(scope)
        if job.ended and last_event_id == _id(job):
            raise NothingMore
        yield _unseen(_allowed(waiting.changes(caller.name, id), request, scope), last_event_id)


def add(
    app: FastAPI, path: str, operation: str, summary: str, told: Callable[[Job], Any], tags: list[str | Enum]
) -> None:
    """Add the route below a path; `told` is what an event holds of a job."""

    async def follow(jobs: Annotated[AsyncIterator[Job], Depends(_changes)]) -> AsyncIterator[ServerSentEvent]:
        """Each event holds the job without its request and result. A slow client misses steps, never the end."""
        async for job in jobs:
            yield ServerSentEvent(
                event=job.record.state if job.ended else "progress",
                id=_id(job),
                raw_data=render(told(job)).decode(),
            )

    app.add_exception_handler(NothingMore, _no_content)
    app.add_api_route(
        f"{path}/{{id}}/events",
        follow,
        operation_id=operation,
        summary=summary,
        response_class=EventSourceResponse,
        response_description="`progress` now, every few seconds and after each step,"
        " then `done`, `failed`, `cancelled` or `interrupted`",
        responses={204: {"description": "Last-Event-ID says that the client has seen the end"}},
        openapi_extra={"x-problems": [429, 503]},
        tags=tags,
    )


async def _allowed(jobs: AsyncIterator[Job], request: Request, scope: ScopeName) -> AsyncIterator[Job]:
    """As long as the client's credentials are taken and have this scope: they may be revoked, or expire, meanwhile."""
    async for job in jobs:
        try:
            (await caller_again(request)).require_scope(scope)
        except Problem:
            return
        yield job


async def _unseen(jobs: AsyncIterator[Job], seen: str | None) -> AsyncIterator[Job]:
    async for job in jobs:
        if _id(job) != seen:
            yield job
        seen = _id(job)


def _id(job: Job) -> str:
    """Equal for equal states, in whichever process."""
    state, progress = job.record.state, job.progress
    done, left = (progress.done, progress.seconds_left) if progress is not None else (0, None)
    if job.ended:
        return f"{state}-{done}"
    spent = progress.seconds_spent if progress is not None else None
    times = [f"{each:.1f}" for each in (left, spent) if each is not None]
    return "-".join([state, str(done), *times])


async def _no_content(_: Request, __: Exception) -> Response:
    return Response(status_code=204)
