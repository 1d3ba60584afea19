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
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/ledgers/{id}/pending/{move}".format(
            id=quote(str(id), safe=""),
            move=quote(str(move), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> PendingMove | Problem | None:
    if response.status_code == 200:
        response_200 = PendingMove.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
    *,
    client: AuthenticatedClient,
) -> Response[PendingMove | Problem]:
    """One move that waits for a second person

     Return a pending move, or a move that has ended.

    Args:
        id (str):
        move (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        move=move,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    move: str,
    *,
    client: AuthenticatedClient,
) -> PendingMove | Problem | None:
    """One move that waits for a second person

     Return a pending move, or a move that has ended.

    Args:
        id (str):
        move (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        PendingMove | Problem
    """

    return sync_detailed(
        id=id,
        move=move,
        client=client,
    ).parsed


async def asyncio_detailed(
    id: str,
    move: str,
    *,
    client: AuthenticatedClient,
) -> Response[PendingMove | Problem]:
    """One move that waits for a second person

     Return a pending move, or a move that has ended.

    Args:
        id (str):
        move (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[PendingMove | Problem]
    """

    kwargs = _get_kwargs(
        id=id,
        move=move,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    move: str,
    *,
    client: AuthenticatedClient,
) -> PendingMove | Problem | None:
    """One move that waits for a second person

     Return a pending move, or a move that has ended.

    Args:
        id (str):
        move (str):

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
            client=client,
        )
    ).parsed
