"""Shared parts of the routes of questions: the endpoint, and the answer 202 of questions that do not end in time."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from starlette.responses import JSONResponse, Response

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.app.http.body import unread
from epsilond.app.jobs.documents import JobDocument
from epsilond.app.questions.asking import question_endpoint
from epsilond.app.questions.question import JSON, Posted, Reading
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.ledgers.http.signatures import DESCRIBED
from epsilond.ledgers.log.statements import KINDS

LOCATION = {"Location": {"description": "URL of the job", "schema": {"type": "string"}}}
RETRY = {"Retry-After": {"description": "seconds until the next request for the job", "schema": {"type": "string"}}}
APPLIED = {
    "Preference-Applied": {
        "description": "time that the service granted for waiting; absent if the request stated none",
        "schema": {"type": "string"},
    }
}
TAKEN_AS_A_JOB: dict[int | str, JsonRecord] = {
    202: {
        "description": "The answer was not ready in time; the job at Location goes on computing it",
        "model": JobDocument,
        "headers": LOCATION | RETRY | APPLIED,
    }
}
SIGNED_OR_A_JOB: dict[int | str, JsonRecord] = {200: {"headers": DESCRIBED}, **TAKEN_AS_A_JOB}
"""Responses of questions with signed answers."""


def endpoint_of(kind: str, name: str, reading: Reading, problem: type, examples: JsonObject) -> Endpoint:
    """Make the endpoint that answers one kind of questions (computations), with its body described for OpenAPI.

    Args:
        kind: kind of the questions, such as "calibration".
        name: name of these questions among those of their kind, such as the name of an algorithm.
        reading: function that parses the body of a request, and returns the question.
        problem: request class of the body.
        examples: examples of bodies by name, for the OpenAPI document.

    Returns:
        The endpoint, a function from an HTTP request to its response.
    """
    endpoint = question_endpoint(kind, name, reading)
    # FastAPI builds the OpenAPI document from the annotation, which is set here because it depends on `problem`.
    # `unread` describes the body as a `problem`, but passes its bytes: a worker parses them.
    described_body = Body(openapi_examples=dict(examples))
    endpoint.__annotations__["body"] = Annotated[unread(problem), described_body]
    return endpoint


def add(app: FastAPI, posted: Posted) -> None:
    """Add the route of one kind of questions to an application.

    Args:
        app: the application, which is changed.
        posted: path, request class, answer class and texts of the kind.
    """
    is_json = posted.media_type == JSON
    # FastAPI describes an answer with status 200 itself, except for its signature and for media types other than JSON.
    success: JsonRecord = {}
    if not is_json:
        success["description"] = posted.returns
        success["content"] = {posted.media_type: {"schema": {"type": "string"}}}
    if posted.kind in KINDS:
        success["headers"] = DESCRIBED
    responses: dict[int | str, JsonRecord] = {}
    if success:
        responses[200] = success
    responses |= TAKEN_AS_A_JOB
    app.add_api_route(
        posted.path,
        endpoint_of(posted.kind, posted.kind, posted.read, posted.problem, posted.examples),
        methods=["POST"],
        operation_id=posted.kind,
        summary=posted.title,
        description=posted.description,
        response_model=posted.answer,
        response_class=JSONResponse if is_json else Response,
        response_description=posted.returns,
        responses=responses,
        tags=[posted.tag],
    )
