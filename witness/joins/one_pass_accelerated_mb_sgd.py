"""one-pass-accelerated-mb-sgd: its calibrator, and the explicit bound of the run's own stages on the population."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.target import Target
from epsilond.calibrators.one_pass_accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.one_pass_accelerated_mb_sgd.problem import OnePassProblem
from epsilond.simulators.algorithms.one_pass_accelerated_mb_sgd import OnePassAcceleratedMbSgdRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.accelerated_mb_sgd import accelerated_shape, of_stages, with_stages
from epsilond.witness.joins.settled import target_fields
from epsilond.witness.joins.unlike import weighed_alike

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(
    problem: SimulatedProblem, run: OnePassAcceleratedMbSgdRun, target: Target
) -> tuple[OnePassAcceleratedMbSgdRun, Calibration]:
    """The smallest certified noise, and the stages that go with it unless the run has its own.

    Raises:
        NoCertificate: as the calibrator.
    """
    known, alike = problem.constants, weighed_alike(run.client_groups)
    asked = OnePassProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **accelerated_shape(problem, run),
        gradient_std=min(known.gradient_std, known.lipschitz) if alike else None,
        identically_distributed=alike and known.heterogeneity == 0.0,
        heterogeneity=min(known.heterogeneity, known.lipschitz) if alike else None,
    )
    answer: Calibration = CALIBRATOR.solve(asked)
    calibrated: OnePassAcceleratedMbSgdRun = with_stages(run, answer.parameters)
    return calibrated, answer


def bounds(problem: SimulatedProblem, run: OnePassAcceleratedMbSgdRun) -> tuple[PromisedBound, ...]:
    """`epsilond.accelerated-sgd-excess-risk` of the population, at the run's own σ and stages."""
    known = problem.constants
    return (
        of_stages(
            problem,
            run,
            objective="population",
            gradient_std=min(known.gradient_std, known.lipschitz),
            heterogeneity=min(known.heterogeneity, known.lipschitz),
        ),
    )


JOIN = Join(algorithm="one-pass-accelerated-mb-sgd", calibrate=calibrate, bounds=bounds)
