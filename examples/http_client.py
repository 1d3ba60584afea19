"""Ask a running service, one question after another and all at once.

./scripts/generate-clients
pip install ./clients/python
python examples/http_client.py http://127.0.0.1:8000
"""

from __future__ import annotations

import asyncio
import sys

from epsilond_client import AsyncClient, Client, Refused, operations
from epsilond_client.models import (
    AccountProblem,
    Gaussian,
    GaussianCalibration,
    GaussianProblem,
    Query,
    Repeated,
    Subsampled,
)


def problem(epsilon: float) -> GaussianProblem:
    """The least noise for 1000 steps on batches of one record in a hundred."""
    return GaussianProblem(
        solve_for="noise_multiplier",
        relation="add-or-remove-one",
        sampling="poisson",
        rate=0.01,
        rounds=1000,
        epsilon=epsilon,
        delta=1e-6,
    )


def noise_multiplier(answer: GaussianCalibration) -> float:
    """The one that was solved for."""
    found = answer.parameters.noise_multiplier
    assert isinstance(found, float)
    return found


def one_after_another(url: str) -> None:
    """What noise to run with; then what ε that noise has had after half of the run."""
    with Client(url) as client:
        noise = noise_multiplier(client.ask(operations.calibrate_gaussian(problem(1.0))))
        print(f"for ε = 1 run with noise multiplier {noise:.4f}")

        step = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=noise))
        half = Repeated(times=500, mechanism=step)
        body = AccountProblem(spec=half, relation="add-or-remove-one", query=Query(delta=1e-6))
        spent = client.ask(operations.account(body)).guarantee.epsilon
        assert spent
        print(f"after half of it, ε is within [{spent.lower:.6f}, {spent.upper:.6f}]")

        try:
            client.ask(operations.calibrate_gaussian(problem(-1.0)))
        except Refused as refused:
            print(f"refused: {refused}")


async def all_at_once(url: str) -> None:
    """The same calibration at several ε."""
    targets = [0.5, 1.0, 2.0, 4.0]
    async with AsyncClient(url) as client:
        asked = (client.ask(operations.calibrate_gaussian(problem(epsilon))) for epsilon in targets)
        answers = await asyncio.gather(*asked)
    for epsilon, answer in zip(targets, answers, strict=True):
        print(f"ε = {epsilon}: noise multiplier {noise_multiplier(answer):.4f}")


if __name__ == "__main__":
    service = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
    one_after_another(service)
    asyncio.run(all_at_once(service))
