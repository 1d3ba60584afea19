"""Requests that wait for jobs: only while their clients are there and may ask, and so many at one time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
from starlette.requests import Request

from epsilond.app.callers.caller import caller_again, caller_of
from epsilond.app.http.leaving import client_gone, gone
from epsilond.app.jobs.places import JOB_WAITS
from epsilond.app.jobs.waiting import TELL_SECONDS

T = TypeVar("T")


async def attended(request: Request, course: Callable[[], Awaitable[T]]) -> T:
    """What a course answers that waits for a job. It is cancelled where the request is not to wait any longer.

    Raises:
        Problem: too many requests wait, or of this caller; the client has gone; its credentials are not taken any more.
        Exception: what the course raises.
    """
    places = JOB_WAITS.of(request)
    with places.place(caller_of(request).identity):
        answer = await first_of(course, partial(left, request), partial(_locked_out, request))
        await caller_again(request)
        return answer


async def first_of(course: Callable[[], Awaitable[T]], *ends: Callable[[], Awaitable[None]]) -> T:
    """What the course answers, or raises, unless one of the ends raises before."""
    answers: list[T] = []
    faults: list[Exception] = []

    async def run() -> None:
        answers.append(await course())

    async def until(each: Callable[[], Awaitable[None]]) -> None:
        try:
            await each()
        except Exception as fault:  # noqa: BLE001  it is raised below, without the group that the tasks would make of it
            faults.append(fault)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for each in (run, *ends):
            tasks.start_soon(until, each)
    if answers:
        return answers[0]
    raise faults[0]


async def left(request: Request) -> None:
    """Until the client has gone, which is then a problem."""
    await gone(request)
    raise client_gone()


async def _locked_out(request: Request) -> None:
    """Until the credentials are not taken any more."""
    while True:
        await anyio.sleep(TELL_SECONDS)
        await caller_again(request)
