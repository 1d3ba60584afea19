from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.projected_sgd_calibration import ProjectedSgdCalibration
from ...models.projected_sgd_problem import ProjectedSgdProblem
from ...models.projected_sgd_sweep import ProjectedSgdSweep
from ...models.projected_sgd_sweep_problem import ProjectedSgdSweepProblem
from ...types import Response


def _get_kwargs(
    *,
    body: ProjectedSgdProblem | ProjectedSgdSweepProblem,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/calibrations/projected-sgd",
    }

    if isinstance(body, ProjectedSgdProblem):
        _kwargs["json"] = body.to_dict()
    else:
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ProjectedSgdCalibration | ProjectedSgdSweep | None:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> ProjectedSgdCalibration | ProjectedSgdSweep:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_200_type_0 = ProjectedSgdCalibration.from_dict(data)

                return response_200_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            response_200_type_1 = ProjectedSgdSweep.from_dict(data)

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
) -> Response[Problem | ProjectedSgdCalibration | ProjectedSgdSweep]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ProjectedSgdProblem | ProjectedSgdSweepProblem,
) -> Response[Problem | ProjectedSgdCalibration | ProjectedSgdSweep]:
    """Projected SGD whose last model alone is released

     One pass of noisy projected gradient descent over secret batches, with hidden states: the noise, the
    step size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3).

    Args:
        body (ProjectedSgdProblem | ProjectedSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ProjectedSgdCalibration | ProjectedSgdSweep]
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
    body: ProjectedSgdProblem | ProjectedSgdSweepProblem,
) -> Problem | ProjectedSgdCalibration | ProjectedSgdSweep | None:
    """Projected SGD whose last model alone is released

     One pass of noisy projected gradient descent over secret batches, with hidden states: the noise, the
    step size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3).

    Args:
        body (ProjectedSgdProblem | ProjectedSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ProjectedSgdCalibration | ProjectedSgdSweep
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: ProjectedSgdProblem | ProjectedSgdSweepProblem,
) -> Response[Problem | ProjectedSgdCalibration | ProjectedSgdSweep]:
    """Projected SGD whose last model alone is released

     One pass of noisy projected gradient descent over secret batches, with hidden states: the noise, the
    step size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3).

    Args:
        body (ProjectedSgdProblem | ProjectedSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ProjectedSgdCalibration | ProjectedSgdSweep]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: ProjectedSgdProblem | ProjectedSgdSweepProblem,
) -> Problem | ProjectedSgdCalibration | ProjectedSgdSweep | None:
    """Projected SGD whose last model alone is released

     One pass of noisy projected gradient descent over secret batches, with hidden states: the noise, the
    step size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3).

    Args:
        body (ProjectedSgdProblem | ProjectedSgdSweepProblem):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ProjectedSgdCalibration | ProjectedSgdSweep
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
