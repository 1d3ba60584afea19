"""Trials of a search for the smallest noise, and interpolation between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.calibrators.search import LEAST, MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.guarantee import Guarantee

STEP = 9.5e-4
"""Step of log noise, less than the slack. Answers are integer multiples, so they do not depend on the start."""
STEEPNESS, LEAST_STEEPNESS = 4.5, 0.05
"""Relative decrease of log δ per unit of log noise: typical, as shuffling hides noisier reports better; and least."""


def log_noise_at(step: int) -> float:
    """Return the logarithm of the noise at a multiple of `STEP`, limited to the noise that is offered."""
    return min(max(step * STEP, math.log(LEAST)), math.log(MOST))


LOWEST, HIGHEST = math.floor(math.log(LEAST) / STEP), math.ceil(math.log(MOST) / STEP)
"""Smallest and largest log noise on offer, in steps."""


class CertifiedTrial(NamedTuple):
    """The evaluation of one bound on δ at one noise, in a search.

    Attributes:
        step: the logarithm of the noise, in multiples of `STEP`.
        miss: excess of the upper bound on log δ over the target's log δ, relative to the size of the latter. It is at
            most 0 if the target is met.
        guarantee: the guarantee that the bound is part of.
    """

    step: int
    miss: float
    guarantee: Guarantee

    @property
    def log_noise(self) -> float:
        """The logarithm of the noise."""
        return log_noise_at(self.step)


class CoarseTrial(NamedTuple):
    """The evaluation of a quick upper bound on δ at one noise.

    Attributes:
        log_noise: natural logarithm of the noise.
        miss: relative excess of log δ over the target's, as in `CertifiedTrial`.
    """

    log_noise: float
    miss: float


def slope_between(first: CertifiedTrial | CoarseTrial, second: CertifiedTrial | CoarseTrial) -> float:
    """Return the slope of the line through two trials, at least as steep as `LEAST_STEEPNESS`.

    Args:
        first: a trial, with its log noise and its miss (relative excess of log δ over the target's).
        second: another trial.

    Returns:
        The derivative of the miss with respect to log noise, below 0. A typical value if both have the same noise.
    """
    if first.log_noise == second.log_noise:
        return -STEEPNESS
    slope = (second.miss - first.miss) / (second.log_noise - first.log_noise)
    return min(slope, -LEAST_STEEPNESS)


def parabola_root(trials: Sequence[CoarseTrial]) -> float:
    """Return the log noise at which the target is just met, by quadratic interpolation through three trials.

    Log noise is interpolated as a function of the miss, the relative excess of log δ over the target's. At the root the
    miss is 0. The formula is that of Lagrange: each log noise is weighted by the product of −m/(m₀ − m) over the other
    two misses m, for its own miss m₀.

    Args:
        trials: three trials with distinct values of `miss`.

    Returns:
        The interpolated log noise, natural logarithm.
    """
    root = 0.0
    for trial in trials:
        rival_misses = [rival.miss for rival in trials if rival.miss != trial.miss]
        weight = math.prod(-miss / (trial.miss - miss) for miss in rival_misses)
        root += trial.log_noise * weight
    return root
