"""POST /v1/simulations: an algorithm to run, or a mechanism to attack, as a job."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body, FastAPI
from fastapi.openapi.models import Example
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.http.body import OfQuestion, unread
from epsilond.app.jobs.documents import JobDocument
from epsilond.app.jobs.job import SIMULATION, Job
from epsilond.app.jobs.manager import JOBS
from epsilond.app.jobs.places import JOB_WAITS
from epsilond.app.jobs.responses import job_response
from epsilond.app.jobs.simulations import SIMULATIONS
from epsilond.app.questions.asking import run_in_worker
from epsilond.app.questions.simulations import SimulationAsked, request_type
from epsilond.app.routes.by_algorithm import Endpoint
from epsilond.app.routes.jobs.looking import find_job
from epsilond.app.routes.questions import APPLIED, LOCATION, RETRY
from epsilond.app.workers.work import unpickle
from epsilond.witness.kind import SimulationKind

PATH = "/v1/simulations"


def add(app: FastAPI, kinds: tuple[SimulationKind, ...]) -> None:
    """Add the route by which clients start simulations of the given kinds.

    A simulation runs as a job, a computation that goes on after its request was answered. The answer describes the job.
    Its status is 202 while the job waits or runs, and 200 if the job has ended within the time that the client allows.

    Args:
        app: the application, which is changed.
        kinds: the kinds of simulation that the service runs.
    """
    app.add_api_route(
        PATH,
        _post(kinds),
        methods=["POST"],
        operation_id="start_simulation",
        summary="Run an algorithm, or attack a mechanism, and measure",
        status_code=202,
        response_model=JobDocument,
        response_description="The job, which waits or runs; it is at Location",
        responses={
            202: {"headers": LOCATION | RETRY | APPLIED},
            200: {
                "description": "The job, which has ended within the time of `Prefer: wait`",
                "model": JobDocument,
                "headers": LOCATION | APPLIED,
            },
        },
        openapi_extra={"x-problems": [501]},
        tags=["simulations"],
    )


def _post(kinds: tuple[SimulationKind, ...]) -> Endpoint:
    """Make the endpoint that starts simulations of these kinds.

    Args:
        kinds: the kinds of simulation that the service runs, each with a request class and an example.

    Returns:
        The endpoint, a function from a request and its body to the response with the job.
    """

    async def start_simulation(request: Request, simulation: bytes, preferences: OfQuestion) -> Response:
        """Create a job. The same seed gives the same result, with any number of workers.

        The job's state, progress, events and result, its figure and its cancellation are at `/v1/jobs/{id}`. The
        response waits for the end of the job as long as `Prefer: wait` asks and the service grants. It is 202 at once
        if too many requests already wait for jobs.

        \f

        Args:
            request: the HTTP request.
            simulation: JSON text of the simulation's request.
            preferences: preferred wait for the answer, and the idempotency key.

        Returns:
            Status 202 with the job, or 200 if it ended within the granted wait.
        """
        jobs = JOBS.of(request)
        caller = caller_of(request)
        # The body is read and checked in a worker process.
        reading = SIMULATIONS.of(request).reading(simulation)
        pickled_question = await run_in_worker(request, reading)
        question = unpickle(pickled_question, SimulationAsked)
        # A request that is repeated with the same idempotency key gets the job of the first one.
        job: Job | None = None
        if preferences.key is not None:
            job = await jobs.with_key(caller.name, preferences.key, question.fingerprint)
        if job is None:
            job = await jobs.submit(
                SIMULATION,
                question.kind,
                question.rendered,
                caller=caller,
                steps=question.plan.blocks,
                seconds=question.plan.seconds,
                idempotency_key=preferences.key,
                fingerprint=question.fingerprint,
            )
        if preferences.granted and JOB_WAITS.of(request).has_room(caller.identity):
            job = await find_job(request, job.record.id, float(preferences.granted))
        return job_response(job, preferences, status=200 if job.ended else 202)

    # The annotation is set here because it depends on `kinds`; FastAPI builds the OpenAPI document from it.
    examples: dict[str, Example] = {
        kind.example["kind"]: {"value": dict(kind.example)} for kind in kinds if kind.example
    }
    body_type = request_type(tuple(kind.request for kind in kinds))
    body = Body(openapi_examples=examples or None)
    start_simulation.__annotations__["simulation"] = Annotated[unread(body_type), body]
    return start_simulation
