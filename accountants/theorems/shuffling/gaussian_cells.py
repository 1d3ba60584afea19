"""Cells of the privacy blanket of one-dimensional Gaussian reports.

In units of σ the blanket has the density φ(|w| + c), c = C/σ. By symmetry w ≥ 0 suffices. The likelihood ratio of two
opposite contributions at w is ρ = e^{2cw}, and x = ρ − 1 is its excess over 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(8)
FURTHEST = 37.5
"""Largest w − c of a cell; Φ(−37.5) is about 1e-307, near the least normal double."""
LUMP = 8
"""Number of cells that are combined into one lump, for estimates."""
_SPACING = 0.02
"""Width of a cell in w, relative to 1/(1 + c)."""
_LEVELS = 6
"""Number of uniform pieces below the density."""
_LARGEST_LOG_RATIO, _LEAST_MASS = 690.0, 1e-300
"""Largest log ρ of a cell and least mass of a lump, for which ρ and the quotients by the mass are finite doubles."""
_BELOW = 1.0 - 1e-12
"""Factor that keeps the uniform pieces below the density despite roundoff."""
_NORMAL_FACTOR = math.sqrt(0.5 / math.pi)
"""Constant 1/√(2π) of the normal density."""


class Cells(NamedTuple):
    """The privacy blanket of one-dimensional Gaussian reports, divided into intervals for bounds on shuffled reports.

    A report is N(y, σ²) with |y| ≤ C, and c = C/σ. The privacy blanket is the density that all reports have in common.
    It is φ(|w| + c) at a value w in units of σ, with the normal density φ. By symmetry w ≥ 0 suffices. This half-line
    is divided into intervals, the cells. At w, two opposite contributions have the likelihood ratio e^{2cw} = 1 + x.
    The density of x is split into uniform densities on intervals [0, x_j], the pieces, and a rest.

    Attributes:
        edges: edges of the cells in w, increasing from 0.
        edge_excess: value of x at each edge.
        to_low: mass of the rest in each cell that is moved to the cell's lower edge.
        to_high: mass of the rest in each cell that is moved to its upper edge. Both together keep the mean of x.
        mean_excess: mean of x under the rest, in each cell.
        errors: bounds on the numerical errors of the masses of the rest.
        piece_ends: right ends x_j of the uniform pieces.
        piece_mass: masses of the uniform pieces.
        lump_excess: mean of x over each lump of `LUMP` consecutive cells, pieces included, for estimates.
        lump_mass: mass of each lump, pieces included.
    """

    edges: FloatArray
    edge_excess: FloatArray
    to_low: FloatArray
    to_high: FloatArray
    mean_excess: FloatArray
    errors: FloatArray
    piece_ends: FloatArray
    piece_mass: FloatArray
    lump_excess: FloatArray
    lump_mass: FloatArray


class ExcessMasses(NamedTuple):
    """A discrete distribution of a likelihood ratio of shuffled Gaussian reports, for one sign of the noise w.

    The masses are those of the privacy blanket, the density φ(|w| + c) that all reports have in common. At w, two
    opposite contributions have the likelihood ratio e^{2c|w|} = 1 + x. The masses for w < 0 and w > 0 are the same.

    Attributes:
        excess: values of x.
        weights: mass at each value of x.
        errors: bound on the numerical error of each mass.
        excess_beyond: value of x for the mass of larger noise, which is not in `weights`.
    """

    excess: FloatArray
    weights: FloatArray
    errors: FloatArray
    excess_beyond: float


def blanket_cells(scaled_norm: float, *, with_pieces: bool) -> Cells:
    """Divide the privacy blanket of Gaussian reports into intervals (cells), with masses and moments of each.

    The blanket is the density φ(w + c) that all reports have in common, with w ≥ 0 in units of σ. At w two opposite
    contributions have the likelihood ratio e^{2cw} = 1 + x. Integrals over a cell are computed by Gauss-Legendre
    quadrature with eight nodes.

    Args:
        scaled_norm: bound c = C/σ on a contribution, in standard deviations of the noise.
        with_pieces: whether the density of x is split into uniform densities (pieces) on a few intervals [0, x_j], and
            a rest. Otherwise all of it is the rest.

    Returns:
        The edges of the cells, the masses of the rest in each cell, the pieces, and coarser masses for estimates.
    """
    edges, step_ends = _edges_and_step_ends(scaled_norm, with_pieces=with_pieces)
    edge_excess = np.expm1(2.0 * scaled_norm * edges)
    end_excess = np.expm1(2.0 * scaled_norm * step_ends)

    # Nodes and weights of the quadrature, with a row for each cell.
    low, width = edges[:-1, None], np.diff(edges)[:, None]
    nodes = low + 0.5 * width * (1.0 + _GAUSS_X)
    weight = 0.5 * width * _GAUSS_W * _NORMAL_FACTOR
    density = np.exp(-0.5 * (nodes + scaled_norm) ** 2)  # φ(w + c) times √(2π), like the heights of the pieces

    # The rest is what the uniform pieces leave of the density.
    heights = _piece_heights(scaled_norm, step_ends)
    piece_density = _piece_density(scaled_norm, nodes, edges, step_ends, heights)
    rest = weight * np.maximum(density - piece_density, 0.0)
    piece_steps = heights - np.append(heights[1:], 0.0)

    # A mass at x is split between the edges of its cell in proportion to its position, which keeps the mean.
    position = np.expm1(2.0 * scaled_norm * (nodes - low)) / np.expm1(2.0 * scaled_norm * width)
    to_high, to_low = (rest * position).sum(axis=1), (rest * (1.0 - position)).sum(axis=1)
    rest_mass = np.where(to_high + to_low > 0.0, to_high + to_low, 1.0)  # 1 avoids a quotient 0/0

    # For estimates: the mass of each cell, and the integral of x over it, with the pieces included.
    cell_mass = (weight * density).sum(axis=1)
    cell_moment = (weight * density * np.expm1(2.0 * scaled_norm * nodes)).sum(axis=1)
    lump_excess, lump_mass = _combine_into_lumps(cell_moment, cell_mass)
    return Cells(
        edges=edges,
        edge_excess=edge_excess,
        to_low=to_low,
        to_high=to_high,
        mean_excess=edge_excess[:-1] + np.diff(edge_excess) * to_high / rest_mass,
        # Relative error of a mass: in proportion to the exponent (w + c)²/2 of its density, and 64 for the sums.
        errors=UNIT_ROUNDOFF * (64.0 + 4.0 * (edges[1:] + scaled_norm) ** 2) * cell_mass,
        piece_ends=end_excess,
        piece_mass=_NORMAL_FACTOR * piece_steps * end_excess,
        lump_excess=lump_excess,
        lump_mass=lump_mass,
    )


def _combine_into_lumps(cell_moment: FloatArray, cell_mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merge each `LUMP` consecutive intervals (cells) of the noise into one, for estimates with fewer points.

    Args:
        cell_moment: integral of x over each cell, where 1 + x is the likelihood ratio of two opposite contributions.
        cell_mass: mass of each cell.

    Returns:
        Mean of x, and mass, of each merged interval (lump). The last lump may have fewer cells. A mass below 1e-300 is
        raised to 1e-300, which avoids a division by 0.
    """
    first_of_lump = np.arange(0, cell_mass.size, LUMP)
    lump_mass = np.maximum(np.add.reduceat(cell_mass, first_of_lump), _LEAST_MASS)
    mean_excess = np.add.reduceat(cell_moment, first_of_lump) / lump_mass
    return mean_excess, lump_mass


def _edges_and_step_ends(scaled_norm: float, *, with_pieces: bool) -> tuple[FloatArray, FloatArray]:
    """Choose the edges of the intervals (cells) into which the noise w ≥ 0 of Gaussian reports is divided.

    The edges are equidistant, with a spacing inversely proportional to 1 + c. The right ends of the pieces are edges
    too. Pieces are uniform densities with a sum below the density of the likelihood ratio.

    Args:
        scaled_norm: bound c > 0 on a contribution, in standard deviations of the noise.
        with_pieces: whether the density of the likelihood ratio is split into uniform pieces and a rest.

    Returns:
        All edges in increasing order, and those at which a piece ends. Without pieces the second array is empty.
    """
    # The second limit keeps the likelihood ratio e^{2cw} finite.
    furthest = min(scaled_norm + FURTHEST, _LARGEST_LOG_RATIO / (2.0 * scaled_norm))
    cell_count = math.ceil(furthest * (1.0 + scaled_norm) / _SPACING)
    grid = np.linspace(0.0, furthest, cell_count + 1)
    if not with_pieces:
        return np.unique(grid), np.empty(0)
    # The pieces are where most of the mass is, at w of the order of 1/(1 + 2c).
    last_level = min(3.0 / (1.0 + 2.0 * scaled_norm), furthest)
    step_ends = np.linspace(0.0, last_level, _LEVELS + 1)[1:]
    return np.unique(np.concatenate((grid, step_ends))), step_ends


def _piece_heights(scaled_norm: float, step_ends: FloatArray) -> FloatArray:
    """Compute the heights of a step function below the density of x = e^{2cw} − 1, where w has the density φ(w + c).

    Here e^{2cw} is the likelihood ratio of two opposite contributions. The density of x is:

        φ(w + c) dw/dx = φ(w + c) e^{−2cw}/(2c).

    It decreases in w, so its value at the right end of a step is the largest possible height there.

    Args:
        scaled_norm: bound c on a contribution, in standard deviations of the noise.
        step_ends: right ends of the steps in w, increasing.

    Returns:
        The height of each step times √(2π), rounded down.
    """
    log_density = -0.5 * (step_ends + scaled_norm) ** 2 - 2.0 * scaled_norm * step_ends
    return np.exp(log_density) / (2.0 * scaled_norm) * _BELOW


def _piece_density(
    scaled_norm: float, nodes: FloatArray, edges: FloatArray, step_ends: FloatArray, heights: FloatArray
) -> FloatArray:
    """Evaluate a step function, given as a density of x = e^{2cw} − 1, as a density of the noise w at quadrature nodes.

    The factor dx/dw = 2c e^{2cw} makes it a density in w. It is 0 beyond the last step.

    Args:
        scaled_norm: bound c on a contribution, in standard deviations of the noise.
        nodes: nodes w of the quadrature, with a row for each cell.
        edges: edges of the cells in w, one more than cells.
        step_ends: right ends of the steps in w, increasing.
        heights: height of each step as a density of x, times √(2π).

    Returns:
        The density in w at each node, times √(2π), as an array of the shape of `nodes`.
    """
    # The ends of the steps are edges, so each cell is within one step. The middle of the cell identifies it.
    cell_middles = 0.5 * (edges[:-1] + edges[1:])
    step_of_cell = np.searchsorted(step_ends, cell_middles)
    # Cells beyond the last step have the index after it, for which a height of 0 is appended.
    height_of_cell = np.append(heights, 0.0)[step_of_cell]
    return height_of_cell[:, None] * 2.0 * scaled_norm * np.exp(2.0 * scaled_norm * nodes)
