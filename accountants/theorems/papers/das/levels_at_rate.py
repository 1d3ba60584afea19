"""The least truncated discrete Laplace noise for a target at a given decay rate α, by the exact curve.

For α ≤ ε/⌊Δ₁⌋ only the probability of an escape counts, and the least m is exact at any δ. For a larger α some loss
inside the common support exceeds ε. Then m is computed by bisection on the upper bound of the exact composition over
coordinates: m is certified and m − 1 is not. A smaller m that is valid is not excluded. The calibrator `qtdl` searches
for the rate with the fewest levels.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.kinds.integers.truncated_discrete_laplace import Shift, largest_shift, shifted_pair
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.numerics.truncated_laplace import least_levels, log_escape, variance
from epsilond.accountants.quantities import DECAY_RATE, NOISE_LEVELS, Dimension, Epsilon, GivenLogDelta, delta_outputs
from epsilond.accountants.quantities.mechanisms import L1_SENSITIVITY, LINF_SENSITIVITY
from epsilond.accountants.specs import TruncatedDiscreteLaplace
from epsilond.accountants.structure import ANY_INTEGERS
from epsilond.accountants.theorem import Condition, Outputs, Sides, Source, Status, Theorem

GIVEN_RATE = replace(DECAY_RATE, gt=None, ge=1e-30)
"""Decay rate α, at least 1e-30; with a smaller rate the noise is uniform at every allowed number of levels."""
_ESCAPE_MARGIN = 60.0
"""Margin below log δ [nat]; if an escape is less likely than e^−60 δ, more levels do not change δ(ε) of the noise."""
_MOST_LEVELS = int(NOISE_LEVELS.le or 0)
"""Largest number of noise levels that a request may have."""


def _worst_shift(dimension: int, l1_sensitivity: float, linf_sensitivity: float) -> Shift:
    """Return the difference of two integer vectors on neighbouring data for which δ is largest.

    The difference is within the ℓ1 and ℓ∞ sensitivities. These bound distances of integer vectors, so their integer
    parts are used.

    Args:
        dimension: number of coordinates, at least 1.
        l1_sensitivity: ℓ1 sensitivity, in grid steps.
        linf_sensitivity: ℓ∞ sensitivity, in grid steps.

    Returns:
        The difference, as numbers of coordinates with the sizes by which they differ.
    """
    return largest_shift(dimension=dimension, l1=math.floor(l1_sensitivity), linf=math.floor(linf_sensitivity))


@formula(given="A decay rate, the distances of the integers on neighbouring data, and the target.")
def levels(
    *,
    epsilon: Epsilon,
    log_delta: GivenLogDelta,
    decay_rate: Annotated[float, GIVEN_RATE],
    dimension: Dimension,
    l1_sensitivity: Annotated[float, L1_SENSITIVITY],
    linf_sensitivity: Annotated[float, LINF_SENSITIVITY],
) -> Outputs:
    """Compute the least truncation m of discrete Laplace noise on −m, …, m that meets a target (ε, δ).

    Args:
        epsilon: ε of the target.
        log_delta: natural logarithm of δ.
        decay_rate: decay α of P(Y = y) ∝ e^(−α|y|), per grid step.
        dimension: coordinates of the vector of integers.
        l1_sensitivity: ℓ1 sensitivity Δ₁, in grid steps.
        linf_sensitivity: ℓ∞ sensitivity Δ∞, in grid steps.

    Returns:
        `noise_levels`: m, or "unbounded" if no allowed m is sufficient; variance and δ are then absent.
        `variance`: variance of the noise, in squared grid steps.
        `delta`: an upper bound on δ at m.
        `escapes_alone`: True if no finite privacy loss exceeds ε. δ is then the probability of an escape, that is, of
            an output that is impossible for the neighbour, and m is exactly the least. Otherwise a smaller m is not
            excluded.
    """
    shift = _worst_shift(dimension, l1_sensitivity, linf_sensitivity)
    largest_finite_loss = Fraction(decay_rate) * shift.total
    escapes_decide = largest_finite_loss <= Fraction(epsilon)

    @functools.cache
    def log_delta_at(count: int) -> float:
        """Return an upper bound on the natural logarithm of δ at ε, if the largest value of the noise is `count`."""
        if escapes_decide:
            return math.nextafter(float(log_escape(decay_rate, count, shift.parts).upper), math.inf)
        spec = TruncatedDiscreteLaplace(
            noise_levels=count,
            decay_rate=decay_rate,
            dimension=dimension,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
        )
        return shifted_pair(spec, shift, "coarse").log_delta_bounds(epsilon).upper

    # With fewer levels, an output escapes with a probability above δ.
    fewest = max(least_levels(decay_rate, shift.parts, log_delta), 1)
    least: int | None
    if escapes_decide:
        least = fewest
    else:
        # With more levels, an escape is too unlikely to matter, and δ does not decrease further.
        most = least_levels(decay_rate, shift.parts, log_delta - _ESCAPE_MARGIN)
        least = _bisect_levels(log_delta_at, log_delta, fewest, most)

    if least is None or least > _MOST_LEVELS:
        return {"noise_levels": "unbounded", "escapes_alone": escapes_decide}
    return {
        "noise_levels": least,
        "variance": variance(decay_rate, least),
        **delta_outputs(min(log_delta_at(least), 0.0)),
        "escapes_alone": escapes_decide,
    }


def _bisect_levels(log_delta_at: Callable[[int], float], target: float, low: int, high: int) -> int | None:
    """Find by bisection a number m of noise levels that meets a target δ, while m − 1 does not.

    If δ decreases in the number of levels, m is the least number.

    Args:
        log_delta_at: upper bound on log δ as a function of the number of levels.
        target: log δ of the target.
        low: smallest number of levels.
        high: largest number of levels; it is reduced to the largest allowed number.

    Returns:
        The number of levels, which is `low` if that meets the target. None if `high` does not meet the target, or if
        `low` is above all allowed numbers.
    """
    if low > _MOST_LEVELS:
        return None
    high = min(max(low, high), _MOST_LEVELS)
    if log_delta_at(low) <= target:
        return low
    if log_delta_at(high) > target:
        return None
    return bisect_integers(lambda levels: log_delta_at(levels) > target, low, high) + 1


LEVELS = Theorem(
    id="epsilond.levels-at-decay-rate",
    title="The least levels of truncated discrete Laplace noise at a given decay rate",
    statement=(
        "At the decay rate α the result is the least number m of noise levels for which δ(ε) is at most δ. If "
        "α⌊Δ₁⌋ ≤ ε for the ℓ1 sensitivity Δ₁, m is exact, by the probability of an escape from the common "
        "support. For a larger α the exact curve of the worst shift certifies m and does not certify m − 1."
    ),
    source=Source("epsilond", "docs/shifted-noise.md, One axis is worst, and Outputs that escape"),
    status=Status.PROVED,
    conditions=(
        ANY_INTEGERS,
        Condition(
            "escapes-alone",
            "the decay rate α times the ℓ1 norm of the worst integer shift is at most ε, so "
            "that m is exactly the least",
            lambda inputs: Sides.at_most(
                inputs.decay_rate
                * _worst_shift(inputs.dimension, inputs.l1_sensitivity, inputs.linf_sensitivity).total,
                inputs.epsilon,
            ),
        ),
    ),
    formula=levels,
    examples=(
        {
            "epsilon": 0.5,
            "delta": 1e-6,
            "decay_rate": 0.015625,
            "dimension": 4,
            "l1_sensitivity": 32.0,
            "linf_sensitivity": 8.0,
        },
        {
            "epsilon": 0.3,
            "delta": 1e-6,
            "decay_rate": 5.078125e-05,
            "dimension": 100,
            "l1_sensitivity": 12800.0,
            "linf_sensitivity": 128.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEVELS,)
