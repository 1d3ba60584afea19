"""What would still fit where a job does not: the largest count of it, and the smallest noise multiplier.

Searched with the same charges that would be made, so that what is answered can be reserved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from epsilond.accountants.errors import NoCertificate
from epsilond.ledgers.mathematics.charges import charge
from epsilond.ledgers.mathematics.charges.asked import ChargeRequest
from epsilond.ledgers.mathematics.charges.gaussian import eta_of
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
"""Charges that are computed for each answer at most; each may take a fraction of a second."""
_COMPOSED_LOOKS = 3
"""Of them by composition, which knows a large job's price better than its steps do one after another."""
_LOUDEST = 1e4
_NEAR, _CLOSE = 0.98, 0.995
"""Of what is free, a price with which the search ends, and what is aimed at by composition."""


def fitting(asked: ChargeRequest, slot: Slot) -> Mapping[str, float]:
    """`largest_count` of this mechanism, and `smallest_noise_multiplier` for this count, where there are such."""
    found: dict[str, float] = {}
    count = largest_count(asked, slot)
    if count:
        told = float(count)  # beyond 2^53 it is rounded, and not upward
        found["largest_count"] = told if int(told) <= count else math.nextafter(told, 0.0)
    if (noise := smallest_noise(asked, slot)) is not None:
        found["smallest_noise_multiplier"] = noise
    return found


def largest_count(asked: ChargeRequest, slot: Slot) -> int:
    """How many runs of the mechanism the slot can still pay for, no more than asked for; within a few of the most."""
    if not _by_steps(asked, slot):
        return int(_largest(lambda count: _fits(_counted(asked, count), slot), asked.count))
    low, high, count = 0, asked.count + 1, asked.count
    for _ in range(_LOOKS):
        share = _price(_counted(asked, count), slot)
        low, high = (count, high) if share <= 1.0 else (low, count)
        if _NEAR < share <= 1.0 or high - low <= 1 + low // 100:
            break
        met = int(count * (0.995 / share)) if 0.0 < share < math.inf else 0
        count = met if low < met < high else max(math.isqrt(low * high), high // 16 if low == 0 else 0, low + 1)
    return _more(asked, slot, low)


def _more(asked: ChargeRequest, slot: Slot, fits: int) -> int:
    """At least as many runs as are known to fit, by the price of all of them together."""
    low, high, count = fits, asked.count + 1, max(fits, 1)
    for _ in range(_COMPOSED_LOOKS):
        share = _composed_price(_counted(asked, count), slot)
        if share is None:
            return low
        low, high = (max(low, count), high) if share <= 1.0 else (low, min(high, count))
        met = int(count * (_CLOSE / share)) if share <= 1.0 else math.isqrt(low * count)
        if not low < met < high:
            return low
        count = met
    return low


def _composed_price(asked: ChargeRequest, slot: Slot) -> float | None:
    """Return the price of all runs together as `_price` does: at most 1, or math.inf.

    It is None if the price is not known or not worth its work.
    """
    eta = eta_of(replace(asked, eta=None), slot)
    free, left = slot.free("mu_squared"), slot.left("mu_squared")
    if free <= 0 or not exact(asked.parts, eta):
        return None
    cost = composed_cost(asked.parts, remaining=left, eta=eta)
    return float(cost) / float(free) if cost is not None and cost <= free else math.inf


def smallest_noise(asked: ChargeRequest, slot: Slot) -> float | None:
    """The smallest noise multiplier with which the job fits, rounded up by about a hundredth; None where none is found.

    A price falls about as the square of the noise: a few of them lead there.
    """
    present = noise_of(asked.spec)
    if present is None:
        return None
    if not _by_steps(asked, slot):
        return _least(lambda noise: _fits(_with_noise(asked, noise), slot), present)
    low, high, noise = present, math.inf, present
    for _ in range(_LOOKS):
        share = _price(_with_noise(asked, noise), slot)
        low, high = (low, min(high, noise)) if share <= 1.0 else (max(low, noise), high)
        if (_NEAR < share <= 1.0) or high <= 1.02 * low or noise > _LOUDEST * present:
            break
        met = noise * max(share, 1e-3) ** 0.5 * 1.004 if share < math.inf else 2.0 * noise
        noise = met if low < met < high else min((low * high) ** 0.5, 2.0 * low)
    return _less(asked, slot, present, high) if high < math.inf else None


def _less(asked: ChargeRequest, slot: Slot, present: float, fits: float) -> float:
    """At most the noise that is known to fit, by the price of all runs together."""
    low, high, noise = present, fits, fits
    for _ in range(_COMPOSED_LOOKS):
        share = _composed_price(_with_noise(asked, noise), slot)
        if share is None:
            return high
        low, high = (low, min(high, noise)) if share <= 1.0 else (max(low, noise), high)
        met = noise * (share / _NEAR) ** 0.5 if share <= 1.0 else (low * high) ** 0.5
        if not low < met < high / 1.005:
            return high
        noise = met
    return high


def _least(fits: Callable[[float], bool], present: float) -> float | None:
    low, high = present, present
    while not fits(high):
        low, high = high, 2.0 * high
        if high > _LOUDEST * present:
            return None
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _counted(asked: ChargeRequest, count: float) -> ChargeRequest:
    return replace(asked, count=int(count), _known=asked._known)  # noqa: SLF001


def noise_of(spec: DataclassInstance) -> float | None:
    """Return the only noise multiplier in a spec; None if there are none or several."""
    found = list(_noises(spec))
    return found[0] if len(found) == 1 else None


def _noises(spec: DataclassInstance) -> list[float]:
    found: list[float] = []
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            found.append(float(value))
        elif isinstance(value, tuple):
            for one in value:
                if is_dataclass(one) and not isinstance(one, type):
                    found += _noises(one)
        elif is_dataclass(value) and not isinstance(value, type):
            found += _noises(value)
    return found


def _with_noise(asked: ChargeRequest, noise: float) -> ChargeRequest:
    return ChargeRequest(
        setting=asked.setting,
        spec=renoised(asked.spec, lambda _: noise),
        count=asked.count,
        eta=asked.eta,
        delta=asked.delta,
    )


def renoised(spec: Noisy, noise: Callable[[float], float]) -> Noisy:
    """Return the spec with a function applied to each noise multiplier."""
    changed: dict[str, object] = {}
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            changed[part.name] = noise(float(value))
        elif isinstance(value, tuple) and any(is_dataclass(one) for one in value):
            changed[part.name] = tuple(renoised(one, noise) for one in value)
        elif is_dataclass(value) and not isinstance(value, type):
            changed[part.name] = renoised(value, noise)
    return replace(spec, **changed) if changed else spec


def _by_steps(asked: ChargeRequest, slot: Slot) -> bool:
    """Return whether prices are residue charges, which are quickly computed step by step."""
    return slot.kind == "gdp" and asked.one.gaussian_dp_mu is None


def _price(asked: ChargeRequest, slot: Slot) -> float:
    """What the job costs over what is free: at most 1 is certified, more is a guess, math.inf where there is none."""
    eta = eta_of(replace(asked, eta=None), slot)
    free = float(slot.free("mu_squared"))
    if free <= 0.0:
        return math.inf
    floor, cost = quick_cost(asked.parts, remaining=slot.left("mu_squared"), eta=eta)
    if cost is None:
        return floor / free if 2.0 * free < floor < math.inf else math.inf
    return float(cost) / free if cost <= slot.free("mu_squared") else max(float(cost) / free, 1.0 + 1e-9)


def _fits(asked: ChargeRequest, slot: Slot) -> bool:
    """Return whether the free amounts of a slot pay for the job."""
    try:
        price = charge(asked, slot)
    except NoCertificate:
        return False
    if slot.kind == "rdp" and len(slot.orders) > 1:
        return may_go_on(slot, price.parts)
    return all(amount <= slot.free(part) for part, amount in price.parts.items())


def _largest(holds: Callable[[float], bool], most: int) -> int:
    low, high = 0, most
    for _ in range(_LOOKS):
        if high - low <= low // 200:
            break
        middle = (low + high + 1) // 2 if low else max(1, high // 4)
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
