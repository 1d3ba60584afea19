"""/v1/jobs: simulations, and questions that took too long for their requests: list, read, wait, cancel, delete."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.http.answers import json_response, page_link
from epsilond.app.http.body import OfLook
from epsilond.app.jobs.documents import PATH, JobDocument, JobList, JobSummary, document
from epsilond.app.jobs.manager import JOBS
from epsilond.app.questions.asking import signed_result
from epsilond.app.questions.question import JSON
from epsilond.app.routes.jobs import events
from epsilond.app.routes.jobs.looking import find_job, remove_and_wait
from epsilond.app.store.record import State
from epsilond.ledgers.http.signatures import DESCRIBED

TAGS: list[str | Enum] = ["jobs"]


def add(app: FastAPI) -> None:
    """Add the routes by which clients list, read, follow, cancel and delete their jobs.

    A job is a computation that goes on after its request was answered.

    Args:
        app: the application, which is changed.
    """
    app.add_api_route(
        PATH,
        list_jobs,
        operation_id="list_jobs",
        summary="The jobs that are kept",
        response_model=JobList,
        response_description="A page of jobs",
        openapi_extra={"x-problems": [503]},
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        get_job,
        operation_id="get_job",
        summary="One job: its progress, and its result",
        response_model=JobDocument,
        response_description="The job",
        openapi_extra={"x-problems": [503]},
        tags=TAGS,
    )
    # The response class is not JSON, because a result has its own media type: JSON or HTML.
    app.add_api_route(
        f"{PATH}/{{id}}/result",
        get_job_result,
        operation_id="get_job_result",
        summary="The answer itself, as it would have come at once",
        response_class=Response,
        responses={
            200: {
                "description": "The answer to the question, in its own media type",
                "content": {JSON: {"schema": {}}, "text/html": {"schema": {"type": "string"}}},
                "headers": DESCRIBED,
            }
        },
        openapi_extra={"x-problems": [409, 503]},
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        remove_job,
        methods=["DELETE"],
        operation_id="remove_job",
        summary="Cancel a job, or delete one that has ended",
        response_model=JobDocument,
        response_description="The job was cancelled",
        responses={204: {"description": "The job had ended, and is deleted"}},
        openapi_extra={"x-problems": [503]},
        tags=TAGS,
    )
    events.add(app)


async def list_jobs(
    request: Request,
    state: Annotated[State | None, Query(description="state of the jobs to return; absent: jobs in all states")] = None,
    kind: Annotated[
        str | None,
        Query(description="kind of the jobs to return; absent: jobs of all kinds", pattern=r"^[a-z-]{1,64}$"),
    ] = None,
    limit: Annotated[int, Query(description="largest number of jobs in the answer", ge=1, le=100)] = 20,
    cursor: Annotated[
        str | None,
        Query(
            description="position at which the page starts, the `next` of the previous page; absent: the first page",
            pattern=r"^[0-9]{1,18}$",
        ),
    ] = None,
) -> Response:
    """List the jobs of the caller, the newest first.

    \f

    Args:
        request: the HTTP request.
        state: state of the listed jobs; None for any.
        kind: kind of the listed jobs, such as simulation; None for any.
        limit: largest number of jobs in the answer, 1 to 100.
        cursor: digits in `next` of the previous page; None for the first page.

    Returns:
        A page of jobs, with the path of the next page if there is one.
    """
    jobs = JOBS.of(request)
    before = None if cursor is None else int(cursor)
    # One job more than the page shows is read, to learn whether a further page exists.
    owner = caller_of(request).name
    page = await jobs.waiting.page(owner, state, kind, before, limit + 1)
    shown = page[:limit]
    following: str | None = None
    if len(page) > limit:
        # The next page continues after the last job of this one.
        last_shown = shown[-1]
        query = {"cursor": last_shown.record.sequence, "limit": limit, "state": state, "kind": kind}
        following = page_link(PATH, query)
    summaries = tuple(map(JobSummary.of, shown))
    return json_response(JobList(jobs=summaries, next=following))


async def get_job(request: Request, id: str, preferences: OfLook) -> Response:  # noqa: A002 (the path parameter)
    """Return the job at once. With `Prefer: wait` return it when it has ended, or after that time.

    \f

    Args:
        request: the HTTP request.
        id: id of the job.
        preferences: longest preferred wait for the end of the job; without a wait the answer is immediate.

    Returns:
        The response with the job as JSON: its state, its progress and, once it has ended, its result or problem.

    Raises:
        Problem: the caller has no such job.
    """
    wait_seconds = float(preferences.granted or 0)
    job = await find_job(request, id, wait_seconds)
    headers = {"cache-control": "no-cache", **preferences.applied}
    return Response(document(job), media_type=JSON, headers=headers)


async def get_job_result(request: Request, id: str, preferences: OfLook) -> Response:  # noqa: A002
    """Return the result; the problem of a job that failed; 409 if the job has not ended or was cancelled.

    \f

    Args:
        request: the HTTP request.
        id: id of the job.
        preferences: longest preferred wait for the end of the job; without a wait the answer is immediate.

    Returns:
        The response with the stored result in its own media type, or with the problem of a failed job.

    Raises:
        Problem: the caller has no such job, or the job has no result.
    """
    wait_seconds = float(preferences.granted or 0)
    job = await find_job(request, id, wait_seconds)
    return await signed_result(request, job)


async def remove_job(request: Request, id: str) -> Response:  # noqa: A002 (the name of the path parameter)
    """Cancel a job that waits or runs, and return it. Delete a job that has ended: 204.

    \f

    Args:
        request: the HTTP request.
        id: id of the job.

    Returns:
        The response with the cancelled job, or an empty response with status 204 if the job is deleted.

    Raises:
        Problem: the caller has no such job.
    """
    # The job is looked up first, for the check that it exists and that the caller has the scope for it.
    await find_job(request, id, 0.0)
    cancelled = await remove_and_wait(request, id)
    if cancelled is None:
        return Response(status_code=204)
    return Response(document(cancelled), media_type=JSON)
