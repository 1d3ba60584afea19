"""/v1/simulations: post, list, look, cancel, remove."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Body, FastAPI, Header, Query
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.answers.answering import json_response
from epsilond.app.http.keys import caller_of
from epsilond.app.http.prefer import wait_of
from epsilond.app.jobs.documents import (
    PATH,
    SimulationList,
    SimulationSummary,
    document,
    document_type,
    request_type,
)
from epsilond.app.jobs.records import Status
from epsilond.app.jobs.running import State
from epsilond.app.routes import simulation_events, simulation_figures
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.witness.simulation import Kind

TAGS: list[str | Enum] = ["simulations"]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="names this request: posting it again answers the same simulation while that is kept, and a new"
        " one if it was interrupted",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
    ),
]
Preferences = Annotated[
    list[str] | None,
    Header(alias="Prefer", description="`wait=S` (RFC 7240): answer with what has ended within S seconds, in place"),
]
LOCATION = {"Location": {"description": "the simulation", "schema": {"type": "string"}}}
APPLIED = {"Preference-Applied": {"description": "the wait that was granted, if any", "schema": {"type": "string"}}}


def add(app: FastAPI, kinds: tuple[Kind, ...], figures: str) -> None:
    """Add every route of simulations of these kinds, whose results module `figures` draws."""
    whole = document_type(kinds)
    app.add_api_route(
        PATH,
        _post(kinds),
        methods=["POST"],
        operation_id="start_simulation",
        summary="Run an algorithm, or attack a mechanism, and measure",
        status_code=202,
        response_model=whole,
        response_description="It waits or runs; it is at Location",
        responses={
            202: {"headers": LOCATION | APPLIED},
            200: {"description": "It has ended", "model": whole, "headers": LOCATION | APPLIED},
        },
        tags=TAGS,
    )
    app.add_api_route(
        PATH,
        list_simulations,
        operation_id="list_simulations",
        summary="The simulations that are kept",
        response_model=SimulationList,
        response_description="A page of them",
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        get_simulation,
        operation_id="get_simulation",
        summary="One simulation: its progress, and its result",
        response_model=whole,
        response_description="The simulation",
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        remove_simulation,
        methods=["DELETE"],
        operation_id="remove_simulation",
        summary="Cancel a simulation, or forget one that has ended",
        response_model=whole,
        response_description="It was cancelled",
        responses={204: {"description": "It had ended, and is forgotten"}},
        tags=TAGS,
    )
    simulation_events.add(app)
    simulation_figures.add(app, figures)


def _post(kinds: tuple[Kind, ...]) -> Endpoint:
    async def start_simulation(
        request: Request, simulation: Any, prefer: Preferences = None, idempotency_key: Key = None
    ) -> Response:
        """Take a simulation in. The same seed gives the same result, with any number of workers."""
        jobs = request.app.state.jobs
        state: State = await jobs.submit(simulation, idempotency_key, caller_of(request))
        headers = {"location": f"{PATH}/{state.record.id}"}
        wait = wait_of(prefer or ())
        if wait is not None:
            granted = min(wait, int(request.app.state.settings.job_wait_seconds))
            headers["preference-applied"] = f"wait={granted}"
            await jobs.wait(state.record.id, granted)
            state = await jobs.find(state.record.id, caller_of(request).name)
        status = 200 if state.ended else 202
        return Response(document(state), status, headers, "application/json")

    examples: dict[str, Example] = {
        kind.example["kind"]: {"value": dict(kind.example)} for kind in kinds if kind.example
    }
    start_simulation.__annotations__["simulation"] = Annotated[
        request_type(kinds), Body(openapi_examples=examples or None)
    ]
    return start_simulation


async def list_simulations(
    request: Request,
    status: Annotated[Status | None, Query(description="only those of this status")] = None,
    limit: Annotated[int, Query(description="most that are answered", ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(description="as `next` has it", pattern=r"^[0-9]{1,18}$")] = None,
) -> Response:
    """Newest first."""
    before = None if cursor is None else int(cursor)
    page = await request.app.state.jobs.page(caller_of(request).name, status, before, limit + 1)
    shown, more = page[:limit], len(page) > limit
    place = {"cursor": shown[-1].record.sequence, "limit": limit} if more else {}
    query = urlencode({**place, **({"status": status} if status is not None else {})})
    answer = SimulationList(
        simulations=tuple(map(SimulationSummary.of, shown)), next=f"{PATH}?{query}" if more else None
    )
    return json_response(answer)


async def get_simulation(request: Request, id: str) -> Response:  # noqa: A002 (the name of the path parameter)
    """As it is now."""
    state = await request.app.state.jobs.find(id, caller_of(request).name)
    return Response(document(state), media_type="application/json")


async def remove_simulation(request: Request, id: str) -> Response:  # noqa: A002 (the name of the path parameter)
    """One that waits or runs is cancelled, its worker killed, and answered; one that has ended is forgotten: 204."""
    cancelled: State | None = await request.app.state.jobs.remove(id, caller_of(request).name)
    if cancelled is None:
        return Response(status_code=204)
    return Response(document(cancelled), media_type="application/json")
