"""Nearest jobs that still fit in a slot where a job does not: the largest count and the smallest noise multiplier.

The search uses the same charges as a reservation, so that every answer can be reserved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from epsilond.accountants.errors import NoCertificate
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.gaussian import eta_of
from epsilond.ledgers.mathematics.charges.request import ChargeRequest
from epsilond.ledgers.mathematics.mixture import may_go_on
from epsilond.ledgers.mathematics.residue import composed_cost, exact, quick_cost

if TYPE_CHECKING:
    from epsilond.ledgers.mathematics.state import Slot


class DataclassInstance(Protocol):
    """An instance of a data class."""

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]


Noisy = TypeVar("Noisy", bound=DataclassInstance)
_NOISE = ("noise_multiplier", "scale_multiplier")
"""Members of specs that hold a noise multiplier."""
_MOST_TRIALS = 12
"""Largest number of charges computed for each answer, each of which may take a fraction of a second."""
_MOST_COMPOSED_TRIALS = 3
"""Largest number of charges by composition, which prices a large job better than the sum of its steps."""
_LARGEST_FACTOR = 1e4
"""Largest factor by which the noise multiplier is raised."""
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
    """Find jobs close to a rejected one that its budget can pay: with fewer runs, or with as many and more noise.

    Args:
        request: the job, which costs more than the slot has left.
        slot: the part of the privacy budget that would pay.

    Returns:
        The members `largest_count` and `smallest_noise_multiplier`. Each is left out if no such number was found.
    """
    fits: dict[str, float] = {}
    count = largest_count(request, slot)
    if count:
        rounded = float(count)
        if int(rounded) > count:  # a count beyond 2^53 may be rounded up
            rounded = math.nextafter(rounded, 0.0)
        fits["largest_count"] = rounded
    noise = smallest_noise(request, slot)
    if noise is not None:
        fits["smallest_noise_multiplier"] = noise
    return fits


def largest_count(request: ChargeRequest, slot: Slot) -> int:
    """Find a number of runs, close to the largest, that the slot can still pay for.

    Args:
        request: the job; its number of runs is the most that is searched for.
        slot: the part of the privacy budget that pays.

    Returns:
        A number of runs that fits, usually within a few runs or one percent of the largest; 0 if none was found.
    """
    if not _is_charged_whole(request, slot):
        return _largest_fit(lambda count: _fits(replace(request, count=count), slot), request.count)
    stepwise_count = _largest_stepwise_count(request, slot)
    return _raise_count(request, slot, stepwise_count)


def _largest_stepwise_count(request: ChargeRequest, slot: Slot) -> int:
    """Find nearly the largest number of runs that fit a privacy budget in μ², by the sum of the prices of single runs.

    Such a price bounds the cost of one run. Composing all runs may be cheaper, but takes longer.

    Args:
        request: the job; its number of runs is the most that is searched for.
        slot: the Gaussian slot that pays.

    Returns:
        A number of runs that fits, usually within one percent of the largest; 0 if none was found.
    """
    largest_fit, smallest_misfit = 0, request.count + 1
    count = request.count
    for _ in range(_MOST_TRIALS):
        cost_share = _stepwise_share(replace(request, count=count), slot)
        if cost_share <= 1.0:
            largest_fit = count
        else:
            smallest_misfit = count
        is_close = _CLOSE_SHARE < cost_share <= 1.0
        if is_close or smallest_misfit - largest_fit <= 1 + largest_fit // 100:
            break
        count = _next_count(largest_fit, smallest_misfit, count, cost_share)
    return largest_fit


def _next_count(largest_fit: int, smallest_misfit: int, count: int, cost_share: float) -> int:
    """Return the number of runs to try next: in proportion to the last cost, or between the known bounds.

    Args:
        largest_fit: largest number that is known to fit; 0 if none is.
        smallest_misfit: smallest number that is known not to fit.
        count: number that was tried last.
        cost_share: cost of `count` runs, as a share of the free amount; math.inf if it is not known.
    """
    proportional = int(count * (_AIMED_SHARE / cost_share)) if 0.0 < cost_share < math.inf else 0
    if largest_fit < proportional < smallest_misfit:
        return proportional
    geometric_mean = math.isqrt(largest_fit * smallest_misfit)
    if largest_fit == 0:  # the geometric mean is 0 then, so the upper bound is divided by 16 instead
        return max(smallest_misfit // 16, 1)
    return max(geometric_mean, largest_fit + 1)


def _raise_count(request: ChargeRequest, slot: Slot, stepwise_count: int) -> int:
    """Raise a number of runs as far as the budget allows if all runs are composed and charged together.

    The composition costs less than the sum of the single runs, but is slower to compute.

    Args:
        request: the job. The result is at most its count.
        slot: the slot that pays.
        stepwise_count: number of runs that fits if they are charged one after another. The result is at least this.
    """
    largest_fit, smallest_misfit = stepwise_count, request.count + 1
    count = max(stepwise_count, 1)
    for _ in range(_MOST_COMPOSED_TRIALS):
        cost_share = _composed_share(replace(request, count=count), slot)
        if cost_share is None:
            return largest_fit
        if cost_share <= 1.0:
            largest_fit = max(largest_fit, count)
            estimate = int(count * (_AIMED_SHARE / cost_share))
        else:
            smallest_misfit = min(smallest_misfit, count)
            estimate = math.isqrt(largest_fit * count)
        if not largest_fit < estimate < smallest_misfit:
            return largest_fit
        count = estimate
    return largest_fit


def smallest_noise(request: ChargeRequest, slot: Slot) -> float | None:
    """Find a noise multiplier, usually within two percent of the smallest, with which the slot can pay for the job.

    Args:
        request: the job with its present noise multiplier.
        slot: the part of the privacy budget that pays.

    Returns:
        The noise multiplier. None if the search fails, or if the spec has no single noise multiplier.
    """
    present_noise = noise_of(request.spec)
    if present_noise is None:
        return None
    if not _is_charged_whole(request, slot):
        return _smallest_fit(lambda noise: _fits(_with_noise(request, noise), slot), present_noise)
    stepwise_noise = _smallest_stepwise_noise(request, slot, present_noise)
    if stepwise_noise is None:
        return None
    return _lower_noise(request, slot, present_noise, stepwise_noise)


def _smallest_stepwise_noise(request: ChargeRequest, slot: Slot, present_noise: float) -> float | None:
    """Find about the smallest noise multiplier at which a budget can pay for a job, if each run is priced by itself.

    Args:
        request: the job. Its noise multiplier is replaced.
        slot: the slot that pays.
        present_noise: noise multiplier of the job, with which the search begins.

    Returns:
        The noise multiplier. None if none was found within about `_LARGEST_FACTOR` times the present one.
    """
    too_small, large_enough = present_noise, math.inf
    noise = present_noise
    for _ in range(_MOST_TRIALS):
        cost_share = _stepwise_share(_with_noise(request, noise), slot)
        if cost_share <= 1.0:
            large_enough = min(large_enough, noise)
        else:
            too_small = max(too_small, noise)
        is_close = _CLOSE_SHARE < cost_share <= 1.0 or large_enough <= _NOISE_TOLERANCE * too_small
        if is_close or noise > _LARGEST_FACTOR * present_noise:
            break
        noise = _next_noise(too_small, large_enough, noise, cost_share)
    return None if math.isinf(large_enough) else large_enough


def _next_noise(too_small: float, large_enough: float, noise: float, cost_share: float) -> float:
    """Return the noise multiplier to try next in a search for the smallest one that a budget can pay.

    A cost is nearly proportional to 1/noise², so that few trials are needed.

    Args:
        too_small: largest noise multiplier that is known not to fit.
        large_enough: smallest noise multiplier that is known to fit; math.inf if none is.
        noise: noise multiplier that was tried last.
        cost_share: its cost, as a share of the free amount; math.inf if it is not known.
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

    Args:
        request: the job. Its noise multiplier is replaced.
        slot: the slot that pays.
        present_noise: noise multiplier of the job, which does not fit.
        stepwise_noise: noise multiplier that fits if the runs are charged one after another; the result is no larger.
    """
    too_small, large_enough = present_noise, stepwise_noise
    noise = stepwise_noise
    for _ in range(_MOST_COMPOSED_TRIALS):
        cost_share = _composed_share(_with_noise(request, noise), slot)
        if cost_share is None:
            return large_enough
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


def _is_charged_whole(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether the job is not Gaussian and a Gaussian slot pays, so that the job is charged as a whole."""
    return slot.kind == "gdp" and request.one.gaussian_dp_mu is None


def _stepwise_share(request: ChargeRequest, slot: Slot) -> float:
    """Return the cost of a job, its runs priced one by one, as a fraction of the free part of a budget in μ².

    Returns:
        The fraction cost / free μ². A value of at most 1 certifies that the job fits. A larger value is an estimate, or
        math.inf if none is available.
    """
    eta = eta_of(request, slot)
    free = float(slot.free("mu_squared"))
    if free <= 0.0 or eta > slot.free("eta"):
        return math.inf
    cost = quick_cost(request.parts, remaining=slot.remainder("mu_squared"), eta=eta)
    if cost.certified is None:
        is_far_above = 2.0 * free < cost.estimate < math.inf
        return cost.estimate / free if is_far_above else math.inf
    share = float(cost.certified) / free
    if cost.certified > slot.free("mu_squared"):
        return max(share, 1.0 + 1e-9)  # the division may round the share of a cost that does not fit down to 1
    return share


def _composed_share(request: ChargeRequest, slot: Slot) -> float | None:
    """Return the certified cost of a job, all runs composed, as a fraction of the free part of a budget in μ².

    Returns:
        The fraction cost / free μ² if it is at most 1. math.inf if the cost exceeds the free μ², or if no cost is
        certified. None if no μ² is free, if the budget has less η (an added δ) free than the job takes, or if the
        composition is too much work.
    """
    eta = eta_of(request, slot)
    free, remaining = slot.free("mu_squared"), slot.remainder("mu_squared")
    if free <= 0 or eta > slot.free("eta") or not exact(request.parts, eta):
        return None
    cost = composed_cost(request.parts, remaining=remaining, eta=eta)
    if cost is None or cost > free:
        return math.inf
    return float(cost) / float(free)


def _fits(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether a slot, a part of the privacy budget, can pay for a job; False if no cost of the job is proved."""
    try:
        price = charge(request, slot)
    except NoCertificate:
        return False
    if slot.kind == "rdp" and len(slot.orders) > 1:
        return may_go_on(slot, price.parts)
    return all(amount <= slot.free(part) for part, amount in price.parts.items())


def _largest_fit(fits: Callable[[int], bool], most: int) -> int:
    """Find nearly the largest number of runs that a budget can pay, by bisection in at most `_MOST_TRIALS` trials.

    Args:
        fits: function that returns whether a given number of runs fits. If it does, every smaller number must fit.
        most: largest number that is tried.

    Returns:
        The number; 0 if none was found to fit.
    """
    low, high = 0, most
    for _ in range(_MOST_TRIALS):
        if high - low <= low // 200:
            break
        middle = (low + high + 1) // 2 if low else max(1, high // 4)  # small numbers first, which are cheap to price
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _smallest_fit(fits: Callable[[float], bool], present_noise: float) -> float | None:
    """Find a noise multiplier at which a budget can pay for a job, within one percent of the smallest, by bisection.

    Args:
        fits: function that returns whether the job with a given noise multiplier fits.
        present_noise: noise multiplier of the job, with which the search begins.

    Returns:
        The noise multiplier. None if it would be more than `_LARGEST_FACTOR` times the present one.
    """
    low, high = present_noise, present_noise
    while not fits(high):
        low, high = high, 2.0 * high
        if high > _LARGEST_FACTOR * present_noise:
            return None
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        if fits(middle):
            high = middle
        else:
            low = middle
    return high


def noise_of(spec: DataclassInstance) -> float | None:
    """Return the only noise multiplier in a spec, or None if there are none or several."""
    noises = _noises(spec)
    return noises[0] if len(noises) == 1 else None


def _noises(spec: DataclassInstance) -> list[float]:
    """Return all noise multipliers in a spec and in the specs that it contains."""
    noises: list[float] = []
    for member in fields(spec):
        value = getattr(spec, member.name)
        if member.name in _NOISE:
            noises.append(float(value))
            continue
        for contained in value if isinstance(value, tuple) else (value,):
            if is_dataclass(contained) and not isinstance(contained, type):
                noises += _noises(contained)
    return noises


def map_noise(spec: Noisy, noise: Callable[[float], float]) -> Noisy:
    """Return a copy of a mechanism's description in which every noise multiplier is replaced, at any depth.

    Args:
        spec: the description, which may contain others.
        noise: function from the present noise multiplier to the new one.
    """
    changed: dict[str, object] = {}
    for member in fields(spec):
        value = getattr(spec, member.name)
        is_list_of_specs = isinstance(value, tuple) and any(is_dataclass(contained) for contained in value)
        if member.name in _NOISE:
            changed[member.name] = noise(float(value))
        elif is_list_of_specs:
            changed[member.name] = tuple(map_noise(contained, noise) for contained in value)
        elif is_dataclass(value) and not isinstance(value, type):
            changed[member.name] = map_noise(value, noise)
    return replace(spec, **changed) if changed else spec


def _with_noise(request: ChargeRequest, noise: float) -> ChargeRequest:
    """Return the request with another noise multiplier in its spec."""
    return replace(request, spec=map_noise(request.spec, lambda _: noise))
