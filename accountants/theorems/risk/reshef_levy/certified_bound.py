"""What is proved of the excess risk of cancelled noise, in the place of Theorem 5.2 of Reshef and Levy.

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
from typing import Annotated

import numpy as np

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.numerics.minimum import golden_section
from epsilond.accountants.numerics.power_sums import root_sum
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import (
    ANY_SCALE,
    SQUARES,
    Dimension,
    ParticipantFields,
    Quantity,
    Rounds,
    StepSize,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.reshef_levy.weighted_differences import LossConstants, value_or_bound
from epsilond.accountants.theorems.risk.reshef_levy.variance import FRESH_RECORDS, UNIFORM, client_share

AGES = 4096
"""Ages l are tried one by one up to here, and on a geometric grid of as many beyond."""
_NEGLIGIBLE = 60.0
OPTIMUM_GRADIENT_NORM = Quantity(
    symbol="‖∇f(x*)‖",
    ge=0,
    scale=SQUARES,
    unit="loss/length",
    description="norm of the gradient at the minimiser over the domain, 0 if it is an interior point; absent: G",
)
BASE_STD = Quantity(
    symbol="√c", gt=0, unit="loss/length", description="σ of a client's first message; that of its N-th is √N times it"
)


@request
class CancellationRun(ParticipantFields, LossConstants):
    """M clients of which m report in each of T rounds. Absent spreads and G* are at their largest."""

    rounds: Rounds
    dimension: Dimension
    optimum_gradient_norm: Annotated[float | None, OPTIMUM_GRADIENT_NORM] = None

    @property
    def gradient_at_optimum(self) -> float:
        """The norm G* of the gradient at the minimiser; G where it is not given."""
        return value_or_bound(self.optimum_gradient_norm, self.lipschitz)

    @property
    def rate(self) -> float:
        """The share p = m/M of the clients that report in a round."""
        return self.participants / self.clients

    @property
    def printed_variance(self) -> float:
        """σ̃² + ξ̃², as Theorems 5.2 and F.2 have it."""
        return self.total_gradient_std**2 + self.total_heterogeneity**2

    @property
    def variance(self) -> float:
        """σ̃² + (M − m)/(M − 1) ξ̃², as Lemma 4.2 has it."""
        share = client_share(clients=self.clients, participants=self.participants)
        return self.total_gradient_std**2 + share * self.total_heterogeneity**2

    @property
    def steps(self) -> float:
        """A = T(T + 1)/2, the sum of the weights."""
        return 0.5 * self.rounds * (self.rounds + 1.0)


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


def base_parts(run: CancellationRun, step_size: float) -> tuple[float, float]:
    """base as D²/(2η) + TDG* and D√(V/m) Σ√t."""
    optimisation = run.diameter * (0.5 * run.diameter / step_size + run.rounds * run.gradient_at_optimum)
    return optimisation, run.diameter * math.sqrt(run.variance / run.participants) * root_sum(run.rounds)


def certified_risk(
    run: CancellationRun, *, step_size: float, noise_variance: float, thorough: bool = False
) -> RiskParts:
    """Compute R0, RI and RS at any step size; infinite where their denominators are not positive.

    The noise term of R0 and of RI is its own summand. That of RS is the rest; it includes the excess of
    RS's factor over 1/(1 − h), which a run without noise does not have.

    Args:
        run: the clients, rounds and constants of the losses.
        step_size: step size η of every round.
        noise_variance: c; a client's noise has variance c N per coordinate after N reports.
        thorough: whether every age that may matter is tried, up to a million; otherwise their number is bounded.

    Returns:
        The three bounds, and the parts of the least one, none of them negative.
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
    inflation = 1.0 / (1.0 - (2.0 if least == by_young else 1.0) * h) if math.isfinite(least) else math.inf
    parts = [inflation * part / steps for part in (optimisation, statistical)]
    if least == by_young:
        noise = inflation * young / steps
    elif least == by_norm:
        noise = inflation * norm / steps
    else:
        noise = max(least - parts[0] - parts[1], 0.0)
    return RiskParts(
        by_norm=by_norm,
        by_young=by_young,
        by_stability=stability,
        optimisation=parts[0],
        statistical=parts[1],
        noise=noise if math.isfinite(least) else math.inf,
    )


def _by_stability(
    run: CancellationRun, base: float, scale: float, step_size: float, h: float, *, thorough: bool
) -> float:
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


def log_kappa(run: CancellationRun, step_size: float, ages: FloatArray) -> FloatArray:
    """2ηL Σ_{a < l} a², at most 600."""
    growth = 2.0 * step_size * run.smoothness * (ages - 1.0) * ages * (2.0 * ages - 1.0) / 6.0
    return np.asarray(np.minimum(growth, 600.0))


def _powers(rate: float, ages: FloatArray) -> FloatArray:
    """(1 − p)^l."""
    return np.zeros_like(ages) if rate == 1.0 else np.exp(ages * math.log1p(-rate))


def candidate_ages(run: CancellationRun, step_size: float, *, thorough: bool) -> FloatArray:
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


def stated_criterion(run: CancellationRun, *, step_size: float) -> float:
    """The least over l of κ + (M/m)(1 − m/M)^l: Theorem 5.2 is proved where it is at most 2 (E-R1)."""
    ages = candidate_ages(run, step_size, thorough=False)
    values = np.exp(log_kappa(run, step_size, ages)) + _powers(run.rate, ages) / run.rate
    return float(np.min(values))


def best_step_size(run: CancellationRun, *, noise_variance: float) -> float:
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
    section = golden_section(bound, grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], width=0.0, most=20)
    return math.exp(min((section, grid[best]), key=bound))


# The theorem ---------------------------------------------------------------------------------------------------------
@request
class CertifiedInputs(CancellationRun):
    """The noise of a run and its step size."""

    base_std: Annotated[float, BASE_STD]
    step_size: Annotated[StepSize, ANY_SCALE]


@in_doubles
def certified(inputs: CertifiedInputs) -> Outputs:
    """The proved bound with its parts, and the three bounds it is the least of."""
    found = certified_risk(inputs, step_size=inputs.step_size, noise_variance=inputs.base_std**2, thorough=True)
    return {
        "excess_risk": found.total,
        "optimisation_term": found.optimisation,
        "statistical_term": found.statistical,
        "noise_term": found.noise,
        "bound_by_norm": found.by_norm,
        "bound_by_young": found.by_young,
        "bound_by_stability": found.by_stability,
    }


SMOOTH_EVERYWHERE = Condition(
    "smooth-on-a-neighbourhood",
    "every record's loss is convex, G-Lipschitz and L-smooth on all of R^d, or on everything within D of the domain",
)
DOMAIN = Condition("domain", "the domain is convex, closed, of diameter at most D, and holds x_1")
CONVERGENCE = (SMOOTH_EVERYWHERE, DOMAIN, UNIFORM, FRESH_RECORDS)
POSITIVE = Condition(
    "stable-step",
    "2ηLT < 1, else the bound is unbounded",
    lambda inputs: Sides.below(2.0 * inputs.step_size * inputs.smoothness * inputs.rounds, 1.0),
)

CERTIFIED = Theorem(
    id="epsilond.noise-cancellation-excess-risk",
    title="Excess risk with cancelled noise, proved",
    statement=(
        "With noise of variance c N after a client's N reports and any step size: E f(x_T) − f* is at most the least "
        "of three bounds, by the noise's norm, by Young's inequality between reports, and by stability"
    ),
    source=Source(
        "epsilond",
        "repaired proof of Theorem 5.2 of Reshef and Levy; accountants/theorems/risk/reshef_levy/certified_bound.py",
    ),
    status=Status.PROVED,
    conditions=(POSITIVE, *CONVERGENCE),
    inputs=CertifiedInputs,
    formula=certified,
    examples=(
        {
            "clients": 20,
            "participants": 4,
            "rounds": 2000,
            "dimension": 10,
            "lipschitz": 1.0,
            "smoothness": 0.25,
            "diameter": 2.0,
            "base_std": 2.9,
            "step_size": 1e-4,
        },
    ),
)
THEOREMS: tuple[Theorem, ...] = (CERTIFIED,)
