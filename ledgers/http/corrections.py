"""Routes that correct a ledger, and those of corrections that wait for a second person."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Literal

from fastapi import Body, FastAPI
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.answers import json_response
from epsilond.app.http.body import unread
from epsilond.ledgers.book.answers import LedgerAnswer
from epsilond.ledgers.book.pending import PendingMove
from epsilond.ledgers.correction_requests import AmendAsked, ContradictAsked, VoidAsked
from epsilond.ledgers.http import examples, work
from epsilond.ledgers.http.asking import (
    ID,
    LEDGERS,
    LOCATION,
    READERS,
    Key,
    LedgerId,
    created_response,
    ledgers_of,
    read_request,
)

TAGS: list[str | Enum] = ["ledgers"]
ONE = f"{LEDGERS}/{{id}}"
PENDING = f"{ONE}/pending"
MOVE = f"{PENDING}/{{move}}"
MoveId = Annotated[str, InPath(description="id of the pending move", pattern=ID, examples=["move_0123456789abcdef"])]

Decision = Annotated[
    Literal["approve", "reject"],
    InPath(
        description="approve: make the move; only for an approver. reject: end it; for an approver, or for the "
        "requester"
    ),
]
WAITS: dict[int | str, JsonRecord] = {
    202: {
        "model": PendingMove,
        "description": "The ledger has approval: the move waits for a second person, and nothing has changed",
        "headers": LOCATION,
    }
}
"""Response of a move that waits for approval."""


def add(app: FastAPI) -> None:
    """Add the routes that correct a ledger, a privacy budget with a plan of runs.

    They change the plan, report a run that differed from the mechanism that was paid for, and take back runs
    without an observed output.

    Args:
        app: the service. It is changed in place.
    """
    post = partial(app.add_api_route, methods=["POST"], tags=TAGS)
    post(
        f"{ONE}/amendments",
        amend,
        status_code=201,
        operation_id="amend_ledger_plan",
        summary="Amend the plan; after a commit by a decision declared independent of outputs",
        response_model=LedgerAnswer,
        responses=WAITS,
    )
    post(
        f"{ONE}/contradictions",
        contradict,
        status_code=201,
        operation_id="contradict_ledger",
        summary="Report observations that contradict a run: nothing more is committed",
        response_model=LedgerAnswer,
    )
    post(
        f"{ONE}/voids",
        void,
        status_code=201,
        operation_id="void_ledger_runs",
        summary="Take back runs with unseen output, for approvers",
        response_model=LedgerAnswer,
        responses=WAITS,
    )


async def amend(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(AmendAsked), Body(openapi_examples=examples.AMEND)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Certify the ledger with its new plan. Committed and reserved runs do not change, nor do slots.

    In a ledger with approval nothing changes before an approver approves the pending move.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        body: JSON text of the amendment: new items, smaller numbers of runs, or another approval, with the
            declaration.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the ledger. If the ledger has approval: 202 with the move that waits.
    """
    ledgers, caller = ledgers_of(request, "owner")
    amendment = await read_request(AmendAsked, body)
    change = partial(ledgers.book.amend, caller.organisation, id, amendment, key, by=caller.name)
    answer = await ledgers.move(caller, "amended", work.make_or_request, ledgers, caller.organisation, id, change)
    return _made_or_waiting(answer, id)


async def contradict(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(ContradictAsked), Body(openapi_examples=examples.CONTRADICT)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Block all further commits, because a run differs from its record, so that the ledger has no ε.

    Its reservations may be cancelled, and it may be closed.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        body: JSON text of the observations, and the ids of the reservations that paid for the run.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the ledger, which has no ε from now on.
    """
    ledgers, caller = ledgers_of(request, "analyst", "owner")
    contradiction = await read_request(ContradictAsked, body)
    change = partial(ledgers.book.contradict, caller.organisation, id, contradiction, key, by=caller.name)
    answer = await ledgers.move(caller, "contradicted", work.change_ledger, ledgers, caller.organisation, id, change)
    return created_response(answer, f"{LEDGERS}/{id}")


async def void(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(VoidAsked), Body(openapi_examples=examples.VOID)],  # type: ignore[valid-type]
    key: Key,
) -> Response:
    """Return committed runs to the budget, on the declaration that nobody saw an output of them.

    The log records the caller and the declaration, and the guarantee of the ledger depends on it from then on. In a
    ledger with approval, owners and analysts may request it too, and another person approves it.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        body: JSON text of the reservation's id, the number of runs and the declaration.
        key: idempotency key of the request. A repeated request with the same key changes nothing and gets the same
            answer.

    Returns:
        Status 201 with the ledger. If the ledger has approval: 202 with the move that waits.
    """
    ledgers, caller = ledgers_of(request, "analyst", "approver", "owner")
    order = await read_request(VoidAsked, body)
    may_act = "approver" in caller.roles
    change = partial(ledgers.book.void, caller.organisation, id, order, key, by=caller.name, may_act=may_act)
    answer = await ledgers.move(caller, "voided", work.make_or_request, ledgers, caller.organisation, id, change)
    return _made_or_waiting(answer, id)


def _made_or_waiting(answer: LedgerAnswer | PendingMove, identifier: str) -> Response:
    """Return the response to a request for a change of a ledger.

    Args:
        answer: the changed ledger, or the change that waits for a second person.
        identifier: id of the ledger.

    Returns:
        Status 201 with the ledger, or 202 with the waiting change. The header Location has its path.
    """
    if isinstance(answer, PendingMove):
        return created_response(answer, f"{LEDGERS}/{identifier}/pending/{answer.id}", status=202)
    return created_response(answer, f"{LEDGERS}/{identifier}")


def add_pending(app: FastAPI) -> None:
    """Add the routes that list pending changes of ledgers and decide about them.

    A pending change waits until a second person approves it.

    Args:
        app: the service. It is changed in place.
    """
    get = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})
    get(
        PENDING,
        list_pending,
        operation_id="list_pending_moves",
        summary="Moves of a ledger that wait for a second person",
        response_model=list[PendingMove],
    )
    get(
        MOVE,
        get_pending,
        operation_id="get_pending_move",
        summary="One move that waits for a second person",
        response_model=PendingMove,
    )
    app.add_api_route(
        f"{MOVE}/{{decision}}",
        decide,
        methods=["POST"],
        operation_id="decide_pending_move",
        summary="Make a pending move as its approver, or end it without making it",
        response_model=PendingMove,
        tags=TAGS,
    )


async def list_pending(request: Request, id: LedgerId) -> Response:  # noqa: A002 (the path parameter)
    """Return the pending moves of a ledger, the oldest first, without those that have ended.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.

    Returns:
        The moves.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.list_pending, ledgers, caller.organisation, id))


async def get_pending(request: Request, id: LedgerId, move: MoveId) -> Response:  # noqa: A002 (the path parameter)
    """Return a pending move, or a move that has ended.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        move: id of the pending move.

    Returns:
        The move, with its state.
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
