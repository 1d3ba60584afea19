"""From adaptively composed Gaussian mechanisms to (ε, δ) and back: exactly, and by two conversions of zCDP.

Reshef and Levy prove ρ²/2-zCDP for mechanisms that are ρ-Gaussian differentially private: an adaptive composition of
Gaussian mechanisms is dominated by N(ρ, 1) against N(0, 1), and attains this pair. Lemma 2.6 uses only the Rényi
divergences of the pair. So does the best conversion of zCDP, of Canonne, Kamath and Steinke. This module compares the
three.
"""

from __future__ import annotations

import functools
import math
from typing import Annotated

import numpy as np
from scipy.special import erfcinv, erfinv

from epsilond.accountants.curve.enclosure import Enclosure
from epsilond.accountants.formula import formula
from epsilond.accountants.numerics.power_sums import PAD
from epsilond.accountants.numerics.special import (
    LOG_ACCURACY,
    UNIT_ROUNDOFF,
    FloatArray,
    log_normal_tail,
    log_theta,
)
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import (
    ANY_SCALE,
    DeltaFields,
    GivenLogDelta,
    NoiseStd,
    Quantity,
    RenyiOrder,
    delta_outputs,
    request,
)
from epsilond.accountants.quantities.algorithms import Distance
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian_calibration import gaussian_noise_std_bounds
from epsilond.accountants.theorems.papers.reshef_levy.zcdp_conversions import (
    MOST_NEWTON_STEPS,
    lemma_epsilon,
    lemma_mu,
    lemma_order,
    zcdp_epsilon,
    zcdp_mu,
)

GAUSSIAN_DP_MU = Quantity(
    symbol="ρ",
    gt=0,
    le=1e4,
    description="parameter μ of Gaussian differential privacy. It is not the parameter ρ of zCDP, for which μ = √(2ρ)",
)
GaussianDpMu = Annotated[float, GAUSSIAN_DP_MU]
MU_OR_NONE = Quantity(symbol="ρ", ge=0, le=1e4, description="parameter of Gaussian differential privacy, 0 for nothing")
EPSILON_OR_NONE = Quantity(
    symbol="ε", unit="nat", ge=0, le=1e9, description="privacy loss bound ε of (ε, δ), 0 allowed"
)
_CERTIFIED_WIDTHS = (1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3)
"""Relative half widths, in increasing order, of the intervals around the numerical ε that may be certified."""
_LEAST_LOG_MU = -340.0
"""Least ln μ for which μ²/2 is a normal double. For a smaller μ, ε of zCDP is that of Lemma 2.6."""


def exact_epsilon(*, mu: float, log_delta: float) -> float:
    """Compute the least ε ≥ 0 at which μ-Gaussian differential privacy is (ε, δ).

    Args:
        mu: Gaussian DP parameter μ > 0.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The ε, rounded up.
    """
    return gaussian_pair(mu).epsilon(log_delta).upper


def exact_epsilons(mus: FloatArray, log_delta: float) -> tuple[FloatArray, FloatArray]:
    """Compute lower and upper bounds on ε at δ of μ-Gaussian differential privacy, elementwise.

    A numerical ε is moved up and down, by larger and larger relative widths, until bounds on δ prove both numbers.

    Args:
        mus: μ in (0, 1e4].
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The lower and the upper bounds. A lower bound that cannot be proved so is 0. An upper bound that cannot be
        proved so is μ²/2 + μ√(2 ln(1/δ)) of Lemma 2.6 of Reshef and Levy, rounded up.
    """
    mu = np.asarray(mus, dtype=np.float64)
    # The given μ may have a relative error of up to four units of roundoff.
    upper_mu = mu * (1 + 4 * UNIT_ROUNDOFF)
    lower_mu = mu * (1 - 4 * UNIT_ROUNDOFF)
    by_lemma = mu * (0.5 * mu + math.sqrt(-2.0 * log_delta)) * (1.0 + PAD)  # rounded up
    epsilon = _newton_epsilons(mu, log_delta, by_lemma)

    lower, upper = np.zeros_like(mu), by_lemma  # kept where nothing better is proved
    for width in _CERTIFIED_WIDTHS:
        above, below = epsilon * (1.0 + width), epsilon * (1.0 - width)
        log_delta_above = Enclosure.around(log_theta(above, upper_mu), LOG_ACCURACY)
        log_delta_below = Enclosure.around(log_theta(below, lower_mu), LOG_ACCURACY)
        is_upper = log_delta_above.upper <= log_delta
        is_lower = log_delta_below.lower > log_delta
        # Widths increase, so the first one that proves a bound is the narrowest. A bound that was set is kept.
        upper = np.where(is_upper & (upper == by_lemma), np.minimum(above, by_lemma), upper)
        lower = np.where(is_lower & (lower == 0.0), below, lower)
        if np.all((upper < by_lemma) & (lower > 0.0)):
            break
    return lower, upper


def _newton_epsilons(mu: FloatArray, log_delta: float, start: FloatArray) -> FloatArray:
    """Solve ln δ(ε) = ln δ of μ-Gaussian differential privacy for ε, elementwise, by Newton's method.

    ln δ(ε) is decreasing and concave, with the slope −e^ε Φ(−ε/μ − μ/2)/δ(ε). Hence the iterates decrease from the
    start to the root.

    Args:
        mu: array of parameters μ > 0.
        log_delta: natural logarithm of δ, below 0.
        start: array of the shape of `mu`, with an ε at or above each root.

    Returns:
        The roots up to rounding, an array of the shape of `mu`.
    """
    epsilon = start.copy()
    for _ in range(MOST_NEWTON_STEPS):
        value = log_theta(epsilon, mu)
        log_slope = epsilon + log_normal_tail(epsilon / mu + 0.5 * mu) - value  # of −d ln δ/dε
        largest_log_slope, least_slope = 700.0, 1e-300  # to keep the exponential and the quotient finite
        slope = np.maximum(np.exp(np.minimum(log_slope, largest_log_slope)), least_slope)
        step = np.maximum(log_delta - value, 0.0) / slope
        new_epsilon = np.maximum(epsilon - step, 0.0)
        # Stop when the steps are as small as the rounding errors.
        if np.all(np.abs(new_epsilon - epsilon) <= 4 * UNIT_ROUNDOFF * epsilon):
            break
        epsilon = new_epsilon
    return epsilon


@functools.lru_cache(maxsize=64)
def exact_mu(*, epsilon: float, log_delta: float) -> float:
    """Compute the largest μ at which μ-Gaussian differential privacy is (ε, δ), rounded down.

    It is the reciprocal of the least noise of the Gaussian mechanism with sensitivity 1. At ε = 0 it has a closed form.

    Args:
        epsilon: ε ≥ 0 of the target.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        A lower bound on the largest μ.

    Raises:
        InvalidInput: ε is positive, and μ is above 1e5 or below 1e-290.
    """
    if epsilon == 0.0:
        # The factor is a margin for the rounding of the inverse error function.
        return _mu_of_advantage(log_delta) * (1.0 - 16 * UNIT_ROUNDOFF)
    noise_std = gaussian_noise_std_bounds(epsilon=epsilon, log_delta=log_delta, sensitivity=1.0)
    return 1.0 / noise_std.upper


def _mu_of_advantage(log_delta: float) -> float:
    """Compute the μ at which μ-Gaussian differential privacy has a given δ at ε = 0.

    It is μ = 2Φ⁻¹((1 + δ)/2) with the normal distribution function Φ. For δ near 1 the complementary error function is
    inverted, so that 1 − δ keeps its digits.

    Args:
        log_delta: natural logarithm of δ, below 0.

    Returns:
        μ, up to the rounding error of the inverse error function.
    """
    factor = 2.0 * math.sqrt(2.0)
    if log_delta < -0.5:
        return factor * float(erfinv(math.exp(log_delta)))
    return factor * float(erfcinv(-math.expm1(log_delta)))


# The theorems ---------------------------------------------------------------------------------------------------------
@formula(given="Rényi divergence of two Gaussians.", bounded=False)
def gaussian_renyi(*, order: RenyiOrder, distance: Distance, noise_std: Annotated[NoiseStd, ANY_SCALE]) -> Outputs:
    """Compute the Rényi divergence αΔ²/(2σ²) of the normal distributions N(u, σ²I) and N(v, σ²I).

    Args:
        order: Rényi order α > 1.
        distance: Δ = |u − v|, in the unit of σ.
        noise_std: standard deviation σ of the noise per coordinate.

    Returns:
        `renyi_divergence`, in nats.
    """
    distance_in_stds = distance / noise_std
    return {"renyi_divergence": 0.5 * order * distance_in_stds**2}


@request
class MuInputs(DeltaFields):
    """ρ, and the δ at which ε is computed. Give one of delta and log10_delta."""

    gaussian_dp_mu: Annotated[float, MU_OR_NONE]


def epsilons(*, mu: float, log_delta: float) -> dict[str, float]:
    """Compute ε at δ of μ-Gaussian differential privacy by three methods.

    Args:
        mu: Gaussian DP parameter μ ≥ 0, which is 0 if nothing depends on the data.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        `exact_epsilon` from the exact curve δ(ε), `zcdp_epsilon` from the best conversion of zero-concentrated privacy,
        and `lemma_epsilon` from Lemma 2.6 of Reshef and Levy, in increasing order. All are 0 if μ = 0.
    """
    if mu == 0.0:
        return {"exact_epsilon": 0.0, "zcdp_epsilon": 0.0, "lemma_epsilon": 0.0}
    by_lemma = by_zcdp = lemma_epsilon(mu=mu, log_delta=log_delta)
    # For smaller μ the square of μ underflows, so the value of the lemma replaces that of the better conversion.
    if math.log(mu) > _LEAST_LOG_MU:
        by_zcdp = float(zcdp_epsilon(np.asarray(mu), np.asarray(log_delta)))
    return {
        "exact_epsilon": exact_epsilon(mu=mu, log_delta=log_delta),
        "zcdp_epsilon": by_zcdp,
        "lemma_epsilon": by_lemma,
    }


def mus(*, epsilon: float, log_delta: float) -> dict[str, float]:
    """Compute the largest Gaussian DP parameter μ for (ε, δ) by three methods.

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        `exact_gaussian_dp_mu` from the exact curve δ(ε), `zcdp_gaussian_dp_mu` from the best conversion of
        zero-concentrated privacy, and `lemma_gaussian_dp_mu` from Lemma 2.6 of Reshef and Levy, in decreasing order.
    """
    return {
        "exact_gaussian_dp_mu": exact_mu(epsilon=epsilon, log_delta=log_delta),
        "zcdp_gaussian_dp_mu": zcdp_mu(epsilon=epsilon, log_delta=log_delta),
        "lemma_gaussian_dp_mu": lemma_mu(epsilon=epsilon, log_delta=log_delta),
    }


def epsilon_by_lemma(inputs: MuInputs) -> Outputs:
    """Compute ε of Lemma 2.6 of Reshef and Levy, the Rényi order that it uses, and ε by two other methods.

    Args:
        inputs: the Gaussian DP parameter ρ, and δ.

    Returns:
        `epsilon` by the lemma, its `order`, and the ε of all three methods under the names of `epsilons`.
    """
    mu, log_delta = inputs.gaussian_dp_mu, inputs.log_delta
    conversions = epsilons(mu=mu, log_delta=log_delta)
    order = lemma_order(mu=mu, log_delta=log_delta)
    return {"epsilon": conversions["lemma_epsilon"], "order": order, **conversions}


def exact_conversion(inputs: MuInputs) -> Outputs:
    """Compute the exact ε of ρ-Gaussian differential privacy, and ε by two methods that use zCDP only.

    Args:
        inputs: the Gaussian DP parameter ρ, and δ.

    Returns:
        `epsilon` from the exact curve δ(ε), `zcdp_rho`, which is ρ²/2, and the ε of all three methods under the names
        of `epsilons`.
    """
    conversions = epsilons(mu=inputs.gaussian_dp_mu, log_delta=inputs.log_delta)
    return {"epsilon": conversions["exact_epsilon"], "zcdp_rho": 0.5 * inputs.gaussian_dp_mu**2, **conversions}


@formula(given="ρ, and the ε at which δ is computed.", bounded=False)
def delta_of_mu(*, gaussian_dp_mu: GaussianDpMu, epsilon: Annotated[float, EPSILON_OR_NONE]) -> Outputs:
    """Compute δ(ε) of ρ-Gaussian differential privacy, rounded up.

    Args:
        gaussian_dp_mu: Gaussian DP parameter ρ.
        epsilon: ε ≥ 0, in nats.

    Returns:
        `log10_delta`, and `delta` unless it is too small for a double.
    """
    log_delta = gaussian_pair(gaussian_dp_mu).log_delta_bounds(epsilon)
    return delta_outputs(log_delta.upper)


@formula(given="The (ε, δ) for which ρ is computed. Give one of delta and log10_delta.")
def mu_of_target(*, epsilon: Annotated[float, EPSILON_OR_NONE], log_delta: GivenLogDelta) -> Outputs:
    """Compute the largest Gaussian DP parameter ρ for (ε, δ): exactly, and by two methods that use zCDP only.

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.

    Returns:
        `gaussian_dp_mu`: ρ from the exact curve δ(ε), rounded down; and ρ by all three methods, as `mus` returns them.
        `zcdp_noise_ratio` and `lemma_noise_ratio`: the noise that a method prescribes, divided by the noise for the
        exact ρ. They are infinite if the method gives ρ = 0.
    """
    conversions = mus(epsilon=epsilon, log_delta=log_delta)
    exact = conversions["exact_gaussian_dp_mu"]

    def ratio(mu: float) -> float:
        """Return the noise for `mu` over the noise for the exact ρ; infinite for `mu` = 0."""
        if mu <= 0.0:
            return math.inf
        return exact / mu

    return {
        "gaussian_dp_mu": exact,
        **conversions,
        "zcdp_noise_ratio": ratio(conversions["zcdp_gaussian_dp_mu"]),
        "lemma_noise_ratio": ratio(conversions["lemma_gaussian_dp_mu"]),
    }


LEMMA_2_3 = Theorem(
    id="reshef.lemma-2.3",
    title="Rényi divergence of two Gaussians",
    statement="The Rényi divergence of order α of two Gaussians is D_α(N(u, σ²I) ‖ N(v, σ²I)) = α|u − v|²/(2σ²)",
    source=Source("reshef2025", "Lemma 2.3"),
    status=Status.PROVED,
    formula=gaussian_renyi,
    examples=({"order": 3.0, "distance": 2.0, "noise_std": 1.5},),
)
LEMMA_2_6 = Theorem(
    id="reshef.lemma-2.6",
    title="From concentrated privacy to (ε, δ), as printed",
    statement=(
        "ρ²/2-zCDP implies (ρ²/2 + ρ√(2 ln(1/δ)), δ). The proof uses (α, e)-RDP ⇒ (e + ln(1/δ)/(α − 1), δ) at the "
        "order α* = 1 + √(2 ln(1/δ))/ρ"
    ),
    source=Source("reshef2025", "Lemma 2.6"),
    status=Status.PROVED,
    inputs=MuInputs,
    formula=epsilon_by_lemma,
    examples=({"gaussian_dp_mu": 4.0, "delta": 1e-5},),
)
GAUSSIAN_PROFILE = Theorem(
    id="dong-roth-su-2022.corollary-2-13",
    title="Gaussian differential privacy as a curve of (ε, δ)",
    statement="μ-Gaussian differential privacy is (ε, δ(ε)) for every ε, δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)",
    source=Source("dong2022gaussian", "Corollary 2.13"),
    status=Status.PROVED,
    formula=delta_of_mu,
    examples=({"gaussian_dp_mu": 1.0, "epsilon": 1.0},),
)
EXACT = Theorem(
    id="epsilond.gaussian-composition-epsilon",
    title="ε of adaptively composed Gaussian mechanisms, exactly",
    statement=(
        "Lemma 2.6 is applied to Gaussian mechanisms composed adaptively. There ρ²/2-zCDP is ρ-Gaussian differential "
        "privacy, and ε(δ) is the inverse of its curve. It never exceeds the best conversion of zCDP, which never "
        "exceeds Lemma 2.6"
    ),
    source=Source(
        "epsilond", "dominating pairs compose (Zhu, Dong and Wang 2022), and Gaussian ones to one Gaussian pair"
    ),
    status=Status.PROVED,
    conditions=(
        Condition("gaussian", "The composed mechanisms add Gaussian noise. Each of them may depend on earlier outputs"),
    ),
    inputs=MuInputs,
    formula=exact_conversion,
    examples=({"gaussian_dp_mu": 4.0, "delta": 1e-5},),
)
TARGET = Theorem(
    id="epsilond.gaussian-composition-target",
    title="The largest ρ for (ε, δ) by three conversions, and the ratios of their noise",
    statement=(
        "The largest ρ at which ρ-Gaussian differential privacy is (ε, δ) is found exactly. Conversion by zCDP and "
        "Lemma 2.6 find values that are no larger, and so prescribe no less noise"
    ),
    source=Source("epsilond", "inverse of the three conversions"),
    status=Status.PROVED,
    conditions=EXACT.conditions,
    formula=mu_of_target,
    examples=({"epsilon": 1.0, "delta": 1e-5},),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_2_3, LEMMA_2_6, GAUSSIAN_PROFILE, EXACT, TARGET)
