from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.amend_asked import AmendAsked
from ...models.ledger import Ledger
from ...models.pending_move import PendingMove
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    id: str,
    *,
    body: AmendAsked,
    idempotency_key: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/ledgers/{id}/amendments".format(
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Ledger | PendingMove | Problem | None:
    if response.status_code == 201:
        response_201 = Ledger.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = PendingMove.from_dict(response.json())

        return response_202

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
) -> Response[Ledger | PendingMove | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: AmendAsked,
    idempotency_key: str,
) -> Response[Ledger | PendingMove | Problem]:
    """Amend the plan; after a commit by a decision declared independent of outputs

     Certify the ledger with its new plan. Committed and reserved runs do not change, nor do slots.

    In a ledger with approval nothing changes before an approver approves the pending move.

    Args:
        id (str):
        idempotency_key (str):
        body (AmendAsked): A change of a plan: items to add, items with fewer runs, or whether a
            second person must approve.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Ledger | PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    *,
    client: AuthenticatedClient,
    body: AmendAsked,
    idempotency_key: str,
) -> Ledger | PendingMove | Problem | None:
    """Amend the plan; after a commit by a decision declared independent of outputs

     Certify the ledger with its new plan. Committed and reserved runs do not change, nor do slots.

    In a ledger with approval nothing changes before an approver approves the pending move.

    Args:
        id (str):
        idempotency_key (str):
        body (AmendAsked): A change of a plan: items to add, items with fewer runs, or whether a
            second person must approve.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Ledger | PendingMove | Problem
    """

    return sync_detailed(
        id=id,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    id: str,
    *,
    client: AuthenticatedClient,
    body: AmendAsked,
    idempotency_key: str,
) -> Response[Ledger | PendingMove | Problem]:
    """Amend the plan; after a commit by a decision declared independent of outputs

     Certify the ledger with its new plan. Committed and reserved runs do not change, nor do slots.

    In a ledger with approval nothing changes before an approver approves the pending move.

    Args:
        id (str):
        idempotency_key (str):
        body (AmendAsked): A change of a plan: items to add, items with fewer runs, or whether a
            second person must approve.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Ledger | PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    *,
    client: AuthenticatedClient,
    body: AmendAsked,
    idempotency_key: str,
) -> Ledger | PendingMove | Problem | None:
    """Amend the plan; after a commit by a decision declared independent of outputs

     Certify the ledger with its new plan. Committed and reserved runs do not change, nor do slots.

    In a ledger with approval nothing changes before an approver approves the pending move.

    Args:
        id (str):
        idempotency_key (str):
        body (AmendAsked): A change of a plan: items to add, items with fewer runs, or whether a
            second person must approve.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Ledger | PendingMove | Problem
    """

    return (
        await asyncio_detailed(
            id=id,
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
