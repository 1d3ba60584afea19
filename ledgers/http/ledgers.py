"""Routes of /v1/ledgers: open, read, query, seal and close."""

from __future__ import annotations

import secrets
from enum import Enum
from functools import partial
from typing import Annotated

from fastapi import Body, FastAPI, Query
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from epsilond.app.http.answers import json_response
from epsilond.app.http.body import unread
from epsilond.app.jobs.responses import REPORT_HEADERS
from epsilond.ledgers.book import answers
from epsilond.ledgers.book.answers import LedgerAnswer, LedgerList, WhatIfAnswer, WithinAnswer
from epsilond.ledgers.http import corrections, examples, work
from epsilond.ledgers.http.asking import (
    ID,
    LEDGERS,
    LOCATION,
    READERS,
    LedgerId,
    MayBeKey,
    created_response,
    ledgers_of,
    read_request,
)
from epsilond.ledgers.http.documents import EntryList
from epsilond.ledgers.requests import (
    CalibrateAsked,
    OpenLedger,
    Order,
    WhatIfAsked,
)

TAGS: list[str | Enum] = ["ledgers"]
ONE = f"{LEDGERS}/{{id}}"


def add(app: FastAPI) -> None:
    """Add every route below /v1/ledgers, except for the routes of reservations.

    Args:
        app: the service. It is changed in place.
    """
    get = partial(app.add_api_route, tags=TAGS, openapi_extra={"x-problems": [503]})
    post = partial(app.add_api_route, methods=["POST"], tags=TAGS)
    post(
        LEDGERS,
        open_ledger,
        status_code=201,
        operation_id="open_ledger",
        summary="Open a ledger, certified to stay within its target",
        response_model=LedgerAnswer,
        response_description="The opened ledger. Its block cannot get another ledger, even if this one is closed",
        responses={201: {"headers": LOCATION}},
    )
    get(LEDGERS, list_ledgers, operation_id="list_ledgers", summary="Ledgers", response_model=LedgerList)
    get(ONE, get_ledger, operation_id="get_ledger", summary="One ledger", response_model=LedgerAnswer)
    get(
        f"{ONE}/entries",
        list_entries,
        operation_id="list_ledger_entries",
        summary="A ledger's entries in the log",
        response_model=EntryList,
    )
    get(
        f"{ONE}/report",
        get_report,
        operation_id="get_ledger_report",
        summary="A ledger as a signed page",
        response_class=HTMLResponse,
    )
    post(
        f"{ONE}/what-if",
        ask_what_if,
        operation_id="ask_ledger_what_if",
        summary="The cost of a job, and whether it fits",
        response_model=WhatIfAnswer,
    )
    post(
        f"{ONE}/calibrations/{{algorithm}}",
        calibrate_within,
        operation_id="calibrate_within_ledger",
        summary="The least noise with which an algorithm fits into the remaining budget",
        response_model=WithinAnswer,
    )
    changes = (
        ("seal", seal, "Declare that the membership of the block is fixed"),
        ("close", close, "Let nothing more be reserved"),
    )
    for name, endpoint, summary in changes:
        post(
            f"{ONE}/{name}",
            endpoint,
            operation_id=f"{name}_ledger",
            summary=summary,
            response_model=LedgerAnswer,
        )
    corrections.add(app)


async def open_ledger(
    request: Request,
    body: Annotated[unread(OpenLedger), Body(openapi_examples=examples.OPEN)],  # type: ignore[valid-type]
    key: MayBeKey = None,
) -> Response:
    """Open a ledger. Its plan and its slots are certified together, once, at the opening.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        body: JSON text of the request: data set, target, plan and slots.
        key: idempotency key of the request. A repeated request with the same key changes nothing. None makes a new
            key.

    Returns:
        Status 201 with the ledger, and its path in Location.
    """
    ledgers, caller = ledgers_of(request, "owner")
    order = await read_request(OpenLedger, body)
    key = key or secrets.token_urlsafe(16)
    answer = await ledgers.move(caller, "opened", work.open_ledger, ledgers, caller, order, key)
    return created_response(answer, f"{LEDGERS}/{answer.id}")


async def list_ledgers(
    request: Request,
    limit: Annotated[int, Query(description="largest number of items in the answer", ge=1, le=100)] = 20,
    cursor: Annotated[
        str | None,
        Query(
            description="position at which the page starts, the `next` of the previous page; absent: the first page",
            pattern=ID,
        ),
    ] = None,
) -> Response:
    """List ledgers in the order in which they were opened.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        limit: largest number of ledgers in the answer, 1 to 100.
        cursor: `next` of the previous page; None for the first page.

    Returns:
        The ledgers of the page, with a link to the next page if there is one.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.list_ledgers, ledgers, caller.organisation, limit, cursor))


async def get_ledger(request: Request, id: LedgerId) -> Response:  # noqa: A002 (the path parameter)
    """Return a ledger: its balances, its guarantee with the conditions, and the curve of its plan.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.

    Returns:
        The ledger.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(await ledgers.call(caller, work.ledger_answer, ledgers, caller.organisation, id))


async def list_entries(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    start: Annotated[
        int | None,
        Query(
            alias="from",
            description="number in the log of the first entry to return. With the newest first, this is the largest "
            "number",
            ge=0,
            le=2**53,
        ),
    ] = None,
    limit: Annotated[int, Query(description="largest number of items in the answer", ge=1, le=1000)] = 100,
    order: Annotated[Order, Query(description="which entries come first: the oldest or the newest")] = "oldest",
) -> Response:
    """Return entries of a ledger, which never change. They are numbered in the common log of all ledgers.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        start: number in the log at which the list starts. None starts at the first entry, or at the last if the
            newest come first.
        limit: largest number of entries in the answer, 1 to 1000.
        order: whether the oldest or the newest entries come first.

    Returns:
        The entries of the page, with a link to the next page if there is one.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    return json_response(
        await ledgers.call(caller, work.list_entries, ledgers, caller.organisation, id, start, limit, order)
    )


async def get_report(request: Request, id: LedgerId) -> Response:  # noqa: A002 (the path parameter)
    """Return a signed page of HTML with its data; `epsilond verify` checks it with the published keys.

    `Accept: application/json` gets the data, with a detached JSON Web Signature of them.

    \f

    Args:
        request: the HTTP request; its Accept header selects the form of the answer.
        id: id of the ledger.

    Returns:
        The page, or the data with their signature as JSON.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    accepted = request.headers.get("accept", "")
    wants_data_only = "application/json" in accepted and "text/html" not in accepted
    report = await ledgers.call(caller, work.report, ledgers, caller.organisation, id, as_page=not wants_data_only)
    if not isinstance(report, str):
        return json_response(report)
    return Response(report, media_type="text/html", headers=dict(REPORT_HEADERS))


async def ask_what_if(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    body: Annotated[unread(WhatIfAsked), Body(openapi_examples=examples.JOB)],  # type: ignore[valid-type]
) -> Response:
    """Return the cost of a job and reserve nothing: another caller may reserve in between.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        body: JSON text of the job: an item of the plan, or a mechanism in a slot, and its number of runs.

    Returns:
        The charge of the job, and whether it fits.
    """
    ledgers, caller = ledgers_of(request, "analyst", "owner")
    job = await read_request(WhatIfAsked, body)
    with caller.computation():
        return json_response(answers.what_if(await ledgers.what_if(request, caller, id, job), ledgers.warnings))


async def calibrate_within(
    request: Request,
    id: LedgerId,  # noqa: A002 (the path parameter)
    algorithm: Annotated[
        str,
        InPath(
            description="name of the algorithm, one of those that GET /v1/algorithms lists",
            pattern=ID,
            examples=["gaussian"],
        ),
    ],
    body: Annotated[unread(CalibrateAsked), Body(openapi_examples=examples.WITHIN)],  # type: ignore[valid-type]
) -> Response:
    """Use the ledger's ε, δ, unit, relation and observer. Nothing is changed or reserved.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        algorithm: name of the calibrator, as GET /v1/algorithms lists it.
        body: JSON text of the calibration's fields that the ledger does not set, and the slot or item that pays.

    Returns:
        The parameters with the least noise with which the run fits.
    """
    ledgers, caller = ledgers_of(request, "analyst", "owner")
    question = await read_request(CalibrateAsked, body)
    with caller.computation():
        return json_response(
            await ledgers.call(caller, work.calibrate, ledgers, caller.organisation, id, algorithm, question)
        )


async def seal(request: Request, id: LedgerId, key: MayBeKey = None) -> Response:  # noqa: A002
    """Fix the membership of the block, which nothing may read before. The request has no body.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        key: idempotency key of the request. A repeated request with the same key changes nothing. None makes a new
            key.

    Returns:
        The sealed ledger.
    """
    return await _change(request, "sealed", id, key)


async def close(request: Request, id: LedgerId, key: MayBeKey = None) -> Response:  # noqa: A002
    """Accept no further reservations; existing ones may be committed. The block gets no other ledger.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        id: id of the ledger.
        key: idempotency key of the request. A repeated request with the same key changes nothing. None makes a new
            key.

    Returns:
        The closed ledger.
    """
    return await _change(request, "closed", id, key)


async def _change(request: Request, kind: str, identifier: str, key: str | None) -> Response:
    """Seal or close a ledger on request of its owner.

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        kind: `sealed`, if the members of the ledger's block of data are fixed; or `closed`, if it accepts no more
            reservations.
        identifier: id of the ledger.
        key: idempotency key of the request; None makes a new one.

    Returns:
        Status 200 with the ledger after the change.
    """
    ledgers, caller = ledgers_of(request, "owner")
    method = {"sealed": ledgers.book.seal, "closed": ledgers.book.close}[kind]
    change = partial(method, caller.organisation, identifier, key or secrets.token_urlsafe(16), by=caller.name)
    answer = await ledgers.move(caller, kind, work.change_ledger, ledgers, caller.organisation, identifier, change)
    return json_response(answer)
