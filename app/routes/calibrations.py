"""POST /v1/calibrations/{algorithm} and GET /v1/algorithms, from the list of calibrators."""

from __future__ import annotations

from dataclasses import make_dataclass

from fastapi import FastAPI
from starlette.responses import Response

from app.answering import json_response
from app.catalogue import Algorithm, AlgorithmList, pascal, slug
from app.handlers import NOTHING
from app.routes.by_algorithm import Endpoint, nothing_but, solving
from app.work import calibrate
from calibrators.answer import Calibration
from calibrators.problem import Calibrator


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add one typed route for each calibrator, the list of them, and a 404 that knows their names."""
    for calibrator in calibrators:
        app.add_api_route(
            f"/v1/calibrations/{calibrator.name}",
            solving(calibrator, kind="calibration", work=calibrate),
            methods=["POST"],
            operation_id=f"calibrate_{slug(calibrator.name)}",
            summary=calibrator.title,
            description=calibrator.summary,
            response_model=_answer_type(calibrator),
            response_description="What to run with, and what is certified of it",
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
        nothing_but({calibrator.name for calibrator in calibrators}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=NOTHING,
        include_in_schema=False,
    )


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
    answer = AlgorithmList(algorithms=tuple(map(Algorithm.of, calibrators)))

    async def list_algorithms() -> Response:
        """Every calibrator, with a body to try and a link to its schema."""
        return json_response(answer)

    return list_algorithms
