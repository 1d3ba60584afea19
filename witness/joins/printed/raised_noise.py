"""The noise of Das et al. with more levels: their decay rate, and enough levels for the target to be certified.

The printed noise has too few levels: an output that is impossible for the neighbouring update (an escape) is more
probable than δ. The decay rate comes from the paper's composition of rounds. Half of δ is reserved for escapes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.numerics.truncated_laplace import least_levels
from epsilond.accountants.theorems.papers.das.composed_rounds import (
    THEOREM_2,
    InverseInputs,
    RunInputs,
    equation_22,
)
from epsilond.calibrators.norm_fedavg.problem import NormFedavgProblem
from epsilond.calibrators.qtdl.family import IntegerRelease

ANSWERS_KEPT = 64
"""Number of answers that are kept, for the simulations of an experiment that repeat a problem."""
LEVEL_DIVISOR = 1000
"""Inverse of the relative tolerance of the number of levels."""
ESCAPE_SHARE = 0.5
"""Share of δ that is reserved for escapes from the common support; the composition gets the same share."""
MOST_DOUBLINGS = 20
"""Numbers of levels, each double the one before, that are tried before the search gives up."""


@functools.lru_cache(maxsize=ANSWERS_KEPT)
def raise_printed_noise(calibrator_problem: NormFedavgProblem) -> tuple[int, float] | None:
    """Return truncated discrete Laplace noise with the decay rate of Das et al. and enough levels to meet a target.

    The noise takes the integers y from −m to m with probability proportional to e^(−α|y|). Equation 22 and Theorem 2 of
    the paper give α from ε and half of δ. The other half is for outputs that only one of two neighbours can have. The
    number m of levels is close to the least that is certified.

    Args:
        calibrator_problem: the request for the calibrator.

    Returns:
        (m, α). None if clients are subsampled in secret, because the paper has no such case. Also None if δ is too
        small for a double, or if no number of levels is certified.
    """
    target = calibrator_problem.target
    if target.delta is None or calibrator_problem.rate < 1.0:
        return None

    composition_delta = ESCAPE_SHARE * target.delta
    composed = equation_22(InverseInputs(composed_epsilon=target.epsilon, delta=composition_delta))
    inputs = RunInputs(
        epsilon=float(composed["epsilon"]),
        delta=composition_delta,
        rounds=calibrator_problem.rounds,
        clients=calibrator_problem.clients,
        participants=calibrator_problem.reporting,
        dimension=calibrator_problem.dimension,
    )

    # A message changes by at most `movement.l1`, so α times this distance is the ε of one round.
    round_epsilon = float(THEOREM_2.evaluate(inputs).outputs["round_epsilon"])
    decay_rate = round_epsilon / calibrator_problem.movement.l1
    levels = _least_certified_levels(calibrator_problem, decay_rate)
    if levels is None:
        return None
    return levels, decay_rate


def _least_certified_levels(calibrator_problem: NormFedavgProblem, decay_rate: float) -> int | None:
    """Return nearly the least number of levels with which noise of a given decay rate is certified to meet the target.

    The number of levels is the number of values of the truncated discrete Laplace noise on each side of 0. With too few
    of them, outputs that only one of two neighbours can have are more probable than δ. The search starts at the least
    number without this fault.

    Args:
        calibrator_problem: the request for the calibrator, with the target.
        decay_rate: decay rate α of the noise.

    Returns:
        A certified number of levels. It exceeds a number that is not certified by at most 0.1 %, or by 1. None if none
        of `MOST_DOUBLINGS` numbers, each double the one before, is certified.
    """
    release = IntegerRelease(problem=calibrator_problem, movement=calibrator_problem.movement)
    target = calibrator_problem.target

    def is_certified(levels: int) -> bool:
        """Return whether noise with this number of levels is certified to meet the target."""
        try:
            curve = release.guarantee(release.noise(decay_rate, levels)).curve
        except NoCertificate:
            return False
        log_delta = curve.bound_log_delta(target.epsilon)
        return log_delta.upper <= target.log_delta

    start = max(least_levels(decay_rate, release.parts, target.log_delta), 1)
    return _search_levels(is_certified, start)


def _search_levels(is_certified: Callable[[int], bool], start: int) -> int | None:
    """Search for the least certified number of levels, by doubling and then by bisection.

    Args:
        is_certified: whether a number of levels is certified. Numbers above a certified one are assumed to be so, too.
        start: first number to try, at least 1.

    Returns:
        A certified number that exceeds one that is not certified by at most 1/`LEVEL_DIVISOR` of itself, or by 1. None
        if none of `MOST_DOUBLINGS` numbers, each double the one before, is certified.
    """
    lower, upper = start - 1, start
    doublings = 0
    while not is_certified(upper):
        doublings += 1
        if doublings == MOST_DOUBLINGS:
            return None
        lower, upper = upper, 2 * upper

    # Bisect between `lower`, which is not certified, and `upper`, which is.
    while upper - lower > max(1, upper // LEVEL_DIVISOR):
        middle = (lower + upper) // 2
        if is_certified(middle):
            upper = middle
        else:
            lower = middle
    return upper
