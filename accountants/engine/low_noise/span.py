"""The lattice, the range and the tilts of a table of a total loss. The choices affect the accuracy, and no validity."""

from __future__ import annotations

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
    """The resolution of a table.

    Attributes:
        points: number of lattice points, a power of two. A transform of 2^16 points takes less than a millisecond.
        left_out: nats by which log probabilities of losses beyond a table are below log δ; e^−30 is below roundings.
        shallow: −log δ up to which a table is not tilted; its rounding is then 1e-8 of δ.
        prefactor: nats by which log δ is below its best Chernoff bound, about.
        margin: ratio of the −log δ that one table serves.
    """

    points: int = 2**16
    left_out: float = 30.0
    shallow: float = 6.0
    prefactor: float = 3.0
    margin: float = 1.15


RESOLUTION = Resolution()


class Plan(NamedTuple):
    """Lattice and tilts of a table.

    Attributes:
        spacing: distance of lattice points, in nats, with seven significant bits, so that its multiples are doubles.
        cells: number of cells of each step.
        tilt: tilt λ ≥ 0 of the table.
        far_tilt: tilt μ > λ at which losses beyond the table are bounded.
    """

    spacing: float
    cells: int
    tilt: float
    far_tilt: float


def choose_plan(steps: Steps, depth: float) -> Plan:
    """Choose the lattice and the tilts for a depth −log δ.

    Args:
        steps: distributions of the losses, with their counts.
        depth: −log δ, at least 0.
    """
    tilts, log_means = _log_means(steps)
    tilt, loss = 0.0, 0.0
    if depth > RESOLUTION.shallow:
        best, loss = _best_tilt(tilts, log_means, depth)
        tilt = float(tilts[best])
    log_moments = log_means + RESOLUTION.margin * depth + RESOLUTION.left_out
    # Losses beyond the table are negligible in the upper bound, and on the next line in the lower bound.
    spans = log_moments / tilts
    further = tilts > 1.1 * tilt
    lower_spans = (log_moments - tilts * loss / RESOLUTION.margin)[further] / (tilts - tilt)[further]
    spans[further] = np.maximum(spans[further], lower_spans)
    spans[~further] = np.inf
    place = int(np.argmin(spans))
    span = float(spans[place])
    exponent = math.frexp(span / RESOLUTION.points)[1] - 7
    spacing = math.ldexp(math.ceil(math.ldexp(span / RESOLUTION.points, -exponent)), exponent)
    # An included contribution has more noise than this with a probability below e^−`left_out` of δ.
    noise = math.sqrt(2.0 * (RESOLUTION.margin * depth + RESOLUTION.left_out + 4.0))
    largest = max(_largest_excess(law, noise) for law, _ in steps)
    cells = min(math.ceil(largest / spacing), RESOLUTION.points - 1)
    return Plan(spacing, cells, tilt, float(tilts[place]))


def estimate_depth(steps: Steps, epsilon: float) -> float:
    """Estimate −log δ at an ε, by the best Chernoff bound.

    Args:
        steps: distributions of the losses, with their counts.
        epsilon: ε in nats.
    """
    tilts, log_means = _log_means(steps)
    least = math.fsum(count * math.log1p(-law.rate) for law, count in steps)
    exponent = -float(np.min(log_means - tilts * (epsilon - least)))
    return exponent + RESOLUTION.prefactor if exponent > 0.0 else 0.0


def estimate_log_moment(steps: Steps, depth: float) -> float:
    """Estimate log E[e^{λ (S − S₀)}] at the tilt λ that suits a depth; 0 for tables without a tilt."""
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


def _log_means(steps: Steps) -> tuple[FloatArray, FloatArray]:
    """Return tilts λ, and an estimate of log E[e^{λ (S − S₀)}] of the total loss S with the least value S₀ at each.

    The loss of an included contribution is taken to be Gaussian, and that of another one to be the least loss.
    """
    means = [_largest_excess(law, 0.0) for law, _ in steps]
    scale = max(mean + law.shift for mean, (law, _) in zip(means, steps, strict=True))
    tilts = np.geomspace(0.003, 30.0, 64) / scale
    total = np.zeros_like(tilts)
    for mean, (law, count) in zip(means, steps, strict=True):
        exponents = np.minimum(tilts * mean + 0.5 * (tilts * law.shift) ** 2, 700.0)
        total += count * law.rate * np.expm1(exponents)
    return tilts, total
