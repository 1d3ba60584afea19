"""The record of a request: what the log line and the figures tell of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from starlette.types import Scope

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
