"""/v1/ledgers/{id}/pending: moves that one person requested, and another person approves or rejects."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Literal

from fastapi import FastAPI
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.answers import json_response
from epsilond.ledgers.book.pending import PendingMove
from epsilond.ledgers.http import work
from epsilond.ledgers.http.asking import ID, LEDGERS, READERS, LedgerId, ledgers_of

TAGS: list[str | Enum] = ["ledgers"]
ALL = f"{LEDGERS}/{{id}}/pending"
ONE = f"{ALL}/{{move}}"
MoveId = Annotated[str, InPath(description="the pending move's id", pattern=ID, examples=["move_0123456789abcdef"])]

Decision = Annotated[Literal["approve", "reject"], InPath(description="of an approver, or of the requester")]


def add(app: FastAPI) -> None:
    """Add every route of pending moves."""
    get = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})
    get(
        ALL,
        list_pending,
        operation_id="list_pending_moves",
        summary="Moves of a ledger that wait for a second person",
        response_model=list[PendingMove],
    )
    get(ONE, get_pending, operation_id="get_pending_move", summary="One such move", response_model=PendingMove)
    app.add_api_route(
        f"{ONE}/{{decision}}",
        decide,
        methods=["POST"],
        operation_id="decide_pending_move",
        summary="Make a pending move as its approver, or end it without making it",
        response_model=PendingMove,
        tags=TAGS,
    )


async def list_pending(request: Request, id: LedgerId) -> Response:  # noqa: A002 (the path parameter)
    """Return the pending moves of a ledger, the oldest first, without those that have ended."""
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.list_pending, ledgers, caller.organisation, id))


async def get_pending(request: Request, id: LedgerId, move: MoveId) -> Response:  # noqa: A002 (the path parameter)
    """Return a pending move, or a move that has ended.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        move: id of the pending move.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.pending_move, ledgers, caller.organisation, id, move))


async def decide(request: Request, id: LedgerId, move: MoveId, decision: Decision) -> Response:  # noqa: A002
    """Approve or reject a pending move. The request has no body.

    An approver approves or rejects moves that other people requested. The person who requested a move withdraws it with
    `reject`. An approved move is checked against the present ledger before it is made. If the ledger rejects it, it
    stays pending. A second approval of the same move changes nothing.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        move: id of the pending move.
        decision: `approve`, for approvers; or `reject`, for approvers and for the person who requested the move.

    Returns:
        The move as it is after the decision.
    """
    if decision == "reject":
        ledgers, caller = ledgers_of(request, "analyst", "approver", "owner")
        return json_response(await ledgers.call(caller, work.reject_move, ledgers, caller, id, move))
    ledgers, caller = ledgers_of(request, "approver")
    return json_response(await ledgers.move(caller, "approved", work.approve_move, ledgers, caller, id, move))
