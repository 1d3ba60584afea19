"""Search for the smallest noise in few trials. Each is certified, so the last two give the answer and its proof."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.errors import Infeasible
from epsilond.accountants.estimates.bounds import alternatives, likely_least
from epsilond.accountants.estimates.noise import central_mu
from epsilond.accountants.estimates.trails import TrailPoint
from epsilond.calibrators.search import LEAST, MOST, Certified
from epsilond.calibrators.shuffled_mb_sgd.bound_search import BoundSearch

if TYPE_CHECKING:
    from epsilond.accountants.estimates.trails import Trail
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import Target
    from epsilond.calibrators.search import Family


def smallest_noise_in_few_trials(
    family: Family, target: Target, *, guess: float, trail: Trail | None = None
) -> Certified:
    """Find the smallest noise that meets the target, up to a thousandth.

    A finer search would not converge: if the noise changes by a relative 1e-4, the bound on δ need not change in the
    right direction. If the guarantee is the least of several bounds, the search uses one of them at a time. It starts
    with the one that is probably the least, and continues with each bound that may need less noise than the result so
    far.

    Args:
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ).
        guess: initial estimate of the noise.
        trail: results of earlier searches for the same mechanism, from which the initial estimate is made. The result
            of this search is added. None if there was no earlier search.

    Returns:
        The noise with its guarantee. `slack` is 1e-3 if a noise that is smaller by a relative 1e-3 at most provably
        misses the target, and None otherwise.

    Guarantees: the upper bound on δ at the target ε is at most the target δ, by evaluation.

    Raises:
        Infeasible: even the largest noise of the search misses the target.
    """
    log_mu = math.log(central_mu(target))
    recent = trail.likely(log_mu) if trail else None
    if recent:
        first = BoundSearch(family, target, recent.way)
        first.settle(recent)
    else:
        start = math.log(min(max(guess, LEAST), MOST))
        coarse_curve = family(math.exp(start), "coarse").curve
        first = BoundSearch(family, target, likely_least(coarse_curve, target.epsilon))
        first.settle(first.likely(start))

    best = _search_by_other_bounds(first, family, target)
    if trail:
        trail.add(TrailPoint(log_mu, best.answer.log_noise, best.slope, best.bound_index))
    return best.certify()


def _search_by_other_bounds(first: BoundSearch, family: Family, target: Target) -> BoundSearch:
    """Search again with each other bound on δ that may need less noise, and return the search with the least noise.

    The guarantee is the least of several bounds, and a search evaluates only one of them. A rival is another bound that
    may meet the target at less noise than the best search so far.

    Args:
        first: the finished search with the first bound.
        family: function that returns the guarantee at a noise.
        target: the target (ε, δ).

    Returns:
        The finished search with the least noise, which may be `first`.
    """
    best = first
    searched = {first.bound_index}
    rival = best.rival(searched)
    while rival is not None:
        searched.add(rival)
        search = BoundSearch(family, target, rival)
        # A rival by itself may miss the target at every noise.
        with contextlib.suppress(Infeasible):
            search.settle(search.likely(best.answer.log_noise))
            if search.answer.step < best.answer.step:
                best = search
        rival = best.rival(searched)
    return best


def select_likely_least(guarantee: Guarantee, epsilon: float) -> Guarantee:
    """Reduce a guarantee to one of its several upper bounds on δ, the one that is probably the least at ε.

    The result is valid, because each of the bounds is. It is looser if the estimate of the least bound is wrong.

    Args:
        guarantee: a guarantee with the minimum of several bounds as its upper bound on δ.
        epsilon: ε at which the bounds are compared.

    Returns:
        A copy of the guarantee with this upper bound.
    """
    curve = guarantee.curve
    selected = alternatives(curve)[likely_least(curve, epsilon)]
    return replace(guarantee, curve=replace(curve, upper=selected.upper))
