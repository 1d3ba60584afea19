"""Data of a request: its record, which the log and the metrics show, and the parts of the service."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.types import Scope

T = TypeVar("T")
RECORD = "epsilond.request-record"


@dataclass
class RequestRecord:
    """Data about a request for the log and the metrics. The middleware and the endpoint fill it in.

    Attributes:
        id: id of the request, from its header or random.
        began: start of the request [s], by `time.perf_counter`.
        status: HTTP status of the answer; 499 if the request is never answered.
        started: whether the head of the answer was sent.
        cache: use of the cache of answers: `hit`, `miss`, or `shared` with an equal request; None if it does not apply.
        theorem: id of the theorem that the request evaluates; None if it evaluates none.
        caller: name of the key or of the token's subject, or the address. Never a credential.
        caller_label: label of the caller in metrics: the name of a key, `token` or `anonymous`.
        problem: name of the kind of problem in the answer; None without a problem.
        cpu_milliseconds: CPU milliseconds of the computation behind the answer; None without a computation.
        queued_milliseconds: milliseconds that the computation waited for a worker; None without a computation.
    """

    id: str
    began: float = field(default_factory=time.perf_counter)
    status: int = 499
    started: bool = False
    cache: str | None = None
    theorem: str | None = None
    caller: str | None = None
    caller_label: str = "anonymous"
    problem: str | None = None
    cpu_milliseconds: float | None = None
    queued_milliseconds: float | None = None


def record_in(scope: Scope) -> RequestRecord:
    """Return the record of a request; without the middleware `Observe`, a new record that is discarded."""
    record: RequestRecord | None = scope.get(RECORD)
    return RequestRecord("") if record is None else record


def record_of(request: HTTPConnection) -> RequestRecord:
    """Return the record of a request, which the middleware `Observe` has created."""
    record: RequestRecord = request.scope[RECORD]
    return record


class ServicePart(Generic[T]):
    """A typed attribute of the state of a Starlette application, for one long-lived part of the service.

    Each part, such as the pool of workers, has one such object as a constant of its module. With it, endpoints read the
    part from the application of a request, with the correct type.
    """

    def __init__(self, name: str) -> None:
        """Set the name of the attribute."""
        self._name = name

    def put(self, app: Starlette, part: T) -> T:
        """Put the part into an application, and return it."""
        setattr(app.state, self._name, part)
        return part

    def of(self, request: HTTPConnection) -> T:
        """Return the part of the service that a request is sent to."""
        return self.within(request.app)

    def within(self, app: Starlette) -> T:
        """Return the part that was put into an application."""
        part: T = getattr(app.state, self._name)
        return part
