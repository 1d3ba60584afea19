"""Clipping of contributions to a norm bound that holds in exact arithmetic, not only up to rounding.

A contribution is multiplied by a factor that is smaller than bound/norm by more than all rounding errors together. Let
u = 2^−53, and let n be the number of coordinates, scaled by a power of two so that the largest is in [1/2, 1). The
computed sum of squares is at least (1 − u)^n times the true sum, for every order of summation. So the true norm is at
most the computed norm times 1 + (2n + 16)u, with (n + 10)u to spare. The spare covers the square root, the quotient,
and the product with each coordinate. It also covers coordinates too small for a normal double, because bounds are at
least 2^−256. The same holds for the ℓ1 norm. Results in a type of lower precision than double are rounded towards zero.
Contributions within the bound are returned unchanged.

A contribution with a NaN or an infinite coordinate becomes zero. So it neither spoils a sum nor shows in it.

The *sum* of clipped contributions is computed in floating point. It can change by more than the bound when one
contribution changes (Casacuberta et al. 2022). `discrete_gaussian` adds noise to sums of integers, which are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.arrays import AnyNumbers, Array, Restorer, is_list_of_arrays, round_towards_zero, to_numpy
from epsilond.mechanisms.randomness import Bools, Floats

Norm = Literal["l1", "l2", "linf"]
LEAST_BOUND, MOST_BOUND = 2.0**-256, 2.0**256
"""Range of norm bounds; within it the scaled coordinates have enough digits for the proof above."""
UNIT = 2.0**-53
"""Unit roundoff u of doubles."""
MOST_EXPONENT = 700
"""Largest exponent that scales a bound. Coordinates of this exponent exceed every bound; scaled bounds are normal."""


@dataclass(frozen=True)
class Clipped:
    """Clipped contributions, with their norms before clipping. Each array has one entry per contribution.

    Attributes:
        values: clipped contributions: an array or a list of arrays, with the caller's shapes, types and library.
        norms: norms before clipping, with an error of about n units in the last place for n coordinates; infinite if
            beyond doubles, and NaN where `unusable`.
        exceeded: True for contributions with a norm above the bound.
        unusable: True for contributions with a coordinate that is not finite, which were replaced by zero.
    """

    values: Array
    norms: Floats
    exceeded: Bools
    unusable: Bools

    @property
    def share(self) -> float:
        """Fraction of contributions above the bound or unusable. It depends on the data and is not private."""
        changed = self.exceeded | self.unusable
        if not changed.size:
            return 0.0
        return float(changed.mean())


def clip(values: Array | Sequence[Array], bound: float, *, norm: Norm = "l2", records: bool = False) -> Clipped:
    """Scale each contribution down to norm at most `bound`; for `linf`, clip each coordinate to ±`bound`.

    Args:
        values: one array, or a list of arrays (the layers of a model). All coordinates together have the norm.
        bound: largest norm of a clipped contribution, from 2^−256 to 2^256.
        norm: the norm to bound, `l1`, `l2` or `linf`.
        records: whether the first axis of each array counts contributions. If false, everything is one contribution.

    Returns:
        The clipped contributions, their norms before clipping, and which of them had a norm above the bound or a
        coordinate that is not finite.

    Raises:
        InvalidInput: the bound is outside its range, or the values are not arrays with equally many contributions.

    Guarantees:
        The norm of each clipped contribution is at most `bound` in exact arithmetic.
    """
    _require_bound(bound, "/bound")
    layers = _import_layers(values, records)
    scaling = _find_scaling(layers, bound, norm)
    arrays = [layer.restore(_clip_layer(layer, scaling, bound, norm)) for layer in layers]

    norms = np.where(scaling.usable, scaling.norms, math.nan)
    return Clipped(
        values=arrays if is_list_of_arrays(values) else arrays[0],
        norms=norms,
        exceeded=scaling.usable & (scaling.norms > bound),
        unusable=~scaling.usable,
    )


def clip_layers(
    values: Sequence[Array], bounds: Sequence[float], *, norm: Norm = "l2", records: bool = False
) -> tuple[Clipped, ...]:
    """Clip each layer separately, to its own bound.

    All layers together have norm at most `joint_bound(bounds, norm)`. If a contribution has a coordinate in one layer
    that is not finite, it becomes zero in that layer only.

    Args:
        values: the layers, a list of arrays.
        bounds: largest norm in each layer.
        norm: the norm to bound, `l1`, `l2` or `linf`.
        records: whether the first axis of each array counts contributions.

    Returns:
        The clipped contributions of each layer, with their norms before clipping.

    Raises:
        InvalidInput: a bound is outside its range, a layer is not an array, or the numbers of bounds and layers differ.
    """
    if not is_list_of_arrays(values) or len(values) != len(bounds):
        raise InvalidInput.at("/bounds", "there must be one for each layer")
    layers = zip(values, bounds, strict=True)
    return tuple(clip(layer, bound, norm=norm, records=records) for layer, bound in layers)


def joint_bound(bounds: Sequence[float], norm: Norm = "l2") -> float:
    """Return an upper bound on the norm of all layers together.

    The ℓ1 norm of all coordinates is the sum of the layers' norms. The ℓ2 norm is the root of the sum of their squares,
    and the ℓ∞ norm is their maximum.

    Args:
        bounds: norm bound of each layer, from 2^−256 to 2^256.
        norm: the norm of the bounds and of the result, `l1`, `l2` or `linf`.

    Returns:
        The combined bound, rounded up.

    Raises:
        InvalidInput: a bound is outside its range.
    """
    for index, bound in enumerate(bounds):
        _require_bound(bound, f"/bounds/{index}")
    if norm == "linf":
        return max(bounds)
    if norm == "l1":
        # `fsum` rounds to the nearest double, so the next larger one is an upper bound.
        return math.nextafter(math.fsum(bounds), math.inf)
    # The factor exceeds the rounding error of `hypot`.
    return math.hypot(*bounds) * (1.0 + 8.0 * UNIT)


def _require_bound(bound: float, pointer: str) -> None:
    """Reject a norm bound outside the range for which the guarantee of clipping is proved.

    Args:
        bound: the norm bound.
        pointer: JSON pointer of the bound in the caller's arguments, for the error.

    Raises:
        InvalidInput: the bound is below 2^−256, above 2^256, or NaN.
    """
    if not LEAST_BOUND <= bound <= MOST_BOUND:
        raise InvalidInput.at(pointer, "is out of range", allowed="≥ 2^-256 and ≤ 2^256")


@dataclass(frozen=True)
class _ContributionRows:
    """One array, or one layer of a model, as a matrix with one row per contribution.

    Attributes:
        rows: the matrix in doubles.
        original_rows: the matrix in the type of the caller's array.
        shape: shape of the caller's array.
        restorer: conversion of a NumPy array to the library of the caller's array.
    """

    rows: Floats
    original_rows: AnyNumbers
    shape: tuple[int, ...]
    restorer: Restorer

    def restore(self, rows: AnyNumbers) -> Array:
        """Return rows in the shape and library of the caller's array."""
        return self.restorer(rows.reshape(self.shape))


def _import_layers(values: Array | Sequence[Array], records: bool) -> list[_ContributionRows]:
    """Convert the caller's arrays to matrices with one row per contribution.

    Args:
        values: one array, or a list of arrays.
        records: whether the first axis of each array counts contributions. If not, all arrays are one contribution.

    Returns:
        One matrix per layer, with the conversion back to the caller's library.

    Raises:
        InvalidInput: a value is not an array, or the layers differ in their number of contributions.
    """
    is_list = is_list_of_arrays(values)
    arrays = values if is_list else [values]
    layers: list[_ContributionRows] = []
    for index, array in enumerate(arrays):
        pointer = f"/values/{index}" if is_list else "/values"
        numbers, restorer = to_numpy(array, pointer=pointer)

        contributions, coordinates = 1, numbers.size
        if records:
            if numbers.ndim == 0:
                raise InvalidInput.at(pointer, "has no axis that counts contributions")
            contributions, *coordinate_shape = numbers.shape
            coordinates = math.prod(coordinate_shape)
        if layers and len(layers[0].rows) != contributions:
            raise InvalidInput.at(pointer, "must have as many contributions as the first layer")
        rows = numbers.reshape(contributions, coordinates)
        layers.append(_ContributionRows(rows.astype(np.float64), rows, numbers.shape, restorer))
    return layers


@dataclass(frozen=True)
class _Scaling:
    """Scaling that brings each contribution to a norm bound, in two steps.

    The first step multiplies a contribution by 2^−exponent, so that its coordinates are at most 1 in absolute value.
    The second step multiplies it by its factor, which brings its norm to the bound. Each array has one entry per
    contribution.

    Attributes:
        usable: True for contributions with finite coordinates only.
        norms: norm of each contribution before clipping, in the unit of the bound.
        exponents: exponent of the power of two in the first step.
        factors: factor of the second step; infinite for contributions that are not scaled.
    """

    usable: Bools
    norms: Floats
    exponents: npt.NDArray[np.int32]
    factors: Floats


def _find_scaling(layers: Sequence[_ContributionRows], bound: float, norm: Norm) -> _Scaling:
    """Return the scaling that makes the norm of each contribution, over all layers, at most the bound.

    The coordinates of each contribution are first scaled by a power of two to at most 1, so that no square overflows.
    The norms are rounded up before they are compared with the bound. For `linf` the coordinates are clipped instead, so
    all factors are infinite.

    Args:
        layers: the layers of the contributions.
        bound: largest norm of a clipped contribution.
        norm: the norm to bound.

    Returns:
        Norms, exponents and factors, one per contribution. An infinite factor means that it is not scaled.
    """
    # After division by 2^exponent, the largest coordinate of a contribution is in [0.5, 1).
    largest_of_layers = [np.max(np.abs(layer.rows), axis=1, initial=0.0) for layer in layers]
    largest = np.max(largest_of_layers, axis=0)
    usable = np.isfinite(largest)
    _, exponents = np.frexp(np.where(usable, largest, 0.0))
    if norm == "linf":
        return _Scaling(usable, largest, exponents, np.full(len(largest), math.inf))

    dimension = sum(layer.rows.shape[1] for layer in layers)
    with np.errstate(all="ignore"):
        scaled_norms = _scaled_norms(layers, exponents, norm)
        # A sum of n products of doubles has a relative error of at most about n units of roundoff. The factor covers
        # it, and the errors of the squares and of the root, so that the result is an upper bound on the true norm.
        upper_norms = scaled_norms * (1.0 + (2 * dimension + 16) * UNIT)
        scaled_bounds = np.ldexp(bound, -np.minimum(exponents, MOST_EXPONENT))
        divisors = np.where(upper_norms > 0.0, upper_norms, 1.0)
        factors = np.where(upper_norms <= scaled_bounds, math.inf, bound / divisors)
        return _Scaling(usable, np.ldexp(scaled_norms, exponents), exponents, factors)


def _scaled_norms(layers: Sequence[_ContributionRows], exponents: npt.NDArray[np.int32], norm: Norm) -> Floats:
    """Return the norm of each contribution times 2^−exponent, over the coordinates of all layers.

    Because of the scaling, no square overflows, and not all squares underflow.

    Args:
        layers: layers of the contributions, each a matrix with one row per contribution.
        exponents: exponent of each contribution, (contributions,), near the logarithm of its largest coordinate.
        norm: `l1` or `l2`.

    Returns:
        Scaled norms, (contributions,).
    """
    totals = np.zeros(len(exponents))
    for layer in layers:
        scaled_rows = np.ldexp(layer.rows, -exponents[:, None])
        if norm == "l1":
            totals += np.abs(scaled_rows).sum(axis=1)
        else:
            totals += np.einsum("ij,ij->i", scaled_rows, scaled_rows)  # sum of squares of each row
    return totals if norm == "l1" else np.sqrt(totals)


def _clip_layer(layer: _ContributionRows, scaling: _Scaling, bound: float, norm: Norm) -> AnyNumbers:
    """Return the clipped rows of a layer as a new array of the layer's own type.

    Rows with a coordinate that is not finite, in this or another layer, become zero.

    Args:
        layer: the layer.
        scaling: scaling of each contribution.
        bound: largest absolute value of a coordinate for `linf`; not used for other norms.
        norm: the norm to bound.

    Returns:
        A matrix with one row per contribution.
    """
    rows = layer.original_rows.copy()
    dtype = rows.dtype
    is_scaled = np.isfinite(scaling.factors) & scaling.usable
    if norm == "linf":
        # In a type of lower precision, the limit must not be rounded up.
        limit = round_towards_zero(np.asarray([bound]), dtype)[0]
        with np.errstate(invalid="ignore"):
            rows = np.clip(rows, -limit, limit)
    elif is_scaled.any():
        with np.errstate(under="ignore"):
            unit_rows = np.ldexp(layer.rows[is_scaled], -scaling.exponents[is_scaled, None])
            scaled_rows = unit_rows * scaling.factors[is_scaled, None]
        # Rounding towards zero keeps the norm within the bound in types of lower precision.
        rows[is_scaled] = round_towards_zero(scaled_rows, dtype)

    if scaling.usable.all():
        return rows
    return np.asarray(np.where(scaling.usable[:, None], rows, dtype.type(0.0)))
