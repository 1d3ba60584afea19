"""Explicit bound on the excess risk of noisy mini-batch SGD at any σ, R, K and step size, and the best step size.

Update: w_{r+1} = Π_W[w_r − η g_r], g_r the mean over M random clients of the mean over K of n records, plus noise.
Output: ŵ = Σ q^{−r} w_r / Σ q^{−r} over r = 1, …, R with q = 1 − ημ (the plain average if μ = 0). For u in W:

1. Π is a projection on a convex set: ⟨g_r, w_{r+1} − u⟩ ≤ (|w_r − u|² − |w_{r+1} − u|² − |w_{r+1} − w_r|²)/(2η).
2. F̂ is β-smooth: F̂(w_{r+1}) ≤ F̂(w_r) + ⟨∇F̂(w_r), w_{r+1} − w_r⟩ + β|w_{r+1} − w_r|²/2,
   and μ-convex:  F̂(w_r) ≤ F̂(u) + ⟨∇F̂(w_r), w_r − u⟩ − μ|w_r − u|²/2.
3. Add them with g_r = ∇F̂(w_r) + e_r. Given w_r, E⟨e_r, w_r − u⟩ = 0 (fresh batches and noise), and Young's
   inequality bounds −⟨e_r, w_{r+1} − w_r⟩ by |e_r|²/(2(1/η − β)) + (1/η − β)|w_{r+1} − w_r|²/2; the latter cancels:

       E F̂(w_{r+1}) − F̂(u) ≤ E[(1 − ημ)|w_r − u|² − |w_{r+1} − u|²]/(2η) + ηV²/(2(1 − ηβ)).

4. Weigh by q^{−(r+1)} and add: the squares telescope. With D₀ ≥ |w_0 − u| and Jensen's inequality:

       E F̂(ŵ) − F̂(u) ≤ D₀² μ/(2(q^{−R} − 1)) + ηV²/(2(1 − ηβ));   D₀²/(2ηR) + … for μ = 0.

   No gradient need vanish at u (E-13); at η = 1/(4β) the factor of ηV² is 2/3.
5. V² is the two-level variance of `gradient_variance.py`, which is exact for this sampling (E-12, E-14).
6. Population: for a minimiser u of F, E F̂(u) = F*. Add E[F(ŵ) − F̂(ŵ)], which is at most the stability of
   `stability.py`. The records must be independent, each from its client's distribution; clients may differ.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

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
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import averaging_ratio
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import (
    ExcessRiskProblem,
    Objective,
    best_step_size,
    excess_risk,
)

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
        """Clients and loss of the run, without the noise, the number of rounds and the step size."""
        return of_same_fields(ExcessRiskProblem, self, steepest=None)

    @property
    def step(self) -> float:
        """Step size η of the request; if absent, the one with nearly the least bound."""
        if self.step_size is not None:
            return self.step_size
        return best_step_size(self.problem, noise_std=self.noise_std, rounds=self.rounds)


def bound(inputs: ExcessRiskInputs) -> Outputs:
    """Bound the excess risk of noisy mini-batch SGD, at the requested step size or at the best one.

    Args:
        inputs: the clients, the loss, the noise, the number of rounds, and optionally the step size.

    Returns:
        `excess_risk` and its terms, in loss units; `step_size`; and `averaging_ratio`, the factor by which the weights
        of the averaged output grow from one iterate to the next.
    """
    step = inputs.step
    risk = excess_risk(inputs.problem, noise_std=inputs.noise_std, rounds=inputs.rounds, step_size=step)
    ratio = averaging_ratio(step * inputs.strong_convexity)
    return {**risk.outputs, "step_size": step, "averaging_ratio": ratio}


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
