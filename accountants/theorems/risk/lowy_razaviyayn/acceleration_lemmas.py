"""Lemmas E.11 and E.12 of Lowy and Razaviyayn: what accelerated stochastic descent reaches, as scales and explicitly.

The lemmas hide constants. Beside their scales stands the bound of `lowy_accelerated_risk`, which hides none.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    InitialDistance,
    InitialGap,
    Rounds,
    Smoothness,
    StrongConvexity,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_risk import (
    Descent,
    best_stages,
    stages_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_stages import GRADIENT_VARIANCE


def convex_scale(*, smoothness: float, initial_distance: float, variance: float, rounds: int) -> float:
    """β|w₀ − w*|²/T² + V|w₀ − w*|/√T (F-44), a scale."""
    drift = initial_distance / rounds
    return smoothness * drift * drift + math.sqrt(variance / rounds) * initial_distance


def strongly_convex_scale(
    *, smoothness: float, strong_convexity: float, gap: float, variance: float, rounds: int
) -> float:
    """Δ e^{−T√(μ/β)} + V²/(μT) (F-44), a scale."""
    fading = math.exp(-rounds * math.sqrt(strong_convexity / smoothness))
    return gap * fading + variance / (strong_convexity * rounds)


@request
class ConvexInputs:
    """A convex problem and an unbiased gradient of mean squared error at most V²."""

    smoothness: Smoothness
    initial_distance: InitialDistance
    gradient_variance: Annotated[float, GRADIENT_VARIANCE]
    rounds: Rounds

    def check(self) -> None:
        """Scales whose squares are doubles."""
        check_scales(
            smoothness=self.smoothness,
            initial_distance=self.initial_distance,
            gradient_variance=self.gradient_variance,
        )


@in_doubles
def convex(inputs: ConvexInputs) -> Outputs:
    """The scale, the weight of the lemma's regulariser about the start, and the explicit bound with its prox weight."""
    descent = Descent(
        smoothness=inputs.smoothness,
        initial_distance=inputs.initial_distance,
        diameter=inputs.initial_distance,
    )
    stages = best_stages(inputs.rounds, descent=descent, variance=inputs.gradient_variance)
    return {
        "scale": convex_scale(
            smoothness=inputs.smoothness,
            initial_distance=inputs.initial_distance,
            variance=inputs.gradient_variance,
            rounds=inputs.rounds,
        ),
        "regularization": math.sqrt(inputs.gradient_variance / inputs.rounds) / inputs.initial_distance,
        "excess_risk": stages_bound(stages, descent, variance=inputs.gradient_variance).at(inputs.gradient_variance),
        "prox_weight": stages[0].prox_weight,
    }


@request
class StronglyConvexInputs:
    """A strongly convex problem and an unbiased gradient of mean squared error at most V²."""

    smoothness: Smoothness
    strong_convexity: StrongConvexity
    initial_gap: InitialGap
    gradient_variance: Annotated[float, GRADIENT_VARIANCE]
    rounds: Rounds

    def check(self) -> None:
        """0 < μ ≤ β; scales whose squares are doubles."""
        check_scales(
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            initial_gap=self.initial_gap,
            gradient_variance=self.gradient_variance,
        )
        if not 0.0 < self.strong_convexity <= self.smoothness:
            raise InvalidInput.at(
                "/strong_convexity", "must be positive and at most the smoothness", allowed=f"≤ {self.smoothness:g}"
            )


@in_doubles
def strongly_convex(inputs: StronglyConvexInputs) -> Outputs:
    """The scale, and the explicit bound with the stages that reach it."""
    distance = math.sqrt(2.0 * inputs.initial_gap / inputs.strong_convexity)
    descent = Descent(
        smoothness=inputs.smoothness,
        strong_convexity=inputs.strong_convexity,
        initial_distance=distance,
        diameter=math.inf,
        initial_gap=inputs.initial_gap,
    )
    stages = best_stages(inputs.rounds, descent=descent, variance=inputs.gradient_variance)
    return {
        "scale": strongly_convex_scale(
            smoothness=inputs.smoothness,
            strong_convexity=inputs.strong_convexity,
            gap=inputs.initial_gap,
            variance=inputs.gradient_variance,
            rounds=inputs.rounds,
        ),
        "excess_risk": stages_bound(stages, descent, variance=inputs.gradient_variance).at(inputs.gradient_variance),
        "stages": [{"rounds": stage.rounds, "prox_weight": stage.prox_weight} for stage in stages],
    }


UNBIASED = Condition(
    "unbiased-gradients", "given the past, a round's gradient is unbiased, its mean squared error at most V²"
)
HIDDEN = Condition("hidden-constants", "the constants and logarithms that the scale leaves out", undecidable=True)
LEMMA_E11 = Theorem(
    id="lowy.lemma-e.11",
    title="Accelerated stochastic descent on a convex loss",
    statement="E F(w^ag_T) − F* ≲ β|w₀ − w*|²/T² + V|w₀ − w*|/√T after adding (V/(2|w₀ − w*|√T))|w − w₀|² to F",
    source=Source("lowy2023", "Lemma E.11"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(UNBIASED, HIDDEN, Condition("loss", "the objective is convex and β-smooth on a closed convex domain")),
    inputs=ConvexInputs,
    formula=convex,
    examples=({"smoothness": 2.0, "initial_distance": 1.0, "gradient_variance": 0.09, "rounds": 100},),
)
LEMMA_E12 = Theorem(
    id="lowy.lemma-e.12",
    title="Accelerated stochastic descent on a strongly convex loss",
    statement="E F(w^ag) − F* ≲ Δ e^{−T√(μ/β)} + V²/(μT) after T rounds in stages",
    source=Source("lowy2023", "Lemma E.12"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        UNBIASED,
        HIDDEN,
        Condition("loss", "the objective is μ-strongly convex and β-smooth on a closed convex domain"),
    ),
    inputs=StronglyConvexInputs,
    formula=strongly_convex,
    examples=(
        {"smoothness": 2.0, "strong_convexity": 0.1, "initial_gap": 1.0, "gradient_variance": 0.3, "rounds": 100},
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E11, LEMMA_E12)
