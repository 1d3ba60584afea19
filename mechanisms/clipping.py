"""Contributions made no longer than a bound, certainly: in exact arithmetic, not only up to rounding.

A contribution is multiplied by a factor that is smaller than bound/norm by more than every rounding on the way. Let u =
2^−53 and n the number of coordinates, scaled by a power of two so that the largest is in [1/2, 1). The computed sum of
squares is at least (1 − u)^n times the true one, whatever the order of adding; so the true norm is at most the computed
one times 1 + (2n + 16)u with (n + 10)u to spare, which covers the square root, the quotient, the product with each
coordinate and, as bounds are at least 2^−256, coordinates too small for a normal double. The ℓ1 norm likewise. What is
given back in fewer digits than a double is rounded towards zero. Contributions within the bound come back unchanged.

A contribution with a NaN or an infinite coordinate becomes zero, so that it neither spoils a sum nor shows in it.

The *sum* of clipped contributions is again computed in floating point, and can move by more than the bound when one
contribution changes (Casacuberta et al. 2022); `discrete_gaussian` sums integers instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import AnyNumbers, AnyType, Array, Back, is_list_of_arrays, read, towards_zero
from epsilond.mechanisms.randomness import Bools, Floats

Norm = Literal["l1", "l2", "linf"]
LEAST_BOUND, MOST_BOUND = 2.0**-256, 2.0**256
UNIT = 2.0**-53
MOST_EXPONENT = 700
"""Numbers of that exponent exceed every bound, and bounds scaled down by it are normal doubles."""


@dataclass(frozen=True)
class Clipped:
    """What is left of the contributions, and what they were. One entry a contribution in each array here."""

    values: Array
    """As they were given: an array, or a list of them; of the same kinds, shapes and types."""
    norms: Floats
    """Before clipping, to about n units in the last place; infinite beyond doubles, NaN where it is `unusable`."""
    exceeded: Bools
    """Whether the norm was above the bound."""
    unusable: Bools
    """Whether some coordinate was no finite number; then everything became zero."""

    @property
    def share(self) -> float:
        """Of contributions that were above the bound or unusable, in [0, 1]. It depends on the data: not private."""
        changed = self.exceeded | self.unusable
        return float(changed.mean()) if changed.size else 0.0


def clip(values: Array | Sequence[Array], bound: float, *, norm: Norm = "l2", records: bool = False) -> Clipped:
    """Each contribution scaled down to norm at most `bound`; for `linf`, each coordinate cut off at ±`bound`.

    `values` is one array, or a list of arrays (the layers of a model) whose coordinates together have the norm. With
    `records` the first axis of each counts the contributions; without, everything is a single one. 2^−256 ≤ bound ≤
    2^256.

    Raises:
        InvalidInput: the bound is outside its range, or the values are no arrays that belong together.
    """
    _demand_bound(bound, "/bound")
    layers, parts = _read(values, records)
    scaling = _scaling(parts, bound, norm)
    made = [_clipped(part, scaling, bound, norm) for part in parts]
    usable, norms = scaling.usable, scaling.norms
    returned = [back(one.reshape(shape)) for one, (shape, back) in zip(made, layers, strict=True)]
    found = returned if is_list_of_arrays(values) else returned[0]
    return Clipped(found, np.where(usable, norms, math.nan), usable & (norms > bound), ~usable)


def clip_layers(
    values: Sequence[Array], bounds: Sequence[float], *, norm: Norm = "l2", records: bool = False
) -> tuple[Clipped, ...]:
    """Each layer on its own, to its own bound: one answer a layer.

    All layers together have norm at most `joint_bound(bounds)`. A contribution that is unusable in one layer keeps the
    others.

    Raises:
        InvalidInput: as `clip`, or there are not as many bounds as layers.
    """
    if not is_list_of_arrays(values) or len(values) != len(bounds):
        raise InvalidInput.at("/bounds", "there must be one for each layer")
    return tuple(clip(one, bound, norm=norm, records=records) for one, bound in zip(values, bounds, strict=True))


def joint_bound(bounds: Sequence[float], norm: Norm = "l2") -> float:
    """Bound on the norm of all layers together, rounded up."""
    for place, bound in enumerate(bounds):
        _demand_bound(bound, f"/bounds/{place}")
    if norm == "linf":
        return max(bounds)
    if norm == "l1":
        return math.nextafter(math.fsum(bounds), math.inf)
    return math.hypot(*bounds) * (1.0 + 8.0 * UNIT)


def _demand_bound(bound: float, pointer: str) -> None:
    if not LEAST_BOUND <= bound <= MOST_BOUND:
        raise InvalidInput.at(pointer, "is out of range", allowed="≥ 2^-256 and ≤ 2^256")


@dataclass(frozen=True)
class _Part:
    """One layer as contributions times coordinates, in doubles, with the type it is given back in."""

    rows: Floats
    dtype: AnyType
    given: AnyNumbers


def _read(values: Array | Sequence[Array], records: bool) -> tuple[list[tuple[tuple[int, ...], Back]], list[_Part]]:
    layers: list[tuple[tuple[int, ...], Back]] = []
    parts: list[_Part] = []
    for place, one in enumerate(values if is_list_of_arrays(values) else [values]):
        pointer = f"/values/{place}" if is_list_of_arrays(values) else "/values"
        given, back = read(one, pointer=pointer)
        if records and given.ndim == 0:
            raise InvalidInput.at(pointer, "has no axis that counts contributions")
        count = given.shape[0] if records else 1
        rows = given.reshape(count, math.prod(given.shape[1:]) if records else given.size)
        if parts and len(parts[0].rows) != count:
            raise InvalidInput.at(pointer, "must have as many contributions as the first layer")
        layers.append((given.shape, back))
        parts.append(_Part(rows.astype(np.float64), given.dtype, rows))
    return layers, parts


@dataclass(frozen=True)
class _Scaling:
    """Of each contribution: coordinates times 2^−exponent are at most 1, and times the factor short enough."""

    usable: Bools
    norms: Floats
    exponents: npt.NDArray[np.int32]
    factors: Floats
    """Infinite for what stays as it is."""


def _scaling(parts: Sequence[_Part], bound: float, norm: Norm) -> _Scaling:
    largest = np.max([np.max(np.abs(part.rows), axis=1, initial=0.0) for part in parts], axis=0)
    usable = np.isfinite(largest)
    exponents = np.frexp(np.where(usable, largest, 0.0))[1]
    if norm == "linf":
        return _Scaling(usable, largest, exponents, np.full(len(largest), math.inf))
    total, count = np.zeros(len(largest)), 0
    with np.errstate(all="ignore"):
        for part in parts:
            scaled = np.ldexp(part.rows, -exponents[:, None])
            total += np.abs(scaled).sum(axis=1) if norm == "l1" else np.einsum("ij,ij->i", scaled, scaled)
            count += part.rows.shape[1]
        length = total if norm == "l1" else np.sqrt(total)
        most = length * (1.0 + (2 * count + 16) * UNIT)
        within = most <= np.ldexp(bound, -np.minimum(exponents, MOST_EXPONENT))
        factors = np.where(within, math.inf, bound / np.where(most > 0.0, most, 1.0))
        return _Scaling(usable, np.ldexp(length, exponents), exponents, factors)


def _clipped(part: _Part, scaling: _Scaling, bound: float, norm: Norm) -> AnyNumbers:
    # What comes in stays as it is, and what goes out is the caller's to change.
    rows = part.given.copy()
    if norm == "linf":
        end = towards_zero(np.asarray([bound]), part.dtype)[0]
        with np.errstate(invalid="ignore"):
            rows = np.clip(rows, -end, end)
    elif (longer := np.isfinite(scaling.factors) & scaling.usable).any():
        with np.errstate(under="ignore"):
            scaled = np.ldexp(part.rows[longer], -scaling.exponents[longer, None]) * scaling.factors[longer, None]
        rows[longer] = towards_zero(scaled, part.dtype)
    return rows if scaling.usable.all() else np.asarray(np.where(scaling.usable[:, None], rows, rows.dtype.type(0.0)))
