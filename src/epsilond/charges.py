"""The spec that a ledger is charged for a calibrated run."""

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
    """Return the spec (description for privacy accounting) of a calibrated run.

    It is computed by calibrating again, which gives the same figures. Use it with the neighbouring relation, the unit
    and the observer of the answer's guarantee.

    Args:
        answer: the calibration.

    Raises:
        InvalidInput: the client groups of the calibration have different specs.
    """
    if answer.algorithm == "norm-fedavg":
        return _norm_fedavg_spec(answer.problem, answer.parameters)
    chosen = calibrator(answer.algorithm)
    specs = chosen.specs(chosen.certify(answer.problem))
    if len(specs) > 1:
        raise InvalidInput.at("/client_groups", "release different things: account for each group by its own spec")
    return specs[0]


def _norm_fedavg_spec(problem: NormFedavgProblem, parameters: NormFedavgParameters) -> Spec:
    """Return the spec of a run of norm-fedavg, with sensitivities that hold in every case.

    The calibration may use smaller sensitivities, which random rounding exceeds with a small probability. A ledger
    cannot charge such a probability.
    """
    message = TruncatedDiscreteLaplace(
        noise_levels=parameters.noise_levels,
        decay_rate=parameters.decay_rate,
        dimension=problem.dimension,
        l1_sensitivity=problem.movement.l1,
        linf_sensitivity=problem.movement.linf,
        l2_sensitivity=problem.movement.l2,
    )
    return Repeated(times=problem.rounds, mechanism=problem.round_of(message))
