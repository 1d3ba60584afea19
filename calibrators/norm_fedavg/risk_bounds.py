"""Risk bounds of norm-fedavg: the gradient norm by equation (39) and Theorem 2 of Das et al., at the run's noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Condition, Sides
from epsilond.accountants.theorems.papers.das.noise_law import update_error
from epsilond.accountants.theorems.risk.das.convergence import (
    ASSUMPTIONS,
    EQUATION_39,
    THEOREM_2_UTILITY,
    printed_ratio,
)
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.norm_fedavg.training import training_of
from epsilond.calibrators.risk.baseline import Start
from epsilond.calibrators.risk.given_noise import (
    GivenNoiseRiskPart,
    NoisyRun,
    explicit_upper,
    noise_quantity,
    run_at_certified_noise,
)
from epsilond.calibrators.risk.part import Bounds

if TYPE_CHECKING:
    from epsilond.calibrators.risk.answer import UpperBound

RATIO_ROUNDING = 2.0**-50
"""Largest relative difference of two step ratios that counts as rounding."""
EQUAL_OPTIMA = Condition("equal-optima", "all clients' losses have the same minimiser, as client_optimum_distance is 0")


@request
class NormFedavgRiskProblem(NormFedavgProblem):
    """A run of norm-fedavg. `noise_std` is that of a message's coordinate, in units of the normalised update."""

    noise_std: Annotated[float | None, noise_quantity("on one message, in units of the normalised update")] = None


def given_run(problem: NormFedavgRiskProblem) -> NoisyRun | None:
    """Return the run of the request, or None if it gives no noise.

    Args:
        problem: the request. Its `noise_std` is that of a message's coordinate, in units of the normalised update.
    """
    if problem.noise_std is None:
        return None
    return NoisyRun(noise_std=problem.noise_std, rounds=problem.rounds)


def bounds(problem: NormFedavgRiskProblem, run: NoisyRun) -> Bounds:
    """Bound the mean norm of the gradient over the rounds of a run.

    No theorem bounds the excess risk, because the losses are only quasar-convex about the clients' own minimisers.

    Args:
        problem: the request, with the quantization levels and the constants of the losses.
        run: the standard deviation of a message's noise, in units of the normalised update.

    Returns:
        Two bounds, by equation (39) and by Theorem 2 of Das et al. They come with the bound for the initial model, and
        with the conditions that the caller declares to hold.
    """
    levels = problem.quantization_levels
    # The function below measures noise in steps of the grid, which are 1/levels long.
    compression = update_error(
        dimension=problem.dimension,
        quantization_levels=levels,
        variance_in_steps=(run.noise_std * levels) ** 2,
    )
    training = training_of(problem, compression)
    terms = {name.removesuffix("_term"): value for name, value in training.steps.items() if name.endswith("_term")}
    declared: tuple[Condition, ...] = ASSUMPTIONS
    if problem.client_optimum_distance == 0.0:
        declared = (*ASSUMPTIONS, EQUAL_OPTIMA)
    return Bounds(
        upper=(explicit_upper(EQUATION_39, terms), _theorem_2(problem, compression)),
        start=Start(objective="empirical", baseline=training.convergence.baseline),
        declared=declared,
        step_size=training.steps["local_step_size"],
    )


def _theorem_2(problem: NormFedavgRiskProblem, compression: float) -> UpperBound:
    """Evaluate the bound on gradient norms of Theorem 2 of Das et al., with its conditions.

    The bound holds only for the local steps and step sizes that the theorem prescribes.

    Args:
        problem: the request, with the local steps, the step sizes and the constants of the losses.
        compression: mean squared error γ of one message.

    Returns:
        The bound with its terms. One condition compares the step sizes with those that the theorem prescribes.
    """
    evaluation = TheoremAtInputs.of(
        THEOREM_2_UTILITY,
        problem,
        participants=problem.reporting,
        compression=compression,
        local_steps=problem.steps,
        step_ratio=problem.ratio,
    )

    prescribed = printed_ratio(
        smoothness=problem.smoothness,
        quasar_convexity=problem.quasar_convexity,
        initial_distance=problem.initial_distance,
    )
    has_prescribed = Sides.at_most(abs(problem.ratio - prescribed), RATIO_ROUNDING * prescribed).holds
    statement = "the ratio of the step sizes is 4L‖w₀ − w*‖/ζ, as in Theorem 2"
    ratio_condition = ConditionResult("printed-step-ratio", statement, has_prescribed, problem.ratio, prescribed)

    terms = {name: evaluation.outputs[f"{name}_term"] for name in ("start", "client_optima")}
    return explicit_upper(THEOREM_2_UTILITY, terms, conditions=(*evaluation.conditions(), ratio_condition))


RISK = GivenNoiseRiskPart(
    title="Gradient norm of DP-NormFedAvg",
    summary=(
        "Upper bounds with explicit constants on the mean gradient norm over the rounds, at the run's "
        "noise and step ratio. No theorem bounds the excess risk (Das et al., equation (39) and "
        "Theorem 2)."
    ),
    problem=NormFedavgRiskProblem,
    theorems=(EQUATION_39.id, THEOREM_2_UTILITY.id),
    example_fields={"noise_std": 0.02},
    measure="gradient-norm",
    given_run=given_run,
    certified_run=run_at_certified_noise,
    bounds=bounds,
)
