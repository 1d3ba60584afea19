"""Algorithm 2 of Lowy and Razaviyayn in stages, and its excess risk by Lemmas E.11 and E.12.

There are three sequences: gradients are taken at w^md, w takes proximal steps, and w^ag is the output. With the
corrected v_k, the printed schedule reaches its target gaps with explicit constants, whether or not the inner loop uses
μ. The proof applies the bound of `accelerated_bound.py`. As R_k ≥ 4√(2β/μ), the part 2β of v_k leaves at most a quarter
of the gap. As R_k ≥ 128V²/(3μΔ2^{−(k+1)}), the other part of v_k and the noise leave less than another quarter. The
lemmas hide constants; the explicit bound is returned next to their scales.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Annotated, ClassVar

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import (
    ROUNDS,
    SQUARES,
    Checks,
    InitialDistance,
    InitialGap,
    Quantity,
    Rounds,
    Smoothness,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import (
    DescentFacts,
    Stage,
    best_stages,
    stages_bound,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated_stages.py"
GRADIENT_VARIANCE = Quantity(
    symbol="V²",
    unit="gradient²",
    ge=0,
    scale=SQUARES,
    description="mean squared error of one round's gradient, at its largest",
)
MOST_STAGES = 64
"""Largest number of stages of the schedule; the gap falls by a factor of two in each."""


def _check_strong_convexity(record: FormulaRequest) -> None:
    """Check that the strong convexity μ of a request is positive and at most the smoothness β.

    Args:
        record: the request.

    Raises:
        InvalidInput: unless 0 < μ ≤ β.
    """
    if not 0.0 < record.strong_convexity <= record.smoothness:
        raise InvalidInput.at(
            "/strong_convexity", "must be positive and at most the smoothness", allowed=f"≤ {record.smoothness:g}"
        )


@request
class StagesInputs:
    """A strongly convex problem, and the number of rounds of a run of accelerated descent in stages (Algorithm 2)."""

    smoothness: Smoothness
    strong_convexity: StrongConvexity
    initial_gap: InitialGap
    gradient_variance: Annotated[float, GRADIENT_VARIANCE]
    rounds: Annotated[int, ROUNDS]

    checks: ClassVar[Checks] = (_check_strong_convexity,)

    def stage(self, number: int, reading: Reading = "corrected") -> Stage:
        """Return stage k of Algorithm 2 of Lowy and Razaviyayn, which aims at the excess risk Δ2^{−k}.

        Δ is the initial excess risk. With the variance V² of a gradient, the stage has R_k rounds and the prox weight
        v_k, a factor of the step schedule:

            R_k = ⌈max{4√(2β/μ), 128V²/(3μΔ2^{−(k+1)})}⌉,
            v_k = max{2β, √(μV²R_k(R_k + 1)(R_k + 2)/(3Δ2^{−(k−1)}))}.

        Args:
            number: number k of the stage, from 1.
            reading: "printed" has the product of the rounds in the denominator, so that v_k is always 2β (erratum
                E-15). "corrected" has it in the numerator.

        Returns:
            The stage with its number of rounds and its prox weight.
        """
        convexity, variance = self.strong_convexity, self.gradient_variance
        inverse_target = 2.0 ** (number + 1) / self.initial_gap  # 1/(Δ2^{−(k+1)})

        rounds_for_descent = 4.0 * math.sqrt(2.0 * self.smoothness / convexity)
        rounds_for_noise = 128.0 * variance * inverse_target / (3.0 * convexity)
        rounds = math.ceil(max(rounds_for_descent, rounds_for_noise))

        product = float(rounds) * (rounds + 1.0) * (rounds + 2.0)
        scale = convexity * variance * (inverse_target / 4.0) / 3.0  # μV²/(3Δ2^{−(k−1)})
        squared_weight = scale / product if reading == "printed" else scale * product
        prox_weight = max(2.0 * self.smoothness, math.sqrt(squared_weight))
        return Stage(rounds=rounds, prox_weight=prox_weight)

    def stages(self, reading: Reading = "corrected") -> tuple[Stage, ...]:
        """Return the first stages of the schedule that fit in the run's rounds, at most `MOST_STAGES`.

        A stage is a block of rounds with its own schedule of step sizes. Stage k aims at the excess risk Δ2^{−k}.

        Args:
            reading: version of the prox weights, the factors of the step schedule. It is "printed" for those of the
                paper or "corrected", as `stage` explains.

        Returns:
            The stages in order; empty if the first stage has more rounds than the run.
        """
        stages: list[Stage] = []
        remaining_rounds = self.rounds
        for number in range(1, MOST_STAGES + 1):
            stage = self.stage(number, reading)
            if stage.rounds > remaining_rounds:
                break
            stages.append(stage)
            remaining_rounds -= stage.rounds
        return tuple(stages)


def algorithm_2(inputs: StagesInputs, reading: Reading = "printed") -> Outputs:
    """Return the stages of accelerated descent in Algorithm 2 of Lowy and Razaviyayn that fit in the available rounds.

    A stage is a block of rounds with its own schedule of step sizes. Each aims at half the previous excess risk.

    Args:
        inputs: constants of the loss, variance of a gradient, initial excess risk Δ, and the number of rounds.
        reading: version of the prox weights, the factors of the step schedule: "printed" for those of the paper or
            "corrected". `StagesInputs.stage` explains the difference.

    Returns:
        A mapping with `stages`, the rounds and the prox weight of each; `used_rounds`, the sum of their rounds; and
        `aimed_excess_risk`, Δ2^{−k} in loss units after k stages.
    """
    stages = inputs.stages(reading)
    return {
        "stages": [asdict(stage) for stage in stages],
        "used_rounds": sum(stage.rounds for stage in stages),
        "aimed_excess_risk": math.ldexp(inputs.initial_gap, -len(stages)),
    }


def _first_stage_sides(inputs: StagesInputs) -> Sides:
    """Return the rounds of the run, and the rounds of the first stage, which they must reach."""
    return Sides.at_least(inputs.rounds, inputs.stage(1).rounds)


INVERTED_PRODUCT = Erratum(
    "E-15",
    grade=Grade.MISPRINT,
    printed=(
        "Stage k of R_k rounds uses the weight v_k = max{2β, √(μV²/(3Δ2^{−(k−1)} R_k(R_k + 1)(R_k + 2)))} of the "
        "proximal term. Here β is the smoothness and μ the strong convexity of the objective. V² is the variance of "
        "the gradient of a round, and Δ the initial excess risk."
    ),
    truth=(
        "The product R_k(R_k + 1)(R_k + 2) belongs in the numerator. As printed, v_k is always 2β. If the inner "
        "loop does not use μ, the risk with the printed v_k stays far above the intended gap. If it uses μ, as in "
        "Algorithm 2, both weights reach the gap."
    ),
    test=f"{_TESTS}::test_the_printed_prox_weight_misses_where_the_inner_loop_knows_no_convexity",
    place="proof of Theorem E.1, multi-stage implementation of Algorithm 2, step 1",
    charitable=("If the inner loop uses μ, as in Algorithm 2, the intended gap is reached with the printed v_k too."),
)
ALGORITHM_2 = Theorem(
    id="lowy.algorithm-2",
    title="Accelerated noisy mini-batch SGD in stages",
    statement=(
        "Stage k has R_k = ⌈max{4√(2β/μ), 128V²/(3μΔ2^{−(k+1)})}⌉ rounds with α_r = 2/(r + 1) and η_r = 4v_k/(r(r + "
        "1)). Here V² bounds the variance of a round's gradient, and Δ the initial excess risk. The prox weight is "
        "v_k = max{2β, √(μV²R_k(R_k + 1)(R_k + 2)/(3Δ2^{−(k−1)}))}. Each stage starts from the output of the "
        "previous one. The excess risk after stage k is at most Δ2^{−k}"
    ),
    source=Source("lowy2023", "Algorithm 2 and the proof of Theorem E.1"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "first-stage", "the R rounds suffice for the R_1 rounds of the first stage (R ≥ R_1)", _first_stage_sides
        ),
        Condition(
            "unbiased-gradients",
            "given the past, the gradient of a round is unbiased, and its mean squared error is at most V²",
        ),
        Condition(
            "loss", ("the objective is μ-strongly convex and β-smooth on the domain, which is closed and convex")
        ),
    ),
    errata=(INVERTED_PRODUCT,),
    inputs=StagesInputs,
    formula=algorithm_2,
    examples=(
        {"smoothness": 1.0, "strong_convexity": 0.1, "initial_gap": 1.0, "gradient_variance": 0.5, "rounds": 6000},
    ),
)


@formula(given="A convex problem and an unbiased gradient of mean squared error at most V².")
def convex_rate(
    *,
    smoothness: Smoothness,
    initial_distance: InitialDistance,
    gradient_variance: Annotated[float, GRADIENT_VARIANCE],
    rounds: Rounds,
) -> Outputs:
    """Return the order of the excess risk of accelerated descent on a convex loss, and a proved bound with constants.

    The order is that of Lemma E.11 of Lowy and Razaviyayn.

    Args:
        smoothness: smoothness β of the loss.
        initial_distance: distance D = |w₀ − w*| of the first iterate from the minimiser.
        gradient_variance: bound V² on the mean squared error of a gradient.
        rounds: number T of rounds.

    Returns:
        `scale` is the order βD²/T² + DV/√T. `regularization` is the weight V/(D√T) of the lemma's quadratic
        regulariser. `excess_risk` is the explicit bound of `accelerated_bound.py`, which one stage with `prox_weight`
        attains.
    """
    distance_per_round = initial_distance / rounds
    optimisation = smoothness * distance_per_round * distance_per_round  # βD²/T²
    std_per_root_round = math.sqrt(gradient_variance / rounds)  # V/√T

    descent = DescentFacts(smoothness=smoothness, initial_distance=initial_distance, diameter=initial_distance)
    stages = best_stages(rounds, descent=descent, variance=gradient_variance)
    bound = stages_bound(stages, descent, variance=gradient_variance)
    return {
        "scale": optimisation + std_per_root_round * initial_distance,
        "regularization": std_per_root_round / initial_distance,
        "excess_risk": bound.at(gradient_variance),
        "prox_weight": stages[0].prox_weight,
    }


@formula(
    given="A strongly convex problem and an unbiased gradient of mean squared error at most V².",
    checks=(_check_strong_convexity,),
)
def strongly_convex_rate(
    *,
    smoothness: Smoothness,
    strong_convexity: StrongConvexity,
    initial_gap: InitialGap,
    gradient_variance: Annotated[float, GRADIENT_VARIANCE],
    rounds: Rounds,
) -> Outputs:
    """Return the order of the excess risk of accelerated descent on a strongly convex loss, and a proved bound.

    The order is that of Lemma E.12 of Lowy and Razaviyayn, without constants.

    Args:
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss, in (0, β].
        initial_gap: bound Δ on the excess risk of the first iterate.
        gradient_variance: bound V² on the mean squared error of a gradient.
        rounds: number T of rounds.

    Returns:
        `scale` is the order Δe^{−T√(μ/β)} + V²/(μT). `excess_risk` is the explicit bound of `accelerated_bound.py`, and
        `stages` are the stages that attain it.
    """
    remaining_fraction = math.exp(-rounds * math.sqrt(strong_convexity / smoothness))
    variance_part = gradient_variance / (strong_convexity * rounds)

    # Strong convexity bounds the distance of the start from the minimiser by √(2Δ/μ). The diameter is unknown.
    descent = DescentFacts(
        smoothness=smoothness,
        strong_convexity=strong_convexity,
        initial_distance=math.sqrt(2.0 * initial_gap / strong_convexity),
        diameter=math.inf,
        initial_gap=initial_gap,
    )
    stages = best_stages(rounds, descent=descent, variance=gradient_variance)
    bound = stages_bound(stages, descent, variance=gradient_variance)
    return {
        "scale": initial_gap * remaining_fraction + variance_part,
        "excess_risk": bound.at(gradient_variance),
        "stages": [asdict(stage) for stage in stages],
    }


UNBIASED = Condition(
    "unbiased-gradients",
    "given the past, the gradient of a round is unbiased, and its mean squared error is at most V²",
)
HIDDEN = Condition("hidden-constants", "the order of the risk leaves out constants and logarithms", undecidable=True)
LEMMA_E11 = Theorem(
    id="lowy.lemma-e.11",
    title="Accelerated stochastic descent on a convex loss",
    statement=(
        "Accelerated descent runs for T rounds on F plus the regulariser (V/(2|w₀ − w*|√T))|w − w₀|². Here V² "
        "bounds the variance of a round's gradient. Then E F(w^ag_T) − F* ≲ β|w₀ − w*|²/T² + V|w₀ − w*|/√T"
    ),
    source=Source("lowy2023", "Lemma E.11"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(UNBIASED, HIDDEN, Condition("loss", "the objective is convex and β-smooth on a closed convex domain")),
    formula=convex_rate,
    examples=({"smoothness": 2.0, "initial_distance": 1.0, "gradient_variance": 0.09, "rounds": 100},),
)
LEMMA_E12 = Theorem(
    id="lowy.lemma-e.12",
    title="Accelerated stochastic descent on a strongly convex loss",
    statement=(
        "After T rounds in stages, E F(w^ag) − F* ≲ Δ e^{−T√(μ/β)} + V²/(μT). Here V² bounds the variance of a "
        "round's gradient, and Δ is the initial excess risk"
    ),
    source=Source("lowy2023", "Lemma E.12"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        UNBIASED,
        HIDDEN,
        Condition("loss", "the objective is μ-strongly convex and β-smooth on a closed convex domain"),
    ),
    formula=strongly_convex_rate,
    examples=(
        {"smoothness": 2.0, "strong_convexity": 0.1, "initial_gap": 1.0, "gradient_variance": 0.3, "rounds": 100},
    ),
)


ROUND_NUMBER = Quantity(symbol="r", ge=1, le=10**12, description="number of the round within its stage, from 1")
PROX_WEIGHT = Quantity(symbol="v", unit="loss/length²", gt=0, scale=SQUARES, description="prox weight of the stage")


@formula(given="A round of a stage of Algorithm 2, and the stage's prox weight.")
def round_weights(
    *,
    round_number: Annotated[int, ROUND_NUMBER],
    prox_weight: Annotated[float, PROX_WEIGHT],
    strong_convexity: StrongConvexity = 0.0,
) -> Outputs:
    """Return the weights with which a round of accelerated descent combines its points.

    The points are the iterate w, the running average w^ag, which is the output of the stage, and w^md between both. A
    round with gradient g at w^md sets, in this order:

        w^md = `aggregate_weight` w^ag + `iterate_weight` w,
        w = projection of `middle_weight` w^md + `kept_weight` w − `step_size` g on the domain,
        w^ag = `alpha` w + (1 − `alpha`) w^ag.

    The weights of w^md add to 1, so w^md is in the domain.

    Args:
        round_number: number r of the round within its stage, from 1.
        prox_weight: prox weight v > 0 of the stage. A larger v gives shorter steps.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.

    Returns:
        The weights above, and `eta`, the weight η = 4v/(r(r + 1)) of the squared distance from w in the round.
    """
    alpha = 2.0 / (round_number + 1.0)
    one_minus_alpha = (round_number - 1.0) / (round_number + 1.0)
    eta = 4.0 * prox_weight / (round_number * (round_number + 1.0))

    # A round minimises a quadratic function. Its curvature has a part around the iterate w.
    curvature = strong_convexity + eta
    iterate_curvature = one_minus_alpha * strong_convexity + eta
    denominator = eta + one_minus_alpha * (1.0 + alpha) * strong_convexity
    return {
        "alpha": alpha,
        "eta": eta,
        "aggregate_weight": one_minus_alpha * curvature / denominator,
        "iterate_weight": alpha * iterate_curvature / denominator,
        "middle_weight": alpha * strong_convexity / curvature,
        "kept_weight": iterate_curvature / curvature,
        "step_size": alpha / curvature,
    }


WEIGHTS = Theorem(
    id="lowy.algorithm-2.weights",
    title="The mixing weights of accelerated mini-batch SGD",
    statement=(
        "Let α_r = 2/(r + 1) and η_r = 4v/(r(r + 1)). Then w^md = [(1 − α)(μ + η)w^ag + α((1 − α)μ + η)w]/(η + "
        "(1 − α²)μ). The point w_r minimises α(⟨g, w⟩ + μ|w^md − w|²/2) + ((1 − α)μ + η)|w_{r−1} − w|²/2 over "
        "the domain. It is w_r = Π[(αμ w^md + ((1 − α)μ + η)w_{r−1} − αg)/(μ + η)]. The weights of points add "
        "to 1, so gradients are taken in the domain"
    ),
    source=Source("lowy2023", "Algorithm 2"),
    status=Status.PROVED,
    conditions=(Condition("closed-convex-domain", "the domain is closed and convex, and it contains the start"),),
    formula=round_weights,
    examples=(
        {"round_number": 1, "prox_weight": 2.0},
        {"round_number": 7, "prox_weight": 2.0, "strong_convexity": 0.1},
    ),
)

THEOREMS: tuple[Theorem, ...] = (ALGORITHM_2, LEMMA_E11, LEMMA_E12, WEIGHTS)
