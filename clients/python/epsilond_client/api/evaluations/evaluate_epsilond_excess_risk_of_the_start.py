from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluate_epsilond_excess_risk_of_the_start import (
    EvaluateEpsilondExcessRiskOfTheStart,
)
from ...models.evaluation_answer import EvaluationAnswer
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    *,
    body: EvaluateEpsilondExcessRiskOfTheStart,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/theorems/epsilond.excess-risk-of-the-start/evaluations",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EvaluationAnswer | Problem | None:
    if response.status_code == 200:
        response_200 = EvaluationAnswer.from_dict(response.json())

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
) -> Response[EvaluationAnswer | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: EvaluateEpsilondExcessRiskOfTheStart,
) -> Response[EvaluationAnswer | Problem]:
    """The excess risk of a model that was never trained

     F(w₀) − F(w*) ≤ L‖w₀ − w*‖, ≤ max over r ≤ ‖w₀ − w*‖ of L r − μ r²/2, and ≤ G*‖w₀ − w*‖ + β‖w₀ −
    w*‖²/2 with G* ≥ ‖∇F(w*)‖

    Args:
        body (EvaluateEpsilondExcessRiskOfTheStart): Evaluate the formula of epsilond.excess-risk-
            of-the-start.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationAnswer | Problem]
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
    body: EvaluateEpsilondExcessRiskOfTheStart,
) -> EvaluationAnswer | Problem | None:
    """The excess risk of a model that was never trained

     F(w₀) − F(w*) ≤ L‖w₀ − w*‖, ≤ max over r ≤ ‖w₀ − w*‖ of L r − μ r²/2, and ≤ G*‖w₀ − w*‖ + β‖w₀ −
    w*‖²/2 with G* ≥ ‖∇F(w*)‖

    Args:
        body (EvaluateEpsilondExcessRiskOfTheStart): Evaluate the formula of epsilond.excess-risk-
            of-the-start.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationAnswer | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: EvaluateEpsilondExcessRiskOfTheStart,
) -> Response[EvaluationAnswer | Problem]:
    """The excess risk of a model that was never trained

     F(w₀) − F(w*) ≤ L‖w₀ − w*‖, ≤ max over r ≤ ‖w₀ − w*‖ of L r − μ r²/2, and ≤ G*‖w₀ − w*‖ + β‖w₀ −
    w*‖²/2 with G* ≥ ‖∇F(w*)‖

    Args:
        body (EvaluateEpsilondExcessRiskOfTheStart): Evaluate the formula of epsilond.excess-risk-
            of-the-start.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EvaluationAnswer | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: EvaluateEpsilondExcessRiskOfTheStart,
) -> EvaluationAnswer | Problem | None:
    """The excess risk of a model that was never trained

     F(w₀) − F(w*) ≤ L‖w₀ − w*‖, ≤ max over r ≤ ‖w₀ − w*‖ of L r − μ r²/2, and ≤ G*‖w₀ − w*‖ + β‖w₀ −
    w*‖²/2 with G* ≥ ‖∇F(w*)‖

    Args:
        body (EvaluateEpsilondExcessRiskOfTheStart): Evaluate the formula of epsilond.excess-risk-
            of-the-start.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EvaluationAnswer | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
