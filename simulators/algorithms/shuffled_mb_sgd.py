"""Algorithm 1 of Lowy and Razaviyayn with a shuffler between clients and server.

The server takes the mean of a round's reports, which does not depend on their order. The model is therefore that of
`mb_sgd` at the same noise, and this simulation runs the rounds of `mb_sgd` without permuting reports. Only the privacy
guarantee differs, and with it the calibrated noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from epsilond.accountants.quantities import Quantity, request
from epsilond.simulators.algorithms.algorithm import SimulatedAlgorithm
from epsilond.simulators.algorithms.mb_sgd import MbSgdShape, rounds_of, simulate, work_of
from epsilond.simulators.problems.kinds import PROBLEMS


@request
class ShuffledMbSgdRun(MbSgdShape):
    """A run of Algorithm 1 of Lowy and Razaviyayn with batches that are drawn without replacement."""

    algorithm: Annotated[Literal["shuffled-mb-sgd"], Quantity(description="name of the algorithm")] = "shuffled-mb-sgd"


def alternatives(run: ShuffledMbSgdRun) -> Mapping[str, ShuffledMbSgdRun]:
    """Return the run without noise, on the same batches, by the name `non-private`."""
    return {"non-private": replace(run, noise_std=0.0)}


ALGORITHM = SimulatedAlgorithm(
    name="shuffled-mb-sgd",
    title="Noisy mini-batch SGD with a shuffler",
    run=ShuffledMbSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
)
