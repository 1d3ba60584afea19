"""The contour engine: certified δ(ε) and ε(δ) of compositions with exactly known transforms, at any number of steps.

    δ(ε) = E_P[(1 − e^{ε−S})₊] = (1/2πi) ∫_{Re z = l} e^{K(z) − zε}/(z(1 + z)) dz,   K(z) = Σ_j T_j log E_P[e^{zL_j}],

by the trapezoidal rule on a line near the saddle. Work and relative accuracy do not depend on how small δ is, and
hardly on the number of steps. All errors are charged (docs/engine-certificate.md, A0 to A8); where they cannot be made
small the engine refuses (`ContourRefused`) and the caller composes on the lattice.

Losses are finite here: the caller adds atoms at infinity, δ = 1 − Π(1 − a_j)^{T_j} + D(ε).
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import (
    DrawnGaussianLaw,
    DrawnMixtureLaw,
    GaussianLaw,
    GaussianMixtureLaw,
    LaplaceLaw,
    MixedLaw,
)
from epsilond.accountants.engine.contour.accuracy import ITERATIONS, NATS, TINY
from epsilond.accountants.engine.contour.chernoff import ChernoffBounds
from epsilond.accountants.engine.contour.closed_forms import GaussianSteps, LaplaceSteps
from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
from epsilond.accountants.engine.contour.line import WIDEST_LINE, find_saddle_below, lay_integrand, trim_parts
from epsilond.accountants.engine.contour.noise_steps import NEGLIGIBLE_NATS, NoiseSteps
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import by_epsilon, by_log_delta, by_log_size, find_saddle
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.line import Integrand
    from epsilond.accountants.engine.contour.part import Part
    from epsilond.accountants.engine.contour.saddle import Target

    Laws = Sequence[tuple[Law, int]]

WIDEST = 1e-4
"""Relative width of δ beyond which an enclosure is refused."""
_SETTLED = 0.05
"""Largest distance of a root from the ε of its line, in units of √F″: the alias is then e^−27 of δ still."""
_NEAR = 2.0
"""Nats by which the estimate of log δ, for which noise is left out and a line is laid, may be off."""
_TRIALS = 12
"""Largest number of lines for one question."""


def build_parts(laws: Laws) -> list[Part]:
    """Group the steps of a composition by the form of their transform; no parts if every loss is zero.

    Equal distributions become one part with the sum of their counts. All Gaussian steps without sampling become one
    part.

    Args:
        laws: distributions of the losses with their counts.

    Raises:
        ContourRefused: a law is a mixture.
    """
    counts: Counter[Law] = Counter()
    for law, count in laws:
        counts[law] += count
    parts: list[Part] = []
    squares: list[float] = []
    for law, count in counts.items():
        if law.is_silent or count == 0:
            continue
        if isinstance(law, MixedLaw):
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, "panels are not laid for mixtures")
        if isinstance(law, LaplaceLaw):
            parts.append(LaplaceSteps(law.shift, count))
        elif isinstance(law, GaussianLaw) or law.rate == 1.0:
            squares.append(count * law.distance * law.distance)
        else:
            kind = "drawn" if isinstance(law, DrawnGaussianLaw) else law.direction
            parts.append(NoiseSteps(LikelihoodRatio(law.rate, law.shift), kind, count))
    square = math.fsum(squares)
    return [*parts, GaussianSteps(square)] if square > 0.0 else parts


def falls_enough(laws: Laws) -> bool:
    """Return whether the transform is likely to fall along the line (A8, What is rejected).

    It does not if all steps are batches without replacement with atoms at the loss 0 of more than e^−40 in total.
    """
    if any(isinstance(law, GaussianMixtureLaw) and not law.is_silent for law, _ in laws):
        return True
    parts = build_parts([(law, count) for law, count in laws if not isinstance(law, DrawnMixtureLaw)])
    atoms = [part.count * math.log(max(part.atom, TINY)) for part in parts if isinstance(part, NoiseSteps)]
    atoms += [count * math.log(max(law.atom, TINY)) for law, count in laws if isinstance(law, DrawnMixtureLaw)]
    closed_forms = any(not isinstance(part, NoiseSteps) for part in parts)
    return not atoms or closed_forms or math.fsum(atoms) <= -NEGLIGIBLE_NATS


def supremum(laws: Laws) -> float:
    """Return an ε from which on δ is zero, rounded up; inf if none is known."""
    mixtures = [(law, count) for law, count in laws if isinstance(law, MixedLaw)]
    suprema = [count * law.supremum for law, count in mixtures if count and not law.is_silent]
    parts = build_parts([(law, count) for law, count in laws if not isinstance(law, MixedLaw)])
    suprema += [part.supremum for part in parts]
    return math.fsum(suprema) * (1.0 + 4 * UNIT_ROUNDOFF * len(suprema))


def log_delta(laws: Laws, epsilon: float, *, widest: float = WIDEST) -> Interval:
    """Return an enclosure of log δ(ε) of a composition of laws with counts.

    Args:
        laws: distributions of the losses with their counts.
        epsilon: ε in nats, of any sign.
        widest: largest relative width of δ.

    Guarantees: lower ≤ log δ(ε) ≤ upper ≤ 0 and upper − lower ≤ `widest`; (−inf, −inf) where δ is exactly zero.
    Source: docs/engine-certificate.md, A5.

    Raises:
        ContourRefused: no such certificate.
    """
    _demand_number(epsilon)
    if epsilon >= supremum(laws):
        return Interval(-math.inf, -math.inf)
    if not (parts := build_parts(laws)):
        value = log1m_exp_at(epsilon)  # δ = 1 − e^ε of two equal distributions
        least, most = value * (1.0 + 8 * UNIT_ROUNDOFF), value * (1.0 - 8 * UNIT_ROUNDOFF)
        return Interval(math.nextafter(least, -math.inf), min(math.nextafter(most, math.inf), 0.0))
    estimate = _estimate_log_delta(parts, epsilon)
    for _ in range(_TRIALS):
        integrand, _ = lay_integrand(parts, epsilon, estimate, widest)
        before, estimate = estimate, integrand.estimate(epsilon)[0]
        if abs(estimate - before) <= _NEAR:
            break
    return _demand_narrow(integrand.enclosure(epsilon), widest)


def upper_log_delta(laws: Laws, epsilon: float) -> float:
    """Return the Chernoff bound on log δ(ε) at the saddle point λ (docs/engine-certificate.md, A1).

    Args:
        laws: distributions of the losses with their counts.
        epsilon: ε in nats.

    Raises:
        ContourRefused: no usable tilt was found.
    """
    parts = build_parts(laws)
    if not parts or epsilon >= supremum(laws):
        return log_delta(laws, epsilon).upper
    tilt = find_saddle(parts, by_epsilon(epsilon)).tilt
    chernoff = ChernoffBounds.at([part.resolve(tilt, 0.0) for part in parts], np.asarray([tilt]))
    total = float(np.logaddexp.reduce([chernoff.upper_log_delta(epsilon), *(part.log_leak for part in parts)]))
    return min(total + 8 * UNIT_ROUNDOFF * (1.0 + abs(total)), 0.0)


def epsilon(laws: Laws, log_delta: float, *, slack: float = 0.0, widest: float = WIDEST) -> Interval:
    """Return an enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta` (A5, ε(δ)).

    Args:
        laws: distributions of the losses with their counts.
        log_delta: log of the target δ, finite.
        slack: distance ≥ 0 from the target that log δ keeps at both bounds.
        widest: largest relative width of δ at the root.

    Guarantees: the upper bound has itself been evaluated. Its upper log δ meets the target less `slack`; the lower
    bound has a lower log δ above the target plus `slack`, or is 0.

    Raises:
        ContourRefused: no such certificate.
    """
    _demand_number(log_delta)
    parts = build_parts(laws)
    if not parts or log_delta >= 0.0:
        return Interval(0.0, 0.0)
    if find_saddle(parts, by_log_delta(log_delta)).epsilon <= 0.0 and upper_log_delta(laws, 0.0) <= log_delta - slack:
        return Interval(0.0, 0.0)
    root, integrand = _find_root(parts, by_log_delta(log_delta), _read_log_delta, log_delta, 0.0, widest)
    here = _demand_narrow(integrand.enclosure(root), widest)
    return _certify_root(integrand, root, here.upper - here.lower, log_delta, slack)


def threshold(laws: Laws, log_size: float) -> tuple[float, Integrand]:
    """Estimate the ε, of any sign, at which the total loss S has Q(S > ε) = e^`log_size`.

    Args:
        laws: distributions of the losses with their counts.
        log_size: log of the false positive rate of the test S > ε.

    Returns:
        The ε, and an integrand that is accurate near it.

    Raises:
        ContourRefused: no such integrand was found, or every loss is zero.
    """
    if not (parts := build_parts(laws)):
        raise ContourRefused(RefusalReason.NO_TILT, "no loss")
    return _find_root(parts, by_log_size(log_size), _read_log_size, log_size, -math.inf)


def _estimate_log_delta(parts: list[Part], epsilon: float) -> float:
    """Estimate log δ(ε) by the saddle-point approximation.

    Args:
        parts: parts of the composition.
        epsilon: ε in nats.

    Raises:
        ContourRefused: the noise outside the computed range is more likely than δ (A5, What the noise reaches).
    """
    estimate = find_saddle_below(parts, epsilon).log_delta_at(epsilon)
    log_leak = float(np.logaddexp.reduce([part.log_leak for part in parts]))
    if estimate < log_leak - NATS:
        raise ContourRefused(RefusalReason.TOO_WIDE, f"log delta of {estimate:.6g}, noise left out {log_leak:.6g}")
    return estimate


def _demand_number(value: float) -> None:
    if math.isnan(value):
        raise ValueError("not a number")


def _demand_narrow(bounds: Interval, widest: float) -> Interval:
    if bounds.upper - bounds.lower > widest:
        reason = RefusalReason.TOO_WIDE if math.isfinite(bounds.lower) else RefusalReason.NOT_POSITIVE
        raise ContourRefused(reason, f"relative width {bounds.upper - bounds.lower:.3g}")
    return bounds


def _read_log_delta(integrand: Integrand, epsilon: float) -> float:
    """Return an estimate of log D(ε)."""
    return integrand.estimate(epsilon)[0]


def _read_log_size(integrand: Integrand, epsilon: float) -> float:
    """Return an estimate of log Q(S > ε) = log(−dD/dε) − ε; inf where the slope is lost in roundings next to δ = 1."""
    value, slope = integrand.estimate(epsilon)
    return value + math.log(-slope) - epsilon if slope < 0.0 else math.inf


def _find_root(
    parts: list[Part],
    target: Target,
    read: Callable[[Integrand, float], float],
    value: float,
    least: float,
    widest: float = WIDEST_LINE,
) -> tuple[float, Integrand]:
    """Find the ε at which a decreasing function of ε has a value, and an integrand that is accurate there.

    Each integrand is made for one ε and gives the next one, until both agree.

    Args:
        parts: parts of the composition.
        target: approximation of the function by the saddle point, for the first ε.
        read: function from an integrand and an ε to the value.
        value: the value at the root.
        least: smallest ε that is returned.
        widest: largest useful relative width of the enclosure of δ.

    Raises:
        ContourRefused: the ε do not converge.
    """
    log_delta = find_saddle(parts, target).log_delta
    root = max(find_saddle(trim_parts(parts, log_delta), target).epsilon, least)
    for _ in range(_TRIALS):
        centre = root
        integrand, saddle = lay_integrand(parts, centre, log_delta, widest)
        low, high = max(centre - saddle.width, least), centre + saddle.width
        if low == least and read(integrand, least) <= value:
            high = least
        for _ in range(ITERATIONS if low < high else 0):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if read(integrand, middle) > value else (low, middle)
        root = 0.5 * (low + high)
        before, log_delta = log_delta, integrand.estimate(root)[0]
        if abs(root - centre) <= _SETTLED * saddle.width and abs(log_delta - before) <= _NEAR:
            return root, integrand
    raise ContourRefused(RefusalReason.NO_TILT, "the root is not met")


def _certify_root(integrand: Integrand, root: float, width: float, log_delta: float, slack: float) -> Interval:
    """Move away from an approximate root of log δ(ε) = `log_delta` on both sides until the bounds are certified.

    Args:
        integrand: encloses log δ near the root.
        root: the approximate root.
        width: relative width of δ there.
        log_delta: log of the target δ.
        slack: distance ≥ 0 in log δ that both bounds keep from the target.

    Returns:
        The bounds on ε. The lower one is 0 if δ(0) may be small enough.

    Raises:
        ContourRefused: no certified bound is near the root.
    """
    slope = abs(integrand.estimate(root)[1])
    pad = (0.6 * width + slack + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_delta))) / slope + 4 * UNIT_ROUNDOFF * root
    distances = [pad * (2.0**k - 1.0) for k in range(0 if root == 0.0 else 1, ITERATIONS)]
    above = min(log_delta + slack, -TINY)
    uppers = (root + distance for distance in distances)
    lowers = (max(root - distance, 0.0) for distance in distances)
    upper = next((end for end in uppers if integrand.enclosure(end).upper <= log_delta - slack), math.inf)
    lower = next((end for end in lowers if end == 0.0 or integrand.enclosure(end).lower > above), -math.inf)
    if not 0.0 <= lower <= upper < math.inf:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, "no certified bound near the root")
    return Interval(lower, upper)
