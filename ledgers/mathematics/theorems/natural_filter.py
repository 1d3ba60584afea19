"""Refuted: keep the exact composed loss of what was run, and allow what keeps δ at the target's ε within δ.

What is allowed next is chosen after an output. The filter bounds max_m E[δ_m(ε − L)] over the options m, and the
interaction has E[max_m δ_m(ε − L)], L being the loss of the first output: a factor, not a rounding
(docs/ledger.md, "Rules that are false").
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
        "what may be run second, each as large as the filter allows: a Gaussian or one randomized response, or 60 "
        "randomized responses that answer with some probability only"
    )
)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """δ of N(μ, 1) against N(0, 1) at any real ε."""
    if epsilon >= 0.0:
        return math.exp(float(log_theta(epsilon, mu)))
    return -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(-epsilon, mu)


def response_delta(epsilon: float, mu: float, loss: float) -> float:
    """δ of a Gaussian followed by a randomized response of loss ±t: k δ_μ(ε − t) + (1 − k) δ_μ(ε + t)."""
    keep = 1.0 / (1.0 + math.exp(-loss))
    return keep * gaussian_delta(epsilon - loss, mu) + (1.0 - keep) * gaussian_delta(epsilon + loss, mu)


def leaky_truth(epsilon: float, delta: float, mu: float) -> float:
    """E[max δ_m(ε − L)] over leaky responses that each compose with the Gaussian to δ: a finite sum.

    As functions of a = e^{ε−L} the options are the largest of a few lines c − d a, and so is the best of them. From
    line to line, at a = e^{ε−b}, c rises by Δc, and E[(1 − e^{b−L})₊] is the Gaussian's δ at b: the truth is Σ Δc δ(b).
    """
    alone = gaussian_delta(epsilon, mu)
    lines = [(0.0, 0.0), (1.0, 1.0)]
    for loss in (LEAKY * epsilon).tolist():
        answers = (delta - alone) / (response_delta(epsilon, mu, loss) - alone)
        if answers <= 1.0:
            keep, other = 1.0 / (1.0 + math.exp(-loss)), 1.0 / (1.0 + math.exp(loss))
            lines += [(answers * other, answers * keep), (1.0 - answers * keep, 1.0 - answers * other)]
    hull = _highest(sorted(lines))
    steps = ((high - low, low_slope, high_slope) for (low_slope, low), (high_slope, high) in pairwise(hull))
    return math.fsum(
        rise * gaussian_delta(epsilon - math.log(rise / (steep - gentle)), mu) for rise, gentle, steep in steps
    )


def _highest(lines: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of lines c − d a given as (d, c) in order, those that are largest at some a > 0."""
    hull: list[tuple[float, float]] = []
    for line in lines:
        if hull and hull[-1][1] >= line[1]:
            continue
        while len(hull) > 1 and _crossing(hull[-1], line) >= _crossing(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    return hull


def _crossing(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0]) if other[0] > one[0] else math.inf


def two_truth(epsilon: float, delta: float, mu: float) -> float:
    """E[max(Gaussian, randomized response)] with both as large as the filter allows: δ + E[(response − Gaussian)₊]."""
    whole = brent_root(lambda total: gaussian_delta(epsilon, total) - delta, mu, mu + 30.0, absolute=1e-15)
    second = math.sqrt(max(whole * whole - mu * mu, 0.0))
    most = epsilon + 45.0 * mu + 45.0
    loss = brent_root(lambda t: response_delta(epsilon, mu, t) - delta, 0.0, most, absolute=1e-15)
    keep = 1.0 / (1.0 + math.exp(-loss))

    def gap(at: float) -> float:
        growth = math.exp(min(epsilon - at, 700.0))
        response = max(keep - growth * (1.0 - keep), 1.0 - growth, 0.0)
        return response - gaussian_delta(epsilon - at, second)

    mean = 0.5 * mu * mu
    first, last = max(epsilon - loss, mean - 12.0 * mu), max(mean + 12.0 * mu, epsilon + loss)
    seen = np.linspace(first, last, _SCANNED)
    values = [gap(at) for at in seen.tolist()]
    cuts = [
        brent_root(gap, low, high, absolute=1e-14)
        for low, high, here, there in zip(seen[:-1], seen[1:], values[:-1], values[1:], strict=True)
        if here * there < 0.0
    ]
    ends = sorted({first, last, *cuts, *(at for at in (epsilon + loss, epsilon - loss) if first < at < last)})
    gained = 0.0
    for low, high in pairwise(ends):
        if gap(0.5 * (low + high)) > 0.0:
            gained += _integral(gap, low, high, mean, mu)
    return delta + gained


def _integral(gap: Callable[[float], float], low: float, high: float, mean: float, mu: float) -> float:
    """∫ gap dN(mean, μ²) between two points, where it is smooth."""
    panels = np.linspace(low, high, 2 + math.ceil(2.0 * (high - low) / mu))
    total = []
    for left, right in pairwise(panels.tolist()):
        half, middle = 0.5 * (right - left), 0.5 * (right + left)
        for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
            at = middle + half * node
            density = math.exp(-0.5 * ((at - mean) / mu) ** 2) / (mu * math.sqrt(2.0 * math.pi))
            total.append(half * weight * density * gap(at))
    return math.fsum(total)


@formula(given="A target, a Gaussian that is run first, and what may be run second.")
def natural_filter(
    *,
    target_epsilon: Annotated[float, TARGET_EPSILON],
    target_delta: Annotated[float, TARGET_DELTA],
    first_mu: Annotated[float, FIRST_MU],
    options: Annotated[Options, OPTIONS],
) -> Outputs:
    """δ of the interaction at the target's ε, and its factor over the claimed δ."""
    if gaussian_delta(target_epsilon, first_mu) >= 0.999 * target_delta:
        raise InvalidInput.at("/first_mu", "leaves nothing of the target for a second mechanism")
    true = leaky_truth if options == "leaky-responses" else two_truth
    delta = min(true(target_epsilon, target_delta, first_mu), 1.0)
    return {"true_delta": delta, "factor": delta / target_delta}


NATURAL_FILTER = Theorem(
    id="epsilond.natural-pld-filter",
    title="The remaining budget by the exact curve of what was run: false",
    statement=(
        "A mechanism may be run, chosen by what was released, if the exact composition of all that was run and of it "
        "has δ(ε*) ≤ δ*; the whole is then (ε*, δ*)-private. FALSE: its δ at ε* is E[max_m δ_m(ε* − L)], and what is "
        "kept is max_m E[δ_m(ε* − L)]. It holds where the choice is fixed in advance, and among Gaussians alone"
    ),
    source=Source("epsilond", "docs/ledger.md, Rules that are false; also arXiv 2602.06756 and 2602.15815"),
    status=Status.REFUTED,
    conditions=(Condition("adaptive-choice", "what is run second is chosen by the output of what was run first"),),
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
