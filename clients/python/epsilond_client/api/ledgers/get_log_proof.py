from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.log_proof import LogProof
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    entry: int | Unset = UNSET,
    from_: int | Unset = UNSET,
    to: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["entry"] = entry

    params["from"] = from_

    params["to"] = to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/log/proofs",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LogProof | Problem | None:
    if response.status_code == 200:
        response_200 = LogProof.from_dict(response.json())

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
) -> Response[LogProof | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    entry: int | Unset = UNSET,
    from_: int | Unset = UNSET,
    to: int | Unset = UNSET,
) -> Response[LogProof | Problem]:
    """Proof that an entry is in the log, or that the log only grew

     Return the proof for `entry`, or for `from` and, if it is not the present log, `to`.

    Args:
        entry (int | Unset):
        from_ (int | Unset):
        to (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LogProof | Problem]
    """

    kwargs = _get_kwargs(
        entry=entry,
        from_=from_,
        to=to,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    entry: int | Unset = UNSET,
    from_: int | Unset = UNSET,
    to: int | Unset = UNSET,
) -> LogProof | Problem | None:
    """Proof that an entry is in the log, or that the log only grew

     Return the proof for `entry`, or for `from` and, if it is not the present log, `to`.

    Args:
        entry (int | Unset):
        from_ (int | Unset):
        to (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LogProof | Problem
    """

    return sync_detailed(
        client=client,
        entry=entry,
        from_=from_,
        to=to,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    entry: int | Unset = UNSET,
    from_: int | Unset = UNSET,
    to: int | Unset = UNSET,
) -> Response[LogProof | Problem]:
    """Proof that an entry is in the log, or that the log only grew

     Return the proof for `entry`, or for `from` and, if it is not the present log, `to`.

    Args:
        entry (int | Unset):
        from_ (int | Unset):
        to (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LogProof | Problem]
    """

    kwargs = _get_kwargs(
        entry=entry,
        from_=from_,
        to=to,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    entry: int | Unset = UNSET,
    from_: int | Unset = UNSET,
    to: int | Unset = UNSET,
) -> LogProof | Problem | None:
    """Proof that an entry is in the log, or that the log only grew

     Return the proof for `entry`, or for `from` and, if it is not the present log, `to`.

    Args:
        entry (int | Unset):
        from_ (int | Unset):
        to (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LogProof | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            entry=entry,
            from_=from_,
            to=to,
        )
    ).parsed
