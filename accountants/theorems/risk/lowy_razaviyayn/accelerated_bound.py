"""An explicit bound on the excess risk of Algorithm 2, accelerated noisy mini-batch SGD, at any noise and rounds.

A stage of T rounds from w_0 = w^ag_0, with α = 2/(t + 1), η = 4v/(t(t + 1)), v > 0 its prox weight, and a stochastic
gradient g = ∇F(w^md) + e (F convex, β-smooth, μ-strongly convex on W, where μ may be 0):

    w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(μ + η − α²μ),           w^ag and w those of t − 1,
    w_t  = argmin over W of α(⟨g, w'⟩ + μ|w^md − w'|²/2) + ((1 − α)μ + η)|w − w'|²/2,
    w^ag_t = α w_t + (1 − α) w^ag.                                            Output: w^ag_T.

Let w⁺ = [αμ w^md + ((1 − α)μ + η) w]/(μ + η), known before g; w^ag_t − w^md = α(w_t − w⁺) by the first line. For u ∈ W:

1. β-smooth: F(w^ag_t) ≤ F(w^md) + ⟨∇F(w^md), w^ag_t − w^md⟩ + βα²|w_t − w⁺|²/2. Split w^ag_t into its two parts; by
   convexity the first is at most (1 − α)F(w^ag), and by μ-convexity F(w^md) + ⟨∇F, u − w^md⟩ ≤ F(u) − μ|u − w^md|²/2:
       F(w^ag_t) ≤ (1 − α)F(w^ag) + αF(u) − αμ|u − w^md|²/2 + α⟨∇F(w^md), w_t − u⟩ + βα²|w_t − w⁺|²/2.
2. What w_t minimises is (μ + η)-strongly convex, so at u it exceeds its least value by (μ + η)|u − w_t|²/2; and
   αμ|w^md − w_t|² + ((1 − α)μ + η)|w − w_t|² ≥ (μ + η)|w⁺ − w_t|², since | |² is convex:
       α⟨g, w_t − u⟩ ≤ αμ|w^md − u|²/2 + ((1 − α)μ + η)|w − u|²/2 − (μ + η)|w_t − u|²/2 − (μ + η)|w_t − w⁺|²/2.
3. Add, with ∇F = g − e. Given the past, E⟨e, w⁺ − u⟩ = 0, and −α⟨e, w_t − w⁺⟩ ≤ α²|e|²/(2p) + p|w_t − w⁺|²/2 with
   p = μ + η − βα² > 0, whose last term cancels. With Φ_t = E F(w^ag_t) − F(u) + μE|w_t − u|²/2 and E|e|² ≤ V²:
       Φ_t ≤ (1 − α)Φ_{t−1} + η(E|w − u|² − E|w_t − u|²)/2 + α²V²/(2p).
4. Divide by 2/(t(t + 1)), which turns 1 − α into 1 and η/2 into v, and add. With s = v − βT/(T + 1) > 0,

       E F(w^ag_T) − F(u) ≤ 2/(T(T + 1)) · [v E|w_0 − u|² + V² Σ_{t≤T} t²/(μt(t + 1) + 4s)].

   For μ = 0 the sum is T(T + 1)(2T + 1)/(24s), and the best s gives 2βD₀²/(T + 1)² + 2D₀V √((2T + 1)/(6T(T + 1))).
5. Stages: each starts at the output of the one before. With u the minimiser over W, |w − u|² ≤ 2(F(w) − F*)/μ, so the
   bound of one stage is the start of the next; the diameter bounds the distance too.

Nothing here needs ∇F(u) = 0, nor bounded e. In one pass over the data (every record used once, drawn independently) F
may be the population loss: g is unbiased for it. With fresh random batches of re-used records F is the empirical one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from epsilond.accountants.quantities import (
    BATCH_WITHIN_CLIENT,
    CONVEXITY_WITHIN_SMOOTHNESS,
    ENVELOPE_SMOOTHNESS,
    GRADIENT_STD,
    HETEROGENEITY,
    INITIAL_DISTANCE,
    INITIAL_GAP,
    BatchSize,
    Checks,
    Diameter,
    Dimension,
    Lipschitz,
    NoiseStd,
    ParticipantFields,
    Quantity,
    Rounds,
    SamplesPerClient,
    Smoothness,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    envelope_gap,
    envelope_strong_convexity,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import Objective
from epsilond.accountants.theorems.risk.lowy_razaviyayn.gradient_variance import (
    Variance,
    client_factor,
    gradient_variance,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.one_pass import one_pass_variance

ROUNDING = 2.0**-36
"""Charged on every bound, relative: far more than what the operations below can lose."""
SUMMED = 1024
"""Terms of the sum taken one by one; the rest is bounded by an integral."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage: its rounds T and its prox weight v, where η_t = 4v/(t(t + 1))."""

    rounds: int
    prox_weight: float


@dataclass(frozen=True, kw_only=True)
class Descent:
    """What is descended: β, μ, a bound on the distance from the start to a minimiser over the domain, and Δ if known.

    `diameter` is that of the domain; every later stage is no further than that from the minimiser.
    """

    smoothness: float
    strong_convexity: float = 0.0
    initial_distance: float
    diameter: float
    initial_gap: float = math.inf

    def squared_distance(self, gap: float, *, most: float) -> float:
        """The least known bound on |w − w*|² where the excess risk is at most `gap`."""
        squared = most * most
        return min(squared, 2.0 * gap / self.strong_convexity) if self.strong_convexity > 0.0 else squared


@dataclass(frozen=True)
class Bound:
    """E F(w^ag) − F* ≤ `optimisation` + `variance_factor` · V²."""

    optimisation: float
    variance_factor: float

    def at(self, variance: float) -> float:
        """The bound at V², rounded up."""
        spread = self.variance_factor * variance if variance > 0.0 else 0.0
        return (self.optimisation + spread) * (1.0 + ROUNDING)


def stage_factors(stage: Stage, *, smoothness: float, strong_convexity: float) -> Bound:
    """A and B of a stage: E F(w^ag) − F(u) ≤ A E|w_0 − u|² + B V². Both infinite where v < βT/(T + 1)."""
    rounds, weight = float(stage.rounds), stage.prox_weight
    spare = weight * (1.0 - 2.0**-51) - smoothness * (rounds / (rounds + 1.0))  # rounded down
    if spare < 0.0:
        return Bound(math.inf, math.inf)
    scale = 2.0 / (rounds * (rounds + 1.0))
    if strong_convexity == 0.0:
        return Bound(scale * weight, (2.0 * rounds + 1.0) / (12.0 * spare) if spare > 0.0 else math.inf)
    return Bound(scale * weight, scale * _summed(stage.rounds, 4.0 * spare, strong_convexity))


def _summed(rounds: int, spare: float, strong_convexity: float) -> float:
    """An upper bound of Σ_{t≤T} t²/(μt(t + 1) + 4s), within 0.2 %.

    Its terms rise with t, so the integral of x²/(μx² + 4s) over [m + 1, T + 1] bounds those beyond m.
    """
    listed = np.arange(1.0, min(rounds, SUMMED) + 1.0)
    total = float(np.sum(listed * listed / (strong_convexity * listed * (listed + 1.0) + spare)))
    if rounds <= SUMMED:
        return total
    low, high = SUMMED + 1.0, rounds + 1.0
    knee = math.sqrt(spare / strong_convexity)
    if high < 0.03 * knee:  # the difference below would cancel; x²/(4s) is hardly more
        return total + (high**3 - low**3) / (3.0 * spare)
    bent = knee * (math.atan2(high, knee) - math.atan2(low, knee)) if knee > 0.0 else 0.0
    return total + (high - low - bent) / strong_convexity


def stages_bound(stages: Sequence[Stage], descent: Descent, *, variance: float) -> Bound:
    """The bound after all stages, one after the other; V² decides only which bound on a distance is the lesser."""
    so_far = Bound(descent.initial_gap, 0.0)
    most = descent.initial_distance
    for stage in stages:
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        so_far = _after(factors, so_far, descent, most=most, variance=variance)
        most = descent.diameter
    return so_far


def _after(factors: Bound, before: Bound, descent: Descent, *, most: float, variance: float) -> Bound:
    gap = before.at(variance)
    if descent.strong_convexity > 0.0 and descent.squared_distance(gap, most=most) < most * most:
        pull = 2.0 * factors.optimisation / descent.strong_convexity
        return Bound(pull * before.optimisation, pull * before.variance_factor + factors.variance_factor)
    return Bound(factors.optimisation * most * most, factors.variance_factor)


def best_stage(rounds: int, *, descent: Descent, squared_distance: float, variance: float) -> Stage:
    """The stage of T rounds whose prox weight makes its bound (nearly) least; for μ = 0 exactly so.

    s = √(V²(2T + 1)T(T + 1)/(24 D₀²)) if μ = 0; less if μ > 0, where powers of two below it are tried. Any s is valid.
    """
    least = descent.smoothness * (rounds / (rounds + 1.0)) * (1.0 + 2.0**-49)
    cubed = (2.0 * rounds + 1.0) * rounds * (rounds + 1.0) / 24.0
    spare = math.sqrt(variance * cubed / squared_distance)
    if descent.strong_convexity == 0.0:
        return Stage(rounds=rounds, prox_weight=least + spare)
    shares = [*(2.0**-power for power in range(0, 12, 2)), 0.0]
    stages = [Stage(rounds=rounds, prox_weight=least + share * spare) for share in shares]

    def total(stage: Stage) -> float:
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        return Bound(factors.optimisation * squared_distance, factors.variance_factor).at(variance)

    return min(stages, key=total)


PACES = (3.0, 2.0 * math.e, 10.0)
"""Lengths of the early stages tried, in units of √(β/μ); 2e shrinks an excess fastest where there is no noise."""
MOST_STAGES = 64


def best_stages(rounds: int, *, descent: Descent, variance: float) -> tuple[Stage, ...]:
    """Stages of R rounds in all with a nearly least bound: one if μ = 0, else equal short ones and a long last one."""
    whole = descent.squared_distance(descent.initial_gap, most=descent.initial_distance)
    best: tuple[Stage, ...] = (best_stage(rounds, descent=descent, squared_distance=whole, variance=variance),)
    if descent.strong_convexity == 0.0:
        return best
    least = stages_bound(best, descent, variance=variance).at(variance)
    for pace in PACES:
        length = math.ceil(pace * math.sqrt(descent.smoothness / descent.strong_convexity))
        early: list[Stage] = []
        squared = whole
        while len(early) < MOST_STAGES and (len(early) + 1) * length < rounds:
            early.append(best_stage(length, descent=descent, squared_distance=squared, variance=variance))
            gap = stages_bound(early, descent, variance=variance).at(variance)
            closer = descent.squared_distance(gap, most=descent.diameter)
            if closer >= squared:
                break
            squared = closer
            rest = rounds - len(early) * length
            stages = (*early, best_stage(rest, descent=descent, squared_distance=squared, variance=variance))
            found = stages_bound(stages, descent, variance=variance).at(variance)
            if found >= least and len(early) > 1:
                break
            if found < least:
                best, least = stages, found
    return best


@dataclass(frozen=True, kw_only=True)
class AcceleratedProblem:
    """The run and the loss, apart from noise and rounds.

    Objective `population`: one pass over disjoint batches, and the statistics are φ and v of the distributions.
    `empirical`: fresh random batches of re-used records, and they are Φ̂ and v̂ on the data at hand. None: the largest
    they can be, L; in any case φ² + v² ≤ L² at every point. With `envelope_smoothness` b the loss is not smooth, and
    what is descended is its envelope; `smoothness` is then not used.
    """

    clients: int
    participants: float
    samples_per_client: int
    batch_size: int
    dimension: int
    lipschitz: float
    smoothness: float
    strong_convexity: float
    initial_distance: float
    diameter: float
    initial_gap: float
    gradient_std: float | None = None
    heterogeneity: float | None = None
    objective: Objective
    envelope_smoothness: float | None = None

    @property
    def descent(self) -> Descent:
        """What is descended. The envelope's minimiser may be another, so only the diameter bounds the way to it."""
        b = self.envelope_smoothness
        if b is None:
            return Descent(
                smoothness=self.smoothness,
                strong_convexity=self.strong_convexity,
                initial_distance=self.initial_distance,
                diameter=self.diameter,
                initial_gap=self.initial_gap,
            )
        kept = self.envelope_convexity(b)
        return Descent(
            smoothness=b,
            strong_convexity=kept,
            initial_distance=self.initial_distance if kept == 0.0 else self.diameter,
            diameter=self.diameter,
            initial_gap=self.initial_gap + self.smoothing_gap,
        )

    def envelope_convexity(self, envelope_smoothness: float) -> float:
        """How strongly convex the mean of the envelopes is."""
        return envelope_strong_convexity(
            strong_convexity=self.strong_convexity, envelope_smoothness=envelope_smoothness
        )

    @property
    def smoothing_gap(self) -> float:
        """L²/(2b), 0 for a loss that is smooth itself."""
        if self.envelope_smoothness is None:
            return 0.0
        return envelope_gap(lipschitz=self.lipschitz, envelope_smoothness=self.envelope_smoothness)

    def variance(self, noise_std: float) -> Variance:
        """The variance of one round's gradient at σ = `noise_std`, by its parts."""
        std = self.lipschitz if self.gradient_std is None else self.gradient_std
        if self.objective == "empirical":
            return gradient_variance(
                clients=self.clients,
                participants=self.participants,
                samples_per_client=self.samples_per_client,
                batch_size=self.batch_size,
                dimension=self.dimension,
                noise_std=noise_std,
                empirical_gradient_std=std,
                empirical_heterogeneity=std if self.heterogeneity is None else self.heterogeneity,
            )
        spread = self.lipschitz if self.heterogeneity is None else self.heterogeneity
        between = client_factor(clients=self.clients, participants=self.participants)
        if between > 1.0 / (self.participants * self.batch_size):
            spread = min(spread, self.lipschitz)
            std = min(std, self._rest(spread))
        else:
            std = min(std, self.lipschitz)
            spread = min(spread, self._rest(std))
        return one_pass_variance(
            clients=self.clients,
            participants=self.participants,
            batch_size=self.batch_size,
            dimension=self.dimension,
            noise_std=noise_std,
            gradient_std=std,
            heterogeneity=spread,
        )

    def _rest(self, other: float) -> float:
        """What φ² + v² ≤ L² leaves beside the other: V² is linear in both, so the dearer one is taken first."""
        return math.sqrt(max(self.lipschitz * self.lipschitz - other * other, 0.0)) * (1.0 + 2.0**-40)


@dataclass(frozen=True, kw_only=True)
class AcceleratedRisk:
    """The bound in loss units, its terms, and the stages that reach it."""

    total: float
    terms: Mapping[str, float]
    stages: tuple[Stage, ...]


def accelerated_risk(
    problem: AcceleratedProblem, *, noise_std: float, rounds: int, stages: Sequence[Stage] | None = None
) -> AcceleratedRisk:
    """The bound at σ and R, with the best stages found unless others are given.

    Guarantees: E F(w^ag) − F* is at most `total`, under the theorem's declared conditions.
    """
    variance, descent = problem.variance(noise_std), problem.descent
    run = tuple(stages) if stages else best_stages(rounds, descent=descent, variance=variance.total)
    bound = stages_bound(run, descent, variance=variance.total)
    terms = {
        "optimisation": bound.optimisation,
        "sampling": _times(bound.variance_factor, variance.sampling),
        "client_sampling": _times(bound.variance_factor, variance.clients),
        "noise": _times(bound.variance_factor, variance.noise),
        "smoothing": problem.smoothing_gap,
    }
    return AcceleratedRisk(total=bound.at(variance.total) + problem.smoothing_gap, terms=terms, stages=run)


def _times(factor: float, variance: float) -> float:
    return factor * variance if variance > 0.0 else 0.0


def best_envelope_smoothness(problem: AcceleratedProblem, *, noise_std: float, rounds: int) -> float:
    """The b of the envelope with a nearly least bound: L(R + 1)/(2D₀) exactly if μ = 0, near it by halves if μ > 0.

    For μ = 0, 2bD₀²/(R + 1)² + L²/(2b) is all that depends on b. Any b is valid.
    """
    start = problem.lipschitz * (rounds + 1.0) / (2.0 * problem.initial_distance)
    if problem.strong_convexity == 0.0:
        return start
    tried = [start * 2.0**power for power in range(-4, 13)]
    return min(
        tried,
        key=lambda b: (
            accelerated_risk(replace(problem, envelope_smoothness=b), noise_std=noise_std, rounds=rounds).total
        ),
    )


OBJECTIVE = Quantity(
    description="what the excess is of: the expected loss (one pass), or the mean loss on the data at hand (re-used)"
)


@request
class AcceleratedRiskInputs(ParticipantFields):
    """A run of Algorithm 2, equal clients. Absent: φ (or Φ̂) and v (or v̂) are L; distance D; gap LD; b none."""

    samples_per_client: SamplesPerClient
    batch_size: BatchSize
    rounds: Rounds
    dimension: Dimension
    noise_std: NoiseStd
    lipschitz: Lipschitz
    smoothness: Smoothness
    strong_convexity: StrongConvexity = 0.0
    diameter: Diameter
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    initial_gap: Annotated[float | None, INITIAL_GAP] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Annotated[float | None, HETEROGENEITY] = None
    envelope_smoothness: Annotated[float | None, ENVELOPE_SMOOTHNESS] = None
    objective: Annotated[Objective, OBJECTIVE] = "population"

    checks: ClassVar[Checks] = (BATCH_WITHIN_CLIENT, CONVEXITY_WITHIN_SMOOTHNESS)

    @property
    def problem(self) -> AcceleratedProblem:
        """Everything but noise and rounds."""
        return of_same_fields(
            AcceleratedProblem,
            self,
            initial_distance=self.initial_distance or self.diameter,
            initial_gap=self.initial_gap or self.lipschitz * self.diameter,
        )


def bound(inputs: AcceleratedRiskInputs) -> Outputs:
    """The bound, its terms, and the stages that reach it."""
    risk = accelerated_risk(inputs.problem, noise_std=inputs.noise_std, rounds=inputs.rounds)
    return {
        "excess_risk": risk.total,
        **{f"{name}_term": value for name, value in risk.terms.items()},
        "stages": [{"rounds": stage.rounds, "prox_weight": stage.prox_weight} for stage in risk.stages],
    }


def _one_pass(inputs: AcceleratedRiskInputs) -> Sides:
    """KR against n for one pass, against KR itself where records are re-used."""
    used = float(inputs.batch_size) * inputs.rounds
    return Sides.at_most(used, float(inputs.samples_per_client) if inputs.objective == "population" else used)


ACCELERATED_RISK_BOUND = Theorem(
    id="epsilond.accelerated-sgd-excess-risk",
    title="Excess risk of accelerated noisy mini-batch SGD, explicit at any noise",
    statement=(
        "One stage: E F(w^ag_T) − F* ≤ 2/(T(T + 1)) [v|w₀ − w*|² + V² Σ_{t≤T} t²/(μt(t + 1) + 4s)], s = v − βT/(T + 1) "
        "> 0; with the best v and μ = 0 it is 2βD₀²/(T + 1)² + 2D₀V√((2T + 1)/(6T(T + 1))). Stages follow one another "
        "by |w − w*|² ≤ 2(F(w) − F*)/μ; the envelope of a loss that is not smooth adds L²/(2b)"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/accelerated_bound.py"),
    status=Status.PROVED,
    conditions=(
        Condition("one-pass", "KR ≤ n for the population (KR itself stands right if records are re-used)", _one_pass),
        Condition("closed-convex-domain", "the domain is closed, convex, of diameter at most D, and holds the start"),
        Condition(
            "loss",
            "every record's loss is convex and L-Lipschitz, their mean β-smooth and μ-strongly convex on the domain; "
            "with an envelope every record's loss is μ-strongly convex, and its own envelope is descended",
        ),
        Condition(
            "unbiased-gradients",
            "clients are drawn uniformly in each round; batches are disjoint and of independent records (population), "
            "or drawn afresh without replacement (empirical); all clients hold n records",
        ),
        Condition("last-output", "the output is w^ag of the last stage; every stage starts at that of the one before"),
    ),
    inputs=AcceleratedRiskInputs,
    formula=bound,
    examples=(
        {
            "clients": 50,
            "participants": 40,
            "samples_per_client": 100_000,
            "batch_size": 500,
            "rounds": 200,
            "dimension": 10,
            "noise_std": 0.02,
            "lipschitz": 1.0,
            "smoothness": 1.0,
            "diameter": 2.0,
            "gradient_std": 0.5,
            "heterogeneity": 0.1,
        },
        {
            "clients": 10,
            "participants": 10,
            "samples_per_client": 1000,
            "batch_size": 1000,
            "rounds": 300,
            "dimension": 20,
            "noise_std": 0.05,
            "lipschitz": 1.0,
            "smoothness": 10.0,
            "strong_convexity": 0.5,
            "diameter": 1.0,
            "objective": "empirical",
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (ACCELERATED_RISK_BOUND,)
