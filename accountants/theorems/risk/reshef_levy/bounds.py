"""Bounds on the excess risk of cancelled noise: those of the printed proof, and those that are proved in its place.

All take the noise as `noise_variance` c: a client's noise has variance c N per coordinate after N reports, so that
c = 4S²(1 + ln T)/ρ² is the schedule of Theorem 5.2. A = T(T + 1)/2, p = m/M, h = 2ηLT,
V = σ̃² + (M − m)/(M − 1) ξ̃², and base = D²/(2η) + TDG* + D√(V/m) Σ√t. What is proved is the least of three:

    R0 = [base + D√(cd/m) Σ√t]/(A(1 − h)),                     |Y_t| as it is;
    RI = [base + ηcdA/(mp²)]/(A(1 − 2h)),                      Young's inequality between two reports;
    RS = [base + κηcdA/(mp) + ηcd(1 − p)^l (T − l)(T − l + 1)/(4λmp²)]/(A(1 − h/(1 − λ))),
         κ = exp(2ηL(l − 1)l(2l − 1)/6),                       stability: noise younger than l rounds hardly feeds back,

RS being the least over l in 1, …, T and λ in (0, 1 − h). Any l and λ give a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.theorems.papers.reshef_levy.arithmetic import Federation, root_sum

AGES = 4096
"""Ages l are tried one by one up to here, and on a geometric grid of as many beyond."""
_NEGLIGIBLE = 60.0


@dataclass(frozen=True, kw_only=True)
class RiskParts:
    """The three bounds, the parts of the least one, and what decides whether Theorem 5.2 is proved."""

    by_norm: float
    by_young: float
    by_stability: float
    optimisation: float
    statistical: float
    noise: float

    @property
    def total(self) -> float:
        """The least of the three."""
        return min(self.by_norm, self.by_young, self.by_stability)


def base_parts(run: Federation, step_size: float) -> tuple[float, float]:
    """base as D²/(2η) + TDG* and D√(V/m) Σ√t."""
    optimisation = run.diameter * (0.5 * run.diameter / step_size + run.rounds * run.optimum_gradient_norm)
    return optimisation, run.diameter * math.sqrt(run.variance / run.participants) * root_sum(run.rounds)


def certified_risk(run: Federation, *, step_size: float, noise_variance: float, thorough: bool = False) -> RiskParts:
    """R0, RI and RS at any step size; infinite where their denominators are not positive.

    `thorough` tries every age that may matter, up to a million; without it their number is bounded.
    """
    h = 2.0 * step_size * run.smoothness * run.rounds
    optimisation, statistical = base_parts(run, step_size)
    base, steps, rate = optimisation + statistical, run.steps, run.rate
    scale = step_size * noise_variance * run.dimension / run.participants
    norm = run.diameter * math.sqrt(noise_variance * run.dimension / run.participants) * root_sum(run.rounds)
    young = scale * (steps / (rate * rate))
    stability = _by_stability(run, base, scale, step_size, h, thorough=thorough) if h < 1.0 else math.inf
    by_norm = (base + norm) / (steps * (1.0 - h)) if h < 1.0 else math.inf
    by_young = (base + young) / (steps * (1.0 - 2.0 * h)) if 2.0 * h < 1.0 else math.inf
    least = min(by_norm, by_young, stability)
    # What stability inflates beyond 1/(1 − h) counts as noise: without noise it would not be paid.
    inflation = 1.0 / (1.0 - (2.0 if least == by_young else 1.0) * h) if math.isfinite(least) else math.inf
    parts = [inflation * optimisation / steps, inflation * statistical / steps]
    return RiskParts(
        by_norm=by_norm,
        by_young=by_young,
        by_stability=stability,
        optimisation=parts[0],
        statistical=parts[1],
        noise=least - parts[0] - parts[1] if math.isfinite(least) else math.inf,
    )


def _by_stability(run: Federation, base: float, scale: float, step_size: float, h: float, *, thorough: bool) -> float:
    ages = candidate_ages(run, step_size, thorough=thorough)
    rate, steps, rounds = run.rate, run.steps, float(run.rounds)
    young = base + scale * steps / rate * np.exp(log_kappa(run, step_size, ages))
    left = (rounds - ages) * (rounds - ages + 1.0)
    old = scale * 0.25 / (rate * rate) * _powers(rate, ages) * left
    free = 1.0 - h
    # The best λ is free · old/(old + √(h old (old + free · young))), the root of a quadratic.
    share = np.where(old > 0.0, old / np.maximum(old + np.sqrt(h * old * (old + free * young)), 1e-300), 0.0)
    weight = free * share
    with np.errstate(divide="ignore", invalid="ignore"):
        aged = np.where(old > 0.0, old / weight, 0.0)
        inflation = np.where(h > 0.0, 1.0 - h / (1.0 - weight), 1.0)
        bounds = (young + aged) / (steps * inflation)
    return float(np.min(np.where(inflation > 0.0, bounds, np.inf)))


def log_kappa(run: Federation, step_size: float, ages: FloatArray) -> FloatArray:
    """2ηL Σ_{a < l} a², at most 600."""
    growth = 2.0 * step_size * run.smoothness * (ages - 1.0) * ages * (2.0 * ages - 1.0) / 6.0
    return np.asarray(np.minimum(growth, 600.0))


def _powers(rate: float, ages: FloatArray) -> FloatArray:
    """(1 − p)^l."""
    return np.zeros_like(ages) if rate == 1.0 else np.exp(ages * math.log1p(-rate))


def candidate_ages(run: Federation, step_size: float, *, thorough: bool) -> FloatArray:
    """Ages l worth trying: beyond the last, old noise is nothing or κ everything; T itself if losses are linear."""
    last = float(run.rounds)
    if run.rate < 1.0:
        last = min(last, math.ceil((_NEGLIGIBLE - 2.0 * math.log(run.rate)) / -math.log1p(-run.rate)))
    else:
        last = 1.0
    pull = step_size * run.smoothness
    if pull > 0.0:
        last = min(last, math.ceil((1.5 * _NEGLIGIBLE / pull) ** (1.0 / 3.0)) + 1.0)
    most = 10**6 if thorough else AGES
    ages = np.arange(1.0, min(last, most) + 1.0)
    if last > most:
        ages = np.append(ages, np.unique(np.floor(np.geomspace(most + 1.0, last, AGES))))
    return np.append(ages, float(run.rounds)) if pull == 0.0 else ages


def stated_criterion(run: Federation, *, step_size: float) -> float:
    """The least over l of κ + (M/m)(1 − m/M)^l: Theorem 5.2 is proved where it is at most 2 (E-R1)."""
    ages = candidate_ages(run, step_size, thorough=False)
    values = np.exp(log_kappa(run, step_size, ages)) + _powers(run.rate, ages) / run.rate
    return float(np.min(values))


def best_step_size(run: Federation, *, noise_variance: float) -> float:
    """A step size that nearly minimises the certified bound: a geometric grid, then golden sections."""
    centre = run.diameter * math.sqrt(run.participants * run.rate / (2.0 * noise_variance * run.dimension * run.steps))
    top = 100.0 * centre
    if run.smoothness > 0.0:
        top = min(top, 0.45 / (run.smoothness * run.rounds))
    bottom = 1e-3 * min(centre, top)

    def bound(log_step: float) -> float:
        return certified_risk(run, step_size=math.exp(log_step), noise_variance=noise_variance).total

    grid = [float(x) for x in np.linspace(math.log(bottom), math.log(top), 25)]
    best = min(range(len(grid)), key=lambda place: bound(grid[place]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    left, right = high - golden * (high - low), low + golden * (high - low)
    values = bound(left), bound(right)
    for _ in range(20):
        if values[0] <= values[1]:
            high, right = right, left
            left = high - golden * (high - low)
            values = bound(left), values[0]
        else:
            low, left = left, right
            right = low + golden * (high - low)
            values = values[1], bound(right)
    return math.exp(min((left, right, grid[best]), key=bound))


# As printed -----------------------------------------------------------------------------------------------------------
def printed_step_size(run: Federation, *, mu: float) -> float:
    """min{ρDm/(2ST√(2Md(1 + ln T))), 1/(8LT)} (R8)."""
    spread = 2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds))
    first = mu * run.diameter * run.participants / (2.0 * run.clipping_norm * run.rounds * math.sqrt(spread))
    return min(first, 1.0 / (8.0 * run.smoothness * run.rounds)) if run.smoothness > 0.0 else first


def printed_terms(run: Federation, *, mu: float) -> dict[str, float]:
    """The three terms of Theorem 5.2: 4D((G* + 4LD)/T + √(σ̃² + ξ̃²)/√(mT) + 2S√(2Md(1 + ln T))/(ρmT)) (R9)."""
    d, reports = run.diameter, float(run.participants) * run.rounds
    spread = 2.0 * run.clients * run.dimension * (1.0 + math.log(run.rounds))
    return {
        "optimisation": 4.0 * d * (run.optimum_gradient_norm + 4.0 * run.smoothness * d) / run.rounds,
        "statistical": 4.0 * d * math.sqrt(run.printed_variance / reports),
        "privacy": 8.0 * d * run.clipping_norm * math.sqrt(spread) / (mu * reports),
    }


def printed_risk_at(run: Federation, *, mu: float, step_size: float) -> float:
    """The display before η is picked, for η ≤ 1/(8LT), with M/m ≤ T not yet used (R9')."""
    d, rounds = run.diameter, float(run.rounds)
    spread = run.clients * run.dimension * (1.0 + math.log(rounds)) / (run.participants * run.participants)
    noise = 8.0 * run.clipping_norm**2 * step_size * spread / (mu * mu)
    return math.fsum(
        (
            2.0 * d * d / (step_size * rounds * rounds),
            4.0 * d * run.optimum_gradient_norm / rounds,
            4.0 * d * math.sqrt(run.printed_variance / (run.participants * rounds)),
            noise * (1.0 + run.clients / (run.participants * rounds)),
        )
    )


def trusted_step_size(run: Federation, *, noise_std: float) -> float:
    """min{D/(σ√(dT)), 1/(4LT)}; at σ = 2S√T/(ρm) it is that of Theorem F.2 (R14)."""
    first = run.diameter / (noise_std * math.sqrt(run.dimension * float(run.rounds)))
    return min(first, 1.0 / (4.0 * run.smoothness * run.rounds)) if run.smoothness > 0.0 else first


def trusted_terms(run: Federation, *, noise_std: float, step_size: float) -> dict[str, float]:
    """2D²/(ηT²) + 4DG*/T, 4D√(σ̃² + ξ̃²)/√(mT) and 2ηdσ²/T, for η ≤ 1/(4LT): proved (E-R7)."""
    d, rounds = run.diameter, float(run.rounds)
    return {
        "optimisation": 2.0 * d * d / (step_size * rounds * rounds) + 4.0 * d * run.optimum_gradient_norm / rounds,
        "statistical": 4.0 * d * math.sqrt(run.printed_variance / (run.participants * rounds)),
        "noise": 2.0 * step_size * run.dimension * noise_std * noise_std / rounds,
    }
