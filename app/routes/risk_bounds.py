"""POST /v1/risk-bounds/{algorithm}, from the list of risk bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.answering import answered
from app.catalogue import slug, unknown
from app.compute import Job
from app.handlers import NOTHING
from app.work import bound_risk
from calibrators.risk_bounds import RISK_BOUNDS
from calibrators.risk_bounds_answer import RiskBounder, RiskBoundsAnswer

Endpoint = Callable[..., Awaitable[Response]]


def add(app: FastAPI, served: set[str]) -> None:
    """Add one typed route for each algorithm that is served and has risk bounds, and a 404 that knows their names."""
    bounders = tuple(bounder for bounder in RISK_BOUNDS if bounder.name in served)
    for bounder in bounders:
        app.add_api_route(
            f"/v1/risk-bounds/{bounder.name}",
            _endpoint(bounder),
            methods=["POST"],
            operation_id=f"risk_bounds_{slug(bounder.name)}",
            summary=bounder.title,
            description=bounder.summary,
            response_model=RiskBoundsAnswer,
            response_description="Upper bounds, lower bounds and reference rates, and how far they are apart",
            tags=["risk-bounds"],
        )
    app.add_api_route(
        "/v1/risk-bounds/{name}",
        _nothing({bounder.name for bounder in bounders}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=NOTHING,
        include_in_schema=False,
    )


def _endpoint(bounder: RiskBounder) -> Endpoint:
    async def endpoint(request: Request, problem: Any) -> Response:
        closed_form = bounder.cost(problem) == "closed-form"
        computation = partial(bound_risk, bounder.solve, problem)
        return await answered(Job("risk-bounds", bounder.name, problem, computation, closed_form), request)

    examples: dict[str, Example] = {bounder.name: {"summary": bounder.title, "value": dict(bounder.example)}}
    endpoint.__annotations__["problem"] = Annotated[bounder.problem, Body(openapi_examples=examples)]
    return endpoint


def _nothing(names: set[str]) -> Endpoint:
    async def nothing(name: str) -> Response:
        if name in names:
            raise HTTPException(405)
        raise unknown("algorithm", name, names)

    return nothing
