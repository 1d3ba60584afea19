"""What would still fit where a job does not: the largest count of it, and the smallest noise multiplier.

Searched with the same charges that would be made, so that what is answered can be reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.ledger.charges import charge
from epsilond.accountants.ledger.charges.asked import Asked
from epsilond.accountants.ledger.charges.gaussian import eta_of, mu_squared
from epsilond.accountants.ledger.mixture import may_go_on
from epsilond.accountants.ledger.residue import holds

if TYPE_CHECKING:
    from epsilond.accountants.ledger.state import Slot

_NOISE = ("noise_multiplier", "scale_multiplier")
_LOOKS = 12
"""Charges that are computed for each answer at most; each may take a fraction of a second."""
_LOUDEST = 1e4


def fitting(asked: Asked, slot: Slot) -> Mapping[str, float]:
    """`largest_count` of this mechanism, and `smallest_noise_multiplier` for this count, where there are such."""
    found: dict[str, float] = {}
    count = largest_count(asked, slot)
    if count:
        found["largest_count"] = float(count)
    if (noise := smallest_noise(asked, slot)) is not None:
        found["smallest_noise_multiplier"] = noise
    return found


def largest_count(asked: Asked, slot: Slot) -> int:
    """How many runs of the mechanism the slot can still pay for, no more than asked for; within a few of the most."""
    return int(_largest(lambda count: _fits(replace(asked, count=int(count), _known=asked._known), slot), asked.count))  # noqa: SLF001


def smallest_noise(asked: Asked, slot: Slot) -> float | None:
    """The smallest noise multiplier with which the job fits, rounded up by a hundredth; None where there is none."""
    present = noise_of(asked.spec)
    if present is None:
        return None
    low, high = present, present
    while not _fits(_with_noise(asked, high), slot):
        low, high = high, 2.0 * high
        if high > _LOUDEST * present:
            return None
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _fits(_with_noise(asked, middle), slot) else (middle, high)
    return high


def noise_of(spec: Any) -> float | None:
    """The one noise multiplier in a spec; None where there are none or several."""
    found = list(_noises(spec))
    return found[0] if len(found) == 1 else None


def _noises(spec: Any) -> list[float]:
    found: list[float] = []
    for part in fields(spec) if is_dataclass(spec) else ():
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            found.append(float(value))
        elif isinstance(value, tuple):
            for one in value:
                found += _noises(one)
        elif is_dataclass(value):
            found += _noises(value)
    return found


def _with_noise(asked: Asked, noise: float) -> Asked:
    return Asked(
        setting=asked.setting, spec=_renoised(asked.spec, noise), count=asked.count, eta=asked.eta, delta=asked.delta
    )


def _renoised(spec: Any, noise: float) -> Any:
    changed: dict[str, Any] = {}
    for part in fields(spec):
        value = getattr(spec, part.name)
        if part.name in _NOISE:
            changed[part.name] = noise
        elif isinstance(value, tuple) and any(is_dataclass(one) for one in value):
            changed[part.name] = tuple(_renoised(one, noise) for one in value)
        elif is_dataclass(value) and not isinstance(value, type):
            changed[part.name] = _renoised(value, noise)
    return replace(spec, **changed) if changed else spec


def _fits(asked: Asked, slot: Slot) -> bool:
    """Whether all that is free pays for the job: for a residue one certificate, and no search for its price."""
    try:
        if slot.kind == "gdp" and mu_squared(asked) is None:
            eta = eta_of(replace(asked, eta=None), slot)
            left, free = slot.left("mu_squared"), slot.free("mu_squared")
            return holds(asked.parts, remaining=left, cost=free, eta=eta)
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
