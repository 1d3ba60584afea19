"""Bisections for the largest number of runs and the smallest noise multiplier that a privacy budget can pay for."""

from __future__ import annotations

from collections.abc import Callable

MOST_TRIALS = 12
"""Largest number of charges computed for each answer, each of which may take a fraction of a second."""
LARGEST_FACTOR = 1e4
"""Largest factor by which the noise multiplier is raised."""


def largest_fit(fits: Callable[[int], bool], most: int) -> int:
    """Search for the largest number of runs that a privacy budget can pay for, by bisection.

    The search ends when the number is known within 1/200, or after `MOST_TRIALS` trials. While no number is known to
    fit, a quarter of the upper bound is tried, because small numbers are cheap to price.

    Args:
        fits: function that returns whether a given number of runs fits. If it does, every smaller number must fit.
        most: largest number that is tried, at least 0.

    Returns:
        A number for which `fits` returned True; 0 if there was none.
    """
    largest_known_fit = 0
    upper_bound = most
    for _ in range(MOST_TRIALS):
        if upper_bound - largest_known_fit <= largest_known_fit // 200:
            break
        trial = max(1, upper_bound // 4)
        if largest_known_fit > 0:
            trial = (largest_known_fit + upper_bound + 1) // 2
        if fits(trial):
            largest_known_fit = trial
        else:
            upper_bound = trial - 1
    return largest_known_fit


def smallest_fit(fits: Callable[[float], bool], present_noise: float) -> float | None:
    """Search for the smallest noise multiplier at which a privacy budget can pay for some runs, within one percent.

    The multiplier is doubled until the runs fit. Bisection of its logarithm then narrows the bracket.

    Args:
        fits: function that returns whether the runs fit with a given noise multiplier. If they do, they must fit with
            every larger one.
        present_noise: noise multiplier at which the search begins, above 0.

    Returns:
        A noise multiplier for which `fits` returned True; `present_noise` if the runs fit with it. None if no tried
        multiplier, up to `LARGEST_FACTOR` times the present one, fits.
    """
    too_small = present_noise
    large_enough = present_noise
    while not fits(large_enough):
        too_small = large_enough
        large_enough = 2.0 * large_enough
        if large_enough > LARGEST_FACTOR * present_noise:
            return None
    while large_enough > 1.01 * too_small:
        geometric_mean = (too_small * large_enough) ** 0.5
        if fits(geometric_mean):
            large_enough = geometric_mean
        else:
            too_small = geometric_mean
    return large_enough
