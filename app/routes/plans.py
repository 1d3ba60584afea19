"""POST /v1/plans: one problem, every algorithm side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.body import unread
from epsilond.app.http.prefer import OfQuestion
from epsilond.app.questions.asking import asked
from epsilond.app.routes.questions import TAKEN_AS_A_JOB
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.calibrators.planning.problem import PlanProblem

_EXAMPLES: dict[str, Example] = {name: {"value": dict(body)} for name, body in EXAMPLES.items()}


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add the route, where there is anything to plan with."""
    if not calibrators:
        return
    app.add_api_route(
        "/v1/plans",
        plan,
        methods=["POST"],
        operation_id="plan",
        summary="One problem, every algorithm side by side",
        response_model=PlanAnswer,
        response_description="Every algorithm with its calibration, or why it has none; rankings of like with like",
        responses=TAKEN_AS_A_JOB,
        tags=["plans"],
    )


async def plan(
    request: Request,
    problem: Annotated[unread(PlanProblem), Body(openapi_examples=_EXAMPLES)],  # type: ignore[valid-type]
    preferences: OfQuestion,
) -> Response:
    """Calibrate every algorithm that applies, rank those that can be compared, and say why the others do not."""
    return await asked(request, "plan", "plan", problem, preferences)
