"""fedavg: Theorem 4 of Das et al. The algorithm adds no noise, so that nothing can be calibrated."""

from __future__ import annotations

import math

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.das.convergence import THEOREM_4, FedAvgInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.simulators.algorithms.fedavg import FedavgRun, local_step_size
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.das_setting import DasSetting

SAME = 1e-9
"""Relative tolerance for equal step sizes; it allows for rounding."""


def calibrate(problem: SimulatedProblem, run: FedavgRun, target: Target) -> tuple[FedavgRun, Calibration]:
    """Reject every target: FedAvg adds no noise and has no differential privacy.

    Args:
        problem: not used.
        run: not used.
        target: not used.

    Raises:
        InvalidInput: always.
    """
    del problem, run, target
    raise InvalidInput.at("/epsilon", "FedAvg adds no noise: no epsilon is met", allowed="absent")


def bounds(problem: SimulatedProblem, run: FedavgRun) -> tuple[PromisedBound, ...]:
    """Return Theorem 4, a bound on the least squared gradient norm over rounds.

    The clients' distances enter by their root mean square.
    """
    setting = DasSetting.of(problem)
    if setting.initial_distance == 0.0:
        return ()
    evaluation = THEOREM_4.evaluate(
        FedAvgInputs(
            smoothness=setting.smoothness,
            quasar_convexity=1.0,
            initial_distance=setting.initial_distance,
            client_optimum_distance=setting.client_optimum_rms,
            rounds=run.rounds,
            local_steps=run.local_steps,
            clients=problem.clients,
            participants=run.participants,
        )
    )
    step, prescribed = local_step_size(problem, run), float(evaluation.outputs["local_step_size"])
    bound = PromisedBound(
        theorem=THEOREM_4.id,
        status=evaluation.status,
        value=float(evaluation.outputs["squared_gradient_norm"]),
        quantity="least_squared_gradient_norm",
        constant="explicit",
        conditions=(
            *setting.conditions,
            ConditionResult("uniform-clients", "participants are drawn uniformly without replacement", Verdict.YES),
            ConditionResult(
                "local-step", "η = ζ/(c̄LE)", Verdict.of(math.isclose(step, prescribed, rel_tol=SAME)), step, prescribed
            ),
        ),
    )
    return (bound,)


JOIN = Join(algorithm="fedavg", noise=(), calibrate=calibrate, bounds=bounds)
