"""Endpoints that every list of algorithms has: one that solves a problem of a type, and a 404 that knows the names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Body
from fastapi.openapi.models import Example
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.answers.answering import answered
from epsilond.app.answers.compute import Job
from epsilond.app.catalogue import unknown
from epsilond.calibrators.risk.answer import RiskBounder

Endpoint = Callable[..., Awaitable[Response]]


def solving(entry: RiskBounder, *, kind: Literal["risk-bounds"], work: Callable[..., Any]) -> Endpoint:
    """An endpoint whose body is the entry's problem; `work(solve, problem)` runs in a worker where it is not cheap."""

    async def endpoint(request: Request, problem: Any) -> Response:
        closed_form = entry.cost(problem) == "closed-form"
        computation = partial(work, entry.solve, problem)
        return await answered(Job(kind, entry.name, problem, computation, closed_form), request)

    examples: dict[str, Example] = {entry.name: {"summary": entry.title, "value": dict(entry.example)}}
    endpoint.__annotations__["problem"] = Annotated[entry.problem, Body(openapi_examples=examples)]
    return endpoint


def nothing_but(names: set[str]) -> Endpoint:
    """405 for an algorithm that is served by another method, 404 with near names otherwise."""

    async def nothing(name: str) -> Response:
        if name in names:
            raise HTTPException(405)
        raise unknown("algorithm", name, names)

    return nothing
