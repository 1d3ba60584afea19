"""From a job to a response."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.answers.compute import Job
from epsilond.app.answers.work import render
from epsilond.app.http.observe import record_of


def json_response(answer: Any) -> Response:
    """An answer of the service's own."""
    return Response(render(answer), media_type="application/json", headers={"cache-control": "no-cache"})


async def answered(job: Job, request: Request) -> Response:
    """The job's answer, with X-Cache (hit, miss, or shared with others who asked at the same time).

    Raises:
        EpsilondError: the mathematics' refusal.
        Problem: too many wait, the deadline passed, or the client has gone.
        WorkFailed: a fault of ours.
    """
    answer, use = await request.app.state.compute.answer(job, request)
    record_of(request).cache = use
    return Response(answer.body, media_type="application/json", headers={"x-cache": use})
