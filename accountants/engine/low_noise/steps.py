"""One Poisson-subsampled Gaussian step on a lattice of losses, from above and from below.

With the pair ((1 − q) N(0, 1) + q N(s, 1), N(0, 1)) the loss L of a step exceeds L₀ = log(1 − q). If s is large, L is
very close to L₀ unless the contribution is included. The lattice therefore starts at L₀ for the upper bound, and for
the lower bound at the loss of the merged outcomes next to L₀. Proofs: docs/low-noise.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


class LatticeStep(NamedTuple):
    """A distribution of privacy losses on a lattice, as a bound on the loss of one Poisson-subsampled Gaussian step.

    The least loss of the step is L₀ = log(1 − q), for the inclusion probability q.

    Attributes:
        masses: probability of the loss L₀ + `first` + k · spacing under the first distribution, for k = 0, 1, ….
        first: least loss of the lattice minus L₀, in nats; at least 0.
        infinite: probability of an infinite loss, which includes losses beyond the lattice.
    """

    masses: FloatArray
    first: float
    infinite: float


class StepTails(NamedTuple):
    """Tails of the loss L of one step at thresholds L₀ + t above its least value L₀ = log(1 − q), for the rate q.

    Attributes:
        p: probability of L > L₀ + t under the first distribution.
        scaled_q: e^{L₀ + t} times that probability under the second distribution; at most `p`.
        delta: `p` − `scaled_q`, which is δ of the step at ε = L₀ + t.
        error: bound on the error of each of the two tails, divided by `p`.
    """

    p: FloatArray
    scaled_q: FloatArray
    delta: FloatArray
    error: FloatArray


def noise_at(rate: float, shift: float, excess: FloatArray) -> FloatArray:
    """Return the noise x at which the loss of a subsampled Gaussian step is t above its least value log(1 − q).

    The noise solves log(1 − q + q e^{sx − s²/2}) = t + log(1 − q) for x.

    Args:
        rate: inclusion probability q.
        shift: distance s of the means, in standard deviations.
        excess: values of t > 0, in nats.

    Returns:
        The noise x at each t, in standard deviations. At x = 0 it is the mean of a step without the contribution.
    """
    log_odds = math.log1p(-rate) - math.log(rate)
    # The last two terms are log(e^t − 1), which does not overflow in this form.
    exponent = log_odds + excess + np.log(-np.expm1(-excess))
    return np.asarray(0.5 * shift + exponent / shift)


def tails_at(rate: float, shift: float, excess: FloatArray) -> StepTails:
    """Return the tails of the loss of a subsampled Gaussian step at thresholds L₀ + t, with L₀ = log(1 − q).

    The loss exceeds the threshold if the noise exceeds x (`noise_at`), where the density ratio is e^{L₀ + t}. The tail
    under the second distribution is Φ(−x), with the normal distribution function Φ. Its product with the ratio is
    computed as two densities times the Mills ratio Φ(−x)/φ(x), so that no exponent is large.

    Args:
        rate: inclusion probability q.
        shift: distance s of the means, in standard deviations.
        excess: values of t > 0, in nats.

    Returns:
        The two tails, δ, and a bound on their errors, with one entry for each t.
    """
    # The noise exceeds x without the contribution, and x − s with it.
    x = noise_at(rate, shift, excess)
    mills_ratio = 0.5 * erfcx(x / math.sqrt(2.0))
    p_excluded = (1.0 - rate) * np.exp(-0.5 * x * x) * mills_ratio
    p = p_excluded + rate * ndtr(shift - x)
    # e^{L₀ + t} Φ(−x), where the density ratio at x is (1 − q) + q e^{sx − s²/2}.
    q_included = rate * np.exp(-0.5 * (x - shift) ** 2) * mills_ratio
    scaled_q = np.minimum(p_excluded + q_included, p)
    # Φ and erfcx are within 2e-13 of their values, two thousand units in the last place (tested against mpmath).
    error = 4e-13 + 16 * UNIT_ROUNDOFF * (1.0 + shift + np.abs(x)) * (shift + np.abs(x))
    return StepTails(p, scaled_q, p - scaled_q, error)


def upper_step(rate: float, shift: float, spacing: float, cells: int) -> LatticeStep:
    """Return a lattice distribution that dominates the loss of one subsampled Gaussian step.

    The mass between two lattice points moves to these points, without a change of the total mass under either
    distribution (connect-the-dots). So for δ_k, the δ of the step at the k-th lattice point, the probability of a loss
    above this point is:

        (δ_k − e^{−h} δ_{k+1})/(1 − e^{−h}).

    The mass beyond the last point moves to that point and to infinity.

    Args:
        rate: inclusion probability q in (0, 1).
        shift: distance s of the means > 0, in standard deviations.
        spacing: distance h of lattice points, in nats.
        cells: number of intervals between lattice points.

    Returns:
        The dominating distribution: masses on the lattice points from L₀ = log(1 − q) on, and the mass at infinity.
    """
    # δ at the losses L₀, L₀ + h, …, with bounds on its errors. At L₀ it is exactly q.
    lattice_points = np.asarray(spacing * np.arange(1, cells + 1), dtype=np.float64)
    tails = tails_at(rate, shift, lattice_points)
    delta = np.concatenate(([rate], tails.delta))
    # δ is a difference of two tails, each with an error of at most `error` times `p`.
    error = np.concatenate(([UNIT_ROUNDOFF * rate], 2.0 * tails.error * tails.p))

    # Rounded up and made non-increasing, which is valid because a larger survival function gives a larger δ.
    one_minus_decay = -math.expm1(-spacing)  # 1 − e^{−h}
    survival = (delta[:-1] - math.exp(-spacing) * delta[1:] + error[:-1] + error[1:]) / one_minus_decay
    infinite = float(delta[-1] + error[-1])
    survival = np.maximum.accumulate(np.append(survival, infinite)[::-1])[::-1]
    # 16 units of roundoff exceed the roundings of the formula.
    survival = np.minimum(survival * (1.0 + 16 * UNIT_ROUNDOFF), 1.0)

    masses = np.append(1.0, survival[:-1]) - survival
    return LatticeStep(masses, 0.0, float(survival[-1]))


def lower_step(rate: float, shift: float, spacing: float, cells: int) -> LatticeStep | None:
    """Return a lattice distribution for lower bounds on δ of one subsampled Gaussian step: its δ is nowhere larger.

    The outcomes with losses up to h/2 above the least one are merged, and the lattice starts at their common loss.
    e^{−ε} δ(ε) is a convex function of e^{−ε}, so it is above its tangents. Between two lattice points, the tangent at
    the threshold in the middle is used. At a lattice point, the function of the lattice distribution is the smaller one
    of the two neighbouring tangents.

    Args:
        rate: inclusion probability q in (0, 1).
        shift: distance s of the means > 0, in standard deviations.
        spacing: distance h of lattice points, in nats.
        cells: number of intervals between lattice points.

    Returns:
        The distribution; None if roundings are too large or the lattice is too coarse.

    Source: docs/low-noise.md.
    """
    thresholds = np.asarray(spacing * (np.arange(cells + 1) + 0.5), dtype=np.float64)
    largest_merged_noise = float(noise_at(rate, shift, thresholds[:1])[0])
    first = _merged_loss(rate, shift, largest_merged_noise)
    if not 0.0 <= first <= 0.5 * spacing:
        return None
    tails = tails_at(rate, shift, thresholds)

    # δ at the lattice points 1, 2, … by the tangents of the two neighbouring thresholds, before and after the point.
    before, after = math.exp(0.5 * spacing + first), math.exp(first - 0.5 * spacing)
    tangent_after = tails.p[1:] - after * tails.scaled_q[1:]
    tangent_before = tails.p[:-1] - before * tails.scaled_q[:-1]
    change = tangent_after - tangent_before
    # More than the error of each tangent, both of whose tails err by at most `error` times `p`.
    errors = 8.0 * before * tails.error * tails.p
    # The last value must not be negative, because the distribution has no mass beyond it.
    if tangent_before[-1] <= errors[-2]:
        return None

    # At each lattice point the smaller one of both tangents counts, which changes the survival function on both sides.
    # It is rounded down and made non-increasing, because a smaller survival function gives a smaller δ.
    one_minus_decay = -math.expm1(-spacing)  # 1 − e^{−h}
    raised = math.exp(-spacing) * np.maximum(-change, 0.0)
    lowered = np.append(0.0, np.maximum(change, 0.0)[:-1])
    errors_of_both = errors[:-1] + np.append(0.0, errors[:-2])
    survival = tails.p[:-1] * (1.0 - tails.error[:-1]) + (raised - lowered - errors_of_both) / one_minus_decay
    # 16 units of roundoff exceed the roundings of the formula.
    survival = np.clip(np.minimum.accumulate(survival * (1.0 - 16 * UNIT_ROUNDOFF)), 0.0, 1.0)

    masses = np.append(1.0, survival) - np.append(survival, 0.0)
    return LatticeStep(masses, first, 0.0)


def _merged_loss(rate: float, shift: float, x: float) -> float:
    """Return the loss of the merged outcomes with noise below x, minus the least loss log(1 − q), rounded down.

    It is log(1 + q/(1 − q) · Φ(x − s)/Φ(x)), with the normal distribution function Φ.

    Args:
        rate: inclusion probability q.
        shift: distance s of the means, in standard deviations.
        x: largest noise of the merged outcomes.

    Returns:
        A lower bound on the difference of the two losses, in nats.
    """
    odds_of_inclusion = rate / (1.0 - rate) * float(ndtr(x - shift)) / float(ndtr(x))
    # More than the relative errors of the ratio of both Φ, from the rounding of their arguments and from `ndtr` itself.
    rounding = 64 * UNIT_ROUNDOFF * (1.0 + shift + abs(x)) * (shift + abs(x))
    ndtr_error = 1e-12
    return math.log1p(odds_of_inclusion) * (1.0 - ndtr_error - rounding)
