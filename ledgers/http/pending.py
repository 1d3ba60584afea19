"""/v1/ledgers/{id}/pending: moves that one person requested, and another person approves or rejects."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

from fastapi import FastAPI
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.answers import json_response
from epsilond.ledgers.book.pending import PendingMove, PendingMoves
from epsilond.ledgers.http import work
from epsilond.ledgers.http.asking import ID, LEDGERS, READERS, LedgerId, ledgers_of

TAGS: list[str | Enum] = ["ledgers"]
ALL = f"{LEDGERS}/{{id}}/pending"
ONE = f"{ALL}/{{move}}"
MoveId = Annotated[str, InPath(description="the pending move's id", pattern=ID, examples=["move_0123456789abcdef"])]


def add(app: FastAPI) -> None:
    """Add every route of pending moves."""
    get = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})
    post = partial(app.add_api_route, methods=["POST"], tags=TAGS)
    get(
        ALL,
        list_pending,
        operation_id="list_pending_moves",
        summary="Moves of a ledger that wait for a second person",
        response_model=PendingMoves,
    )
    get(ONE, get_pending, operation_id="get_pending_move", summary="One such move", response_model=PendingMove)
    post(
        f"{ONE}/approve",
        approve,
        operation_id="approve_pending_move",
        summary="Make a pending move, for approvers who did not request it",
        response_model=PendingMove,
    )
    post(
        f"{ONE}/reject",
        reject,
        operation_id="reject_pending_move",
        summary="End a pending move without making it, for approvers and its requester",
        response_model=PendingMove,
    )


async def list_pending(request: Request, id: LedgerId) -> Response:  # noqa: A002 (the path parameter)
    """Return the oldest first. Moves that were approved, rejected or withdrawn, or have expired, are left out."""
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.pending, ledgers, caller.organisation, id))


async def get_pending(request: Request, id: LedgerId, move: MoveId) -> Response:  # noqa: A002 (the path parameter)
    """Return a move, also one that has ended."""
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.pending_move, ledgers, caller.organisation, id, move))


async def approve(request: Request, id: LedgerId, move: MoveId) -> Response:  # noqa: A002 (the path parameter)
    """Judge the move again as the ledger is now, and make it. What is refused stays pending. It has no body.

    Approving an approved move again changes nothing. Whoever requested a move does not approve it.
    """
    ledgers, caller = ledgers_of(request, "approver")
    return json_response(await ledgers.move(caller, "approved", work.approved, ledgers, caller, id, move))


async def reject(request: Request, id: LedgerId, move: MoveId) -> Response:  # noqa: A002 (the path parameter)
    """Reject the move, or withdraw your own. It changes nothing else, and has no body."""
    ledgers, caller = ledgers_of(request, "analyst", "approver", "owner")
    return json_response(await ledgers.call(caller, work.rejected, ledgers, caller, id, move))
