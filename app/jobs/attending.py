"""Requests that wait for jobs: a limited number, and only while their clients are connected and admitted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
from starlette.requests import Request

from epsilond.app.callers.caller import caller_again, caller_of
from epsilond.app.http.leaving import client_gone, wait_for_departure
from epsilond.app.jobs.places import JOB_WAITS
from epsilond.app.jobs.waiting import TELL_SECONDS

T = TypeVar("T")


async def wait_attended(request: Request, course: Callable[[], Awaitable[T]]) -> T:
    """Wait for a job on behalf of a request, and return the result.

    The wait ends early if the client disconnects, or if its credentials expire or are revoked.

    Args:
        request: the HTTP request.
        course: coroutine function that waits for the job.

    Returns:
        The result of `course`, usually the job after the wait.

    Raises:
        Problem: too many requests wait, of all callers or of this caller; the client has disconnected; or its
            credentials are not accepted any more.
        Exception: any exception of `course`.
    """
    places = JOB_WAITS.of(request)
    with places.place(caller_of(request).identity):
        answer = await first_of(course, partial(end_with_client, request), partial(_end_with_credentials, request))
        await caller_again(request)
        return answer


async def first_of(course: Callable[[], Awaitable[T]], *ends: Callable[[], Awaitable[None]]) -> T:
    """Run coroutine functions at the same time until the first ends or raises, and cancel the others.

    So a wait ends as soon as its result is there, or as soon as there is a reason to give up. Such a reason is a client
    that disconnects.

    Args:
        course: function that gives the returned result.
        *ends: functions that never return, and raise an exception when the wait is to end.

    Returns:
        The result of `course`, if it was the first to end.

    Raises:
        Exception: the exception of the function that raised first.
    """
    answers: list[T] = []
    faults: list[Exception] = []

    async def run() -> None:
        """Run the function and keep its result."""
        answers.append(await course())

    async def run_and_cancel_others(task: Callable[[], Awaitable[None]]) -> None:
        """Run one task, note its exception if it raises one, and cancel the other tasks."""
        try:
            await task()
        except Exception as fault:  # noqa: BLE001  it is raised below, without the group that the tasks would make of it
            faults.append(fault)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for task in (run, *ends):
            tasks.start_soon(run_and_cancel_others, task)
    if answers:
        return answers[0]
    raise faults[0]


async def end_with_client(request: Request) -> None:
    """Wait until the client has disconnected.

    Args:
        request: the HTTP request of the client.

    Raises:
        Problem: always, after the wait.
    """
    await wait_for_departure(request)
    raise client_gone()


async def _end_with_credentials(request: Request) -> None:
    """Wait until the credentials are rejected, and raise the problem."""
    while True:
        await anyio.sleep(TELL_SECONDS)
        await caller_again(request)
