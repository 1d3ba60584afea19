"""local-sgd: the noise of mb-sgd for R · E rounds of one local batch each. No bound on its risk is known.

R is the number of rounds, and E the number of local steps in a round. A client's noisy gradients are R · E releases on
fresh batches. Each is a function of the preceding model, which is determined by the earlier gradients and the server's
models. The message of the client is a function of these gradients and has their guarantee by post-processing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.target import Target
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem
from epsilond.simulators.algorithms.local_sgd import LocalSgdRun
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, PromisedBound
from epsilond.witness.joins.mb_sgd import account_batches, solve
from epsilond.witness.joins.problem_fields import run_fields, target_fields

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(problem: SimulatedProblem, run: LocalSgdRun, target: Target) -> tuple[LocalSgdRun, Calibration]:
    """Give a run of local SGD the smallest noise that is certified to meet a target.

    Every local step adds this noise to its gradient, and counts as a release. The guarantee is for one replaced record,
    against a server that sees all messages.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with the calibrated noise; and the calibrator's answer, with the certified guarantee.

    Raises:
        NoCertificate: the calibrator certifies no noise for the target.
    """
    calibration_problem = MbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **run_fields(problem, run) | {"rounds": run.rounds * run.local_steps},
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
    )
    answer = solve(calibration_problem)
    return replace(run, noise_std=answer.parameters.noise_std), answer


def certified_epsilon(problem: SimulatedProblem, run: LocalSgdRun, log_delta: float) -> Interval:
    """Return certified bounds on ε at δ for the noise of a run of local SGD.

    The ε is that of one replaced record against a server that sees all messages. Every local step, on a fresh batch,
    counts as a release.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters and noise.
        log_delta: natural logarithm of δ.

    Returns:
        A lower and an upper bound on ε, in nats.

    Raises:
        NoCertificate: the run has no noise.
    """
    noise_std = run.noise_std or 0.0
    # The noise multiplier is the noise of a sum of gradients over the bound on the norm of one gradient.
    noise_multiplier = noise_std * run.batch_size / problem.constants.lipschitz
    return account_batches(
        noise_multiplier=noise_multiplier,
        sampling="without-replacement",
        batch_size=run.batch_size,
        samples_per_client=problem.samples_per_client,
        times=run.rounds * run.local_steps,
        log_delta=log_delta,
    )


def bounds(problem: SimulatedProblem, run: LocalSgdRun) -> tuple[PromisedBound, ...]:
    """Return no bounds, because none is known on the excess risk of this algorithm."""
    del problem, run
    return ()


JOIN = Join(
    algorithm="local-sgd",
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(0.8, 0.025),
)
