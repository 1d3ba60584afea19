from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.status import Status
from ...models.theorem_list import TheoremList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    status: Status | Unset = UNSET,
    paper: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_status: str | Unset = UNSET
    if not isinstance(status, Unset):
        json_status = status.value

    params["status"] = json_status

    params["paper"] = paper

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/theorems",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | TheoremList | None:
    if response.status_code == 200:
        response_200 = TheoremList.from_dict(response.json())

        return response_200

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

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
) -> Response[Problem | TheoremList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    status: Status | Unset = UNSET,
    paper: str | Unset = UNSET,
) -> Response[Problem | TheoremList]:
    """Every theorem

     List every theorem that the service uses or can evaluate, in the order of the catalogue.

    Args:
        status (Status | Unset): Whether the statement, read as it is used here, holds.
        paper (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TheoremList]
    """

    kwargs = _get_kwargs(
        status=status,
        paper=paper,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    status: Status | Unset = UNSET,
    paper: str | Unset = UNSET,
) -> Problem | TheoremList | None:
    """Every theorem

     List every theorem that the service uses or can evaluate, in the order of the catalogue.

    Args:
        status (Status | Unset): Whether the statement, read as it is used here, holds.
        paper (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TheoremList
    """

    return sync_detailed(
        client=client,
        status=status,
        paper=paper,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    status: Status | Unset = UNSET,
    paper: str | Unset = UNSET,
) -> Response[Problem | TheoremList]:
    """Every theorem

     List every theorem that the service uses or can evaluate, in the order of the catalogue.

    Args:
        status (Status | Unset): Whether the statement, read as it is used here, holds.
        paper (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TheoremList]
    """

    kwargs = _get_kwargs(
        status=status,
        paper=paper,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    status: Status | Unset = UNSET,
    paper: str | Unset = UNSET,
) -> Problem | TheoremList | None:
    """Every theorem

     List every theorem that the service uses or can evaluate, in the order of the catalogue.

    Args:
        status (Status | Unset): Whether the statement, read as it is used here, holds.
        paper (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TheoremList
    """

    return (
        await asyncio_detailed(
            client=client,
            status=status,
            paper=paper,
        )
    ).parsed
