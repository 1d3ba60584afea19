"""Answers, or an error for what the service refuses."""

from __future__ import annotations

from typing import TypeVar

from .models.problem import Problem

T = TypeVar("T")


class Refused(Exception):
    """The service answered with a problem: bad input, nothing that can be certified, too busy, out of time.

    `problem` has it all: `status`, `title`, `detail`, `errors` with a JSON pointer each, `condition`, `nearest`.
    """

    def __init__(self, problem: Problem) -> None:
        faults = [f"{error.pointer}: {error.message}" for error in problem.errors or ()]
        super().__init__("; ".join([f"{problem.status} {problem.title}: {problem.detail}", *faults]))
        self.problem = problem


def answered(answer: T | Problem | None) -> T:
    """The answer itself.

    Raises:
        Refused: it is a problem.
        ValueError: there is none.
    """
    if isinstance(answer, Problem):
        raise Refused(answer)
    if answer is None:
        raise ValueError("the service answered with nothing")
    return answer
