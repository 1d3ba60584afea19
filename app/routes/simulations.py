"""/v1/simulations: post, list, look, cancel, remove: jobs under paths and in words of their own."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import Body, FastAPI, Query
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.http.answers import json_response
from epsilond.app.http.body import unread
from epsilond.app.http.prefer import OfLook, OfQuestion
from epsilond.app.jobs.job import Job
from epsilond.app.jobs.manager import SIMULATION, Jobs
from epsilond.app.jobs.simulation_documents import PATH, SimulationList, SimulationSummary, document, document_type
from epsilond.app.questions.asking import in_worker
from epsilond.app.questions.simulations import opened_simulation, request_type
from epsilond.app.routes import job_events, simulation_figures
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.app.routes.looking import looked_for_simulation, next_page, removed
from epsilond.app.routes.questions import APPLIED
from epsilond.app.store.record import State
from epsilond.witness.simulation import Kind

TAGS: list[str | Enum] = ["simulations"]
JSON = "application/json"
LOCATION = {"Location": {"description": "the simulation", "schema": {"type": "string"}}}


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
        openapi_extra={"x-problems": [503]},
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        get_simulation,
        operation_id="get_simulation",
        summary="One simulation: its progress, and its result",
        response_model=whole,
        response_description="The simulation",
        openapi_extra={"x-problems": [503]},
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
        openapi_extra={"x-problems": [503]},
        tags=TAGS,
    )
    summary = "The progress of a simulation, as server-sent events"
    job_events.add(app, PATH, "follow_simulation", summary, SimulationSummary.of, TAGS)
    simulation_figures.add(app, figures)


def _post(kinds: tuple[Kind, ...]) -> Endpoint:
    async def start_simulation(request: Request, simulation: bytes, preferences: OfQuestion) -> Response:
        """Take a simulation in. The same seed gives the same result, with any number of workers.

        It is answered 202 at once where too many requests wait for jobs already.
        """
        jobs: Jobs = request.app.state.jobs
        caller = caller_of(request)
        asked = opened_simulation(await in_worker(request, request.app.state.simulations.reading(simulation)))
        job: Job | None = None
        if preferences.key is not None:
            job = await jobs.with_key(caller.name, preferences.key, asked.fingerprint)
        if job is None:
            job = await jobs.submit(
                SIMULATION,
                asked.kind,
                asked.rendered,
                caller=caller,
                steps=asked.plan.blocks,
                seconds=asked.plan.seconds,
                idempotency_key=preferences.key,
                fingerprint=asked.fingerprint,
            )
        if preferences.granted and request.app.state.job_waits.has_room(caller.identity):
            job = await looked_for_simulation(request, job.record.id, float(preferences.granted))
        headers = {"location": f"{PATH}/{job.record.id}", **preferences.applied}
        return Response(document(job), 200 if job.ended else 202, headers, JSON)

    examples: dict[str, Example] = {
        kind.example["kind"]: {"value": dict(kind.example)} for kind in kinds if kind.example
    }
    start_simulation.__annotations__["simulation"] = Annotated[
        unread(request_type(tuple(kind.request for kind in kinds))), Body(openapi_examples=examples or None)
    ]
    return start_simulation


async def list_simulations(
    request: Request,
    status: Annotated[State | None, Query(description="only those of this status")] = None,
    limit: Annotated[int, Query(description="most that are answered", ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(description="as `next` has it", pattern=r"^[0-9]{1,18}$")] = None,
) -> Response:
    """Newest first."""
    jobs: Jobs = request.app.state.jobs
    before = None if cursor is None else int(cursor)
    page = await jobs.waiting.page(caller_of(request).name, status, SIMULATION, before, limit + 1)
    shown = tuple(map(SimulationSummary.of, page[:limit]))
    answer = SimulationList(simulations=shown, next=next_page(PATH, page, limit, status=status))
    return json_response(answer)


async def get_simulation(request: Request, id: str, preferences: OfLook) -> Response:  # noqa: A002 (the path parameter)
    """As it is now, or once it has ended if that is within the time of `Prefer: wait`."""
    job = await looked_for_simulation(request, id, float(preferences.granted or 0))
    return Response(document(job), media_type=JSON, headers=dict(preferences.applied))


async def remove_simulation(request: Request, id: str) -> Response:  # noqa: A002 (the name of the path parameter)
    """One that waits or runs is cancelled, its worker killed, and answered; one that has ended is forgotten: 204."""
    await looked_for_simulation(request, id, 0.0)
    cancelled = await removed(request, id)
    return Response(status_code=204) if cancelled is None else Response(document(cancelled), media_type=JSON)
