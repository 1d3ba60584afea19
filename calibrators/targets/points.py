"""Targets of risk for algorithms that decide δ at single values of ε.

An advantage of at most a is δ(0) ≤ a. A true positive rate of at most β at the false positive rate α is implied by
δ(ε) ≤ β − e^ε α at any one ε ≥ 0. If α + β > 1, (α, β) is replaced by (1 − β, 1 − α): the curve bounds both directions,
so both conditions are equivalent. The noise is searched for one ε after another, until the ε is the best one for its
curve.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from epsilond.accountants.attackers.aimed_tests import gaussian_threshold, largest_log_delta
from epsilond.accountants.quantities import TargetedProblem
from epsilond.accountants.target import RiskTarget
from epsilond.calibrators.solution import Solution
from epsilond.calibrators.targets.certified import at_certified_epsilon, certified_target, without_risk

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.json_types import Fields

Targeted = TypeVar("Targeted", bound=TargetedProblem)
SolutionT = TypeVar("SolutionT", bound=Solution[TargetedProblem])

_MOST_POINTS = 6
"""Largest number of values of ε that are tried."""
_SETTLED = 2e-6
"""Relative decrease of the bound on the true positive rate below which the search for ε ends."""
_SIDE, _NARROWEST = 0.5, 1e-3
"""First and last step of the search for ε, as a fraction of ε."""


def find_at_points(problem: Targeted, find: Callable[[Targeted], SolutionT]) -> SolutionT:
    """Calibrate for an attacker's advantage or true positive rate, by calibrations at suitable (ε, δ).

    An attacker tests which of two neighbouring data sets was used. Its advantage is at most a if and only if δ(0) ≤ a.
    The true positive rate is bounded by β, at the false positive rate α, if δ(ε) ≤ β − e^ε α at one ε ≥ 0. The ε that
    needs about the least noise is searched.

    Args:
        problem: the request, with a risk as its target.
        find: function that returns the solution of a request with a target (ε, δ).

    Returns:
        The solution. Its target has the ε that is certified at the requested δ.

    Guarantees: the certified curve meets δ(ε) ≤ δ at an (ε, δ) that implies the risk.
    """
    risk = problem.risk
    assert risk is not None  # the caller has checked it
    if risk.kind == "advantage":
        # δ(0) is at most the advantage. The next smaller double covers the rounding of the logarithm.
        log_delta = math.nextafter(math.log(risk.bound), -math.inf)
        solution = find(_at_point(problem, 0.0, log_delta))
    else:
        solution = _find_for_rates(problem, _left_of_diagonal(risk), find)
    target = certified_target(_widest_guarantee(solution), problem.target)
    return replace(solution, problem=at_certified_epsilon(problem, target), target=target)


def _widest_guarantee(solution: Solution[TargetedProblem]) -> Guarantee:
    """Return the guarantee of a solution for all ε; if it has none, the one that was certified for its target."""
    return solution.certified.full_guarantee or solution.certified.guarantee


def _left_of_diagonal(risk: RiskTarget) -> RiskTarget:
    """Return the risk, or the equivalent one with both rates reflected if they add up to more than 1.

    A true positive rate of β at the false positive rate α becomes 1 − α at 1 − β. Both are equivalent, because the
    curve bounds both directions of two neighbouring data sets.

    Args:
        risk: a bound β on the true positive rate at the false positive rate α.

    Returns:
        A risk with α + β ≤ 1.
    """
    if risk.bound + risk.false_positive_rate <= 1.0:
        return risk
    return replace(risk, bound=1.0 - risk.false_positive_rate, false_positive_rate=1.0 - risk.bound)


def _at_point(problem: Targeted, epsilon: float, log_delta: float) -> Targeted:
    """Return the request with a target (ε, δ) in place of its risk.

    Args:
        problem: the request, with a risk as its target.
        epsilon: the ε, at least 0.
        log_delta: natural logarithm of δ.

    Returns:
        A copy of the request with ε and log₁₀ δ, rounded down, and without the risk.
    """
    log10_delta = math.nextafter(log_delta / math.log(10.0), -math.inf)
    pair: Fields = {"epsilon": epsilon, "delta": None, "log10_delta": log10_delta}
    return replace(problem, **pair, **without_risk(problem))


def _find_for_rates(problem: Targeted, risk: RiskTarget, find: Callable[[Targeted], SolutionT]) -> SolutionT:
    """Calibrate for a true positive rate, at the ε that needs about the least noise.

    Each trial finds the noise at one ε. The next ε is the one at which the curve of that noise gives the least bound on
    the true positive rate. The search ends when a new ε improves this bound by less than a relative `_SETTLED`.

    Args:
        problem: the request, with the risk as its target.
        risk: the true positive rate. It and the false positive rate add up to at most 1.
        find: function that returns the solution of a request with a target (ε, δ).

    Returns:
        The solution of the last trial, which implies the requested rate.
    """
    epsilon = max(gaussian_threshold(risk), 0.0)
    most_epsilon = math.log(risk.bound / risk.false_positive_rate)  # here e^ε α is the requested rate
    solution: SolutionT | None = None
    for _ in range(_MOST_POINTS):
        solution = find(_at_point(problem, epsilon, largest_log_delta(risk, epsilon)))
        rate_bound = functools.partial(_rate_bound, _widest_guarantee(solution).curve, risk.false_positive_rate)
        better = _minimise_by_steps(rate_bound, epsilon, most_epsilon)
        if rate_bound(better) >= rate_bound(epsilon) * (1.0 - _SETTLED):
            break
        epsilon = better
    assert solution is not None  # there is at least one trial
    return solution


def _rate_bound(curve: Curve, false_positive_rate: float, epsilon: float) -> float:
    """Return the bound e^ε α + δ(ε) on the true positive rate at the false positive rate α.

    Args:
        curve: the privacy curve δ(ε), of which the upper bound is used.
        false_positive_rate: the rate α, in (0, 1).
        epsilon: the ε by which the rate is bounded, at least 0.

    Returns:
        The bound, which exceeds 1 if it says nothing.
    """
    return math.exp(epsilon) * false_positive_rate + math.exp(curve.upper_log_delta(epsilon))


def _minimise_by_steps(bound: Callable[[float], float], start: float, most: float) -> float:
    """Minimise a function on [0, `most`) approximately, by a pattern search.

    Both arguments at the distance of the step from the best one are tried. The step is halved if neither is better.

    Args:
        bound: the function, convex in the exponential of its argument.
        start: initial argument, at least 0.
        most: limit of the arguments.

    Returns:
        The argument of the least value that was evaluated.
    """
    best = start
    least = bound(start)
    # Steps are relative to the argument. The limits `0.1 * most` and 1e-3 replace an argument near 0.
    step = _SIDE * max(start, 0.1 * most)
    while step > _NARROWEST * max(best, 1e-3):
        neighbours = [argument for argument in (best - step, best + step) if 0.0 <= argument < most]
        values = {argument: bound(argument) for argument in neighbours}
        candidate = min(values, key=values.__getitem__, default=best)
        if values.get(candidate, math.inf) < least:
            best = candidate
            least = values[candidate]
        else:
            step *= 0.5
    return best
