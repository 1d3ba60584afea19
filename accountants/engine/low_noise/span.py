"""The lattice, the range and the tilts of a table of a total loss. The choices affect the accuracy, and no validity."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.facts import SampledGaussianLaw

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

Steps = tuple[tuple[SampledGaussianLaw, int], ...]
"""Distributions of the losses, in the direction that removes a contribution, and the number of steps of each."""


@dataclass(frozen=True)
class Resolution:
    """Settings of a table of the probabilities of the total loss S on a lattice, made for a certain δ.

    Attributes:
        points: least number of lattice points, a power of two. A transform of 2^16 points takes about a millisecond.
        most_points: largest number of lattice points. Two tables take 20 ms then.
        coarse: factor of the number of points in a table that is only used for estimates.
        sharpest: estimated width of the bounds on log δ, above which a table has more points than the least number.
        left_out: nats by which log probabilities of losses beyond a table are below log δ; e^−26 is below roundings.
        shallow: −log δ up to which losses are not weighted by e^{λS}; the rounding of a table is then 1e-8 of δ.
        prefactor: approximate number of nats by which log δ is below its best Chernoff bound.
        margin: a table made for −log δ = d is used for values of −log δ between d/`margin` and d · `margin`.
    """

    points: int = 2**16
    most_points: int = 2**18
    coarse: float = 2.0**-4
    sharpest: float = 6e-5
    left_out: float = 26.0
    shallow: float = 6.0
    prefactor: float = 3.0
    margin: float = 1.15


RESOLUTION = Resolution()


class Plan(NamedTuple):
    """Lattice and weights of a table of the probabilities of the total loss S of several steps.

    Attributes:
        points: number of lattice points, a power of two.
        spacing: distance of lattice points, in nats, with seven significant bits, so that its multiples are doubles.
        cells: number of intervals between lattice points (cells) that the loss of a single step is divided into.
        tilt: exponent λ ≥ 0 of the weights e^{λS} by which the probabilities are multiplied.
        far_tilt: exponent μ > λ of the Chernoff bound on the probability of losses beyond the table.
    """

    points: int
    spacing: float
    cells: int
    tilt: float
    far_tilt: float

    @property
    def length(self) -> float:
        """Period of the table, in nats."""
        return self.points * self.spacing


def choose_plan(steps: Steps, depth: float, finer: float = 1.0) -> Plan:
    """Choose the lattice and the tilts of a table of the total loss, for δ of about e^−depth.

    Probabilities of a loss S are weighted by e^{λS}. The exponent λ is called the tilt of the table. With it, the rare
    losses that matter for a small δ have large entries. The spacing follows from the range of losses and the number of
    points.

    Args:
        steps: distribution of the privacy loss of each kind of step, with its number of steps.
        depth: −log δ, at least 0, natural logarithm.
        finer: factor of the number of lattice points, a power of two.

    Returns:
        The plan. Its tilt is 0 for depths up to `RESOLUTION.shallow`.
    """
    # The tilt of the best Chernoff bound. A table for large δ has none.
    tilts, log_moments = _log_moments(steps)
    best, best_loss = _best_tilt(tilts, log_moments, depth)
    natural_tilt = float(tilts[best])
    tilt, loss = (natural_tilt, best_loss) if depth > RESOLUTION.shallow else (0.0, 0.0)

    # The length of the table, and the spacing of its points.
    spans = _spans(tilts, log_moments, depth, tilt, loss)
    shortest = int(np.argmin(spans))
    span = float(spans[shortest])
    # An estimate of the number of included contributions after weighting.
    included = float(log_moments[best]) + math.fsum(count * law.rate for law, count in steps)
    curvature = included * natural_tilt * (1.0 + natural_tilt)
    points = round(finer * _choose_points(span, curvature))
    spacing = _round_up_to_seven_bits(span / points)

    # Each step is tabulated up to its loss at this noise. A larger noise has a probability below e^−`left_out` of δ.
    # The term 4 is a margin in nats.
    largest_noise = math.sqrt(2.0 * (RESOLUTION.margin * depth + RESOLUTION.left_out + 4.0))
    largest_loss = max(_loss_above_least(law, largest_noise) for law, _ in steps)
    cells = min(math.ceil(largest_loss / spacing), points - 1)
    return Plan(points, spacing, cells, tilt, float(tilts[shortest]))


def _round_up_to_seven_bits(value: float) -> float:
    """Round a number up to seven significant bits, so that its multiples by integers are exact doubles.

    Args:
        value: a number above 0.

    Returns:
        The least float with seven significant bits that is at least `value`.
    """
    # Scale the number to between 64 and 128, round it up to an integer, and scale back.
    _, binary_exponent = math.frexp(value)
    exponent = binary_exponent - 7
    return math.ldexp(math.ceil(math.ldexp(value, -exponent)), exponent)


def _spans(tilts: FloatArray, log_moments: FloatArray, depth: float, tilt: float, loss: float) -> FloatArray:
    """Return the length of a table, in nats, beyond which losses are negligible by the Chernoff bound at each tilt.

    A tilt is the exponent μ of the weight e^{μS} of a total loss S. The table wraps around: losses beyond its length
    are counted as losses that are smaller by the length. They must be negligible for the upper bound on δ as they are,
    and for the lower bound also after this reduction.

    Args:
        tilts: tilts μ of the Chernoff bounds.
        log_moments: log moment of the total loss above the least one, at each μ.
        depth: −log δ, natural logarithm.
        tilt: tilt λ of the table.
        loss: total loss above the least one, at which δ has that depth, in nats.

    Returns:
        One length for each μ; math.inf unless μ is well above λ.
    """
    # The losses beyond a table have at most e^−`left_out` of any δ that the table serves, −log δ ≤ `margin` · `depth`.
    log_ratios = log_moments + RESOLUTION.margin * depth + RESOLUTION.left_out
    upper_spans = log_ratios / tilts

    # Only tilts well above λ bound the losses that the lower bound counts as smaller ones.
    # The factor 1.1 keeps the divisor below away from 0.
    is_usable = tilts > 1.1 * tilt
    log_excess = log_ratios - tilts * loss / RESOLUTION.margin
    lower_spans = log_excess[is_usable] / (tilts - tilt)[is_usable]

    spans = np.full(tilts.shape, np.inf)
    spans[is_usable] = np.maximum(upper_spans[is_usable], lower_spans)
    return spans


def _choose_points(span: float, curvature: float) -> int:
    """Return the number of lattice points of a table with which the bounds on δ are likely to be close.

    In both tables, the loss of a step that includes the contribution is rounded to points with the spacing h. The
    bounds then differ in log δ by about h²/5 times the curvature. Measured factors are h²/10 to h²/4.

    Args:
        span: length of the table, in nats.
        curvature: n λ (1 + λ), for the exponent λ of the best Chernoff bound on δ, and the estimated number n of
            included contributions after weighting by e^{λS}.

    Returns:
        The number of points, a power of two between `RESOLUTION.points` and `RESOLUTION.most_points`.
    """
    points = RESOLUTION.points
    while points < RESOLUTION.most_points:
        spacing = span / points
        # Distance of the bounds in log δ for this spacing h: h²/5 times the curvature.
        log_distance = 0.2 * curvature * spacing**2
        if log_distance <= RESOLUTION.sharpest:
            break
        points *= 2
    return points


def estimate_depth(steps: Steps, epsilon: float) -> float:
    """Estimate −log δ of a composition at an ε, by the best Chernoff bound.

    With the total loss S and its least value S₀, log δ(ε) ≤ log E[e^{λ (S − S₀)}] − λ (ε − S₀) for every λ ≥ 0. The
    moments are estimates, and a typical distance of log δ from its bound is added.

    Args:
        steps: distribution of the privacy loss of each kind of step, with its number of steps.
        epsilon: ε in nats.

    Returns:
        The estimate, or 0 if no bound is below 1.
    """
    tilts, log_moments = _log_moments(steps)
    # The Chernoff bounds on log δ at several tilts; the least of them is the estimate.
    least_loss = math.fsum(count * math.log1p(-law.rate) for law, count in steps)
    log_bounds = log_moments - tilts * (epsilon - least_loss)
    exponent = -float(np.min(log_bounds))
    return exponent + RESOLUTION.prefactor if exponent > 0.0 else 0.0


def estimate_log_moment(steps: Steps, depth: float) -> float:
    """Estimate the log moment of the total loss at the tilt λ that suits a depth −log δ.

    The log moment is log E[e^{λ (S − S₀)}] for the total loss S with the least value S₀.

    Args:
        steps: distribution of the privacy loss of each kind of step, with its number of steps.
        depth: −log δ, at least 0, natural logarithm.

    Returns:
        The estimate; 0 for tables without a tilt.
    """
    if depth <= RESOLUTION.shallow:
        return 0.0
    tilts, log_moments = _log_moments(steps)
    best, _ = _best_tilt(tilts, log_moments, depth)
    return float(log_moments[best])


def round_depth(depth: float) -> float:
    """Round a depth −log δ to a short list of values, so that one stored table serves similar values of δ.

    The list is 0 and the powers of 1.25.

    Args:
        depth: −log δ, at least 0. Values up to `RESOLUTION.shallow` become 0.

    Returns:
        0, or the power of 1.25 that is nearest to the depth on a logarithmic scale.
    """
    if depth <= RESOLUTION.shallow:
        return 0.0
    return 1.25 ** round(math.log(depth) / math.log(1.25))


def _best_tilt(tilts: FloatArray, log_moments: FloatArray, depth: float) -> tuple[int, float]:
    """Estimate the total loss x at which log δ = −depth, and the λ of the Chernoff bound on δ that is best there.

    The loss S is counted from its least value, and K(λ) is its log moment log E[e^{λS}]. The Chernoff bound on log δ at
    x is K(λ) − λx. log δ is typically less by `RESOLUTION.prefactor`. So x is the least solution over all λ of:

        K(λ) − λx = −(depth − prefactor).

    Args:
        tilts: exponents λ > 0 of the weights e^{λS}.
        log_moments: K(λ) at each tilt.
        depth: −log δ, natural logarithm.

    Returns:
        The index of the best λ, and x in nats above the least total loss.
    """
    losses = (log_moments + max(depth - RESOLUTION.prefactor, 0.0)) / tilts
    best = int(np.argmin(losses))
    return best, float(losses[best])


def _loss_above_least(law: SampledGaussianLaw, noise: float) -> float:
    """Return the loss of an included contribution minus the least loss log(1 − q), for a given noise, in nats.

    With the rate q and the shift s it is log(1 + q/(1 − q) · e^{s (s/2 + x)}).

    Args:
        law: distribution of the loss of a subsampled Gaussian step.
        noise: x, in standard deviations, measured from the mean of an included contribution.

    Returns:
        The difference of the two losses in nats.
    """
    log_odds = math.log(law.rate) - math.log1p(-law.rate)
    return float(np.logaddexp(0.0, log_odds + law.shift * (0.5 * law.shift + noise)))


@functools.lru_cache(maxsize=64)  # a kilobyte each
def _log_moments(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Return several tilts λ, and an estimate of the log moment of the total loss at each of them.

    The log moment is log E[e^{λ (S − S₀)}] for the total loss S with the least value S₀. The loss of an included
    contribution is taken to be Gaussian, and that of another one to be the least loss.

    Args:
        steps: distribution of the privacy loss of each kind of step, with its number of steps.

    Returns:
        64 tilts, per nat of loss, increasing in equal ratios, and the estimate at each.
    """
    # Tilts relative to a typical loss of an included contribution.
    means = [_loss_above_least(law, 0.0) for law, _ in steps]
    scale = max(mean + law.shift for mean, (law, _) in zip(means, steps, strict=True))
    tilts = np.geomspace(0.003, 30.0, 64) / scale
    log_moments = np.zeros_like(tilts)
    for mean, (law, count) in zip(means, steps, strict=True):
        # E[e^{λL}] = e^{λm + λ²s²/2} for a Gaussian loss L. Exponents are cut at 700, near the overflow of doubles.
        exponents = np.minimum(tilts * mean + 0.5 * (tilts * law.shift) ** 2, 700.0)
        expected_included = count * law.rate
        log_moments += expected_included * np.expm1(exponents)
    return tilts, log_moments
