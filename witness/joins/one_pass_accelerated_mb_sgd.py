"""one-pass-accelerated-mb-sgd: its calibrator, and the bound on the risk of the population for the run's own stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.target import Target
from epsilond.calibrators.one_pass_accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.accelerated_mb_sgd import accelerated_fields, bound_for_stages, set_stages
from epsilond.witness.joins.client_groups import has_equal_weights
from epsilond.witness.joins.problem_fields import target_fields

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(
    problem: SimulatedProblem, run: OnePassAcceleratedMbSgdRun, target: Target
) -> tuple[OnePassAcceleratedMbSgdRun, Calibration]:
    """Calibrate the noise of a one-pass run to a target, and choose its stages unless it has its own.

    The noise is the smallest that is certified for one replaced record, against a server that sees all messages. A
    stage is a number of rounds with one weight of the proximal term.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise and stages, and the calibrator's answer with its certified guarantee.

    Raises:
        InvalidInput: neither the run nor the calibration has stages.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    constants = problem.constants
    gradient_std = heterogeneity = None
    is_identical = False
    # The statistics of gradients apply only if all clients' losses have the same weight. They are at most the Lipschitz
    # constant, because every gradient is.
    if has_equal_weights(run.client_groups):
        gradient_std = min(constants.gradient_std, constants.lipschitz)
        heterogeneity = min(constants.heterogeneity, constants.lipschitz)
        is_identical = constants.heterogeneity == 0.0
    calibration_problem = OnePassProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **accelerated_fields(problem, run),
        gradient_std=gradient_std,
        identically_distributed=is_identical,
        heterogeneity=heterogeneity,
    )
    answer: Calibration = CALIBRATOR.solve(calibration_problem)
    calibrated: OnePassAcceleratedMbSgdRun = set_stages(run, answer.parameters)
    return calibrated, answer


def bounds(problem: SimulatedProblem, run: OnePassAcceleratedMbSgdRun) -> tuple[PromisedBound, ...]:
    """Return the certified bound on the expected excess population risk of a one-pass run, at its noise and stages.

    The population risk is the expected loss of a new record. A stage is a number of rounds with one proximal weight.

    Args:
        problem: the simulated learning problem. No gradient exceeds its Lipschitz constant.
        run: the algorithm with its parameters and noise; it uses each record once.

    Returns:
        One bound, in the unit of the loss, with the theorem's conditions and whether each holds.
    """
    constants = problem.constants
    bound = bound_for_stages(
        problem,
        run,
        objective="population",
        gradient_std=min(constants.gradient_std, constants.lipschitz),
        heterogeneity=min(constants.heterogeneity, constants.lipschitz),
    )
    return (bound,)


JOIN = Join(algorithm="one-pass-accelerated-mb-sgd", calibrate=calibrate, bounds=bounds)
