"""Explicit bound on the excess risk of Algorithm 2, accelerated noisy mini-batch SGD, at any noise and rounds.

F is convex, β-smooth and μ-strongly convex on W; μ may be 0. A stage has T rounds and starts from w_0 = w^ag_0. Let
α = 2/(t + 1) and η = 4v/(t(t + 1)), where v > 0 is the prox weight. The stochastic gradient is g = ∇F(w^md) + e:

    w^md = [(1 − α)(μ + η) w^ag + α((1 − α)μ + η) w]/(μ + η − α²μ),           w^ag and w those of t − 1,
    w_t  = argmin over W of α(⟨g, w'⟩ + μ|w^md − w'|²/2) + ((1 − α)μ + η)|w − w'|²/2,
    w^ag_t = α w_t + (1 − α) w^ag.                                            Output: w^ag_T.

Let w⁺ = [αμ w^md + ((1 − α)μ + η) w]/(μ + η), which does not depend on g. The first line gives
w^ag_t − w^md = α(w_t − w⁺). For u ∈ W:

1. β-smooth: F(w^ag_t) ≤ F(w^md) + ⟨∇F(w^md), w^ag_t − w^md⟩ + βα²|w_t − w⁺|²/2. Split w^ag_t into its two parts; by
   convexity the first is at most (1 − α)F(w^ag), and by μ-convexity F(w^md) + ⟨∇F, u − w^md⟩ ≤ F(u) − μ|u − w^md|²/2:
       F(w^ag_t) ≤ (1 − α)F(w^ag) + αF(u) − αμ|u − w^md|²/2 + α⟨∇F(w^md), w_t − u⟩ + βα²|w_t − w⁺|²/2.
2. The objective of w_t is (μ + η)-strongly convex, so at u it exceeds its least value by (μ + η)|u − w_t|²/2; and
   αμ|w^md − w_t|² + ((1 − α)μ + η)|w − w_t|² ≥ (μ + η)|w⁺ − w_t|², since | |² is convex:
       α⟨g, w_t − u⟩ ≤ αμ|w^md − u|²/2 + ((1 − α)μ + η)|w − u|²/2 − (μ + η)|w_t − u|²/2 − (μ + η)|w_t − w⁺|²/2.
3. Add, with ∇F = g − e. Given the past, E⟨e, w⁺ − u⟩ = 0, and −α⟨e, w_t − w⁺⟩ ≤ α²|e|²/(2p) + p|w_t − w⁺|²/2 with
   p = μ + η − βα² > 0; the last term cancels. With Φ_t = E F(w^ag_t) − F(u) + μE|w_t − u|²/2 and E|e|² ≤ V²:
       Φ_t ≤ (1 − α)Φ_{t−1} + η(E|w − u|² − E|w_t − u|²)/2 + α²V²/(2p).
4. Divide by 2/(t(t + 1)), which turns 1 − α into 1 and η/2 into v, and add. With s = v − βT/(T + 1) > 0:

       E F(w^ag_T) − F(u) ≤ 2/(T(T + 1)) · [v E|w_0 − u|² + V² Σ_{t≤T} t²/(μt(t + 1) + 4s)].

   For μ = 0 the sum is T(T + 1)(2T + 1)/(24s), and the best s gives 2βD₀²/(T + 1)² + 2D₀V √((2T + 1)/(6T(T + 1))).
5. Stages: each starts at the output of the previous stage. With u the minimiser over W, |w − u|² ≤ 2(F(w) − F*)/μ, so
   the bound of one stage is the start of the next; the diameter bounds the distance too.

The proof needs neither ∇F(u) = 0 nor bounded e. In one pass over independent records, F may be the population loss, for
which g is unbiased. With fresh random batches of re-used records, F is the empirical loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from epsilond.accountants.quantities import (
    ENVELOPE_SMOOTHNESS,
    GRADIENT_STD,
    HETEROGENEITY,
    INITIAL_DISTANCE,
    INITIAL_GAP,
    Diameter,
    Quantity,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import of_same_fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import (
    Stage,
    best_stages,
    stages_bound,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EqualClientsRun
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem, AcceleratedRisk
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import Objective


def accelerated_risk(
    problem: AcceleratedProblem, *, noise_std: float, rounds: int, stages: Sequence[Stage] | None = None
) -> AcceleratedRisk:
    """Return a bound on the excess risk of noisy accelerated descent after R rounds.

    A stage is a block of rounds with one step schedule. It starts at the output of the previous stage. The bound is
    A + B V² + gap. A is the optimisation error of the stages, and V² the variance of a round's gradient. The gap is the
    largest difference between the loss and its Moreau envelope, if the run descends on such a smooth approximation.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
        stages: stages with R rounds in all. If None or empty, `best_stages` computes nearly optimal ones.

    Returns:
        The bound with its terms, in loss units, and the stages.

    Guarantees:
        E F(w^ag) − F* is at most `total`, under the declared conditions of the theorem. w^ag is the output of the run.
    """
    variance = problem.variance(noise_std)
    descent = problem.descent
    run_stages = tuple(stages or ())
    if not run_stages:
        run_stages = best_stages(rounds, descent=descent, variance=variance.total)

    # The variance is a sum, so B times each summand is the risk that is due to its cause.
    bound = stages_bound(run_stages, descent, variance=variance.total)
    cost = variance.scale(bound.variance_factor)
    terms = {
        "optimisation": bound.optimisation,
        "sampling": cost.sampling,
        "client_sampling": cost.clients,
        "noise": cost.noise,
        "smoothing": problem.smoothing_gap,
    }
    total = bound.at(variance.total) + problem.smoothing_gap
    return AcceleratedRisk(total=total, terms=terms, stages=run_stages)


def best_envelope_smoothness(problem: AcceleratedProblem, *, noise_std: float, rounds: int) -> float:
    """Return the smoothness b of a Moreau envelope of the loss at which the bound on the excess risk is nearly minimal.

    The run descends on the envelope, a smooth approximation of the loss. A larger b is closer to the loss but harder to
    minimise. Every b gives a valid bound. For strong convexity μ = 0, the part of the bound that depends on b is:

        2bD₀²/(R + 1)² + L²/(2b), with its minimum at b = L(R + 1)/(2D₀).

    Here D₀ is the initial distance and L the Lipschitz constant of the loss. For μ > 0, the best of 2^k b with
    k = −4, …, 12 is returned.

    Args:
        problem: the clients and the loss, which need not be smooth.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.

    Returns:
        The smoothness b, in loss units per squared length.
    """
    convex_choice = problem.lipschitz * (rounds + 1.0) / (2.0 * problem.initial_distance)
    if problem.strong_convexity == 0.0:
        return convex_choice

    def excess_risk(envelope_smoothness: float) -> float:
        """Return the bound on the excess risk of a run on the envelope of this smoothness."""
        enveloped = replace(problem, envelope_smoothness=envelope_smoothness)
        return accelerated_risk(enveloped, noise_std=noise_std, rounds=rounds).total

    candidates = [convex_choice * 2.0**power for power in range(-4, 13)]
    return min(candidates, key=excess_risk)


OBJECTIVE = Quantity(
    description="the loss whose excess is bounded: the expected loss (one pass), or the mean loss on the data (re-used)"
)


@request
class AcceleratedRiskInputs(EqualClientsRun):
    """A run of accelerated descent (Algorithm 2 of Lowy and Razaviyayn) with equal clients.

    If absent, `gradient_std` and `heterogeneity` have their largest value, which is at most the Lipschitz constant L.
    `initial_distance` is then the diameter D, and `initial_gap` is LD. Without `envelope_smoothness`, the run descends
    on the loss itself, not on a smooth approximation of it.
    """

    diameter: Diameter
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    initial_gap: Annotated[float | None, INITIAL_GAP] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    heterogeneity: Annotated[float | None, HETEROGENEITY] = None
    envelope_smoothness: Annotated[float | None, ENVELOPE_SMOOTHNESS] = None
    objective: Annotated[Objective, OBJECTIVE] = "population"

    @property
    def problem(self) -> AcceleratedProblem:
        """The run and its loss, except for the noise and the number of rounds."""
        return of_same_fields(
            AcceleratedProblem,
            self,
            initial_distance=self.initial_distance or self.diameter,
            initial_gap=self.initial_gap or self.lipschitz * self.diameter,
        )


def bound(inputs: AcceleratedRiskInputs) -> Outputs:
    """Return the bound on the excess risk of accelerated descent, its terms, and the stages that attain it.

    Args:
        inputs: the clients, the loss, the noise, and the number of rounds.

    Returns:
        `excess_risk` and its terms in loss units, and `stages`, the rounds and the step schedule of each stage.
    """
    return accelerated_risk(inputs.problem, noise_std=inputs.noise_std, rounds=inputs.rounds).outputs


def _one_pass_sides(inputs: AcceleratedRiskInputs) -> Sides:
    """Return both sides of the condition KR ≤ n, that a client has enough records for one pass.

    The population risk requires new records in every round. The empirical risk re-uses them without a limit, so both
    sides are then KR.

    Args:
        inputs: the run, with n records of a client, batches of K, and R rounds.

    Returns:
        KR on the left; n, or KR for the empirical risk, on the right.
    """
    needed_records = float(inputs.batch_size) * inputs.rounds
    limit = needed_records
    if inputs.objective == "population":
        limit = float(inputs.samples_per_client)
    return Sides.at_most(needed_records, limit)


ACCELERATED_RISK_BOUND = Theorem(
    id="epsilond.accelerated-sgd-excess-risk",
    title="Excess risk of accelerated noisy mini-batch SGD, explicit at any noise",
    statement=(
        "After one stage of T rounds, E F(w^ag_T) − F* ≤ 2/(T(T + 1)) [v|w₀ − w*|² + V² Σ_{t≤T} t²/(μt(t + 1) + "
        "4s)]. Here V² bounds the variance of a round's gradient, v is the prox weight, and s = v − βT/(T + 1) > 0. "
        "With the best v and μ = 0 the bound is 2βD₀²/(T + 1)² + 2D₀V√((2T + 1)/(6T(T + 1))), for D₀ = |w₀ − w*|. "
        "Stages follow one another by |w − w*|² ≤ 2(F(w) − F*)/μ. For a loss that is not smooth, the Moreau "
        "envelope of smoothness b adds L²/(2b)"
    ),
    source=Source("epsilond", "derivation in accountants/theorems/risk/lowy_razaviyayn/accelerated_bound.py"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "one-pass",
            (
                "for the population risk, a client has the records for R rounds of K (KR ≤ n); with re-used "
                "records, the right side is KR"
            ),
            _one_pass_sides,
        ),
        Condition(
            "closed-convex-domain",
            "the domain is closed and convex, its diameter is at most D, and it contains the start",
        ),
        Condition(
            "loss",
            (
                "Every record's loss is convex and L-Lipschitz on the domain. The mean of the losses is β-smooth "
                "and μ-strongly convex on the domain. With an envelope, every record's loss is μ-strongly convex, "
                "and each step descends the Moreau envelopes of single records"
            ),
        ),
        Condition(
            "unbiased-gradients",
            (
                "In each round, the participating clients are drawn uniformly. For the population risk, batches are "
                "disjoint and of independent records. For the empirical risk, each batch is drawn afresh without "
                "replacement. All clients hold n records"
            ),
        ),
        Condition(
            "last-output",
            (
                "The output is the point w^ag of the last stage. Every stage starts at the point w^ag of the "
                "previous stage"
            ),
        ),
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
