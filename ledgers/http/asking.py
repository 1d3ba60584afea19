"""Shared parts of the routes of ledgers: bodies, keys, ids, and the form of the answers."""

from __future__ import annotations

import json
from typing import Annotated, TypeVar

from anyio import to_thread
from fastapi import Header
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.callers.caller import Caller, caller_of
from epsilond.app.callers.scopes import ROLES, RoleName
from epsilond.app.questions.question import JSON
from epsilond.app.workers.work import render
from epsilond.calibrators.strict_json import parse
from epsilond.ledgers.http.service import LEDGERS_OF, Ledgers
from epsilond.reading import read_body

T = TypeVar("T")
READERS: tuple[RoleName, ...] = tuple(sorted(ROLES))
"""Roles, each of which may read."""
LEDGERS = "/v1/ledgers"
RESERVATIONS = "/v1/reservations"
SMALL = 4_096
"""Largest number of bytes of a body that is parsed in the event loop; a longer body is parsed in a thread."""
LOCATION = {
    "Location": {
        "description": "URL of the created ledger or reservation, or of the pending move",
        "schema": {"type": "string"},
    }
}
TOLD = "permanent name of this request: repeating it returns the same answer and changes nothing"
_BOUNDS: JsonRecord = {
    "alias": "Idempotency-Key",
    "min_length": 1,
    "max_length": 255,
    "pattern": r"^[\x21-\x7e]+$",
}
Key = Annotated[str, Header(description=TOLD, **_BOUNDS)]
MayBeKey = Annotated[str | None, Header(description=f"{TOLD}. Absent: the service makes up a name", **_BOUNDS)]
ID = r"^[A-Za-z0-9_-]{1,100}$"
LedgerId = Annotated[str, InPath(description="id of the ledger", pattern=ID, examples=["ledger_0123456789abcdef"])]
ReservationId = Annotated[
    str, InPath(description="id of the reservation", pattern=ID, examples=["reservation_0123456789abcdef"])
]


def ledgers_of(request: Request, *any_of: RoleName) -> tuple[Ledgers, Caller]:
    """Return the service's ledgers and the caller of a request, after checking the caller's role.

    A role, such as analyst or auditor, permits a caller to use some of the routes.

    Args:
        request: the request.
        any_of: roles of which the caller must have one; empty if no role is needed.

    Returns:
        The ledgers, and the caller.

    Raises:
        Problem: the caller has none of these roles.
    """
    caller = caller_of(request)
    if any_of:
        caller.require_role(*any_of)
    return LEDGERS_OF.of(request), caller


async def read_request(kind: type[T], body: bytes) -> T:
    """Parse the body of a request. A large body is parsed in a thread, so that other requests need not wait.

    Args:
        kind: class that describes the valid requests.
        body: JSON text of the body.

    Returns:
        The request, an instance of the request class.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: a field is missing or not valid.
    """
    if len(body) > SMALL:
        return await to_thread.run_sync(_parse_request, kind, body)
    return _parse_request(kind, body)


def _parse_request(kind: type[T], body: bytes) -> T:
    """Parse the body of a request in the thread of the call.

    Args:
        kind: class that describes the valid requests.
        body: JSON text of the body.

    Returns:
        The request, an instance of the request class.

    Raises:
        MalformedJson: the body is not JSON.
        InvalidInput: a field is missing or not valid.
    """
    request: T = read_body(kind, parse(body))
    return request


def created_response(answer: object, location: str, *, status: int = 201) -> Response:
    """Return the response to a request that created a resource, with the resource's path in the header `Location`.

    Args:
        answer: the resource, which is written as JSON.
        location: path of the resource.
        status: 201, or 202 if the resource waits for approval.
    """
    return Response(render(answer), status, {"location": location}, JSON)


def stored_response(record: object) -> Response:
    """Return the response 201 with the record that was stored for a request with an idempotency key.

    A client may repeat a request with the same key. The response then has the same bytes, as the same record is used.

    Args:
        record: the stored answer, a JSON value.

    Returns:
        The response, with the record as JSON text in UTF-8.
    """
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode(), 201, None, JSON)
