"""local-sgd: the noise of mb-sgd for R · E rounds of one local batch each; no bound on its risk is known to us.

A client's noisy gradients are R · E releases of fresh batches, each a function of the model before it, which they and
the server's models determine. What the client sends is a function of them, so that their guarantee is its own.
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
from epsilond.witness.joins.mb_sgd import epsilon_of_batches, solved
from epsilond.witness.joins.settled import shape_of, target_fields

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(problem: SimulatedProblem, run: LocalSgdRun, target: Target) -> tuple[LocalSgdRun, Calibration]:
    """The smallest certified noise of every local step.

    Raises:
        NoCertificate: as the calibrator.
    """
    asked = MbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **shape_of(problem, run) | {"rounds": run.rounds * run.local_steps},
        diameter=problem.constants.diameter,
        strong_convexity=problem.constants.strong_convexity,
    )
    answer = solved(asked)
    return replace(run, noise_std=answer.parameters.noise_std), answer


def certified_epsilon(problem: SimulatedProblem, run: LocalSgdRun, log_delta: float) -> Interval:
    """Of the run's own noise, for each record of a client against a server that sees every message.

    Raises:
        NoCertificate: there is no noise.
    """
    return epsilon_of_batches(
        noise_multiplier=(run.noise_std or 0.0) * run.batch_size / problem.constants.lipschitz,
        sampling="without-replacement",
        batch_size=run.batch_size,
        samples_per_client=problem.samples_per_client,
        times=run.rounds * run.local_steps,
        log_delta=log_delta,
    )


def bounds(problem: SimulatedProblem, run: LocalSgdRun) -> tuple[PromisedBound, ...]:
    """None."""
    del problem, run
    return ()


JOIN = Join(
    algorithm="local-sgd",
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(0.8, 0.025),
)
