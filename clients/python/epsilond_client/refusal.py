"""What is raised where the service does not answer."""

from __future__ import annotations

from typing import Any

import httpx

from .models import FieldError, Problem

PROBLEM = "application/problem+json"
"""The media type of one."""


class Refused(Exception):
    """The service answered with a problem: bad input, nothing that can be certified, too busy.

    `problem` has it all: `status`, `title`, `detail`, `errors` with a JSON pointer each, `condition`, `nearest`. The
    problem of a job that failed is raised in the same way.
    """

    def __init__(self, problem: Problem) -> None:
        faults = map(_said, problem.errors or ())
        super().__init__("; ".join([f"{problem.status} {problem.title}: {problem.detail}", *faults]))
        self.problem = problem

    @classmethod
    def of(cls, content: bytes) -> Refused:
        """From the body of a response."""
        return cls(Problem.model_validate_json(content))


class Unexpected(Exception):
    """The response is none of what the service's document foresees: something else may have answered."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"unexpected answer with status {response.status_code}")
        self.response = response


class StillRunning(TimeoutError):
    """The job has not ended within the time that was given. It goes on: `job` can be waited for again."""

    def __init__(self, job: Any) -> None:
        super().__init__(f"job {job.id} is {job.state}")
        self.job = job


def _said(fault: FieldError) -> str:
    allowed = f" (allowed: {fault.allowed})" if fault.allowed else ""
    return f"{fault.pointer or fault.parameter}: {fault.message}{allowed}"
