"""POST /v1/calibrations/{algorithm}, …/sweeps and GET /v1/algorithms, from the list of calibrators."""

from __future__ import annotations

from dataclasses import make_dataclass
from functools import partial
from typing import Annotated

from fastapi import Body, FastAPI, Path
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.catalogue import Algorithm, AlgorithmList, pascal, slug, unknown
from epsilond.app.http.body import OfQuestion, unread
from epsilond.app.http.document import json_document
from epsilond.app.http.handlers import UNKNOWN_NAME
from epsilond.app.questions.asking import respond
from epsilond.app.questions.calibrations import read_calibration, read_sweep
from epsilond.app.questions.sweeps import SweepAnswer, SweepProblem
from epsilond.app.routes.by_algorithm import Endpoint, unknown_name_route
from epsilond.app.routes.questions import SIGNED_OR_A_JOB, endpoint_of
from epsilond.app.workers.work import render
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.calibration import Calibrator


def add(app: FastAPI, calibrators: tuple[Calibrator, ...]) -> None:
    """Add the routes of calibrations: one for each calibrator, their list, the sweeps, and one for unknown names.

    Each calibrator has its own route, so that the OpenAPI document describes the fields of its request.

    Args:
        app: the application, which is changed.
        calibrators: the calibrators to serve; each finds parameters of one algorithm for a target of privacy.
    """
    for calibrator in calibrators:
        reading = partial(read_calibration, calibrator.home, calibrator.name)
        example = {"summary": calibrator.title, "value": dict(calibrator.example)}
        app.add_api_route(
            f"/v1/calibrations/{calibrator.name}",
            endpoint_of("calibration", calibrator.name, reading, calibrator.problem, {calibrator.name: example}),
            methods=["POST"],
            operation_id=f"calibrate_{slug(calibrator.name)}",
            summary=calibrator.title,
            description=calibrator.summary,
            response_model=_answer_type(calibrator),
            response_description="Parameters of the run, and the certified guarantee",
            responses=SIGNED_OR_A_JOB,
            tags=["calibrations"],
        )
    app.add_api_route(
        "/v1/algorithms",
        _list_endpoint(calibrators),
        operation_id="list_algorithms",
        summary="The algorithms that are calibrated",
        response_model=AlgorithmList,
        tags=["calibrations"],
    )
    app.add_api_route(
        "/v1/calibrations/{algorithm}/sweeps",
        _sweep_endpoint(calibrators),
        methods=["POST"],
        operation_id="sweep_calibration",
        summary="One calibration at many values of one field",
        response_model=SweepAnswer,
        response_description="The answer of a single call at each value, or its problem",
        responses=SIGNED_OR_A_JOB,
        tags=["calibrations"],
    )
    # Routes are matched in order, so this one gets only the requests that no route above takes.
    app.add_api_route(
        "/v1/calibrations/{name}",
        unknown_name_route({calibrator.name for calibrator in calibrators}),
        methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        name=UNKNOWN_NAME,
        include_in_schema=False,
    )


def _sweep_endpoint(calibrators: tuple[Calibrator, ...]) -> Endpoint:
    """Make the endpoint that runs sweeps of any calibrator. A sweep calibrates at each of many values of one field.

    Args:
        calibrators: the calibrators to serve, at least one of which takes ε.

    Returns:
        The endpoint, which takes the name of the algorithm from the path.
    """
    homes = {calibrator.name: calibrator.home for calibrator in calibrators}
    # The example in the OpenAPI document is a sweep over three values of ε, by the last calibrator that takes ε.
    example_calibrator = next(calibrator for calibrator in reversed(calibrators) if "epsilon" in calibrator.example)
    example_sweep = {"field": "epsilon", "values": [0.5, 1.0, 2.0], "true_figures": True}
    example_body = {**example_calibrator.example, "sweep": example_sweep}
    openapi_examples: dict[str, Example] = {"sweep": {"summary": "Three values of ε", "value": example_body}}

    async def sweep_calibration(request: Request, algorithm: str, body: bytes, preferences: OfQuestion) -> Response:
        """Calibrate for each value of `sweep`; the other fields are those of the calibration.

        \f

        Args:
            request: the HTTP request.
            algorithm: name of the calibrator.
            body: JSON text of the calibration's request, with the swept field and its values in `sweep`.
            preferences: preferred wait for the answer, and the idempotency key.

        Returns:
            The response with one result for each value; or status 202 and a job, if this takes longer than the request
            waits.

        Raises:
            Problem: there is no such calibrator, or the request is not valid.
        """
        if algorithm not in homes:
            raise unknown("algorithm", algorithm, homes)
        reading = partial(read_sweep, homes[algorithm], algorithm)
        return await respond(request, "sweep", algorithm, reading, body, preferences)

    # The annotations are set here because they depend on `calibrators`; FastAPI builds the OpenAPI document from them.
    algorithm_parameter = Path(
        description="name of the algorithm, as GET /v1/algorithms lists it",
        examples=[example_calibrator.name],
        max_length=100,
    )
    sweep_calibration.__annotations__["algorithm"] = Annotated[str, algorithm_parameter]
    body = Body(openapi_examples=openapi_examples)
    sweep_calibration.__annotations__["body"] = Annotated[unread(SweepProblem), body]
    return sweep_calibration


def _answer_type(calibrator: Calibrator) -> type:
    """Make a subclass of `Calibration` in which `parameters` has the calibrator's own type, for the OpenAPI document.

    Args:
        calibrator: the calibrator of an algorithm.

    Returns:
        A frozen dataclass, such as `DpSgdCalibration` for the algorithm dp-sgd.
    """
    return make_dataclass(
        f"{pascal(calibrator.name)}Calibration",
        [("parameters", calibrator.parameters_type)],
        bases=(Calibration,),
        namespace={"__doc__": f"The answer of {calibrator.name}."},
        frozen=True,
        kw_only=True,
    )


def _list_endpoint(calibrators: tuple[Calibrator, ...]) -> Endpoint:
    """Make the endpoint that lists the calibrators.

    Args:
        calibrators: the calibrators to list.

    Returns:
        The endpoint, a function from a request to the response with the list.
    """
    # The list does not change while the service runs, so it is rendered only once.
    algorithms = tuple(map(Algorithm.of, calibrators))
    document = json_document(render(AlgorithmList(algorithms=algorithms)))

    async def list_algorithms(request: Request) -> Response:
        """List every algorithm, with an example of a request and a link to its schema."""
        return document.response(request)

    return list_algorithms
