"""The period of the trapezoidal rule for E[S₊], and a bound on the alias, the error of the rule by its period."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.numerics.positive_part.tilted_sum import TiltedSum

OVERFLOW_EXPONENT = 700.0
"""Exponents are cut here, because e^710 overflows."""
_TILT_FACTORS = (1.03, 1.1, 1.3, 1.7, 2.5)
"""Ratios of the tilts λ and μ, or of μ and λ, that are tried for the bound of the alias."""


class _HalfAliasBound(NamedTuple):
    """A bound on one half of the aliasing error of a trapezoidal rule for E[S₊], the mean positive part of a sum S.

    The rule integrates over frequencies at the tilt λ, the exponent of weights e^{λS}, and has a period A. Its error is
    Σ_{k≠0} e^{λkA} E[(S − kA)₊]. By (y)₊ ≤ e^{μy}/(eμ), the half with k > 0 is, for every μ > λ, at most:

        e^{b + K(λ)}/(e^{dA} − 1),   K(λ) = log E e^{λS}.

    This also bounds the half with k < 0, for every positive μ < λ.

    Attributes:
        distance: distance d = |μ − λ|.
        log_factor: b = K(μ) − K(λ) − 1 − log μ.
    """

    distance: float
    log_factor: float


class Period(NamedTuple):
    """The period of a trapezoidal rule for the mean positive part E[S₊] of a sum S, with a bound on its aliasing error.

    Attributes:
        length: the period A = 2π/Δt for the spacing Δt of the rule, in the unit of S.
        log_alias: log of the bound on the error, in units of E e^{λS} for the tilt λ of the rule.
        largest_tilt: the bound uses E e^{μS} at exponents μ up to this one. If a Gaussian of standard deviation τ is
            added to S, the error is at most e^{(τμ)²/2} times larger, with this largest μ.
    """

    length: float
    log_alias: float
    largest_tilt: float


def choose_period(
    saddle: TiltedSum,
    upper_log_transforms: Callable[[Sequence[float]], list[float]],
    largest_tilt: float,
    negligible: float,
) -> Period:
    """Choose the period of the trapezoidal rule for the mean positive part of a sum, and bound its aliasing error.

    For the sum S and the period A, the aliasing error of E[S₊] is Σ_{k≠0} e^{λkA} E[(S − kA)₊]. The terms with k > 0
    are bounded with a tilt μ > λ, those with k < 0 with a tilt μ < λ. On either side, the best of several μ is used.

    Args:
        saddle: the sum S at the tilt λ of the integral.
        upper_log_transforms: function from several tilts μ to upper bounds on K(μ) = log E e^{μS}.
        largest_tilt: largest μ that may be evaluated.
        negligible: nats by which the alias should be below the estimate of E[S₊].

    Returns:
        The period A, the log of its alias bound, and the largest candidate for a tilt, even if it is not usable.
    """
    tilt, deviation = saddle.tilt, saddle.deviation
    # Tilts are tried at relative distances from λ, and at distances in units of 8/deviation.
    larger, smaller = [], []
    for factor in _TILT_FACTORS:
        distance = 8.0 * (factor - 1.0) / deviation
        larger += [tilt * factor, tilt + distance]
        smaller += [tilt / factor, tilt - distance]
    usable_larger = [mu for mu in larger if _is_usable(mu, tilt, largest_tilt)]
    usable_smaller = [mu for mu in smaller if _is_usable(mu, tilt, largest_tilt)]

    # One call for both sides, because it evaluates the transform at many tilts together.
    bounds = upper_log_transforms([*usable_larger, *usable_smaller])
    count = len(usable_larger)
    above = _half_alias_bounds(saddle, usable_larger, bounds[:count])
    below = _half_alias_bounds(saddle, usable_smaller, bounds[count:])

    length = max(0.0, _needed_period(saddle, above, negligible), _needed_period(saddle, below, negligible))
    log_alias = float(np.logaddexp(_log_alias(above, length), _log_alias(below, length)))
    return Period(length, log_alias, max(larger))


def _is_usable(mu: float, tilt: float, largest_tilt: float) -> bool:
    """Return whether a tilt μ can bound the aliasing error at the tilt λ: 0 < μ ≤ the largest tilt, and μ ≠ λ.

    Args:
        mu: μ, the exponent of a bound e^{μS}.
        tilt: λ, the exponent of the weights e^{λS} in the integral.
        largest_tilt: largest μ that may be evaluated.

    Returns:
        True if the bound with μ can be used.
    """
    return 0.0 < mu <= largest_tilt and mu != tilt


def _half_alias_bounds(
    saddle: TiltedSum, tilts: Sequence[float], log_transforms: Sequence[float]
) -> list[_HalfAliasBound]:
    """Return bounds on one half of the aliasing error of the trapezoidal rule, one for each of several tilts μ.

    Args:
        saddle: the sum S at the tilt λ of the rule, with K(λ) = log E e^{λS}.
        tilts: values of μ, different from λ.
        log_transforms: upper bounds on K(μ) = log E e^{μS}.

    Returns:
        One bound for each tilt μ.
    """
    terms = []
    for mu, log_transform in zip(tilts, log_transforms, strict=True):
        # By (y)₊ ≤ e^{μy}/(eμ), relative to e^{K(λ)}.
        log_factor = log_transform - saddle.log_transform - 1.0 - math.log(mu)
        terms.append(_HalfAliasBound(abs(mu - saddle.tilt), log_factor))
    return terms


def _needed_period(saddle: TiltedSum, side: Sequence[_HalfAliasBound], negligible: float) -> float:
    """Return the shortest period at which one half of the aliasing error is negligible, for the best tilt μ.

    Args:
        saddle: the sum S at the tilt λ of the integral.
        side: bounds on this side of the alias at several μ. If there are none, the period is 40 deviations.
        negligible: nats by which the alias should be below the estimate of E[S₊].

    Returns:
        The period in the unit of S. It may be negative if no period is needed.
    """
    log_target = saddle.log_saddle_factor
    # Each period A solves b − dA = target − negligible. A level b far below the target counts as 20 nats below it.
    periods = [(max(term.log_factor - log_target, -20.0) + negligible) / term.distance for term in side]
    return min(periods, default=40.0 * saddle.deviation)


def _log_alias(side: Sequence[_HalfAliasBound], period: float) -> float:
    """Return the log of the best bound e^b/(e^{dA} − 1) on one half of the aliasing error.

    The aliasing error is that of the trapezoidal rule with period A, for the mean positive part of a sum S.

    Args:
        side: bounds for several tilts μ, each with b in `log_factor` and d in `distance`.
        period: period A of the trapezoidal rule.

    Returns:
        The log of the bound over e^{K(λ)} = E e^{λS}, with the tilt λ of the rule; inf if no tilt μ is usable.
    """
    log_bounds = []
    for term in side:
        exponent = min(term.distance * period, OVERFLOW_EXPONENT)
        log_bounds.append(term.log_factor - math.log(math.expm1(exponent)))
    return min(log_bounds, default=math.inf)
