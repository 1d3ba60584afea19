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
_LOOKS = 12
"""Largest number of charges computed for each answer, each of which may take a fraction of a second."""
_COMPOSED_LOOKS = 3
"""Largest number of charges by composition, which prices a large job better than the sum of its steps."""
_LOUDEST = 1e4
"""Largest factor by which the noise multiplier is raised."""
_NEAR, _CLOSE = 0.98, 0.995
"""Prices, as shares of the free amount: one from which on a search ends, and the one that the next trial aims at."""
_NOISE_TOLERANCE, _COMPOSED_TOLERANCE = 1.02, 1.005
"""Ratios of two noise multipliers that a search does not distinguish: by the steps' prices, and by composition."""
_NOISE_MARGIN = 1.004
"""Factor on an estimate of the noise multiplier, so that the next trial fits rather than fails."""
_LEAST_SHARE = 1e-3
"""Smallest price, as a share of the free amount, from which a noise multiplier is extrapolated."""


def nearest_fits(request: ChargeRequest, slot: Slot) -> Mapping[str, float]:
    """Return the largest count of this mechanism and the smallest noise multiplier for this count that fit in the slot.

    Returns:
        The members `largest_count` and `smallest_noise_multiplier`. Each is left out if no such number was found.
    """
    fits: dict[str, float] = {}
    count = largest_count(request, slot)
    if count:
        rounded = float(count)  # beyond 2^53 it is rounded, and not upward
        fits["largest_count"] = rounded if int(rounded) <= count else math.nextafter(rounded, 0.0)
    if (noise := smallest_noise(request, slot)) is not None:
        fits["smallest_noise_multiplier"] = noise
    return fits


def largest_count(request: ChargeRequest, slot: Slot) -> int:
    """Find about the largest number of runs that the slot can still pay for, at most the requested number.

    Returns:
        A number of runs that fits, within a few runs or about one percent of the largest; 0 if none was found.
    """
    if not _is_charged_whole(request, slot):
        return int(_largest_fit(lambda count: _fits(_with_count(request, count), slot), request.count))
    low, high = 0, request.count + 1
    count = request.count
    for _ in range(_LOOKS):
        share = _price(_with_count(request, count), slot)
        if share <= 1.0:
            low = count
        else:
            high = count
        if _NEAR < share <= 1.0 or high - low <= 1 + low // 100:
            break
        count = _next_count(low, high, count, share)
    return _raise_count(request, slot, low)


def _next_count(low: int, high: int, count: int, share: float) -> int:
    """Return the number of runs to try next: in proportion to the last price, or between the known bounds.

    Args:
        low: largest number that is known to fit; 0 if none is.
        high: smallest number that is known not to fit.
        count: number that was tried last.
        share: price of `count` runs, as a share of the free amount; math.inf if it is not known.
    """
    proportional = int(count * (_CLOSE / share)) if 0.0 < share < math.inf else 0
    if low < proportional < high:
        return proportional
    geometric_mean = math.isqrt(low * high)
    if low == 0:  # the geometric mean would be 0, so the upper bound is divided instead
        return max(geometric_mean, high // 16, 1)
    return max(geometric_mean, low + 1)


def _raise_count(request: ChargeRequest, slot: Slot, fits: int) -> int:
    """Raise a number of runs as far as it fits if all runs are composed and priced together.

    The price of the composition is smaller than the sum of the prices of single steps, but slower to compute.

    Args:
        request: the job. The result is at most its count.
        slot: the slot that pays.
        fits: number of runs that fits by the sum of the prices of its steps. The result is at least this number.
    """
    low, high = fits, request.count + 1
    count = max(fits, 1)
    for _ in range(_COMPOSED_LOOKS):
        share = _composed_price(_with_count(request, count), slot)
        if share is None:
            return low
        if share <= 1.0:
            low = max(low, count)
            estimate = int(count * (_CLOSE / share))
        else:
            high = min(high, count)
            estimate = math.isqrt(low * count)
        if not low < estimate < high:
            return low
        count = estimate
    return low


def _composed_price(request: ChargeRequest, slot: Slot) -> float | None:
    """Return the certified cost of all runs together, divided by what is free in the slot.

    Returns:
        The price, at most 1; math.inf if the job costs more than is free. None if nothing is free, or if the
        composition is too much work.
    """
    eta = eta_of(replace(request, eta=None), slot)
    free, remaining = slot.free("mu_squared"), slot.remainder("mu_squared")
    if free <= 0 or not exact(request.parts, eta):
        return None
    cost = composed_cost(request.parts, remaining=remaining, eta=eta)
    if cost is None or cost > free:
        return math.inf
    return float(cost) / float(free)


def smallest_noise(request: ChargeRequest, slot: Slot) -> float | None:
    """Find a noise multiplier with which the job fits, about one percent above the smallest.

    The search needs few prices, because a price is nearly proportional to 1/noise².

    Returns:
        The noise multiplier. None if the search fails, or if the spec has no single noise multiplier.
    """
    present = noise_of(request.spec)
    if present is None:
        return None
    if not _is_charged_whole(request, slot):
        return _smallest_fit(lambda noise: _fits(_with_noise(request, noise), slot), present)
    low, high = present, math.inf
    noise = present
    for _ in range(_LOOKS):
        share = _price(_with_noise(request, noise), slot)
        if share <= 1.0:
            high = min(high, noise)
        else:
            low = max(low, noise)
        if _NEAR < share <= 1.0 or high <= _NOISE_TOLERANCE * low or noise > _LOUDEST * present:
            break
        estimate = 2.0 * noise
        if share < math.inf:
            estimate = noise * max(share, _LEAST_SHARE) ** 0.5 * _NOISE_MARGIN
        noise = estimate if low < estimate < high else min((low * high) ** 0.5, 2.0 * low)
    if math.isinf(high):
        return None
    return _lower_noise(request, slot, present, high)


def _lower_noise(request: ChargeRequest, slot: Slot, present: float, fits: float) -> float:
    """Lower a noise multiplier as far as it fits if all runs are composed and priced together.

    Args:
        request: the job. Its noise multiplier is replaced.
        slot: the slot that pays.
        present: noise multiplier of the job, which does not fit.
        fits: noise multiplier that fits by the sum of the prices of the steps. The result is at most this number.
    """
    low, high = present, fits
    noise = fits
    for _ in range(_COMPOSED_LOOKS):
        share = _composed_price(_with_noise(request, noise), slot)
        if share is None:
            return high
        if share <= 1.0:
            high = min(high, noise)
            estimate = noise * (share / _NEAR) ** 0.5
        else:
            low = max(low, noise)
            estimate = (low * high) ** 0.5
        if not low < estimate < high / _COMPOSED_TOLERANCE:
            return high
        noise = estimate
    return high


def _smallest_fit(fits: Callable[[float], bool], present: float) -> float | None:
    """Return a noise multiplier that fits, within a hundredth of the smallest.

    Args:
        fits: function that returns whether the job with a given noise multiplier fits.
        present: noise multiplier of the job, with which the search begins.

    Returns:
        The noise multiplier. None if it would be more than `_LOUDEST` times the present one.
    """
    low, high = present, present
    while not fits(high):
        low, high = high, 2.0 * high
        if high > _LOUDEST * present:
            return None
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _with_count(request: ChargeRequest, count: float) -> ChargeRequest:
    """Return the request with another count."""
    return replace(request, count=int(count), _known=request._known)  # noqa: SLF001


def noise_of(spec: DataclassInstance) -> float | None:
    """Return the only noise multiplier in a spec, or None if there are none or several."""
    noises = list(_noises(spec))
    return noises[0] if len(noises) == 1 else None


def _noises(spec: DataclassInstance) -> list[float]:
    """Return all noise multipliers in a spec and in the specs that it contains."""
    noises: list[float] = []
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            noises.append(float(value))
        elif isinstance(value, tuple):
            for member in value:
                if is_dataclass(member) and not isinstance(member, type):
                    noises += _noises(member)
        elif is_dataclass(value) and not isinstance(value, type):
            noises += _noises(value)
    return noises


def _with_noise(request: ChargeRequest, noise: float) -> ChargeRequest:
    """Return the request with another noise multiplier."""
    return ChargeRequest(
        setting=request.setting,
        spec=map_noise(request.spec, lambda _: noise),
        count=request.count,
        eta=request.eta,
        delta=request.delta,
    )


def map_noise(spec: Noisy, noise: Callable[[float], float]) -> Noisy:
    """Return a copy of a spec in which a function is applied to each noise multiplier, at any depth.

    Args:
        spec: description of a mechanism.
        noise: function from the present noise multiplier to the new one.
    """
    changed: dict[str, object] = {}
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            changed[part.name] = noise(float(value))
        elif isinstance(value, tuple) and any(is_dataclass(member) for member in value):
            changed[part.name] = tuple(map_noise(member, noise) for member in value)
        elif is_dataclass(value) and not isinstance(value, type):
            changed[part.name] = map_noise(value, noise)
    return replace(spec, **changed) if changed else spec


def _is_charged_whole(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether the job is not Gaussian and a Gaussian slot pays, so that the job is charged as a whole."""
    return slot.kind == "gdp" and request.one.gaussian_dp_mu is None


def _price(request: ChargeRequest, slot: Slot) -> float:
    """Return the μ² that the job costs, divided by the μ² that is free in a Gaussian slot.

    Returns:
        The quotient. A value of at most 1 certifies that the job fits. A larger value is an estimate. It is math.inf if
        no estimate is available.
    """
    eta = eta_of(replace(request, eta=None), slot)
    free = float(slot.free("mu_squared"))
    if free <= 0.0:
        return math.inf
    floor, cost = quick_cost(request.parts, remaining=slot.remainder("mu_squared"), eta=eta)
    if cost is None:
        is_far_above = 2.0 * free < floor < math.inf
        return floor / free if is_far_above else math.inf
    share = float(cost) / free
    if cost > slot.free("mu_squared"):
        return max(share, 1.0 + 1e-9)  # the division may round the share of a cost that does not fit down to 1
    return share


def _fits(request: ChargeRequest, slot: Slot) -> bool:
    """Return whether the free amounts of a slot pay for the job."""
    try:
        price = charge(request, slot)
    except NoCertificate:
        return False
    if slot.kind == "rdp" and len(slot.orders) > 1:
        return may_go_on(slot, price.parts)
    return all(amount <= slot.free(part) for part, amount in price.parts.items())


def _largest_fit(holds: Callable[[float], bool], most: int) -> int:
    """Return a number of runs that fits, within half a percent of the largest; 0 if none was found to fit.

    Args:
        holds: function that returns whether a given number of runs fits.
        most: largest number that is tried.
    """
    low, high = 0, most
    for _ in range(_LOOKS):
        if high - low <= low // 200:
            break
        middle = (low + high + 1) // 2 if low else max(1, high // 4)
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
