from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calibrate_asked import CalibrateAsked
from ...models.problem import Problem
from ...models.within_answer import WithinAnswer
from ...types import Response


def _get_kwargs(
    id: str,
    algorithm: str,
    *,
    body: CalibrateAsked,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/ledgers/{id}/calibrations/{algorithm}".format(
            id=quote(str(id), safe=""),
            algorithm=quote(str(algorithm), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | WithinAnswer | None:
    if response.status_code == 200:
        response_200 = WithinAnswer.from_dict(response.json())

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
) -> Response[Problem | WithinAnswer]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    id: str,
    algorithm: str,
    *,
    client: AuthenticatedClient,
    body: CalibrateAsked,
) -> Response[Problem | WithinAnswer]:
    """The least noise with which an algorithm fits into the remaining budget

     Use the ledger's ε, δ, unit, relation and observer. Nothing is changed or reserved.

    Args:
        id (str):
        algorithm (str):
        body (CalibrateAsked): An algorithm to be calibrated within the remaining budget of a
            ledger, of a slot or of an item of the plan.

            A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot,
            or the only slot, is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WithinAnswer]
    """

    kwargs = _get_kwargs(
        id=id,
        algorithm=algorithm,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    id: str,
    algorithm: str,
    *,
    client: AuthenticatedClient,
    body: CalibrateAsked,
) -> Problem | WithinAnswer | None:
    """The least noise with which an algorithm fits into the remaining budget

     Use the ledger's ε, δ, unit, relation and observer. Nothing is changed or reserved.

    Args:
        id (str):
        algorithm (str):
        body (CalibrateAsked): An algorithm to be calibrated within the remaining budget of a
            ledger, of a slot or of an item of the plan.

            A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot,
            or the only slot, is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | WithinAnswer
    """

    return sync_detailed(
        id=id,
        algorithm=algorithm,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    id: str,
    algorithm: str,
    *,
    client: AuthenticatedClient,
    body: CalibrateAsked,
) -> Response[Problem | WithinAnswer]:
    """The least noise with which an algorithm fits into the remaining budget

     Use the ledger's ε, δ, unit, relation and observer. Nothing is changed or reserved.

    Args:
        id (str):
        algorithm (str):
        body (CalibrateAsked): An algorithm to be calibrated within the remaining budget of a
            ledger, of a slot or of an item of the plan.

            A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot,
            or the only slot, is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WithinAnswer]
    """

    kwargs = _get_kwargs(
        id=id,
        algorithm=algorithm,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    id: str,
    algorithm: str,
    *,
    client: AuthenticatedClient,
    body: CalibrateAsked,
) -> Problem | WithinAnswer | None:
    """The least noise with which an algorithm fits into the remaining budget

     Use the ledger's ε, δ, unit, relation and observer. Nothing is changed or reserved.

    Args:
        id (str):
        algorithm (str):
        body (CalibrateAsked): An algorithm to be calibrated within the remaining budget of a
            ledger, of a slot or of an item of the plan.

            A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot,
            or the only slot, is used.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | WithinAnswer
    """

    return (
        await asyncio_detailed(
            id=id,
            algorithm=algorithm,
            client=client,
            body=body,
        )
    ).parsed
