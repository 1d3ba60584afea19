"""What belongs to a request: its record, which the log and the figures tell, and the parts of the service."""

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
    """What is known of a request by the time it is answered; 499 if it never is. Endpoints add the rest."""

    id: str
    began: float = field(default_factory=time.perf_counter)
    status: int = 499
    started: bool = False
    cache: str | None = None
    theorem: str | None = None
    caller: str | None = None
    """The name of a key or of a token's subject, else the address. Never a credential."""
    caller_label: str = "anonymous"
    """What metrics call them: the name of a key, `token` or `anonymous`."""
    problem: str | None = None
    """The slug of the problem that was answered."""
    cpu_milliseconds: float | None = None
    """CPU time of the computation behind the answer, if there was one."""
    queued_milliseconds: float | None = None
    """How long it waited for a worker."""


def record_in(scope: Scope) -> RequestRecord:
    """The record of this request; one that nobody reads where no observer stands around it."""
    record: RequestRecord | None = scope.get(RECORD)
    return RequestRecord("") if record is None else record


def record_of(request: HTTPConnection) -> RequestRecord:
    """Return the record of this request."""
    record: RequestRecord = request.scope[RECORD]
    return record


class ServicePart(Generic[T]):
    """A typed place for one part of a service, in the state of its application."""

    def __init__(self, name: str) -> None:
        self._name = name

    def put(self, app: Starlette, part: T) -> T:
        """Put the part into an application, and return it."""
        setattr(app.state, self._name, part)
        return part

    def of(self, request: HTTPConnection) -> T:
        """Return the part of the service that a request is sent to."""
        return self.within(request.app)

    def within(self, app: Starlette) -> T:
        """Return the part of an application."""
        part: T = getattr(app.state, self._name)
        return part
