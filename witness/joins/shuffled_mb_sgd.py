"""shuffled-mb-sgd: its own calibrator, and the bounds of mb-sgd, because it runs the same rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.target import Target
from epsilond.calibrators.shuffled_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.shuffled_mb_sgd.problem import ShuffledMbSgdProblem
from epsilond.simulators.algorithms.shuffled_mb_sgd import ShuffledMbSgdRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join
from epsilond.witness.joins.mb_sgd import bounds, set_parameters
from epsilond.witness.joins.problem_fields import run_fields, target_fields

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(problem: SimulatedProblem, run: ShuffledMbSgdRun, target: Target) -> tuple[ShuffledMbSgdRun, Calibration]:
    """Give a run the least noise that is certified to meet a target behind a shuffler, and a step size if it has none.

    The target is for one replaced record, against a server that gets the clients' messages in random order.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise and step size. Then the calibrator's answer, with its certified guarantee.

    Raises:
        InvalidInput: neither the run nor the calibration has a step size.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    calibration_problem = ShuffledMbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="shuffled-server",
        **run_fields(problem, run),
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
    )
    answer: Calibration = CALIBRATOR.solve(calibration_problem)
    calibrated: ShuffledMbSgdRun = set_parameters(run, answer.parameters)
    return calibrated, answer


JOIN = Join(algorithm="shuffled-mb-sgd", calibrate=calibrate, bounds=bounds, allowance=Allowance(7.0, 0.01))
