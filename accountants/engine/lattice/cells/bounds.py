"""Bounds of the cells of a loss distribution on one side of zero, from the widths that the cells should have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.tilted import IntArray

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.outline import Side
    from epsilond.accountants.numerics.special import FloatArray

LARGEST_INDEX = 2.0**48
"""Largest index of a cell bound, in units: indices and their middles stay exact in floating point."""


def cell_bounds(side: Side, widths: FloatArray, end: float, unit: float) -> IntArray:
    """Return the bounds of the cells (intervals of losses) on one side of zero: odd multiples of the unit up to `end`.

    Each cell of a coarse table of the tails is a region, in which the new cells have about the same width. Neighbouring
    bounds are an odd number of double units apart. So the middle of a new cell, where its merged probability is put, is
    an even multiple of the unit.

    Args:
        side: coarse table of the tails of the losses on this side.
        widths: width of the new cells in each region, in nats.
        end: distance from zero that is covered, in nats.
        unit: lattice unit, in nats.

    Returns:
        The bounds, increasing from 1, as multiples of the unit. The last one is at or beyond `end`.
    """
    is_inside = side.edges[:-1] < end
    # In double units. 1e-9 allows for the rounding of the quotient.
    steps = np.clip(np.floor(0.5 * widths[is_inside] / unit + 1e-9), 1.0, LARGEST_INDEX)
    steps -= steps % 2 == 0

    # The regions end at odd multiples of the unit. A cell that straddles two regions belongs to the finer one.
    edges = np.minimum(side.edges[1:][is_inside], end) / unit
    half_indices = 0.5 * (edges - 1.0)
    odd_below = 2.0 * np.floor(half_indices) + 1.0
    odd_above = 2.0 * np.ceil(half_indices) + 1.0
    is_next_finer = np.append(steps[1:] < steps[:-1], False)
    stops = np.where(is_next_finer, odd_below, odd_above)
    stops = np.maximum.accumulate(np.maximum(stops, 1.0))

    lengths = 0.5 * np.diff(stops, prepend=1.0)  # in double units
    bounds = np.concatenate(([1], 1 + 2 * np.cumsum(_divide_regions(lengths, steps))))
    # One more cell, so that the largest loss is inside despite rounding.
    return np.append(bounds, bounds[-1] + 2)


def _divide_regions(lengths: FloatArray, steps: FloatArray) -> IntArray:
    """Divide each of several intervals of integer length into cells of odd width that differ by at most two.

    The number of cells of an interval has the parity of its length, as the sum of that many odd numbers has.

    Args:
        lengths: length of each interval, a whole number.
        steps: largest width of the cells of each interval, an odd number; some cells may exceed it by rounding.

    Returns:
        Widths of all cells in order; in each interval the wider ones come first.
    """
    number = np.where(lengths > 0, np.ceil(lengths / steps), 0.0)
    has_wrong_parity = (number % 2 != lengths % 2) & (number > 0)
    number += has_wrong_parity

    # The largest odd width that so many cells can have. The remaining length makes some of them wider by two.
    narrow_width = np.floor(lengths / np.maximum(number, 1.0))
    is_even = (narrow_width % 2 == 0) & (narrow_width > 0)
    narrow_width -= is_even
    excess_length = lengths - number * narrow_width
    number_wide = np.where(number > 0, 0.5 * excess_length, 0.0)

    cell_widths = np.stack((narrow_width + 2.0, narrow_width), axis=1).ravel()
    repeats = np.stack((number_wide, number - number_wide), axis=1).ravel()
    return np.repeat(cell_widths, repeats.astype(np.int64)).astype(np.int64)
