"""Waiting of a request for its computation, which ends early if the service stops or the client disconnects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal

import anyio
from starlette.requests import Request

from epsilond.app.http.leaving import client_gone, wait_for_departure
from epsilond.app.questions.compute import COMPUTE

BRIEF_SECONDS = 0.05
"""Length of a first wait, in which a departed client or a stopping service is not noticed."""
Waited = Literal["done", "late", "gone", "stopping"]


async def wait_for_event(request: Request, done: anyio.Event, seconds: float | None) -> Waited:
    """Wait for an event until it happens, the time is over, the service stops, or the client disconnects.

    A first, brief wait needs no further tasks, and is usually long enough for answers in closed form.

    Args:
        request: the HTTP request of the client.
        done: the event.
        seconds: longest wait [s]; no limit if None.

    Returns:
        `done` if the event happened, `late` if the time was over before, `stopping` if the service stopped before.

    Raises:
        Problem: the client has gone.
    """
    if await _happens_soon(done, seconds):
        return "done"

    # Several tasks wait, each for one event. The first one to end cancels the others.
    closing = COMPUTE.of(request).closing
    remaining_seconds = None if seconds is None else max(seconds - BRIEF_SECONDS, 0.0)
    first = _FirstEvent()
    with anyio.move_on_after(remaining_seconds):
        async with anyio.create_task_group() as tasks:
            scope = tasks.cancel_scope
            tasks.start_soon(first.watch, partial(wait_for_departure, request), "gone", scope)
            tasks.start_soon(first.watch, closing.wait, "stopping", scope)
            tasks.start_soon(first.watch, done.wait, "done", scope)

    # `done` takes precedence if another event happened at the same time.
    if done.is_set():
        return "done"
    if first.name == "gone":
        raise client_gone()
    return first.name


class _FirstEvent:
    """Record of which of several events happened first, while one task waits for each of them.

    Attributes:
        name: name of the first event; `late` as long as none has happened.
    """

    def __init__(self) -> None:
        self.name: Waited = "late"

    async def watch(self, wait: Callable[[], Awaitable[object]], name: Waited, scope: anyio.CancelScope) -> None:
        """Wait for an event, note its name, and end the wait for the other events.

        Args:
            wait: function that waits for the event.
            name: name of the event.
            scope: scope of the tasks that wait for the other events, which is cancelled.
        """
        await wait()
        self.name = name
        scope.cancel()


async def _happens_soon(done: anyio.Event, seconds: float | None) -> bool:
    """Wait for an event for at most `BRIEF_SECONDS` or `seconds`, and return whether it happened.

    Args:
        done: the event.
        seconds: longest wait [s]; if None, only `BRIEF_SECONDS` limits the wait.

    Returns:
        True if the event happened within this time.
    """
    longest_wait = BRIEF_SECONDS if seconds is None else min(BRIEF_SECONDS, seconds)
    with anyio.move_on_after(longest_wait):
        await done.wait()
    return done.is_set()
