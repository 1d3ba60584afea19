"""Reservations of ledgers: held, committed before any release, cancelled."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import partial
from typing import Annotated

from fastapi import Body, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.answers import json_response
from epsilond.app.http.body import unread
from epsilond.ledgers.book.answers import CommitAnswer, ReservationAnswer
from epsilond.ledgers.http import examples, work
from epsilond.ledgers.http.asking import (
    LEDGERS,
    LOCATION,
    READERS,
    RESERVATIONS,
    Key,
    LedgerId,
    ReservationId,
    as_kept,
    created,
    ledgers_of,
    read,
)
from epsilond.ledgers.requests import CommitAsked, ReserveAsked, ReserveManyAsked

TAGS: list[str | Enum] = ["ledgers"]
ONE = f"{RESERVATIONS}/{{id}}"
ROUNDED = 0.005
"""Seconds by which an answered time and a timer may precede the intended time."""


def add(app: FastAPI) -> None:
    """Add every route of reservations."""
    post = partial(app.add_api_route, methods=["POST"], status_code=201, tags=TAGS)
    other = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})
    for path, endpoint, name, summary in (
        (f"{LEDGERS}/{{id}}/reservations", reserve, "reserve", "Hold runs, so that nobody else takes them"),
        (RESERVATIONS, reserve_many, "reserve_many", "Hold runs in several ledgers: in all of them, or in none"),
    ):
        post(
            path,
            endpoint,
            operation_id=name,
            summary=summary,
            response_model=ReservationAnswer,
            response_description="The reservation; nothing may be released on it before a commit",
            responses={201: {"headers": LOCATION}},
        )
    other(
        ONE,
        get_reservation,
        operation_id="get_reservation",
        summary="One reservation",
        response_model=ReservationAnswer,
    )
    other(
        ONE,
        cancel,
        methods=["DELETE"],
        operation_id="cancel_reservation",
        summary="Give back what was not committed",
        response_model=ReservationAnswer,
    )
    post(
        f"{ONE}/commits",
        commit,
        operation_id="commit_reservation",
        summary="Commit runs: after that, and only then, they may be released",
        response_model=CommitAnswer,
        response_description="The receipt, good for one run",
    )


async def reserve(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(ReserveAsked), Body(openapi_examples=examples.JOB)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Of an item of the plan, or of a slot. It ends by itself after a day, or when `expires_in` says."""
    return await _reserved(request, (id,), await read(ReserveAsked, body), key)


async def reserve_many(
    request: Request,
    body: Annotated[unread(ReserveManyAsked), Body(openapi_examples=examples.MANY)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """A job that reads several blocks debits each of their ledgers."""
    asked = await read(ReserveManyAsked, body)
    return await _reserved(request, asked.ledgers, asked, key)


async def _reserved(request: Request, named: tuple[str, ...], asked: ReserveAsked, key: str) -> Response:
    ledgers, caller = ledgers_of(request, "analyst")
    answer = await ledgers.move(caller, "reserved", work.reserved, ledgers, caller, named, asked, key)
    if answer.expires is not None:
        ledgers.expires(datetime.fromisoformat(answer.expires).timestamp() + ROUNDED)
    return created(answer, f"{RESERVATIONS}/{answer.id}")


async def get_reservation(request: Request, id: ReservationId) -> Response:  # noqa: A002 (the path parameter)
    """Its state, its charge, and receipts of its newest commits under the log's head of now."""
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.reservation, ledgers, caller.organisation, id))


async def commit(
    request: Request,
    id: ReservationId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(CommitAsked), Body(openapi_examples=examples.COMMIT)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Sent again with the same key it is answered byte for byte the same. Without its answer nothing is released."""
    ledgers, caller = ledgers_of(request, "analyst")
    asked = await read(CommitAsked, body)
    return as_kept(await ledgers.move(caller, "committed", work.committed, ledgers, caller, id, asked, key))


async def cancel(request: Request, id: ReservationId) -> Response:  # noqa: A002 (the path parameter)
    """What was committed never returns; the rest of a job that was begun stays as credit of its mechanism."""
    ledgers, caller = ledgers_of(request, "analyst")
    return json_response(await ledgers.move(caller, "cancelled", work.cancelled, ledgers, caller, id))
