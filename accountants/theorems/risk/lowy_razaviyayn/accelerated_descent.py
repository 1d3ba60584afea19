"""Stages of accelerated descent, and their bounds on the excess risk. The derivation is in `accelerated_bound.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
class DescentFacts:
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
class DescentBound:
    """E F(w^ag) − F* ≤ `optimisation` + `variance_factor` · V²."""

    optimisation: float
    variance_factor: float

    def at(self, variance: float) -> float:
        """The bound at V², rounded up."""
        spread = self.variance_factor * variance if variance > 0.0 else 0.0
        return (self.optimisation + spread) * (1.0 + ROUNDING)


def stage_factors(stage: Stage, *, smoothness: float, strong_convexity: float) -> DescentBound:
    """A and B of a stage: E F(w^ag) − F(u) ≤ A E|w_0 − u|² + B V². Both infinite where v < βT/(T + 1)."""
    rounds, weight = float(stage.rounds), stage.prox_weight
    spare = weight * (1.0 - 2.0**-51) - smoothness * (rounds / (rounds + 1.0))  # rounded down
    if spare < 0.0:
        return DescentBound(math.inf, math.inf)
    scale = 2.0 / (rounds * (rounds + 1.0))
    if strong_convexity == 0.0:
        return DescentBound(scale * weight, (2.0 * rounds + 1.0) / (12.0 * spare) if spare > 0.0 else math.inf)
    return DescentBound(scale * weight, scale * _summed(stage.rounds, 4.0 * spare, strong_convexity))


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


def stages_bound(stages: Sequence[Stage], descent: DescentFacts, *, variance: float) -> DescentBound:
    """The bound after all stages, one after the other; V² decides only which bound on a distance is the lesser."""
    so_far = DescentBound(descent.initial_gap, 0.0)
    most = descent.initial_distance
    for stage in stages:
        factors = stage_factors(stage, smoothness=descent.smoothness, strong_convexity=descent.strong_convexity)
        so_far = _after(factors, so_far, descent, most=most, variance=variance)
        most = descent.diameter
    return so_far


def _after(
    factors: DescentBound, before: DescentBound, descent: DescentFacts, *, most: float, variance: float
) -> DescentBound:
    gap = before.at(variance)
    if descent.strong_convexity > 0.0 and descent.squared_distance(gap, most=most) < most * most:
        pull = 2.0 * factors.optimisation / descent.strong_convexity
        return DescentBound(pull * before.optimisation, pull * before.variance_factor + factors.variance_factor)
    return DescentBound(factors.optimisation * most * most, factors.variance_factor)


def best_stage(rounds: int, *, descent: DescentFacts, squared_distance: float, variance: float) -> Stage:
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
        return DescentBound(factors.optimisation * squared_distance, factors.variance_factor).at(variance)

    return min(stages, key=total)


PACES = (3.0, 2.0 * math.e, 10.0)
"""Lengths of the early stages tried, in units of √(β/μ); 2e shrinks an excess fastest where there is no noise."""
MOST_STAGES = 64


def best_stages(rounds: int, *, descent: DescentFacts, variance: float) -> tuple[Stage, ...]:
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
