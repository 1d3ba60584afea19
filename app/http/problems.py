"""Every refusal of the service: RFC 9457 problems, and the only table from exceptions to problems.

    422 invalid-input         a field, or a pair of fields, that no run can have
    409 infeasible, …         a well-formed question that no proof answers
    503 deadline-exceeded     the computation took too long; 429 too-many-requests: too many at a time

A problem never repeats the input beyond the names of fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from epsilond.accountants.attempts import Attempt, ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput, NoCertificate, Observation, RunDiffers
from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.problem_kinds import BY_STATUS, KINDS
from epsilond.app.http.record import record_in
from epsilond.app.workers.work import WorkerLost
from epsilond.calibrators.accounts import ConsideredAnswer
from epsilond.calibrators.answer import Number, Served, as_json
from epsilond.calibrators.strict_json import MalformedJson
from epsilond.extras import MissingExtra
from epsilond.ledgers.book.contradictions import ObservationAnswer

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "5"
"""Seconds after which a deferred client may retry, if no better value is known."""

LOST_SECONDS = "30"
"""Seconds after which a question that lost its workers may be repeated: not at once, as it may be the cause."""


@dataclass(frozen=True, kw_only=True)
class FieldError:
    """A fault in one field of the body (`pointer`), or in one query or path parameter (`parameter`)."""

    pointer: str | None = None
    parameter: str | None = None
    message: str
    allowed: str | None = None

    @classmethod
    def of(cls, fault: Fault) -> FieldError:
        """Return the error for a fault in a field of the body, with the same pointer, message and allowed values."""
        return cls(pointer=fault.pointer, message=fault.message, allowed=fault.allowed)


class Problem(Exception):
    """An exception that the service answers with a problem document (RFC 9457).

    The document may also have a failed `condition` of a theorem, and the `nearest` values that have an answer. Further
    members are the theorems that were tried (`considered`) and `observations` that contradict a run.
    """

    def __init__(self, slug: str, detail: str, *errors: FieldError, headers: Mapping[str, str] | None = None) -> None:
        """Create the exception from the kind of problem and an explanation.

        Args:
            slug: key of the kind of problem in `KINDS`, such as "not-found". The kind has the HTTP status.
            detail: explanation for the client.
            *errors: errors in fields of the request.
            headers: further headers of the answer.
        """
        super().__init__(detail)
        self.kind = KINDS[slug]
        self.detail = detail
        self.errors = errors
        self.headers = dict(headers or {})
        self.condition: ConditionResult | None = None
        self.nearest: Mapping[str, float | str] = {}
        self.considered: Sequence[Attempt] = ()
        self.observations: Sequence[Observation] = ()


def _malformed_json(_: MalformedJson) -> Problem:
    """Return the problem of a body that is not a JSON text."""
    return Problem("malformed-json", "The body is not a JSON text in UTF-8.")


def _invalid(error: InvalidInput) -> Problem:
    """Return the problem of invalid fields, with one error for each field."""
    subject = "1 field is" if len(error.faults) == 1 else f"{len(error.faults)} fields are"
    return Problem("invalid-input", f"{subject} invalid; see errors.", *map(FieldError.of, error.faults))


def _no_certificate(error: NoCertificate) -> Problem:
    """Return the problem of a question that no theorem answers, with the failed condition and the nearest values."""
    problem = Problem(error.slug, error.message)
    problem.condition, problem.nearest, problem.considered = error.condition, error.nearest, error.considered
    problem.observations = error.observations if isinstance(error, RunDiffers) else ()
    return problem


def _status_problem(error: HTTPException) -> Problem:
    """Return the problem of an exception of the framework, by its HTTP status."""
    kind = KINDS[BY_STATUS.get(error.status_code, "internal-error")]
    return Problem(kind.slug, f"{kind.title}.", headers=error.headers)


def _worker_lost(_: WorkerLost) -> Problem:
    """Return the problem of a computation that lost its worker process in each attempt."""
    detail = "The processes that computed it ended before it did, each time it was tried. It may need too much memory."
    return Problem("unavailable", detail, headers={"Retry-After": LOST_SECONDS})


TABLE: dict[type[Exception], Callable[[Any], Problem]] = {
    Problem: lambda error: error,
    MalformedJson: _malformed_json,
    InvalidInput: _invalid,
    NoCertificate: _no_certificate,
    HTTPException: _status_problem,
    WorkerLost: _worker_lost,
    MissingExtra: lambda error: Problem("not-installed", str(error)),
}
"""Functions from exception to problem. Other exceptions are faults of the service: logged in full, answered without
detail.
"""


def problem_of(error: Exception) -> Problem:
    """Return the problem that answers an exception, by its class or base classes in `TABLE`.

    An exception of another class becomes an internal error without details.
    """
    make_problem = next((TABLE[cls] for cls in type(error).__mro__ if cls in TABLE), None)
    if make_problem is None:
        return Problem("internal-error", "The service failed; its logs have this request under its X-Request-ID.")
    return make_problem(error)


def text_of(problem: Problem) -> bytes:
    """Return a problem as JSON: the body of an error response in the format of RFC 9457.

    Further members are the faulty fields (`errors`), the failed `condition` of a theorem, the `nearest` values that
    have an answer, the theorems that were tried (`considered`), and `observations`. They are left out if they are
    empty.

    Args:
        problem: the problem to render.

    Returns:
        The JSON text in UTF-8.
    """
    body: JsonRecord = {
        "type": f"/problems/{problem.kind.slug}",
        "title": problem.kind.title,
        "status": problem.kind.status,
        "detail": problem.detail,
    }
    if problem.errors:
        body["errors"] = as_json(problem.errors)
    if problem.condition is not None:
        body["condition"] = as_json(problem.condition)
        body["condition"].pop("holds", None)  # the problem itself says that it does not hold
    if problem.nearest:
        body["nearest"] = as_json(problem.nearest)
    if problem.considered:
        body["considered"] = as_json(problem.considered)
    if problem.observations:
        body["observations"] = [asdict(observation) for observation in problem.observations]
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


class ProblemResponse(Response):
    """A response with a problem document as application/problem+json.

    Responses with status 429 or 503 get the header Retry-After, if the problem does not set it. When the response is
    sent, the kind of problem is noted in the record of the request, for the log and the metrics.
    """

    def __init__(self, problem: Problem) -> None:
        headers = Headers(problem.headers)
        if problem.kind.status in (429, 503) and "retry-after" not in headers:
            headers = Headers({**problem.headers, "Retry-After": RETRY_SECONDS})
        super().__init__(text_of(problem), problem.kind.status, headers, MEDIA_TYPE)
        self.slug = problem.kind.slug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, and store the kind of its problem in the record of the request."""
        record_in(scope).problem = self.slug
        await super().__call__(scope, receive, send)


def response_of(problem: Problem) -> Response:
    """Return the response with a problem as application/problem+json."""
    return ProblemResponse(problem)


@dataclass(frozen=True, kw_only=True)
class ConditionDocument:
    """The condition that fails, with the values of both sides if they are numbers."""

    id: str
    statement: str
    left: Annotated[
        Number | None, Served("value of the left side; absent if it is no number", may_be_unbounded=True)
    ] = None
    right: Annotated[
        Number | None, Served("value of the right side; absent if it is no number", may_be_unbounded=True)
    ] = None


@dataclass(frozen=True, kw_only=True)
class ProblemDocument:
    """A problem document (RFC 9457): the reason why a request was rejected or failed."""

    type: str
    title: str
    status: int
    detail: str
    errors: tuple[FieldError, ...] = ()
    condition: ConditionDocument | None = None
    nearest: Mapping[str, Number | str] = field(default_factory=dict)
    considered: Annotated[
        tuple[ConsideredAnswer, ...], Served("theorems that were tried, each with the reason why it was rejected")
    ] = ()
    observations: Annotated[
        tuple[ObservationAnswer, ...], Served("observations that contradict the record of a run")
    ] = ()
