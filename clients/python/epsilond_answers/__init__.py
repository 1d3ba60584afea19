"""Answers of the service: what a request was answered, once its job has ended if it became one.

    with connect("http://127.0.0.1:8000") as client:
        response = calibrate_gaussian.sync_detailed(client=client, body=problem)
        calibration = answer_of(client, response, Calibration)

The package `epsilond_client` next to this module is the output of openapi-python-client.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any, Protocol, Self, TypeVar

import httpx

from epsilond_client import AuthenticatedClient, Client
from epsilond_client.api.jobs import get_job, get_job_result
from epsilond_client.models import Job, JobState, Problem
from epsilond_client.types import Response

AnyClient = AuthenticatedClient | Client
RUNNING = (JobState.QUEUED, JobState.RUNNING)
HELD = "wait=20"
"""How long the service may hold a look at a job, in seconds; each look starts at once when the last one is answered."""


class Parsed(Protocol):
    """A model of the client."""

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        """Return the model of a JSON object."""


Answer = TypeVar("Answer", bound=Parsed)


class Refused(Exception):
    """The service answered with a problem, or the job of a request ended with one.

    Attributes:
        problem: status, title, detail, the fields at fault, the condition that fails and the nearest feasible values.
    """

    def __init__(self, problem: Problem) -> None:
        faults = [f"{fault.pointer or fault.parameter}: {fault.message}" for fault in problem.errors or ()]
        super().__init__("; ".join([f"{problem.status} {problem.title}: {problem.detail}", *faults]))
        self.problem = problem


def connect(url: str, api_key: str | None = None, timeout: float = 60.0) -> AuthenticatedClient:
    """Return a client of the service at a URL.

    It keeps connections open. `with` closes those of blocking requests, `async with` those of the others.

    Args:
        url: for example `http://127.0.0.1:8000`.
        api_key: sent as a bearer token; None for a service without keys.
        timeout: seconds that one request may take. A job may take longer than any request.
    """
    prefix = "Bearer" if api_key else ""  # without a key, the header is empty
    return AuthenticatedClient(url, token=api_key or "", prefix=prefix, timeout=httpx.Timeout(timeout))


def answer_of(client: AnyClient, response: Response[Any], kind: type[Answer]) -> Answer:
    """Return the answer of a request, and wait for it if the request became a job.

    Args:
        client: the client that sent the request.
        response: what `sync_detailed` of an operation returned.
        kind: the model of the answer.

    Raises:
        Refused: the service answered with a problem, or the job ended with one.
    """
    steps = _looks(client, response, kind)
    try:
        operation, arguments = next(steps)
        while True:
            operation, arguments = steps.send(operation.sync_detailed(**arguments))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def answer_of_async(client: AnyClient, response: Response[Any], kind: type[Answer]) -> Answer:
    """Return what `answer_of` returns, without blocking; `response` is what `asyncio_detailed` returned.

    Raises:
        Refused: as `answer_of`.
    """
    steps = _looks(client, response, kind)
    try:
        operation, arguments = next(steps)
        while True:
            operation, arguments = steps.send(await operation.asyncio_detailed(**arguments))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


Look = tuple[Any, dict[str, Any]]
"""A module of an operation, and the arguments to send it with."""


def _looks(client: AnyClient, response: Response[Any], kind: type[Answer]) -> Generator[Look, Response[Any], Answer]:
    """Yield the requests that lead from a response to the answer, and return the answer.

    Raises:
        Refused: the service answered with a problem, or the job ended with one.
    """
    parsed = _accepted(response)
    if not isinstance(parsed, Job):
        return parsed  # type: ignore[no-any-return]
    while parsed.state in RUNNING:
        parsed = _accepted((yield get_job, {"client": client, "id": parsed.id, "prefer": HELD}))
    if isinstance(parsed.problem, Problem):
        raise Refused(parsed.problem)
    result = yield get_job_result, {"client": client, "id": parsed.id}
    _accepted(result)
    return kind.from_dict(json.loads(result.content))


def _accepted(response: Response[Any]) -> Any:
    """Return what was parsed of a response that is not a problem.

    Raises:
        Refused: the response is a problem.
    """
    if isinstance(response.parsed, Problem):
        raise Refused(response.parsed)
    return response.parsed
