"""Refuted: a filter that keeps the exact composed loss of past runs and allows all that keeps δ(ε*) within δ*.

The next mechanism is chosen after an output. The filter bounds max_m E[δ_m(ε − L)] over the options m, but the
interaction has E[max_m δ_m(ε − L)], where L is the loss of the first output. The difference is a factor and not a
rounding error (docs/ledger.md, "Rules that are false").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

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
"""Privacy losses of the leaky responses, as fractions of ε. A finite grid replaces all possible losses."""
_GRID_POINTS = 4000
"""Number of points between which sign changes of the gap of two profiles are looked for."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
"""Nodes and weights of the Gauss–Legendre rule with 20 nodes on [−1, 1]."""

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
    """Return δ of the distribution N(μ, 1) against N(0, 1) at any real ε.

    A negative ε is reduced to a positive one by δ(ε) = 1 − e^ε + e^ε δ(−ε). This is valid because exchanging the two
    distributions does not change δ.

    Args:
        epsilon: ε in nats, of any sign.
        mu: μ, the distance of the means, positive.

    Returns:
        The value of δ, in [0, 1].
    """
    if epsilon >= 0.0:
        return math.exp(float(log_theta(epsilon, mu)))
    return -math.expm1(epsilon) + math.exp(epsilon) * gaussian_delta(-epsilon, mu)


def response_delta(epsilon: float, mu: float, loss: float) -> float:
    """Return δ at ε of the composition of a Gaussian mechanism and a randomized response.

    The response has the privacy loss t if it is truthful, with probability k = 1/(1 + e^−t), and −t otherwise. With the
    profile δ_μ of the Gaussian, the result is:

        k δ_μ(ε − t) + (1 − k) δ_μ(ε + t).

    Args:
        epsilon: ε, in nats.
        mu: distance μ of the Gaussians' means, in standard deviations.
        loss: privacy loss t ≥ 0 of a truthful response, in nats.

    Returns:
        The value of δ, in [0, 1].
    """
    truth_probability = 1.0 / (1.0 + math.exp(-loss))
    after_truth = gaussian_delta(epsilon - loss, mu)
    after_lie = gaussian_delta(epsilon + loss, mu)
    return truth_probability * after_truth + (1.0 - truth_probability) * after_lie


def delta_with_leaky_responses(epsilon: float, delta: float, mu: float) -> float:
    """Return the true δ at ε of a Gaussian mechanism that is followed by the worst leaky response to its output.

    A leaky response m is a randomized response that answers only with some probability, and otherwise gives no output.
    This probability is such that the Gaussian and m together have exactly the target's δ. The candidates have the
    losses `LEAKY` times ε. With the profile δ_m of m and the privacy loss L of the Gaussian's output, the result is:

        E[max_m δ_m(ε − L)].

    It exceeds δ, because the choice of m may depend on L. To compute it, let a = e^{ε−L}. Each δ_m(ε − L) is a maximum
    of a few lines c − d a, and so is max_m δ_m(ε − L). Let two successive lines of the maximum cross at a = e^{ε−b},
    and let their heights c differ by Δc. Then:

        E[max_m δ_m(ε − L)] = Σ Δc E[max(1 − e^{b−L}, 0)].

    Here the sum is over the crossings, and each expectation is the Gaussian's δ at b.

    Args:
        epsilon: ε of the target, in nats.
        delta: δ of the target.
        mu: distance of the Gaussians' means, in standard deviations.

    Returns:
        The true δ, in [0, 1].
    """
    # The first two lines, 0 and 1 − a, are those of a response without output.
    gaussian_only = gaussian_delta(epsilon, mu)
    lines = [_DescendingLine(0.0, 0.0), _DescendingLine(1.0, 1.0)]
    for loss in (LEAKY * epsilon).tolist():
        answer_probability = (delta - gaussian_only) / (response_delta(epsilon, mu, loss) - gaussian_only)
        if answer_probability <= 1.0:
            # Probabilities of the two answers on one data set, which are exchanged on its neighbour.
            truth = answer_probability * (1.0 / (1.0 + math.exp(-loss)))
            lie = answer_probability * (1.0 / (1.0 + math.exp(loss)))
            lines += [_DescendingLine(lie, truth), _DescendingLine(1.0 - truth, 1.0 - lie)]

    terms = []
    for line, next_line in pairwise(_upper_envelope(sorted(lines))):
        increase = next_line.height - line.height
        log_crossing = math.log(increase / (next_line.descent - line.descent))
        terms.append(increase * gaussian_delta(epsilon - log_crossing, mu))
    return math.fsum(terms)


class _DescendingLine(NamedTuple):
    """A descending line c − d a as a function of a.

    Attributes:
        descent: the descent d per unit of a.
        height: the height c at a = 0.
    """

    descent: float
    height: float


def _upper_envelope(lines: list[_DescendingLine]) -> list[_DescendingLine]:
    """Return the lines c − d a that attain the maximum of all lines at some a > 0.

    Args:
        lines: the lines with height c and descent d ≥ 0, sorted by descent, then by height.

    Returns:
        The lines of the maximum, sorted by increasing descent.
    """
    envelope: list[_DescendingLine] = []
    for line in lines:
        if envelope and envelope[-1].height >= line.height:
            continue  # this line begins no higher and descends no slower, so it is nowhere above the last
        # As a decreases, steeper lines become the largest. A line is removed if the new line exceeds it before it
        # exceeds the line before it.
        while len(envelope) > 1 and _crossing(envelope[-1], line) >= _crossing(envelope[-2], envelope[-1]):
            envelope.pop()
        envelope.append(line)
    return envelope


def _crossing(line: _DescendingLine, steeper: _DescendingLine) -> float:
    """Return the coordinate a at which the lines c₁ − d₁ a and c₂ − d₂ a cross: (c₂ − c₁)/(d₂ − d₁).

    Args:
        line: line with height c₁ and descent d₁.
        steeper: line with height c₂ and descent d₂.

    Returns:
        The coordinate a; math.inf if d₂ ≤ d₁.
    """
    if steeper.descent <= line.descent:
        return math.inf
    return (steeper.height - line.height) / (steeper.descent - line.descent)


def delta_with_two_options(epsilon: float, delta: float, mu: float) -> float:
    """Return the true δ at ε if a Gaussian's output decides which of two mechanisms is run second.

    The second mechanism is another Gaussian or a randomized response. Each is scaled so that its composition with the
    first Gaussian has exactly the target's δ. With their profiles δ_G and δ_R and the privacy loss L of the first
    output, the result is:

        E[max(δ_G(ε − L), δ_R(ε − L))] = δ + E[max(δ_R(ε − L) − δ_G(ε − L), 0)].

    Args:
        epsilon: ε of the target, in nats.
        delta: δ of the target.
        mu: distance of the means of the first Gaussian, in standard deviations.

    Returns:
        The true δ, in [0, 1].
    """

    def gaussian_excess(total_mu: float) -> float:
        """Return δ of both Gaussians together, less the target's δ; `total_mu` is √(μ₁² + μ₂²)."""
        return gaussian_delta(epsilon, total_mu) - delta

    def response_excess(loss: float) -> float:
        """Return δ of the first Gaussian and a randomized response of this loss, less the target's δ."""
        return response_delta(epsilon, mu, loss) - delta

    # At the upper bound of each bracket, δ is far above the target's for every input in the allowed ranges.
    total_mu = brent_root(gaussian_excess, mu, mu + 30.0, absolute=1e-15)
    second_mu = math.sqrt(max(total_mu * total_mu - mu * mu, 0.0))
    largest_response = epsilon + 45.0 * mu + 45.0
    response_loss = brent_root(response_excess, 0.0, largest_response, absolute=1e-15)
    truth_probability = 1.0 / (1.0 + math.exp(-response_loss))

    def gap(first_loss: float) -> float:
        """Return δ_R − δ_G at ε − L, where L is the loss of the first Gaussian's output."""
        likelihood_ratio = math.exp(min(epsilon - first_loss, 700.0))  # e^700 is close to the largest double
        truthful_answer = truth_probability - likelihood_ratio * (1.0 - truth_probability)
        response = max(truthful_answer, 1.0 - likelihood_ratio, 0.0)
        return response - gaussian_delta(epsilon - first_loss, second_mu)

    # L is normal with mean μ²/2 and standard deviation μ. Beyond 12 standard deviations its mass is negligible, and
    # below ε − `response_loss` the gap is not positive, because δ_R is 0 there.
    mean_loss = 0.5 * mu * mu
    lowest = max(epsilon - response_loss, mean_loss - 12.0 * mu)
    highest = max(mean_loss + 12.0 * mu, epsilon + response_loss)
    # The gap is smooth between its kinks. Quadrature is accurate between them and the sign changes.
    kinks = {kink for kink in (epsilon + response_loss, epsilon - response_loss) if lowest < kink < highest}
    sign_changes = _sign_changes(gap, lowest, highest)
    bounds = sorted({lowest, highest, *sign_changes, *kinks})
    increase = 0.0
    for low, high in pairwise(bounds):
        if gap(0.5 * (low + high)) > 0.0:
            increase += _integral(gap, low, high, mean_loss, mu)
    return delta + increase


def _sign_changes(function: Callable[[float], float], first: float, last: float) -> list[float]:
    """Return one root of a function between each two successive points of a grid at which its signs differ.

    Two roots between the same points are not noticed. A root exactly at a point of the grid is not returned.

    Args:
        function: continuous function of a real number.
        first: smallest point of the grid.
        last: largest point of the grid.

    Returns:
        The roots, in increasing order.
    """
    grid = np.linspace(first, last, _GRID_POINTS).tolist()
    values = [function(point) for point in grid]
    roots = []
    for (left, left_value), (right, right_value) in pairwise(zip(grid, values, strict=True)):
        if left_value * right_value < 0.0:
            roots.append(brent_root(function, left, right, absolute=1e-14))
    return roots


def _integral(function: Callable[[float], float], low: float, high: float, mean: float, std: float) -> float:
    """Return the integral of a function times a normal density over an interval, by Gauss–Legendre quadrature.

    The interval is divided into panels of at most half a standard deviation, with 20 nodes each.

    Args:
        function: the function, which must be smooth on the interval.
        low: lower bound of the integral.
        high: upper bound of the integral.
        mean: mean of the normal distribution.
        std: standard deviation of the normal distribution.

    Returns:
        The approximate value of the integral.
    """
    panel_bounds = np.linspace(low, high, 2 + math.ceil(2.0 * (high - low) / std))
    terms = []
    for left, right in pairwise(panel_bounds.tolist()):
        # Map the nodes of the rule from [−1, 1] to the panel.
        half_width = 0.5 * (right - left)
        middle = 0.5 * (right + left)
        for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
            point = middle + half_width * node
            density = math.exp(-0.5 * ((point - mean) / std) ** 2) / (std * math.sqrt(2.0 * math.pi))
            terms.append(half_width * weight * density * function(point))
    return math.fsum(terms)


@formula(given="A target, a Gaussian that is run first, and candidates for the second run.")
def natural_filter(
    *,
    target_epsilon: Annotated[float, TARGET_EPSILON],
    target_delta: Annotated[float, TARGET_DELTA],
    first_mu: Annotated[float, FIRST_MU],
    options: Annotated[Options, OPTIONS],
) -> Outputs:
    """Evaluate the true δ of two runs at the target's ε, and its ratio to the claimed δ.

    The second run is chosen after the first output. The natural filter allows every choice that, if it were made in
    advance, would keep the composition of both within the target.

    Args:
        target_epsilon: ε of the target, in nats.
        target_delta: δ of the target.
        first_mu: distance of the means of the Gaussian that is run first, in standard deviations.
        options: the mechanisms that may be run second: "gaussian-or-pure" (a Gaussian or a randomized response) or
            "leaky-responses" (60 randomized responses that answer with some probability only).

    Returns:
        `true_delta`, at most 1; and `factor`, its ratio to the target's δ.

    Raises:
        InvalidInput: the first run has 99.9 % of the target's δ or more.
    """
    # The root searches need a δ for the second run that is well above rounding errors.
    if gaussian_delta(target_epsilon, first_mu) >= 0.999 * target_delta:
        raise InvalidInput.at("/first_mu", "leaves nothing of the target for a second mechanism")
    evaluate = delta_with_leaky_responses if options == "leaky-responses" else delta_with_two_options
    true_delta = min(evaluate(target_epsilon, target_delta, first_mu), 1.0)
    return {"true_delta": true_delta, "factor": true_delta / target_delta}


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
