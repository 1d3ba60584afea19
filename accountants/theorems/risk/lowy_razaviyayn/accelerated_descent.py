"""Stages of accelerated descent, and bounds on their excess risk. The derivation is in `accelerated_bound.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

ROUNDING = 2.0**-36
"""Relative surcharge on every bound; it exceeds by far the rounding errors of the operations below."""
SMALL_SUBTRACTION_RATIO = 0.03
"""Ratio x/a below which x − a arctan(x/a) loses too many digits; x³/(3a²) is then within 0.1 % of it."""
LISTED_TERMS = 1024
"""Number of terms of the sum that are added one by one; an integral bounds the others."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A block of rounds of accelerated descent with one schedule of step sizes.

    Attributes:
        rounds: number T of rounds.
        prox_weight: prox weight v, in loss units per squared length. Round t has the weight 4v/(t(t + 1)) of the
            squared distance from the iterate, so a larger v gives shorter steps.
    """

    rounds: int
    prox_weight: float


@dataclass(frozen=True, kw_only=True)
class DescentFacts:
    """Constants of the function that a run of accelerated descent minimises.

    Attributes:
        smoothness: smoothness β of the function, in loss units per squared length.
        strong_convexity: strong convexity μ of the function in the same unit; 0 if it is only convex.
        initial_distance: bound on the distance from the first iterate to a minimiser over the domain.
        diameter: diameter of the domain, which bounds this distance at the start of every later stage.
        initial_gap: bound Δ on the excess risk of the first iterate, in loss units; infinite if unknown.
    """

    smoothness: float
    strong_convexity: float = 0.0
    initial_distance: float
    diameter: float
    initial_gap: float = math.inf

    def squared_distance(self, gap: float, *, largest_distance: float) -> float:
        """Return the smaller of two bounds on the squared distance |w − w*|² of a point w from the minimiser w*.

        One bound is given. The other follows from strong convexity, F(w) − F(w*) ≥ μ|w − w*|²/2.

        Args:
            gap: upper bound on the excess risk F(w) − F(w*) in loss units, at least 0.
            largest_distance: upper bound on |w − w*| from another source, such as the diameter of the domain.

        Returns:
            An upper bound on |w − w*|². It is the square of `largest_distance` if μ = 0.
        """
        squared = largest_distance * largest_distance
        if self.strong_convexity == 0.0:
            return squared
        return min(squared, 2.0 * gap / self.strong_convexity)


@dataclass(frozen=True)
class DescentBound:
    """A bound A + B V² on the excess risk of an iterate of accelerated descent, for gradients of variance at most V².

    Attributes:
        optimisation: A, the bound for gradients without variance, in loss units.
        variance_factor: B, in loss units per squared gradient unit.
    """

    optimisation: float
    variance_factor: float

    def at(self, variance: float) -> float:
        """Return the bound A + B V² on the excess risk, rounded up, in loss units.

        Args:
            variance: V², the largest variance of a gradient. If it is 0, an infinite B counts as 0.

        Returns:
            An upper bound on the excess risk for every variance of at most V².
        """
        variance_term = 0.0
        if variance > 0.0:
            variance_term = self.variance_factor * variance
        # The surcharge is larger than the rounding errors of A, B and this sum.
        return (self.optimisation + variance_term) * (1.0 + ROUNDING)


def stage_factors(stage: Stage, *, smoothness: float, strong_convexity: float) -> DescentBound:
    """Return the factors A and B of the bound A E|w_0 − u|² + B V² on the risk of a stage of accelerated descent.

    The stage starts at w_0 and returns w^ag. V² bounds the variance of a gradient. For any point u of the domain,
    E F(w^ag) − F(u) is at most the bound. The stage has T rounds and the prox weight v, a factor of the step schedule.
    With s = v − βT/(T + 1), the factors are:

        A = 2v/(T(T + 1)),
        B = 2/(T(T + 1)) Σ_{t≤T} t²/(μt(t + 1) + 4s),   which is (2T + 1)/(12s) if μ = 0.

    The proof is the module text of `accelerated_bound.py`.

    Args:
        stage: number T of rounds, and prox weight v.
        smoothness: smoothness β of the function.
        strong_convexity: strong convexity μ of the function; 0 if it is only convex.

    Returns:
        A as `optimisation` and B as `variance_factor`. Both are infinite if s < 0, where the proof fails. Rounding may
        make them infinite for s near 0 too.
    """
    rounds, weight = float(stage.rounds), stage.prox_weight

    # s divides the variance, so it must not be rounded up. Lowering v outweighs the rounding errors of s.
    lowered_weight = weight * (1.0 - 2.0**-51)
    excess_weight = lowered_weight - smoothness * (rounds / (rounds + 1.0))  # s
    if excess_weight < 0.0:
        return DescentBound(math.inf, math.inf)

    scale = 2.0 / (rounds * (rounds + 1.0))
    optimisation = scale * weight
    if strong_convexity > 0.0:
        variance_sum = _upper_variance_sum(stage.rounds, 4.0 * excess_weight, strong_convexity)
        return DescentBound(optimisation, scale * variance_sum)
    if excess_weight == 0.0:
        return DescentBound(optimisation, math.inf)
    return DescentBound(optimisation, (2.0 * rounds + 1.0) / (12.0 * excess_weight))


def _upper_variance_sum(rounds: int, offset: float, strong_convexity: float) -> float:
    """Return an upper bound on Σ_{t≤T} t²/(μt(t + 1) + c), too large by at most 0.2 %.

    This sum is the factor of the gradient variance in the risk bound of a stage of T rounds. The first m =
    `LISTED_TERMS` terms are added one by one. A later term is at most t²/(μt² + c), which increases in t. It is hence
    at most the integral of x²/(μx² + c) over [t, t + 1]. The integral over [m + 1, T + 1] bounds all later terms.

    Args:
        rounds: number T of rounds, at least 1.
        offset: constant c ≥ 0 in the denominators.
        strong_convexity: strong convexity μ > 0 of the function.

    Returns:
        The bound. If T ≤ m, it is the sum itself, up to rounding.
    """
    listed = np.arange(1.0, min(rounds, LISTED_TERMS) + 1.0)
    terms = listed * listed / (strong_convexity * listed * (listed + 1.0) + offset)
    listed_sum = float(np.sum(terms))
    if rounds <= LISTED_TERMS:
        return listed_sum
    return listed_sum + _upper_integral(LISTED_TERMS + 1.0, rounds + 1.0, offset, strong_convexity)


def _upper_integral(low: float, high: float, offset: float, strong_convexity: float) -> float:
    """Return an upper bound on the integral of x²/(μx² + c) over the interval [low, high].

    With a = √(c/μ), an antiderivative is (x − a arctan(x/a))/μ. For x far below a this difference would lose its digits
    to cancellation. The integral of x²/c is then returned, which is at most 0.1 % larger.

    Args:
        low: lower limit of the integral, at least 0.
        high: upper limit of the integral, at least `low`.
        offset: constant c ≥ 0 in the denominator.
        strong_convexity: strong convexity μ > 0 of the function.

    Returns:
        The bound, which is the integral itself up to rounding if `high` is not far below a.
    """
    scale = math.sqrt(offset / strong_convexity)  # a
    if high < SMALL_SUBTRACTION_RATIO * scale:
        return (high**3 - low**3) / (3.0 * offset)
    arctangents = 0.0
    if scale > 0.0:
        arctangents = scale * (math.atan2(high, scale) - math.atan2(low, scale))
    return (high - low - arctangents) / strong_convexity


def stages_bound(stages: Sequence[Stage], descent: DescentFacts, *, variance: float) -> DescentBound:
    """Return the bound on the excess risk of accelerated descent after several stages.

    A stage is a block of rounds with its own schedule of step sizes. Each stage starts at the output of the previous
    one, so its bound is computed from the previous bound.

    Args:
        stages: the stages, in the order in which they are run.
        descent: constants of the function, such as its smoothness.
        variance: bound V² on the variance of a gradient. It only decides, before each stage, whether the excess risk or
            the diameter gives the smaller bound on the distance from the minimiser. Each choice is valid.

    Returns:
        The numbers A and B of the bound A + B V² on the excess risk. Without stages, A bounds the risk of the start.
    """
    # Before the first stage, only the excess risk and the distance of the start are known.
    bound = DescentBound(descent.initial_gap, 0.0)
    largest_distance = descent.initial_distance
    for stage in stages:
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        bound = _bound_after_stage(factors, bound, descent, largest_distance=largest_distance, variance=variance)
        # A later stage may start anywhere in the domain.
        largest_distance = descent.diameter
    return bound


def _bound_after_stage(
    factors: DescentBound, before: DescentBound, descent: DescentFacts, *, largest_distance: float, variance: float
) -> DescentBound:
    """Return the bound A|w_0 − w*|² + B V² on the excess risk after one stage of accelerated descent.

    The squared distance |w_0 − w*|² of the stage's first iterate from the minimiser is at most `largest_distance`². For
    strong convexity μ > 0 it is also at most 2/μ times the excess risk before the stage. The smaller bound is used.

    Args:
        factors: A as `optimisation` and B as `variance_factor`.
        before: bound on the excess risk before the stage.
        descent: constants of the function.
        largest_distance: bound on |w_0 − w*|.
        variance: bound V² on the variance of a gradient.

    Returns:
        The numbers A and B of the bound A + B V² after the stage.
    """
    squared_distance = descent.squared_distance(before.at(variance), largest_distance=largest_distance)
    uses_excess_risk = squared_distance < largest_distance * largest_distance  # then μ > 0
    if not uses_excess_risk:
        optimisation = factors.optimisation * largest_distance * largest_distance
        return DescentBound(optimisation, factors.variance_factor)

    # The excess risk before the stage bounds the distance, and is multiplied by this factor.
    contraction = 2.0 * factors.optimisation / descent.strong_convexity
    return DescentBound(
        optimisation=contraction * before.optimisation,
        variance_factor=contraction * before.variance_factor + factors.variance_factor,
    )


WEIGHT_FRACTIONS = (1.0, 2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-10, 0.0)
"""Fractions of the excess prox weight that is optimal for μ = 0. They are compared if μ > 0, where less is optimal."""


def best_stage(rounds: int, *, descent: DescentFacts, squared_distance: float, variance: float) -> Stage:
    """Return a stage of T rounds of accelerated descent with a prox weight that nearly minimises the risk bound.

    Every prox weight v above βT/(T + 1) is valid, where β is the smoothness. For strong convexity μ = 0, the optimum is

        v = βT/(T + 1) + s, with s = √(V² T(T + 1)(2T + 1)/(24 D₀²)).

    For μ > 0 the best s is smaller, so fractions of this s are compared, which are `WEIGHT_FRACTIONS`.

    Args:
        rounds: number T of rounds.
        descent: constants of the function.
        squared_distance: bound D₀² > 0 on the squared distance from the first iterate to a minimiser.
        variance: bound V² on the variance of a gradient.

    Returns:
        The stage with its prox weight.
    """
    least_weight = (
        descent.smoothness * (rounds / (rounds + 1.0)) * (1.0 + 2.0**-49)
    )  # above βT/(T + 1) in spite of rounding
    rounds_factor = (2.0 * rounds + 1.0) * rounds * (rounds + 1.0) / 24.0
    excess_weight = math.sqrt(variance * rounds_factor / squared_distance)  # the best s for μ = 0
    if descent.strong_convexity == 0.0:
        return Stage(rounds=rounds, prox_weight=least_weight + excess_weight)

    def excess_risk(stage: Stage) -> float:
        """Return the bound on the excess risk after the stage."""
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        return DescentBound(factors.optimisation * squared_distance, factors.variance_factor).at(variance)

    weights = [least_weight + fraction * excess_weight for fraction in WEIGHT_FRACTIONS]
    stages = [Stage(rounds=rounds, prox_weight=weight) for weight in weights]
    return min(stages, key=excess_risk)


STAGE_LENGTHS = (3.0, 2.0 * math.e, 10.0)
"""Lengths of the early stages, in units of √(β/μ) rounds. Without noise, 2e reduces the excess risk fastest."""
MOST_STAGES = 64
"""Largest number of early stages, which bounds the time of the search."""


def best_stages(rounds: int, *, descent: DescentFacts, variance: float) -> tuple[Stage, ...]:
    """Return stages of accelerated descent with R rounds in all, at which the risk bound is nearly minimal.

    A stage is a block of rounds with its own schedule of step sizes. A convex function gets one stage. For a strongly
    convex function, one stage is compared with plans of some short stages of equal length and a last one. The number of
    short stages grows until they no longer reduce the bound. The bound is valid for all plans, so the search need not
    be exact.

    Args:
        rounds: number R of rounds, at least 1.
        descent: constants of the function, such as its smoothness.
        variance: bound V² on the variance of a gradient.

    Returns:
        The stages, in the order in which they are run.
    """
    initial = descent.squared_distance(descent.initial_gap, largest_distance=descent.initial_distance)

    def excess_risk(stages: tuple[Stage, ...]) -> float:
        """Return the bound on the excess risk after the stages."""
        return stages_bound(stages, descent, variance=variance).at(variance)

    single_stage = best_stage(rounds, descent=descent, squared_distance=initial, variance=variance)
    best: tuple[Stage, ...] = (single_stage,)
    if descent.strong_convexity == 0.0:
        return best

    least_risk = excess_risk(best)
    # Restarts help after a number of rounds of the order √(β/μ), so the lengths are multiples of it.
    condition_root = math.sqrt(descent.smoothness / descent.strong_convexity)
    for relative_length in STAGE_LENGTHS:
        length = math.ceil(relative_length * condition_root)
        for stages in _multistage_plans(rounds, length, descent=descent, squared_distance=initial, variance=variance):
            risk = excess_risk(stages)
            if risk < least_risk:
                best, least_risk = stages, risk
            elif len(stages) > 2:  # A second early stage may help even if the first does not.
                break
    return best


def _multistage_plans(
    rounds: int, length: int, *, descent: DescentFacts, squared_distance: float, variance: float
) -> Iterator[tuple[Stage, ...]]:
    """Yield schedules of accelerated descent with 1, 2, … early stages of equal length and a last, different one.

    The last stage has the remaining rounds, at least one. The generator ends after `MOST_STAGES` early stages, or when
    the rounds do not suffice for a further one. It also ends if an early stage does not reduce the bound on the
    distance from the minimiser.

    Args:
        rounds: number R of rounds.
        length: rounds of an early stage.
        descent: constants of the function.
        squared_distance: bound on the squared distance from the first iterate to a minimiser.
        variance: bound V² on the variance of a gradient.

    Yields:
        The stages of one schedule, with the last stage.
    """
    early: list[Stage] = []
    while len(early) < MOST_STAGES and (len(early) + 1) * length < rounds:
        early.append(best_stage(length, descent=descent, squared_distance=squared_distance, variance=variance))

        # The next stage starts at the output of this one, whose excess risk bounds its distance from the minimiser.
        gap = stages_bound(early, descent, variance=variance).at(variance)
        reduced_distance = descent.squared_distance(gap, largest_distance=descent.diameter)
        if reduced_distance >= squared_distance:
            return
        squared_distance = reduced_distance

        remaining_rounds = rounds - len(early) * length
        last = best_stage(remaining_rounds, descent=descent, squared_distance=squared_distance, variance=variance)
        yield (*early, last)
