from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calibration import Calibration
from ...models.job import Job
from ...models.norm_fedavg_problem import NormFedavgProblem
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: NormFedavgProblem,
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
        "url": "/v1/calibrations/norm-fedavg",
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
    body: NormFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """DP-NormFedAvg: normalised, quantised, noisy client updates over rounds

     Computes the smallest certified noise of a round, with rounds composed exactly, and step sizes with
    a bound on convergence. The printed amplification by client sampling is refuted (Das et al.,
    Theorems 2 to 4).

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (NormFedavgProblem): A run of DP-NormFedAvg. The adversary sees every message
            (`server`) or every model (`released-models`).

            The observer `released-models` does not see who took part. If clients are protected, and
            the sensitivities are those
            of replacing all data of a client, the random draw of clients then amplifies privacy.
            Absent sensitivities are those
            of any two unit vectors. If `participants` is absent, all clients take part. Absent
            `local_steps` are the root of
            `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the
            gradient norm.

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
    body: NormFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """DP-NormFedAvg: normalised, quantised, noisy client updates over rounds

     Computes the smallest certified noise of a round, with rounds composed exactly, and step sizes with
    a bound on convergence. The printed amplification by client sampling is refuted (Das et al.,
    Theorems 2 to 4).

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (NormFedavgProblem): A run of DP-NormFedAvg. The adversary sees every message
            (`server`) or every model (`released-models`).

            The observer `released-models` does not see who took part. If clients are protected, and
            the sensitivities are those
            of replacing all data of a client, the random draw of clients then amplifies privacy.
            Absent sensitivities are those
            of any two unit vectors. If `participants` is absent, all clients take part. Absent
            `local_steps` are the root of
            `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the
            gradient norm.

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
    body: NormFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """DP-NormFedAvg: normalised, quantised, noisy client updates over rounds

     Computes the smallest certified noise of a round, with rounds composed exactly, and step sizes with
    a bound on convergence. The printed amplification by client sampling is refuted (Das et al.,
    Theorems 2 to 4).

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (NormFedavgProblem): A run of DP-NormFedAvg. The adversary sees every message
            (`server`) or every model (`released-models`).

            The observer `released-models` does not see who took part. If clients are protected, and
            the sensitivities are those
            of replacing all data of a client, the random draw of clients then amplifies privacy.
            Absent sensitivities are those
            of any two unit vectors. If `participants` is absent, all clients take part. Absent
            `local_steps` are the root of
            `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the
            gradient norm.

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
    body: NormFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """DP-NormFedAvg: normalised, quantised, noisy client updates over rounds

     Computes the smallest certified noise of a round, with rounds composed exactly, and step sizes with
    a bound on convergence. The printed amplification by client sampling is refuted (Das et al.,
    Theorems 2 to 4).

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (NormFedavgProblem): A run of DP-NormFedAvg. The adversary sees every message
            (`server`) or every model (`released-models`).

            The observer `released-models` does not see who took part. If clients are protected, and
            the sensitivities are those
            of replacing all data of a client, the random draw of clients then amplifies privacy.
            Absent sensitivities are those
            of any two unit vectors. If `participants` is absent, all clients take part. Absent
            `local_steps` are the root of
            `rounds`, rounded. An absent `step_ratio` is the one with the smallest bound on the
            gradient norm.

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
