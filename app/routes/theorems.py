"""GET /v1/theorems, GET /v1/theorems/{id} and POST /v1/theorems/{id}/evaluations, from the list of theorems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query
from fastapi.openapi.models import Example
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.theorem import Status, Theorem
from epsilond.app.answers.answering import answered, json_response
from epsilond.app.answers.compute import Job
from epsilond.app.answers.evaluation import EvaluationAnswer, body_type
from epsilond.app.answers.work import evaluate
from epsilond.app.catalogue import TheoremDetail, TheoremList, TheoremSummary, paper, slug, unknown
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.http.problems import FieldError, Problem

EVERY = ["GET", "POST", "PUT", "PATCH", "DELETE"]
Endpoint = Callable[..., Awaitable[Response]]


def add(app: FastAPI, theorems: tuple[Theorem, ...], home: str) -> None:
    """Add the list, each theorem's page, and one typed route for each formula."""
    known = {theorem.id: theorem for theorem in theorems}
    app.add_api_route(
        "/v1/theorems",
        _list(theorems),
        operation_id="list_theorems",
        summary="Every theorem",
        response_model=TheoremList,
        tags=["theorems"],
    )
    app.add_api_route(
        "/v1/theorems/{id}",
        _detail(known),
        operation_id="get_theorem",
        summary="One theorem",
        response_model=TheoremDetail,
        tags=["theorems"],
    )
    for theorem in theorems:
        if theorem.formula is not None and theorem.inputs is not None:
            app.add_api_route(
                f"/v1/theorems/{theorem.id}/evaluations",
                _endpoint(theorem, home),
                methods=["POST"],
                operation_id=f"evaluate_{slug(theorem.id)}",
                summary=theorem.title,
                description=theorem.statement,
                response_model=EvaluationAnswer,
                response_description="The formula's outputs, beside the theorem's conditions at these inputs",
                tags=["evaluations"],
            )
    app.add_api_route(
        "/v1/theorems/{id}/evaluations", _nothing(known), methods=EVERY, name=UNKNOWN_NAME, include_in_schema=False
    )


def _list(theorems: tuple[Theorem, ...]) -> Endpoint:
    papers = sorted({paper(theorem) for theorem in theorems})

    async def list_theorems(
        status: Annotated[Status | None, Query(description="only theorems of this status")] = None,
        of: Annotated[str | None, Query(alias="paper", description="only theorems of this paper")] = None,
    ) -> Response:
        """Every theorem the service uses or can evaluate, in the order of the catalogue."""
        if of is not None and of not in papers:
            raise Problem(
                "invalid-input",
                "A parameter of the request cannot be.",
                FieldError(parameter="paper", message="is not one of the allowed values", allowed=", ".join(papers)),
            )
        chosen = (item for item in theorems if status in (None, item.status) and of in (None, paper(item)))
        return json_response(TheoremList(theorems=tuple(map(TheoremSummary.of, chosen))))

    return list_theorems


def _detail(known: Mapping[str, Theorem]) -> Endpoint:
    detail = cache(TheoremDetail.of)

    async def get_theorem(id: str) -> Response:  # noqa: A002 (the name of the path parameter)
        """Its statement, source, conditions, errata, readings, and the schema of its formula's inputs."""
        if id not in known:
            raise unknown("theorem", id, known)
        return json_response(detail(known[id]))

    return get_theorem


def _endpoint(theorem: Theorem, home: str) -> Endpoint:
    async def endpoint(request: Request, body: Any) -> Response:
        computation = partial(evaluate, home, theorem.id, body.reading, body.inputs)
        try:
            return await answered(Job("evaluation", theorem.id, body, computation), request)
        except InvalidInput as error:
            # The formula speaks of its own inputs; in the body they stand one level down.
            raise InvalidInput(
                *(Fault(f"/inputs{fault.pointer}", fault.message, fault.allowed) for fault in error.faults)
            ) from None

    examples: dict[str, Example] = {
        f"{slug(theorem.id)}_{place}": {"value": {"inputs": dict(inputs)}}
        for place, inputs in enumerate(theorem.examples, start=1)
    }
    endpoint.__annotations__["body"] = Annotated[body_type(theorem), Body(openapi_examples=examples or None)]
    return endpoint


def _nothing(known: Mapping[str, Theorem]) -> Endpoint:
    async def unknown_name(id: str) -> Response:  # noqa: A002 (the name of the path parameter)
        if id not in known:
            raise unknown("theorem", id, known)
        if known[id].formula is not None:
            raise HTTPException(405)
        raise Problem("no-formula", f"{id} is a rule between guarantees and has no formula to evaluate.")

    return unknown_name
