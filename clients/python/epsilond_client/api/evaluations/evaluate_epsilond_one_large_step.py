from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluate_epsilond_one_large_step import EvaluateEpsilondOneLargeStep
from ...models.evaluation_answer import EvaluationAnswer
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    *,
    body: EvaluateEpsilondOneLargeStep,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/theorems/epsilond.one-large-step/evaluations",
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
    body: EvaluateEpsilondOneLargeStep,
) -> Response[EvaluationAnswer | Problem]:
    """Rare steps, of which one is large

     With L_t the losses of T independent steps, S their sum, R the sum without the largest, and any c₀ <
    … < c_m: Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R >
    c_{k−1}) + P(S > ε, R > c_m), where P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)} for every
    b > 0, h(y) = (1 + y) log(1 + y) − y, m and V bounds of the mean and the second moment of the losses
    up to b

    Args:
        body (EvaluateEpsilondOneLargeStep): Evaluate the formula of epsilond.one-large-step.

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
    body: EvaluateEpsilondOneLargeStep,
) -> EvaluationAnswer | Problem | None:
    """Rare steps, of which one is large

     With L_t the losses of T independent steps, S their sum, R the sum without the largest, and any c₀ <
    … < c_m: Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R >
    c_{k−1}) + P(S > ε, R > c_m), where P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)} for every
    b > 0, h(y) = (1 + y) log(1 + y) − y, m and V bounds of the mean and the second moment of the losses
    up to b

    Args:
        body (EvaluateEpsilondOneLargeStep): Evaluate the formula of epsilond.one-large-step.

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
    body: EvaluateEpsilondOneLargeStep,
) -> Response[EvaluationAnswer | Problem]:
    """Rare steps, of which one is large

     With L_t the losses of T independent steps, S their sum, R the sum without the largest, and any c₀ <
    … < c_m: Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R >
    c_{k−1}) + P(S > ε, R > c_m), where P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)} for every
    b > 0, h(y) = (1 + y) log(1 + y) − y, m and V bounds of the mean and the second moment of the losses
    up to b

    Args:
        body (EvaluateEpsilondOneLargeStep): Evaluate the formula of epsilond.one-large-step.

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
    body: EvaluateEpsilondOneLargeStep,
) -> EvaluationAnswer | Problem | None:
    """Rare steps, of which one is large

     With L_t the losses of T independent steps, S their sum, R the sum without the largest, and any c₀ <
    … < c_m: Σ_t δ_t(ε) − ½ (Σ_t P(L_t > ε))² ≤ δ(ε) ≤ Σ_t δ_t(ε − c₀) + Σ_k Σ_t δ_t(ε − c_k) P(R >
    c_{k−1}) + P(S > ε, R > c_m), where P(R > c) ≤ Σ_t P(L_t > b) + e^{−(V/b²) h((c − m) b/V)} for every
    b > 0, h(y) = (1 + y) log(1 + y) − y, m and V bounds of the mean and the second moment of the losses
    up to b

    Args:
        body (EvaluateEpsilondOneLargeStep): Evaluate the formula of epsilond.one-large-step.

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
