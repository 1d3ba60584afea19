"""GET /v1/simulations/{id}/events: how far it is, as it happens, until it has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, FastAPI, Header
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.answers.work import render
from epsilond.app.http.keys import caller_of
from epsilond.app.jobs.documents import PATH, SimulationSummary
from epsilond.app.jobs.running import State
from epsilond.app.jobs.streams import Streams


class NothingMore(Exception):
    """The client has seen the end. A browser that gets an answer without content does not connect again."""


def add(app: FastAPI) -> None:
    """Add the route."""
    app.add_exception_handler(NothingMore, _no_content)
    app.add_api_route(
        f"{PATH}/{{id}}/events",
        follow_simulation,
        operation_id="follow_simulation",
        summary="The progress of a simulation, as server-sent events",
        response_class=EventSourceResponse,
        response_description="`progress` now, every few seconds and after each block,"
        " then `done`, `failed`, `cancelled` or `interrupted`",
        responses={204: {"description": "Last-Event-ID says that the client has seen the end"}},
        openapi_extra={"x-problems": [429]},
        tags=["simulations"],
    )


async def _states(
    request: Request,
    id: str,  # noqa: A002 (the name of the path parameter)
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="the last that was seen; it is not sent again", max_length=64),
    ] = None,
) -> AsyncIterator[State]:
    """The states to be told, found to be there before the answer begins.

    Raises:
        Problem: there is no such simulation, or too many streams are open.
        NothingMore: it has ended, and the client knows.
    """
    streams: Streams = request.app.state.streams
    streams.require_room()
    owner = caller_of(request).name
    state: State = await request.app.state.jobs.find(id, owner)
    if state.ended and last_event_id == _id(state):
        raise NothingMore
    return _unseen(request.app.state.jobs.states(id, owner), last_event_id, streams)


async def follow_simulation(
    states: Annotated[AsyncIterator[State], Depends(_states)],
) -> AsyncIterator[ServerSentEvent]:
    """Each event holds the simulation without its request and result. A slow client misses steps, never the end."""
    async for state in states:
        yield ServerSentEvent(
            event=state.status if state.ended else "progress",
            id=_id(state),
            raw_data=render(SimulationSummary.of(state)).decode(),
        )


async def _unseen(states: AsyncIterator[State], seen: str | None, streams: Streams) -> AsyncIterator[State]:
    with streams.opened():
        async for state in states:
            if _id(state) != seen:
                yield state
            seen = _id(state)


def _id(state: State) -> str:
    """Equal for equal states, in whichever process."""
    done, left = (state.progress.blocks_done, state.progress.seconds_left) if state.progress is not None else (0, None)
    return f"{state.status}-{done}" if state.ended or left is None else f"{state.status}-{done}-{left:.1f}"


async def _no_content(_: Request, __: Exception) -> Response:
    return Response(status_code=204)
