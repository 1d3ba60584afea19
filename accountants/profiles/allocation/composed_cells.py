"""Probabilities of cells of all outputs of one batch, if several releases are made from it.

A cell of two independent outputs is a pair of cells. Pairs with similar likelihood ratios are merged, which is
post-processing. Each batch is then known by the index of its merged cell.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.attained_ratios import accurate_groups, exact_cells
from epsilond.accountants.profiles.allocation.batch_pairs import factors_of
from epsilond.accountants.profiles.allocation.ratios import combine_copies
from epsilond.accountants.profiles.allocation.statistics import OutputCells

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

_UNDERFLOW = 1e-300
"""Bound on the total rounding of all products of two masses below the normal doubles: a million, 5e-324 each."""


def cells_of_batch(run: Pair, cells: int) -> OutputCells | None:
    """Return the probabilities of cells, that is, sets of joint outputs of all releases from one batch.

    The probabilities give lower bounds on δ, because merging outputs into cells is post-processing. Releases with
    probabilities that `exact_cells` does not know are left out, which is post-processing too.

    Args:
        run: the attained pair of all releases from the batch.
        cells: approximate number of cells.

    Returns:
        The probabilities with and without the unit. None if no release is left, if there are too many releases, or if
        all outputs are in one cell.
    """

    def multiply(first: OutputCells, second: OutputCells) -> OutputCells:
        """Multiply the outputs of two releases, merged into cells."""
        return multiply_cells(first, second, cells)

    releases = factors_of(run, 1) or ()
    factors = [(exact_cells(pair, cells), times) for pair, times in releases]
    cells_of_releases = [combine_copies(outputs, times, multiply) for outputs, times in factors if outputs is not None]
    if not cells_of_releases:
        return None
    outputs = functools.reduce(multiply, cells_of_releases)
    return outputs if outputs.present.size > 1 else None


def multiply_cells(first: OutputCells, second: OutputCells, cells: int) -> OutputCells:
    """Return the probabilities of cells, that is, sets of joint outputs of two independent releases.

    The mass of a pair of cells is a product, with and without the protected contribution. Pairs with about the same
    privacy loss are merged, which is post-processing.

    Args:
        first: the cells of one release, `present` with the contribution and `absent` without it.
        second: the cells of another release from the same batch.
        cells: approximate number of cells after merging.

    Returns:
        The merged cells, with a bound on the relative error of their masses.
    """
    # The masses and the loss of every pair of cells.
    present = np.multiply.outer(first.present, second.present).ravel()
    absent = np.multiply.outer(first.absent, second.absent).ravel()
    losses = np.add.outer(_losses(first), _losses(second)).ravel()

    # Sum the masses of pairs with similar losses.
    bounds = _loss_bounds(losses, present + absent, cells)
    index = np.searchsorted(bounds, losses)
    sums = [np.bincount(index, masses, bounds.size + 1) for masses in (present, absent)]

    # Merge neighbours until the mass of each group is known accurately. `rounding` is the relative error of a sum of so
    # many products.
    rounding = (losses.size + 4) * UNIT_ROUNDOFF
    lower_and_upper = [
        [np.asarray(side * (1.0 - rounding) - _UNDERFLOW), np.asarray(side * (1.0 + rounding) + _UNDERFLOW)]
        for side in sums
    ]
    groups = accurate_groups(lower_and_upper)
    assert groups is not None  # all cells together have a mass of about 1
    present, absent = (np.add.reduceat(side, groups) for side in sums)
    # The relative errors of both factors and of the sums.
    error = (1.0 + first.error) * (1.0 + second.error) * (1.0 + 2.0 * rounding) - 1.0 + 8 * UNIT_ROUNDOFF
    return OutputCells(present, absent, absent, error)


def _losses(outputs: OutputCells) -> FloatArray:
    """Return the privacy loss of each cell of an output, in nats."""
    return np.asarray(np.log(outputs.present) - np.log(outputs.absent))


def _loss_bounds(losses: FloatArray, masses: FloatArray, cells: int) -> FloatArray:
    """Choose increasing bounds of intervals of the privacy loss.

    Half of the bounds are evenly spaced, and half are quantiles of the loss.

    Args:
        losses: privacy losses of all pairs of cells, in nats.
        masses: sum of the probabilities of each pair under both distributions.
        cells: approximate number of intervals.

    Returns:
        The bounds, from the least loss to the largest, without repetitions.
    """
    order = np.argsort(losses)
    cumulative = np.cumsum(masses[order])
    indices = np.searchsorted(cumulative, np.linspace(0.0, cumulative[-1], cells // 2))
    quantiles = losses[order][np.minimum(indices, losses.size - 1)]
    even = np.linspace(losses.min(), losses.max(), cells // 2)
    return np.unique(np.concatenate((even, quantiles)))
