from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.job import Job
from ...models.problem import Problem
from ...models.simulation_request import SimulationRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    body: SimulationRequest,
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

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Job | Problem | None:
    if response.status_code == 200:
        response_200 = Job.from_dict(response.json())

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

    if response.status_code == 501:
        response_501 = Problem.from_dict(response.json())

        return response_501

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Job | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: SimulationRequest,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Job | Problem]:
    """Run an algorithm, or attack a mechanism, and measure

     Create a job. The same seed gives the same result, with any number of workers.

    The job's state, progress, events and result, its figure and its cancellation are at
    `/v1/jobs/{id}`. The
    response waits for the end of the job as long as `Prefer: wait` asks and the service grants. It is
    202 at once
    if too many requests already wait for jobs.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (SimulationRequest): `audit`: Request to attack a mechanism, or one client's message,
            and to derive lower bounds on ε at δ.

            Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the
            server, tells apart. For a
            message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.

            `membership`: Request for trainings with canaries, inserted records or clients, that
            membership attacks try to detect.

            An attacker guesses from the released models which canaries were in the data. Exactly one
            of `delta` and
            `log10_delta` is given.

            `preset`: An experiment by its name. Absent fields take the values of the experiment.

            `risk`: An algorithm, a problem, and how often to run it.

            Noise is given in the run, or else left to be calibrated to epsilon with one of delta and
            log10_delta. The run fixes
            the relation, unit and observer of the guarantee, and the guarantee of the result names
            them.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Job | Problem]
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
    body: SimulationRequest,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Job | Problem | None:
    """Run an algorithm, or attack a mechanism, and measure

     Create a job. The same seed gives the same result, with any number of workers.

    The job's state, progress, events and result, its figure and its cancellation are at
    `/v1/jobs/{id}`. The
    response waits for the end of the job as long as `Prefer: wait` asks and the service grants. It is
    202 at once
    if too many requests already wait for jobs.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (SimulationRequest): `audit`: Request to attack a mechanism, or one client's message,
            and to derive lower bounds on ε at δ.

            Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the
            server, tells apart. For a
            message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.

            `membership`: Request for trainings with canaries, inserted records or clients, that
            membership attacks try to detect.

            An attacker guesses from the released models which canaries were in the data. Exactly one
            of `delta` and
            `log10_delta` is given.

            `preset`: An experiment by its name. Absent fields take the values of the experiment.

            `risk`: An algorithm, a problem, and how often to run it.

            Noise is given in the run, or else left to be calibrated to epsilon with one of delta and
            log10_delta. The run fixes
            the relation, unit and observer of the guarantee, and the guarantee of the result names
            them.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Job | Problem
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
    body: SimulationRequest,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Job | Problem]:
    """Run an algorithm, or attack a mechanism, and measure

     Create a job. The same seed gives the same result, with any number of workers.

    The job's state, progress, events and result, its figure and its cancellation are at
    `/v1/jobs/{id}`. The
    response waits for the end of the job as long as `Prefer: wait` asks and the service grants. It is
    202 at once
    if too many requests already wait for jobs.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (SimulationRequest): `audit`: Request to attack a mechanism, or one client's message,
            and to derive lower bounds on ε at δ.

            Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the
            server, tells apart. For a
            message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.

            `membership`: Request for trainings with canaries, inserted records or clients, that
            membership attacks try to detect.

            An attacker guesses from the released models which canaries were in the data. Exactly one
            of `delta` and
            `log10_delta` is given.

            `preset`: An experiment by its name. Absent fields take the values of the experiment.

            `risk`: An algorithm, a problem, and how often to run it.

            Noise is given in the run, or else left to be calibrated to epsilon with one of delta and
            log10_delta. The run fixes
            the relation, unit and observer of the guarantee, and the guarantee of the result names
            them.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Job | Problem]
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
    body: SimulationRequest,
    prefer: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Job | Problem | None:
    """Run an algorithm, or attack a mechanism, and measure

     Create a job. The same seed gives the same result, with any number of workers.

    The job's state, progress, events and result, its figure and its cancellation are at
    `/v1/jobs/{id}`. The
    response waits for the end of the job as long as `Prefer: wait` asks and the service grants. It is
    202 at once
    if too many requests already wait for jobs.

    Args:
        prefer (str | Unset):
        idempotency_key (str | Unset):
        body (SimulationRequest): `audit`: Request to attack a mechanism, or one client's message,
            and to derive lower bounds on ε at δ.

            Either `spec` gives the mechanism, or `message` gives two updates that the attacker, the
            server, tells apart. For a
            message the relation is replace-one. Exactly one of `delta` and `log10_delta` is given.

            `membership`: Request for trainings with canaries, inserted records or clients, that
            membership attacks try to detect.

            An attacker guesses from the released models which canaries were in the data. Exactly one
            of `delta` and
            `log10_delta` is given.

            `preset`: An experiment by its name. Absent fields take the values of the experiment.

            `risk`: An algorithm, a problem, and how often to run it.

            Noise is given in the run, or else left to be calibrated to epsilon with one of delta and
            log10_delta. The run fixes
            the relation, unit and observer of the guarantee, and the guarantee of the result names
            them.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Job | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
            prefer=prefer,
            idempotency_key=idempotency_key,
        )
    ).parsed
