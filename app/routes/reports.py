"""POST /v1/reports: a calibration or an account as a page to sign."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from operator import getitem
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.app.answers.compute import Job
from epsilond.app.answers.work import report
from epsilond.app.http.faults import faults_of
from epsilond.app.http.observe import record_of
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.accounts import EXAMPLES
from epsilond.witness.reports.make import dated
from epsilond.witness.reports.questions import question

Algorithm: Any = getitem(Literal, tuple(each.name for each in CALIBRATORS))
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-cache",
}
"""The page carries its styles with it, and nothing in it runs."""
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


@request
class ReportRequest:
    """What the report is to be about."""

    kind: Annotated[Literal["calibration", "account"], Quantity(description="which service's answer it reports")]
    algorithm: Annotated[Algorithm | None, Quantity(description="of a calibration; an account has none")] = None
    request: Annotated[
        Mapping[str, Any],
        Quantity(description="the body that /v1/calibrations/{algorithm} or /v1/accounts would be sent"),
    ]
    date: Annotated[str | None, Quantity(description="the date to stand on it, YYYY-MM-DD; absent: none")] = None


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
            200: {"description": "The page, with its data and their hash in it", "content": {"text/html": page}}
        },
        tags=["reports"],
    )


async def make_report(request: Request, body: Annotated[ReportRequest, Body(openapi_examples=_EXAMPLES)]) -> Response:
    """One page of HTML that needs no other file; `epsilond verify` checks it and computes its answer anew."""
    dated(body.date)
    problem = _problem(body)
    computation = partial(report, body.kind, body.algorithm, problem, body.request, body.date)
    job = Job("report", body.algorithm or body.kind, (body, problem), computation)
    answer, use = await request.app.state.compute.answer(job, request)
    record_of(request).cache = use
    return Response(answer.body, media_type="text/html", headers={**HEADERS, "x-cache": use})


def _problem(body: ReportRequest) -> Any:
    """The inner request, read as its own service would read it.

    Raises:
        InvalidInput: it cannot be; pointers lead into the body.
    """
    asked = question(body.kind, body.algorithm)
    try:
        return _adapter(asked.problem).validate_python(body.request)
    except ValidationError as error:
        inner = [dict(item) for item in error.errors()]
        faults = faults_of(inner, asked.problem)
        raise InvalidInput(*(Fault(f"/request{it.pointer}", it.message, it.allowed) for it in faults)) from None


@cache
def _adapter(problem: type) -> TypeAdapter[Any]:
    return TypeAdapter(problem)
