"""POST /v1/risk-bounds/{algorithm}, from the list of risk bounds."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.catalogue import slug
from epsilond.app.http.body import unread
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.http.prefer import OfQuestion
from epsilond.app.questions.asking import asked
from epsilond.app.routes.by_algorithm import Endpoint, unknown_name_route
from epsilond.app.routes.questions import TAKEN_AS_A_JOB
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RiskBounder
from epsilond.calibrators.risk.bounders import RISK_BOUNDS


def add(app: FastAPI, served: set[str]) -> None:
    """Add one typed route for each algorithm that is served and has risk bounds, and a 404 that knows their names."""
    bounders = tuple(bounder for bounder in RISK_BOUNDS if bounder.name in served)
    for bounder in bounders:
        app.add_api_route(
            f"/v1/risk-bounds/{bounder.name}",
            _bounding(bounder),
            methods=["POST"],
            operation_id=f"risk_bounds_{slug(bounder.name)}",
            summary=bounder.title,
            description=bounder.summary,
            response_model=RiskBoundsAnswer,
            response_description="Upper bounds, lower bounds and reference rates, and how far they are apart",
            responses=TAKEN_AS_A_JOB,
            tags=["risk-bounds"],
        )
    app.add_api_route(
        "/v1/risk-bounds/{name}",
        unknown_name_route({bounder.name for bounder in bounders}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=UNKNOWN_NAME,
        include_in_schema=False,
    )


def _bounding(bounder: RiskBounder) -> Endpoint:
    async def endpoint(request: Request, problem: bytes, preferences: OfQuestion) -> Response:
        return await asked(request, "risk-bounds", bounder.name, problem, preferences)

    examples: dict[str, Example] = {bounder.name: {"summary": bounder.title, "value": dict(bounder.example)}}
    endpoint.__annotations__["problem"] = Annotated[unread(bounder.problem), Body(openapi_examples=examples)]
    return endpoint
