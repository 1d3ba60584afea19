"""fedavg: Theorem 4 of Das et al. The algorithm adds no noise, so that nothing can be calibrated."""

from __future__ import annotations

import math

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.das.convergence import THEOREM_4
from epsilond.accountants.theorems.risk.das.fedavg import FedAvgInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.simulators.algorithms.fedavg import FedavgRun, local_step_size
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Join, PromisedBound
from epsilond.witness.joins.das_setting import DasSetting

STEP_TOLERANCE = 1e-9
"""Relative tolerance for equal step sizes; it allows for rounding."""
QUASAR_CONVEXITY = 1.0
"""Quasar-convexity ζ of the simulated losses, which are convex."""


def calibrate(problem: SimulatedProblem, run: FedavgRun, target: Target) -> tuple[FedavgRun, Calibration]:
    """Reject every privacy target, because FedAvg adds no noise and is not differentially private.

    Args:
        problem: not used.
        run: not used.
        target: not used.

    Returns:
        Nothing, because every call raises an error.

    Raises:
        InvalidInput: always.
    """
    del problem, run, target
    raise InvalidInput.at("/epsilon", "FedAvg adds no noise: no epsilon is met", allowed="absent")


def bounds(problem: SimulatedProblem, run: FedavgRun) -> tuple[PromisedBound, ...]:
    """Return the bound of Theorem 4 of Das et al. on the least squared gradient norm over all rounds of FedAvg.

    The distances of the clients' minimisers from the common one enter the bound by their root mean square.

    Args:
        problem: the simulated learning problem, with convex and smooth losses.
        run: the run; the theorem prescribes its local step size η = ζ/(c̄LE). Here ζ is the quasar-convexity, L the
            smoothness and E the number of local steps. c̄ depends on the numbers of clients and participants.

    Returns:
        The bound with its conditions. Empty if the run starts at the minimiser: the theorem's inputs need a positive
        distance.
    """
    setting = DasSetting.of(problem)
    if setting.initial_distance == 0.0:
        return ()
    inputs = FedAvgInputs(
        smoothness=setting.smoothness,
        quasar_convexity=QUASAR_CONVEXITY,
        initial_distance=setting.initial_distance,
        client_optimum_distance=setting.client_optimum_rms,
        rounds=run.rounds,
        local_steps=run.local_steps,
        clients=problem.clients,
        participants=run.participants,
    )
    evaluation = THEOREM_4.evaluate(inputs)

    # Simulations always draw participants uniformly. The local step size must be that of the theorem.
    sampling = ConditionResult("uniform-clients", "participants are drawn uniformly without replacement", Verdict.YES)
    step = local_step_size(problem, run)
    prescribed_step = float(evaluation.outputs["local_step_size"])
    is_prescribed = Verdict.of(math.isclose(step, prescribed_step, rel_tol=STEP_TOLERANCE))
    local_step = ConditionResult("local-step", "η = ζ/(c̄LE)", is_prescribed, step, prescribed_step)
    bound = PromisedBound(
        theorem=THEOREM_4.id,
        status=evaluation.status,
        value=float(evaluation.outputs["squared_gradient_norm"]),
        quantity="least_squared_gradient_norm",
        constant="explicit",
        conditions=(*setting.conditions, sampling, local_step),
    )
    return (bound,)


JOIN = Join(algorithm="fedavg", noise=(), calibrate=calibrate, bounds=bounds)
