from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.shuffled_mb_sgd_calibration import ShuffledMbSgdCalibration
from ...models.shuffled_mb_sgd_problem import ShuffledMbSgdProblem
from ...models.shuffled_mb_sgd_sweep import ShuffledMbSgdSweep
from ...models.shuffled_mb_sgd_sweep_problem import ShuffledMbSgdSweepProblem
from ...types import Response


def _get_kwargs(
    *,
    body: ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/calibrations/shuffled-mb-sgd",
    }

    if isinstance(body, ShuffledMbSgdProblem):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep | None:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> ShuffledMbSgdCalibration | ShuffledMbSgdSweep:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = ShuffledMbSgdCalibration.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_1 = ShuffledMbSgdSweep.from_dict(data)

            return response_200_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

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
) -> Response[Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem,
) -> Response[Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep]:
    """Noisy mini-batch SGD for clients that trust a shuffler

     Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the
    reports of a round: central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, whose
    constant is not given).

    Args:
        body (ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep]
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
    client: AuthenticatedClient | Client,
    body: ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem,
) -> Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep | None:
    """Noisy mini-batch SGD for clients that trust a shuffler

     Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the
    reports of a round: central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, whose
    constant is not given).

    Args:
        body (ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem,
) -> Response[Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep]:
    """Noisy mini-batch SGD for clients that trust a shuffler

     Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the
    reports of a round: central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, whose
    constant is not given).

    Args:
        body (ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem,
) -> Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep | None:
    """Noisy mini-batch SGD for clients that trust a shuffler

     Each client adds Gaussian noise to its own mini-batch gradients, and a trusted shuffler permutes the
    reports of a round: central ε and δ for every record (Lowy and Razaviyayn, Theorem 4.1, whose
    constant is not given).

    Args:
        body (ShuffledMbSgdProblem | ShuffledMbSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ShuffledMbSgdCalibration | ShuffledMbSgdSweep
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
