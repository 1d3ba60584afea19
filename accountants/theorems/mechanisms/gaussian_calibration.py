"""Gaussian noise for one (ε, δ) target: two printed calibrations, and the exact one with certified bounds.

Functions take ln δ, because δ may be below every double.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.numerics.special import LOG_ACCURACY, UNIT_ROUNDOFF, theta_logs
from epsilond.accountants.quantities import Epsilon, GivenLogDelta, Sensitivity
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem

LARGEST_SHIFT = 1e5
"""Largest sensitivity over σ for which the accuracy of `log_theta` is proved."""


# The Gaussian mechanism ---------------------------------------------------------------------------------------------
def dwork_roth_noise_std(*, epsilon: float, log_delta: float, sensitivity: float) -> float:
    """Compute the Gaussian noise σ = √(2 ln(1.25/δ)) Δ/ε of Dwork and Roth, which is (ε, δ)-private for ε ≤ 1 only.

    Source: Dwork and Roth 2014, Theorem A.1; formula F-13 in docs/catalogue.

    Args:
        epsilon: privacy parameter ε > 0 of the target.
        log_delta: natural logarithm of δ, below 0.
        sensitivity: ℓ2 sensitivity Δ of the released vector; σ has its unit.

    Returns:
        The standard deviation σ per coordinate.
    """
    logarithm = math.log(1.25) - log_delta  # ln(1.25/δ)
    return math.sqrt(2.0 * logarithm) * sensitivity / epsilon


def bun_steinke_noise_std(*, epsilon: float, log_delta: float, sensitivity: float) -> float:
    """Compute the Gaussian noise σ = √(8 ln(1.25/δ)) Δ/ε that Bun and Steinke derive by zero-concentrated privacy.

    It is (ε, δ)-private for ε ≤ 8 ln(1.25/δ). It is twice the noise of Dwork and Roth. Their range of ε is smaller.

    Args:
        epsilon: privacy parameter ε > 0 of the target.
        log_delta: natural logarithm of δ, below 0.
        sensitivity: ℓ2 sensitivity Δ of the released vector; σ has its unit.

    Returns:
        The standard deviation σ per coordinate.
    """
    return 2.0 * dwork_roth_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity)


@functools.lru_cache(maxsize=64)
def gaussian_noise_std_bounds(*, epsilon: float, log_delta: float, sensitivity: float) -> Interval:
    """Compute lower and upper bounds on the least noise σ at which the Gaussian mechanism is (ε, δ)-private.

    δ of N(r, 1) against N(0, 1) has a closed form, which increases with r = Δ/σ. A root search gives the r with the
    target δ. Two values near it are then proved to be below and above the exact root.

    Args:
        epsilon: privacy loss bound ε of the target.
        log_delta: natural logarithm of δ.
        sensitivity: ℓ2 sensitivity Δ; σ has its unit.

    Returns:
        The lower and the upper bound, in the unit of Δ.

    Guarantees:
        The upper bound is certified to meet the target, and the lower bound is certified to miss it. They differ by
        less than 1e-12 relative.

    Raises:
        InvalidInput: the least σ is below 1e-5 or above 1e290 sensitivities.
    """
    # If the target δ is near 1, the root is searched for −log(1 − δ), which keeps its digits.
    is_near_one = log_delta > -0.5
    target = log_delta
    if is_near_one:
        target = -math.log(-math.expm1(log_delta))

    def excess(shift: float, side: int = 0) -> float:
        """Return log δ at ε minus the target log δ, which increases with the ratio of sensitivity to noise (shift).

        If the target δ is near 1, −log(1 − δ) takes the place of log δ in both.

        Args:
            shift: sensitivity over σ.
            side: 1 to round the result up, −1 to round it down, 0 for no rounding.

        Returns:
            The difference; infinite if δ is 0 or 1 at this shift.
        """
        log_value, log_complement = theta_logs(epsilon, shift)
        value = -log_complement if is_near_one else log_value
        if not math.isfinite(value):
            return value
        return value + side * LOG_ACCURACY * (1.0 + abs(value)) - target

    # Move from the approximate root until the target is certainly met, and until it is certainly missed.
    root = _find_root(excess)
    safe_shift = _move_until(lambda shift: excess(shift, 1) <= 0.0, root, -1.0)
    unsafe_shift = _move_until(lambda shift: excess(shift, -1) > 0.0, root, 1.0)

    # The quotients are rounded outward, so that the shift of each bound on σ is within the certified range.
    lower = sensitivity / unsafe_shift * (1.0 - 4.0 * UNIT_ROUNDOFF)
    upper = sensitivity / safe_shift * (1.0 + 4.0 * UNIT_ROUNDOFF)
    return Interval(lower, upper)


def _move_until(is_certified: Callable[[float], bool], start: float, sign: float) -> float:
    """Return a number near `start` for which a condition holds, by relative steps of doubling size.

    The search turns an approximate root into a certified bound.

    Args:
        is_certified: the condition, which holds far enough in the direction of `sign`.
        start: the first number that is tried, above 0.
        sign: direction of the steps: 1.0 to move up, −1.0 to move down.

    Returns:
        The first tried number for which the condition holds.
    """
    value = start
    relative_step = 2.0**-46  # about 1.4e-14, the accuracy of a root
    while not is_certified(value):
        value *= 1.0 + sign * relative_step
        relative_step *= 2.0
    return value


def gaussian_noise_std(*, epsilon: float, log_delta: float, sensitivity: float) -> float:
    """Compute the least σ at which one release of the Gaussian mechanism is (ε, δ)-private, rounded up.

    It inverts the exact privacy curve δ(ε) of Theorem 8 of Balle and Wang (2018) by a search.

    Args:
        epsilon: privacy parameter ε of the target, in (0, 1e9].
        log_delta: natural logarithm of δ, in [−2e9, 0).
        sensitivity: ℓ2 sensitivity Δ of the released vector; σ has its unit.

    Returns:
        An upper bound on the least standard deviation per coordinate, within 1e-12 relative.
    """
    return gaussian_noise_std_bounds(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity).upper


def _find_root(excess: Callable[[float], float]) -> float:
    """Search for the ratio of sensitivity to noise at which an increasing function is zero.

    The root is bracketed on the scale of ln(ratio), and then computed by Brent's method.

    Args:
        excess: function of the ratio, log δ minus the target.

    Returns:
        The ratio, within about 1e-14 relative.

    Raises:
        InvalidInput: if the root is above `LARGEST_SHIFT` or below e^−670.
    """

    def excess_at_log(log_shift: float) -> float:
        """Return the function at the shift with a given logarithm."""
        return excess(math.exp(log_shift))

    # Move the upper end of the bracket up, until the function is positive there.
    high, largest = 0.0, math.log(LARGEST_SHIFT)
    while excess_at_log(high) <= 0.0:
        if high >= largest:
            raise InvalidInput.at("/delta", "is met with noise below 1e-5 of the sensitivity")
        high = min(high + 2.0, largest)

    # Move the lower end down in growing steps, until the function is not positive there. Below the ratio e^−670 the
    # arithmetic of doubles would underflow.
    low = high - 2.0
    while excess_at_log(low) > 0.0:
        if low < -660.0:
            raise InvalidInput.at("/delta", "is too small for this ε")
        low = max(2.0 * low - 2.0, -670.0)
    # The tolerances are near the spacing of doubles.
    return math.exp(brent_root(excess_at_log, low, high, absolute=1e-15, relative=8.9e-16))


# The theorems -------------------------------------------------------------------------------------------------------
_TARGET = "A target for one release of the Gaussian mechanism. Give one of delta and log10_delta."


@formula(given=_TARGET, bounded=False)
def dwork_roth_gaussian(*, epsilon: Epsilon, log_delta: GivenLogDelta, sensitivity: Sensitivity) -> Outputs:
    """Compute the noise σ of the Gaussian mechanism by Dwork and Roth, and the least σ that meets the target.

    Dwork and Roth state σ = √(2 ln(1.25/δ)) Δ/ε for the sensitivity Δ. It is proved for ε ≤ 1 only.

    Args:
        epsilon: ε of the target, in nats.
        log_delta: natural logarithm of δ.
        sensitivity: ℓ2 sensitivity Δ; σ has its unit.

    Returns:
        `noise_std`: the σ of Dwork and Roth, in the unit of Δ.
        Certified lower and upper bounds on the least σ, in the same unit.
    """
    printed = dwork_roth_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity)
    return {"noise_std": printed, **_exact_outputs(epsilon, log_delta, sensitivity)}


@formula(given=_TARGET, bounded=False)
def bun_steinke_gaussian(*, epsilon: Epsilon, log_delta: GivenLogDelta, sensitivity: Sensitivity) -> Outputs:
    """Compute the noise σ of the Gaussian mechanism by Bun and Steinke, and the least σ that meets the target.

    Bun and Steinke state σ = √(8 ln(1.25/δ)) Δ/ε for the sensitivity Δ, twice that of Dwork and Roth.

    Args:
        epsilon: ε of the target, in nats.
        log_delta: natural logarithm of δ.
        sensitivity: ℓ2 sensitivity Δ; σ has its unit.

    Returns:
        `noise_std`: the σ of Bun and Steinke, in the unit of Δ.
        Certified lower and upper bounds on the least σ, in the same unit.
    """
    printed = bun_steinke_noise_std(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity)
    return {"noise_std": printed, **_exact_outputs(epsilon, log_delta, sensitivity)}


def _exact_outputs(epsilon: float, log_delta: float, sensitivity: float) -> dict[str, float]:
    """Return certified bounds on the least Gaussian noise σ that meets a target (ε, δ), as named outputs.

    Args:
        epsilon: ε of the target, in nats.
        log_delta: natural logarithm of δ.
        sensitivity: ℓ2 sensitivity; σ has its unit.

    Returns:
        `lower_exact_noise_std` and `upper_exact_noise_std`, a lower and an upper bound on the least σ.
    """
    bounds = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=log_delta, sensitivity=sensitivity)
    return {"lower_exact_noise_std": bounds.lower, "upper_exact_noise_std": bounds.upper}


EPSILON_AT_MOST_ONE = Condition(
    "epsilon-at-most-one", "ε is at most 1", lambda inputs: Sides.at_most(inputs.epsilon, 1.0)
)

DWORK_ROTH_GAUSSIAN = Theorem(
    id="dwork-roth-2014.a.1",
    title="The Gaussian mechanism, classical calibration",
    statement="σ ≥ √(2 ln(1.25/δ)) Δ/ε gives (ε, δ) for ε ≤ 1 (the book proves ε < 1)",
    source=Source("dwork2014algorithmic", "Theorem A.1"),
    status=Status.PROVED,
    conditions=(EPSILON_AT_MOST_ONE,),
    formula=dwork_roth_gaussian,
    examples=({"epsilon": 1.0, "delta": 1e-5, "sensitivity": 2.0},),
)
BUN_STEINKE_GAUSSIAN = Theorem(
    id="bun-steinke-2016.proposition-1.3",
    title="The Gaussian mechanism by concentrated privacy",
    statement=(
        "Gaussian noise is Δ²/(2σ²)-zCDP, and ρ-zCDP implies (ρ + 2√(ρ ln(1/δ)), δ). Hence σ² = 8 ln(1.25/δ) "
        "Δ²/ε² gives (ε, δ) for ε ≤ 8 ln(1/δ)"
    ),
    source=Source("bun2016concentrated", "Propositions 1.3 and 1.6"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "epsilon-range",
            "the target (ε, δ) satisfies ε ≤ 8 ln(1/δ)",
            lambda inputs: Sides.at_most(inputs.epsilon, -8.0 * inputs.log_delta),
        ),
    ),
    formula=bun_steinke_gaussian,
    examples=({"epsilon": 9.0, "delta": 1e-5, "sensitivity": 2.0},),
)
THEOREMS: tuple[Theorem, ...] = (DWORK_ROTH_GAUSSIAN, BUN_STEINKE_GAUSSIAN)
