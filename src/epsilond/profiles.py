"""Specs of kind `profile` from other descriptions of a mechanism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, localcontext

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import DeclaredProfile

_DIGITS = 60
"""Number of digits of the decimal arithmetic. After a difference, a δ of 1e-40 still has twenty valid digits."""
LEAST_LOG10_DELTA = -1e9
"""Value of log10 δ in place of −∞ for δ = 0, because a number of a request must be finite."""


def profile_from_trade_off(
    *, false_positive_rates: Sequence[float], false_negative_rates: Sequence[float], symmetric: bool = False
) -> DeclaredProfile:
    """Return bounds on δ at several ε for a mechanism, from points (α_i, β_i) of its trade-off function f.

    A test decides between the data without the protected unit, which is the null hypothesis, and with it. f(α) is the
    least false negative rate of a test with the false positive rate α. The caller vouches that f is nowhere below the
    piecewise linear function through the points.

    With the unit against without it, δ(ε) is then at most max_i (1 − β_i − e^ε α_i). In the other direction it is at
    most max_i (1 − α_i − e^ε β_i). The points of the profile are at the corners of these functions, rounded up.

    Args:
        false_positive_rates: the α_i, strictly increasing from 0 to 1.
        false_negative_rates: the β_i, decreasing to 0; as many as the α_i.
        symmetric: whether f is also a bound for the opposite null hypothesis.

    Returns:
        The profile: pairs (ε [nat], log10 δ). If `symmetric` is false, also the pairs of the other direction.

    Raises:
        InvalidInput: the lists have different lengths, a rate is out of range, or the rates are not in order.
    """
    points = _read_points(false_positive_rates, false_negative_rates)
    exchanged_points = [(beta, alpha) for alpha, beta in points]
    with localcontext(Context(prec=_DIGITS)):
        forward = _profile_of(points)
        backward = _profile_of(exchanged_points)
    if not symmetric:
        return DeclaredProfile(points=tuple(forward.items()), reverse=tuple(backward.items()))

    # Both profiles bound both directions, so the smaller bound holds at every ε.
    smaller = dict(forward)
    for epsilon, log10_delta in backward.items():
        smaller[epsilon] = min(log10_delta, smaller.get(epsilon, log10_delta))
    return DeclaredProfile(points=tuple(sorted(smaller.items())))


def _read_points(alphas: Sequence[float], betas: Sequence[float]) -> list[tuple[Decimal, Decimal]]:
    """Check the range and the order of the points of a trade-off function, and convert them to exact decimals.

    Args:
        alphas: false positive rates.
        betas: false negative rates.

    Returns:
        Pairs of a false positive and a false negative rate.

    Raises:
        InvalidInput: the lists have different lengths, a rate is out of range, or the rates are not in order.
    """
    if len(alphas) != len(betas) or len(alphas) < 2:
        raise InvalidInput.at(
            "/false_negative_rates", "must have as many entries as false_positive_rates, at least two"
        )
    for name, rates in (("false_positive_rates", alphas), ("false_negative_rates", betas)):
        if not all(0.0 <= rate <= 1.0 for rate in rates):
            raise InvalidInput.at(f"/{name}", "has an entry out of range", allowed="≥ 0 and ≤ 1")
    increases = all(left < right for left, right in itertools.pairwise(alphas))
    if not increases or alphas[0] != 0.0 or alphas[-1] != 1.0:
        raise InvalidInput.at("/false_positive_rates", "must increase strictly from 0 to 1")
    decreases = all(left >= right for left, right in itertools.pairwise(betas))
    if not decreases or betas[-1] != 0.0:
        raise InvalidInput.at("/false_negative_rates", "must decrease to 0")
    # Decimals hold the given doubles exactly, so that only the final rounding is an error.
    return [(Decimal(float(alpha)), Decimal(float(beta))) for alpha, beta in zip(alphas, betas, strict=True)]


def _profile_of(points: Iterable[tuple[Decimal, Decimal]]) -> dict[float, float]:
    """Compute log10 δ at several ε for a piecewise linear trade-off function.

    δ(ε) is max_i (1 − β_i − e^ε α_i). It is computed at ε = 0 and at the corners of this maximum with ε > 0.

    Args:
        points: points (α_i, β_i) of a trade-off function, in any order.

    Returns:
        The decimal logarithm of δ, rounded up, by ε [nat], for increasing ε.
    """
    listed = sorted(points)

    # In e^ε, each point (α, β) gives a line. Those of neighbouring vertices cross at e^ε = (β − β')/(α' − α).
    corners = {0.0}
    for (alpha, beta), (next_alpha, next_beta) in itertools.pairwise(_lower_hull(listed)):
        fall = beta - next_beta
        width = next_alpha - alpha
        if fall > width > 0:
            corners.add(float((fall / width).ln()))

    profile = {}
    for epsilon in sorted(corners):
        exponential = Decimal(epsilon).exp()
        delta = max(1 - beta - exponential * alpha for alpha, beta in listed)
        profile[epsilon] = _raised_log10(delta)
    return profile


def _lower_hull(points: Iterable[tuple[Decimal, Decimal]]) -> list[tuple[Decimal, Decimal]]:
    """Return the vertices of the lower convex hull of points, which is the greatest convex function below them.

    Args:
        points: points (x, y) by increasing x.

    Returns:
        The vertices by increasing x.
    """
    hull: list[tuple[Decimal, Decimal]] = []
    for point in points:
        # A vertex on or above the line to the new point is not a vertex of the hull.
        while len(hull) > 1 and _is_on_or_above_line(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_on_or_above_line(
    first: tuple[Decimal, Decimal], second: tuple[Decimal, Decimal], third: tuple[Decimal, Decimal]
) -> bool:
    """Return whether the middle one of three points is on or above the line through the first and the third.

    Args:
        first: point with the smallest x.
        second: point in the middle.
        third: point with the largest x.

    Returns:
        True if the middle point is not a vertex of the lower convex hull.
    """
    first_x, first_y = first
    second_x, second_y = second
    third_x, third_y = third
    # Compare the slopes from the first point, each multiplied by both differences of x, which are not negative.
    scaled_slope_to_second = (second_y - first_y) * (third_x - first_x)
    scaled_slope_to_third = (third_y - first_y) * (second_x - first_x)
    return scaled_slope_to_second >= scaled_slope_to_third


def _raised_log10(delta: Decimal) -> float:
    """Return log10 of a δ as a double that is rounded up.

    Args:
        delta: the δ; a number of at most 0 counts as 0.

    Returns:
        The logarithm, at most 0; `LEAST_LOG10_DELTA` for δ = 0.
    """
    if delta <= 0:
        return LEAST_LOG10_DELTA
    return min(math.nextafter(float(delta.log10()), math.inf), 0.0)
