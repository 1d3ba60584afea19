"""Explicit bound on the excess risk of noisy mini-batch SGD, and its best step size. `explicit_bound.py` proves it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.round_variance import EqualClientsRound, Variance
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.stability import mean_divergence

Objective = Literal["population", "empirical"]


ROUNDING = 2.0**-40
"""Relative surcharge on a bound; it is about a thousand times the rounding errors of its terms and their sum."""


@dataclass(frozen=True, kw_only=True)
class ExcessRiskProblem(EqualClientsRound):
    """A federation of equal clients that runs noisy mini-batch SGD, with the batches and the loss.

    The noise, the number of rounds and the step size are arguments of the bounds.

    Attributes:
        lipschitz: Lipschitz constant L of the loss.
        smoothness: smoothness β of the loss.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.
        initial_distance: distance of the first iterate from a minimiser over the domain. It is a minimiser of the
            expected loss for the objective "population", and of the mean loss on the data for "empirical".
        empirical_gradient_std: standard deviation Φ̂ of the gradients of all records; if None, L.
        empirical_heterogeneity: standard deviation v̂ of the clients' mean gradients; if None, Φ̂.
        objective: "population" to bound the excess risk of the expected loss, "empirical" for the mean loss on the
            data.
        steepest: largest smoothness of a client's loss times its weight, if it may exceed β; None otherwise.
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
        """Largest admissible step size, 1/β for the largest smoothness β of the mean loss and the weighted losses.

        With larger steps, two runs on neighbouring data with the same batches may drift apart.
        """
        if self.steepest is None:
            return 1.0 / self.smoothness
        return 1.0 / max(self.steepest, self.smoothness)

    @property
    def influence(self) -> float:
        """L²/(Nn), the effect of one record on the expected loss in a round, divided by twice the step size.

        N clients have n records each, and L is the Lipschitz constant of the loss.
        """
        return self.squared_lipschitz / (float(self.clients) * self.samples_per_client)

    @property
    def squared_lipschitz(self) -> float:
        """The square L² of the Lipschitz constant, or its mean over clients that differ."""
        return self.lipschitz * self.lipschitz

    def variance(self, noise_std: float) -> Variance:
        """Return an upper bound on the variance of a round's averaged noisy gradient, split by its causes.

        A statistic of the gradients that is not given is replaced by its largest possible value.

        Args:
            noise_std: standard deviation of the noise of a client's message, per coordinate.

        Returns:
            The variance due to sampled records, to sampled clients, and to noise, in squared gradient units.
        """
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
        named_terms = {f"{name}_term": value for name, value in self.terms.items()}
        return {"excess_risk": self.total, **named_terms}


def excess_risk(problem: ExcessRiskProblem, *, noise_std: float, rounds: int, step_size: float) -> ExcessRisk:
    """Return an upper bound on the expected excess risk of noisy mini-batch SGD, as its terms.

    For a loss that is only convex, the bound is:

        D₀²/(2ηR) + ηV²/(2(1 − ηβ)) + α.

    The first term is the optimisation error after R rounds of step size η, for the initial distance D₀ from the
    minimiser. The second term is the cost of the variance V² of a step, for the smoothness β. The stability α bounds
    the effect of one record on the loss of the output. It is part of the bound for the expected loss only.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.
        step_size: step size η.

    Returns:
        The terms `optimisation`, `sampling`, `client_sampling`, `noise` and `stability`, in units of the loss. The
        proof needs ηβ < 1. If ηβ ≥ 1, the three terms of the variance are infinite, except for those that are 0.

    Guarantees:
        E F(ŵ) − F* (or E F̂(ŵ) − F̂*) is at most `total`, under the declared conditions of the theorem.
    """
    optimisation = optimisation_error(
        initial_distance=problem.initial_distance,
        step_size=step_size,
        rounds=rounds,
        strong_convexity=problem.strong_convexity,
    )

    # The variance V² enters with the factor η/(2(1 − ηβ)).
    margin = 1.0 - step_size * problem.smoothness
    variance_factor = math.inf
    if margin > 0.0:
        variance_factor = 0.5 * step_size / margin
    cost = problem.variance(noise_std).scale(variance_factor)

    terms = {
        "optimisation": optimisation,
        "sampling": cost.sampling,
        "client_sampling": cost.clients,
        "noise": cost.noise,
        "stability": _stability(problem, rounds=rounds, step_size=step_size),
    }
    return ExcessRisk(terms)


def optimisation_error(
    *, initial_distance: float, step_size: float, rounds: int, strong_convexity: float = 0.0
) -> float:
    """Return the term of the risk bound of SGD that is left without any randomness.

    After R rounds it is D₀² μ/(2((1 − ημ)^{−R} − 1)), or D₀²/(2ηR) for μ = 0.

    Args:
        initial_distance: distance D₀ of the first iterate from a minimiser.
        step_size: step size η.
        rounds: number R of rounds.
        strong_convexity: strong convexity μ of the loss; 0 if it is only convex.

    Returns:
        The term in loss units; 0 if ημ ≥ 1.
    """
    squared_distance = initial_distance * initial_distance
    contraction = step_size * strong_convexity  # ημ
    if contraction >= 1.0:
        return 0.0
    if contraction == 0.0:
        return 0.5 * squared_distance / (step_size * rounds)
    log_decay = rounds * math.log1p(-contraction)  # log (1 − ημ)^R
    return 0.5 * squared_distance * strong_convexity * math.exp(log_decay) / -math.expm1(log_decay)


def _stability(problem: ExcessRiskProblem, *, rounds: int, step_size: float) -> float:
    """Bound the effect of one record on the expected loss of SGD's output (its stability).

    The stability bounds the difference between the expected loss and the mean loss on the data. The proof is in
    `stability.py`.

    Args:
        problem: the clients and the loss.
        rounds: number R of rounds.
        step_size: step size η.

    Returns:
        The bound in loss units; 0 if the objective is the empirical loss. It is infinite if the clients' losses are
        weighted and the step size exceeds `largest_step`, because two runs may then drift apart.
    """
    if problem.objective == "empirical":
        return 0.0
    if problem.steepest is not None and step_size > problem.largest_step:
        return math.inf
    largest_contraction = 1.0 - 2.0**-50  # `mean_divergence` needs a contraction below 1
    contraction = min(step_size * problem.strong_convexity, largest_contraction)
    return 2.0 * step_size * problem.influence * mean_divergence(contraction=contraction, rounds=rounds)


def best_step_size(problem: ExcessRiskProblem, *, noise_std: float, rounds: int) -> float:
    """Search for the step size that minimises the bound of `excess_risk` on the risk of SGD.

    A golden-section search starts at `closed_step_size`. The bound is valid at every step size, so an inexact search
    only costs tightness.

    For a loss that is only convex, and unless `largest_step` limits the start, the bound is at most:

        βD₀²/(2R) + D₀ √((V² + 2B)/R)

    for the smoothness β, the initial distance D₀ and the variance V² of a step. B is L²(R + 1)/(Nn) for the population
    loss, and 0 for the empirical loss.

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.

    Returns:
        The step size with the least bound among those tried, at most `largest_step`.
    """
    largest = problem.largest_step
    start = closed_step_size(problem, noise_std=noise_std, rounds=rounds)

    def bound_at(log_step: float) -> float:
        """Return the bound on the excess risk at the step size e^`log_step`."""
        step = math.exp(log_step)
        return excess_risk(problem, noise_std=noise_std, rounds=rounds, step_size=step).total

    # The best step size is near the start, so the search stays within a factor e² of it. Each of 24 sections leaves
    # 0.618 of the interval, 1e-5 in all.
    low = math.log(start) - 2.0
    high = min(math.log(start) + 2.0, math.log(largest))
    best_log_step = golden_section(bound_at, low, high, width=0.0, most=24)

    candidates = (start, math.exp(best_log_step), largest)
    return min(candidates, key=lambda step: bound_at(math.log(step)))


def closed_step_size(problem: ExcessRiskProblem, *, noise_std: float, rounds: int) -> float:
    """Return a step size near the best one for noisy SGD in closed form: 1/(β + 1/η₀), at most `largest_step`.

    β is the smoothness of the loss. η₀ balances the terms of the risk bound (`balanced_step_size`).

    Args:
        problem: the clients and the loss.
        noise_std: standard deviation σ of a message's noise per coordinate.
        rounds: number R of rounds.

    Returns:
        The step size; `largest_step` if the variance and the stability term are 0.
    """
    variance = problem.variance(noise_std).total
    balanced = balanced_step_size(problem, variance=variance, rounds=rounds)
    if math.isinf(balanced):
        return problem.largest_step
    return min(1.0 / (problem.smoothness + 1.0 / balanced), problem.largest_step)


def balanced_step_size(problem: ExcessRiskProblem, *, variance: float, rounds: int) -> float:
    """Return the step size at which the terms of the risk bound that fall and that rise with it are balanced.

        η₀ = (2/(μR)) asinh(½√(μ²D₀²R/(V² + 2B)))

    D₀ is the initial distance and μ the strong convexity. B is the derivative of the stability term with respect to the
    step size at 0, which is 0 for the empirical loss. The product of step size and smoothness is taken as negligible.

    Args:
        problem: the clients and the loss.
        variance: variance V² of one averaged noisy gradient, in squared gradient units.
        rounds: number R of rounds.

    Returns:
        The step size. It is D₀/√(R(V² + 2B)) if μ = 0, and infinite if V² + 2B = 0.
    """
    stability_slope = 0.0
    if problem.objective == "population":
        stability_slope = problem.influence * (rounds + 1)
    cost = variance + 2.0 * stability_slope
    if cost == 0.0:
        return math.inf

    # Strong convexity multiplies the step size for μ = 0 by asinh(x)/x, which is at most 1.
    convex_step = problem.initial_distance / math.sqrt(rounds * cost)
    argument = 0.5 * problem.strong_convexity * rounds * convex_step
    if argument == 0.0:
        return convex_step
    return convex_step * (math.asinh(argument) / argument)
