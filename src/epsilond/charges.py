"""What a ledger is charged for a run that a calibration answers: the spec that the run releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Repeated, TruncatedDiscreteLaplace
from epsilond.questions.calibrate import calibrator

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.calibrators.answer import Calibration
    from epsilond.calibrators.norm_fedavg.calibrator import NormFedavgParameters
    from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem


def spec_of(answer: Calibration) -> Spec:
    """Of one protected unit, under the relation, unit and observer of the answer's guarantee.

    It is what the calibrator says that its solution releases; the solution is found again, to the same figures.

    Raises:
        InvalidInput: client groups release different things: account for each of them.
    """
    if answer.algorithm == "norm-fedavg":
        return _on_the_grid(answer.problem, answer.parameters)
    chosen = calibrator(answer.algorithm)
    specs = chosen.specs(chosen.certify(answer.problem))
    if len(specs) > 1:
        raise InvalidInput.at("/client_groups", "release different things: account for each group by its own spec")
    return specs[0]


def _on_the_grid(problem: NormFedavgProblem, parameters: NormFedavgParameters) -> Spec:
    """With distances that rounding never exceeds: a ledger has no place for the probability that it does."""
    message = TruncatedDiscreteLaplace(
        noise_levels=parameters.noise_levels,
        decay_rate=parameters.decay_rate,
        dimension=problem.dimension,
        l1_sensitivity=problem.movement.l1,
        linf_sensitivity=problem.movement.linf,
        l2_sensitivity=problem.movement.l2,
    )
    return Repeated(times=problem.rounds, mechanism=problem.round_of(message))
