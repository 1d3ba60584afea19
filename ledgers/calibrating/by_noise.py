"""Starting point for the search of ε within a ledger: the noise that fits is found first, then the ε with that noise.

A calibration may be expensive, for example if every trial noise needs its own lattices. If the run depends on ε only
through its noise, the ledger is tried with other noise in the first run, without a calibration for each. Then the ε
whose calibration has that noise is found in a few calibrations. The result is a starting point, and is tried like any
other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.specs import Spec
from epsilond.calibrators.parameter_search import crossing
from epsilond.calibrators.search import LEAST, MOST
from epsilond.ledgers.mathematics.nearest import map_noise, noise_of

NEAR = 2e-6
"""Tolerance of the search, as a difference of log noise; the answer's noise exceeds the noise that fits by at most
this.
"""
DIPS, DIP_WIDTH = (2e-3, 1e-3), 2e-5
"""Steps of log noise below a reserved value, at which the ledger is tried again, and the tolerance of the least value.
"""
MOST_RUNS = 6
"""Largest number of calibrations; if they do not come near, the search starts elsewhere."""
LIKELY_SLOPE = 1.0
"""Assumed slope of log noise against −log ε before two calibrations are known."""
T = TypeVar("T")
_STEEPEST, _FLATTEST = 10.0, 0.1
_ENDS = (math.log(LEAST), math.log(MOST))


def near_strictness(
    run: Callable[[float], Spec | None],
    excess: Callable[[Spec], float],
    least: Callable[[Callable[[float], T | None], float], tuple[float, T] | None],
    reserve: Callable[[Spec], T | None],
    start: float,
) -> float | None:
    """Find the strictness of a run that fits the remaining budget with about the least noise.

    The strictness of a run is −log ε, where ε is the target that the run is calibrated for. The search varies only the
    noise of the first run, which is quick, and then finds the strictness that gives this noise.

    Args:
        run: returns the run, as a spec, at a strictness; None if no noise meets that target.
        excess: returns by how much a spec exceeds the remaining budget.
        least: finds the smallest value near a start at which a reservation is accepted, with the reservation.
        reserve: returns the reservation of a spec; None if it is rejected.
        start: strictness at which the search starts.

    Returns:
        The strictness, or None if this search fails.
    """
    first = run(start)
    noise = None if first is None else noise_of(first)
    if first is None or noise is None:
        return None

    def at(log_noise: float) -> Spec:
        return map_noise(first, lambda _: math.exp(log_noise))

    try:
        estimate = crossing(lambda log_noise: excess(at(log_noise)), math.log(noise), _ENDS, NEAR)
        best = None if estimate is None else least(lambda log_noise: reserve(at(log_noise)), estimate)
        wanted = None if best is None else _below_dips(lambda log_noise: reserve(at(log_noise)), best[0])
    except NoCertificate:
        return None
    return None if wanted is None else _strictness_of(wanted, run, first, start)


def _below_dips(reserve: Callable[[float], object | None], reserved: float) -> float:
    """Return the least log noise near an accepted value that is accepted, too.

    The search is needed because the price of a run is not exactly monotone in its noise.

    Args:
        reserve: returns the reservation at a log noise; None if it is rejected.
        reserved: log noise that is accepted.
    """
    lowest = reserved
    while (lower := next((lowest - dip for dip in DIPS if reserve(lowest - dip) is not None), None)) is not None:
        lowest = lower
    refused = lowest - DIPS[-1]
    while lowest < reserved and lowest - refused > DIP_WIDTH:
        middle = 0.5 * (refused + lowest)
        refused, lowest = (middle, lowest) if reserve(middle) is None else (refused, middle)
    return lowest


def _strictness_of(wanted: float, run: Callable[[float], Spec | None], first: Spec, start: float) -> float | None:
    """Find the strictness −log ε at which the log of a run's noise is `wanted` or slightly more, by the secant method.

    Args:
        wanted: log of the noise multiplier.
        run: returns the run at a strictness; None if no noise meets that target.
        first: run at `start`. Other runs must differ from it only in the noise.
        start: strictness at which the search starts.

    Returns:
        The strictness. None if the search does not converge, or if a run differs in more than its noise.
    """
    here, slope, before = start, LIKELY_SLOPE, None
    for _ in range(MOST_RUNS):
        spec = run(here)
        noise = None if spec is None else noise_of(spec)
        if spec is None or noise is None or map_noise(spec, lambda _: 1.0) != map_noise(first, lambda _: 1.0):
            return None
        value = math.log(noise)
        if 0.0 <= value - wanted <= NEAR:
            return here
        if before is not None and before[0] != here:
            slope = min(max((value - before[1]) / (here - before[0]), _FLATTEST), _STEEPEST)
        before = here, value
        here += (wanted + 0.5 * NEAR - value) / slope
    return None
