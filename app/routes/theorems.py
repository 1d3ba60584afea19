"""GET /v1/theorems, GET /v1/theorems/{id} and POST /v1/theorems/{id}/evaluations, from the list of theorems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated

from fastapi import Body, FastAPI, Path, Query
from fastapi.openapi.models import Example
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.theorem import Status, Theorem
from epsilond.app.catalogue import TheoremList, TheoremSummary, paper, unknown
from epsilond.app.http.body import BytesRoute, Handler, OfQuestion, unread
from epsilond.app.http.document import Document, Documents, json_document
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.http.problems import FieldError, Problem
from epsilond.app.http.record import record_of
from epsilond.app.questions.asking import respond
from epsilond.app.questions.evaluations import EvaluationAnswer, EvaluationRequest, read_evaluation
from epsilond.app.routes.questions import TAKEN_AS_A_JOB
from epsilond.app.theorem_detail import TheoremDetail
from epsilond.app.workers.work import render

EVALUATIONS = "/v1/theorems/{id}/evaluations"
OTHERS = ["GET", "PUT", "PATCH", "DELETE"]
Endpoint = Callable[..., Awaitable[Response]]


def add(app: FastAPI, theorems: tuple[Theorem, ...], home: str) -> None:
    """Add the routes of theorems: the list, one theorem in full, and the evaluation of a formula.

    Args:
        app: the application.
        theorems: the theorems to serve, in the order of the list.
        home: name of the module with the list `THEOREMS`, from which workers import the theorems.
    """
    by_id = {theorem.id: theorem for theorem in theorems}
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
        _detail(by_id),
        operation_id="get_theorem",
        summary="One theorem",
        response_model=TheoremDetail,
        tags=["theorems"],
    )
    # The id is checked before the body is read, by the route class.
    app.router.add_api_route(
        EVALUATIONS,
        _evaluation_endpoint(by_id, home),
        methods=["POST"],
        operation_id="evaluate_theorem",
        summary="A theorem's formula, and its conditions, at given inputs",
        response_model=EvaluationAnswer,
        response_description="The formula's outputs, and the theorem's conditions at these inputs",
        responses=TAKEN_AS_A_JOB,
        tags=["theorems"],
        route_class_override=_formula_route(by_id),
    )
    app.add_api_route(EVALUATIONS, _unknown_endpoint(by_id), methods=OTHERS, name=UNKNOWN_NAME, include_in_schema=False)


def _list(theorems: tuple[Theorem, ...]) -> Endpoint:
    """Make the endpoint that lists theorems, filtered by their status, their paper, or both.

    The list for each combination of the two filters is rendered once, and then kept.

    Args:
        theorems: the theorems to list.

    Returns:
        The endpoint, a function from a request and the two filters to the response.
    """
    papers = sorted({paper(theorem) for theorem in theorems})

    def make_document(filters: tuple[Status | None, str | None]) -> Document:
        """Render the list of the theorems that match the filters as JSON.

        Args:
            filters: status of the theorems, and name of their paper; None for any.
        """
        status, paper_name = filters
        selected = theorems
        if status is not None:
            selected = tuple(theorem for theorem in selected if theorem.status == status)
        if paper_name is not None:
            selected = tuple(theorem for theorem in selected if paper(theorem) == paper_name)
        summaries = tuple(map(TheoremSummary.of, selected))
        return json_document(render(TheoremList(theorems=summaries)))

    documents = Documents(make_document)

    async def list_theorems(
        request: Request,
        status: Annotated[
            Status | None, Query(description="status of the theorems to return; absent: all theorems")
        ] = None,
        paper_name: Annotated[
            str | None,
            Query(
                alias="paper",
                description="key of the paper whose theorems are returned; absent: theorems of all papers",
            ),
        ] = None,
    ) -> Response:
        """List every theorem that the service uses or can evaluate, in the order of the catalogue.

        \f

        Args:
            request: the HTTP request.
            status: status of the listed theorems; None for any.
            paper_name: paper of the listed theorems; None for any.

        Returns:
            The list as JSON, or an empty response with status 304 if the client has it.

        Raises:
            Problem: the catalogue has no theorem of this paper.
        """
        if paper_name is not None and paper_name not in papers:
            error = FieldError(parameter="paper", message="is not one of the allowed values", allowed=", ".join(papers))
            raise Problem("invalid-input", "A query parameter is invalid; see errors.", error)
        document = await documents.of((status, paper_name))
        return document.response(request)

    return list_theorems


def _detail(by_id: Mapping[str, Theorem]) -> Endpoint:
    """Make the endpoint that shows one theorem in full. Each answer is rendered once, and kept.

    Args:
        by_id: the theorems by their ids.

    Returns:
        The endpoint, which takes the id from the path.
    """

    def make_document(name: str) -> Document:
        """Render the theorem with an id as JSON."""
        detail = TheoremDetail.of(by_id[name])
        return json_document(render(detail))

    documents: Documents[str] = Documents(make_document)

    async def get_theorem(request: Request, id: str) -> Response:  # noqa: A002 (the name of the path parameter)
        """Return the statement, source, conditions, errata and readings, and the schemas of the formula.

        \f

        Args:
            request: the HTTP request.
            id: id of the theorem.

        Returns:
            The theorem as JSON, or an empty response with status 304 if the client has it.

        Raises:
            Problem: there is no theorem of this id.
        """
        if id not in by_id:
            raise unknown("theorem", id, by_id)
        document = await documents.of(id)
        return document.response(request)

    return get_theorem


def _formula_route(by_id: Mapping[str, Theorem]) -> type[BytesRoute]:
    """Make a route class that rejects an unknown theorem, or one without a formula, before it reads the body.

    Args:
        by_id: the theorems by their ids.

    Returns:
        The class, from which FastAPI makes the route of the formulas.
    """

    class FormulaRoute(BytesRoute):
        """Route with the id of a theorem in its path. The id is checked before the body of a request is read."""

        def get_route_handler(self) -> Handler:
            """Return the handler of the route, preceded by the check of the id."""
            # The inherited handler reads the body, so the check must come before it.
            handle = super().get_route_handler()

            async def check_and_handle(request: Request) -> Response:
                """Reject an unknown theorem or one without a formula, and otherwise handle the request."""
                _require_formula(by_id, request.path_params["id"])
                return await handle(request)

            return check_and_handle

    return FormulaRoute


def _evaluation_endpoint(by_id: Mapping[str, Theorem], home: str) -> Endpoint:
    """Make the endpoint that evaluates the formula of a theorem, with an example for the OpenAPI document.

    Args:
        by_id: the theorems by id.
        home: name of the module with the list `THEOREMS`, from which workers import the theorems.

    Returns:
        The endpoint, which takes the id of the theorem from the path.
    """

    async def evaluate_theorem(
        request: Request,
        id: str,  # noqa: A002 (the path parameter)
        body: bytes,
        preferences: OfQuestion,
    ) -> Response:
        """Evaluate the formula. Its inputs, outputs and examples are at /v1/theorems/{id}.

        \f

        Args:
            request: the HTTP request.
            id: id of the theorem.
            body: JSON text of the formula's inputs, and of its reading: printed or corrected.
            preferences: preferred wait for the answer, and the idempotency key.

        Returns:
            The response with the outputs of the formula; or status 202 and a job, if this takes longer than the request
            waits.

        Raises:
            Problem: an input is missing or not valid.
        """
        record_of(request).theorem = id
        parse_body = partial(read_evaluation, home, id)
        return await respond(request, "evaluation", id, parse_body, body, preferences)

    # The example in the OpenAPI document is the first theorem with a formula and an example.
    shown = next((theorem for theorem in by_id.values() if theorem.examples and _has_formula(theorem)), None)
    example_ids: list[str] | None = None
    examples: dict[str, Example] | None = None
    if shown is not None:
        first_inputs, *_ = shown.examples
        example_ids = [shown.id]
        examples = {shown.id: {"value": {"inputs": dict(first_inputs)}}}
    # FastAPI builds the OpenAPI document from the annotations, which are set here because they depend on `by_id`.
    # `unread` describes the body as an `EvaluationRequest`, but passes its bytes: a worker parses them.
    described_id = Path(description="id of the theorem, as GET /v1/theorems lists it", examples=example_ids)
    evaluate_theorem.__annotations__["id"] = Annotated[str, described_id]
    described_body = Body(openapi_examples=examples)
    evaluate_theorem.__annotations__["body"] = Annotated[unread(EvaluationRequest), described_body]
    return evaluate_theorem


def _unknown_endpoint(by_id: Mapping[str, Theorem]) -> Endpoint:
    """Make the endpoint for methods other than POST: 405 for a theorem with a formula, and 404 for every other id.

    Args:
        by_id: the theorems by their ids.

    Returns:
        The endpoint, which always raises an error.
    """

    async def unknown_name(id: str) -> Response:  # noqa: A002 (the name of the path parameter)
        """Reject the request: with 404 if the theorem is unknown or has no formula, and otherwise with 405."""
        _require_formula(by_id, id)
        raise HTTPException(405)

    return unknown_name


def _has_formula(theorem: Theorem) -> bool:
    """Return whether a theorem has a formula that can be evaluated."""
    return theorem.formula is not None and theorem.inputs is not None


def _require_formula(by_id: Mapping[str, Theorem], name: str) -> None:
    """Require that an id is that of a theorem with a formula.

    Args:
        by_id: all theorems by id.
        name: the id.

    Raises:
        Problem: the id is unknown, or the theorem has no formula.
    """
    if name not in by_id:
        raise unknown("theorem", name, by_id)
    if not _has_formula(by_id[name]):
        raise Problem("no-formula", f"{name} is a rule between guarantees and has no formula to evaluate.")
