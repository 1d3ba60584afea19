"""Where to start a search; guesses decide nothing else.

By the central limit of composition, R rounds at rate q and noise multiplier z are about μ-Gaussian differentially
private with μ = q√(R(e^{(distance/z)²} − 1)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.calibrators.problem import Target


def likely_noise(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """A guess at the noise multiplier; `distance` is the relation's sensitivity factor."""
    if rate == 1.0:
        return distance * math.sqrt(rounds) / _likely_mu(target)
    return distance / math.sqrt(math.log1p((_likely_mu(target) / rate) ** 2 / rounds))


def likely_rate(target: Target, *, noise: float, rounds: int, distance: float) -> float:
    """A guess at the sampling rate."""
    return min(_likely_mu(target) / math.sqrt(rounds * math.expm1(min((distance / noise) ** 2, 500.0))), 1.0)


def likely_rounds(target: Target, *, noise: float, rate: float, distance: float) -> float:
    """A guess at the number of rounds."""
    return max((_likely_mu(target) / rate) ** 2 / math.expm1(min((distance / noise) ** 2, 500.0)), 1.0)


def _likely_mu(target: Target) -> float:
    """The μ whose ε(δ) is about the target."""
    spread = math.sqrt(-2.0 * target.log_delta)
    return max(math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - spread, 1e-12)
