"""FedAvg beside Theorem 4 of Das et al. It has no noise to calibrate."""

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
"""Relative difference of step sizes that are the same."""


def calibrate(problem: SimulatedProblem, run: FedavgRun, target: Target) -> tuple[FedavgRun, Calibration]:
    """Never: FedAvg is private to nobody.

    Raises:
        InvalidInput: always.
    """
    del problem, run, target
    raise InvalidInput.at("/epsilon", "FedAvg adds no noise: no epsilon is met", allowed="absent")


def bounds(problem: SimulatedProblem, run: FedavgRun) -> tuple[PromisedBound, ...]:
    """Theorem 4, on the least squared gradient norm over rounds; the clients' distances enter by their mean square."""
    setting = DasSetting.of(problem)
    if setting.initial_distance == 0.0:
        return ()
    found = THEOREM_4.evaluate(
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
    left, right = local_step_size(problem, run), float(found.outputs["local_step_size"])
    bound = PromisedBound(
        theorem=THEOREM_4.id,
        status=found.status,
        value=float(found.outputs["squared_gradient_norm"]),
        quantity="least_squared_gradient_norm",
        constant="explicit",
        conditions=(
            *setting.conditions,
            ConditionResult("uniform-clients", "participants are drawn uniformly without replacement", Verdict.YES),
            ConditionResult(
                "local-step", "η = ζ/(c̄LE)", Verdict.of(math.isclose(left, right, rel_tol=SAME)), left, right
            ),
        ),
    )
    return (bound,)


JOIN = Join(algorithm="fedavg", noise=(), calibrate=calibrate, bounds=bounds)
