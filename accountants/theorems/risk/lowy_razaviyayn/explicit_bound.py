"""Explicit bound on the excess risk of noisy mini-batch SGD at any σ, R, K and step size, and the best step size.

Update: w_{r+1} = Π_W[w_r − η g_r], g_r the mean over M random clients of the mean over K of n records, plus noise.
Output: ŵ = Σ q^{−r} w_r / Σ q^{−r} over r = 1, …, R with q = 1 − ημ (the plain average if μ = 0). For u in W:

1. Π is a projection on a convex set: ⟨g_r, w_{r+1} − u⟩ ≤ (|w_r − u|² − |w_{r+1} − u|² − |w_{r+1} − w_r|²)/(2η).
2. F̂ is β-smooth: F̂(w_{r+1}) ≤ F̂(w_r) + ⟨∇F̂(w_r), w_{r+1} − w_r⟩ + β|w_{r+1} − w_r|²/2,
   and μ-convex:  F̂(w_r) ≤ F̂(u) + ⟨∇F̂(w_r), w_r − u⟩ − μ|w_r − u|²/2.
3. Add them with g_r = ∇F̂(w_r) + e_r. Given w_r, E⟨e_r, w_r − u⟩ = 0 (fresh batches and noise), and Young's
   inequality bounds −⟨e_r, w_{r+1} − w_r⟩ by |e_r|²/(2(1/η − β)) + (1/η − β)|w_{r+1} − w_r|²/2; the latter cancels:

       E F̂(w_{r+1}) − F̂(u) ≤ E[(1 − ημ)|w_r − u|² − |w_{r+1} − u|²]/(2η) + ηV²/(2(1 − ηβ)).

4. Weigh by q^{−(r+1)} and add: the squares telescope. With D₀ ≥ |w_0 − u| and Jensen's inequality,

       E F̂(ŵ) − F̂(u) ≤ D₀² μ/(2(q^{−R} − 1)) + ηV²/(2(1 − ηβ));   D₀²/(2ηR) + … for μ = 0.

   No gradient need vanish at u (E-13); at η = 1/(4β) the factor of ηV² is 2/3.
5. V² is the two-level variance of `gradient_variance.py`, which is exact for this sampling (E-12, E-14).
6. Population: for a minimiser u of F, E F̂(u) = F*. Add E[F(ŵ) − F̂(ŵ)], which is at most the stability of
   `stability.py`. The records must be independent, each from its client's distribution; clients may differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.quantities import (
    BATCH_WITHIN_CLIENT,
    CONVEXITY_WITHIN_SMOOTHNESS,
    EMPIRICAL_GRADIENT_STD,
    EMPIRICAL_HETEROGENEITY,
    STEP_SIZE,
    BatchSize,
    Checks,
    Dimension,
    InitialDistance,
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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import EqualClientsRound, Variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import averaging_ratio, mean_divergence

Objective = Literal["population", "empirical"]
ROUNDING = 2.0**-40
"""Relative surcharge on the sum; it is a thousand times the rounding errors of the operations above."""


@dataclass(frozen=True, kw_only=True)
class ExcessRiskProblem(EqualClientsRound):
    """A run of noisy mini-batch SGD with equal clients, and its loss, without the noise, the rounds and the step size.

    Attributes:
        lipschitz: Lipschitz constant L of the loss.
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
        initial_distance: distance of the first iterate from a minimiser over the domain, of the expected loss for the
            objective "population" and of the mean loss on the data for "empirical".
        empirical_gradient_std: standard deviation Φ̂ of the gradients of all records; if None, L.
        empirical_heterogeneity: standard deviation v̂ of the clients' mean gradients; if None, Φ̂.
        objective: loss of which the excess risk is bounded.
        steepest: largest smoothness of one client's weighted loss, where weights make it exceed that of the mean.
    """

    lipschitz: float
    smoothness: float
    strong_convexity: float = 0.0
    initial_distance: float
    empirical_gradient_std: float | None = None
    empirical_heterogeneity: float | None = None
    objective: Objective = "population"
    steepest: float | None = None

    @property
    def largest_step(self) -> float:
        """Largest step size 1/β, with β the largest smoothness of the mean loss and of a client's weighted loss.

        With larger steps, two runs on the same batches may drift apart.
        """
        if self.steepest is None:
            return 1.0 / self.smoothness
        return 1.0 / max(self.steepest, self.smoothness)

    @property
    def influence(self) -> float:
        """The effect of one record on the expected loss in a round, divided by 2η: L²/(Nn) (see `stability.py`)."""
        return self.squared_lipschitz / (float(self.clients) * self.samples_per_client)

    @property
    def squared_lipschitz(self) -> float:
        """L², or its mean over clients that differ."""
        return self.lipschitz * self.lipschitz

    def variance(self, noise_std: float) -> Variance:
        """Return the variance V² of a round's averaged noisy gradient at σ = `noise_std`, by its parts."""
        gradient_std = self.lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        heterogeneity = gradient_std if self.empirical_heterogeneity is None else self.empirical_heterogeneity
        return self.reused_variance(gradient_std=gradient_std, heterogeneity=heterogeneity, noise_std=noise_std)


@dataclass(frozen=True)
class ExcessRisk:
    """An upper bound on the expected excess risk of noisy SGD as the sum of its terms, in loss units.

    Attributes:
        terms: summands of the bound, by the names of their causes, such as `optimisation`.
    """

    terms: Mapping[str, float]

    @property
    def total(self) -> float:
        """The bound, rounded up by the relative `ROUNDING`, which exceeds the rounding errors of its terms."""
        return math.fsum(self.terms.values()) * (1.0 + ROUNDING)

    @property
    def outputs(self) -> dict[str, float]:
        """The bound `excess_risk` and its terms as `…_term`, as the fields of a response."""
        return {"excess_risk": self.total, **{f"{name}_term": value for name, value in self.terms.items()}}


def excess_risk(problem: ExcessRiskProblem, *, noise_std: float, rounds: int, step_size: float) -> ExcessRisk:
    """Return an upper bound on the expected excess risk of noisy mini-batch SGD, as its terms.

    For a loss that is only convex (μ = 0), the bound is D₀²/(2ηR) + ηV²/(2(1 − ηβ)) + α: the optimisation error for
    the initial distance D₀, the cost of the variance V² of a step, and for the expected loss the stability α.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
        step_size: step size η.

    Returns:
        The terms. The proof needs ηβ < 1 for the smoothness β. If ηβ ≥ 1, the term of every positive part of the
        variance is infinite, and that of a part of 0 is 0.

    Guarantees:
        E F(ŵ) − F* (or E F̂(ŵ) − F̂*) is at most `total`, under the declared conditions of the theorem.
    """
    optimisation = optimisation_error(
        initial_distance=problem.initial_distance,
        step_size=step_size,
        rounds=rounds,
        strong_convexity=problem.strong_convexity,
    )
    margin = 1.0 - step_size * problem.smoothness
    cost = problem.variance(noise_std).scale(0.5 * step_size / margin if margin > 0.0 else math.inf)
    return ExcessRisk(
        {
            "optimisation": optimisation,
            "sampling": cost.sampling,
            "client_sampling": cost.clients,
            "noise": cost.noise,
            "stability": _stability(problem, rounds=rounds, step_size=step_size),
        }
    )


def optimisation_error(
    *, initial_distance: float, step_size: float, rounds: int, strong_convexity: float = 0.0
) -> float:
    """Return the part of the risk bound that a finite number of rounds leaves, D₀² μ/(2((1 − ημ)^{−R} − 1)).

    Args:
        initial_distance: distance D₀ of the first iterate from a minimiser.
        step_size: step size η.
        rounds: number R of rounds.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.

    Returns:
        The term in loss units: its limit D₀²/(2ηR) if μ = 0, and 0 if ημ ≥ 1.
    """
    squared = initial_distance * initial_distance
    contraction = step_size * strong_convexity
    if contraction >= 1.0:
        return 0.0
    if contraction == 0.0:
        return 0.5 * squared / (step_size * rounds)
    log_decay = rounds * math.log1p(-contraction)
    return 0.5 * squared * strong_convexity * math.exp(log_decay) / -math.expm1(log_decay)


def _stability(problem: ExcessRiskProblem, *, rounds: int, step_size: float) -> float:
    """Bound the change of the expected loss of SGD's output by one record, in loss units (`stability.py`).

    It bounds the difference between population and empirical loss.

    Args:
        problem: the clients and the loss.
        rounds: number R of rounds.
        step_size: step size η.

    Returns:
        0 if the objective is the empirical loss. Infinite if the step size exceeds 1/β of some weighted loss, as two
        runs may then drift apart.
    """
    if problem.objective == "empirical":
        return 0.0
    if problem.steepest is not None and step_size > problem.largest_step:
        return math.inf
    contraction = min(step_size * problem.strong_convexity, 1.0 - 2.0**-50)  # `mean_divergence` needs x < 1
    return 2.0 * step_size * problem.influence * mean_divergence(contraction=contraction, rounds=rounds)


def best_step_size(problem: ExcessRiskProblem, *, noise_std: float, rounds: int) -> float:
    """Return a step size η ≤ 1/β that minimises the bound of `excess_risk` on the risk of SGD, to about 1e-4 relative.

    A golden-section search starts at `closed_step_size`. The bound is valid at every η, so an inexact search costs
    tightness only. For μ = 0, the bound at `closed_step_size` is at most βD₀²/(2R) + D₀ √((V² + 2B)/R). Here D₀ is the
    initial distance and V² the variance of a step. B is L²(R + 1)/(Nn) for the population loss, and 0 otherwise.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
    """
    largest = problem.largest_step
    start = closed_step_size(problem, noise_std=noise_std, rounds=rounds)

    def bound_at(log_step: float) -> float:
        """Return the bound on the excess risk at the step size e^`log_step`."""
        step = math.exp(log_step)
        return excess_risk(problem, noise_std=noise_std, rounds=rounds, step_size=step).total

    # The search is within a factor e² of the start; 24 sections narrow it to 0.618^24, or 1e-5, of its length.
    low, high = math.log(start) - 2.0, min(math.log(start) + 2.0, math.log(largest))
    best_log_step = golden_section(bound_at, low, high, width=0.0, most=24)
    candidates = (start, math.exp(best_log_step), largest)
    return min(candidates, key=lambda step: bound_at(math.log(step)))


def closed_step_size(problem: ExcessRiskProblem, *, noise_std: float, rounds: int) -> float:
    """Return the step size 1/(β + 1/η₀), a closed form near the best one; η₀ is that of `balanced_step_size`.

    It is at most 1/β for the largest smoothness β that a batch may have.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
    """
    balanced = balanced_step_size(problem, variance=problem.variance(noise_std).total, rounds=rounds)
    if math.isinf(balanced):
        return problem.largest_step
    return min(1.0 / (problem.smoothness + 1.0 / balanced), problem.largest_step)


def balanced_step_size(problem: ExcessRiskProblem, *, variance: float, rounds: int) -> float:
    """Return the step size that balances the terms of the risk bound that fall and rise with η, if ηβ is negligible.

    It is η₀ = (2/(μR)) asinh(½√(μ²D₀²R/(V² + 2B))), where D₀ is the initial distance. B is the derivative of the
    stability term with respect to η at 0; it is 0 for the empirical loss.

    Args:
        problem: the clients and the loss.
        variance: variance V² of one averaged noisy gradient, in squared gradient units.
        rounds: number R of rounds.

    Returns:
        The step size. It is D₀/√(R(V² + 2B)) if μ = 0, and infinite if V² + 2B = 0.
    """
    stability_slope = problem.influence * (rounds + 1) if problem.objective == "population" else 0.0  # B
    cost = variance + 2.0 * stability_slope
    if cost == 0.0:
        return math.inf
    convex_step = problem.initial_distance / math.sqrt(rounds * cost)
    argument = 0.5 * problem.strong_convexity * rounds * convex_step
    if argument == 0.0:
        return convex_step
    return convex_step * (math.asinh(argument) / argument)


_OBJECTIVE = Quantity(description="the bounded excess: of the expected loss, or of the mean loss on the data")


@request
class EqualClientsRun(ParticipantFields):
    """A run of equal clients and its loss, without the distance of the start from a minimiser."""

    samples_per_client: SamplesPerClient
    batch_size: BatchSize
    rounds: Rounds
    dimension: Dimension
    noise_std: NoiseStd
    lipschitz: Lipschitz
    smoothness: Smoothness
    strong_convexity: StrongConvexity = 0.0

    checks: ClassVar[Checks] = (BATCH_WITHIN_CLIENT, CONVEXITY_WITHIN_SMOOTHNESS)


@request
class ExcessRiskInputs(EqualClientsRun):
    """A run of noisy mini-batch SGD with a constant step size and equal clients.

    If absent, the step size is the best one, and the statistics of the gradients have their largest values.
    """

    initial_distance: InitialDistance
    step_size: Annotated[float | None, STEP_SIZE] = None
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None
    empirical_heterogeneity: Annotated[float | None, EMPIRICAL_HETEROGENEITY] = None
    objective: Annotated[Objective, _OBJECTIVE] = "population"

    @property
    def problem(self) -> ExcessRiskProblem:
        """The run and its loss, except for the noise, the rounds and the step size."""
        return of_same_fields(ExcessRiskProblem, self, steepest=None)

    @property
    def step(self) -> float:
        """The step size η of the request, or the best one."""
        if self.step_size is not None:
            return self.step_size
        return best_step_size(self.problem, noise_std=self.noise_std, rounds=self.rounds)


def bound(inputs: ExcessRiskInputs) -> Outputs:
    """Bound the excess risk of noisy mini-batch SGD, at the requested step size or at the best one.

    Returns:
        `excess_risk` and its terms, in loss units; `step_size`; and `averaging_ratio`, the factor by which the weights
        of the averaged output grow from one iterate to the next.
    """
    step = inputs.step
    risk = excess_risk(inputs.problem, noise_std=inputs.noise_std, rounds=inputs.rounds, step_size=step)
    return {
        **risk.outputs,
        "step_size": step,
        "averaging_ratio": averaging_ratio(step * inputs.strong_convexity),
    }


EXCESS_RISK_BOUND = Theorem(
    id="epsilond.mini-batch-sgd-excess-risk",
    title="Excess risk of noisy mini-batch SGD, explicit at any noise",
    statement=(
        "E F(ŵ) − F* ≤ D₀²μ/(2((1 − ημ)^{−R} − 1)) + ηV²/(2(1 − ηβ)) + α. If μ = 0, the first term is "
        "D₀²/(2ηR). The output ŵ averages w_1, …, w_R with weights (1 − ημ)^{−r}. V² is the variance of one "
        "averaged noisy gradient. The stability is α, which is 0 for the empirical loss"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/explicit_bound.py"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-size",
            "η β < 1 for the step size η and the smoothness β",
            lambda inputs: Sides.below(inputs.step * inputs.smoothness, 1.0),
        ),
        Condition(
            "closed-convex-domain",
            "the domain is closed and convex and contains the start, and every step is projected onto it",
        ),
        Condition(
            "loss", "every record's loss is μ-strongly convex (μ may be 0), β-smooth and L-Lipschitz on the domain"
        ),
        Condition(
            "fresh-sampling",
            "every round draws its clients and their batches uniformly without replacement, and fresh noise",
        ),
        Condition("averaged-output", "the output is the weighted average of w_1, …, w_R, not of w_0, …, w_{R−1}"),
        Condition(
            "independent-records",
            "the records are independent, each from its client's distribution; only the expected loss needs this",
        ),
    ),
    inputs=ExcessRiskInputs,
    formula=bound,
    examples=(
        {
            "clients": 25,
            "participants": 10,
            "samples_per_client": 1000,
            "batch_size": 100,
            "rounds": 200,
            "dimension": 20,
            "noise_std": 0.05,
            "lipschitz": 1.0,
            "smoothness": 2.0,
            "initial_distance": 1.0,
        },
    ),
)


THEOREMS: tuple[Theorem, ...] = (EXCESS_RISK_BOUND,)
