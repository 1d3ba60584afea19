from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calibration import Calibration
from ...models.gaussian_problem import GaussianProblem
from ...models.job import Job
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: GaussianProblem,
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
        "url": "/v1/calibrations/gaussian",
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
    body: GaussianProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """The Gaussian mechanism on random batches

     Computes any one of noise_multiplier, rounds, rate, epsilon and delta from the others.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (GaussianProblem): A repeated Gaussian mechanism: one of noise multiplier, rounds,
            rate, ε and δ is computed from the others.

            A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at
            which ε is returned.

            `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population`
            records. Sampling with
            replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed
            size, give `population`.
            `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate`
            or to compute it.

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
    body: GaussianProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """The Gaussian mechanism on random batches

     Computes any one of noise_multiplier, rounds, rate, epsilon and delta from the others.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (GaussianProblem): A repeated Gaussian mechanism: one of noise multiplier, rounds,
            rate, ε and δ is computed from the others.

            A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at
            which ε is returned.

            `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population`
            records. Sampling with
            replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed
            size, give `population`.
            `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate`
            or to compute it.

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
    body: GaussianProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """The Gaussian mechanism on random batches

     Computes any one of noise_multiplier, rounds, rate, epsilon and delta from the others.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (GaussianProblem): A repeated Gaussian mechanism: one of noise multiplier, rounds,
            rate, ε and δ is computed from the others.

            A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at
            which ε is returned.

            `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population`
            records. Sampling with
            replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed
            size, give `population`.
            `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate`
            or to compute it.

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
    body: GaussianProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """The Gaussian mechanism on random batches

     Computes any one of noise_multiplier, rounds, rate, epsilon and delta from the others.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (GaussianProblem): A repeated Gaussian mechanism: one of noise multiplier, rounds,
            rate, ε and δ is computed from the others.

            A risk may replace ε, such as `advantage`. Then δ may be absent; it is only the point at
            which ε is returned.

            `sampling` other than `full` needs the rate, as `rate` or as `batch_size` of `population`
            records. Sampling with
            replacement needs `batch_size` and `population`. To compute the rate of a batch of fixed
            size, give `population`.
            `largest_batch` truncates Poisson batches, as in a spec. It needs `population`, and `rate`
            or to compute it.

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
