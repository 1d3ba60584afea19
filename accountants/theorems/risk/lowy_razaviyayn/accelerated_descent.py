"""Stages of accelerated descent, and bounds on their excess risk. The derivation is in `accelerated_bound.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

ROUNDING = 2.0**-36
"""Relative surcharge on every bound; it exceeds by far the rounding errors of the operations below."""
LISTED_TERMS = 1024
"""Number of terms of the sum that are added one by one; an integral bounds the others."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage: its number T of rounds, and its prox weight v in η_t = 4v/(t(t + 1))."""

    rounds: int
    prox_weight: float


@dataclass(frozen=True, kw_only=True)
class DescentFacts:
    """Constants of the function that a run descends on: β, μ, and Δ if it is known.

    `initial_distance` bounds the distance from the start to a minimiser over the domain. `diameter` is the diameter of
    the domain, which bounds this distance for every later stage.
    """

    smoothness: float
    strong_convexity: float = 0.0
    initial_distance: float
    diameter: float
    initial_gap: float = math.inf

    def squared_distance(self, gap: float, *, most: float) -> float:
        """Return the least known bound on |w − w*|² if the excess risk is at most `gap` and |w − w*| ≤ `most`."""
        squared = most * most
        return min(squared, 2.0 * gap / self.strong_convexity) if self.strong_convexity > 0.0 else squared


@dataclass(frozen=True)
class DescentBound:
    """The bound E F(w^ag) − F* ≤ `optimisation` + `variance_factor` · V²."""

    optimisation: float
    variance_factor: float

    def at(self, variance: float) -> float:
        """Return the bound at V² = `variance`, rounded up."""
        variance_term = self.variance_factor * variance if variance > 0.0 else 0.0
        return (self.optimisation + variance_term) * (1.0 + ROUNDING)


def stage_factors(stage: Stage, *, smoothness: float, strong_convexity: float) -> DescentBound:
    """Return the factors A and B of a stage, for which E F(w^ag) − F(u) ≤ A E|w_0 − u|² + B V².

    The stage has T rounds and the prox weight v. It starts at w_0 and returns w^ag; u is any point of the domain, and
    V² bounds the variance of a gradient. `accelerated_bound.py` has the proof.

    Args:
        stage: number T of rounds, and prox weight v.
        smoothness: smoothness β of the function.
        strong_convexity: strong convexity μ of the function; 0 if it is only convex.

    Returns:
        A as `optimisation` and B as `variance_factor`. Both are infinite if v < βT/(T + 1), where the proof fails.
    """
    rounds, weight = float(stage.rounds), stage.prox_weight
    spare = weight * (1.0 - 2.0**-51) - smoothness * (rounds / (rounds + 1.0))  # rounded down
    if spare < 0.0:
        return DescentBound(math.inf, math.inf)
    scale = 2.0 / (rounds * (rounds + 1.0))
    if strong_convexity == 0.0:
        return DescentBound(scale * weight, (2.0 * rounds + 1.0) / (12.0 * spare) if spare > 0.0 else math.inf)
    return DescentBound(scale * weight, scale * _upper_variance_sum(stage.rounds, 4.0 * spare, strong_convexity))


def _upper_variance_sum(rounds: int, spare: float, strong_convexity: float) -> float:
    """Return an upper bound on the sum Σ_{t≤T} t²/(μt(t + 1) + 4s), at most 0.2 % above it.

    The terms increase in t. Hence the terms beyond m = `LISTED_TERMS` are at most the integral of x²/(μx² + 4s) over
    [m + 1, T + 1].

    Args:
        rounds: number T of rounds.
        spare: 4s, where s ≥ 0 is the excess of the prox weight over βT/(T + 1).
        strong_convexity: strong convexity μ > 0.
    """
    listed = np.arange(1.0, min(rounds, LISTED_TERMS) + 1.0)
    total = float(np.sum(listed * listed / (strong_convexity * listed * (listed + 1.0) + spare)))
    if rounds <= LISTED_TERMS:
        return total
    low, high = LISTED_TERMS + 1.0, rounds + 1.0
    knee = math.sqrt(spare / strong_convexity)
    if high < 0.03 * knee:  # the difference below would cancel; x²/(4s) is a close upper bound
        return total + (high**3 - low**3) / (3.0 * spare)
    bent = knee * (math.atan2(high, knee) - math.atan2(low, knee)) if knee > 0.0 else 0.0
    return total + (high - low - bent) / strong_convexity


def stages_bound(stages: Sequence[Stage], descent: DescentFacts, *, variance: float) -> DescentBound:
    """Return the bound on the excess risk after all stages, each of which starts at the output of the previous one.

    Args:
        stages: the stages in their order.
        descent: constants of the function.
        variance: bound V² on the variance of a gradient. It only decides, before each stage, whether the excess risk or
            the diameter gives the smaller bound on the distance from the minimiser. Each choice is valid.
    """
    bound = DescentBound(descent.initial_gap, 0.0)
    most = descent.initial_distance
    for stage in stages:
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        bound = _after_stage(factors, bound, descent, most=most, variance=variance)
        most = descent.diameter
    return bound


def _after_stage(
    factors: DescentBound, before: DescentBound, descent: DescentFacts, *, most: float, variance: float
) -> DescentBound:
    """Return the bound on the excess risk after one stage.

    If the function is strongly convex, the excess risk before the stage bounds the distance from the minimiser too. The
    smaller one of this distance and `most` is used.

    Args:
        factors: factors of the stage, of `stage_factors`.
        before: bound on the excess risk before the stage.
        descent: constants of the function.
        most: bound on the distance of the stage's first iterate from the minimiser.
        variance: bound V² on the variance of a gradient.
    """
    gap = before.at(variance)
    if descent.strong_convexity > 0.0 and descent.squared_distance(gap, most=most) < most * most:
        pull = 2.0 * factors.optimisation / descent.strong_convexity
        return DescentBound(pull * before.optimisation, pull * before.variance_factor + factors.variance_factor)
    return DescentBound(factors.optimisation * most * most, factors.variance_factor)


def best_stage(rounds: int, *, descent: DescentFacts, squared_distance: float, variance: float) -> Stage:
    """Return a stage of T rounds with a nearly minimal bound. Every prox weight v above βT/(T + 1) is valid.

    Let s = v − βT/(T + 1). For μ = 0, s = √(V²(2T + 1)T(T + 1)/(24 D₀²)) is optimal. For μ > 0 the best s is smaller:
    this s, its fractions by powers of four, and 0 are compared.

    Args:
        rounds: number T of rounds.
        descent: constants of the function.
        squared_distance: bound D₀² on the squared distance from the first iterate to a minimiser.
        variance: bound V² on the variance of a gradient.
    """
    least = descent.smoothness * (rounds / (rounds + 1.0)) * (1.0 + 2.0**-49)
    cubed = (2.0 * rounds + 1.0) * rounds * (rounds + 1.0) / 24.0
    spare = math.sqrt(variance * cubed / squared_distance)
    if descent.strong_convexity == 0.0:
        return Stage(rounds=rounds, prox_weight=least + spare)
    shares = [*(2.0**-power for power in range(0, 12, 2)), 0.0]
    stages = [Stage(rounds=rounds, prox_weight=least + share * spare) for share in shares]

    def total(stage: Stage) -> float:
        """Return the bound of a stage."""
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        return DescentBound(factors.optimisation * squared_distance, factors.variance_factor).at(variance)

    return min(stages, key=total)


PACES = (3.0, 2.0 * math.e, 10.0)
"""Lengths of the early stages, in units of √(β/μ). Without noise, 2e reduces the excess risk fastest."""
MOST_STAGES = 64
"""Largest number of early stages, which bounds the time of the search."""


def best_stages(rounds: int, *, descent: DescentFacts, variance: float) -> tuple[Stage, ...]:
    """Return stages with R rounds in all, at which the bound on the excess risk is nearly minimal.

    For μ = 0 this is one stage. For μ > 0, that one is compared with plans of several short stages of one length, which
    a longer stage follows.

    Args:
        rounds: number R of rounds.
        descent: constants of the function.
        variance: bound V² on the variance of a gradient.
    """
    initial = descent.squared_distance(descent.initial_gap, most=descent.initial_distance)
    best: tuple[Stage, ...] = (best_stage(rounds, descent=descent, squared_distance=initial, variance=variance),)
    if descent.strong_convexity == 0.0:
        return best
    least = stages_bound(best, descent, variance=variance).at(variance)
    for pace in PACES:
        length = math.ceil(pace * math.sqrt(descent.smoothness / descent.strong_convexity))
        for stages in _plans(rounds, length, descent=descent, squared_distance=initial, variance=variance):
            value = stages_bound(stages, descent, variance=variance).at(variance)
            if value < least:
                best, least = stages, value
            elif len(stages) > 2:
                break
    return best


def _plans(
    rounds: int, length: int, *, descent: DescentFacts, squared_distance: float, variance: float
) -> Iterator[tuple[Stage, ...]]:
    """Yield plans with 1, 2, … early stages of one length, and a last stage with the remaining rounds.

    The generator ends when a further early stage would not reduce the bound on the distance from the minimiser, when
    the rounds are used up, or after `MOST_STAGES` early stages.

    Args:
        rounds: number R of rounds.
        length: rounds of an early stage.
        descent: constants of the function.
        squared_distance: bound on the squared distance from the first iterate to a minimiser.
        variance: bound V² on the variance of a gradient.
    """
    early: list[Stage] = []
    while len(early) < MOST_STAGES and (len(early) + 1) * length < rounds:
        early.append(best_stage(length, descent=descent, squared_distance=squared_distance, variance=variance))
        gap = stages_bound(early, descent, variance=variance).at(variance)
        closer = descent.squared_distance(gap, most=descent.diameter)
        if closer >= squared_distance:
            return
        squared_distance = closer
        last = rounds - len(early) * length
        yield (*early, best_stage(last, descent=descent, squared_distance=squared_distance, variance=variance))
