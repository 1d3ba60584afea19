from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.pending_move import PendingMove
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    id: str,
    move: str,
    decision: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/ledgers/{id}/pending/{move}/{decision}".format(
            id=quote(str(id), safe=""),
            move=quote(str(move), safe=""),
            decision=quote(str(decision), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PendingMove | Problem | None:
    if response.status_code == 200:
        response_200 = PendingMove.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 408:
        response_408 = Problem.from_dict(response.json())

        return response_408

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = Problem.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[PendingMove | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    move: str,
    decision: str,
    *,
    client: AuthenticatedClient,
) -> Response[PendingMove | Problem]:
    """Make a pending move as its approver, or end it without making it

     Approve or reject a pending move. The request has no body.

    An approver approves or rejects moves that other people requested. The person who requested a move
    withdraws it with
    `reject`. An approved move is checked against the present ledger before it is made. If the ledger
    rejects it, it
    stays pending. A second approval of the same move changes nothing.

    Args:
        id (str):
        move (str):
        decision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        move=move,
        decision=decision,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    move: str,
    decision: str,
    *,
    client: AuthenticatedClient,
) -> PendingMove | Problem | None:
    """Make a pending move as its approver, or end it without making it

     Approve or reject a pending move. The request has no body.

    An approver approves or rejects moves that other people requested. The person who requested a move
    withdraws it with
    `reject`. An approved move is checked against the present ledger before it is made. If the ledger
    rejects it, it
    stays pending. A second approval of the same move changes nothing.

    Args:
        id (str):
        move (str):
        decision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PendingMove | Problem
    """

    return sync_detailed(
        id=id,
        move=move,
        decision=decision,
        client=client,
    ).parsed


async def asyncio_detailed(
    id: str,
    move: str,
    decision: str,
    *,
    client: AuthenticatedClient,
) -> Response[PendingMove | Problem]:
    """Make a pending move as its approver, or end it without making it

     Approve or reject a pending move. The request has no body.

    An approver approves or rejects moves that other people requested. The person who requested a move
    withdraws it with
    `reject`. An approved move is checked against the present ledger before it is made. If the ledger
    rejects it, it
    stays pending. A second approval of the same move changes nothing.

    Args:
        id (str):
        move (str):
        decision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        move=move,
        decision=decision,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    move: str,
    decision: str,
    *,
    client: AuthenticatedClient,
) -> PendingMove | Problem | None:
    """Make a pending move as its approver, or end it without making it

     Approve or reject a pending move. The request has no body.

    An approver approves or rejects moves that other people requested. The person who requested a move
    withdraws it with
    `reject`. An approved move is checked against the present ledger before it is made. If the ledger
    rejects it, it
    stays pending. A second approval of the same move changes nothing.

    Args:
        id (str):
        move (str):
        decision (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PendingMove | Problem
    """

    return (
        await asyncio_detailed(
            id=id,
            move=move,
            decision=decision,
            client=client,
        )
    ).parsed
