"""What the routes of ledgers share: bodies, keys, ids, and the answers' form."""

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
"""Roles of which each may read."""
LEDGERS = "/v1/ledgers"
RESERVATIONS = "/v1/reservations"
SMALL = 4_096
"""Bytes; a longer body is read in a thread."""
LOCATION = {"Location": {"description": "where it is", "schema": {"type": "string"}}}
TOLD = "names this request for ever: sending it again is answered the same, and changes nothing"
_BOUNDS: JsonRecord = {
    "alias": "Idempotency-Key",
    "min_length": 1,
    "max_length": 255,
    "pattern": r"^[\x21-\x7e]+$",
}
Key = Annotated[str, Header(description=TOLD, **_BOUNDS)]
MayBeKey = Annotated[str | None, Header(description=f"{TOLD}; made up if absent", **_BOUNDS)]
ID = r"^[A-Za-z0-9_-]{1,100}$"
LedgerId = Annotated[str, InPath(description="the ledger's id", pattern=ID, examples=["ledger_0123456789abcdef"])]
ReservationId = Annotated[
    str, InPath(description="the reservation's id", pattern=ID, examples=["reservation_0123456789abcdef"])
]


def ledgers_of(request: Request, *any_of: RoleName) -> tuple[Ledgers, Caller]:
    """Return the service's ledgers, and the caller.

    Args:
        request: the request.
        any_of: roles of which the caller must have one; empty where no role is needed.

    Raises:
        Problem: the caller has none of these roles.
    """
    caller = caller_of(request)
    if any_of:
        caller.require_role(*any_of)
    return LEDGERS_OF.of(request), caller


async def read(asked: type[T], body: bytes) -> T:
    """What a body asks.

    Raises:
        MalformedJson: it is not JSON.
        InvalidInput: it asks what cannot be asked.
    """
    return await to_thread.run_sync(_read, asked, body) if len(body) > SMALL else _read(asked, body)


def _read(asked: type[T], body: bytes) -> T:
    asked_for: T = read_body(asked, parse(body))
    return asked_for


def created(answer: object, location: str, *, status: int = 201) -> Response:
    """Return the response with the location of a new resource.

    Args:
        answer: the resource.
        location: its path.
        status: 201, or 202 if the resource waits for something.
    """
    return Response(render(answer), status, {"location": location}, JSON)


def as_kept(record: object) -> Response:
    """Return the response 201 with a stored record, byte for byte the same each time."""
    return Response(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(), 201, None, JSON)
