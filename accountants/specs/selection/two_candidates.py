"""The choice between two candidates by noisy scores: how much a change of both scores by 1 changes it.

With two candidates the choice depends on the difference D of the two noises, of scale 2/ε each. The difference of the
scores changes by 2. If it changes from 1 to −1, the favoured candidate loses with probability x = P(D > 1) before and
wins with probability x after. This is randomized response with the log ratio log((1 − x)/x). For Gumbel noise D is
logistic and the ratio is ε/2. For exponential noise D is a Laplace variable, and x = e^{−ε/2}/2. For Laplace noise
x = e^{−ε/2} (2 + ε/2)/4.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.accountants.specs.primitives import ScoreNoise

ROUNDED_DOWN = 1.0 - 16 * sys.float_info.epsilon
"""Factor on a log ratio that exceeds the rounding of its formula. Randomized response at a smaller ratio is a
post-processing of that at the larger one, so the result is attained."""


def log_ratio(epsilon: float, noise: ScoreNoise) -> float:
    """Return a lower bound on the ε of report-noisy-max, which an attack with two candidates attains.

    In the attack both scores change by 1, in opposite directions, so that their difference changes from 1 to −1. Let x
    be the probability that the candidate with the lower score wins. The bound is log((1 − x)/x), with:

        x = 1/(1 + e^{ε/2}) for Gumbel noise,
        x = e^{−ε/2}/2 for exponential noise,
        x = e^{−ε/2} (2 + ε/2)/4 for Laplace noise.

    Args:
        epsilon: privacy parameter ε > 0 of the choice; the noise has the scale 2/ε.
        noise: distribution of the noise: "gumbel", "exponential" or "laplace".

    Returns:
        log((1 − x)/x) in nats, rounded down.
    """
    half = 0.5 * epsilon
    if noise == "gumbel":
        return half
    if noise == "exponential":
        return (half + math.log1p(-math.expm1(-half))) * ROUNDED_DOWN

    # For small ε, x is close to 1/2, and 1 − 2x is computed without cancellation.
    if half < 1.0:
        advantage = -math.expm1(-half) - 0.5 * half * math.exp(-half)
        return math.log1p(2.0 * advantage / (1.0 - advantage)) * ROUNDED_DOWN
    log_x = -half + math.log((2.0 + half) / 4.0)
    return (math.log1p(-math.exp(log_x)) - log_x) * ROUNDED_DOWN
