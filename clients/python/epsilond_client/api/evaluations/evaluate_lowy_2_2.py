from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.evaluate_lowy_22 import EvaluateLowy22
from ...models.evaluation_answer import EvaluationAnswer
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    *,
    body: EvaluateLowy22,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/theorems/lowy.2.2/evaluations",
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
    body: EvaluateLowy22,
) -> Response[EvaluationAnswer | Problem]:
    """Noisy mini-batch SGD for losses that need not be smooth

     Algorithm 1 on the Moreau envelope with b = L√M~/(Dν) (μM~/ν² if μ-strongly convex) and the σ of
    Theorem 2.1 is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D
    ν/√M at R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here:
    batches drawn without replacement, 272.5 L D ν/√M~ with M~ = M, and the average of w_1, …, w_R, for
    which 174.5 will do

    Args:
        body (EvaluateLowy22): Evaluate the formula of lowy.2.2.

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
    body: EvaluateLowy22,
) -> EvaluationAnswer | Problem | None:
    """Noisy mini-batch SGD for losses that need not be smooth

     Algorithm 1 on the Moreau envelope with b = L√M~/(Dν) (μM~/ν² if μ-strongly convex) and the σ of
    Theorem 2.1 is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D
    ν/√M at R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here:
    batches drawn without replacement, 272.5 L D ν/√M~ with M~ = M, and the average of w_1, …, w_R, for
    which 174.5 will do

    Args:
        body (EvaluateLowy22): Evaluate the formula of lowy.2.2.

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
    body: EvaluateLowy22,
) -> Response[EvaluationAnswer | Problem]:
    """Noisy mini-batch SGD for losses that need not be smooth

     Algorithm 1 on the Moreau envelope with b = L√M~/(Dν) (μM~/ν² if μ-strongly convex) and the σ of
    Theorem 2.1 is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D
    ν/√M at R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here:
    batches drawn without replacement, 272.5 L D ν/√M~ with M~ = M, and the average of w_1, …, w_R, for
    which 174.5 will do

    Args:
        body (EvaluateLowy22): Evaluate the formula of lowy.2.2.

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
    body: EvaluateLowy22,
) -> EvaluationAnswer | Problem | None:
    """Noisy mini-batch SGD for losses that need not be smooth

     Algorithm 1 on the Moreau envelope with b = L√M~/(Dν) (μM~/ν² if μ-strongly convex) and the σ of
    Theorem 2.1 is (ε, δ) for every record against everyone but its client, and E F(ŵ) − F* ≤ 545 L D
    ν/√M at R = ⌈M~/ν²⌉; if μ-strongly convex Õ(L²/μ (1/(Mn) + d min{Ξ/M', ξ_max/M})). Read here:
    batches drawn without replacement, 272.5 L D ν/√M~ with M~ = M, and the average of w_1, …, w_R, for
    which 174.5 will do

    Args:
        body (EvaluateLowy22): Evaluate the formula of lowy.2.2.

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
