"""POST /v1/plans: one problem, every algorithm side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.errors import EpsilondError
from epsilond.app.answers.answering import json_response
from epsilond.app.answers.batch import Settled, answers
from epsilond.app.answers.compute import Job
from epsilond.app.answers.work import rendered
from epsilond.app.http.problems import Problem
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.calibrators.calibration import Calibrator
from epsilond.calibrators.planning.adapter import Draft
from epsilond.calibrators.planning.answer import PlanAnswer, Reached
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.calibrators.planning.problem import PlanProblem
from epsilond.calibrators.planning.rankings import Outcome, Undecided, answer_of, drafts, found_of
from epsilond.calibrators.planning.reach import Found, reach

_EXAMPLES: dict[str, Example] = {name: {"value": dict(body)} for name, body in EXAMPLES.items()}


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add the route, where there is anything to plan with."""
    if not calibrators:
        return
    app.add_api_route(
        "/v1/plans",
        _planning(calibrators),
        methods=["POST"],
        operation_id="plan",
        summary="One problem, every algorithm side by side",
        response_model=PlanAnswer,
        response_description="Every algorithm with its calibration, or why it has none; rankings of like with like",
        tags=["plans"],
    )


def _planning(calibrators: tuple[Calibrator, ...]) -> Endpoint:
    async def plan(request: Request, problem: Annotated[PlanProblem, Body(openapi_examples=_EXAMPLES)]) -> Response:
        """Calibrate every algorithm that applies, rank those that can be compared, and say why the others do not.

        What is not computed by the deadline is `undecided`; the rest stands.
        """
        drafted = drafts(calibrators, problem)
        asked = [_job(each, problem) for each in drafted if each.request is not None]
        settled = iter(await answers(asked, request))
        outcomes = [(each, None if each.request is None else _outcome(each, next(settled))) for each in drafted]
        return json_response(answer_of(problem, outcomes))

    return plan


def _job(each: Draft, problem: PlanProblem) -> Job:
    """The single calibration, kept under its own name; or the search for what reaches a risk."""
    calibrator = each.calibrator
    if problem.unknown is not None:
        computation = partial(rendered, reach, calibrator, each.adapter, problem)
        return Job("reach", each.name, problem, computation)
    computation = partial(rendered, calibrator.solve, each.request)
    closed_form = calibrator.cost(each.request) == "closed-form"
    return Job("calibration", calibrator.name, each.request, computation, closed_form)


def _outcome(each: Draft, settled: Settled) -> Outcome:
    if isinstance(settled, Problem):
        return Undecided(f"{settled.kind.slug}: {settled.detail}")
    if isinstance(settled, EpsilondError):
        return settled
    told: Mapping[str, Any] = json.loads(settled.body)
    if "reached" not in told:
        return found_of(told, each.request)
    return Found(request=told["request"], calibration=told["calibration"], reached=Reached.read(told["reached"]))
