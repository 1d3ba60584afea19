"""Theorem 2.1 of Lowy and Razaviyayn for a run of mini-batch SGD, at the step size that it prescribes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import THEOREM_2_1, SmoothInputs
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.mb_sgd import MbSgdShape, fading
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import PromisedBound
from epsilond.witness.joins.problem_fields import (
    run_fields,
    settle_conditions,
)

ANY_DELTA = 1e-5
"""δ for evaluating Theorem 2.1. Its risk depends on (ε, δ) only by σ, so that at every δ some ε gives the run's σ."""
LARGEST_EPSILON = 1e9
"""Largest ε for evaluating Theorem 2.1, the largest that its inputs accept."""
SAME = 1e-9
"""Relative tolerance for equal step sizes and weights; it allows for rounding."""


def printed_bound(problem: SimulatedProblem, run: MbSgdShape) -> Iterator[PromisedBound]:
    """Yield the corrected bound of Theorem 2.1 of Lowy and Razaviyayn on the excess risk for convex losses.

    The bound is 272 L D ν/√M, for the Lipschitz constant L, the diameter D and M participants. ν is the larger of the
    statistical and the privacy cost. The bound is for the step size that the theorem prescribes.

    Args:
        problem: the learning problem.
        run: parameters of the run.

    Yields:
        One bound, with the theorem's conditions and whether each holds. Nothing for the empirical risk, strongly convex
        losses, a random number of participants, quantised messages, or a run without noise.
    """
    if not run.noise_std or not _has_printed_bound(problem, run):
        return
    evaluation = THEOREM_2_1.evaluate(_printed_inputs(problem, run, run.noise_std), "corrected")

    # These conditions follow from the construction of the simulation. The theorem cannot check them on its inputs.
    known_verdicts = {
        "fresh-noise": Verdict.YES,
        "bounded-gradients": Verdict.YES,
        "loss": Verdict.YES,
        "identical-clients": Verdict.of(problem.constants.heterogeneity == 0.0),
        "domain": Verdict.YES,
        "averaged-output": Verdict.of(fading(problem, run) == 1.0),
        "hidden-constants": Verdict.YES,
    }

    # Conditions of the theorem's privacy guarantee do not affect its bound on the risk.
    privacy_conditions = ("epsilon-range", "minimal-batch-size")
    risk_conditions = [condition for condition in evaluation.conditions if condition.id not in privacy_conditions]
    has_fixed_size = Verdict.of(run.batches != "poisson")
    yield PromisedBound(
        theorem=THEOREM_2_1.id,
        status=Status(THEOREM_2_1.status),
        value=evaluation.outputs["excess_risk"],
        constant="explicit",
        conditions=(
            *settle_conditions(risk_conditions, known_verdicts),
            _check_prescribed_step(run.step_size or 0.0, evaluation.outputs["step_size"]),
            ConditionResult("sampling", "batches have a fixed size", has_fixed_size),
        ),
    )


def _has_printed_bound(problem: SimulatedProblem, run: MbSgdShape) -> bool:
    """Return whether Theorem 2.1 of Lowy and Razaviyayn is stated for the problem and the run, at any noise.

    It is stated for the risk of the population, losses that are convex but not strongly convex, a fixed number of
    participants, and unquantised messages.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters.

    Returns:
        True if all four are satisfied.
    """
    is_convex_risk = problem.objective == "population" and problem.constants.strong_convexity == 0.0
    return is_convex_risk and run.count_distribution is None and run.levels is None


def _check_prescribed_step(step: float, prescribed: float) -> ConditionResult:
    """Check whether the step size of a run is the one that Theorem 2.1 of Lowy and Razaviyayn prescribes.

    Args:
        step: step size of the run.
        prescribed: step size of the theorem.

    Returns:
        The condition with both step sizes; it holds if they are equal up to rounding.
    """
    is_prescribed = Verdict.of(math.isclose(step, prescribed, rel_tol=SAME))
    return ConditionResult("prescribed-step", "the step size is the one prescribed", is_prescribed, step, prescribed)


def _printed_inputs(problem: SimulatedProblem, run: MbSgdShape, noise_std: float) -> SmoothInputs:
    """Return inputs of Theorem 2.1 of Lowy and Razaviyayn for which its printed noise is the noise of the run.

    The printed noise is:

        σ = 16 L √(R log(2.5R/δ) log(2/δ)) / (nε),

    for the Lipschitz constant L, R rounds, and n records of a client. It is solved for ε at δ = `ANY_DELTA`. If that ε
    exceeds `LARGEST_EPSILON`, this limit is used. The printed noise then exceeds the run's noise. The bound is still
    valid, because it increases with the noise.

    Args:
        problem: the simulated learning problem.
        run: the run, with its rounds and batches.
        noise_std: σ of the run, above 0.

    Returns:
        The inputs, with ε, δ and the other parameters of the theorem.
    """
    constants = problem.constants
    logarithms = math.log(2.5 * run.rounds / ANY_DELTA) * math.log(2.0 / ANY_DELTA)
    numerator = 16.0 * constants.lipschitz * math.sqrt(run.rounds * logarithms)
    epsilon = numerator / (problem.samples_per_client * noise_std)

    fields = run_fields(problem, run)
    # Theorem 2.1 has the diameter in place of the initial distance.
    del fields["initial_distance"]
    return SmoothInputs(
        **fields,
        epsilon=min(epsilon, LARGEST_EPSILON),
        delta=ANY_DELTA,
        diameter=constants.diameter,
        sampling="with-replacement" if run.batches == "with-replacement" else "without-replacement",
    )
