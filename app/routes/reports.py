"""POST /v1/reports: a calibration or an account as a page to sign."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.body import unread
from epsilond.app.http.prefer import OfQuestion
from epsilond.app.ledgers.signatures import DESCRIBED
from epsilond.app.questions.asking import asked
from epsilond.app.questions.reports import ReportRequest
from epsilond.app.routes.questions import TAKEN_AS_A_JOB
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import EXAMPLES

_EXAMPLES: dict[str, Example] = {
    "calibration": {
        "summary": CALIBRATORS[0].title,
        "value": {
            "kind": "calibration",
            "algorithm": CALIBRATORS[0].name,
            "date": "2026-01-31",
            "request": dict(CALIBRATORS[0].example),
        },
    },
    "account": {
        "summary": "What a run guarantees",
        "value": {"kind": "account", "date": "2026-01-31", "request": dict(next(iter(EXAMPLES.values())))},
    },
}


def add(app: FastAPI) -> None:
    """Add the route."""
    page = {"schema": {"type": "string"}}
    app.add_api_route(
        "/v1/reports",
        make_report,
        methods=["POST"],
        operation_id="report",
        summary="A calibration or an account as a page to sign",
        response_class=Response,
        responses={
            200: {
                "description": "The page, with its data and their hash in it",
                "content": {"text/html": page},
                "headers": DESCRIBED,
            },
            **TAKEN_AS_A_JOB,
        },
        tags=["reports"],
    )


async def make_report(
    request: Request,
    body: Annotated[unread(ReportRequest), Body(openapi_examples=_EXAMPLES)],  # type: ignore[valid-type]
    preferences: OfQuestion,
) -> Response:
    """One page of HTML that needs no other file; `epsilond verify` checks it and computes its answer anew."""
    return await asked(request, "report", "report", body, preferences)
