"""The truncated Laplace mechanism of Geng, Ding, Guo and Kumar: the least reach of one coordinate at any (ε, δ).

Let the noise have the density ∝ e^(−|x|/λ) on [−A, A] with λ = Δ/ε. A shift by Δ ≤ A leaves the support with
probability (e^ε − 1)/(2(e^(A/λ) − 1)). Inside the support no loss exceeds ε, so δ is exactly this probability. The
noise is the continuous counterpart of the truncated discrete Laplace noise of Das et al.
"""

from __future__ import annotations

import math

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Epsilon, GivenLogDelta, Sensitivity
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem

_UP = 1.0 + 2.0**-48
"""Relative margin above the rounding error of the reach."""
_TERMS = 30
"""Number of terms of a series in y ≤ 1; the next term is below 1/30!."""


def log_expm1(x: float) -> float:
    """Compute ln(e^x − 1) for x > 0, without overflow for large x.

    For x > 1 it is x + ln(1 − e^−x).

    Args:
        x: the exponent, above 0.

    Returns:
        The natural logarithm of e^x − 1.
    """
    if x > 1.0:
        return x + math.log(-math.expm1(-x))
    return math.log(math.expm1(x))


def scaled_reach(*, epsilon: float, log_delta: float) -> float:
    """Compute the truncation A of Laplace noise on [−A, A] that meets the target, in units of its scale λ.

    With A/λ = ln(1 + (e^ε − 1)/(2δ)), the probability that shifted noise leaves [−A, A] is δ, for δ ≤ 1/2.

    Args:
        epsilon: privacy parameter ε > 0 of the target.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The ratio A/λ, rounded up.
    """
    # Logarithm of y = (e^ε − 1)/(2δ), from which ln(1 + y) is computed without overflow.
    log_odds = log_expm1(epsilon) - math.log(2.0) - log_delta
    log_one_plus_odds = max(log_odds, 0.0) + math.log1p(math.exp(-abs(log_odds)))
    return log_one_plus_odds * _UP


def cut_moment(order: int, reach: float) -> float:
    """Compute the first or second moment of an exponential variable of rate 1, given that it is in [0, y].

    It is the moment of the absolute value of truncated Laplace noise, in units of its scale.

    Args:
        order: order k of the moment, 1 or 2.
        reach: largest value y > 0 of the variable.

    Returns:
        The moment, at most y^k.
    """
    if reach > 1.0:
        decay = math.exp(-reach)
        complement = -math.expm1(-reach)  # 1 − e^−y
        if order == 1:
            return 1.0 - reach * decay / complement
        return 2.0 - reach * (reach + 2.0) * decay / complement

    # The closed form would cancel; the quotient of two power series does not.
    def integral(power: int) -> float:
        """Return the integral of x^power e^(−x) over [0, y], divided by y^(power + 1)."""
        terms = ((-reach) ** k / (math.factorial(k) * (k + power + 1)) for k in range(_TERMS))
        return math.fsum(terms)

    return reach**order * integral(order) / integral(0)


@formula(given="One coordinate with sensitivity Δ, and the target.")
def reach(*, epsilon: Epsilon, log_delta: GivenLogDelta, sensitivity: Sensitivity) -> Outputs:
    """Compute the scale λ and the truncation A of Laplace noise on [−A, A] that meets a target (ε, δ).

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        sensitivity: sensitivity Δ of the value; λ and A have its unit.

    Returns:
        `scale` is λ = Δ/ε, and `reach` the least A, rounded up. `mean_absolute_noise` and `variance` describe the
        noise.
    """
    scale = sensitivity / epsilon
    truncation = scaled_reach(epsilon=epsilon, log_delta=log_delta)  # A/λ
    return {
        "scale": scale,
        "reach": truncation * scale,
        "mean_absolute_noise": cut_moment(1, truncation) * scale,
        "variance": cut_moment(2, truncation) * scale * scale,
    }


TRUNCATED_LAPLACE = Theorem(
    id="geng-2020.truncated-laplace",
    title="Laplace noise that is cut off",
    statement=(
        "Noise of density ∝ e^(−|x|ε/Δ) on [−A, A] is added to a value of sensitivity Δ. It is (ε, δ)-private "
        "at A = (Δ/ε) ln(1 + (e^ε − 1)/(2δ)). Where δ ≤ 1/2, no smaller A is sufficient"
    ),
    source=Source("geng2020tight", "the truncated Laplacian mechanism"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "delta-at-most-half",
            "δ is at most 1/2, so that the support [−A, A] reaches the sensitivity (Δ ≤ A)",
            lambda inputs: Sides.at_most(inputs.log_delta, -math.log(2.0)),
        ),
        Condition(
            "one-coordinate", "one number is released, since each of several coordinates could leave the support"
        ),
    ),
    formula=reach,
    examples=({"epsilon": 1.0, "delta": 1e-6, "sensitivity": 2.0},),
)


THEOREMS: tuple[Theorem, ...] = (TRUNCATED_LAPLACE,)
