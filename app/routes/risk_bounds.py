"""POST /v1/risk-bounds/{algorithm}, from the list of risk bounds."""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI

from epsilond.app.catalogue import slug
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.questions.risk_bounds import read_risk_bounds
from epsilond.app.routes.by_algorithm import unknown_name_route
from epsilond.app.routes.questions import TAKEN_AS_A_JOB, endpoint_of
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.bounder import RISK_BOUNDS


def add(app: FastAPI, served: set[str]) -> None:
    """Add one route for each served algorithm that has risk bounds, and one for all other names.

    Each algorithm has its own route, so that the OpenAPI document describes the fields of its request.

    Args:
        app: the application, which is changed.
        served: names of the algorithms that the service calibrates.
    """
    bounders = tuple(bounder for bounder in RISK_BOUNDS if bounder.name in served)
    for bounder in bounders:
        reading = partial(read_risk_bounds, bounder.name)
        example = {"summary": bounder.title, "value": dict(bounder.example)}
        app.add_api_route(
            f"/v1/risk-bounds/{bounder.name}",
            endpoint_of("risk-bounds", bounder.name, reading, bounder.problem, {bounder.name: example}),
            methods=["POST"],
            operation_id=f"risk_bounds_{slug(bounder.name)}",
            summary=bounder.title,
            description=bounder.summary,
            response_model=RiskBoundsAnswer,
            response_description="Upper bounds, lower bounds, reference rates, and ratios of upper to lower bounds",
            responses=TAKEN_AS_A_JOB,
            tags=["risk-bounds"],
        )
    # Routes are matched in order, so this one gets only the requests that no route above takes.
    app.add_api_route(
        "/v1/risk-bounds/{name}",
        unknown_name_route({bounder.name for bounder in bounders}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=UNKNOWN_NAME,
        include_in_schema=False,
    )
