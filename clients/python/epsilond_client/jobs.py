"""What the service says of a job, whatever it computes."""

from __future__ import annotations

from typing import TypeVar

import httpx

from .models import JobLinks, JobSummary, Problem
from .refusal import PROBLEM, Refused, Unexpected
from .wire import Wire

W = TypeVar("W", bound=Wire)
PATH = "/v1/jobs"


class JobStatus(JobSummary):
    """A job at one moment, without its request and its result."""

    problem: Problem | None = None
    """Why it failed or was interrupted; events leave it out."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self.state not in ("queued", "running")

    @property
    def path(self) -> str:
        """Where it is served."""
        return f"{PATH}/{self.id}"


class _Accepted(Wire):
    """What every answer with status 202 has, a job or a simulation."""

    links: JobLinks


def accepted(response: httpx.Response) -> JobStatus | None:
    """The job that stands in for an answer; None where the response is the answer.

    A simulation that was taken in is an answer of its own, at its own path.

    Raises:
        Unexpected: it is accepted, and yet no document of the service.
    """
    if response.status_code != httpx.codes.ACCEPTED:
        return None
    return read(response) if _read(response, _Accepted).links.self.startswith(f"{PATH}/") else None


def read(response: httpx.Response) -> JobStatus:
    """The job that a response holds.

    Raises:
        Refused: the response is a problem.
        Unexpected: it is neither.
    """
    if response.headers.get("content-type", "").startswith(PROBLEM):
        raise Refused.of(response.content)
    return _read(response, JobStatus)


def _read(response: httpx.Response, kind: type[W]) -> W:
    try:
        return kind.model_validate_json(response.content)
    except ValueError:
        raise Unexpected(response) from None
