"""The atoms of a loss (single losses with positive probability), with which a lattice should be aligned.

Alignment affects tightness, not validity: a lattice that is not aligned gives wider enclosures.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.engine.lattice.outline import Outline, Side
    from epsilond.accountants.engine.lattice.tilted import IntArray

_FEW_ATOMS = 64
"""Largest number of cells that are divided until each holds one loss: each pass reads 32 tails for each cell."""
_MOST_CELLS = 2**14
"""Largest number of multiples of a span on one side: beyond it, the span is finer than the cells of the budget."""
_STEPS = np.linspace(0.0, 1.0, 33)[1:-1]
"""Points that divide a cell, as shares of its width: 31 of them make cells 32 times narrower in each pass."""
_ROUNDS = 11
"""Number of passes until a cell spans two doubles: 53 bits at 5 bits per pass."""


def locate_atoms(coarse: Outline, profile: Profile) -> Outline:
    """Locate the atoms of a privacy loss, that is, the single losses of positive probability, if it has no others.

    The span is the largest number of which all atoms are multiples. If the profile states it, no search is needed.
    Otherwise, cells (intervals of losses) that have a positive probability are divided until each has one loss.

    Args:
        coarse: coarse table of the tails of the loss.
        profile: privacy profile with these tails.

    Returns:
        The table with `atomic` set, and with the span of the atoms if there is one. `coarse` itself if there are many
        atoms or other losses, or if the span is too small.
    """
    if profile.span is not None:
        largest_loss = max(coarse.right.end, coarse.left.end)
        if largest_loss > _MOST_CELLS * profile.span:
            return coarse
        return replace(coarse, atomic=True, span=profile.span)

    right, left = coarse.right, coarse.left
    for _ in range(_ROUNDS):
        right_cells, left_cells = right.find_occupied(), left.find_occupied()
        if right_cells.size + left_cells.size > _FEW_ATOMS:
            return coarse
        right, left = _divide(right, right_cells), _divide(left, left_cells)

    # Each cell is now so narrow that its outer edge is the loss, within a rounding.
    atoms_left = [float(left.edges[cell + 1]) for cell in left.find_occupied()]
    atoms_right = [float(right.edges[cell + 1]) for cell in right.find_occupied()]
    span = common_span([*atoms_left, *atoms_right])
    return replace(coarse, right=right, left=left, atomic=True, span=span)


def _divide(side: Side, cells: IntArray) -> Side:
    """Divide some cells of a table of tails into equal parts, and merge all other cells between them.

    Args:
        side: table of the tails of the losses on one side of zero, at the edges of cells (intervals of losses).
        cells: indices of the cells to divide, into `_STEPS.size + 1` parts each.

    Returns:
        The new table. It has the same first and last edge.
    """
    first_and_last = [0, side.edges.size - 1]
    reduced = side.select(np.union1d(np.concatenate((cells, cells + 1)), first_and_last))
    inner_edges = side.edges[cells, None] + side.widths[cells, None] * _STEPS
    return reduced.add_edges(inner_edges.ravel())


def common_span(numbers: Iterable[float | None]) -> float | None:
    """Return the largest number g of which all given numbers are multiples, within rounding.

    The greatest common divisor is first computed with a tolerance. Then it is corrected, so that the largest number is
    an exact multiple.

    Args:
        numbers: the numbers; None and numbers that are not positive are ignored.

    Returns:
        g; None if there is no such number, or if a number is more than `_MOST_CELLS` times g.
    """
    sizes = sorted(number for number in numbers if number is not None and number > 0)
    if not sizes:
        return None
    largest = sizes[-1]
    # Remainders below 1e-9 of the largest number count as rounding errors.
    divisor = 0.0
    for size in sizes:
        divisor = _float_gcd(divisor, size, 1e-9 * largest)
    if largest > _MOST_CELLS * divisor:
        return None
    span = largest / round(largest / divisor)
    # The tolerance 1e-11 allows for roundings of the numbers.
    fits = all(abs(size - span * round(size / span)) <= 1e-11 * largest for size in sizes)
    return span if fits else None


def _float_gcd(first: float, second: float, tolerance: float) -> float:
    """Return the greatest common divisor of two numbers, up to a tolerance, by Euclid's algorithm.

    Args:
        first: a number ≥ 0.
        second: a number ≥ 0.
        tolerance: largest remainder that counts as 0.

    Returns:
        The last remainder above the tolerance; `first` if `second` is not above it.
    """
    # The remainder nearest to 0 is at most half the divisor, so that there are few steps.
    while second > tolerance:
        first, second = second, abs(math.remainder(first, second))
    return first
