"""Lemmas E.3, E.7 and E.8 of Lowy and Razaviyayn: what one gradient step and one projection do to distances."""

from __future__ import annotations

from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Quantity, Smoothness, StepSize, StrongConvexity, request
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.arithmetic import in_doubles


def step_contraction_printed(*, step_size: float, smoothness: float, strong_convexity: float) -> float:
    """1 − ηβμ/(β + μ), by how much a gradient step shrinks distances at least; for η ≤ 2/(β + μ) (F-56).

    |w − w' − η(g − g')|² = |w − w'|² − 2η⟨g − g', w − w'⟩ + η²|g − g'|², and the inner product is at least
    (βμ|w − w'|² + |g − g'|²)/(β + μ): the factor squared is at most 1 − 2ηβμ/(β + μ).
    """
    return 1.0 - step_size * (smoothness * (strong_convexity / (smoothness + strong_convexity)))


def step_contraction(*, step_size: float, smoothness: float, strong_convexity: float) -> float:
    """max{1 − ημ, ηβ − 1}, the least factor there is: 1 − ημ for η ≤ 2/(β + μ); quadratics attain it."""
    return max(1.0 - step_size * strong_convexity, step_size * smoothness - 1.0)


@request
class ContractionInputs:
    """A gradient step on a strongly convex and smooth loss."""

    step_size: StepSize
    smoothness: Smoothness
    strong_convexity: StrongConvexity

    def check(self) -> None:
        """μ ≤ β; scales whose squares are doubles."""
        check_scales(step_size=self.step_size, smoothness=self.smoothness, strong_convexity=self.strong_convexity)
        if self.strong_convexity > self.smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {self.smoothness:g}")


@in_doubles
def contraction(inputs: ContractionInputs) -> Outputs:
    """The printed factor, the printed simpler one 1 − ημ/2, and the least one."""
    shared = {
        "step_size": inputs.step_size,
        "smoothness": inputs.smoothness,
        "strong_convexity": inputs.strong_convexity,
    }
    return {
        "contraction": step_contraction_printed(**shared),
        "simple_contraction": 1.0 - 0.5 * inputs.step_size * inputs.strong_convexity,
        "least_contraction": step_contraction(**shared),
    }


def _step(inputs: ContractionInputs) -> Sides:
    return Sides.at_most(inputs.step_size, 2.0 / (inputs.smoothness + inputs.strong_convexity))


_DIVERGENCE = Quantity(unit="loss", ge=0, description="F(x) − F(y) − ⟨∇F(y), x − y⟩")


@request
class CoercivityInputs:
    """A smooth convex loss at two points."""

    smoothness: Smoothness
    bregman_divergence: Annotated[float, _DIVERGENCE]

    def check(self) -> None:
        """Scales whose squares are doubles."""
        check_scales(smoothness=self.smoothness, bregman_divergence=self.bregman_divergence)


@in_doubles
def coercivity(inputs: CoercivityInputs) -> Outputs:
    """2β(F(x) − F(y) − ⟨∇F(y), x − y⟩), at least |∇F(x) − ∇F(y)|² (F-56)."""
    return {"squared_gradient_difference": 2.0 * inputs.smoothness * inputs.bregman_divergence}


LEMMA_E3 = Theorem(
    id="lowy.lemma-e.3",
    title="A gradient step brings points closer",
    statement=(
        "η ≤ 2/(β + μ): |w − η∇F(w) − w' + η∇F(w')| ≤ (1 − ηβμ/(β + μ))|w − w'| ≤ (1 − ημ/2)|w − w'|; 1 − ημ does too"
    ),
    source=Source("lowy2023", "Lemma E.3"),
    status=Status.PROVED,
    conditions=(
        Condition("step-size", "η ≤ 2/(β + μ)", _step),
        Condition("loss", "F is μ-strongly convex and β-smooth along the segment between the points"),
    ),
    inputs=ContractionInputs,
    formula=contraction,
    examples=({"step_size": 0.5, "smoothness": 2.0, "strong_convexity": 0.5},),
)
LEMMA_E7 = Theorem(
    id="lowy.lemma-e.7",
    title="Projections do not expand",
    statement="|Π(w) − Π(w')| ≤ |w − w'| for the projection Π on a closed convex set",
    source=Source("lowy2023", "Lemma E.7"),
    status=Status.PROVED,
    conditions=(Condition("closed-convex-domain", "the set is closed and convex"),),
)
LEMMA_E8 = Theorem(
    id="lowy.lemma-e.8",
    title="Gradients of smooth convex losses are co-coercive",
    statement="|∇F(x) − ∇F(y)|² ≤ 2β(F(x) − F(y) − ⟨∇F(y), x − y⟩)",
    source=Source("lowy2023", "Lemma E.8"),
    status=Status.PROVED,
    conditions=(
        Condition("whole-space", "F is convex and β-smooth on the whole space, not only on the domain of the model"),
    ),
    inputs=CoercivityInputs,
    formula=coercivity,
    examples=({"smoothness": 2.0, "bregman_divergence": 0.3},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E3, LEMMA_E7, LEMMA_E8)
