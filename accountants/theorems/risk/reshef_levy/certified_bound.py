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
from epsilond.accountants.quantities import (
    ANY_SCALE,
    Quantity,
    StepSize,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.reshef_levy.cancellation_run import CancellationRun
from epsilond.accountants.theorems.risk.reshef_levy.stability_bound import stability_bound
from epsilond.accountants.theorems.risk.reshef_levy.variance import FRESH_RECORDS, UNIFORM

_STEP_SIZES = 25
"""Number of step sizes on the geometric grid of `best_step_size`; the golden section refines the best of them."""
_SECTIONS = 20
"""Number of golden sections. They narrow two intervals of the grid to 0.62^20, or 7e-5, of their width in log η."""
_LARGEST_STEP_RATIO, _STEP_RANGE = 100.0, 1e-3
"""Ratio of the grid's largest step size to the η at which D²/(2η) equals the noise term, and of its smallest to the
lesser of the two."""
_LARGEST_H = 0.9
"""Largest h = 2ηLT on the grid. All bounds are infinite from h = 1 on, and increase steeply before it."""
BASE_STD = Quantity(
    symbol="√c", gt=0, unit="loss/length", description="σ of a client's first message; that of its N-th is √N times it"
)


@dataclass(frozen=True, kw_only=True)
class RiskParts:
    """Three upper bounds on the excess risk of the algorithm of Reshef and Levy, and the summands of the least one.

    All are in units of the loss.

    Attributes:
        by_norm: bound that uses only the norm of the noise.
        by_young: bound that treats a client's noise between two of its reports with Young's inequality.
        by_stability: bound that uses how little the noise of the last rounds changes the iterates.
        optimisation: summand due to the domain's diameter and to the gradient at the optimum.
        statistical: summand due to the variance of the clients' gradients.
        noise: summand due to the privacy noise.
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
    """Return the two noise-free summands of a risk bound for the algorithm of Reshef and Levy, times T(T + 1)/2.

    The first summand is the optimisation error D²/(2η) + TDG*. The second one is the error due to the sampling of
    records and clients, D√(V/m) Σ_{t≤T} √t. Round t has the weight t, so T(T + 1)/2 is the sum of the weights.

    Args:
        run: m reporting clients in each of T rounds, the diameter D of the domain, the gradient norm G* at the
            minimiser, and the variance V of a client's message.
        step_size: step size η of every round.

    Returns:
        The optimisation error and the sampling error.
    """
    distance_part = 0.5 * run.diameter / step_size
    optimisation = run.diameter * (distance_part + run.rounds * run.gradient_at_optimum)
    statistical = run.diameter * math.sqrt(run.variance / run.participants) * root_sum(run.rounds)
    return optimisation, statistical


def certified_risk(
    run: CancellationRun, *, step_size: float, noise_variance: float, thorough: bool = False
) -> RiskParts:
    """Compute three upper bounds on the excess risk of the algorithm of Reshef and Levy, at any step size.

    m of M clients report in each of T rounds. The domain has diameter D and dimension d, the losses are L-smooth, and η
    is the step size. Two of the bounds are:

        R0 = [B + D√(cd/m) Σ_{t≤T} √t]/(A(1 − h)),
        RI = [B + ηcdA/(mp²)]/(A(1 − 2h)),

    with p = m/M, A = T(T + 1)/2 and h = 2ηLT. B is the part without noise, the sum of `base_parts`. The third bound is
    RS of `stability_bound`. A bound is infinite if its denominator is not positive.

    Args:
        run: the clients, rounds and constants of the losses.
        step_size: step size η of every round.
        noise_variance: c; a client's noise has variance c N per coordinate after N reports.
        thorough: True to minimise RS over up to a million values of a parameter (the age of the noise), False to try
            only a few.

    Returns:
        The three bounds, and the nonnegative summands of the least one, in units of the loss.
    """
    feedback = 2.0 * step_size * run.smoothness * run.rounds  # h
    weight_sum = run.steps  # A
    optimisation, statistical = base_parts(run, step_size)
    base = optimisation + statistical

    # R0, which bounds the noise by its norm.
    norm_noise = run.diameter * math.sqrt(noise_variance * run.dimension / run.participants) * root_sum(run.rounds)
    by_norm = _quotient_or_infinity(base + norm_noise, weight_sum * (1.0 - feedback))

    # RI, which applies Young's inequality to the noise between two reports.
    young_noise = step_size * noise_variance * run.dimension / run.participants * (weight_sum / (run.rate * run.rate))
    by_young = _quotient_or_infinity(base + young_noise, weight_sum * (1.0 - 2.0 * feedback))

    # RS, which uses the stability of the iterates.
    by_stability = math.inf
    if feedback < 1.0:
        by_stability = stability_bound(
            run, base=base, noise_variance=noise_variance, step_size=step_size, thorough=thorough
        )

    bounds = {"by_norm": by_norm, "by_young": by_young, "by_stability": by_stability}
    least = min(bounds.values())
    if not math.isfinite(least):
        infinite_optimisation = math.inf if optimisation > 0.0 else 0.0
        infinite_statistical = math.inf if statistical > 0.0 else 0.0
        return RiskParts(**bounds, optimisation=infinite_optimisation, statistical=infinite_statistical, noise=math.inf)

    # Divide the least bound into summands. R0 and RI are sums over one denominator. RS has another denominator, so
    # that its rest is counted as noise.
    inflation = 1.0 / (1.0 - (2.0 * feedback if least == by_young else feedback))
    optimisation_term = inflation * optimisation / weight_sum
    statistical_term = inflation * statistical / weight_sum
    if least == by_young:
        noise_term = inflation * young_noise / weight_sum
    elif least == by_norm:
        noise_term = inflation * norm_noise / weight_sum
    else:
        noise_term = max(least - optimisation_term - statistical_term, 0.0)
    return RiskParts(**bounds, optimisation=optimisation_term, statistical=statistical_term, noise=noise_term)


def _quotient_or_infinity(numerator: float, denominator: float) -> float:
    """Return the quotient of two numbers, or infinity if the denominator is not positive and the bound is not valid."""
    if denominator > 0.0:
        return numerator / denominator
    return math.inf


def best_step_size(run: CancellationRun, *, noise_variance: float) -> float:
    """Return a step size η that nearly minimises the proved bound on the excess risk, `certified_risk`.

    The least bound on a geometric grid is refined by a golden-section search in log η. The bound is valid for every η;
    only its tightness depends on the search.

    Args:
        run: the clients, rounds and constants of the losses.
        noise_variance: number c > 0. A client's noise has variance c N per coordinate after N reports.

    Returns:
        The step size, below 1/(2LT) for T rounds and losses of smoothness L > 0.
    """
    # At this η the optimisation term D²/(2η) equals ηcdA/(mp), about the noise term of the bound by stability. D is the
    # diameter, d the dimension, A = T(T + 1)/2, and m clients, a share p of all, report in a round.
    noise_scale = 2.0 * noise_variance * run.dimension * run.steps
    balanced = run.diameter * math.sqrt(run.participants * run.rate / noise_scale)

    # All bounds are infinite from η = 1/(2LT) on, so the grid ends below it.
    largest = _LARGEST_STEP_RATIO * balanced
    if run.smoothness > 0.0:
        largest_for_smoothness = 0.5 * _LARGEST_H / (run.smoothness * run.rounds)
        largest = min(largest, largest_for_smoothness)
    smallest = _STEP_RANGE * min(balanced, largest)

    def bound(log_step_size: float) -> float:
        """Return the proved bound at log η."""
        return certified_risk(run, step_size=math.exp(log_step_size), noise_variance=noise_variance).total

    grid = np.linspace(math.log(smallest), math.log(largest), _STEP_SIZES).tolist()
    best = min(range(len(grid)), key=lambda index: bound(grid[index]))

    # The bound may have several minima, so the grid point is kept if the search between its neighbours finds no better.
    left = grid[max(best - 1, 0)]
    right = grid[min(best + 1, len(grid) - 1)]
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
    """Return a proved bound on the excess risk of the algorithm of Reshef and Levy, with its summands.

    Args:
        inputs: the clients, the rounds, the constants of the losses, the step size, and the noise of a first report.

    Returns:
        `excess_risk`: the least of three bounds, in units of the loss.
        `optimisation_term`, `statistical_term`, `noise_term`: its summands.
        `bound_by_norm`, `bound_by_young`, `bound_by_stability`: the three bounds.
    """
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
    (
        "every record's loss is convex, G-Lipschitz and L-smooth on all of R^d, or at all points within the distance D "
        "of the domain"
    ),
)
DOMAIN = Condition("domain", "the domain is convex and closed, has a diameter of at most D, and holds the start x_1")
CONVERGENCE = (SMOOTH_EVERYWHERE, DOMAIN, UNIFORM, FRESH_RECORDS)
POSITIVE = Condition(
    "stable-step",
    "2ηLT < 1 holds for the step size η, the smoothness L and T rounds. Otherwise the bound is infinite",
    lambda inputs: Sides.below(2.0 * inputs.step_size * inputs.smoothness * inputs.rounds, 1.0),
)

CERTIFIED = Theorem(
    id="epsilond.noise-cancellation-excess-risk",
    title="Excess risk with cancelled noise, proved",
    statement=(
        "Let a client's noise have variance c N after N reports. At any step size, E f(x_T) − f* is at most the least "
        "of three bounds. They use the norm of the noise, Young's inequality between reports, and stability"
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
