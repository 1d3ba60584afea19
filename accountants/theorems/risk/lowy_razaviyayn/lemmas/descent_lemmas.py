"""Lemmas E.3 and E.7 to E.9 of Lowy and Razaviyayn on projected gradient steps. Lemma E.4: `noisy_descent.py`."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    SQUARES,
    AtMost,
    Quantity,
    Rounds,
    Smoothness,
    StepSize,
    StrongConvexity,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import averaging_ratio


@formula(given="A gradient step on a strongly convex and smooth loss.", checks=(CONVEXITY_WITHIN_SMOOTHNESS,))
def contraction(*, step_size: StepSize, smoothness: Smoothness, strong_convexity: StrongConvexity) -> Outputs:
    """Return bounds on the factor by which a gradient step on a smooth, strongly convex loss shrinks distances.

    Two are those of Lemma E.3 of Lowy and Razaviyayn, for η ≤ 2/(β + μ). The third is the least one, for all η.

    Let g and g' be the gradients at w and w'. The squared distance after the step is:

        |w − w'|² − 2η⟨g − g', w − w'⟩ + η²|g − g'|².

    The inner product is at least (βμ|w − w'|² + |g − g'|²)/(β + μ), as the Hessian is between μ and β. For
    η ≤ 2/(β + μ) the squared factor is thus at most 1 − 2ηβμ/(β + μ). Its root is at most 1 − ηβμ/(β + μ), as printed.

    The mean Hessian H over the segment has eigenvalues in [μ, β]. Hence |1 − ηH| ≤ max{1 − ημ, ηβ − 1}, the least
    factor, which quadratic losses attain. It is 1 − ημ for η ≤ 2/(β + μ).

    Args:
        step_size: step size η.
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss.

    Returns:
        `contraction`: the factor 1 − ηβμ/(β + μ).
        `simple_contraction`: the larger factor 1 − ημ/2.
        `least_contraction`: the least valid factor max{1 − ημ, ηβ − 1}.
    """
    half_harmonic_mean = smoothness * (strong_convexity / (smoothness + strong_convexity))  # βμ/(β + μ)
    printed_decrease = step_size * half_harmonic_mean
    return {
        "contraction": 1.0 - printed_decrease,
        "simple_contraction": 1.0 - 0.5 * step_size * strong_convexity,
        "least_contraction": max(1.0 - step_size * strong_convexity, step_size * smoothness - 1.0),
    }


def _step_size_sides(*, step_size: float, smoothness: float, strong_convexity: float) -> Sides:
    """Return both sides of the condition η ≤ 2/(β + μ) of Lemma E.3.

    Args:
        step_size: step size η > 0 of the descent.
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss, at most β.
    """
    return Sides.at_most(step_size, 2.0 / (smoothness + strong_convexity))


_DIVERGENCE = Quantity(unit="loss", ge=0, scale=SQUARES, description="F(x) − F(y) − ⟨∇F(y), x − y⟩")
_PRODUCT = Quantity(
    unit="loss",
    ge=0,
    scale=SQUARES,
    description="⟨∇F(x) − ∇F(y), x − y⟩, at least the divergence; absent: not known",
)


@formula(
    given="A smooth convex loss at two points.",
    checks=(AtMost("bregman_divergence", "inner_product", "exceeds the inner product"),),
)
def coercivity(
    *,
    smoothness: Smoothness,
    bregman_divergence: Annotated[float, _DIVERGENCE],
    inner_product: Annotated[float | None, _PRODUCT] = None,
) -> Outputs:
    """Bound the squared distance |∇F(x) − ∇F(y)|² of two gradients of a convex loss F of smoothness β.

    Lemma E.8 of Lowy and Razaviyayn has two bounds: β times the inner product ⟨∇F(x) − ∇F(y), x − y⟩, and 2β times the
    Bregman divergence F(x) − F(y) − ⟨∇F(y), x − y⟩. The divergences at (x, y) and (y, x) add up to the inner product,
    which is therefore at least each of them. The bound by the divergence requires that F is convex and β-smooth beyond
    the domain, for example on the whole space (erratum E-38).

    Args:
        smoothness: smoothness β of the loss.
        bregman_divergence: F(x) − F(y) − ⟨∇F(y), x − y⟩.
        inner_product: ⟨∇F(x) − ∇F(y), x − y⟩; None if it is not known.

    Returns:
        `squared_gradient_difference`: the bound by the divergence.
        `bound_by_inner_product`: the bound by the inner product, only if the latter is given.
    """
    by_divergence = 2.0 * smoothness * bregman_divergence
    if inner_product is None:
        return {"squared_gradient_difference": by_divergence}
    return {"squared_gradient_difference": by_divergence, "bound_by_inner_product": smoothness * inner_product}


DOMAIN_ONLY = Erratum(
    "E-38",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Lemma E.8 states |∇F(w) − ∇F(w')|² ≤ 2β(F(w) − F(w') − ⟨∇F(w'), w − w'⟩) for every F that is convex and "
        "β-smooth on the domain W, and w, w' in W. The proof of Lemma E.4 applies it to the losses of records."
    ),
    truth=(
        "F must be convex and β-smooth beyond W, for example on all of R^d. On a thin strip in the plane, the left "
        "side is 1.22, 1.38 or 2.22 times the right one in our examples. The first inequality, with an inner product, "
        "holds on every W that has interior points."
    ),
    test="tests/theorems/risk/lowy_razaviyayn/test_descent_lemmas.py::test_smooth_on_a_strip_is_not_enough",
    place="Appendix E.3, Lemma E.8; used in the proof of Lemma E.4, before (16)",
    charitable=(
        "If losses are convex and β-smooth on all of R^d, as the logistic and the squared loss are, the lemma holds. "
        "The text defines β-smoothness on W."
    ),
)
LEMMA_E3 = Theorem(
    id="lowy.lemma-e.3",
    title="A gradient step brings points closer",
    statement=(
        "For a step size η ≤ 2/(β + μ), |w − η∇F(w) − w' + η∇F(w')| ≤ (1 − ηβμ/(β + μ))|w − w'| ≤ "
        "(1 − ημ/2)|w − w'|. The smaller factor 1 − ημ holds too"
    ),
    source=Source("lowy2023", "Lemma E.3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-size",
            "η ≤ 2/(β + μ) for the step size η, the smoothness β and the strong convexity μ",
            _step_size_sides,
        ),
        Condition(
            "loss",
            (
                "F is μ-strongly convex and β-smooth on an open convex set that holds both points. The Hessian "
                "there is between μ and β in every direction, not only along the segment between the points"
            ),
        ),
    ),
    formula=contraction,
    examples=({"step_size": 0.5, "smoothness": 2.0, "strong_convexity": 0.5},),
)
LEMMA_E7 = Theorem(
    id="lowy.lemma-e.7",
    title="Projections do not expand",
    statement=(
        "|Π(w) − Π(w')| ≤ |w − w'| for the projection Π on a closed convex set. The lemma has w' in the set, where w' "
        "is its own projection"
    ),
    source=Source("lowy2023", "Lemma E.7"),
    status=Status.PROVED,
    conditions=(Condition("closed-convex-domain", "the set is closed and convex"),),
)
LEMMA_E8 = Theorem(
    id="lowy.lemma-e.8",
    title="Gradients of smooth convex losses are co-coercive",
    statement=(
        "A convex, β-smooth F has |∇F(x) − ∇F(y)|² ≤ β⟨∇F(x) − ∇F(y), x − y⟩ and |∇F(x) − ∇F(y)|² ≤ 2β(F(x) − F(y) − "
        "⟨∇F(y), x − y⟩)"
    ),
    source=Source("lowy2023", "Lemma E.8"),
    status=Status.PROVED,
    conditions=(
        Condition("whole-space", "F is convex and β-smooth on the whole space, not only on the domain of the model"),
    ),
    errata=(DOMAIN_ONLY,),
    formula=coercivity,
    examples=(
        {"smoothness": 2.0, "bregman_divergence": 0.3},
        {"smoothness": 2.0, "bregman_divergence": 0.3, "inner_product": 0.7},
    ),
)


# Lemma E.9 ----------------------------------------------------------------------------------------------------------
def recursion_step_size(*, contraction: float, curvature: float, variance: float, start: float, rounds: int) -> float:
    """Return the step size η of Lowy and Razaviyayn for the recursion r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη².

    The recursion describes descent: r_t is a squared distance from the minimiser, and s_t an excess risk. Lemma E.9 has

        η = min{1/g, ln(max{2, a² r₀ T²/c})/(aT)},  and 1/g if c = 0.

    Args:
        contraction: rate a of the recursion.
        curvature: g; 1/g is the largest admissible step size.
        variance: coefficient c of η².
        start: first value r₀ of the recursion.
        rounds: number T of steps.

    Returns:
        The step size η, at most 1/g.
    """
    largest_step = 1.0 / curvature
    if variance == 0.0:
        return largest_step
    scaled_rounds = contraction * rounds  # aT
    argument = scaled_rounds * scaled_rounds * start / variance
    return min(largest_step, math.log(max(2.0, argument)) / scaled_rounds)


def recursion_bound(*, contraction: float, variance: float, start: float, step_size: float, averaged: int) -> float:
    """Bound a weighted mean of the excess risks s_t in the recursion r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη².

    r_t is a squared distance from the minimiser. Let γ_t = (1 − aη)^{−(t+1)} be the weights of the first T' terms, and
    Γ their sum. The bound is:

        (b/Γ) Σ_{t<T'} γ_t s_t + a r_{T'} ≤ (r₀/η)(1 − aη)^T' + cη.

    Proof: multiplying the recursion by γ_t/η and adding gives b Σ γ_t s_t ≤ r₀/η − γ_{T'−1} r_{T'}/η + cηΓ. Divide by
    Γ, and use γ_{T'−1} ≤ Γ ≤ γ_{T'−1}/(aη), where γ_{T'−1} = (1 − aη)^{−T'}.

    Lemma E.9 of Lowy and Razaviyayn averages T + 1 terms, but their Algorithm 1 only R. Hence T' = R there (erratum
    E-33).

    Args:
        contraction: rate a of the recursion.
        variance: coefficient c of η².
        start: first value r₀ of the recursion.
        step_size: step size η.
        averaged: number T' of averaged terms.

    Returns:
        The right side of the bound; infinite if aη ≥ 1, where the weights are not defined.
    """
    if contraction * step_size >= 1.0:
        return math.inf
    decay = math.exp(averaged * math.log1p(-contraction * step_size))  # (1 − aη)^T'
    return start / step_size * decay + variance * step_size


def recursion_scale(*, contraction: float, curvature: float, variance: float, start: float, rounds: int) -> float:
    """Return the order of the bound that Lemma E.9 of Lowy and Razaviyayn derives from a recursion of descent.

    The recursion is r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη². The bound is on b times a weighted mean of s_t. Its order is
    g r₀ e^{−aT/g} + c/(aT), without a constant and a logarithm.

    Args:
        contraction: rate a of the recursion.
        curvature: g; 1/g is the largest admissible step size.
        variance: coefficient c of η².
        start: first value r₀ of the recursion.
        rounds: number T of steps.

    Returns:
        The order of the bound, in the unit of b s_t.
    """
    initial_term = curvature * start * math.exp(-contraction * rounds / curvature)
    return initial_term + variance / (contraction * rounds)


_CONTRACTION = Quantity(symbol="a", gt=0, scale=SQUARES, description="rate of the recursion, before the step size")
_PROGRESS = Quantity(symbol="b", gt=0, scale=SQUARES, description="weight of the excess in the recursion")
_VARIANCE = Quantity(
    symbol="c", ge=0, scale=SQUARES, description="variance of the recursion, before the squared step size"
)
_CURVATURE = Quantity(symbol="g", gt=0, scale=SQUARES, description="one over the largest admissible step size")
_START = Quantity(symbol="r₀", gt=0, scale=SQUARES, description="first value of the recursion")


@formula(given="r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη² for t = 0, …, T − 1, at every η ≤ 1/g.")
def recursion(
    *,
    contraction: Annotated[float, _CONTRACTION],
    progress: Annotated[float, _PROGRESS] = 1.0,
    variance: Annotated[float, _VARIANCE],
    curvature: Annotated[float, _CURVATURE],
    start: Annotated[float, _START],
    rounds: Rounds,
) -> Outputs:
    """Return the step size and the risk bound of Lemma E.9 of Lowy and Razaviyayn for a recursion of descent.

    The recursion is r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη², in which r_t is a squared distance and s_t an excess risk.

    Args:
        contraction: rate a of the recursion.
        progress: weight b of s_t.
        variance: coefficient c of η².
        curvature: g; 1/g is the largest admissible step size.
        start: first value r₀ of the recursion.
        rounds: number T of steps.

    Returns:
        `step_size`: the step size η of the lemma.
        `averaging_ratio`: factor from one weight of the mean to the next.
        `bound`: bound on b times the weighted mean of s_t.
        `excess_risk`: bound on the weighted mean of s_t.
        `scale`: order of `bound`, as the lemma states it.
    """
    coefficients = {"contraction": contraction, "variance": variance, "start": start}
    step = recursion_step_size(curvature=curvature, rounds=rounds, **coefficients)
    bound = recursion_bound(step_size=step, averaged=rounds, **coefficients)
    return {
        "step_size": step,
        "averaging_ratio": averaging_ratio(contraction * step),
        "bound": bound,
        "excess_risk": bound / progress,
        "scale": recursion_scale(curvature=curvature, rounds=rounds, **coefficients),
    }


LEMMA_E9 = Theorem(
    id="lowy.lemma-e.9",
    title="The recursion of strongly convex descent, solved",
    statement=(
        "Let r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη². Then (b/Γ) Σ_{t<T} γ_t s_t + a r_T ≤ (r₀/η)(1 − aη)^T + "
        "cη. The weights are γ_t = (1 − aη)^{−(t+1)}, and Γ is their sum (T + 1 terms in the lemma, T in "
        "Algorithm 1). The step is η = min{1/g, ln(max{2, a²r₀T²/c})/(aT)}"
    ),
    source=Source("lowy2023", "Lemma E.9"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "curvature",
            "g ≥ a: the largest step 1/g is at most 1/a",
            lambda inputs: Sides.at_least(inputs.curvature, inputs.contraction),
        ),
    ),
    formula=recursion,
    examples=({"contraction": 0.1, "variance": 0.5, "curvature": 8.0, "start": 1.0, "rounds": 1000},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E3, LEMMA_E7, LEMMA_E8, LEMMA_E9)
