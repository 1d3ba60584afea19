"""One-pass accelerated noisy mini-batch SGD: Algorithm 2 of Lowy and Razaviyayn on disjoint batches.

Every client partitions its records into R batches of K at random. Each record is in at most one report, so that the run
is a single release of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Quantity, request
from epsilond.simulators.algorithms.accelerated_mb_sgd import (
    AcceleratedShape,
    descend,
    reporting_of,
    work_of,
)
from epsilond.simulators.algorithms.algorithm import Curves, SimulatedAlgorithm
from epsilond.simulators.algorithms.reports import one_pass_rounds
from epsilond.simulators.federations.groups import without_noise
from epsilond.simulators.problems.kinds import PROBLEMS
from epsilond.simulators.problems.problem import SimulatedProblem


@request
class OnePassAcceleratedMbSgdRun(AcceleratedShape):
    """A run of Algorithm 2 of Lowy and Razaviyayn that uses each record at most once.

    Then `batch_size` · `rounds` is at most `samples_per_client`.
    """

    algorithm: Annotated[Literal["one-pass-accelerated-mb-sgd"], Quantity(description="name of the algorithm")] = (
        "one-pass-accelerated-mb-sgd"
    )


def rounds_of(problem: SimulatedProblem, run: OnePassAcceleratedMbSgdRun) -> int:
    """Return the number of rounds R, after checking that one pass over the records is enough for them.

    Args:
        problem: learning problem, with the number n of records of a client.
        run: the run, with R rounds and batches of `batch_size` records.

    Returns:
        The number R.

    Raises:
        InvalidInput: the run's groups do not fit the problem, or a client has fewer than R times `batch_size` records.
    """
    samples_per_client = problem.samples_per_client
    # Sizes and batches of each client; None if all clients are equal.
    client_arrays = reporting_of(problem, run).client_arrays
    if client_arrays is not None and np.any(client_arrays.batches * run.rounds > client_arrays.sizes):
        raise InvalidInput.at("/rounds", "times batch_size cannot exceed samples_per_client in any group")
    if client_arrays is None and run.rounds * run.batch_size > samples_per_client:
        message = "times batch_size cannot exceed samples_per_client"
        raise InvalidInput.at("/rounds", message, allowed=f"≤ {samples_per_client}")
    return run.rounds


def simulate(
    problem: SimulatedProblem,
    run: OnePassAcceleratedMbSgdRun,
    generators: Sequence[np.random.Generator],
    rounds: tuple[int, ...],
) -> Curves:
    """Run Algorithm 2 of Lowy and Razaviyayn with disjoint batches, so that no record is used twice.

    Args:
        problem: learning problem.
        run: parameters of the run.
        generators: one per repetition.
        rounds: rounds after which the excess risk is measured.

    Returns:
        The excess risk after the measured rounds, with the diagnostics that `accelerated_mb_sgd.descend` lists.

    Raises:
        InvalidInput: the noise or the stages are missing, or the run does not fit the problem.
    """
    rounds_of(problem, run)  # raises if one pass is not enough
    return descend(problem, run, generators, rounds, reports=one_pass_rounds)


def alternatives(run: OnePassAcceleratedMbSgdRun) -> Mapping[str, OnePassAcceleratedMbSgdRun]:
    """Return the run without noise, on the same batches and with the same stages, by the name `non-private`.

    Args:
        run: the private run.
    """
    return {"non-private": without_noise(run)}


ALGORITHM = SimulatedAlgorithm(
    name="one-pass-accelerated-mb-sgd",
    title="Accelerated noisy mini-batch SGD in one pass",
    run=OnePassAcceleratedMbSgdRun,
    problems=PROBLEMS,
    simulate=simulate,
    rounds=rounds_of,
    work=work_of,
    alternatives=alternatives,
)
