"""Proved bounds on the excess risk with cancelled noise, which replace Theorem 5.2 of Reshef and Levy.

The noise is given as `noise_variance` c: after N reports, the noise of a client has variance c N per coordinate. The
schedule of Theorem 5.2 is c = 4S²(1 + ln T)/ρ². Let A = T(T + 1)/2, p = m/M, h = 2ηLT, V = σ̃² + (M − m)/(M − 1) ξ̃²,
and base = D²/(2η) + TDG* + D√(V/m) Σ√t. The proved bound is the least of three:

    R0 = [base + D√(cd/m) Σ√t]/(A(1 − h)),                     by the norm |Y_t| of the noise;
    RI = [base + ηcdA/(mp²)]/(A(1 − 2h)),                      by Young's inequality between two reports;
    RS = [base + κηcdA/(mp) + ηcd(1 − p)^l (T − l)(T − l + 1)/(4λmp²)]/(A(1 − h/(1 − λ))),
         κ = exp(2ηL(l − 1)l(2l − 1)/6),                       by stability: recent noise has little feedback.

RS is the least over the age l in 1, …, T and the weight λ in (0, 1 − h). Every l and λ give a valid bound. In RS, noise
is recent if it is younger than l rounds.
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
"""Number of ages l that are tried one by one. As many more are tried on a geometric grid beyond them."""
_NEGLIGIBLE = 60.0
"""Exponent x at which e^(−x) is neglected; e^(−60) is far below the roundoff of a double."""
_LARGEST_LOG_KAPPA = 600.0
"""Largest log κ that is used, so that κ is a finite double. The ages that minimise RS have smaller ones."""
_STEP_SIZES = 25
"""Number of step sizes on the geometric grid of `best_step_size`; the golden section refines the best of them."""
_SECTIONS = 20
"""Number of golden sections. They narrow two intervals of the grid to 0.62^20, or 7e-5, of their width in log η."""
_LARGEST_STEP_RATIO, _STEP_RANGE = 100.0, 1e-3
"""Ratio of the grid's largest step size to the η at which D²/(2η) equals the noise term, and of its smallest to the
lesser of the two."""
_LARGEST_H = 0.9
"""Largest h = 2ηLT on the grid. All bounds are infinite from h = 1 on, and increase steeply before it."""
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
    """M clients, of which m report in each of T rounds, with the constants of their losses.

    Absent standard deviations, and an absent G*, have the largest value that the other constants allow.
    """

    rounds: Rounds
    dimension: Dimension
    optimum_gradient_norm: Annotated[float | None, OPTIMUM_GRADIENT_NORM] = None

    @property
    def gradient_at_optimum(self) -> float:
        """The norm G* of the gradient at the minimiser; G if it is absent."""
        return value_or_bound(self.optimum_gradient_norm, self.lipschitz)

    @property
    def rate(self) -> float:
        """The share p = m/M of the clients that report in a round."""
        return self.participants / self.clients

    @property
    def printed_variance(self) -> float:
        """σ̃² + ξ̃², the variance in Theorems 5.2 and F.2."""
        return self.total_gradient_std**2 + self.total_heterogeneity**2

    @property
    def variance(self) -> float:
        """σ̃² + (M − m)/(M − 1) ξ̃², the variance in Lemma 4.2."""
        share = client_share(clients=self.clients, participants=self.participants)
        return self.total_gradient_std**2 + share * self.total_heterogeneity**2

    @property
    def steps(self) -> float:
        """A = T(T + 1)/2, the sum of the weights."""
        return 0.5 * self.rounds * (self.rounds + 1.0)


@dataclass(frozen=True, kw_only=True)
class RiskParts:
    """The three bounds of the excess risk, in units of the loss, and the summands of the least one.

    Attributes:
        by_norm: bound R0 of the module text, by the norm of the noise.
        by_young: bound RI, by Young's inequality between two reports.
        by_stability: bound RS, by stability.
        optimisation: summand of the distance D and of the gradient at the optimum.
        statistical: summand of the variance V of the gradients.
        noise: summand of the cancelled noise.
    """

    by_norm: float
    by_young: float
    by_stability: float
    optimisation: float
    statistical: float
    noise: float

    @property
    def total(self) -> float:
        """The least of the three bounds."""
        return min(self.by_norm, self.by_young, self.by_stability)


def base_parts(run: CancellationRun, step_size: float) -> tuple[float, float]:
    """Return the two summands of `base` in the module text: D²/(2η) + TDG*, and D√(V/m) Σ√t.

    The first one is by optimisation, the second one by the sampling of records and clients.

    Args:
        run: the clients, rounds and constants of the losses.
        step_size: step size η.
    """
    optimisation = run.diameter * (0.5 * run.diameter / step_size + run.rounds * run.gradient_at_optimum)
    statistical = run.diameter * math.sqrt(run.variance / run.participants) * root_sum(run.rounds)
    return optimisation, statistical


def certified_risk(
    run: CancellationRun, *, step_size: float, noise_variance: float, thorough: bool = False
) -> RiskParts:
    """Compute the three bounds R0, RI and RS of the module text on the excess risk, at any step size.

    A bound is infinite if its denominator is not positive. The noise term of R0 and of RI is a summand of the bound.
    That of RS is the rest of the bound after the other two terms, which both have the factor 1/(1 − h).

    Args:
        run: the clients, rounds and constants of the losses.
        step_size: step size η of every round.
        noise_variance: c; a client's noise has variance c N per coordinate after N reports.
        thorough: if true, up to a million ages l are tried one by one in RS; otherwise `AGES` of them.

    Returns:
        The three bounds, and the nonnegative summands of the least one.
    """
    h = 2.0 * step_size * run.smoothness * run.rounds
    optimisation, statistical = base_parts(run, step_size)
    base, steps, rate = optimisation + statistical, run.steps, run.rate
    scale = step_size * noise_variance * run.dimension / run.participants
    norm = run.diameter * math.sqrt(noise_variance * run.dimension / run.participants) * root_sum(run.rounds)
    young = scale * (steps / (rate * rate))
    by_norm = by_young = stability = math.inf
    if h < 1.0:
        by_norm = (base + norm) / (steps * (1.0 - h))
        stability = _by_stability(run, base, scale, step_size, h, thorough=thorough)
    if 2.0 * h < 1.0:
        by_young = (base + young) / (steps * (1.0 - 2.0 * h))
    least = min(by_norm, by_young, stability)
    if not math.isfinite(least):
        return RiskParts(
            by_norm=by_norm,
            by_young=by_young,
            by_stability=stability,
            optimisation=math.inf if optimisation > 0.0 else 0.0,
            statistical=math.inf if statistical > 0.0 else 0.0,
            noise=math.inf,
        )
    inflation = 1.0 / (1.0 - 2.0 * h) if least == by_young else 1.0 / (1.0 - h)
    optimisation_term = inflation * optimisation / steps
    statistical_term = inflation * statistical / steps
    if least == by_young:
        noise_term = inflation * young / steps
    elif least == by_norm:
        noise_term = inflation * norm / steps
    else:
        noise_term = max(least - optimisation_term - statistical_term, 0.0)
    return RiskParts(
        by_norm=by_norm,
        by_young=by_young,
        by_stability=stability,
        optimisation=optimisation_term,
        statistical=statistical_term,
        noise=noise_term,
    )


def _by_stability(
    run: CancellationRun, base: float, scale: float, step_size: float, h: float, *, thorough: bool
) -> float:
    """Return the bound RS of the module text, minimised over the candidate ages l and the weight λ.

    Args:
        run: the clients, rounds and constants of the losses.
        base: `base` of the module text.
        scale: ηcd/m, the factor of the noise.
        step_size: step size η.
        h: 2ηLT, below 1.
        thorough: if true, up to a million ages l are tried one by one; otherwise `AGES` of them.

    Returns:
        The bound; infinite if no age gives a positive denominator.
    """
    ages = candidate_ages(run, step_size, thorough=thorough)
    rate, steps, rounds = run.rate, run.steps, float(run.rounds)
    young = base + scale * steps / rate * np.exp(log_kappa(run, step_size, ages))
    remaining_rounds = (rounds - ages) * (rounds - ages + 1.0)
    old = scale * 0.25 / (rate * rate) * _absence_powers(rate, ages) * remaining_rounds
    largest_weight = 1.0 - h
    # With f = 1 − h, the best λ is f · old/(old + √(h old (old + f · young))), the root of a quadratic.
    root = np.sqrt(h * old * (old + largest_weight * young))
    weight = largest_weight * np.where(old > 0.0, old / np.maximum(old + root, 1e-300), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        aged = np.where(old > 0.0, old / weight, 0.0)
        inflation = np.where(h > 0.0, 1.0 - h / (1.0 - weight), 1.0)
        bounds = (young + aged) / (steps * inflation)
    return float(np.min(np.where(inflation > 0.0, bounds, np.inf)))


def log_kappa(run: CancellationRun, step_size: float, ages: FloatArray) -> FloatArray:
    """Return log κ = 2ηL Σ_{a<l} a² for each age l, capped at a value for which κ is a finite double.

    Args:
        run: the run, with the smoothness L of its losses.
        step_size: step size η.
        ages: ages l.
    """
    growth = 2.0 * step_size * run.smoothness * (ages - 1.0) * ages * (2.0 * ages - 1.0) / 6.0
    return np.asarray(np.minimum(growth, _LARGEST_LOG_KAPPA))


def _absence_powers(rate: float, ages: FloatArray) -> FloatArray:
    """Return (1 − p)^l for each age l."""
    return np.zeros_like(ages) if rate == 1.0 else np.exp(ages * math.log1p(-rate))


def candidate_ages(run: CancellationRun, step_size: float, *, thorough: bool) -> FloatArray:
    """Return the ages l over which the bound RS of the module text is minimised, in increasing order.

    Beyond the largest candidate, (1 − p)^l/p² is negligible, or κ exceeds e^60. If the losses are linear, the number T
    of rounds is a candidate too.

    Args:
        run: the clients and rounds.
        step_size: step size η.
        thorough: whether up to a million ages are tried one by one; otherwise `AGES` of them. A geometric grid follows.
    """
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
    """Return the least value over ages l of κ + (M/m)(1 − m/M)^l, with κ of the module text.

    The printed bound of Theorem 5.2 is proved if this is at most 2 (erratum E-R1).
    """
    ages = candidate_ages(run, step_size, thorough=False)
    values = np.exp(log_kappa(run, step_size, ages)) + _absence_powers(run.rate, ages) / run.rate
    return float(np.min(values))


def best_step_size(run: CancellationRun, *, noise_variance: float) -> float:
    """Return a step size η that nearly minimises the proved bound.

    The least bound on a geometric grid is refined by a golden section search in log η. The bound is valid for every η;
    only its tightness depends on the search.

    Args:
        run: the clients, rounds and constants of the losses.
        noise_variance: c > 0; a client's noise has variance c N per coordinate after N reports.
    """
    # At this η, D²/(2η) equals the noise term ηcdA/(mp) of RS with κ = 1.
    balanced = run.diameter * math.sqrt(
        run.participants * run.rate / (2.0 * noise_variance * run.dimension * run.steps)
    )
    largest = _LARGEST_STEP_RATIO * balanced
    if run.smoothness > 0.0:
        largest = min(largest, 0.5 * _LARGEST_H / (run.smoothness * run.rounds))
    smallest = _STEP_RANGE * min(balanced, largest)

    def bound(log_step_size: float) -> float:
        """Return the proved bound at log η."""
        return certified_risk(run, step_size=math.exp(log_step_size), noise_variance=noise_variance).total

    grid = [float(x) for x in np.linspace(math.log(smallest), math.log(largest), _STEP_SIZES)]
    best = min(range(len(grid)), key=lambda index: bound(grid[index]))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    refined = golden_section(bound, left, right, width=0.0, most=_SECTIONS)
    return math.exp(min((refined, grid[best]), key=bound))


# The theorem ---------------------------------------------------------------------------------------------------------
@request
class CertifiedInputs(CancellationRun):
    """The noise of a run and its step size."""

    base_std: Annotated[float, BASE_STD]
    step_size: Annotated[StepSize, ANY_SCALE]


@in_doubles
def certified_bound(inputs: CertifiedInputs) -> Outputs:
    """Return the proved bound with its summands, and the three bounds of which it is the least."""
    parts = certified_risk(inputs, step_size=inputs.step_size, noise_variance=inputs.base_std**2, thorough=True)
    return {
        "excess_risk": parts.total,
        "optimisation_term": parts.optimisation,
        "statistical_term": parts.statistical,
        "noise_term": parts.noise,
        "bound_by_norm": parts.by_norm,
        "bound_by_young": parts.by_young,
        "bound_by_stability": parts.by_stability,
    }


SMOOTH_EVERYWHERE = Condition(
    "smooth-on-a-neighbourhood",
    "every record's loss is convex, G-Lipschitz and L-smooth on all of R^d, or on everything within D of the domain",
)
DOMAIN = Condition("domain", "the domain is convex, closed, of diameter at most D, and holds x_1")
CONVERGENCE = (SMOOTH_EVERYWHERE, DOMAIN, UNIFORM, FRESH_RECORDS)
POSITIVE = Condition(
    "stable-step",
    "2ηLT < 1, otherwise the bound is infinite",
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
    formula=certified_bound,
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
