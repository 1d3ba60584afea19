"""A job as a response: its state, or the result as it would have come at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
"""The page of a report carries its styles with it, and nothing in it runs."""
LATER = (429, 503)
"""Statuses that say: ask again."""


def headers_of(kind: str) -> Mapping[str, str]:
    """Return the headers of every answer to a question of this kind."""
    return REPORT_HEADERS if kind == "report" else {}


def job_response(job: Job, preferences: Preferences, *, status: Literal[200, 202] = 202) -> Response:
    """Return the job with its address; with status 202 also the time after which to look again.

    Args:
        job: the job.
        preferences: preferences of the request that are applied.
        status: 202 if the client is to look again.
    """
    headers = {"location": f"{PATH}/{job.record.id}", **preferences.applied}
    later = {"retry-after": "1"} if status == 202 else {}
    return Response(document(job), status, {**headers, **later}, JSON)


def result_response(job: Job) -> Response:
    """Return the result of a job as its request would have been answered, or its problem.

    A problem whose status says "later" (429 and 503) is answered as such only while something may still change. Stored
    as the end of a job it never changes: it is answered 409, which neither clients nor proxies send again, and 503
    would have a proxy take the replica for one that is away.

    Raises:
        Problem: it has not ended, was cancelled, or ended for good with a problem of that sort.
    """
    record = job.record
    if record.result is not None:
        return Response(record.result, headers=headers_of(record.kind), media_type=record.media_type or JSON)
    if record.problem is None:
        raise Problem("no-result", f"There is no result: the job is {record.state}.")
    problem = json.loads(record.problem)
    later = problem["status"] in LATER
    if later and record.ended is not None:
        raise Problem("no-result", f"There is no result: the job is {record.state}. {problem['detail']}")
    return Response(record.problem, int(problem["status"]), {"retry-after": "1"} if later else None, MEDIA_TYPE)
