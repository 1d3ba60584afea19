"""Handlers that turn the exceptions of the problem table into responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from epsilond.app.http.problems import TABLE, FieldError, Problem, problem_of, response_of

UNKNOWN_NAME = "unknown-name"
"""Name of the fallback routes: they answer a path below a list whose last part is not in the list."""

MESSAGES: Mapping[str, str] = {
    "missing": "is required",
    "enum": "is not one of the allowed values",
    "literal_error": "is not one of the allowed values",
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "is out of range"),
}
"""Messages of wrong parameters, by pydantic's error type. Its own sentences may quote the input."""

BOUNDS: Mapping[str, str] = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
"""Signs of the bounds of a number, by pydantic's name."""


async def answer_problem(request: Request, error: Exception) -> Response:
    """Return the HTTP response for an exception.

    If a method is not allowed (status 405), the response lists the allowed ones, as HTTP requires. For the method
    OPTIONS such a response is a success.

    Args:
        request: the HTTP request during which the exception was raised.
        error: the exception. One that is not in the table of problems becomes an internal error.

    Returns:
        A problem document (RFC 9457). For OPTIONS with status 405, an empty response with status 204.
    """
    problem = problem_of(error)
    if problem.kind.status == 405:
        allowed = ", ".join(allowed_methods(request))
        problem.headers = {"allow": allowed}
        problem.detail = f"The method is not allowed here. Allowed: {allowed}."
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=problem.headers)
    return response_of(problem)


def allowed_methods(request: Request) -> list[str]:
    """Return the HTTP methods that are allowed at the path of a request, in alphabetical order.

    They are the methods of all routes with this path, except the fallback routes for names that do not exist. OPTIONS
    is always allowed, and HEAD if GET is.
    """
    methods = {"OPTIONS"}
    for route in request.app.routes:
        if route.name != UNKNOWN_NAME and route.matches(request.scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or {"GET"}  # without methods it serves files
    head = {"HEAD"} if "GET" in methods else set()
    return sorted(methods | head)


def _allowed_values(context: Mapping[str, Any]) -> str | None:
    """Return the allowed values in pydantic's context of an error: a list in words, or the violated bound."""
    bounds = (f"{sign} {context[name]}" for name, sign in BOUNDS.items() if name in context)
    return context.get("expected") or next(bounds, None)


def _parameter_problem(error: RequestValidationError) -> Problem:
    """Convert FastAPI's errors in path and query parameters to the error answer of the service.

    Errors in a request body never come here, because the service reads bodies itself.

    Args:
        error: the errors of one request, at least one.

    Returns:
        The problem with one entry for each invalid parameter.
    """
    faults = []
    for item in error.errors():
        name = str(item["loc"][-1])
        message = MESSAGES.get(item["type"], "is not valid")
        allowed = _allowed_values(item.get("ctx", {}))
        faults.append(FieldError(parameter=name, message=message, allowed=allowed))
    return Problem("invalid-input", "A query or path parameter is invalid; see errors.", *faults)


TABLE[RequestValidationError] = _parameter_problem  # workers make problems too, without the framework
