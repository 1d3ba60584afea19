"""Starting point for the search of ε within a ledger: first the noise that fits is found, then the ε with that noise.

A calibration may be expensive, for example if every trial noise needs its own discretised loss distribution. If the run
depends on ε only through its noise, the ledger is tried with other noise in the first run, without a calibration for
each. Then the ε that needs that noise is found in a few calibrations. The result is a starting point, and is
tried like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.specs import Spec
from epsilond.calibrators.parameter_search import crossing
from epsilond.calibrators.search import LEAST, MOST
from epsilond.ledgers.mathematics.searches.noise_multipliers import map_noise, noise_of

NEAR = 2e-6
"""Tolerance of the search, as a difference of log noise. The answer has at most this more than the noise that fits.
"""
STEPS_DOWN = (2e-3, 1e-3)
"""Steps of log noise below an accepted value, at which the ledger is tried again."""
STEP_TOLERANCE = 2e-5
"""Tolerance of the least accepted log noise."""
MOST_RUNS = 6
"""Largest number of calibrations; if they do not reach the noise, there is no starting point."""
FIRST_SLOPE = 1.0
"""Assumed slope of log noise against −log ε before two calibrations are known."""
T = TypeVar("T")
_STEEPEST, _FLATTEST = 10.0, 0.1
"""Largest and smallest slope of log noise against −log ε, so that an inexact noise causes no extreme step."""
_LOG_NOISE_RANGE = (math.log(LEAST), math.log(MOST))
"""Range of the log of the noise multiplier in the search."""


def near_strictness(
    run_at: Callable[[float], Spec | None],
    excess: Callable[[Spec], float],
    least: Callable[[Callable[[float], T | None], float], tuple[float, T] | None],
    reserve: Callable[[Spec], T | None],
    start: float,
) -> float | None:
    """Find nearly the largest ε for which a calibrated run fits the rest of a privacy budget, and return −log ε.

    A calibrator maps a target ε to a run with the least noise for it. −log ε is called the strictness, because a larger
    value requires more noise. A calibration for each trial ε may be slow. So the search first varies only the noise of
    one run until the run fits. Then it finds the strictness that gives this noise.

    Args:
        run_at: returns the run, as a spec, at a strictness; None if no noise meets that target.
        excess: returns by how much a spec exceeds the remaining budget; at most 0 if it fits.
        least: finds the smallest value near a start at which a reservation is accepted. It returns the value with the
            reservation, or None.
        reserve: returns the reservation of a spec; None if it is rejected.
        start: strictness at which the search starts.

    Returns:
        The strictness. None if the search fails, or if the run is not determined by one noise multiplier.
    """
    first = run_at(start)
    first_noise = None if first is None else noise_of(first)
    if first is None or first_noise is None:
        return None

    def excess_at(log_noise: float) -> float:
        """Return the excess of the first run with another noise multiplier, given by its logarithm."""
        return excess(map_noise(first, lambda _: math.exp(log_noise)))

    def reserve_at(log_noise: float) -> T | None:
        """Return the reservation of the first run with another noise multiplier; None if it is rejected."""
        return reserve(map_noise(first, lambda _: math.exp(log_noise)))

    try:
        # The zero of the excess is an estimate of the noise at which the run just fits. The ledger itself then decides.
        estimate = crossing(excess_at, math.log(first_noise), _LOG_NOISE_RANGE, NEAR)
        if estimate is None:
            return None
        accepted = least(reserve_at, estimate)
        if accepted is None:
            return None
        accepted_log_noise, _ = accepted
        log_noise = _lowest_accepted(reserve_at, accepted_log_noise)
    except NoCertificate:
        return None
    return _strictness_of(log_noise, run_at, first, start)


def _lowest_accepted(reserve_at: Callable[[float], object | None], accepted: float) -> float:
    """Return the least log noise near an accepted value at which a ledger still accepts the run.

    The cost of a run is not exactly monotone in its noise, so less noise may be accepted too. The search takes steps
    down while one of them is accepted, and then bisects the smallest step below.

    Args:
        reserve_at: returns the reservation at a log noise; None if it is rejected.
        accepted: log noise that is accepted.

    Returns:
        The natural logarithm of the noise multiplier.
    """
    lowest = accepted
    lower = _step_down(reserve_at, lowest)
    while lower is not None:
        lowest = lower
        lower = _step_down(reserve_at, lowest)
    if lowest == accepted:
        return accepted

    # The smallest step below the lowest accepted value was rejected: bisect it.
    _, smallest_step = STEPS_DOWN
    rejected = lowest - smallest_step
    while lowest - rejected > STEP_TOLERANCE:
        middle = 0.5 * (rejected + lowest)
        if reserve_at(middle) is None:
            rejected = middle
        else:
            lowest = middle
    return lowest


def _step_down(reserve_at: Callable[[float], object | None], log_noise: float) -> float | None:
    """Return the log noise after one step down at which a ledger still accepts the run.

    Each of `STEPS_DOWN` is tried, the largest first.

    Args:
        reserve_at: returns the reservation at a log noise; None if it is rejected.
        log_noise: log of the noise multiplier from which the step is taken.

    Returns:
        The lower log noise; None if the ledger rejects every step.
    """
    for step in STEPS_DOWN:
        lower = log_noise - step
        if reserve_at(lower) is not None:
            return lower
    return None


def _strictness_of(log_noise: float, run_at: Callable[[float], Spec | None], first: Spec, start: float) -> float | None:
    """Find the target ε at which a calibration gives the requested noise or slightly more, by the secant method.

    The search works with the strictness −log ε. A larger strictness requires more noise. The slope of the secant is
    that of the log of the noise multiplier against the strictness.

    Args:
        log_noise: log of the requested noise multiplier.
        run_at: returns the run at a strictness; None if no noise meets that target.
        first: specification of the run at `start`. Those of other runs must differ from it only in the noise.
        start: strictness at which the search starts.

    Returns:
        The strictness. None if the search does not converge, or if a run differs in more than its noise.
    """
    strictness = start
    slope = FIRST_SLOPE
    # Values of the previous run.
    last_strictness = math.nan
    last_log_noise = math.nan
    for _ in range(MOST_RUNS):
        spec = run_at(strictness)
        noise = None if spec is None else noise_of(spec)
        if spec is None or noise is None or not _differ_in_noise_only(spec, first):
            return None
        own_log_noise = math.log(noise)
        is_near = 0.0 <= own_log_noise - log_noise <= NEAR
        if is_near:
            return strictness

        has_two_runs = not math.isnan(last_strictness)
        if has_two_runs and last_strictness != strictness:
            secant_slope = (own_log_noise - last_log_noise) / (strictness - last_strictness)
            slope = min(max(secant_slope, _FLATTEST), _STEEPEST)
        last_strictness = strictness
        last_log_noise = own_log_noise
        wanted_log_noise = log_noise + 0.5 * NEAR  # the middle of the accepted range
        strictness += (wanted_log_noise - own_log_noise) / slope
    return None


def _differ_in_noise_only(spec: Spec, first: Spec) -> bool:
    """Return whether two mechanisms are equal, except for their noise multipliers.

    Args:
        spec: description of a mechanism.
        first: description of the other mechanism.
    """
    return map_noise(spec, lambda _: 1.0) == map_noise(first, lambda _: 1.0)
