"""The contour engine: certified δ(ε) and ε(δ) of compositions with exactly known transforms, at any number of steps.

    δ(ε) = E_P[(1 − e^{ε−S})₊] = (1/2πi) ∫_{Re z = l} e^{K(z) − zε}/(z(1 + z)) dz,   K(z) = Σ_j T_j log E_P[e^{zL_j}],

by the trapezoidal rule on a line near the saddle point. Work and relative accuracy do not depend on how small δ is, and
hardly on the number of steps. All errors are charged (docs/engine-certificate.md, A0 to A8). If they cannot be made
small, `ContourRefused` is raised, and the caller composes on the lattice.

Losses are finite here: the caller adds atoms at infinity, δ = 1 − Π(1 − a_j)^{T_j} + D(ε).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour.accuracy import ITERATIONS, NATS, TINY
from epsilond.accountants.engine.contour.chernoff import ChernoffBounds
from epsilond.accountants.engine.contour.grouped_laws import build_parts, supremum
from epsilond.accountants.engine.contour.line import WIDEST_LINE, build_integrand, find_saddle_below, trim_parts
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import epsilon_target, find_saddle, log_delta_target, log_size_target
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.grouped_laws import Laws
    from epsilond.accountants.engine.contour.line import Integrand
    from epsilond.accountants.engine.contour.part import Part
    from epsilond.accountants.engine.contour.saddle import Saddle, Target

WIDEST = 1e-4
"""Relative width of δ beyond which an enclosure is rejected."""
_LARGEST_OFFSET = 0.05  # largest distance of a root from its line's ε, in saddle widths; the alias is then ≤ e^−27 δ
_LARGEST_CHANGE = 2.0  # nats by which the estimate of log δ may be off, for which a line is chosen
_MOST_LINES = 12  # largest number of lines for one request


class _Equation(NamedTuple):
    """An equation f(ε) = value for a decreasing function f, such as log δ. Its solution is the root.

    Attributes:
        target: value − f(ε) as a function of a saddle point, by the saddle-point approximation. Its zero is the first
            estimate of the root.
        evaluate: computes f(ε) from an integrand that is accurate near ε.
        value: the right side of the equation.
    """

    target: Target
    evaluate: Callable[[Integrand, float], float]
    value: float


def log_delta(laws: Laws, epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Enclose log δ(ε) of a composition, by numerical inversion of the transform of the total privacy loss.

    δ is an integral along a complex line, which is chosen for an estimate of log δ. The integral gives a better
    estimate. This is repeated until the estimate is stable, but at most `_MOST_LINES` times.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.
        epsilon: ε in nats, of any sign.
        widest: largest difference of the bounds on log δ.

    Returns:
        The lower and the upper bound on log δ(ε).

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.

    Raises:
        ContourRefused: the bounds that can be certified are further apart.

    Source: docs/engine-certificate.md, A5.
    """
    _require_number(epsilon)
    if epsilon >= supremum(laws):  # no total loss exceeds ε, so δ is zero
        return Interval(-math.inf, -math.inf)
    parts = build_parts(laws)
    if not parts:
        return _log_delta_of_zero_loss(epsilon)
    estimate = _estimate_log_delta(parts, epsilon)
    for _ in range(_MOST_LINES):
        integrand, _ = build_integrand(parts, epsilon, estimate, widest)
        previous_estimate = estimate
        estimate, _ = integrand.estimate(epsilon)
        if abs(estimate - previous_estimate) <= _LARGEST_CHANGE:  # the estimate is stable
            break
    return _require_narrow(integrand.enclosure(epsilon), widest)


def _log_delta_of_zero_loss(epsilon: float) -> Interval:
    """Enclose log δ(ε) = log(1 − e^ε), the log δ of two equal distributions, for ε < 0 in nats."""
    value = log1m_exp_at(epsilon)  # at most 0
    lower, upper = value * (1.0 + 8 * UNIT_ROUNDOFF), value * (1.0 - 8 * UNIT_ROUNDOFF)  # rounded outward
    return Interval(math.nextafter(lower, -math.inf), min(math.nextafter(upper, math.inf), 0.0))


def upper_log_delta(laws: Laws, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of a composition: the Chernoff bound at about its best exponent λ > 0.

    For the total privacy loss S:

        δ(ε) ≤ c E[e^{λS}] e^{−λε},  with a constant c ≤ 1 that depends on λ.

    E[e^{λS}] is computed without improbable losses. Their probability is added to the bound.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.
        epsilon: ε in nats.

    Returns:
        The upper bound on log δ(ε), at most 0.

    Raises:
        ContourRefused: no usable exponent λ exists.

    Source: docs/engine-certificate.md, A1.
    """
    parts = build_parts(laws)
    if not parts or epsilon >= supremum(laws):
        return log_delta(laws, epsilon).upper
    tilt = find_saddle(parts, epsilon_target(epsilon)).tilt
    transforms = [part.resolve(tilt, 0.0) for part in parts]
    chernoff = ChernoffBounds.at(transforms, np.asarray([tilt])).upper_log_delta(epsilon)
    log_leaks = [part.log_leak for part in parts]
    total = float(np.logaddexp.reduce([chernoff, *log_leaks]))
    return min(total + 8 * UNIT_ROUNDOFF * (1.0 + abs(total)), 0.0)  # rounded up


def epsilon(laws: Laws, log_delta: float, *, slack: float = 0.0, widest: float = WIDEST) -> Interval:
    """Enclose the smallest ε ≥ 0 at which a composition has log δ(ε) ≤ `log_delta`.

    The search first computes an approximate root of log δ(ε) = `log_delta`. From there it moves away on both sides,
    until the bounds on δ certify that ε is above or below the root.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.
        log_delta: log of the target δ, finite.
        slack: least distance ≥ 0 of log δ from the target at both bounds.
        widest: largest difference of the bounds on log δ at the root.

    Returns:
        The lower and the upper bound on ε, in nats.

    Guarantees: at the upper ε, log δ is certified to be at most `log_delta` − `slack`. At the lower ε, unless it is 0,
    log δ is certified to be above `log_delta` + `slack`.

    Raises:
        ContourRefused: the bounds cannot be certified.

    Source: docs/engine-certificate.md, A5, ε(δ).
    """
    _require_number(log_delta)
    parts = build_parts(laws)
    if not parts or log_delta >= 0.0:  # without any loss, or for δ ≥ 1, ε = 0 suffices
        return Interval(0.0, 0.0)
    target = log_delta_target(log_delta)
    may_be_zero = find_saddle(parts, target).epsilon <= 0.0
    if may_be_zero and upper_log_delta(laws, 0.0) <= log_delta - slack:
        return Interval(0.0, 0.0)

    equation = _Equation(target, _log_delta_at, log_delta)
    root, integrand = _find_root(parts, equation, 0.0, widest)
    lower_at_root, upper_at_root = _require_narrow(integrand.enclosure(root), widest)
    return _certify_root(integrand, root, upper_at_root - lower_at_root, log_delta, slack)


def threshold(laws: Laws, log_size: float) -> tuple[float, Integrand]:
    """Estimate the threshold ε at which the test S > ε on the total privacy loss S has a given false positive rate.

    Args:
        laws: distribution of the privacy loss of each step, with its number of steps.
        log_size: log of the false positive rate Q(S > ε), for S = log(dP/dQ).

    Returns:
        The ε, of any sign, and the integrand of δ, which gives accurate bounds on log δ near it (`enclosure`).

    Raises:
        ContourRefused: no ε can be computed, or every loss is zero.
    """
    parts = build_parts(laws)
    if not parts:
        raise ContourRefused(RefusalReason.NO_TILT, "no loss")
    equation = _Equation(log_size_target(log_size), _log_size_at, log_size)
    return _find_root(parts, equation, -math.inf, WIDEST_LINE)


def _estimate_log_delta(parts: list[Part], epsilon: float) -> float:
    """Estimate log δ(ε) of a composition by the saddle-point approximation.

    The estimate only chooses the line of integration. It affects the width of the bounds, not their validity.

    Args:
        parts: parts of the composition. Each is the total loss of some of its steps.
        epsilon: ε in nats, of any sign.

    Returns:
        The estimate of log δ(ε), natural logarithm.

    Raises:
        ContourRefused: δ is far below the probability of the losses that the parts leave out as improbable. Then no
            bounds on δ are close.

    Source: docs/engine-certificate.md, A5, What the noise reaches.
    """
    estimate = find_saddle_below(parts, epsilon).log_delta_at(epsilon)
    log_leak = float(np.logaddexp.reduce([part.log_leak for part in parts]))
    if estimate < log_leak - NATS:
        raise ContourRefused(RefusalReason.TOO_WIDE, f"log delta of {estimate:.6g}, noise left out {log_leak:.6g}")
    return estimate


def _require_number(value: float) -> None:
    """Raise `ValueError` for NaN."""
    if math.isnan(value):
        raise ValueError("not a number")


def _require_narrow(bounds: Interval, widest: float) -> Interval:
    """Check that bounds on log δ are close enough, and return them.

    Args:
        bounds: lower and upper bound on log δ.
        widest: largest difference of the bounds, about the relative width of δ.

    Returns:
        The given bounds.

    Raises:
        ContourRefused: the bounds differ by more than `widest`, for example because the lower one is −inf.
    """
    width = bounds.upper - bounds.lower
    if width > widest:
        reason = RefusalReason.TOO_WIDE if math.isfinite(bounds.lower) else RefusalReason.NOT_POSITIVE
        raise ContourRefused(reason, f"relative width {width:.3g}")
    return bounds


def _log_delta_at(integrand: Integrand, epsilon: float) -> float:
    """Estimate log δ(ε), without infinite losses, by the integral of δ on a vertical line in the complex plane.

    Args:
        integrand: values of the integrand on the line.
        epsilon: ε in nats, near the one that the line was chosen for.
    """
    return integrand.estimate(epsilon)[0]


def _log_size_at(integrand: Integrand, epsilon: float) -> float:
    """Estimate log Q(S > ε) = log(−dδ/dε) − ε, the log false positive rate of the test S > ε on the total loss S.

    Args:
        integrand: values of the integrand of δ on a vertical line in the complex plane.
        epsilon: ε in nats, near the one that the line was chosen for.

    Returns:
        The estimate; math.inf if roundings hide the derivative, which happens for δ near 1.
    """
    log_delta, log_delta_slope = integrand.estimate(epsilon)
    is_decreasing = log_delta_slope < 0.0
    if not is_decreasing:
        return math.inf
    return log_delta + math.log(-log_delta_slope) - epsilon


def _find_root(parts: list[Part], equation: _Equation, least: float, widest: float) -> tuple[float, Integrand]:
    """Find the ε that solves an equation such as log δ(ε) = log_delta.

    Each integrand is accurate near one ε, its centre, and is solved for the next ε. The search starts from the
    saddle-point approximation. It ends when two successive ε and their log δ are close.

    Args:
        parts: parts of the composition. Each is the total loss of some of its steps.
        equation: a decreasing function of ε, and the value that it is to take.
        least: smallest ε that is returned.
        widest: largest useful relative width of the enclosure of δ.

    Returns:
        The approximate ε, and the last integrand, which is accurate there.

    Raises:
        ContourRefused: the search does not converge after `_MOST_LINES` integrands.
    """
    log_delta = find_saddle(parts, equation.target).log_delta
    first_saddle = find_saddle(trim_parts(parts, log_delta), equation.target)  # without improbable noise
    root = max(first_saddle.epsilon, least)
    for _ in range(_MOST_LINES):
        centre = root
        integrand, saddle = build_integrand(parts, centre, log_delta, widest)
        root = _find_root_near(integrand, saddle, equation, centre, least)

        previous_log_delta = log_delta
        log_delta, _ = integrand.estimate(root)
        is_near_centre = abs(root - centre) <= _LARGEST_OFFSET * saddle.width
        is_stable = abs(log_delta - previous_log_delta) <= _LARGEST_CHANGE
        if is_near_centre and is_stable:
            return root, integrand
    raise ContourRefused(RefusalReason.NO_TILT, "the search for ε does not converge")


def _find_root_near(integrand: Integrand, saddle: Saddle, equation: _Equation, centre: float, least: float) -> float:
    """Solve an equation such as log δ(ε) = log_delta by bisection, near the ε for which an integrand was made.

    The first bracket is one width of the saddle point on either side of that ε.

    Args:
        integrand: values of the integrand of δ on a line, which give δ accurately near `centre`.
        saddle: saddle point of that line. Its width, in nats of ε, limits the bracket.
        equation: the decreasing function of ε, and the value that it is to take.
        centre: ε in nats that the integrand was made for.
        least: smallest ε that is returned.

    Returns:
        `least`, if it is the lower end of the bracket and the function is not above the value there. Otherwise the
        middle of the last bracket: an approximate root, for which nothing is certified.
    """
    low, high = max(centre - saddle.width, least), centre + saddle.width
    if low == least and equation.evaluate(integrand, least) <= equation.value:
        return least
    bisections = ITERATIONS if low < high else 0  # none if the bracket is empty
    for _ in range(bisections):
        middle = 0.5 * (low + high)
        if equation.evaluate(integrand, middle) > equation.value:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _certify_root(integrand: Integrand, root: float, width: float, log_delta: float, slack: float) -> Interval:
    """Move away from an approximate root of log δ(ε) = `log_delta` on both sides until certified bounds are reached.

    The k-th distance from the root is 2^k − 1 times the distance at which the certificate is expected to succeed.

    Args:
        integrand: encloses log δ near the root.
        root: the approximate root, ε in nats.
        width: relative width of δ there.
        log_delta: log of the target δ.
        slack: least distance ≥ 0 of log δ from the target at both bounds.

    Returns:
        The bounds on ε. The lower one is 0 if no ε > 0 is certified to be below the root.

    Raises:
        ContourRefused: one of the bounds cannot be certified.
    """
    _, slope = integrand.estimate(root)
    # Each bound is about half of the width away from log δ; 0.6 leaves a margin.
    margin = 0.6 * width + slack + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_delta))
    expected_distance = margin / abs(slope) + 4 * UNIT_ROUNDOFF * root  # the margin in ε, and the rounding of the root
    first_step = 0 if root == 0.0 else 1
    distances = [expected_distance * (2.0**k - 1.0) for k in range(first_step, ITERATIONS)]

    larger_candidates = [root + distance for distance in distances]
    smaller_candidates = [max(root - distance, 0.0) for distance in distances]
    upper = _certify_above(integrand, larger_candidates, log_delta - slack)
    lower = _certify_below(integrand, smaller_candidates, log_delta + slack)
    if not 0.0 <= lower <= upper < math.inf:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, "no certified bound near the root")
    return Interval(lower, upper)


def _certify_above(integrand: Integrand, candidates: Sequence[float], log_delta: float) -> float:
    """Return the first ε at which the upper bound on log δ is at most a target; math.inf if there is none.

    Args:
        integrand: encloses log δ.
        candidates: values of ε in the order in which they are tried.
        log_delta: the target, a log δ.

    Returns:
        The ε in nats, or math.inf.
    """
    for candidate in candidates:
        if integrand.enclosure(candidate).upper <= log_delta:
            return candidate
    return math.inf


def _certify_below(integrand: Integrand, candidates: Sequence[float], log_delta: float) -> float:
    """Return the first ε that is 0 or has a lower bound on log δ above a target; −math.inf if there is none.

    Args:
        integrand: encloses log δ.
        candidates: values of ε ≥ 0 in the order in which they are tried.
        log_delta: the target, a log δ.

    Returns:
        The ε in nats, or −math.inf.
    """
    least = min(log_delta, -TINY)  # log δ is at most 0, so no lower bound can be above a target of 0 or more
    for candidate in candidates:
        if candidate == 0.0 or integrand.enclosure(candidate).lower > least:
            return candidate
    return -math.inf
