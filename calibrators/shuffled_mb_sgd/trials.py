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
    """The logarithm of a noise, and `CertifiedTrial.miss` of a quick upper bound there."""

    log_noise: float
    miss: float


def slope_between(first: CertifiedTrial | CoarseTrial, second: CertifiedTrial | CoarseTrial) -> float:
    """Return the slope of the line through two trials, at least as steep as `LEAST_STEEPNESS`."""
    if first.log_noise == second.log_noise:
        return -STEEPNESS
    return min((second.miss - first.miss) / (second.log_noise - first.log_noise), -LEAST_STEEPNESS)


def parabola_root(trials: Sequence[CoarseTrial]) -> float:
    """Return the log noise at which the target is just met, by quadratic interpolation through three trials.

    Log noise is interpolated as a function of the miss, the relative excess of log δ over the target's, which is then
    0.

    Args:
        trials: three trials with distinct values of `miss`.
    """
    root = 0.0
    for trial in trials:
        other_misses = [rival.miss for rival in trials if rival.miss != trial.miss]
        root += trial.log_noise * math.prod(-miss / (trial.miss - miss) for miss in other_misses)
    return root
