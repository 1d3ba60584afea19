"""Refuted: a filter that keeps the exact composed loss of past runs and allows all that keeps δ(ε*) within δ*.

The next mechanism is chosen after an output. The filter bounds max_m E[δ_m(ε − L)] over the options m, but the
interaction has E[max_m δ_m(ε − L)], where L is the loss of the first output. The difference is a factor and not a
rounding error (docs/ledger.md, "Rules that are false").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.quantities import Quantity
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Source, Status, Theorem

_TESTS = "tests/ledgers/mathematics/theorems/test_natural_filter.py"
Options = Literal["gaussian-or-pure", "leaky-responses"]
LEAKY = np.linspace(0.05, 1.6, 60)
"""Losses of the leaky responses, as shares of ε."""
_SCANNED = 4000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)

TARGET_EPSILON = Quantity(symbol="ε*", unit="nat", ge=0.05, le=20.0, description="ε of the target of the filter")
TARGET_DELTA = Quantity(symbol="δ*", ge=1e-15, le=1e-2, description="δ of the target of the filter")
FIRST_MU = Quantity(symbol="μ₁", ge=0.02, le=4.0, description="distance of the means of the Gaussian that is run first")
OPTIONS = Quantity(
    description=(
        "candidates for the second run, each as large as the filter allows. They are a Gaussian, one randomized "
        "response, or 60 randomized responses that answer with some probability only"
    )
)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return δ of N(μ, 1) against N(0, 1) at any real ε."""
    if epsilon >= 0.0:
        return math.exp(float(log_theta(epsilon, mu)))
    return -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(-epsilon, mu)


def response_delta(epsilon: float, mu: float, loss: float) -> float:
    """Return δ of a Gaussian followed by a randomized response with loss ±t: k δ_μ(ε − t) + (1 − k) δ_μ(ε + t).

    Args:
        epsilon: ε, in nats.
        mu: distance μ of the Gaussians' means, in standard deviations.
        loss: t > 0; the probability of a truthful answer is k = 1/(1 + e^−t).
    """
    keep = 1.0 / (1.0 + math.exp(-loss))
    return keep * gaussian_delta(epsilon - loss, mu) + (1.0 - keep) * gaussian_delta(epsilon + loss, mu)


def leaky_truth(epsilon: float, delta: float, mu: float) -> float:
    """Return δ if the second mechanism is chosen among leaky responses after the output of a Gaussian.

    A leaky response m is a randomized response that answers only with some probability. The probability is such that
    the composition with the Gaussian has exactly δ. The result is E[max_m δ_m(ε − L)], where L is the Gaussian's loss.

    Each δ_m is a maximum of a few lines c − d a in a = e^{ε−L}, and so is max_m δ_m. Let two successive lines of the
    maximum cross at a = e^{ε−b}, with an increase Δc. E[(1 − e^{b−L})₊] is the Gaussian's δ at b, so that the result is
    Σ Δc δ(b).

    Args:
        epsilon: ε of the target, in nats.
        delta: δ of the target.
        mu: distance of the Gaussians' means, in standard deviations.
    """
    gaussian_only = gaussian_delta(epsilon, mu)
    lines = [(0.0, 0.0), (1.0, 1.0)]
    for loss in (LEAKY * epsilon).tolist():
        answers = (delta - gaussian_only) / (response_delta(epsilon, mu, loss) - gaussian_only)
        if answers <= 1.0:
            keep, flip = 1.0 / (1.0 + math.exp(-loss)), 1.0 / (1.0 + math.exp(loss))
            lines += [(answers * flip, answers * keep), (1.0 - answers * keep, 1.0 - answers * flip)]
    hull = _highest(sorted(lines))
    steps = ((high - low, low_slope, high_slope) for (low_slope, low), (high_slope, high) in pairwise(hull))
    return math.fsum(
        rise * gaussian_delta(epsilon - math.log(rise / (steep - gentle)), mu) for rise, gentle, steep in steps
    )


def _highest(lines: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the lines c − d a that are the largest at some a > 0, by increasing d.

    Args:
        lines: pairs (d, c), sorted.
    """
    hull: list[tuple[float, float]] = []
    for line in lines:
        if hull and hull[-1][1] >= line[1]:
            continue
        while len(hull) > 1 and _crossing(hull[-1], line) >= _crossing(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    return hull


def _crossing(line: tuple[float, float], steeper: tuple[float, float]) -> float:
    """Return the a at which two lines cross, or math.inf if they are parallel."""
    return (steeper[1] - line[1]) / (steeper[0] - line[0]) if steeper[0] > line[0] else math.inf


def two_truth(epsilon: float, delta: float, mu: float) -> float:
    """Return δ if a Gaussian or a randomized response is chosen after the output of a first Gaussian.

    Both candidates are as large as the filter allows, so that each composes with the first Gaussian to δ. The result is
    E[max(δ_Gaussian, δ_response)] at ε − L, where L is the loss of the first Gaussian. It is computed as δ +
    E[(δ_response − δ_Gaussian)₊].

    Args:
        epsilon: ε of the target, in nats.
        delta: δ of the target.
        mu: distance of the means of the first Gaussian, in standard deviations.
    """
    total_mu = brent_root(lambda total: gaussian_delta(epsilon, total) - delta, mu, mu + 30.0, absolute=1e-15)
    second = math.sqrt(max(total_mu * total_mu - mu * mu, 0.0))
    most = epsilon + 45.0 * mu + 45.0
    loss = brent_root(lambda t: response_delta(epsilon, mu, t) - delta, 0.0, most, absolute=1e-15)
    keep = 1.0 / (1.0 + math.exp(-loss))

    def gap(at: float) -> float:
        growth = math.exp(min(epsilon - at, 700.0))
        response = max(keep - growth * (1.0 - keep), 1.0 - growth, 0.0)
        return response - gaussian_delta(epsilon - at, second)

    mean = 0.5 * mu * mu
    first, last = max(epsilon - loss, mean - 12.0 * mu), max(mean + 12.0 * mu, epsilon + loss)
    kinks = {at for at in (epsilon + loss, epsilon - loss) if first < at < last}
    bounds = sorted({first, last, *_sign_changes(gap, first, last), *kinks})
    increase = 0.0
    for low, high in pairwise(bounds):
        if gap(0.5 * (low + high)) > 0.0:
            increase += _integral(gap, low, high, mean, mu)
    return delta + increase


def _sign_changes(function: Callable[[float], float], first: float, last: float) -> list[float]:
    """Return the roots of a function between the points of a grid where its sign changes."""
    grid = np.linspace(first, last, _SCANNED).tolist()
    values = [function(at) for at in grid]
    return [
        brent_root(function, grid[index], grid[index + 1], absolute=1e-14)
        for index in range(len(grid) - 1)
        if values[index] * values[index + 1] < 0.0
    ]


def _integral(gap: Callable[[float], float], low: float, high: float, mean: float, mu: float) -> float:
    """Integrate a function against a normal density between two points, by Gauss–Legendre quadrature.

    Args:
        gap: the function, which must be smooth between the points.
        low: lower bound of the integral.
        high: upper bound of the integral.
        mean: mean of the normal distribution.
        mu: its standard deviation.
    """
    panels = np.linspace(low, high, 2 + math.ceil(2.0 * (high - low) / mu))
    total = []
    for left, right in pairwise(panels.tolist()):
        half, middle = 0.5 * (right - left), 0.5 * (right + left)
        for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
            at = middle + half * node
            density = math.exp(-0.5 * ((at - mean) / mu) ** 2) / (mu * math.sqrt(2.0 * math.pi))
            total.append(half * weight * density * gap(at))
    return math.fsum(total)


@formula(given="A target, a Gaussian that is run first, and candidates for the second run.")
def natural_filter(
    *,
    target_epsilon: Annotated[float, TARGET_EPSILON],
    target_delta: Annotated[float, TARGET_DELTA],
    first_mu: Annotated[float, FIRST_MU],
    options: Annotated[Options, OPTIONS],
) -> Outputs:
    """Evaluate δ of the interaction at the target's ε, and its ratio to the claimed δ.

    Args:
        target_epsilon: ε of the target, in nats.
        target_delta: δ of the target.
        first_mu: distance of the means of the Gaussian that is run first, in standard deviations.
        options: the mechanisms that may be run second.
    """
    if gaussian_delta(target_epsilon, first_mu) >= 0.999 * target_delta:
        raise InvalidInput.at("/first_mu", "leaves nothing of the target for a second mechanism")
    true = leaky_truth if options == "leaky-responses" else two_truth
    delta = min(true(target_epsilon, target_delta, first_mu), 1.0)
    return {"true_delta": delta, "factor": delta / target_delta}


NATURAL_FILTER = Theorem(
    id="epsilond.natural-pld-filter",
    title="The remaining budget by the exact curve of earlier runs: false",
    statement=(
        "A mechanism, chosen by earlier releases, may be run if its exact composition with all earlier runs has "
        "δ(ε*) ≤ δ*. The whole is then (ε*, δ*)-private. FALSE: its δ at ε* is E[max_m δ_m(ε* − L)], and the filter "
        "bounds max_m E[δ_m(ε* − L)]. It holds where the choice is fixed in advance, and among Gaussians only"
    ),
    source=Source("epsilond", "docs/ledger.md, Rules that are false; also arXiv 2602.06756 and 2602.15815"),
    status=Status.REFUTED,
    conditions=(Condition("adaptive-choice", "the second run is chosen by the output of the first"),),
    errata=(
        Erratum(
            "L-1",
            grade=Grade.PROVED_WRONG,
            printed="the interaction has δ(ε*) ≤ δ*",
            truth="it has 1.98 δ* where a Gaussian or a pure mechanism may follow a Gaussian, 6.36 δ* with 49 options",
            test=f"{_TESTS}::test_what_the_filter_allows_is_more_than_it_claims",
        ),
    ),
    formula=natural_filter,
    examples=(
        {"target_epsilon": 8.0, "target_delta": 1e-6, "first_mu": 0.8, "options": "gaussian-or-pure"},
        {"target_epsilon": 8.0, "target_delta": 1e-6, "first_mu": 1.1, "options": "leaky-responses"},
    ),
)

THEOREMS: tuple[Theorem, ...] = (NATURAL_FILTER,)
