"""The parts of a risk answer that every algorithm shares: the explicit bound, lower bounds, reference rates, ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import GRADIENT_STD, LEARNING_RADIUS, NOISE_STD, STEP_SIZE, request
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import best_envelope, enveloped_excess_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.inputs import (
    COMPOSITIONALITY,
    ROUND_DELTA,
    ROUND_EPSILON,
    CentralEmpiricalInputs,
    CentralInputs,
    LocalEmpiricalInputs,
    LocalInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.rates import REFERENCE_RATES, ReferenceInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.statements import (
    CENTRAL_EMPIRICAL,
    CENTRAL_POPULATION,
    LOCAL_EMPIRICAL,
    LOCAL_POPULATION,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRisk,
    ExcessRiskProblem,
    best_step_size,
    excess_risk,
)
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import condition_answers, inputs_of
from epsilond.calibrators.mb_sgd.problem import PacedProblem
from epsilond.calibrators.risk.answer import (
    OBJECTIVE,
    TRUST,
    LowerBound,
    Objective,
    RatioAnswer,
    ReferenceAnswer,
    Trust,
    UpperBound,
)

BOUNDS: tuple[Theorem, ...] = (
    LOCAL_POPULATION,
    CENTRAL_POPULATION,
    LOCAL_EMPIRICAL,
    CENTRAL_EMPIRICAL,
    REFERENCE_RATES,
)
STEP_ROUNDING = 4 * UNIT_ROUNDOFF
"""Amount by which the product of step size, smoothness and weight may exceed 1: rounding of its three factors."""
LEAST_LOG10_DELTA, LEAST_DELTA = -300.0, 1e-300
"""Smallest δ of one report, by log10 and as a double: a smaller one would not be a normal double."""


@request
class RiskFields:
    """Fields of a request for risk bounds that are added to those of the run and its target.

    Absent fields have these values. `noise_std`: the smallest certified noise. `radius`: half the diameter.
    `round_epsilon` and `round_delta`: ε and δ of the target.
    """

    noise_std: Annotated[float | None, NOISE_STD] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    trust: Annotated[Trust | None, TRUST] = None
    problem: Annotated[Objective, OBJECTIVE] = "population"
    compositionality: Annotated[float, COMPOSITIONALITY] = 1.0
    round_epsilon: Annotated[float | None, ROUND_EPSILON] = None
    round_delta: Annotated[float | None, ROUND_DELTA] = None
    radius: Annotated[float | None, LEARNING_RADIUS] = None


@request
class SteppedRiskFields(RiskFields):
    """Fields of a request for risk bounds of a run with constant steps.

    If the step size is absent, it is the one that minimises the bound with explicit constants.
    """

    step_size: Annotated[float | None, STEP_SIZE] = None


def check_run(problem: RiskFields) -> None:
    """Check that a given noise comes with batch size and rounds, and that `gradient_std` is at most `lipschitz`.

    Args:
        problem: the request, which is also a `PacedProblem`.

    Raises:
        InvalidInput: noise_std is given without batch_size or rounds, or gradient_std exceeds lipschitz.
    """
    assert isinstance(problem, PacedProblem)
    if problem.noise_std is not None and (problem.batch_size is None or problem.rounds is None):
        raise InvalidInput(Fault("/noise_std", "needs batch_size and rounds: it is the noise of one run"))
    if problem.gradient_std is not None and problem.gradient_std > problem.lipschitz:
        raise InvalidInput(Fault("/gradient_std", "cannot exceed lipschitz", f"≤ {problem.lipschitz:g}"))


@dataclass(frozen=True, kw_only=True)
class ExplicitBound:
    """A bound on the excess risk with explicit constants, at one step size.

    Attributes:
        risk: the bound and its terms.
        step_size: step size η, given or the one that minimises the bound.
        envelope_smoothness: smoothness of the Moreau envelope that the run minimises in place of a loss that is not
            smooth; None for smooth losses.
    """

    risk: ExcessRisk
    step_size: float
    envelope_smoothness: float | None

    def answer(self, theorem: Theorem, smoothness: float, *, heaviest: float = 1.0) -> UpperBound:
        """Return the bound in the form of an answer, with the theorem's condition on the step size η evaluated.

        The condition is ηβ < 1 and, for smooth losses, also ηβh ≤ 1. β is the smoothness of the losses. If they are not
        smooth, the run minimises their Moreau envelope, and β is its smoothness. h is the largest weight of a loss.

        Args:
            theorem: the theorem of the bound.
            smoothness: smoothness of the losses; not used if the run minimises a Moreau envelope.
            heaviest: largest weight h of a client's loss, relative to the mean weight.

        Returns:
            The bound with its finite terms and the condition.
        """
        if self.envelope_smoothness is None:
            scaled_step = self.step_size * smoothness
            weighted_step = scaled_step * heaviest
        else:
            scaled_step = self.step_size * self.envelope_smoothness
            weighted_step = scaled_step
        # The tolerance allows for the rounding of the three factors.
        is_allowed = Verdict.of(scaled_step < 1.0 and weighted_step <= 1.0 + STEP_ROUNDING)
        # Some theorems have no condition on the step size.
        step_conditions = [condition for condition in theorem.conditions if condition.id == "step-size"]
        conditions = [
            ConditionResult(condition.id, condition.statement, is_allowed, left=weighted_step, right=1.0)
            for condition in step_conditions
        ]
        return UpperBound(
            theorem=theorem.id,
            reading="corrected",
            constant="explicit",
            value=self.risk.total,
            terms={name: value for name, value in self.risk.terms.items() if math.isfinite(value)},
            conditions=condition_answers(conditions),
        )


def explicit_bound(
    inputs: ExcessRiskProblem, *, objective: Objective, noise_std: float, rounds: int, step_size: float | None
) -> ExplicitBound:
    """Compute the bound on the excess risk with explicit constants.

    If the loss is not smooth, the run minimises its Moreau envelope, a smooth approximation. The bound is then that for
    the best envelope.

    Args:
        inputs: the clients and the constants of the loss; its smoothness is infinite if it is not smooth. The objective
            is replaced.
        objective: the population risk or the empirical risk.
        noise_std: standard deviation of the noise per coordinate, as a root mean square over clients.
        rounds: number of rounds of the run.
        step_size: the step size; None for the one that minimises the bound.

    Returns:
        The bound, with the step size and the smoothness of the envelope that it is for.
    """
    inputs_at_objective = replace(inputs, objective=objective)
    if math.isfinite(inputs.smoothness):
        smooth_step = step_size or best_step_size(inputs_at_objective, noise_std=noise_std, rounds=rounds)
        smooth_risk = excess_risk(inputs_at_objective, noise_std=noise_std, rounds=rounds, step_size=smooth_step)
        return ExplicitBound(risk=smooth_risk, step_size=smooth_step, envelope_smoothness=None)

    envelope = best_envelope(inputs_at_objective, noise_std=noise_std, rounds=rounds)
    step = step_size or envelope.step_size
    risk = enveloped_excess_risk(
        inputs_at_objective,
        envelope_smoothness=envelope.envelope_smoothness,
        noise_std=noise_std,
        rounds=rounds,
        step_size=step,
    )
    return ExplicitBound(risk=risk, step_size=step, envelope_smoothness=envelope.envelope_smoothness)


@dataclass(frozen=True, kw_only=True)
class LowerBoundSetting:
    """The quantities of a run that lower bounds and reference rates depend on.

    Attributes:
        epsilon: ε of the target; the largest one if groups of clients differ, which gives the smallest lower bound.
        log10_delta: log₁₀ δ of the target.
        samples_per_client: number of records of a client; the largest one if groups of clients differ.
        clients: number of clients.
        dimension: number of coordinates of the model.
        lipschitz: Lipschitz constant of the loss.
        diameter: diameter of the domain.
        strong_convexity: strong convexity of the loss; 0 if it is only convex.
    """

    epsilon: float
    log10_delta: float
    samples_per_client: int
    clients: int
    dimension: int
    lipschitz: float
    diameter: float
    strong_convexity: float


def lower_bound(problem: RiskFields, setting: LowerBoundSetting, trust: Trust) -> LowerBound:
    """Compute a lower bound on the excess risk of every private algorithm with the same trust model.

    The bound is an order of growth, without its constant.

    Args:
        problem: the request, with the objective.
        setting: the quantities that the bound depends on: target, sizes and constants of the losses.
        trust: the trusted party: `local` for none, `shuffle` for a shuffler, `central` for the server. The last two
            have the same lower bound.

    Returns:
        The order with its terms, and the conditions of the theorem.
    """
    theorem, inputs = _local_bound(problem, setting) if trust == "local" else _central_bound(problem, setting)
    evaluation = theorem.evaluate(inputs)
    outputs = evaluation.outputs
    return LowerBound(
        theorem=theorem.id,
        trust=trust,
        problem=problem.problem,
        scale=outputs["excess_risk_scale"],
        terms={name: outputs[name] for name in ("statistical_term", "privacy_term") if name in outputs},
        conditions=condition_answers(evaluation.conditions),
    )


def _local_bound(problem: RiskFields, setting: LowerBoundSetting) -> tuple[Theorem, Any]:
    """Return the theorem with the lower bound for clients without a trusted server, and its inputs.

    Without a trusted server, every report must be private by itself, which the theorem states for one round's ε and δ.

    Args:
        problem: the request. If it gives no δ of one report (`round_delta`), the δ of `setting` is used.
        setting: the other quantities that the bound depends on: target, sizes and constants of the losses.

    Returns:
        The theorem for the population risk or for the empirical one, with its inputs.
    """
    # The δ of one report must be a positive double, even if the target's δ is smaller.
    log10_delta = max(setting.log10_delta, LEAST_LOG10_DELTA)
    round_delta = problem.round_delta or max(10.0**log10_delta, LEAST_DELTA)
    if problem.problem == "population":
        population_inputs = inputs_of(
            LocalInputs,
            setting,
            round_epsilon=problem.round_epsilon,
            round_delta=round_delta,
            compositionality=problem.compositionality,
            gradient_std=problem.gradient_std,
        )
        return LOCAL_POPULATION, population_inputs
    empirical_inputs = inputs_of(
        LocalEmpiricalInputs,
        setting,
        round_epsilon=problem.round_epsilon,
        round_delta=round_delta,
        radius=_learning_radius(problem, setting),
    )
    return LOCAL_EMPIRICAL, empirical_inputs


def _central_bound(problem: RiskFields, setting: LowerBoundSetting) -> tuple[Theorem, Any]:
    """Return the theorem with the lower bound for clients that trust the server or a shuffler, and its inputs.

    Args:
        problem: the request, with the objective, the radius of the domain, and the deviation of gradients.
        setting: the other quantities that the bound depends on: target, sizes and constants of the losses.

    Returns:
        The theorem for the population risk or for the empirical one, with its inputs.
    """
    radius = _learning_radius(problem, setting)
    if problem.problem == "population":
        return CENTRAL_POPULATION, inputs_of(CentralInputs, setting, radius=radius, gradient_std=problem.gradient_std)
    return CENTRAL_EMPIRICAL, inputs_of(CentralEmpiricalInputs, setting, radius=radius)


def _learning_radius(problem: RiskFields, setting: LowerBoundSetting) -> float:
    """Return the radius of the ball of models: the requested one, or half the diameter."""
    return problem.radius or 0.5 * setting.diameter


def reference_rates(problem: RiskFields, setting: LowerBoundSetting) -> ReferenceAnswer:
    """Compute the orders of excess risk of other settings, with which Lowy and Razaviyayn compare theirs in Section 3.

    Misprints of the paper are corrected.

    Args:
        problem: the request; only its standard deviation of gradients is used.
        setting: the quantities that the rates depend on: target, sizes and constants of the losses.

    Returns:
        The orders, up to constants and logarithms, and the ε from which on the cost of privacy is at most of the order
        of the statistical error.
    """
    inputs = inputs_of(ReferenceInputs, setting, gradient_std=problem.gradient_std)
    evaluation = REFERENCE_RATES.evaluate(inputs, "corrected")
    free_privacy = [condition for condition in evaluation.conditions if condition.id == "privacy-for-free"]
    (free_privacy_answer,) = condition_answers(free_privacy)
    return ReferenceAnswer(
        theorem=REFERENCE_RATES.id,
        non_private_scale=evaluation.outputs["non_private_scale"],
        one_record_scale=evaluation.outputs["one_record_scale"],
        central_scale=evaluation.outputs["central_scale"],
        free_privacy_epsilon=evaluation.outputs["free_privacy_epsilon"],
        free_privacy=free_privacy_answer,
    )


def ratios(upper: Sequence[UpperBound], lower: Sequence[LowerBound]) -> Iterator[RatioAnswer]:
    """Yield the ratio of each upper bound to each lower bound.

    Args:
        upper: the upper bounds. Those with a condition that fails, or with neither value nor order, are left out.
        lower: the lower bounds, which are orders. Those of order 0 are left out.

    Yields:
        The ratios, each with a sentence that says which constants it hides and which conditions fail.
    """
    for upper_bound in upper:
        numerator = upper_bound.value if upper_bound.constant == "explicit" else upper_bound.scale
        if numerator is None or any(condition.holds == Verdict.NO for condition in upper_bound.conditions):
            continue
        for lower_order in lower:
            if lower_order.scale <= 0.0:
                continue
            yield RatioAnswer(
                upper=upper_bound.theorem,
                lower=lower_order.theorem,
                value=numerator / lower_order.scale,
                statement=_ratio_statement(upper_bound, lower_order),
            )


def _ratio_statement(upper: UpperBound, lower: LowerBound) -> str:
    """Write the sentence that says which constants a ratio hides, and which conditions of the lower bound fail.

    Args:
        upper: the numerator, a bound with explicit constants or an order of growth.
        lower: the denominator, which always is an order of growth.

    Returns:
        The sentence, without its final full stop.
    """
    hidden = "that of the lower bound is" if upper.constant == "explicit" else "both are"
    failing = [condition.id for condition in lower.conditions if condition.holds == Verdict.NO]
    unmet = f"; the lower bound's own conditions fail here: {', '.join(failing)}" if failing else ""
    return f"constants and logarithms: {hidden} hidden; this compares orders and bounds nothing{unmet}"
