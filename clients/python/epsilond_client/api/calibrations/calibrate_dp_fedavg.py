from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.calibration import Calibration
from ...models.dp_fedavg_problem import DpFedavgProblem
from ...models.job import Job
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: DpFedavgProblem,
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
        "url": "/v1/calibrations/dp-fedavg",
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
    body: DpFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """DP-FedAvg: clipped updates of clients, averaged with Gaussian noise

     Computes the smallest certified noise of a run that protects every client as a whole, against
    everyone except the server. The noise is given for the sum and for the mean of the updates. If
    rounds are absent, they are chosen. Adaptive clipping is possible.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (DpFedavgProblem): The target, the clients, the size of a round, and limits on the
            run.

            `participants` is the number of participants of a round; for `poisson` the expected
            number. If it is absent, all
            clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the
            excess risk needs
            `lipschitz` and `diameter`, and is for one gradient step of a client in each round.

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
    body: DpFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """DP-FedAvg: clipped updates of clients, averaged with Gaussian noise

     Computes the smallest certified noise of a run that protects every client as a whole, against
    everyone except the server. The noise is given for the sum and for the mean of the updates. If
    rounds are absent, they are chosen. Adaptive clipping is possible.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (DpFedavgProblem): The target, the clients, the size of a round, and limits on the
            run.

            `participants` is the number of participants of a round; for `poisson` the expected
            number. If it is absent, all
            clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the
            excess risk needs
            `lipschitz` and `diameter`, and is for one gradient step of a client in each round.

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
    body: DpFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Calibration | Job | Problem]:
    """DP-FedAvg: clipped updates of clients, averaged with Gaussian noise

     Computes the smallest certified noise of a run that protects every client as a whole, against
    everyone except the server. The noise is given for the sum and for the mean of the updates. If
    rounds are absent, they are chosen. Adaptive clipping is possible.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (DpFedavgProblem): The target, the clients, the size of a round, and limits on the
            run.

            `participants` is the number of participants of a round; for `poisson` the expected
            number. If it is absent, all
            clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the
            excess risk needs
            `lipschitz` and `diameter`, and is for one gradient step of a client in each round.

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
    body: DpFedavgProblem,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Calibration | Job | Problem | None:
    """DP-FedAvg: clipped updates of clients, averaged with Gaussian noise

     Computes the smallest certified noise of a run that protects every client as a whole, against
    everyone except the server. The noise is given for the sum and for the mean of the updates. If
    rounds are absent, they are chosen. Adaptive clipping is possible.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (DpFedavgProblem): The target, the clients, the size of a round, and limits on the
            run.

            `participants` is the number of participants of a round; for `poisson` the expected
            number. If it is absent, all
            clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the
            excess risk needs
            `lipschitz` and `diameter`, and is for one gradient step of a client in each round.

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
