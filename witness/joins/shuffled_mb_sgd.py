"""shuffled-mb-sgd: its own calibrator, and the bounds of mb-sgd, whose rounds it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.target import Target
from epsilond.calibrators.shuffled_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join
from epsilond.witness.joins.mb_sgd import bounds, with_parameters
from epsilond.witness.joins.settled import shape_of, target_fields

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(problem: SimulatedProblem, run: ShuffledMbSgdRun, target: Target) -> tuple[ShuffledMbSgdRun, Calibration]:
    """The smallest certified noise for the central target, and the step that goes with it unless the run has one.

    Raises:
        NoCertificate: as the calibrator.
    """
    asked = ShuffledMbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="shuffled-server",
        **shape_of(problem, run),
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
    )
    answer: Calibration = CALIBRATOR.solve(asked)
    calibrated: ShuffledMbSgdRun = with_parameters(run, answer.parameters)
    return calibrated, answer


JOIN = Join(algorithm="shuffled-mb-sgd", calibrate=calibrate, bounds=bounds, allowance=Allowance(7.0, 0.01))
