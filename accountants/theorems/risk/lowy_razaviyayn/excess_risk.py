"""An explicit bound on the excess risk of noisy mini-batch SGD, at any σ, R, K and step size.

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
5. V² is the two-level variance of `lowy_variance`, exact for the sampling that is done (E-12, E-14).
6. Population: take u a minimiser of F, so that E F̂(u) = F*, and add E[F(ŵ) − F̂(ŵ)], which is at most the stability of
   `lowy_stability`. The records must be independent, each from its client's distribution; clients may differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.theorems.risk.lowy_razaviyayn.stability import mean_divergence
from epsilond.accountants.theorems.risk.lowy_razaviyayn.variance import Variance, gradient_variance

Objective = Literal["population", "empirical"]
ROUNDING = 2.0**-40
"""Charged on the sum, relative: a thousand times what the operations above can lose."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The run and the loss, apart from noise, rounds and step size.

    `participants` may be 1/E[1/M_r] for a random number. Unknown gradient statistics (None) are taken at their largest:
    Φ̂ = L, v̂ = Φ̂. `initial_distance` is to a minimiser over the domain: of F for the population, of F̂ otherwise.
    """

    clients: int
    participants: float
    samples_per_client: int
    batch_size: int
    dimension: int
    lipschitz: float
    smoothness: float
    strong_convexity: float = 0.0
    initial_distance: float
    empirical_gradient_std: float | None = None
    empirical_heterogeneity: float | None = None
    objective: Objective = "population"
    steepest: float | None = None
    """The largest smoothness of one client's weighted loss, where weights make it exceed that of the mean."""

    @property
    def largest_step(self) -> float:
        """1/β, β the largest smoothness that a round's batch may have: a larger step may drive two runs apart."""
        return 1.0 / (self.smoothness if self.steepest is None else max(self.steepest, self.smoothness))

    @property
    def influence(self) -> float:
        """L²/(Nn): what one record moves the expected loss by in a round, over 2η (`lowy_stability`)."""
        return self.squared_lipschitz / (float(self.clients) * self.samples_per_client)

    @property
    def squared_lipschitz(self) -> float:
        """L², the mean over clients where they differ."""
        return self.lipschitz * self.lipschitz

    def variance(self, noise_std: float) -> Variance:
        """The parts of V² at σ = `noise_std`."""
        std = self.lipschitz if self.empirical_gradient_std is None else self.empirical_gradient_std
        spread = std if self.empirical_heterogeneity is None else self.empirical_heterogeneity
        return gradient_variance(
            clients=self.clients,
            participants=self.participants,
            samples_per_client=self.samples_per_client,
            batch_size=self.batch_size,
            dimension=self.dimension,
            noise_std=noise_std,
            empirical_gradient_std=std,
            empirical_heterogeneity=spread,
        )


@dataclass(frozen=True, kw_only=True)
class ExcessRisk:
    """An upper bound of the expected excess risk by its parts, in loss units."""

    optimisation: float
    sampling: float
    client_sampling: float
    noise: float
    stability: float

    @property
    def terms(self) -> Mapping[str, float]:
        """The parts by name."""
        return {
            "optimisation": self.optimisation,
            "sampling": self.sampling,
            "client_sampling": self.client_sampling,
            "noise": self.noise,
            "stability": self.stability,
        }

    @property
    def total(self) -> float:
        """The bound, rounded up."""
        return math.fsum(self.terms.values()) * (1.0 + ROUNDING)


def excess_risk(problem: Problem, *, noise_std: float, rounds: int, step_size: float) -> ExcessRisk:
    """The bound above at σ, R and η. Infinite parts where ηβ ≥ 1 (or ηβ > 1 without any variance): nothing is proved.

    Guarantees: E F(ŵ) − F* (or E F̂(ŵ) − F̂*) is at most `total`, under the theorem's declared conditions.
    """
    variance = problem.variance(noise_std)
    slack = 1.0 - step_size * problem.smoothness
    if slack < 0.0 or (slack == 0.0 and variance.total > 0.0):
        spread = math.inf
    else:
        spread = 0.5 * step_size / slack if slack > 0.0 else 0.0
    return ExcessRisk(
        optimisation=optimisation_error(
            initial_distance=problem.initial_distance,
            step_size=step_size,
            rounds=rounds,
            strong_convexity=problem.strong_convexity,
        ),
        sampling=_times(spread, variance.sampling),
        client_sampling=_times(spread, variance.clients),
        noise=_times(spread, variance.noise),
        stability=_stability(problem, rounds=rounds, step_size=step_size),
    )


def optimisation_error(
    *, initial_distance: float, step_size: float, rounds: int, strong_convexity: float = 0.0
) -> float:
    """D₀² μ/(2((1 − ημ)^{−R} − 1)), which is D₀²/(2ηR) at μ = 0; 0 where ημ ≥ 1."""
    squared, contraction = initial_distance * initial_distance, step_size * strong_convexity
    if contraction >= 1.0:
        return 0.0
    if contraction == 0.0:
        return 0.5 * squared / (step_size * rounds)
    fading = rounds * math.log1p(-contraction)
    return 0.5 * squared * strong_convexity * math.exp(fading) / -math.expm1(fading)


def _times(factor: float, variance: float) -> float:
    return factor * variance if variance > 0.0 else 0.0


def _stability(problem: Problem, *, rounds: int, step_size: float) -> float:
    if problem.objective == "empirical":
        return 0.0
    if problem.steepest is not None and step_size > problem.largest_step:
        return math.inf
    contraction = min(step_size * problem.strong_convexity, 1.0 - 2.0**-50)
    return 2.0 * step_size * problem.influence * mean_divergence(contraction=contraction, rounds=rounds)
