"""shuffled-mb-sgd: its own calibrator, and the bounds of mb-sgd, whose rounds it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibrators.problem import Target
from calibrators.shuffled_mb_sgd import CALIBRATOR
from calibrators.shuffled_mb_sgd_problem import ShuffledMbSgdProblem
from simulators.problem import Problem
from simulators.shuffled_mb_sgd import ShuffledMbSgdRun
from witness.join import Allowance, Join
from witness.joins.mb_sgd import bounds, with_parameters
from witness.joins.settled import shape_of, target_fields

if TYPE_CHECKING:
    from calibrators.answer import Calibration


def calibrate(problem: Problem, run: ShuffledMbSgdRun, target: Target) -> tuple[ShuffledMbSgdRun, Calibration]:
    """The smallest certified noise for the central target, and the step that goes with it unless the run has one.

    Raises:
        NoCertificate: as the calibrator.
    """
    asked = ShuffledMbSgdProblem(
        **target_fields(target),
        **shape_of(problem, run),
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
    )
    answer: Calibration = CALIBRATOR.solve(asked)
    calibrated: ShuffledMbSgdRun = with_parameters(run, answer.parameters)
    return calibrated, answer


JOIN = Join(algorithm="shuffled-mb-sgd", calibrate=calibrate, bounds=bounds, allowance=Allowance(7.0, 0.01))
