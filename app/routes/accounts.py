"""POST /v1/accounts: what a run guarantees."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.body import unread
from epsilond.app.http.prefer import OfQuestion
from epsilond.app.questions.asking import asked
from epsilond.app.routes.questions import SIGNED_OR_A_JOB
from epsilond.calibrators.accounts import EXAMPLES, AccountAnswer, AccountProblem

_EXAMPLES: dict[str, Example] = {name: {"value": dict(body)} for name, body in EXAMPLES.items()}


def add(app: FastAPI) -> None:
    """Add the route."""
    app.add_api_route(
        "/v1/accounts",
        account,
        methods=["POST"],
        operation_id="account",
        summary="What a run guarantees, and whether a claim about it holds",
        response_model=AccountAnswer,
        response_description="The curve where it was asked, what it means to an attacker, and what proves it",
        responses=SIGNED_OR_A_JOB,
        tags=["accounts"],
    )


async def account(
    request: Request,
    problem: Annotated[unread(AccountProblem), Body(openapi_examples=_EXAMPLES)],  # type: ignore[valid-type]
    preferences: OfQuestion,
) -> Response:
    """Account for a spec under a stated neighbouring relation; the relation has no default."""
    return await asked(request, "account", "account", problem, preferences)
