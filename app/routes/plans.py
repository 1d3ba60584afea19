"""POST /v1/plans: one problem for every algorithm, ranked."""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI

from epsilond.app.questions.plans import read_plan
from epsilond.app.routes.questions import TAKEN_AS_A_JOB, endpoint_of
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.answer import PlanAnswer
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.calibrators.planning.problem import PlanProblem

_EXAMPLES = {name: {"value": dict(body)} for name, body in EXAMPLES.items()}


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add the route POST /v1/plans, which calibrates many algorithms to one problem and ranks them.

    Args:
        app: the application, which is changed.
        calibrators: the calibrators of the algorithms to rank; without any, no route is added.
    """
    if not calibrators:
        return
    app.add_api_route(
        "/v1/plans",
        endpoint_of("plan", "plan", partial(read_plan, calibrators), PlanProblem, _EXAMPLES),
        methods=["POST"],
        operation_id="plan",
        summary="One problem, every algorithm side by side",
        description="Calibrate every algorithm that applies, rank those that can be compared,"
        " and say why the others do not.",
        response_model=PlanAnswer,
        response_description="Every considered algorithm with its calibration or the reason why it has none, "
        "rankings of those that can be compared, and a recommendation",
        responses=TAKEN_AS_A_JOB,
        tags=["plans"],
    )
