from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calibration import Calibration
from ...models.job import Job
from ...models.ppsgd_problem import PpsgdProblem
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: PpsgdProblem,
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
        "url": "/v1/calibrations/ppsgd",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Calibration | Job | Problem | None:
    if response.status_code == 200:
        response_200 = Calibration.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = Job.from_dict(response.json())

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
) -> Response[Calibration | Job | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: PpsgdProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """Personalised learning with a noisy shared part

     Computes the smallest certified noise of PPSGD for a client against all others, and the best degree
    of sharing. Sources: Bietti et al., Theorems 4.1, 4.5, 5.1, 5.2, B.4, Lemma 4.6.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (PpsgdProblem): The target, the clients, and for a bound on the excess risk the
            learning problem.

            A client is protected as a whole, against all other clients together. `participation_rate`
            is needed unless all
            clients take part. For `without-replacement` it gives the number of participants, as a
            fraction of `clients`. The
            bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are
            the sum of a shared part
            and a client's own part. If `personalization` is absent, the degree of sharing with the
            smallest bound is chosen.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Calibration | Job | Problem]
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
    client: AuthenticatedClient,
    body: PpsgdProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """Personalised learning with a noisy shared part

     Computes the smallest certified noise of PPSGD for a client against all others, and the best degree
    of sharing. Sources: Bietti et al., Theorems 4.1, 4.5, 5.1, 5.2, B.4, Lemma 4.6.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (PpsgdProblem): The target, the clients, and for a bound on the excess risk the
            learning problem.

            A client is protected as a whole, against all other clients together. `participation_rate`
            is needed unless all
            clients take part. For `without-replacement` it gives the number of participants, as a
            fraction of `clients`. The
            bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are
            the sum of a shared part
            and a client's own part. If `personalization` is absent, the degree of sharing with the
            smallest bound is chosen.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Calibration | Job | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
        prefer=prefer,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    body: PpsgdProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """Personalised learning with a noisy shared part

     Computes the smallest certified noise of PPSGD for a client against all others, and the best degree
    of sharing. Sources: Bietti et al., Theorems 4.1, 4.5, 5.1, 5.2, B.4, Lemma 4.6.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (PpsgdProblem): The target, the clients, and for a bound on the excess risk the
            learning problem.

            A client is protected as a whole, against all other clients together. `participation_rate`
            is needed unless all
            clients take part. For `without-replacement` it gives the number of participants, as a
            fraction of `clients`. The
            bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are
            the sum of a shared part
            and a client's own part. If `personalization` is absent, the degree of sharing with the
            smallest bound is chosen.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Calibration | Job | Problem]
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
    client: AuthenticatedClient,
    body: PpsgdProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """Personalised learning with a noisy shared part

     Computes the smallest certified noise of PPSGD for a client against all others, and the best degree
    of sharing. Sources: Bietti et al., Theorems 4.1, 4.5, 5.1, 5.2, B.4, Lemma 4.6.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (PpsgdProblem): The target, the clients, and for a bound on the excess risk the
            learning problem.

            A client is protected as a whole, against all other clients together. `participation_rate`
            is needed unless all
            clients take part. For `without-replacement` it gives the number of participants, as a
            fraction of `clients`. The
            bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are
            the sum of a shared part
            and a client's own part. If `personalization` is absent, the degree of sharing with the
            smallest bound is chosen.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Calibration | Job | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            prefer=prefer,
            idempotency_key=idempotency_key,
        )
    ).parsed
