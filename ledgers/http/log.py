"""/v1/log and /v1/keys: proofs, for holders of receipts, that no entry of a ledger was changed."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

from fastapi import Body, FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.http.answers import json_response
from epsilond.app.http.body import unread
from epsilond.app.http.problems import FieldError, Problem
from epsilond.ledgers.http import examples, proving
from epsilond.ledgers.http.asking import READERS, ledgers_of, read_request
from epsilond.ledgers.http.documents import CheckpointAnswer, EntryList, KeyList, LogProof, ReconcileAsked

TAGS: list[str | Enum] = ["ledgers"]
Number = Annotated[int | None, Query(ge=0, le=2**53)]


def add(app: FastAPI) -> None:
    """Add every route of the log.

    Args:
        app: the service. It is changed in place.
    """
    get = partial(app.add_api_route, tags=TAGS)
    get(
        "/v1/log/checkpoint",
        get_checkpoint,
        operation_id="get_log_checkpoint",
        summary="The signed head of the log",
        response_model=CheckpointAnswer,
        openapi_extra={"x-problems": [503]},
    )
    get(
        "/v1/log/proofs",
        get_proof,
        operation_id="get_log_proof",
        summary="Proof that an entry is in the log, or that the log only grew",
        response_model=LogProof,
        openapi_extra={"x-problems": [404, 503]},
    )
    get(
        "/v1/log/entries",
        list_log_entries,
        operation_id="list_log_entries",
        summary="The entries of all ledgers of an organisation, for auditors",
        response_model=EntryList,
        openapi_extra={"x-problems": [503]},
    )
    get(
        "/v1/keys",
        list_keys,
        operation_id="list_log_keys",
        summary="The public keys that signatures are verified with",
        response_model=KeyList,
        openapi_extra={"x-problems": [503]},
    )
    # The only route that changes something: after a restore of the database, an operator accepts the log.
    app.add_api_route(
        "/v1/log/reconciliations",
        reconcile,
        methods=["POST"],
        status_code=201,
        operation_id="reconcile_log",
        summary="Accept a log that was restored, for operators",
        response_model=CheckpointAnswer,
        responses={
            202: {
                "model": CheckpointAnswer,
                "description": "Accepted; in a ledger with approval the move waits for a second person",
            }
        },
        tags=TAGS,
    )


async def get_checkpoint(request: Request) -> Response:
    """Return the signed head of the log. Keep it: a log that does not continue it was rewritten.

    With `Accept: text/plain` the answer is only the signed note.

    \f

    Args:
        request: the HTTP request; its Accept header selects the form of the answer.

    Returns:
        The signed head with its members as JSON, or its note as text.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    head = await ledgers.call(caller, proving.head, ledgers)
    if request.headers.get("accept", "").startswith("text/plain"):
        return Response(head.checkpoint, media_type="text/plain", headers={"cache-control": "no-cache"})
    return json_response(head)


async def get_proof(
    request: Request,
    entry: Annotated[Number, Query(description="number of the entry whose presence in the log is proved")] = None,
    first: Annotated[
        Number,
        Query(
            alias="from",
            description="number of entries of the earlier log, of which the later log is proved to be a continuation",
        ),
    ] = None,
    second: Annotated[
        Number, Query(alias="to", description="number of entries of the later log; absent: the present log")
    ] = None,
) -> Response:
    """Return the proof for `entry`, or for `from` and, if it is not the present log, `to`.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        entry: number of an entry of the caller's organisation, from 0, for a proof of inclusion.
        first: number of entries of the earlier log, for a proof that the later log continues it.
        second: number of entries of the later log; None for the present log.

    Returns:
        A proof of inclusion of the entry, or of consistency of two logs (RFC 9162).

    Raises:
        Problem: the parameters are neither `entry` nor `from` with an optional `to`.
    """
    ledgers, caller = ledgers_of(request, *READERS)
    # Inclusion: the log contains the entry.
    if entry is not None and first is None and second is None:
        return json_response(await ledgers.call(caller, proving.inclusion, ledgers, caller.organisation, entry))
    # Consistency: the later log begins with the entries of the earlier one.
    if entry is None and first is not None:
        return json_response(await ledgers.call(caller, proving.consistency, ledgers, first, second))
    fault = FieldError(parameter="entry", message="give either an entry, or from and to")
    raise Problem("invalid-input", "A query parameter is invalid; see errors.", fault)


async def list_log_entries(
    request: Request,
    start: Annotated[
        int,
        Query(
            alias="from",
            description="number in the log at which to start; entries before it are left out",
            ge=0,
            le=2**53,
        ),
    ] = 0,
    limit: Annotated[int, Query(description="largest number of items in the answer", ge=1, le=1000)] = 100,
) -> Response:
    """Return the entries as they were signed, the oldest first. Missing numbers are entries of other organisations.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        start: number in the log at which the list starts, from 0.
        limit: largest number of entries in the answer, 1 to 1000.

    Returns:
        The entries of the page, with a link to the next page if there is one.
    """
    ledgers, caller = ledgers_of(request, "auditor")
    return json_response(await ledgers.call(caller, proving.log_entries, ledgers, caller.organisation, start, limit))


async def list_keys(request: Request) -> Response:
    """Return a JSON Web Key Set (RFC 7517). A verifier must get the keys from a trusted source.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers.

    Returns:
        The public keys of the log.
    """
    ledgers, caller = ledgers_of(request)
    return json_response(await ledgers.call(caller, proving.keys, ledgers))


async def reconcile(
    request: Request,
    body: Annotated[unread(ReconcileAsked), Body(openapi_examples=examples.RECONCILE)],  # type: ignore[valid-type]
) -> Response:
    """Accept a log that no longer continues its known heads, so that ledgers may change again.

    An operator needs this after a restored backup. The log's head replaces the checkpoint that is kept elsewhere.

    202: each ledger with approval has a pending move, and changes again when an approver has approved it.

    \f

    Args:
        request: the HTTP request, which leads to the service's ledgers and to the caller.
        body: JSON text of the operator's declaration.

    Returns:
        Status 201 with the signed head of the log; 202 if ledgers wait for a second person.
    """
    caller_of(request).require_scope("admin")
    ledgers, caller = ledgers_of(request)
    # The only permitted body is the declaration, so its content need not be kept.
    await read_request(ReconcileAsked, body)
    answer, waiting = await ledgers.call(caller, proving.accept_log, ledgers, caller.name)
    status = 202 if waiting else 201
    return json_response(answer, status)
