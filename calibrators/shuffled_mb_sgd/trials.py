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
    """A trial of a search for the smallest noise: the certified upper bound on δ at one noise.

    Attributes:
        step: the natural logarithm of the noise, in multiples of `STEP`.
        miss: excess of the bound on log δ over the target's log δ, relative to the absolute value of the latter. It is
            at most 0 if the target is met.
        guarantee: the guarantee to which the bound belongs.
    """

    step: int
    miss: float
    guarantee: Guarantee

    @property
    def log_noise(self) -> float:
        """The natural logarithm of the noise."""
        return log_noise_at(self.step)


class CoarseTrial(NamedTuple):
    """A trial of a search for the smallest noise with a quick upper bound on δ.

    Attributes:
        log_noise: natural logarithm of the noise.
        miss: excess of the bound on log δ over the target's log δ, relative to the absolute value of the latter. It is
            at most 0 if the target is met.
    """

    log_noise: float
    miss: float


def slope_between(first: CertifiedTrial | CoarseTrial, second: CertifiedTrial | CoarseTrial) -> float:
    """Return the slope of the line through two trials, at least as steep as `LEAST_STEEPNESS`.

    Args:
        first: a trial, with its log noise and its miss, the relative excess of log δ over the target's.
        second: another trial.

    Returns:
        The change of the miss per unit of log noise, below 0; a typical value if both trials have the same noise.
    """
    if first.log_noise == second.log_noise:
        return -STEEPNESS
    slope = (second.miss - first.miss) / (second.log_noise - first.log_noise)
    return min(slope, -LEAST_STEEPNESS)


def parabola_root(trials: Sequence[CoarseTrial]) -> float:
    """Return the log noise at which the target is just met, by quadratic interpolation through three trials.

    Log noise is interpolated as a function of the miss, the relative excess of log δ over the target's, and evaluated
    at 0. By Lagrange's formula, the log noise of a trial with miss m₀ has as weight the product of −m/(m₀ − m) over the
    misses m of the two other trials.

    Args:
        trials: three trials with distinct values of `miss`.

    Returns:
        The interpolated log noise, natural logarithm.
    """
    root = 0.0
    for trial in trials:
        other_misses = [other.miss for other in trials if other.miss != trial.miss]
        weight = math.prod(-miss / (trial.miss - miss) for miss in other_misses)
        root += trial.log_noise * weight
    return root
