"""Send requests to a running service, one after another and concurrently.

pip install ./clients/python
python examples/http_client.py http://127.0.0.1:8000 [API-KEY]
"""

from __future__ import annotations

import asyncio
import sys

from epsilond_answers import Refused, answer_of, answer_of_async, connect
from epsilond_client import AuthenticatedClient
from epsilond_client.api.accounts import account
from epsilond_client.api.calibrations import calibrate_gaussian
from epsilond_client.models import (
    AccountAnswer,
    AccountProblem,
    Calibration,
    GaussianProblem,
    Observer,
    Query,
    Relation,
    Sampling,
    SolveFor,
    Spec,
    SpecKind,
    SpecSampling,
    Unit,
)


def problem(epsilon: float) -> GaussianProblem:
    """Return the request for the smallest noise of 1000 steps, each on a Poisson batch at rate 0.01."""
    return GaussianProblem(
        solve_for=SolveFor.NOISE_MULTIPLIER,
        relation=Relation.ADD_OR_REMOVE_ONE,
        unit=Unit.RECORD,
        observer=Observer.RELEASED_MODELS,
        sampling=Sampling.POISSON,
        rate=0.01,
        rounds=1000,
        epsilon=epsilon,
        delta=1e-6,
    )


def calibrate(client: AuthenticatedClient, epsilon: float) -> Calibration:
    """Return the calibration for an ε."""
    response = calibrate_gaussian.sync_detailed(client=client, body=problem(epsilon))
    return answer_of(client, response, Calibration)


def send_one_after_another(client: AuthenticatedClient) -> None:
    """Print the noise for ε = 1, and the ε of half of the run with this noise."""
    noise = calibrate(client, 1.0).parameters.noise_multiplier
    print(f"for ε = 1 run with noise multiplier {noise:.4f}")

    gaussian = Spec(kind=SpecKind.GAUSSIAN, noise_multiplier=noise)
    step = Spec(kind=SpecKind.SUBSAMPLED, sampling=SpecSampling.POISSON, rate=0.01, mechanism=gaussian)
    body = AccountProblem(
        spec=Spec(kind=SpecKind.REPEATED, times=500, mechanism=step),
        relation=Relation.ADD_OR_REMOVE_ONE,
        unit=Unit.RECORD,
        observer=Observer.RELEASED_MODELS,
        query=Query(delta=1e-6),
    )
    answer = answer_of(client, account.sync_detailed(client=client, body=body), AccountAnswer)
    assert answer.guarantee.epsilon
    print(f"after half of it, ε is within [{answer.guarantee.epsilon.lower}, {answer.guarantee.epsilon.upper}]")

    try:
        calibrate(client, -1.0)
    except Refused as refused:
        print(f"refused: {refused}")


async def send_concurrently(url: str, api_key: str | None) -> None:
    """Print the noise for several ε."""
    targets = [0.5, 1.0, 2.0, 4.0]
    async with connect(url, api_key) as client:
        requests = (calibrate_gaussian.asyncio_detailed(client=client, body=problem(epsilon)) for epsilon in targets)
        for epsilon, response in zip(targets, await asyncio.gather(*requests), strict=True):
            calibration = await answer_of_async(client, response, Calibration)
            print(f"ε = {epsilon}: noise multiplier {calibration.parameters.noise_multiplier:.4f}")


if __name__ == "__main__":
    service = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    key = sys.argv[2] if len(sys.argv) > 2 else None
    with connect(service, key) as connected:
        send_one_after_another(connected)
    asyncio.run(send_concurrently(service, key))
