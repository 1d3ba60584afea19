"""The list of algorithms that can be simulated, and the union of their runs."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypeAliasType

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Tagged
from epsilond.simulators.algorithms import (
    accelerated_mb_sgd,
    fedavg,
    grid_fedavg,
    local_sgd,
    mb_sgd,
    norm_fedavg,
    one_pass_accelerated_mb_sgd,
    projected_sgd,
    shuffled_mb_sgd,
)
from epsilond.simulators.algorithms.accelerated_mb_sgd import AcceleratedMbSgdRun
from epsilond.simulators.algorithms.algorithm import AnyRun, SimulatedAlgorithm
from epsilond.simulators.algorithms.fedavg import FedavgRun
from epsilond.simulators.algorithms.grid_fedavg import GridFedavgRun
from epsilond.simulators.algorithms.local_sgd import LocalSgdRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun
from epsilond.simulators.algorithms.mu2_sgd import mu2_sgd
from epsilond.simulators.algorithms.mu2_sgd.run import Mu2SgdRun
from epsilond.simulators.algorithms.norm_fedavg import NormFedavgRun
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.algorithms.ppsgd import ppsgd
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun
from epsilond.simulators.algorithms.projected_sgd import ProjectedSgdRun
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun

ALGORITHMS: tuple[SimulatedAlgorithm, ...] = (
    mb_sgd.ALGORITHM,
    one_pass_accelerated_mb_sgd.ALGORITHM,
    accelerated_mb_sgd.ALGORITHM,
    shuffled_mb_sgd.ALGORITHM,
    norm_fedavg.ALGORITHM,
    fedavg.ALGORITHM,
    grid_fedavg.ALGORITHM,
    local_sgd.ALGORITHM,
    projected_sgd.ALGORITHM,
    ppsgd.ALGORITHM,
    mu2_sgd.ALGORITHM,
)
"""Every algorithm that can be simulated."""

Run = TypeAliasType(
    "Run",
    Annotated[
        MbSgdRun
        | OnePassAcceleratedMbSgdRun
        | AcceleratedMbSgdRun
        | ShuffledMbSgdRun
        | NormFedavgRun
        | FedavgRun
        | GridFedavgRun
        | LocalSgdRun
        | ProjectedSgdRun
        | PpsgdRun
        | Mu2SgdRun,
        Tagged("algorithm"),
    ],
)
"""Union of all runs, discriminated by the field `algorithm`."""


def algorithm_of(run: AnyRun) -> SimulatedAlgorithm:
    """Return the algorithm of a simulated run, which is determined by the class of the run's parameters.

    Args:
        run: parameters of a simulated run.

    Raises:
        InvalidInput: no algorithm has runs of this class.
    """
    for algorithm in ALGORITHMS:
        if isinstance(run, algorithm.run):
            return algorithm
    names = ", ".join(algorithm.name for algorithm in ALGORITHMS)
    raise InvalidInput.at("/run/algorithm", "there is no such algorithm", allowed=names)
