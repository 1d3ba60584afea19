from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.audit_simulation import AuditSimulation
from ...models.preset_simulation import PresetSimulation
from ...models.problem import Problem
from ...models.risk_simulation import RiskSimulation
from ...models.simulation import Simulation
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: AuditSimulation | PresetSimulation | RiskSimulation,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(prefer, Unset):
        headers["Prefer"] = prefer

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/simulations",
    }

    if isinstance(body, RiskSimulation) or isinstance(body, AuditSimulation):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Problem | Simulation | None:
    if response.status_code == 200:
        response_200 = Simulation.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = Simulation.from_dict(response.json())

        return response_202

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

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
) -> Response[Problem | Simulation]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AuditSimulation | PresetSimulation | RiskSimulation,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | Simulation]:
    """Run an algorithm, or attack a mechanism, and measure

     Take a simulation in. The same seed gives the same result, with any number of workers.

    Args:
        prefer (str | Unset): `wait=S` (RFC 7240): answer with what has ended within S seconds, in
            place
        idempotency_key (str | Unset): names this request: posting it again answers the same
            simulation while that is kept, and a new one if it was interrupted
        body (AuditSimulation | PresetSimulation | RiskSimulation):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Simulation]
    """

    kwargs = _get_kwargs(
        body=body,
        prefer=prefer,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: AuditSimulation | PresetSimulation | RiskSimulation,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | Simulation | None:
    """Run an algorithm, or attack a mechanism, and measure

     Take a simulation in. The same seed gives the same result, with any number of workers.

    Args:
        prefer (str | Unset): `wait=S` (RFC 7240): answer with what has ended within S seconds, in
            place
        idempotency_key (str | Unset): names this request: posting it again answers the same
            simulation while that is kept, and a new one if it was interrupted
        body (AuditSimulation | PresetSimulation | RiskSimulation):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Simulation
    """

    return sync_detailed(
        client=client,
        body=body,
        prefer=prefer,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AuditSimulation | PresetSimulation | RiskSimulation,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | Simulation]:
    """Run an algorithm, or attack a mechanism, and measure

     Take a simulation in. The same seed gives the same result, with any number of workers.

    Args:
        prefer (str | Unset): `wait=S` (RFC 7240): answer with what has ended within S seconds, in
            place
        idempotency_key (str | Unset): names this request: posting it again answers the same
            simulation while that is kept, and a new one if it was interrupted
        body (AuditSimulation | PresetSimulation | RiskSimulation):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Simulation]
    """

    kwargs = _get_kwargs(
        body=body,
        prefer=prefer,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: AuditSimulation | PresetSimulation | RiskSimulation,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | Simulation | None:
    """Run an algorithm, or attack a mechanism, and measure

     Take a simulation in. The same seed gives the same result, with any number of workers.

    Args:
        prefer (str | Unset): `wait=S` (RFC 7240): answer with what has ended within S seconds, in
            place
        idempotency_key (str | Unset): names this request: posting it again answers the same
            simulation while that is kept, and a new one if it was interrupted
        body (AuditSimulation | PresetSimulation | RiskSimulation):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Simulation
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            prefer=prefer,
            idempotency_key=idempotency_key,
        )
    ).parsed
