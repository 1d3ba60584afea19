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
    """Settings of the resolution of a table of the total loss.

    Attributes:
        points: least number of lattice points, a power of two. A transform of 2^16 points takes about a millisecond.
        most_points: largest number of lattice points. Two tables take 20 ms then.
        coarse: factor of the number of points in a table for estimates.
        sharpest: width of log δ, estimated, above which a table has more points than the least number.
        left_out: nats by which log probabilities of losses beyond a table are below log δ; e^−26 is below roundings.
        shallow: −log δ up to which a table is not tilted; its rounding is then 1e-8 of δ.
        prefactor: approximate number of nats by which log δ is below its best Chernoff bound.
        margin: ratio of the −log δ that one table serves.
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
    """Lattice and tilts of a table of the total loss; a tilt is the exponent λ of weights e^{λS}.

    Attributes:
        points: number of lattice points, a power of two.
        spacing: distance of lattice points, in nats, with seven significant bits, so that its multiples are doubles.
        cells: number of cells of each step.
        tilt: tilt λ ≥ 0 of the table.
        far_tilt: tilt μ > λ at which losses beyond the table are bounded.
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

    A tilt is the exponent λ of the weights e^{λS} by which a loss S is weighted. With it, the rare losses that matter
    for a small δ have large entries in the table. The spacing follows from the range of losses and the number of
    points.

    Args:
        steps: distributions of the losses, with their counts.
        depth: −log δ, at least 0.
        finer: factor of the number of lattice points, a power of two.

    Returns:
        The plan. Its tilt is 0 for depths up to `RESOLUTION.shallow`.
    """
    tilts, log_means = _log_means(steps)
    best, best_loss = _best_tilt(tilts, log_means, depth)
    natural_tilt = float(tilts[best])
    tilt, loss = (natural_tilt, best_loss) if depth > RESOLUTION.shallow else (0.0, 0.0)
    spans = _spans(tilts, log_means, depth, tilt, loss)
    shortest = int(np.argmin(spans))
    span = float(spans[shortest])
    included = float(log_means[best]) + math.fsum(count * law.rate for law, count in steps)
    points = round(finer * _choose_points(span, included * natural_tilt * (1.0 + natural_tilt)))
    exponent = math.frexp(span / points)[1] - 7
    spacing = math.ldexp(math.ceil(math.ldexp(span / points, -exponent)), exponent)
    # An included contribution has more noise than this with a probability below e^−`left_out` of δ.
    largest_noise = math.sqrt(2.0 * (RESOLUTION.margin * depth + RESOLUTION.left_out + 4.0))
    largest_loss = max(_largest_excess(law, largest_noise) for law, _ in steps)
    cells = min(math.ceil(largest_loss / spacing), points - 1)
    return Plan(points, spacing, cells, tilt, float(tilts[shortest]))


def _spans(tilts: FloatArray, log_means: FloatArray, depth: float, tilt: float, loss: float) -> FloatArray:
    """Return the length of a table, in nats, beyond which losses are negligible by the Chernoff bound at each tilt.

    They are negligible in the upper bound. In the lower bound they are also negligible after they are counted as losses
    that are smaller by the length.

    Args:
        tilts: tilts μ of the Chernoff bounds.
        log_means: log moment of the total loss above the least one, at each of them.
        depth: −log δ.
        tilt: tilt λ of the table.
        loss: total loss above the least one, at which δ has that depth.

    Returns:
        One length for each μ; math.inf unless μ is well above λ.
    """
    log_moments = log_means + RESOLUTION.margin * depth + RESOLUTION.left_out
    spans = log_moments / tilts
    is_usable = tilts > 1.1 * tilt
    lower_spans = (log_moments - tilts * loss / RESOLUTION.margin)[is_usable] / (tilts - tilt)[is_usable]
    spans[is_usable] = np.maximum(spans[is_usable], lower_spans)
    spans[~is_usable] = np.inf
    return spans


def _choose_points(span: float, curvature: float) -> int:
    """Return the number of lattice points of a table with which the bounds on δ are likely to be close.

    Both bounds change each included loss by about the variance h²/12, and h²/24 less, for the spacing h. Their distance
    in log δ is then about h²/5 times the curvature (measured: h²/10 to h²/4).

    Args:
        span: length of the table, in nats.
        curvature: n λ (1 + λ), for the tilt λ that suits the depth and n included contributions after tilting.
    """
    points = RESOLUTION.points
    while 0.2 * curvature * (span / points) ** 2 > RESOLUTION.sharpest and points < RESOLUTION.most_points:
        points *= 2
    return points


def estimate_depth(steps: Steps, epsilon: float) -> float:
    """Estimate −log δ of a composition at an ε, by the best Chernoff bound.

    With the total loss S and its least value S₀, log δ(ε) ≤ log E[e^{λ (S − S₀)}] − λ (ε − S₀) for every λ ≥ 0. The
    means are estimates, and a typical distance of δ from its bound is added.

    Args:
        steps: distributions of the losses, with their counts.
        epsilon: ε in nats.

    Returns:
        The estimate, or 0 if no bound is below 1.
    """
    tilts, log_means = _log_means(steps)
    least = math.fsum(count * math.log1p(-law.rate) for law, count in steps)
    exponent = -float(np.min(log_means - tilts * (epsilon - least)))
    return exponent + RESOLUTION.prefactor if exponent > 0.0 else 0.0


def estimate_log_moment(steps: Steps, depth: float) -> float:
    """Estimate log E[e^{λ (S − S₀)}] of the total loss S, with its least value S₀, at the tilt λ that suits a depth.

    Args:
        steps: distributions of the losses, with their counts.
        depth: −log δ, at least 0.

    Returns:
        The estimate; 0 for tables without a tilt.
    """
    if depth <= RESOLUTION.shallow:
        return 0.0
    tilts, log_means = _log_means(steps)
    return float(log_means[_best_tilt(tilts, log_means, depth)[0]])


def round_depth(depth: float) -> float:
    """Return a depth from a short list, so that one table serves similar questions: 0, or a power of 1.25."""
    return 0.0 if depth <= RESOLUTION.shallow else 1.25 ** round(math.log(depth) / math.log(1.25))


def _best_tilt(tilts: FloatArray, log_means: FloatArray, depth: float) -> tuple[int, float]:
    """Return the place of the tilt that suits a depth, and the total loss above the least one where δ has that depth.

    The Chernoff bound log M(λ) − λ x is −(depth less the prefactor) at the least x for the best λ.
    """
    losses = (log_means + max(depth - RESOLUTION.prefactor, 0.0)) / tilts
    best = int(np.argmin(losses))
    return best, float(losses[best])


def _largest_excess(law: SampledGaussianLaw, noise: float) -> float:
    """Return the loss of an included contribution minus the least loss, for a given noise, in nats."""
    log_odds = math.log(law.rate) - math.log1p(-law.rate)
    return float(np.logaddexp(0.0, log_odds + law.shift * (0.5 * law.shift + noise)))


@functools.lru_cache(maxsize=64)  # a kilobyte each
def _log_means(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Return tilts λ, and an estimate of log E[e^{λ (S − S₀)}] of the total loss S with the least value S₀ at each.

    A tilt is the exponent of a weight. The loss of an included contribution is taken to be Gaussian, and that of
    another one to be the least loss.

    Args:
        steps: distributions of the losses, with their counts.

    Returns:
        64 tilts, per nat of loss, increasing in equal ratios, and the estimate at each.
    """
    means = [_largest_excess(law, 0.0) for law, _ in steps]
    scale = max(mean + law.shift for mean, (law, _) in zip(means, steps, strict=True))
    tilts = np.geomspace(0.003, 30.0, 64) / scale
    total = np.zeros_like(tilts)
    for mean, (law, count) in zip(means, steps, strict=True):
        exponents = np.minimum(tilts * mean + 0.5 * (tilts * law.shift) ** 2, 700.0)
        total += count * law.rate * np.expm1(exponents)
    return tilts, total
