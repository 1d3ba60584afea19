"""POST /v1/calibrations/{algorithm} and GET /v1/algorithms, from the list of calibrators."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.catalogue import Algorithm, AlgorithmList, pascal, slug
from epsilond.app.http.body import unread
from epsilond.app.http.document import json_document
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.http.prefer import OfQuestion
from epsilond.app.questions.asking import asked
from epsilond.app.questions.sweeps import SweepAnswer, SweepProblem
from epsilond.app.routes.by_algorithm import Endpoint, unknown_name_route
from epsilond.app.routes.questions import SIGNED_OR_A_JOB
from epsilond.app.workers.work import render
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add one typed route for each calibrator, the list of them, and a 404 that knows their names."""
    for calibrator in calibrators:
        app.add_api_route(
            f"/v1/calibrations/{calibrator.name}",
            _calibrating(calibrator),
            methods=["POST"],
            operation_id=f"calibrate_{slug(calibrator.name)}",
            summary=calibrator.title,
            description=calibrator.summary,
            response_model=_answer_type(calibrator) | SweepAnswer,
            response_description="What to run with, and what is certified of it",
            responses=SIGNED_OR_A_JOB,
            tags=["calibrations"],
        )
    app.add_api_route(
        "/v1/algorithms",
        _list(calibrators),
        operation_id="list_algorithms",
        summary="The calibrators",
        response_model=AlgorithmList,
        tags=["calibrations"],
    )
    app.add_api_route(
        "/v1/calibrations/{name}",
        unknown_name_route({calibrator.name for calibrator in calibrators}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=UNKNOWN_NAME,
        include_in_schema=False,
    )


def _calibrating(calibrator: Calibrator) -> Endpoint:
    """One question, or the same at many values of one field: told apart by whether the body has a `sweep`."""

    async def endpoint(request: Request, body: bytes, preferences: OfQuestion) -> Response:
        return await asked(request, "calibration", calibrator.name, body, preferences)

    examples: dict[str, Example] = {
        calibrator.name: {"summary": calibrator.title, "value": dict(calibrator.example)},
    }
    endpoint.__annotations__["body"] = Annotated[
        unread(calibrator.problem | SweepProblem), Body(openapi_examples=examples)
    ]
    return endpoint


def _answer_type(calibrator: Calibrator) -> type:
    """The envelope with this calibrator's own parameters: what it answers, as it stands in the OpenAPI document."""
    return make_dataclass(
        f"{pascal(calibrator.name)}Calibration",
        [("parameters", calibrator.parameters)],
        bases=(Calibration,),
        namespace={"__doc__": f"What {calibrator.name} answers."},
        frozen=True,
        kw_only=True,
    )


def _list(calibrators: tuple[Calibrator, ...]) -> Endpoint:
    document = json_document(render(AlgorithmList(algorithms=tuple(map(Algorithm.of, calibrators)))))

    async def list_algorithms(request: Request) -> Response:
        """Every calibrator, with a body to try and a link to its schema."""
        return document.response(request)

    return list_algorithms
