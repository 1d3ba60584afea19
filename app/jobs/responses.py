"""Responses for a job: its state, or its result in the form of an immediate answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from starlette.responses import Response

from epsilond.app.http.body import Preferences
from epsilond.app.http.problems import MEDIA_TYPE, Problem
from epsilond.app.jobs.documents import PATH, document
from epsilond.app.jobs.job import Job
from epsilond.app.questions.question import JSON

REPORT_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-cache",
}
"""Headers of the page of a report. The page contains its styles, and may run no scripts."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
LATER = (429, 503)
"""Statuses that ask the client to retry later."""


def headers_of(kind: str) -> Mapping[str, str]:
    """Return the headers that every answer to a question of this kind has in addition to the usual ones."""
    return REPORT_HEADERS if kind == "report" else {}


def result_path(job: Job) -> str:
    """Return the path at which the result of a job is found."""
    return f"{PATH}/{job.record.id}/result"


def job_response(
    job: Job, preferences: Preferences, headers: Mapping[str, str] = NO_HEADERS, *, status: Literal[200, 202] = 202
) -> Response:
    """Return the HTTP response that describes a job, with its address. With status 202 it says when to ask again.

    Args:
        job: the job that the response describes.
        preferences: preferences of the request that are applied.
        headers: further headers of the response.
        status: 202 if the client is to ask again, otherwise 200.

    Returns:
        The response with the job as JSON. With status 202, clients shall ask again after one second.
    """
    location = {"location": f"{PATH}/{job.record.id}", **preferences.applied}
    later = {"retry-after": "1"} if status == 202 else {}
    return Response(document(job), status, {**headers, **location, **later}, JSON)


def result_response(job: Job) -> Response:
    """Return the result of a job, or its problem, in the form of an immediate answer.

    Problems with the statuses 429 and 503 say "later". They keep this status only while the job may still change. The
    stored end of a job never changes. It is answered with 409, which neither clients nor proxies repeat. With 503, a
    proxy would take this process of the service for unavailable.

    Args:
        job: the job. It may be running, if it has a problem that says "later".

    Returns:
        The response with the stored result, or with the stored problem and its status.

    Raises:
        Problem: the job has not ended, was cancelled, or ended for good with a problem that says "later".
    """
    record = job.record
    if record.result is not None:
        return Response(record.result, headers=headers_of(record.kind), media_type=record.media_type or JSON)
    if record.problem is None:
        raise Problem("no-result", f"There is no result: the job is {record.state}.")
    # A job that has ended does not change, so a problem that asks the client to try later is no answer.
    problem = json.loads(record.problem)
    says_later = problem["status"] in LATER
    if says_later and record.ended is not None:
        raise Problem("no-result", f"There is no result: the job is {record.state}. {problem['detail']}")
    headers = {"retry-after": "1"} if says_later else None
    return Response(record.problem, int(problem["status"]), headers, MEDIA_TYPE)
