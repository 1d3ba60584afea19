"""Nearest jobs that still fit in a slot where a job does not: the largest count and the smallest noise multiplier.

The search uses the same charges as a reservation, so that every answer can be reserved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.errors import NoCertificate
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.gaussian import eta_of
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.checks.composition import is_quick_to_compose
from epsilond.ledgers.mathematics.mixture import may_go_on
from epsilond.ledgers.mathematics.residue import composed_cost, quick_cost
from epsilond.ledgers.mathematics.searches.bisection import LARGEST_FACTOR, MOST_TRIALS, largest_fit, smallest_fit
from epsilond.ledgers.mathematics.searches.noise_multipliers import map_noise, noise_of

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.state import Slot

_MOST_COMPOSED_TRIALS = 3
"""Largest number of charges by composition, which prices a large job better than the sum of its steps."""
_CLOSE_SHARE = 0.98
"""Cost, as a share of the free amount, from which on a search ends. A closer answer would take further charges."""
_AIMED_SHARE = 0.995
"""Cost, as a share of the free amount, at which the next trial aims; below 1, so that it usually fits."""
_NOISE_TOLERANCE, _COMPOSED_TOLERANCE = 1.02, 1.005
"""Ratios of two noise multipliers that a search does not distinguish: by the steps' prices, and by composition."""
_NOISE_MARGIN = 1.004
"""Factor on an estimate of the noise multiplier, so that the next trial fits rather than fails."""
_LEAST_SHARE = 1e-3
"""Smallest cost, as a share of the free amount, from which a noise multiplier is extrapolated."""


def nearest_fits(request: ChargeRequest, slot: Slot) -> Mapping[str, float]:
    """Search for runs that a privacy budget can pay for and that are similar to rejected ones.

    They are fewer runs, or runs with more noise. The search uses the charges that a reservation would make, so that
    such runs can be reserved.

    Args:
        request: the requested runs, which cost more than the slot has left.
        slot: the part of the privacy budget that would pay.

    Returns:
        The members `largest_count` and `smallest_noise_multiplier`. Each is left out if the search fails.
    """
    fits: dict[str, float] = {}
    count = largest_count(request, slot)
    if count:
        count_as_double = float(count)
        if int(count_as_double) > count:  # a count above 2^53 may be rounded up
            count_as_double = math.nextafter(count_as_double, 0.0)
        fits["largest_count"] = count_as_double
    noise = smallest_noise(request, slot)
    if noise is not None:
        fits["smallest_noise_multiplier"] = noise
    return fits


def largest_count(request: ChargeRequest, slot: Slot) -> int:
    """Search for the largest number of runs that a part of a privacy budget can pay for.

    Args:
        request: the requested runs. Their number is an upper limit of the search.
        slot: the part of the privacy budget that pays.

    Returns:
        A number of runs that fits, usually within a few runs or one percent of the largest; 0 if the search fails.
    """
    if not _is_charged_together(request, slot):

        def fits_with(count: int) -> bool:
            """Return whether the slot can pay for this number of runs."""
            return _fits(replace(request, count=count), slot)

        return largest_fit(fits_with, request.count)
    # A quick search by prices of single runs is followed by a more exact one by composition.
    stepwise_count = _largest_stepwise_count(request, slot)
    return _raise_count(request, slot, stepwise_count)


def _largest_stepwise_count(request: ChargeRequest, slot: Slot) -> int:
    """Search for the largest number of runs that fit a budget in μ² if each run is priced by itself.

    The price of a run is a certified bound on its cost. Composing all runs may be cheaper, but takes longer. The search
    keeps a bracket, and predicts the next trial from the cost of the last one.

    Args:
        request: the requested runs. Their number is an upper limit of the search.
        slot: the Gaussian slot that pays, a privacy budget in μ².

    Returns:
        A number of runs that fits, usually within one percent of the largest; 0 if the search fails.
    """
    most_that_fit = 0
    fewest_that_do_not = request.count + 1
    count = request.count
    for _ in range(MOST_TRIALS):
        cost_share = _stepwise_share(replace(request, count=count), slot)
        if cost_share <= 1.0:
            most_that_fit = count
        else:
            fewest_that_do_not = count

        uses_nearly_all = _CLOSE_SHARE < cost_share <= 1.0
        is_narrow = fewest_that_do_not - most_that_fit <= 1 + most_that_fit // 100
        if uses_nearly_all or is_narrow:
            break
        count = _next_count(most_that_fit, fewest_that_do_not, count, cost_share)
    return most_that_fit


def _next_count(most_that_fit: int, fewest_that_do_not: int, count: int, cost_share: float) -> int:
    """Return the number of runs to try next in a search for the largest number that a budget can pay for.

    A cost is nearly proportional to the number of runs. If the proportional number is outside the bracket, or if the
    last cost is not known, the geometric mean of the bracket is tried.

    Args:
        most_that_fit: largest number that is known to fit; 0 if none is.
        fewest_that_do_not: smallest number that is known not to fit.
        count: number that was tried last.
        cost_share: cost of `count` runs, as a share of the free amount; math.inf if it is not known.

    Returns:
        A number of at least 1.
    """
    if 0.0 < cost_share < math.inf:
        proportional = int(count * (_AIMED_SHARE / cost_share))
        if most_that_fit < proportional < fewest_that_do_not:
            return proportional
    if most_that_fit == 0:  # the geometric mean would be 0, so try far fewer runs
        return max(fewest_that_do_not // 16, 1)
    geometric_mean = math.isqrt(most_that_fit * fewest_that_do_not)
    return max(geometric_mean, most_that_fit + 1)


def _raise_count(request: ChargeRequest, slot: Slot, stepwise_count: int) -> int:
    """Raise a number of runs as far as the budget allows if all runs are composed and charged together.

    The composition costs less than the sum of the single runs, but is slower to compute. At most
    `_MOST_COMPOSED_TRIALS` numbers are therefore tried.

    Args:
        request: the requested runs. Their number is not exceeded.
        slot: the Gaussian slot that pays, a privacy budget in μ².
        stepwise_count: number of runs that fits if they are charged one after another; 0 if none is known.

    Returns:
        A number of runs that fits, at least `stepwise_count`.
    """
    most_that_fit = stepwise_count
    fewest_that_do_not = request.count + 1
    count = max(stepwise_count, 1)
    for _ in range(_MOST_COMPOSED_TRIALS):
        cost_share = _composed_share(replace(request, count=count), slot)
        if cost_share is None:
            return most_that_fit
        # The next trial assumes a cost in proportion to the number of runs.
        if cost_share <= 1.0:
            most_that_fit = max(most_that_fit, count)
            estimate = int(count * (_AIMED_SHARE / cost_share))
        else:
            fewest_that_do_not = min(fewest_that_do_not, count)
            estimate = math.isqrt(most_that_fit * count)
        if not most_that_fit < estimate < fewest_that_do_not:
            return most_that_fit
        count = estimate
    return most_that_fit


def smallest_noise(request: ChargeRequest, slot: Slot) -> float | None:
    """Search for the smallest noise multiplier with which the cost of some runs fits into a part of a privacy budget.

    Args:
        request: the requested runs with their present noise multiplier.
        slot: this part of the privacy budget, for example an amount of ε and δ.

    Returns:
        The noise multiplier; None if the search fails, or if the mechanism has none or several.
    """
    present_noise = noise_of(request.spec)
    if present_noise is None:
        return None
    if not _is_charged_together(request, slot):

        def fits_with(noise: float) -> bool:
            """Return whether the cost of the runs with this noise multiplier fits."""
            return _fits(_with_noise(request, noise), slot)

        return smallest_fit(fits_with, present_noise)
    # Adding up costs of single runs is quick. Composing all runs is slower, and gives a lower noise.
    stepwise_noise = _smallest_stepwise_noise(request, slot, present_noise)
    if stepwise_noise is None:
        return None
    return _lower_noise(request, slot, present_noise, stepwise_noise)


def _smallest_stepwise_noise(request: ChargeRequest, slot: Slot, present_noise: float) -> float | None:
    """Search for the smallest noise multiplier with which runs fit a budget in μ² if each run is priced by itself.

    The search keeps a bracket, and predicts the next trial from the cost of the last one. A larger noise multiplier
    costs less.

    Args:
        request: the requested runs. Their noise multiplier is replaced.
        slot: the Gaussian slot that pays, a privacy budget in μ².
        present_noise: present noise multiplier, with which the search begins.

    Returns:
        The noise multiplier; None if the search fails up to about `LARGEST_FACTOR` times the present one.
    """
    too_small = present_noise
    large_enough = math.inf
    noise = present_noise
    for _ in range(MOST_TRIALS):
        cost_share = _stepwise_share(_with_noise(request, noise), slot)
        if cost_share <= 1.0:
            large_enough = min(large_enough, noise)
        else:
            too_small = max(too_small, noise)

        uses_nearly_all = _CLOSE_SHARE < cost_share <= 1.0
        is_narrow = large_enough <= _NOISE_TOLERANCE * too_small
        if uses_nearly_all or is_narrow or noise > LARGEST_FACTOR * present_noise:
            break
        noise = _next_noise(too_small, large_enough, noise, cost_share)
    if math.isinf(large_enough):
        return None
    return large_enough


def _next_noise(too_small: float, large_enough: float, noise: float, cost_share: float) -> float:
    """Return the noise multiplier to try next in a search for the smallest one with which runs fit a budget.

    A cost is nearly proportional to 1/noise², which predicts the next trial. If the prediction is outside the bracket,
    the geometric mean is tried, or twice the lower bound if that is smaller.

    Args:
        too_small: largest noise multiplier that is known not to fit.
        large_enough: smallest noise multiplier that is known to fit; math.inf if none is.
        noise: noise multiplier that was tried last.
        cost_share: its cost, as a share of the free amount; math.inf if it is not known.

    Returns:
        The noise multiplier of the next trial.
    """
    estimate = 2.0 * noise
    if not math.isinf(cost_share):
        estimate = noise * max(cost_share, _LEAST_SHARE) ** 0.5 * _NOISE_MARGIN
    if too_small < estimate < large_enough:
        return estimate
    geometric_mean: float = (too_small * large_enough) ** 0.5  # infinite while no noise is known to fit
    return min(geometric_mean, 2.0 * too_small)


def _lower_noise(request: ChargeRequest, slot: Slot, present_noise: float, stepwise_noise: float) -> float:
    """Lower a noise multiplier as far as the budget allows if all runs are composed and charged together.

    The composition costs less than the sum of the single runs, but is slower to compute. At most
    `_MOST_COMPOSED_TRIALS` multipliers are therefore tried.

    Args:
        request: the requested runs. Their noise multiplier is replaced.
        slot: the Gaussian slot that pays, a privacy budget in μ².
        present_noise: present noise multiplier, with which the runs do not fit.
        stepwise_noise: noise multiplier that fits if the runs are charged one after another.

    Returns:
        A noise multiplier that fits, at most `stepwise_noise`.
    """
    too_small = present_noise
    large_enough = stepwise_noise
    noise = stepwise_noise
    for _ in range(_MOST_COMPOSED_TRIALS):
        cost_share = _composed_share(_with_noise(request, noise), slot)
        if cost_share is None:
            return large_enough
        # The next trial assumes a cost in proportion to 1/noise².
        if cost_share <= 1.0:
            large_enough = min(large_enough, noise)
            estimate = noise * (cost_share / _CLOSE_SHARE) ** 0.5
        else:
            too_small = max(too_small, noise)
            estimate = (too_small * large_enough) ** 0.5
        if not too_small < estimate < large_enough / _COMPOSED_TOLERANCE:
            return large_enough
        noise = estimate
    return large_enough


def _is_charged_together(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether all runs of a request have one charge, which is not the sum of charges of single runs.

    This is so if a Gaussian slot, a privacy budget in μ², pays for a mechanism that is not Gaussian.

    Args:
        request: the requested runs.
        slot: the part of the privacy budget that pays.
    """
    return slot.kind == "gdp" and request.one.gaussian_dp_mu is None


def _stepwise_share(request: ChargeRequest, slot: Slot) -> float:
    """Return the sum of the costs of single runs, as a fraction of what is free of a privacy budget in μ².

    μ is the parameter of Gaussian differential privacy.

    Args:
        request: the requested runs.
        slot: the budget, which allows the δ(ε) of N(μ, 1) against N(0, 1), and η in addition.

    Returns:
        The fraction cost / free μ². A value of at most 1 certifies that the runs fit. A larger value only guides a
        search for more noise: it may be an estimate, or math.inf if there is none.
    """
    eta = eta_of(request, slot)
    free = float(slot.free("mu_squared"))
    if free <= 0.0 or eta > slot.free("eta"):
        return math.inf
    cost = quick_cost(request.parts, remaining=slot.remainder("mu_squared"), eta=eta)
    if cost.certified is None:
        # The estimate is rough. It is used only if it is far above the free amount.
        is_far_above = 2.0 * free < cost.estimate < math.inf
        if not is_far_above:
            return math.inf
        return cost.estimate / free
    share = float(cost.certified) / free
    if cost.certified > slot.free("mu_squared"):
        return max(share, 1.0 + 1e-9)  # the division may round the share down to 1, but the runs do not fit
    return share


def _composed_share(request: ChargeRequest, slot: Slot) -> float | None:
    """Return the cost of runs that are composed and charged together, as a fraction of the free μ² of a slot.

    Args:
        request: the requested runs.
        slot: the privacy budget that pays. It has amounts of μ² of Gaussian differential privacy, and of η, a δ in
            addition to that of the Gaussian.

    Returns:
        The fraction if the runs can be paid for, and math.inf if they cannot. None if nothing was computed, because no
        μ² or too little η is free, or because the composition is too much work.
    """
    eta = eta_of(request, slot)
    free = slot.free("mu_squared")
    remaining = slot.remainder("mu_squared")
    if free <= 0 or eta > slot.free("eta") or not is_quick_to_compose(request.parts, eta):
        return None
    cost = composed_cost(request.parts, remaining=remaining, eta=eta)
    if cost is None or cost > free:
        return math.inf
    return float(cost) / float(free)


def _fits(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether a slot, a part of a ledger's privacy budget, can pay for some runs.

    The price is the certified charge of a reservation, so that runs that fit can be reserved.

    Args:
        request: the requested runs of one mechanism.
        slot: the slot that would pay.

    Returns:
        True if every amount of the charge is free. Several Rényi orders are compared together by their weighted mean.
        False also if no charge is proved.
    """
    try:
        price = charge(request, slot)
    except NoCertificate:
        return False
    if slot.kind == "rdp" and len(slot.orders) > 1:
        return may_go_on(slot, price.parts)
    return all(amount <= slot.free(part) for part, amount in price.parts.items())


def _with_noise(request: ChargeRequest, noise: float) -> ChargeRequest:
    """Return a copy of a request in which every noise multiplier of the mechanism is replaced.

    Args:
        request: the requested runs.
        noise: the new noise multiplier.
    """
    return replace(request, spec=map_noise(request.spec, lambda _: noise))
