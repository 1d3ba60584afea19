from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.checkpoint_answer import CheckpointAnswer
from ...models.problem import Problem
from ...models.reconcile_asked import ReconcileAsked
from ...types import Response


def _get_kwargs(
    *,
    body: ReconcileAsked,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/log/reconciliations",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CheckpointAnswer | Problem | None:
    if response.status_code == 201:
        response_201 = CheckpointAnswer.from_dict(response.json())

        return response_201

    if response.status_code == 202:
        response_202 = CheckpointAnswer.from_dict(response.json())

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
) -> Response[CheckpointAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: ReconcileAsked,
) -> Response[CheckpointAnswer | Problem]:
    """Accept a log that was restored, for operators

     Accept a log that no longer continues its known heads, so that ledgers may change again.

    An operator needs this after a restored backup. The log's head replaces the checkpoint that is kept
    elsewhere.

    202: each ledger with approval has a pending move, and changes again when an approver has approved
    it.

    Args:
        body (ReconcileAsked): Declaration of an operator who accepts a log that lacks entries.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckpointAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    body: ReconcileAsked,
) -> CheckpointAnswer | Problem | None:
    """Accept a log that was restored, for operators

     Accept a log that no longer continues its known heads, so that ledgers may change again.

    An operator needs this after a restored backup. The log's head replaces the checkpoint that is kept
    elsewhere.

    202: each ledger with approval has a pending move, and changes again when an approver has approved
    it.

    Args:
        body (ReconcileAsked): Declaration of an operator who accepts a log that lacks entries.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckpointAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: ReconcileAsked,
) -> Response[CheckpointAnswer | Problem]:
    """Accept a log that was restored, for operators

     Accept a log that no longer continues its known heads, so that ledgers may change again.

    An operator needs this after a restored backup. The log's head replaces the checkpoint that is kept
    elsewhere.

    202: each ledger with approval has a pending move, and changes again when an approver has approved
    it.

    Args:
        body (ReconcileAsked): Declaration of an operator who accepts a log that lacks entries.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CheckpointAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    body: ReconcileAsked,
) -> CheckpointAnswer | Problem | None:
    """Accept a log that was restored, for operators

     Accept a log that no longer continues its known heads, so that ledgers may change again.

    An operator needs this after a restored backup. The log's head replaces the checkpoint that is kept
    elsewhere.

    202: each ledger with approval has a pending move, and changes again when an approver has approved
    it.

    Args:
        body (ReconcileAsked): Declaration of an operator who accepts a log that lacks entries.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CheckpointAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
