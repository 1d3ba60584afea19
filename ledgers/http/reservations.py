"""Routes of reservations: reserve, commit before any release, cancel."""

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
from epsilond.ledgers.book.figures import CommitAnswer, ReservationAnswer
from epsilond.ledgers.http import examples, work
from epsilond.ledgers.http.asking import (
    LEDGERS,
    LOCATION,
    READERS,
    RESERVATIONS,
    Key,
    LedgerId,
    ReservationId,
    created_response,
    ledgers_of,
    read_request,
    stored_response,
)
from epsilond.ledgers.requests import CommitAsked, ReserveAsked, ReserveManyAsked

TAGS: list[str | Enum] = ["ledgers"]
ONE = f"{RESERVATIONS}/{{id}}"
ROUNDED = 0.005
"""Time in seconds by which an answered time and a timer may precede the intended time."""


def add(app: FastAPI) -> None:
    """Add every route of reservations.

    Args:
        app: the service. It is changed in place.
    """
    post = partial(app.add_api_route, methods=["POST"], status_code=201, tags=TAGS)
    route = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})

    # Reserve runs in one ledger, or in several.
    for path, endpoint, name, summary in (
        (f"{LEDGERS}/{{id}}/reservations", reserve, "reserve", "Hold runs, so that no other caller takes them"),
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

    # Read, cancel or commit a reservation.
    route(
        ONE,
        get_reservation,
        operation_id="get_reservation",
        summary="One reservation",
        response_model=ReservationAnswer,
    )
    route(
        ONE,
        cancel,
        methods=["DELETE"],
        operation_id="cancel_reservation",
        summary="Give back uncommitted runs",
        response_model=ReservationAnswer,
    )
    post(
        f"{ONE}/commits",
        commit,
        operation_id="commit_reservation",
        summary="Commit runs: after that, and only then, they may be released",
        response_model=CommitAnswer,
        response_description="The receipt: evidence of the commit, with which the job may be run once",
    )


async def reserve(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(ReserveAsked), Body(openapi_examples=examples.JOB)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Reserve runs of an item of the plan, or of a slot. They expire after a day, or `expires_in`.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        body: JSON text of the job: an item of the plan, or a mechanism in a slot, and its number of runs.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the reservation, and its path in Location.
    """
    return await _reserve(request, (id,), await read_request(ReserveAsked, body), key)


async def reserve_many(
    request: Request,
    body: Annotated[unread(ReserveManyAsked), Body(openapi_examples=examples.MANY)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Reserve runs of a job that reads several blocks; each of their ledgers is debited.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        body: JSON text of the job, and the ids of the ledgers of its blocks.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the reservation, and its path in Location.
    """
    order = await read_request(ReserveManyAsked, body)
    return await _reserve(request, order.ledgers, order, key)


async def _reserve(request: Request, identifiers: tuple[str, ...], request_body: ReserveAsked, key: str) -> Response:
    """Make a reservation of runs, and return its response.

    The service notes when the reservation expires, so that the uncommitted runs return to the ledgers in time.

    Args:
        request: the HTTP request, with its caller.
        identifiers: ids of the ledgers.
        request_body: the runs to reserve, and when the reservation expires.
        key: idempotency key of the request.

    Returns:
        The response 201 with the reservation.
    """
    ledgers, caller = ledgers_of(request, "analyst")
    answer = await ledgers.move(caller, "reserved", work.reserve, ledgers, caller, identifiers, request_body, key)
    if answer.expires is not None:
        ledgers.expires(datetime.fromisoformat(answer.expires).timestamp() + ROUNDED)
    return created_response(answer, f"{RESERVATIONS}/{answer.id}")


async def get_reservation(request: Request, id: ReservationId) -> Response:  # noqa: A002 (the path parameter)
    """Return a reservation: its state, its charge, and receipts of its newest commits under the log's present head.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the reservation.

    Returns:
        The reservation.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.reservation, ledgers, caller.organisation, id))


async def commit(
    request: Request,
    id: ReservationId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(CommitAsked), Body(openapi_examples=examples.COMMIT)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Commit runs. The same request with the same key gets the same bytes. Release nothing before.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the reservation.
        body: JSON text of the number of runs.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the receipt.
    """
    ledgers, caller = ledgers_of(request, "analyst")
    order = await read_request(CommitAsked, body)
    return stored_response(await ledgers.move(caller, "committed", work.commit, ledgers, caller, id, order, key))


async def cancel(request: Request, id: ReservationId) -> Response:  # noqa: A002 (the path parameter)
    """Give back the runs that were not committed; those of a job that was begun stay as credit.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the reservation.

    Returns:
        The reservation after the cancellation.
    """
    ledgers, caller = ledgers_of(request, "analyst")
    return json_response(await ledgers.move(caller, "cancelled", work.cancel, ledgers, caller, id))
