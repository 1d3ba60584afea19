"""GET /problems/{slug}: the meaning of each kind of problem, and its remedy."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.catalogue import unknown
from epsilond.app.http.document import Document, Documents, json_document
from epsilond.app.http.problem_kinds import KINDS, Kind
from epsilond.app.workers.work import render


@dataclass(frozen=True, kw_only=True)
class ProblemList:
    """Every kind of problem."""

    problems: tuple[Kind, ...]


def add(app: FastAPI) -> None:
    """Add /problems and /problems/{slug}, which describe the kinds of error answers.

    The `type` of each error answer is the path of such a page.

    Args:
        app: the application, which is changed.
    """
    app.add_api_route(
        "/problems",
        list_problems,
        operation_id="list_problems",
        summary="Every kind of problem",
        response_model=ProblemList,
        tags=["service"],
    )
    app.add_api_route(
        "/problems/{slug}",
        get_problem,
        operation_id="get_problem",
        summary="One kind of problem",
        response_model=Kind,
        tags=["service"],
    )


ALL = ""
"""Key of the list among the documents."""


def _document_of(slug: str) -> Document:
    """Render the description of one kind of problem (error answer), or the list of all kinds, as a JSON document.

    Args:
        slug: name of the kind, the last part of its path; `ALL` for the list.
    """
    if slug == ALL:
        every_kind = ProblemList(problems=tuple(KINDS.values()))
        return json_document(render(every_kind))
    return json_document(render(KINDS[slug]))


DOCUMENTS = Documents(_document_of)


async def list_problems(request: Request) -> Response:
    """List every `type` of a problem."""
    document = await DOCUMENTS.of(ALL)
    return document.response(request)


async def get_problem(request: Request, slug: str) -> Response:
    """Explain a kind of problem, and the remedy.

    \f

    Args:
        request: the HTTP request.
        slug: name of the kind of problem, the last part of its path.

    Returns:
        The description of the kind as JSON, or an empty response with status 304 if the client has it.

    Raises:
        Problem: there is no such kind of problem.
    """
    if slug not in KINDS:
        raise unknown("problem", slug, KINDS)
    document = await DOCUMENTS.of(slug)
    return document.response(request)
