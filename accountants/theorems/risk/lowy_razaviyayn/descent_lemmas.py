"""Lemmas E.3, E.4 and E.7 to E.9 of Lowy and Razaviyayn: what projected gradient steps do, noisy or not."""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    PARTICIPANTS_AMONG_CLIENTS,
    SQUARES,
    BatchSize,
    Clients,
    Dimension,
    EmpiricalGradientStd,
    EmpiricalHeterogeneity,
    InitialDistance,
    NoiseStd,
    Participants,
    Quantity,
    Rounds,
    Smoothness,
    StepSize,
    StrongConvexity,
)
from epsilond.accountants.theorem import Condition, Erratum, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.gradient_variance import client_factor


def step_contraction_printed(*, step_size: float, smoothness: float, strong_convexity: float) -> float:
    """1 − ηβμ/(β + μ), by how much a gradient step shrinks distances at least; for η ≤ 2/(β + μ).

    |w − w' − η(g − g')|² = |w − w'|² − 2η⟨g − g', w − w'⟩ + η²|g − g'|², and the inner product is at least
    (βμ|w − w'|² + |g − g'|²)/(β + μ): the factor squared is at most 1 − 2ηβμ/(β + μ).
    """
    return 1.0 - step_size * (smoothness * (strong_convexity / (smoothness + strong_convexity)))


def step_contraction(*, step_size: float, smoothness: float, strong_convexity: float) -> float:
    """max{1 − ημ, ηβ − 1}, the least factor there is: 1 − ημ for η ≤ 2/(β + μ); quadratics attain it."""
    return max(1.0 - step_size * strong_convexity, step_size * smoothness - 1.0)


@formula(given="A gradient step on a strongly convex and smooth loss.", checks=(CONVEXITY_WITHIN_SMOOTHNESS,))
def contraction(*, step_size: StepSize, smoothness: Smoothness, strong_convexity: StrongConvexity) -> Outputs:
    """The printed factor, the printed simpler one 1 − ημ/2, and the least one."""
    shared = {"step_size": step_size, "smoothness": smoothness, "strong_convexity": strong_convexity}
    return {
        "contraction": step_contraction_printed(**shared),
        "simple_contraction": 1.0 - 0.5 * step_size * strong_convexity,
        "least_contraction": step_contraction(**shared),
    }


def _step(*, step_size: float, smoothness: float, strong_convexity: float) -> Sides:
    return Sides.at_most(step_size, 2.0 / (smoothness + strong_convexity))


_DIVERGENCE = Quantity(unit="loss", ge=0, scale=SQUARES, description="F(x) − F(y) − ⟨∇F(y), x − y⟩")


@formula(given="A smooth convex loss at two points.")
def coercivity(*, smoothness: Smoothness, bregman_divergence: Annotated[float, _DIVERGENCE]) -> Outputs:
    """2β(F(x) − F(y) − ⟨∇F(y), x − y⟩), at least |∇F(x) − ∇F(y)|²."""
    return {"squared_gradient_difference": 2.0 * smoothness * bregman_divergence}


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
    formula=coercivity,
    examples=({"smoothness": 2.0, "bregman_divergence": 0.3},),
)


_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_convergence.py"


# Lemma E.9 ----------------------------------------------------------------------------------------------------------
def recursion_step_size(*, contraction: float, curvature: float, variance: float, start: float, rounds: int) -> float:
    """η = min{1/g, ln(max{2, a² r₀ T²/c})/(aT)} of Lemma E.9.

    a = `contraction`, g = `curvature`, c = `variance`, r₀ = `start`, T = `rounds`. With c = 0 it is 1/g.
    """
    if variance == 0.0:
        return 1.0 / curvature
    reach = contraction * rounds
    argument = reach * reach * start / variance
    return min(1.0 / curvature, math.log(max(2.0, argument)) / reach)


def recursion_bound(*, contraction: float, variance: float, start: float, step_size: float, averaged: int) -> float:
    """(r₀/η)(1 − aη)^T' + cη for r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη² (E-33).

    It bounds (b/Γ) Σ γ_t s_t + a r_{T'} over the T' = `averaged` first terms, γ_t = (1 − aη)^{−(t+1)}. Multiply the
    recursion by γ_t/η and add: b Σ γ_t s_t ≤ r₀/η − γ_{T'−1} r_{T'}/η + cηΓ; then Γ ≥ γ_{T'−1} = (1 − aη)^{−T'} and
    Γ ≤ γ_{T'−1}/(aη). The lemma averages T + 1 terms and Algorithm 1 only R, so T' = R there. Needs aη < 1, else inf.
    """
    if contraction * step_size >= 1.0:
        return math.inf
    return start / step_size * math.exp(averaged * math.log1p(-contraction * step_size)) + variance * step_size


def recursion_scale(*, contraction: float, curvature: float, variance: float, start: float, rounds: int) -> float:
    """g r₀ e^{−aT/g} + c/(aT), the printed form of Lemma E.9: a scale, its constant and logarithm hidden."""
    fading = curvature * start * math.exp(-contraction * rounds / curvature)
    return fading + variance / (contraction * rounds)


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
    """The step size, the ratio of successive weights, the explicit bound on (b/Γ) Σγ_t s_t, and on the mean s alone."""
    shared = {"contraction": contraction, "variance": variance, "start": start}
    step = recursion_step_size(curvature=curvature, rounds=rounds, **shared)
    bound = recursion_bound(step_size=step, averaged=rounds, **shared)
    left = 1.0 - contraction * step
    return {
        "step_size": step,
        "averaging_ratio": 1.0 / left if left > 0.0 else math.inf,
        "bound": bound,
        "excess_risk": bound / progress,
        "scale": recursion_scale(curvature=curvature, rounds=rounds, **shared),
    }


LEMMA_E9 = Theorem(
    id="lowy.lemma-e.9",
    title="The recursion of strongly convex descent, solved",
    statement=(
        "r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη² gives (b/Γ) Σ_{t<T} γ_t s_t + a r_T ≤ (r₀/η)(1 − aη)^T + cη with "
        "γ_t = (1 − aη)^{−(t+1)}, Γ their sum (T + 1 terms in the lemma, T in Algorithm 1); "
        "η = min{1/g, ln(max{2, a²r₀T²/c})/(aT)}"
    ),
    source=Source("lowy2023", "Lemma E.9"),
    status=Status.PROVED,
    conditions=(Condition("curvature", "g ≥ a", lambda inputs: Sides.at_least(inputs.curvature, inputs.contraction)),),
    formula=recursion,
    examples=({"contraction": 0.1, "variance": 0.5, "curvature": 8.0, "start": 1.0, "rounds": 1000},),
)


# Lemma E.4 ----------------------------------------------------------------------------------------------------------
def convex_bound_printed(
    *,
    initial_distance: float,
    step_size: float,
    rounds: int,
    sampling_variance: float,
    client_variance: float,
    noise_variance: float,
) -> float:
    """D²/(ηR) + 2η[sampling + clients + noise/2], for the average of w_0, …, w_{R−1} and η ≤ 1/(4β).

    The variances are per step, of the averaged gradient: min{Φ*²/(M'K), φ*²_max/(MK)}, Υ*²/M and
    d min{Σ²/M', σ²_max/M}, the first two at the minimiser. False where a constraint keeps ∇F(w*) from being 0 (E-13).
    """
    total = sampling_variance + client_variance + 0.5 * noise_variance
    return initial_distance * initial_distance / (step_size * rounds) + 2.0 * step_size * total


def convex_bound(
    *, initial_distance: float, step_size: float, rounds: int, smoothness: float, variance: float
) -> float:
    """D²/(2ηR) + ηV²/(2(1 − ηβ)), for the average of w_1, …, w_R and any η < 1/β: no stationarity needed.

    V² bounds the variance of one averaged noisy gradient over the whole domain. Proof in `explicit_bound.py`.
    """
    slack = 1.0 - step_size * smoothness
    if slack <= 0.0 < variance or slack < 0.0:
        return math.inf
    spread = 0.5 * step_size * variance / slack if variance > 0.0 else 0.0
    return 0.5 * initial_distance * initial_distance / (step_size * rounds) + spread


@formula(
    given="Algorithm 1 on a convex empirical loss, equal clients; gradient statistics on the data at hand.",
    checks=(PARTICIPANTS_AMONG_CLIENTS,),
)
def convex_descent(
    *,
    initial_distance: InitialDistance,
    step_size: StepSize,
    rounds: Rounds,
    clients: Clients,
    participants: Participants,
    batch_size: BatchSize,
    dimension: Dimension,
    smoothness: Smoothness,
    noise_std: NoiseStd,
    empirical_gradient_std: EmpiricalGradientStd,
    empirical_heterogeneity: EmpiricalHeterogeneity = 0.0,
    reading: Reading = "printed",
) -> Outputs:
    """The bound on the empirical excess risk, and the three variances per step."""
    sampling = empirical_gradient_std * empirical_gradient_std / (participants * batch_size)
    apart = client_factor(clients=clients, participants=participants)
    between = apart * empirical_heterogeneity * empirical_heterogeneity
    noise = dimension * noise_std * noise_std / participants
    start = {"initial_distance": initial_distance, "step_size": step_size}
    if reading == "printed":
        bound = convex_bound_printed(
            sampling_variance=sampling, client_variance=between, noise_variance=noise, rounds=rounds, **start
        )
    else:
        bound = convex_bound(smoothness=smoothness, variance=sampling + between + noise, rounds=rounds, **start)
    return {
        "excess_risk": bound,
        "sampling_variance": sampling,
        "client_variance": between,
        "noise_variance": noise,
    }


CONSTRAINED_MINIMUM = Erratum(
    "E-13",
    printed="Lemma E.4 and part 2 of Lemma E.5, for every minimiser over W, averaging w_0, …, w_{R−1}",
    truth=(
        "they need ∇F(w*) = 0; averaging w_1, …, w_R instead gives D²/(2ηR) + ηV²/(2(1 − ηβ)) without it. With R = 1 "
        "the printed output is the start itself, and f(w) = Lw on an interval refutes the lemma and the 272 LDν/√M~ of "
        "Theorem 2.1"
    ),
    test=f"{_TESTS}::test_a_constrained_minimum_refutes_the_printed_average",
)

LEMMA_E4 = Theorem(
    id="lowy.lemma-e.4",
    title="Noisy projected descent on a convex loss",
    statement=(
        "E F̂(ŵ) − F̂* ≤ D²/(ηR) + 2η[min{Φ*²/(M'K), φ*²_max/(MK)} + Υ*²/M + (d/2) min{Σ²/M', σ²_max/M}] for "
        "η ≤ 1/(4β) and ŵ the average of w_0, …, w_{R−1}"
    ),
    source=Source("lowy2023", "Lemma E.4"),
    status=Status.REFUTED,
    conditions=(
        Condition("step-size", "η β ≤ 1/4", lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness, 0.25)),
        Condition("stationary-minimum", "the gradient of the empirical loss vanishes at a minimiser in the domain"),
    ),
    errata=(CONSTRAINED_MINIMUM,),
    formula=convex_descent,
    examples=(
        {
            "initial_distance": 1.0,
            "step_size": 0.1,
            "rounds": 99,
            "clients": 10,
            "participants": 10,
            "batch_size": 100,
            "dimension": 20,
            "smoothness": 2.0,
            "noise_std": 0.4,
            "empirical_gradient_std": 2.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E3, LEMMA_E4, LEMMA_E7, LEMMA_E8, LEMMA_E9)
