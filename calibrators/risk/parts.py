"""The parts of a risk answer that every algorithm shares: the explicit bound, lower bounds, reference rates, ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.quantities import GRADIENT_STD, LEARNING_RADIUS, NOISE_STD, STEP_SIZE, request
from epsilond.accountants.theorem import Evaluation, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import best_envelope, enveloped_excess_risk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import (
    ExcessRisk,
    ExcessRiskProblem,
    best_step_size,
    excess_risk,
)
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


@request
class RiskFields:
    """What a question about risk may say beyond the run and its target.

    `noise_std` absent: the smallest certified one. `radius` absent: half the diameter. `round_epsilon` absent: epsilon;
    `round_delta` absent: delta.
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
    """And the step size, where steps are all alike. Absent: the best for the explicit bound."""

    step_size: Annotated[float | None, STEP_SIZE] = None


def check_run(problem: RiskFields) -> None:
    """Check that a given noise is that of a given run, and that φ is at most L.

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
    """The explicit bound at a step size, the best one or the one given."""

    risk: ExcessRisk
    step_size: float
    envelope_smoothness: float | None

    def answer(self, theorem: Theorem, smoothness: float, *, heaviest: float = 1.0) -> UpperBound:
        """Return the bound in the form of the answer, with the condition on the step size η.

        The condition is ηβ < 1, and η p_i N β ≤ 1 for the heaviest weight.

        Args:
            theorem: the theorem of the bound.
            smoothness: β of the losses.
            heaviest: largest weight p_i N of a client's loss.
        """
        smooth = self.envelope_smoothness is None
        step = self.step_size * (smoothness if self.envelope_smoothness is None else self.envelope_smoothness)
        heavy = step * heaviest if smooth else step
        allowed = step < 1.0 and heavy <= 1.0 + 4 * UNIT_ROUNDOFF
        return UpperBound(
            theorem=theorem.id,
            reading="corrected",
            constant="explicit",
            value=self.risk.total,
            terms={name: value for name, value in self.risk.terms.items() if math.isfinite(value)},
            conditions=condition_answers(
                ConditionResult(condition.id, condition.statement, Verdict.of(allowed), heavy, 1.0)
                for condition in theorem.conditions
                if condition.id == "step-size"
            ),
        )


def explicit_bound(
    seen: ExcessRiskProblem, *, objective: Objective, noise_std: float, rounds: int, step_size: float | None
) -> ExplicitBound:
    """Return the explicit bound for the objective, on the best envelope if the loss is not smooth.

    Args:
        seen: the inputs of the bound.
        objective: the objective of the risk.
        noise_std: σ per coordinate, root mean square over clients.
        rounds: rounds of the run.
        step_size: the step size, or None for the best.
    """
    seen = replace(seen, objective=objective)
    if math.isinf(seen.smoothness):
        chosen = best_envelope(seen, noise_std=noise_std, rounds=rounds)
        step = step_size or chosen.step_size
        risk: ExcessRisk = enveloped_excess_risk(
            seen,
            envelope_smoothness=chosen.envelope_smoothness,
            noise_std=noise_std,
            rounds=rounds,
            step_size=step,
        )
        return ExplicitBound(risk=risk, step_size=step, envelope_smoothness=chosen.envelope_smoothness)
    step = step_size or best_step_size(seen, noise_std=noise_std, rounds=rounds)
    risk = excess_risk(seen, noise_std=noise_std, rounds=rounds, step_size=step)
    return ExplicitBound(risk=risk, step_size=step, envelope_smoothness=None)


@dataclass(frozen=True, kw_only=True)
class LowerBoundSetting:
    """What lower bounds and reference rates look at. With client groups the largest n and ε: these ask the least."""

    epsilon: float
    log10_delta: float
    samples_per_client: int
    clients: int
    dimension: int
    lipschitz: float
    diameter: float
    strong_convexity: float


def lower_bound(problem: RiskFields, setting: LowerBoundSetting, trust: Trust) -> LowerBound:
    """Return the lower bound for the requested objective and a kind of trust.

    Args:
        problem: the request.
        setting: the quantities that the bound depends on.
        trust: the kind of trust.
    """
    theorem, evaluation = _evaluate(problem, setting, trust)
    outputs = evaluation.outputs
    return LowerBound(
        theorem=theorem.id,
        trust=trust,
        problem=problem.problem,
        scale=outputs["excess_risk_scale"],
        terms={name: outputs[name] for name in ("statistical_term", "privacy_term") if name in outputs},
        conditions=condition_answers(evaluation.conditions),
    )


def _evaluate(problem: RiskFields, setting: LowerBoundSetting, trust: Trust) -> tuple[Theorem, Evaluation]:
    round_delta = problem.round_delta or max(10.0 ** max(setting.log10_delta, -300.0), 1e-300)
    local: Fields = {"round_epsilon": problem.round_epsilon, "round_delta": round_delta}
    radius = problem.radius or 0.5 * setting.diameter
    own: Fields
    kind: type
    if trust == "local" and problem.problem == "population":
        theorem, kind = LOCAL_POPULATION, LocalInputs
        own = {**local, "compositionality": problem.compositionality, "gradient_std": problem.gradient_std}
    elif trust == "local":
        theorem, kind, own = LOCAL_EMPIRICAL, LocalEmpiricalInputs, {**local, "radius": radius}
    elif problem.problem == "population":
        theorem, kind, own = CENTRAL_POPULATION, CentralInputs, {"radius": radius, "gradient_std": problem.gradient_std}
    else:
        theorem, kind, own = CENTRAL_EMPIRICAL, CentralEmpiricalInputs, {"radius": radius}
    return theorem, theorem.evaluate(inputs_of(kind, setting, **own))


def reference_rates(problem: RiskFields, setting: LowerBoundSetting) -> ReferenceAnswer:
    """Return the comparisons of Section 3, corrected, and the threshold of free privacy."""
    inputs = inputs_of(ReferenceInputs, setting, gradient_std=problem.gradient_std)
    evaluation = REFERENCE_RATES.evaluate(inputs, "corrected")
    (free,) = (condition for condition in evaluation.conditions if condition.id == "privacy-for-free")
    return ReferenceAnswer(
        theorem=REFERENCE_RATES.id,
        non_private_scale=evaluation.outputs["non_private_scale"],
        one_record_scale=evaluation.outputs["one_record_scale"],
        central_scale=evaluation.outputs["central_scale"],
        free_privacy_epsilon=evaluation.outputs["free_privacy_epsilon"],
        free_privacy=condition_answers((free,))[0],
    )


def ratios(upper: Sequence[UpperBound], lower: Sequence[LowerBound]) -> Iterator[RatioAnswer]:
    """Yield the ratio of every upper bound that applies to every lower bound, with the constants that it hides."""
    for above in upper:
        if any(condition.holds == Verdict.NO for condition in above.conditions):
            continue
        for below in lower:
            is_explicit = above.constant == "explicit"
            height = above.value if is_explicit else above.scale
            if height is None or below.scale <= 0.0:
                continue
            hidden = "that of the lower bound is" if is_explicit else "both are"
            failing = [condition.id for condition in below.conditions if condition.holds == Verdict.NO]
            unmet = f"; the lower bound's own conditions fail here: {', '.join(failing)}" if failing else ""
            yield RatioAnswer(
                upper=above.theorem,
                lower=below.theorem,
                value=height / below.scale,
                statement=f"constants and logarithms: {hidden} hidden; this compares orders and bounds nothing{unmet}",
            )
